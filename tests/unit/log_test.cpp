#include "support/log.h"

#include <fcntl.h>
#include <unistd.h>

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
  log::addCallback(Level::Warn, [&](Level level, std::string_view source, std::string_view text) {
    heard.push_back(std::string(log::name(level)) + " " + std::string(source) + " " + std::string(text));
  });
  bool made = false;
  log::debug(log::kPtxas, [&] { return made = true, std::string(); });
  log::info(log::kPtxas, "not heard");
  log::warn(log::kPtxas, "heard");
  log::asked(log::kTool, "asked");
  CHECK_FALSE(made);
  CHECK(heard == std::vector<std::string>{"warn ptxas heard", "asked tool asked"});
  log::addCallback(Level::Off, [](Level, std::string_view, std::string_view) { FAIL("off takes nothing"); });
  log::error(log::kTool, "x");
  log::asked(log::kTool, "y");
  CHECK(heard.size() == 4);
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
