// ptxopt record info|replay|cut|diff: launches that were recorded (record/record.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "emulate/optimize_by_tool.h"
#include "exec/error.h"
#include "record/replay.h"
#include "support/demangle.h"
#include "text/parse.h"
#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/options/parse_arguments.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

using record::Archive;
using record::Record;
using record::RecordedLaunch;
using record::RecordedMemory;
using record::RecordError;

struct RecordLine {
  std::string action, file, other, output, kernel, launches, optimize, with;
  unsigned jobs = 1;
  uint64_t maxSteps = UINT64_MAX;
  bool optimizes = false;
};

bool readRecordLine(int argc, char** argv, RecordLine& line, int& exitCode) {
  CLI::App app(
      "ptxopt record info FILE\n"
      "ptxopt record replay FILE [--optimize[=OPTIONS] | --with PTX]\n"
      "ptxopt record cut FILE -o FILE [--launch LIST] [--kernel NAME]\n"
      "ptxopt record diff FILE FILE\n"
      "Launches that ptxopt emulate --record or ptxopt run --record wrote down: shows them, runs them again in "
      "the\n"
      "interpreter and compares with what they left, keeps some, or compares two records. With --optimize or "
      "--with the\n"
      "kernels run from other PTX, on what the program gave them.\n"
      "\n"
      "Exit codes: 0 ok, 1 a comparison differs or a kernel fails, 2 usage, or a file cannot be read or written.",
      "ptxopt record");
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  ptxopt emulate --record r.zip ./app && ptxopt record replay r.zip --optimize\n"
      "  ptxopt record cut r.zip -o one.zip --launch 17\n"
      "  ptxopt record replay one.zip --with k.ptx");
  app.add_option("ACTION", line.action, "info, replay, cut or diff")
      ->required()
      ->check(CLI::IsMember({"info", "replay", "cut", "diff"}));
  app.add_option("FILE", line.file, "the record")->required();
  app.add_option("OTHER", line.other, "diff: the other one");
  app.add_option("--launch", line.launches, "only these, from 1: 3,5-7")->type_name("LIST");
  app.add_option("--kernel", line.kernel, "only launches of this kernel")->type_name("NAME");
  app.add_option("-o,--output", line.output, "cut: the new record")->type_name("FILE");
  CLI::Option* const optimize = app.add_option("--optimize", line.optimize,
                                               "replay: optimize the kernels, with these options [-O2 --guard=off]")
                                    ->type_name("[=OPTIONS]")
                                    ->expected(0, 1);
  app.add_option("--with", line.with, "replay: the kernels of this file")->type_name("PTX")->excludes(optimize);
  app.add_option("-j,--jobs", line.jobs, "replay: blocks in parallel; 0: as many as there are cores")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--max-steps", line.maxSteps, "replay: stop a launch after so many warp instructions")
      ->type_name("N");
  const auto check = [&] {
    if ((line.action == "diff") != !line.other.empty())
      throw CLI::ValidationError(line.action == "diff" ? "diff takes two records"
                                                       : line.action + " takes one record");
    if ((line.action == "cut") != !line.output.empty())
      throw CLI::ValidationError(line.action == "cut" ? "cut needs -o" : "-o is for cut");
    if (line.action != "replay" && (optimize->count() != 0 || !line.with.empty()))
      throw CLI::ValidationError("--optimize and --with are for replay");
    line.optimizes = optimize->count() != 0;
  };
  // CLI11 would take the file for the value of --optimize, which is optional.
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::string& word : words)
    if (word == "--optimize") word = "--optimize=-O2";
  return parseArguments(app, words, exitCode, check);
}

// 0: it is none.
uint64_t numberOf(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

// Which launches a list names: "3,5-7". Throws RecordError.
std::vector<bool> chosen(const RecordLine& line, const Record& record) {
  std::vector<bool> chosen(record.launches.size(), line.launches.empty());
  const auto bad = [&] {
    return RecordError(
        fmt::format("--launch {}: the record has launches 1 to {}", line.launches, record.launches.size()));
  };
  std::string_view rest = line.launches;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const std::size_t dash = std::min(part.find('-'), part.size());
    const uint64_t first = numberOf(part.substr(0, dash));
    const uint64_t last = dash < part.size() ? numberOf(part.substr(dash + 1)) : first;
    if (first == 0 || last < first || last > chosen.size()) throw bad();
    for (uint64_t i = first; i <= last; ++i) chosen[i - 1] = true;
  }
  const auto isNamed = [&](const std::string& kernel) {
    const std::string readable = readableName(kernel);
    return line.kernel == kernel || line.kernel == readable ||
           line.kernel == std::string_view(readable).substr(0, readable.find_first_of("(<"));
  };
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (!line.kernel.empty() && !isNamed(record.launches[i].kernel)) chosen[i] = false;
  return chosen;
}

std::string title(const RecordedLaunch& l) {
  return fmt::format("{}<<<{}, {}{}>>>", readableName(l.kernel), exec::toString(l.grid), exec::toString(l.block),
                     l.shared != 0 ? fmt::format(", {}", l.shared) : "");
}

std::string bytesText(uint64_t bytes) {
  return bytes >= 10u << 20   ? fmt::format("{} MiB", bytes >> 20)
         : bytes >= 10u << 10 ? fmt::format("{} KiB", bytes >> 10)
                              : fmt::format("{} bytes", bytes);
}

int info(const RecordLine& line) {
  const Archive archive(line.file);
  const Record& record = archive.record();
  const std::vector<bool> wanted = chosen(line, record);
  print(stdout,
        fmt::format("{}: {}, {}\n", line.file,
                    fmt::format("{} launch{}", record.launches.size(), record.launches.size() == 1 ? "" : "es"),
                    fmt::format("{} module{}", record.modules.size(), record.modules.size() == 1 ? "" : "s")));
  for (std::size_t i = 0; i < record.launches.size(); ++i) {
    if (!wanted[i]) continue;
    const RecordedLaunch& l = record.launches[i];
    uint64_t bytes = 0, changed = 0;
    bool hasResult = true;
    for (const RecordedMemory& m : l.memory) {
      bytes += m.size;
      hasResult &= !m.after.empty();
      if (!m.after.empty() && m.after != m.before) changed += m.size;
    }
    print(stdout, fmt::format("{:>6}  {}: {} of memory, {}{}\n", i + 1, title(l), bytesText(bytes),
                              hasResult ? fmt::format("{} of it in allocations that it changed", bytesText(changed))
                                        : "it failed",
                              l.hasTextures ? "; with textures" : ""));
  }
  return 0;
}

int cut(const RecordLine& line) {
  const Archive archive(line.file);
  const std::vector<bool> wanted = chosen(line, archive.record());
  Record kept;
  std::vector<std::optional<uint64_t>> places(archive.record().modules.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    RecordedLaunch launch = archive.record().launches[i];
    if (auto& place = places[launch.module]; !place) {
      place = kept.modules.size();
      kept.modules.push_back(archive.record().modules[launch.module]);
    }
    launch.module = *places[launch.module];
    kept.launches.push_back(std::move(launch));
  }
  if (kept.launches.empty()) throw RecordError("none of the launches is chosen");
  record::writeArchive(line.output, kept, [&](const std::string& digest) { return archive.content(digest); });
  return 0;
}

// The PTX that launches run from: a text, and its module.
struct Text {
  std::string name, text;
  std::unique_ptr<Module> module;
};

std::unique_ptr<Text> textOf(const RecordLine& line, const Archive& archive, uint64_t module) {
  const record::RecordedModule& m = archive.record().modules[module];
  std::string bytes, name = m.name, error;
  if (!line.with.empty()) {
    FileText file;
    if (!readFile(line.with, file, error)) throw RecordError(error);
    bytes = std::string_view(file);
    name = line.with;
  } else {
    bytes = archive.content(m.text);
  }
  if (line.optimizes) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    bytes = emulate::optimizedByTool(self, line.optimize, bytes, error);
    if (!error.empty()) throw RecordError(error);
    name += " (optimized)";
  }
  // What the module points to stays where it is.
  auto text = std::make_unique<Text>();
  text->name = std::move(name);
  text->text = std::move(bytes);
  auto result = parse(text->text, text->name);
  if (const auto* wrong = std::get_if<ParseError>(&result)) throw RecordError(render(*wrong, text->name));
  text->module = std::move(std::get<0>(result));
  return text;
}

int replay(const RecordLine& line) {
  const Archive archive(line.file);
  const Record& record = archive.record();
  const std::vector<bool> wanted = chosen(line, record);
  std::vector<std::unique_ptr<Text>> texts(record.modules.size());
  uint64_t run = 0, different = 0, failed = 0, unknown = 0;
  for (std::size_t i = 0; i < record.launches.size(); ++i) {
    if (!wanted[i]) continue;
    const RecordedLaunch& l = record.launches[i];
    auto& text = texts[l.module];
    if (text == nullptr) text = textOf(line, archive, l.module);
    ++run;
    const auto expected = record::recordedResult(archive, l);
    try {
      const record::Replayed got = record::replay(archive, l, *text->module, {line.jobs, line.maxSteps});
      if (!expected) {
        ++unknown;
        print(stdout, fmt::format("{:>6}  {}: runs, where the recorded launch failed\n", i + 1, title(l)));
      } else if (const auto difference = record::firstDifference(l, *expected, got.memory)) {
        ++different;
        print(stdout, fmt::format("{:>6}  {}: {}\n", i + 1, title(l), *difference));
      }
    } catch (const exec::ExecError& e) {
      ++failed;
      print(stdout, fmt::format("{:>6}  {}: {}: {}{}\n", i + 1, title(l), exec::name(e.kind), e.message,
                                expected ? "" : ", as when it was recorded"));
      if (!expected) --failed, ++unknown;
    }
  }
  print(stdout, fmt::format("{} launches run, {} equal{}{}{}\n", run, run - different - failed - unknown,
                            different != 0 ? fmt::format(", {} differ", different) : "",
                            failed != 0 ? fmt::format(", {} fail", failed) : "",
                            unknown != 0 ? fmt::format(", {} without a recorded result", unknown) : ""));
  return different + failed != 0 ? static_cast<int>(Status::CheckFailed) : 0;
}

// What two launches differ in; empty where they are the same.
std::string launchDifference(const RecordedLaunch& a, const RecordedLaunch& b) {
  if (a.kernel != b.kernel) return fmt::format("{} and {}", readableName(a.kernel), readableName(b.kernel));
  if (title(a) != title(b) || a.cluster != b.cluster) return fmt::format("{} and {}", title(a), title(b));
  if (a.parameters != b.parameters) return "other parameters";
  if (a.memory.size() != b.memory.size())
    return fmt::format("{} and {} allocations", a.memory.size(), b.memory.size());
  for (std::size_t i = 0; i < a.memory.size(); ++i) {
    const RecordedMemory &m = a.memory[i], &n = b.memory[i];
    if (m.address != n.address || m.size != n.size)
      return fmt::format("'{}' at {:#x} and '{}' at {:#x}", m.name, m.address, n.name, n.address);
    if (m.before != n.before) return fmt::format("'{}' at {:#x} held something else before", m.name, m.address);
  }
  for (std::size_t i = 0; i < a.memory.size(); ++i)
    if (a.memory[i].after != b.memory[i].after)
      return fmt::format("'{}' at {:#x} holds something else after", a.memory[i].name, a.memory[i].address);
  return {};
}

int diff(const RecordLine& line) {
  const Archive a(line.file), b(line.other);
  const auto &as = a.record().launches, &bs = b.record().launches;
  uint64_t different = 0;
  for (std::size_t i = 0; i < std::min(as.size(), bs.size()); ++i)
    if (const std::string what = launchDifference(as[i], bs[i]); !what.empty()) {
      ++different;
      print(stdout, fmt::format("{:>6}  {}: {}\n", i + 1, title(as[i]), what));
    }
  if (as.size() != bs.size()) {
    ++different;
    print(stdout, fmt::format("{} launches and {}\n", as.size(), bs.size()));
  }
  if (different == 0) print(stdout, fmt::format("{} launches compared, equal\n", as.size()));
  return different != 0 ? static_cast<int>(Status::CheckFailed) : 0;
}

}  // namespace

int recordCommand(int argc, char** argv) {
  RecordLine line;
  int exitCode = 0;
  if (!readRecordLine(argc, argv, line, exitCode)) return exitCode;
  try {
    if (line.action == "info") return info(line);
    if (line.action == "cut") return cut(line);
    if (line.action == "diff") return diff(line);
    return replay(line);
  } catch (const RecordError& e) {
    return fail(Status::Usage, e.what());
  }
}

}  // namespace ptxopt::tool
