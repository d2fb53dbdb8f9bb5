#include "support/log.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "doctest/doctest.h"

using namespace ptxopt;
using log::Level;

namespace {

struct Sinks {
  Sinks() { log::removeSinks(); }
  ~Sinks() { log::removeSinks(); }
};

struct LogFile {
  const std::string path =
      std::filesystem::temp_directory_path() / ("ptxopt-log-test-" + std::to_string(::getpid()));
  ~LogFile() { std::filesystem::remove(path); }
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
};

void addFile(const LogFile& file, Level level, log::Format format) {
  std::string problem;
  REQUIRE_MESSAGE(log::addFile(file.path, level, format, problem), problem);
}

}  // namespace

TEST_CASE("log: names of levels are read back, and -v counts") {
  for (const Level level : {Level::Trace, Level::Debug, Level::Info, Level::Warn, Level::Error, Level::Off})
    CHECK(log::levelNamed(log::name(level)) == level);
  CHECK_FALSE(log::levelNamed("asked"));  // not for users
  CHECK_FALSE(log::levelNamed("loud"));
  CHECK(log::levelNames() == "trace, debug, info, warn, error, off");
  CHECK(log::levelOf(0) == Level::Warn);
  CHECK(log::levelOf(1) == Level::Info);
  CHECK(log::levelOf(3) == Level::Trace);
  CHECK(log::levelOf(9) == Level::Trace);
}

TEST_CASE("log: text has the program and the level, lines are as they are") {
  const Sinks sinks;
  const LogFile file;
  addFile(file, Level::Debug, log::Format::Text);
  log::error(log::kTool, "one");
  log::warn(log::kEmulate, "two");
  log::info(log::kGuard, "three");
  log::asked(log::kCapture, "four");
  log::debug(log::kCache, [] { return std::string("five"); });
  log::writeLines(Level::Error, log::kTool, "k.ptx:1:2: error: six\n  line\n");
  CHECK(file.lines() == std::vector<std::string>{"ptxopt: error: one", "ptxopt emulate: warning: two",
                                                 "ptxopt: three", "ptxopt capture: four", "ptxopt: debug: five",
                                                 "k.ptx:1:2: error: six", "  line"});
}

TEST_CASE("log: a sink takes its level and what is above; what nobody takes is not made") {
  const Sinks sinks;
  std::vector<std::string> heard;
  CHECK_FALSE(log::isEnabled(Level::Error));  // without sinks
  log::setCallback(Level::Warn, [&](Level level, std::string_view source, std::string_view text) {
    heard.push_back(std::string(log::name(level)) + " " + std::string(source) + " " + std::string(text));
  });
  bool made = false;
  log::debug(log::kPtxas, [&] { return made = true, std::string(); });
  log::info(log::kPtxas, "not heard");
  log::warn(log::kPtxas, "heard");
  log::asked(log::kTool, "asked");
  CHECK_FALSE(made);
  CHECK(heard == std::vector<std::string>{"warn ptxas heard", "asked tool asked"});
  log::setCallbackLevel(Level::Debug);
  log::debug(log::kPtxas, [&] { return made = true, std::string("made"); });
  CHECK(made);
  CHECK(heard.size() == 3);
  log::setCallbackLevel(Level::Off);
  log::asked(log::kTool, "y");
  CHECK_FALSE(log::isEnabled(Level::Asked));
  log::setCallback(Level::Off, [](Level, std::string_view, std::string_view) { FAIL("off takes nothing"); });
  log::asked(log::kTool, "y");
  log::setCallback(Level::Trace, nullptr);
  log::setCallbackLevel(Level::Trace);
  CHECK_FALSE(log::isEnabled(Level::Asked));  // there is none
  CHECK(heard.size() == 3);
}

TEST_CASE("log: a callback gets texts without the program and the last line feed") {
  const Sinks sinks;
  std::vector<std::string> heard;
  log::setCallback(Level::Info, [&](Level, std::string_view, std::string_view text) { heard.emplace_back(text); });
  log::writeLines(Level::Info, log::kGuard, "ptxopt: k.ptx: one\n");
  log::writeLines(Level::Warn, log::kTool, "k.ptx:1:2: warning: two\n  line\n");
  log::warn(log::kEmulate, "three");
  CHECK(heard == std::vector<std::string>{"k.ptx: one", "k.ptx:1:2: warning: two\n  line", "three"});
}

TEST_CASE("log: a callback may log, replace itself, and throw") {
  const Sinks sinks;
  int calls = 0, others = 0;
  log::setCallback(Level::Info, [&](Level, std::string_view, std::string_view) {
    ++calls;
    log::error(log::kTool, "inside");  // is not called for this
    log::setCallback(Level::Info, [&](Level, std::string_view, std::string_view) {
      if (++others == 1) throw 1;
    });
    log::error(log::kTool, "inside, with another");
  });
  log::info(log::kTool, "x");
  CHECK((calls == 1 && others == 0));
  CHECK_THROWS(log::info(log::kTool, "y"));
  log::info(log::kTool, "z");
  CHECK(others == 2);
}

TEST_CASE("log: threads are in a callback at the same time, and who replaces it waits for them") {
  const Sinks sinks;
  std::atomic<int> inside = 0;
  std::atomic<bool> wereBoth = false, isOver = false, isLate = false;
  log::setCallback(Level::Info, [&](Level, std::string_view, std::string_view) {
    if (isOver) isLate = true;
    if (++inside == 2) {
      wereBoth = true;
      wereBoth.notify_all();
    }
    wereBoth.wait(false);
    std::this_thread::yield();
    if (isOver) isLate = true;
    --inside;
  });
  std::vector<std::jthread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([](const std::stop_token& stop) {
      do log::info(log::kTool, "x");
      while (!stop.stop_requested());
    });
  while (!wereBoth) std::this_thread::yield();
  log::setCallback(Level::Info, nullptr);
  isOver = true;
  threads.clear();
  CHECK_FALSE(isLate);
}

TEST_CASE("log: in the child of a fork the calls of other threads are over") {
  const Sinks sinks;
  std::atomic<int> step = 0;
  std::atomic<int> heard = 0;
  log::setCallback(Level::Info, [&](Level, std::string_view, std::string_view) {
    ++heard;
    if (heard > 1) return;
    step = 1;
    step.notify_all();
    step.wait(1);
  });
  std::jthread other([] { log::info(log::kTool, "x"); });
  step.wait(0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    log::info(log::kTool, "y");
    log::setCallback(Level::Info, nullptr);  // would wait for ever
    ::_exit(heard == 2 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  step = 2;
  step.notify_all();
  CHECK(status == 0);
}

TEST_CASE("log: JSON is an object a line, whatever the bytes") {
  const Sinks sinks;
  const LogFile file;
  addFile(file, Level::Info, log::Format::Json);
  log::warn(log::kCache, "a \"quoted\"\nline and \xff");
  log::writeLines(Level::Asked, log::kGuard, "row\n");
  const auto lines = file.lines();
  REQUIRE(lines.size() == 2);
  const auto first = nlohmann::json::parse(lines[0]), second = nlohmann::json::parse(lines[1]);
  CHECK(first["level"] == "warn");
  CHECK(first["source"] == "cache");
  CHECK(first["message"] == "a \"quoted\"\nline and \xef\xbf\xbd");
  CHECK(first["time"].get<std::string>().size() == std::string_view("2026-01-01T00:00:00.000Z").size());
  CHECK(second["level"] == "asked");
  CHECK(second["message"] == "row");
}

TEST_CASE("log: messages of threads do not mix") {
  const Sinks sinks;
  const LogFile file;
  addFile(file, Level::Info, log::Format::Text);
  const std::string text(5000, 'x');
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int n = 0; n < 50; ++n) log::info(log::kTool, text);
      });
  }
  const auto lines = file.lines();
  CHECK(lines.size() == 200);
  for (const std::string& line : lines) CHECK(line == "ptxopt: " + text);
}

TEST_CASE("log: a file that cannot be opened is a problem with its name") {
  const Sinks sinks;
  std::string problem;
  CHECK_FALSE(log::addFile("/nowhere/at/all", Level::Info, log::Format::Text, problem));
  CHECK(problem == "cannot write '/nowhere/at/all': No such file or directory");
}

TEST_CASE("log: standard error is coloured, and what stands around it is called") {
  const Sinks sinks;
  int pipes[2];
  REQUIRE(::pipe(pipes) == 0);
  const int kept = ::dup(STDERR_FILENO);
  ::dup2(pipes[1], STDERR_FILENO);
  log::setStandardError(Level::Warn, log::Format::Text, true);
  std::string order;
  log::setAround({[&] { order += 'b'; }, [&] { order += 'a'; }});
  log::error(log::kTool, "x");
  log::info(log::kTool, "not taken");
  log::writeLines(Level::Warn, log::kTool, "::error file=a::b\n");
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  ::close(pipes[1]);
  char buffer[256];
  const ssize_t n = ::read(pipes[0], buffer, sizeof buffer);
  ::close(pipes[0]);
  CHECK(std::string_view(buffer, static_cast<std::size_t>(std::max<ssize_t>(n, 0))) ==
        "ptxopt: \x1b[1m\x1b[31merror:\x1b[0m x\n\\x3a:error file=a::b\n");
  CHECK(order == "baba");
}
