// The drop-in ptxas: its arguments, words as of a shell, messages, plans of nvcc, the safety net, children.
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <atomic>
#include <fstream>

#include "support/shell_words.h"
#include "support/temporary_folder.h"
#include "wrapper/child.h"
#include "wrapper/messages.h"
#include "wrapper/nvcc_plan.h"
#include "wrapper/ptxas_command.h"
#include "wrapper/safety_net.h"

namespace ptxopt {
namespace {

using Words = std::vector<std::string>;

Words inputsOf(const wrapper::PtxasCommand& command) {
  Words out;
  for (const wrapper::PtxasCommand::Input& input : command.inputs) out.push_back(command.words[input.word]);
  return out;
}

TEST_CASE("ptxas command: inputs are what no option takes") {
  const wrapper::PtxasCommand c =
      wrapper::readPtxasCommand({"-arch", "sm_90a", "a.ptx", "-o", "b.ptx", "--entry=k", "-e", "c.ptx", "-m64",
                                 "-m", "64", "-O2", "-v", "-", "--unknown", "d.ptx"});
  CHECK(inputsOf(c) == Words{"a.ptx", "-", "d.ptx"});
  CHECK(c.architecture == "sm_90a");
  CHECK(c.notOptimized.empty());
  CHECK(c.settings == Words{"--entry=k", "-e", "c.ptx", "-m64", "-m", "64", "-O2", "-v", "--unknown"});
  Words readOnly = c.words;
  readOnly[1] = "compute_90a";
  CHECK(c.wordsToReadOnly() == readOnly);
  // The short name of the level takes no word.
  CHECK(inputsOf(wrapper::readPtxasCommand({"-O", "3", "a.ptx"})) == Words{"3", "a.ptx"});
  CHECK(inputsOf(wrapper::readPtxasCommand({"--opt-level", "3", "a.ptx"})) == Words{"a.ptx"});
  CHECK(wrapper::readPtxasCommand({"a.ptx"}).wordsToReadOnly() == Words{"a.ptx", "-arch=compute_75"});
}

TEST_CASE("ptxas command: what is not optimized") {
  for (const Words& words :
       {Words{}, Words{"-v"}, Words{"-V", "a.ptx"}, Words{"-g", "a.ptx"}, Words{"-O0", "a.ptx"},
        Words{"--opt-level=0", "a.ptx"}, Words{"-arch=compute_80", "a.ptx"}, Words{"-arch=lto_80", "a.ptx"},
        Words{"a.ptx", "-arch"}, Words{"-optf", "/nonexistent/file", "a.ptx"},
        Words{"-sanitize", "memcheck", "a.ptx"}})
    CHECK(!wrapper::readPtxasCommand(words).notOptimized.empty());
  // The last of them counts.
  CHECK(wrapper::readPtxasCommand({"-O0", "-O3", "a.ptx"}).notOptimized.empty());
  CHECK(wrapper::readPtxasCommand({"-arch=compute_80", "--gpu-name", "sm_80", "a.ptx"}).notOptimized.empty());
}

TEST_CASE("ptxas command: strings") {
  const wrapper::PtxasCommand c = wrapper::readPtxasCommand({"-ias", ".version", "--input-as-string=.target"});
  REQUIRE(c.inputs.size() == 2);
  CHECK(c.inputs[0].isString);
  CHECK(c.inputs[0].prefix == 0);
  CHECK(c.words[c.inputs[1].word].substr(c.inputs[1].prefix) == ".target");
}

TEST_CASE("ptxas command: options files are put in the place of the option") {
  const TemporaryFolder folder;
  REQUIRE(folder.isValid());
  const std::string first = folder.file("first"), second = folder.file("second");
  std::ofstream(first) << "-arch=sm_80\n\t\"a b.ptx\" -optf=" << second;
  std::ofstream(second) << "c\\ d.ptx -v";
  const wrapper::PtxasCommand c = wrapper::readPtxasCommand({"-c", "-optf", first + "," + second, "e.ptx"});
  CHECK(c.words == Words{"-c", "-arch=sm_80", "a b.ptx", "c d.ptx", "-v", "c d.ptx", "-v", "e.ptx"});
  CHECK(c.inputs.size() == 4);
  std::ofstream(second) << "-optf " << second;
  CHECK(wrapper::readPtxasCommand({"-optf", second, "e.ptx"}).notOptimized == "options files without end");
  CHECK(wrapper::splitOptionsFile("a\"b c\"d  'e f' \"\"") == Words{"ab cd", "'e", "f'", ""});
}

TEST_CASE("shell words") {
  CHECK(splitShellWords("") == Words{});
  CHECK(splitShellWords(" a  'b c' \"d \\\" \\x $e\" f\\ g h'i'\"j\" ''\n") ==
        Words{"a", "b c", "d \" \\x $e", "f g", "hij", ""});
  CHECK(!splitShellWords("a 'b"));
  CHECK(!splitShellWords("a \"b"));
  CHECK(splitShellWords("a\\") == Words{"a\\"});
}

TEST_CASE("messages: places of the original, names of the original") {
  const std::vector<wrapper::RenamedInput> names{{"/tmp/x/a.ptx", "a.ptx", "a.ptx"},
                                                 {"/tmp/y/b.ptx", "/tmp/given/b", "/dev/fd/3"}};
  int calls = 0;
  const auto original = [&] {
    ++calls;
    return std::string(
        "ptxas a.ptx, line 7; warning : W\nptxas /tmp/given/b, line 9; warning : V\nptxas c.ptx, line 1; U\n");
  };
  CHECK(wrapper::asOfOriginal("ptxas info : in /tmp/x/a.ptx\n", names, original) == "ptxas info : in a.ptx\n");
  CHECK(calls == 0);
  CHECK(wrapper::asOfOriginal(
            "first\nptxas /tmp/x/a.ptx, line 5; warning : W\nptxas c.ptx, line 1; U\nptxas /tmp/y/b.ptx, "
            "line 2; V\nlast",
            names, original) ==
        "first\nptxas a.ptx, line 7; warning : W\nptxas /dev/fd/3, line 9; warning : V\nptxas c.ptx, line 1; "
        "U\nlast");
  CHECK(calls == 1);
  const auto nothing = [] { return std::string(); };
  CHECK(wrapper::asOfOriginal("ptxas /tmp/x/a.ptx, line 5; W\n", names, nothing) == "ptxas a.ptx, line 5; W\n");
}

TEST_CASE("nvcc plan") {
  const wrapper::NvccPlan plan = wrapper::readNvccPlan(
      "noise\n#$ _HERE_=/cuda/bin\n#$ TOP=a\n#$ TOP=b=c\n#$ \"$CICC_PATH/cicc\" -arch compute_80 \"k.cpp1.ii\" -o "
      "\"k.ptx\"\n"
      "#$ ptxas -arch=sm_80 \"k.ptx\" -o \"/tmp/tmpxft_0000430b_00000000-9_k.cubin\" > "
      "/tmp/tmpxft_0000432c_00000000-13_321c3100_stdout\n");
  CHECK(plan.variables.at("TOP") == "b=c");
  CHECK(plan.commands.size() == 2);
  CHECK(plan.runsPtxas());
  CHECK(plan.keepsPtx());
  CHECK(!plan.optimizesWhenLinking());
  CHECK(plan.comparable({"_HERE_"}, "/x", "/y") ==
        "TOP=b=c\n\"$CICC_PATH/cicc\" -arch compute_80 \"k.cpp1.ii\" -o \"k.ptx\"\n"
        "ptxas -arch=sm_80 \"k.ptx\" -o \"/tmp/tmpxft-9_k.cubin\" > /tmp/tmpxft_stdout\n");
  CHECK(!wrapper::readNvccPlan("#$ cicc a.ii -o \"a b/k.ptx\"\n#$ ptxas \"a b/k.ptx\"\n#$ rm a b/k.ptx\n")
             .keepsPtx());
  CHECK(
      !wrapper::readNvccPlan("#$ cicc a.ii -o \"/tmp/tmpxft_1_2-3_k.ptx\"\n#$ ptxas \"/tmp/tmpxft_1_2-3_k.ptx\"\n")
           .keepsPtx());
  CHECK(!wrapper::readNvccPlan("#$ ptxas \"k.ptx\"\n").keepsPtx());
  CHECK(wrapper::readNvccPlan("#$ fatbinary \"--image3=kind=nvvm,sm=80\"\n").optimizesWhenLinking());
  CHECK(wrapper::readNvccPlan("#$ /a/nvlink -m64 -dlto a.o\n").optimizesWhenLinking());
  CHECK(!wrapper::readNvccPlan("").runsPtxas());
}

// How a child of this process ends that does this.
template <typename F>
int statusOf(F&& f) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    f();
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

TEST_CASE("safety net: no end in sight, and a crash") {
  const Words other{"/bin/sh", "-c", "read line; test \"$line\" = given && exit 7"};
  const TemporaryFolder folder;
  std::ofstream(folder.file("in")) << "given\n";
  const int endless = statusOf([&] {
    const wrapper::SafetyNet net(other, folder.file("in"), 0.05);
    for (std::atomic<int> i = 0;; ++i) {
    }
  });
  CHECK((WIFEXITED(endless) && WEXITSTATUS(endless) == 7));
  const int crashed = statusOf([&] {
    const wrapper::SafetyNet net(other, folder.file("in"), 100);
    ::raise(SIGSEGV);
  });
  CHECK((WIFEXITED(crashed) && WEXITSTATUS(crashed) == 7));
  const int left = statusOf([&] {
    ::signal(SIGBUS, SIG_DFL);  // a sanitizer's runtime may have taken it
    { const wrapper::SafetyNet net(other, folder.file("in"), 100); }
    ::raise(SIGBUS);
  });
  CHECK((WIFSIGNALED(left) && WTERMSIG(left) == SIGBUS));
}

TEST_CASE("children: streams, ends, standard input") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("in")) << "given\n";
  wrapper::ChildOptions options;
  options.capturesOutput = true;
  options.input = folder.file("in");
  const wrapper::Child said = wrapper::runChild({"/bin/sh", "-c", "cat; echo err >&2"}, options);
  CHECK(said.succeeded());
  CHECK(said.out.find("given\n") == 0);
  CHECK((said.err == "err\n" || said.out == "given\nerr\n"));
  CHECK(wrapper::runChild({"/bin/sh", "-c", "exit 3"}).describe() == "exit status 3");
  const wrapper::Child killed = wrapper::runChild({"/bin/sh", "-c", "kill -TERM $$"});
  CHECK(killed.isInterrupted);
  CHECK(!wrapper::runChild({"/bin/sh", "-c", "kill -SEGV $$"}).isInterrupted);
  CHECK(!wrapper::runChild({"/nonexistent/program"}).error.empty());
  // What the program left behind may hold the streams open.
  const wrapper::Child left = wrapper::runChild({"/bin/sh", "-c", "echo a; sleep 20 & exit 0"}, options);
  CHECK(left.out == "a\n");
}

}  // namespace
}  // namespace ptxopt
