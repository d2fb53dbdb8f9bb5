// The order of options matters: each --kernel begins a launch, and those after it belong to that launch. The arguments
// are rewritten so that each --arg has one value, and the launches are made from CLI11's order of parsing.
#include "tool/commands/run_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>

#include "ptxopt/ptxopt.h"
#include "tool/commands/shape.h"
#include "tool/options/number_checks.h"
#include "tool/options/parse_arguments.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

exec::Dim3 readShape(const std::string& option, const std::string& text) {
  const auto shape = parseShape(text);
  if (!shape) throw CLI::ValidationError(shapeError(option, text));
  return *shape;
}

// Options that follow each other: `--arg A B` becomes `--arg A --arg B`, so that the order of all is that of the
// text.
std::vector<std::string> singleValued(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    words.emplace_back(argv[i]);
    if (words.back() != "--arg" || i + 1 == argc) continue;
    words.emplace_back(argv[++i]);
    while (i + 1 < argc && argv[i + 1][0] != '-') {
      words.emplace_back("--arg");
      words.emplace_back(argv[++i]);
    }
  }
  return words;
}

class RunLineReader {
 public:
  explicit RunLineReader(RunLine& line);

  // As readRunLine.
  bool read(int argc, char** argv, int& exitCode);

 private:
  // ---- declaring the options: a function for each group of --help, in the order there ----

  void addLaunches();
  void addMemory();
  void addWatch();
  void addOthers();
  CLI::Option* addInOrder(const std::string& name, const std::string& what, const std::string& type);

  // ---- what was said ----

  void take();
  void takeLaunches();
  void takeLaunchOption(const CLI::Option* o, const std::string& value, RunLaunch& launch) const;

  // ---- what is missing or does not go together; false with a message ----

  bool check();
  bool checkLaunches() const;
  bool takeDumps();

  RunLine& line_;
  CLI::App app_;
  std::vector<CLI::Option*> ordered_;  // those that belong to launches
  CLI::Option *kernel_ = nullptr, *grid_ = nullptr, *block_ = nullptr, *cluster_ = nullptr, *shared_ = nullptr,
              *argument_ = nullptr;
  CLI::Option *profile_ = nullptr, *trace_ = nullptr;
  std::vector<std::string> dumps_;
  std::string format_ = "text";
};

RunLineReader::RunLineReader(RunLine& line)
    : line_(line),
      app_(
          "ptxopt run INPUT [--buffer NAME=BUFFER]... \\\n"
          "    [--kernel NAME] --grid X[,Y,Z] --block X[,Y,Z] [--arg ARGUMENT...] [--kernel ...]... [OPTIONS]\n"
          "Runs kernels of a PTX file in the interpreter, one launch after the other over the same memory.\n"
          "Exit codes: 0 ok, 1 a kernel failed, 2 usage, I/O, a launch that makes no sense or an instruction that "
          "is not\n"
          "supported, 3 not valid PTX, 4 internal error.",
          "ptxopt run") {
  app_.footer(
      "Arguments, in the order of the kernel's parameters:\n"
      "  u32:5 s64:-1 f32:1.5 f64:inf     scalars\n"
      "  f32:0f3F800000 b32:0x3f800000    ... by their bits\n"
      "  bytes:00ff01 bytes:@FILE         structures\n"
      "  [NAME=]buf:TYPE:COUNT:INIT       a new buffer, passed as its address\n"
      "  NAME NAME+BYTES                  an earlier buffer or a module variable\n"
      "\n"
      "INIT is zero, iota, random, fill=VALUE, uninit or @FILE (raw; then COUNT may be left out). "
      "Buffers without a name are arg0, arg1, ... by the argument's number in its launch.\n"
      "Example:\n"
      "  ptxopt run saxpy.ptx --grid 2 --block 32 --dump y \\\n"
      "      --arg u32:40 f32:2 buf:f32:40:iota y=buf:f32:40:fill=1");
  app_.add_option("INPUT", line_.input, "PTX file; - is standard input");
  addLaunches();
  addMemory();
  addWatch();
  addOthers();
}

// An option that may come again and again; its place among the others counts.
CLI::Option* RunLineReader::addInOrder(const std::string& name, const std::string& what, const std::string& type) {
  CLI::Option* const o = app_.add_option(name, what)->type_name(type);
  o->group("Launches: each --kernel begins the next; these belong to the latest");
  o->expected(1)->take_all();
  o->allow_extra_args(false);
  ordered_.push_back(o);
  return o;
}

void RunLineReader::addLaunches() {
  kernel_ = addInOrder("--kernel", "the kernel; a file with one needs none", "NAME");
  grid_ = addInOrder("--grid", "blocks", "X[,Y,Z]");
  block_ = addInOrder("--block", "threads of a block", "X[,Y,Z]");
  cluster_ = addInOrder("--cluster", "blocks of a cluster", "X[,Y,Z]");
  shared_ = addInOrder("--shared", "dynamic shared memory", "BYTES");
  argument_ = addInOrder("--arg", "arguments", "ARGUMENT...");
}

void RunLineReader::addMemory() {
  const char* const kMemory = "Memory";
  app_.add_option("--buffer", line_.buffers, "a buffer, for arguments to name: NAME=buf:TYPE:COUNT:INIT")
      ->type_name("BUFFER")
      ->allow_extra_args(false)
      ->group(kMemory);
  app_.add_option("--seed", line_.seed, "of random buffers [0]")
      ->type_name("N")
      ->check(wholeNumber())
      ->group(kMemory);
  app_.add_option("--dump", dumps_, "print a buffer or module variable after the last launch, or write its bytes")
      ->type_name("NAME[=FILE]")
      ->allow_extra_args(false)
      ->group(kMemory);
}

void RunLineReader::addWatch() {
  const char* const kWatch = "What is watched";
  profile_ = app_.add_flag("--profile{}", line_.profileFile,
                           "count instructions, divergence, loads and stores; FILE gets JSON")
                 ->type_name("FILE.json")
                 ->group(kWatch);
  trace_ = app_.add_flag("--trace{}", line_.traceFile, "a line for each instruction that a warp executes")
               ->type_name("FILE")
               ->group(kWatch);
  app_.add_flag("--trace-lanes", line_.traceLanes, "... with the values of all lanes, not of one")->group(kWatch);
  app_.add_option("--record", line_.recordFile,
                  "write what the launches were given and what they left, for ptxopt record")
      ->type_name("FILE")
      ->group(kWatch);
  app_.add_option("--profile-facts", line_.profileFacts,
                  "write what the launches had, for --profile-use: sizes, values of parameters, memory that "
                  "overlaps, iterations of loops")
      ->type_name("FILE")
      ->group(kWatch);
  app_.add_flag("--check-races", line_.checkRaces, "fail at data races in shared and global memory")->group(kWatch);
  app_.add_flag("--check-uninit", line_.checkUninitialised, "fail when what nothing has written is read")
      ->group(kWatch);
}

void RunLineReader::addOthers() {
  app_.add_option("--max-steps", line_.maxSteps,
                  "stop a launch after that many warp instructions [none, but some block has to end within 1e9 of "
                  "each core]")
      ->type_name("N")
      ->check(wholeNumber());
  app_.add_option("-j,--jobs", line_.jobs, "blocks at a time; 0: one per core")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  line_.facts.addTo(app_, "OPTIONS");
  app_.add_flag("--list-opcodes", line_.listOpcodes, "list the opcodes, and whether the interpreter has them");
  app_.add_option("--format", format_, "of the list: text, or markdown for those that it does not have")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "markdown"}));
}

bool RunLineReader::read(int argc, char** argv, int& exitCode) {
  if (!parseArguments(app_, singleValued(argc, argv), exitCode, [&] { take(); })) return false;
  exitCode = static_cast<int>(Status::Usage);
  return line_.listOpcodes || check();
}

void RunLineReader::take() {
  line_.markdown = format_ == "markdown";
  line_.profile = profile_->count() != 0;
  line_.trace = trace_->count() != 0;
  if (line_.profileFile == "true") line_.profileFile.clear();
  if (line_.traceFile == "true") line_.traceFile.clear();
  takeLaunches();
}

void RunLineReader::takeLaunches() {
  std::map<const CLI::Option*, std::size_t> used;
  line_.launches.emplace_back();
  bool named = false;
  for (const CLI::Option* o : app_.parse_order()) {
    if (std::find(ordered_.begin(), ordered_.end(), o) == ordered_.end()) continue;
    const std::string value = o->results().at(used[o]++);
    if (o == kernel_ && named) line_.launches.emplace_back();
    named = named || o == kernel_;
    takeLaunchOption(o, value, line_.launches.back());
  }
}

void RunLineReader::takeLaunchOption(const CLI::Option* o, const std::string& value, RunLaunch& launch) const {
  if (o == kernel_) launch.kernel = value;
  if (o == argument_) launch.arguments.push_back(value);
  if (o == grid_) launch.grid = readShape("--grid", value), launch.hasGrid = true;
  if (o == block_) launch.block = readShape("--block", value), launch.hasBlock = true;
  if (o == cluster_) launch.cluster = readShape("--cluster", value), launch.hasCluster = true;
  if (o != shared_) return;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), launch.shared);
  if (error != std::errc() || end != value.data() + value.size())
    throw CLI::ValidationError("--shared", fmt::format("'{}' is not a number of bytes", value));
}

bool runUsage(std::string_view message) {
  printError(fmt::format("ptxopt run: {}\nptxopt run --help lists the options.\n", message));
  return false;
}

bool RunLineReader::check() {
  if (line_.input.empty()) return runUsage("INPUT is required");
  if (!checkLaunches() || !takeDumps()) return false;
  if ((line_.profile || line_.trace) && line_.jobs != 1)
    return runUsage("--profile and --trace run one block at a time: no -j");
  if (line_.traceLanes && !line_.trace) return runUsage("--trace-lanes needs --trace");
  return true;
}

bool RunLineReader::checkLaunches() const {
  for (const RunLaunch& launch : line_.launches) {
    const std::string of = launch.kernel.empty() ? "the kernel" : fmt::format("'{}'", launch.kernel);
    if (!launch.hasGrid) return runUsage(fmt::format("{} has no --grid", of));
    if (!launch.hasBlock) return runUsage(fmt::format("{} has no --block", of));
  }
  return true;
}

bool RunLineReader::takeDumps() {
  for (const std::string& dump : dumps_) {
    const std::size_t at = dump.find('=');
    line_.dumps.push_back({dump.substr(0, at), at == std::string::npos ? "" : dump.substr(at + 1)});
    if (at + 1 == dump.size()) return runUsage(fmt::format("--dump {}: no file", dump));
  }
  return true;
}

}  // namespace

bool readRunLine(int argc, char** argv, RunLine& line, int& exitCode) {
  return RunLineReader(line).read(argc, argv, exitCode);
}

}  // namespace ptxopt::tool
