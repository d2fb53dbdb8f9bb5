#include "tool/commands/run_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>

#include "ptxopt/ptxopt.h"
#include "tool/commands/shape.h"
#include "tool/options/parse_arguments.h"

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

}  // namespace

bool readRunLine(int argc, char** argv, RunLine& line, int& exitCode) {
  CLI::App app(
      "ptxopt run INPUT [--buffer NAME=BUFFER]... \\\n"
      "    [--kernel NAME] --grid X[,Y,Z] --block X[,Y,Z] [--arg ARGUMENT...] [--kernel ...]... [OPTIONS]\n"
      "Runs kernels of a PTX file in the interpreter, one launch after the other over the same memory.\n"
      "Exit codes: 0 ok, 1 a kernel failed, 2 usage, I/O, a launch that makes no sense or an instruction that is "
      "not\n"
      "supported, 3 not valid PTX, 4 internal error.",
      "ptxopt run");
  app.footer(
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
  RunLine& l = line;
  app.add_option("INPUT", l.input, "PTX file; - is standard input");

  const char* const kLaunch = "Launches: each --kernel begins the next; these belong to the latest";
  std::vector<CLI::Option*> ordered;
  const auto inOrder = [&](const std::string& name, const std::string& what, const std::string& type) {
    CLI::Option* const o = app.add_option(name, what)->type_name(type)->group(kLaunch);
    o->expected(1)->take_all();
    o->allow_extra_args(false);
    ordered.push_back(o);
    return o;
  };
  CLI::Option* const kernel = inOrder("--kernel", "the kernel; a file with one needs none", "NAME");
  CLI::Option* const grid = inOrder("--grid", "blocks", "X[,Y,Z]");
  CLI::Option* const block = inOrder("--block", "threads of a block", "X[,Y,Z]");
  CLI::Option* const cluster = inOrder("--cluster", "blocks of a cluster", "X[,Y,Z]");
  CLI::Option* const shared = inOrder("--shared", "dynamic shared memory", "BYTES");
  CLI::Option* const argument = inOrder("--arg", "arguments", "ARGUMENT...");

  const char* const kMemory = "Memory";
  app.add_option("--buffer", l.buffers, "a buffer, for arguments to name: NAME=buf:TYPE:COUNT:INIT")
      ->type_name("BUFFER")
      ->allow_extra_args(false)
      ->group(kMemory);
  app.add_option("--seed", l.seed, "of random buffers [0]")->type_name("N")->group(kMemory);
  std::vector<std::string> dumps;
  app.add_option("--dump", dumps, "print a buffer or module variable behind the last launch, or write its bytes")
      ->type_name("NAME[=FILE]")
      ->allow_extra_args(false)
      ->group(kMemory);

  const char* const kWatch = "What is watched";
  CLI::Option* const profile =
      app.add_flag("--profile{}", l.profileFile, "count instructions, divergence, loads and stores; FILE gets JSON")
          ->type_name("FILE.json")
          ->group(kWatch);
  CLI::Option* const trace =
      app.add_flag("--trace{}", l.traceFile, "a line for each instruction that a warp executes")
          ->type_name("FILE")
          ->group(kWatch);
  app.add_flag("--trace-lanes", l.traceLanes, "... with the values of all lanes, not of one")->group(kWatch);
  app.add_flag("--check-races", l.checkRaces, "fail at data races in shared and global memory")->group(kWatch);
  app.add_flag("--check-uninit", l.checkUninitialised, "fail when what nothing has written is read")->group(kWatch);

  app.add_option("--max-steps", l.maxSteps, "fail when a launch runs more warp instructions")->type_name("N");
  app.add_option("-j,--jobs", l.jobs, "blocks at a time; 0: one a core")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  app.add_flag("--list-opcodes", l.listOpcodes, "list the opcodes, and whether the interpreter has them");
  std::string format = "text";
  app.add_option("--format", format, "of the list: text, or markdown for those that it does not have")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "markdown"}));

  const auto usage = [&](std::string_view message) {
    fmt::print(stderr, "ptxopt run: {}\nptxopt run --help lists the options.\n", message);
    return false;
  };
  const auto take = [&] {
    line.markdown = format == "markdown";
    line.profile = profile->count() != 0;
    line.trace = trace->count() != 0;
    if (line.profileFile == "true") line.profileFile.clear();
    if (line.traceFile == "true") line.traceFile.clear();

    std::map<const CLI::Option*, std::size_t> used;
    line.launches.emplace_back();
    bool named = false;
    for (const CLI::Option* o : app.parse_order()) {
      if (std::find(ordered.begin(), ordered.end(), o) == ordered.end()) continue;
      const std::string value = o->results().at(used[o]++);
      if (o == kernel && named) line.launches.emplace_back();
      named = named || o == kernel;
      RunLaunch& launch = line.launches.back();
      if (o == kernel) launch.kernel = value;
      if (o == argument) launch.arguments.push_back(value);
      if (o == grid) launch.grid = readShape("--grid", value), launch.hasGrid = true;
      if (o == block) launch.block = readShape("--block", value), launch.hasBlock = true;
      if (o == cluster) launch.cluster = readShape("--cluster", value), launch.hasCluster = true;
      if (o == shared) {
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), launch.shared);
        if (error != std::errc() || end != value.data() + value.size())
          throw CLI::ValidationError("--shared", fmt::format("'{}' is no number of bytes", value));
      }
    }
  };
  if (!parseArguments(app, singleValued(argc, argv), exitCode, take)) return false;
  exitCode = static_cast<int>(Status::Usage);
  if (line.listOpcodes) return true;
  if (line.input.empty()) return usage("INPUT is required");
  for (const RunLaunch& launch : line.launches) {
    const std::string of = launch.kernel.empty() ? "the kernel" : fmt::format("'{}'", launch.kernel);
    if (!launch.hasGrid) return usage(fmt::format("{} has no --grid", of));
    if (!launch.hasBlock) return usage(fmt::format("{} has no --block", of));
  }
  for (const std::string& dump : dumps) {
    const std::size_t at = dump.find('=');
    line.dumps.push_back({dump.substr(0, at), at == std::string::npos ? "" : dump.substr(at + 1)});
    if (at + 1 == dump.size()) return usage(fmt::format("--dump {}: no file", dump));
  }
  if ((line.profile || line.trace) && line.jobs != 1)
    return usage("--profile and --trace run one block at a time: no -j");
  if (line.traceLanes && !line.trace) return usage("--trace-lanes needs --trace");
  return true;
}

}  // namespace ptxopt::tool
