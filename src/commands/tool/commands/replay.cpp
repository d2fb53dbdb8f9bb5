// ptxopt replay FILE, or ptxopt record replay FILE: recorded launches (record/record.h) run again, in the interpreter or on a
// GPU.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <filesystem>

#include "emulate/optimize_by_tool.h"
#include "exec/error.h"
#include "record/replay.h"
#include "text/parse.h"
#include "tool/commands/launch_list.h"
#include "tool/commands/replay_gpu.h"
#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/options/number_checks.h"
#include "tool/options/parse_arguments.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

using record::Archive;
using record::Record;
using record::RecordedLaunch;
using record::RecordError;

struct ReplayLine {
  std::string file, optimize, with;
  LaunchList chosen;
  ReplayGpuLine gpu;
  unsigned jobs = 1;
  uint64_t maxSteps = UINT64_MAX;
  bool optimizes = false;
};

bool readReplayLine(int argc, char** argv, ReplayLine& line, int& exitCode) {
  CLI::App app(
      "ptxopt replay FILE [--optimize[=OPTIONS] | --with PTX] [OPTIONS]\n"
      "ptxopt replay --gpu FILE [--optimize[=OPTIONS] | --with PTX] [OPTIONS]\n"
      "Runs recorded launches again, on the memory that they had, and compares the results with what they left.\n"
      "ptxopt emulate --record, ptxopt run --record and libptxopt_capture.so write records. With --optimize or "
      "--with the kernels run from "
      "other "
      "PTX.\n"
      "With --gpu they run on this machine's GPU, before and after optimizing: what both leave is compared, bit "
      "for "
      "bit,\n"
      "and both are timed in turn. ptxopt record replay is the same.\n"
      "\n"
      "Exit codes: 0 ok, 1 a comparison differs or a kernel fails, 2 usage, a file cannot be read or written, or "
      "there is\n"
      "no GPU.",
      "ptxopt replay");
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  ptxopt emulate --record r.zip ./app && ptxopt replay r.zip --optimize\n"
      "  ptxopt replay --gpu r.zip --optimize --json times.json\n"
      "  ptxopt replay r.zip --launch 17 --with k.ptx");
  app.add_option("FILE", line.file, "the record")->required();
  line.chosen.addTo(app);
  CLI::Option* const optimize =
      app.add_option("--optimize", line.optimize, "optimize the kernels, with these options [-O2 --guard=off]")
          ->type_name("[=OPTIONS]")
          ->expected(0, 1);
  app.add_option("--with", line.with, "the kernels of this file")->type_name("PTX")->excludes(optimize);
  app.add_option("-j,--jobs", line.jobs, "blocks in parallel; 0: as many as there are cores")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--max-steps", line.maxSteps,
                 "stop a launch after that many warp instructions [none, but some block has to end within 1e9 of "
                 "each core]")
      ->type_name("N")
      ->check(wholeNumber());
  line.gpu.addTo(app);
  const auto check = [&] {
    line.optimizes = optimize->count() != 0;
    for (const char* const name : {"--jobs", "--max-steps"})
      if (line.gpu.isAsked && app.count(name) != 0)
        throw CLI::ValidationError(std::string(name) + " is for the interpreter, not for --gpu");
  };
  // CLI11 would take the file for the value of --optimize, which is optional.
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::string& word : words)
    if (word == "--optimize") word = "--optimize=-O2";
  return parseArguments(app, words, exitCode, check);
}

std::unique_ptr<ReplayText> parsed(std::string bytes, std::string name) {
  // What the module points to stays where it is.
  auto text = std::make_unique<ReplayText>();
  text->name = std::move(name);
  text->text = std::move(bytes);
  auto result = text::parse(text->text, text->name);
  if (const auto* wrong = std::get_if<text::ParseError>(&result))
    throw RecordError(text::render(*wrong, text->name));
  text->module = std::move(std::get<0>(result));
  return text;
}

// As it was recorded.
std::unique_ptr<ReplayText> plainText(const Archive& archive, uint64_t module) {
  const record::RecordedModule& m = archive.record().modules[module];
  return parsed(archive.content(m.text), m.name);
}

// By --with and --optimize; none without.
std::unique_ptr<ReplayText> changedText(const ReplayLine& line, const ReplayText& plain) {
  std::string error;
  if (!line.with.empty()) {
    FileText file;
    if (!readFile(line.with, file, error)) throw RecordError(error);
    return parsed(std::string(std::string_view(file)), line.with);
  }
  if (!line.optimizes) return nullptr;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string bytes = emulate::optimizedByTool(self, line.optimize, plain.text, error);
  if (!error.empty()) throw RecordError(error);
  return parsed(std::move(bytes), plain.name + " (optimized)");
}

// The texts of a module, made when they are first asked for.
class Texts {
 public:
  Texts(const ReplayLine& line, const Archive& archive)
      : line_(line), archive_(archive), plain_(archive.record().modules.size()), changed_(plain_.size()) {}
  ReplaySides of(uint64_t module) {
    if (plain_[module] == nullptr) {
      plain_[module] = plainText(archive_, module);
      changed_[module] = changedText(line_, *plain_[module]);
    }
    return {plain_[module].get(), changed_[module].get()};
  }

 private:
  const ReplayLine& line_;
  const Archive& archive_;
  std::vector<std::unique_ptr<ReplayText>> plain_, changed_;
};

int replayHere(const ReplayLine& line, const Archive& archive, const std::vector<bool>& wanted, Texts& texts) {
  const Record& record = archive.record();
  uint64_t run = 0, different = 0, failed = 0, unknown = 0;
  for (std::size_t i = 0; i < record.launches.size(); ++i) {
    if (!wanted[i]) continue;
    const RecordedLaunch& l = record.launches[i];
    const ReplaySides sides = texts.of(l.module);
    const ReplayText& text = sides.after != nullptr ? *sides.after : *sides.before;
    ++run;
    const auto expected = record::recordedResult(archive, l);
    try {
      const record::Replayed got = record::replay(archive, l, *text.module, {line.jobs, line.maxSteps});
      if (!expected) {
        ++unknown;
        printResult(fmt::format("{:>6}  {}: runs, where the recorded launch failed\n", i + 1, launchTitle(l)));
      } else if (const auto difference = record::firstDifference(l, *expected, got.memory)) {
        ++different;
        printResult(fmt::format("{:>6}  {}: {}\n", i + 1, launchTitle(l), *difference));
      }
    } catch (const exec::ExecError& e) {
      ++failed;
      printResult(fmt::format("{:>6}  {}: {}: {}{}\n", i + 1, launchTitle(l), exec::name(e.kind), e.message,
                              expected ? "" : ", as when it was recorded"));
      if (!expected) --failed, ++unknown;
    }
  }
  printResult(fmt::format("{} launches run, {} equal{}{}{}\n", run, run - different - failed - unknown,
                          different != 0 ? fmt::format(", {} differ", different) : "",
                          failed != 0 ? fmt::format(", {} fail", failed) : "",
                          unknown != 0 ? fmt::format(", {} without a recorded result", unknown) : ""));
  return different + failed != 0 ? static_cast<int>(Status::CheckFailed) : 0;
}

}  // namespace

int replayCommand(int argc, char** argv) {
  ReplayLine line;
  int exitCode = 0;
  if (!readReplayLine(argc, argv, line, exitCode)) return exitCode;
  try {
    const Archive archive(line.file, line.chosen.memory.bytes());
    const std::vector<bool> wanted = line.chosen.chosen(archive.record());
    Texts texts(line, archive);
    if (!line.gpu.isAsked) return replayHere(line, archive, wanted, texts);
    const std::string why = whyOneFile({{"record", line.file}, {"PTX", line.with}}, {{"output", line.gpu.json}});
    if (!why.empty()) return fail(Status::Usage, why);
    return replayOnGpu(line.gpu, archive, wanted, [&](uint64_t module) { return texts.of(module); });
  } catch (const RecordError& e) {
    return fail(Status::Usage, e.what());
  } catch (const gpu::NoDriver& e) {
    return fail(Status::Usage, e.what());
  }
}

}  // namespace ptxopt::tool
