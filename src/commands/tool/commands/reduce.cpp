// ptxopt reduce: the command line, the candidate files, and the user's command around reduce/reducer.h.
//
// Candidates are files in a temporary folder, one subfolder for each job, which is emptied before each test.
// Signals that ask to end (Ctrl-C) kill the running commands; the best text stands in the output file by then. The
// tool then dies by that signal, as its caller expects.
#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>

#include "reduce/reducer.h"
#include "support/log.h"
#include "support/process.h"
#include "support/temporary_folder.h"
#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/options/number_checks.h"
#include "tool/options/parse_arguments.h"
#include "tool/terminal/messages.h"
#include "tool/terminal/terminal.h"

namespace ptxopt::tool {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct ReduceLine {
  std::string input, output, kernel;
  std::vector<std::string> command;
  double timeout = 0;
  bool timeoutInteresting = false;
  bool interface = false;
  bool verbose = false;
  uint64_t maxTests = 0;
  unsigned jobs = 1;
};

// ---- signals ----

std::atomic<bool> stopRequested = false;
std::atomic<int> stopSignal = 0;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void onSignal(int signal) {
  stopSignal = signal;
  stopRequested = true;
}

void catchSignals() {
  struct sigaction action {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);  // the second one ends the tool at once
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    ::sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);  // nohup stays in force
  }
}

// ---- the user's command ----

// Each `{}` of the arguments becomes the file; without any the file is one more argument.
std::vector<std::string> withFile(const std::vector<std::string>& command, const std::string& file) {
  std::vector<std::string> arguments;
  bool found = false;
  for (const std::string& argument : command) {
    std::string now;
    std::size_t at = 0;
    for (std::size_t next; (next = argument.find("{}", at)) != std::string::npos; at = next + 2) {
      now += argument.substr(at, next - at) + file;
      found = true;
    }
    arguments.push_back(now + argument.substr(at));
  }
  if (!found) arguments.push_back(file);
  return arguments;
}

class Tester {
 public:
  Tester(const ReduceLine& line, fs::path folder) : line_(line), folder_(std::move(folder)) {
    name_ = line.input == "-" ? "stdin.ptx" : fs::path(line.input).filename().string();
  }

  ProcessResult run(std::string_view text, unsigned worker, const std::atomic<bool>* cancel,
                    std::size_t outputCap) {
    ProcessResult result;
    const fs::path folder = folder_ / std::to_string(worker);
    const std::string file = (folder / name_).string();
    std::error_code error;
    fs::remove_all(folder, error);
    fs::create_directories(folder, error);
    if (error)
      result.error = fmt::format("cannot make '{}': {}", folder.string(), error.message());
    else if (writeFiles({{file, text}}, result.error))
      result = runCommand(file, cancel, outputCap);
    return result;
  }

  bool isInteresting(const ProcessResult& result) const {
    return result.end == ProcessResult::End::TimedOut ? line_.timeoutInteresting : result.succeeded();
  }

 private:
  ProcessResult runCommand(const std::string& file, const std::atomic<bool>* cancel, std::size_t outputCap) const {
    ProcessResult result =
        runProcess(withFile(line_.command, file),
                   {.timeoutSeconds = line_.timeout, .outputCap = outputCap, .cancelled = [cancel] {
                      return stopRequested || (cancel != nullptr && *cancel);
                    }});
    const std::string& program = line_.command.front();
    if (result.end == ProcessResult::End::NotStarted)
      result.error = fmt::format("cannot start '{}': {}{}", program, result.error,
                                 program.find(' ') == std::string::npos
                                     ? ""
                                     : "; give each word as an argument of its own, or the whole line to sh -c");
    return result;
  }

  const ReduceLine& line_;
  fs::path folder_;
  std::string name_;
};

// ---- what is said on the way ----

class ReductionProgress {
 public:
  ReductionProgress(bool verbose, std::size_t bytes)
      : verbose_(verbose), terminal_(isTerminal(stderr)), bytes_(bytes) {
    if (terminal_) log::setAround({[] { drawLine({}); }, {}});
  }
  ReductionProgress(const ReductionProgress&) = delete;
  ~ReductionProgress() {
    if (terminal_) log::setAround({});
  }

  void show(const reduce::ReduceProgress& p) {
    if (verbose_ && p.finishedReduction && p.bytes != bytes_) {
      log::asked(log::kTool, text(p));
      bytes_ = p.bytes;
    }
    const auto now = Clock::now();
    if (!terminal_ || now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    drawLine(text(p));
  }
  void clear() const {
    if (terminal_) drawLine({});
  }

 private:
  static std::string text(const reduce::ReduceProgress& p) {
    return fmt::format("iteration {}: {}: {} bytes, {} instructions, {} tests", p.iteration, p.reduction, p.bytes,
                       p.instructions, p.tests);
  }

  bool verbose_, terminal_;
  std::size_t bytes_;
  Clock::time_point shown_;
};

// ---- the command line ----

bool readReduceLine(int argc, char** argv, ReduceLine& line, int& exitCode) {
  CLI::App app(
      "ptxopt reduce INPUT -o OUTPUT [OPTIONS] -- COMMAND...\n"
      "Shrinks a PTX file while a command confirms that it still shows the problem.\n"
      "Each {} of the command becomes the name of a candidate file, which is otherwise its last argument. Exit "
      "status\n"
      "0 says that the candidate is interesting; it must be the same for the same text each time. OUTPUT always\n"
      "holds the best candidate so far, as `ptxopt --reprint` prints it.\n"
      "Exit codes: 0 ok, 2 usage, I/O, or an input that is not interesting, 3 not valid PTX, 4 internal error.",
      "ptxopt reduce");
  app.footer(
      "Examples:\n"
      "  ptxopt reduce bug.ptx -o small.ptx -- \\\n"
      "      sh -c 'ptxas -arch=sm_90 {} -o {}.cubin 2>&1 | grep -q \"Internal error\"'\n"
      "  ptxopt reduce a.ptx -o b.ptx -j 8 --timeout 5 -- ./crashes.sh");
  app.add_option("INPUT", line.input, "PTX file; - is standard input")->required();
  app.add_option("-o,--output", line.output, "where the result goes; - is standard output, at the end")
      ->type_name("FILE")
      ->required();
  app.add_option("--kernel", line.kernel, "keep only this one of the kernels, from the start")->type_name("NAME");
  app.add_flag("--interface", line.interface,
               "also what changes launches: drop kernels' parameters, shorten their names");
  app.add_option("-j,--jobs", line.jobs, "tests at a time; 0: one per core; the result does not depend on it")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  app.add_option("--timeout", line.timeout, "a test that takes longer is killed, and not interesting")
      ->type_name("SECONDS")
      ->check(positiveNumber());
  app.add_flag("--timeout-interesting", line.timeoutInteresting,
               "a test that is killed by --timeout is interesting");
  app.add_option("--max-tests", line.maxTests, "stop after that many")->type_name("N")->check(positiveNumber());
  app.add_flag("-v,--verbose", line.verbose, "say what each reduction achieved");

  const auto usage = [&](std::string_view message) {
    printError(fmt::format("ptxopt reduce: {}\nptxopt reduce --help lists the options.\n", message));
    exitCode = static_cast<int>(Status::Usage);
    return false;
  };
  int own = 0;
  while (own < argc && std::string_view(argv[own]) != "--") ++own;
  for (int i = own + 1; i < argc; ++i) line.command.emplace_back(argv[i]);
  if (!parseArguments(app, own, argv, exitCode)) return false;
  if (line.command.empty()) return usage("no command; it follows --");
  if (line.timeoutInteresting && line.timeout == 0) return usage("--timeout-interesting needs --timeout");
  if (const std::string why = whyOneFile({{"input", line.input}}, {{"output", line.output}}); !why.empty())
    return usage(why);
  if (line.jobs == 0) line.jobs = std::max(std::thread::hardware_concurrency(), 1u);
  return true;
}

int run(const ReduceLine& line) {
  const auto start = Clock::now();
  FileText input;
  std::string error;
  if (!readFile(line.input, input, error)) return fail(Status::Usage, error);
  const std::string inputName = line.input == "-" ? "<stdin>" : line.input;
  reduce::NormalizedText text = reduce::normalize(input, line.kernel, inputName);
  if (text.isSyntax) {
    printError(text.error);
    return static_cast<int>(Status::InvalidInput);
  }
  if (!text.error.empty()) return fail(Status::Usage, text.error);

  const TemporaryFolder folder;
  if (!folder.isValid()) return fail(Status::Usage, folder.error());
  Tester tester(line, folder.path());

  // The input as it is (unless kernels go at once), then as it is reprinted.
  uint64_t checks = 0;
  const auto check = [&](std::string_view candidate, std::string_view what) {
    ++checks;
    const ProcessResult result = tester.run(candidate, 0, nullptr, 4096);
    if (stopRequested || tester.isInteresting(result)) return true;
    if (result.end == ProcessResult::End::NotStarted) {
      fail(Status::Usage, result.error);
      return false;
    }
    printAsked(result.out);
    printAsked(result.err);
    fail(Status::Usage,
         fmt::format("{}: the command says that {} is not interesting: {}", inputName, what, result.describe()));
    return false;
  };
  if (line.kernel.empty() && !check(input, "the input")) return static_cast<int>(Status::Usage);
  if (text.text != std::string_view(input) &&
      !check(text.text, line.kernel.empty() ? "the input as --reprint prints it"
                                            : fmt::format("the input with only the kernel '{}'", line.kernel)))
    return static_cast<int>(Status::Usage);
  if (stopRequested) return 0;

  const std::size_t bytes = text.text.size(), instructions = reduce::countInstructions(text.text);
  const auto write = [&](const std::string& best) { return writeFiles({{line.output, best}}, error); };
  if (line.output != "-" && !write(text.text)) return fail(Status::Usage, error);

  ReductionProgress progress(line.verbose, bytes);
  std::mutex mutex;
  std::string commandError;
  reduce::ReduceOptions options;
  options.jobs = line.jobs;
  options.maxTests = line.maxTests;
  options.interface = line.interface;
  options.stop = &stopRequested;
  options.test = [&](const std::string& candidate, unsigned worker, const std::atomic<bool>& cancel) {
    const ProcessResult result = tester.run(candidate, worker, &cancel, 0);
    if (result.end == ProcessResult::End::NotStarted) {
      const std::scoped_lock lock(mutex);
      commandError = result.error;
      stopRequested = true;
    }
    return tester.isInteresting(result);
  };
  options.accept = [&](const std::string& best) { return line.output == "-" || write(best); };
  options.progress = [&](const reduce::ReduceProgress& p) { progress.show(p); };
  const reduce::ReduceResult result = reduce::reduceText(std::move(text.text), options);
  progress.clear();

  if (error.empty() && line.output == "-") write(result.text);
  if (!error.empty()) return fail(Status::Usage, error);
  using End = reduce::ReduceResult::End;
  printAsked(fmt::format("ptxopt: {} -> {} bytes, {} -> {} instructions; {} tests, {} iterations, {:.1f} s{}\n",
                         bytes, result.text.size(), instructions, reduce::countInstructions(result.text),
                         checks + result.tests, result.iterations,
                         std::chrono::duration<double>(Clock::now() - start).count(),
                         result.end == End::FixedPoint ? ""
                         : result.end == End::MaxTests ? "; stopped by --max-tests"
                                                       : "; stopped"));
  if (line.verbose)
    printAsked(
        fmt::format("ptxopt: {} candidates were known already, {} were not PTX\n", result.known, result.invalid));
  if (!commandError.empty()) return fail(Status::Usage, commandError);
  return 0;
}

}  // namespace

int reduceCommand(int argc, char** argv) {
  ReduceLine line;
  int exitCode = 0;
  if (!readReduceLine(argc, argv, line, exitCode)) return exitCode;
  catchSignals();
  exitCode = run(line);
  if (stopSignal != 0) {
    ::signal(stopSignal, SIG_DFL);
    ::raise(stopSignal);
  }
  return exitCode;
}

}  // namespace ptxopt::tool
