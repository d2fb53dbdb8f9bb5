// Running programs: output, ends, time limits, and that nothing of a killed one is left.
#include "support/process.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

using namespace ptxopt;
using End = ProcessResult::End;

namespace {

ProcessResult shell(const std::string& script, const ProcessOptions& options = {}) {
  return runProcess({"sh", "-c", script}, options);
}

// Whether the process ends within two seconds; as a zombie, if nobody waits for orphans here.
bool goes(pid_t pid) {
  for (int i = 0; i < 200; ++i) {
    std::string word, state;
    if (::kill(pid, 0) != 0 || !(std::ifstream("/proc/" + std::to_string(pid) + "/stat") >> word >> word >> state))
      return true;
    if (state == "Z") return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("process: output and exit status") {
  const ProcessResult r = shell("echo out; echo err >&2; exit 3");
  CHECK(r.end == End::Exited);
  CHECK(r.code == 3);
  CHECK_FALSE(r.succeeded());
  CHECK(r.out == "out\n");
  CHECK(r.err == "err\n");
  CHECK_FALSE(r.truncated);
  CHECK(r.describe() == "exit status 3");
  CHECK(shell("true").succeeded());
}

TEST_CASE("process: arguments are passed as they are") {
  CHECK(runProcess({"printf", "%s|", "a b", "", "$HOME", "\"'\\"}).out == "a b||$HOME|\"'\\|");
}

TEST_CASE("process: variables besides ours, and in the place of ours") {
  ::setenv("PTXOPT_TEST_A", "ours", 1);
  ::setenv("PTXOPT_TEST_AB", "longer", 1);
  ProcessOptions options;
  options.environment = {"PTXOPT_TEST_A=theirs", "PTXOPT_TEST_C=new=1"};
  const ProcessResult r =
      shell("echo \"$PTXOPT_TEST_A $PTXOPT_TEST_AB $PTXOPT_TEST_C\"; env | grep -c '^PTXOPT_TEST_A='", options);
  CHECK(r.out == "theirs longer new=1\n1\n");
  CHECK(shell("echo $PTXOPT_TEST_A").out == "ours\n");
  ::unsetenv("PTXOPT_TEST_A");
  ::unsetenv("PTXOPT_TEST_AB");
}

TEST_CASE("process: standard input is empty") { CHECK(runProcess({"cat"}).out.empty()); }

TEST_CASE("process: a signal") {
  const ProcessResult r = shell("kill -SEGV $$");
  CHECK(r.end == End::Signalled);
  CHECK(r.code == SIGSEGV);
  CHECK(r.describe().starts_with("signal 11"));
}

TEST_CASE("process: what cannot be started") {
  const ProcessResult r = runProcess({"/nowhere/at/all"});
  CHECK(r.end == End::NotStarted);
  CHECK(r.error == "No such file or directory");
  CHECK(runProcess({}).end == End::NotStarted);
}

TEST_CASE("process: more output than is kept does not block") {
  ProcessOptions options;
  options.outputCap = 1000;
  const ProcessResult r = shell("head -c 1000000 /dev/zero; echo end >&2", options);
  CHECK(r.succeeded());
  CHECK(r.truncated);
  CHECK(r.out.size() == 1000);
  CHECK(r.err == "end\n");
  options.outputCap = 0;
  const ProcessResult quiet = shell("head -c 1000000 /dev/zero", options);
  CHECK(quiet.succeeded());
  CHECK(quiet.out.empty());
}

TEST_CASE("process: a time limit kills the children too") {
  ProcessOptions options;
  options.timeoutSeconds = 0.2;
  const ProcessResult r = shell("sleep 100 & echo $!; trap '' TERM INT; wait", options);
  CHECK(r.end == End::TimedOut);
  CHECK(r.seconds >= 0.2);
  CHECK(r.seconds < 5);
  REQUIRE_FALSE(r.out.empty());
  CHECK(goes(std::stoi(r.out)));
}

TEST_CASE("process: a child that outlives it and holds the pipes is not waited for") {
  const ProcessResult r = shell("sleep 100 & echo $!");
  CHECK(r.succeeded());
  CHECK(r.seconds < 5);
  REQUIRE_FALSE(r.out.empty());
  CHECK(goes(std::stoi(r.out)));
}

TEST_CASE("process: cancelled from another thread") {
  std::atomic<bool> cancel = false;
  ProcessOptions options;
  options.cancelled = [&] { return cancel.load(); };
  std::jthread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    cancel = true;
  });
  const ProcessResult r = runProcess({"sleep", "100"}, options);
  CHECK(r.end == End::Cancelled);
  CHECK(r.seconds < 5);
}
