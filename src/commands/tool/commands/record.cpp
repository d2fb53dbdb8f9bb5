// ptxopt record info|cut|diff|facts|profile|pack: launches that were recorded (record/record.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>

#include "exec/error.h"
#include "profiling/launch_profiler.h"
#include "record/archive.h"
#include "record/folder.h"
#include "record/replay.h"
#include "support/demangle.h"
#include "tool/commands/launch_list.h"
#include "tool/commands/profile_file.h"
#include "tool/commands/record_facts.h"
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
  std::string action, file, other, output;
  LaunchList chosen;
};

bool readRecordLine(int argc, char** argv, RecordLine& line, int& exitCode) {
  CLI::App app(
      "ptxopt record info FILE\n"
      "ptxopt record replay FILE [OPTIONS]\n"
      "ptxopt record cut FILE -o FILE [--launch LIST] [--kernel NAME]\n"
      "ptxopt record diff FILE FILE\n"
      "ptxopt record facts FILE -o FILE.json [--launch LIST] [--kernel NAME]\n"
      "ptxopt record profile FILE -o FILE [--launch LIST] [--kernel NAME]\n"
      "ptxopt record pack FOLDER -o FILE\n"
      "Inspects the launches that ptxopt emulate --record, ptxopt run --record or libptxopt_capture.so recorded: "
      "shows them, runs\n"
      "them again (as ptxopt replay, whose --help lists the options), keeps some, compares two records, writes\n"
      "what held in all of them as facts for --facts, runs them again and writes what they had as a profile for "
      "--profile-use,\n"
      "or makes a record of what a program that was killed had written.\n"
      "\n"
      "Exit codes: 0 ok, 1 a comparison differs or a kernel fails, 2 usage, or a file cannot be read or written.",
      "ptxopt record");
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  ptxopt emulate --record r.zip ./app && ptxopt record info r.zip\n"
      "  ptxopt record cut r.zip -o one.zip --launch 17\n"
      "  ptxopt record diff r.zip other.zip");
  app.add_option("ACTION", line.action, "info, replay (which comes first), cut, diff, facts, profile or pack")
      ->required()
      ->check(CLI::IsMember({"info", "cut", "diff", "facts", "profile", "pack"}));
  app.add_option("FILE", line.file, "the record; pack: the folder")->required();
  app.add_option("OTHER", line.other, "diff: the other one");
  line.chosen.addTo(app);
  app.add_option("-o,--output", line.output,
                 "cut, pack: the new record; facts, profile: their file, - is standard output")
      ->type_name("FILE");
  const auto check = [&] {
    if ((line.action == "diff") != !line.other.empty())
      throw CLI::ValidationError(line.action == "diff" ? "diff takes two records"
                                                       : line.action + " takes one record");
    const bool writes =
        line.action == "cut" || line.action == "facts" || line.action == "profile" || line.action == "pack";
    if (writes != !line.output.empty())
      throw CLI::ValidationError(writes ? line.action + " needs -o" : "-o is for cut, facts, profile and pack");
  };
  return parseArguments(app, std::vector<std::string>(argv + 1, argv + argc), exitCode, check);
}

std::string bytesText(uint64_t bytes) {
  return bytes >= 10u << 20   ? fmt::format("{} MiB", bytes >> 20)
         : bytes >= 10u << 10 ? fmt::format("{} KiB", bytes >> 10)
                              : fmt::format("{} bytes", bytes);
}

int info(const RecordLine& line) {
  const Archive archive(line.file, line.chosen.memory.bytes());
  const Record& record = archive.record();
  const std::vector<bool> wanted = line.chosen.chosen(record);
  printResult(
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
    printResult(fmt::format(
        "{:>6}  {}: {} of memory, {}{}\n", i + 1, launchTitle(l), bytesText(bytes),
        hasResult ? fmt::format("{} of it in allocations that it changed", bytesText(changed)) : "it failed",
        l.hasTextures ? "; with textures" : ""));
  }
  return 0;
}

int cut(const RecordLine& line) {
  const Archive archive(line.file, line.chosen.memory.bytes());
  const std::vector<bool> wanted = line.chosen.chosen(archive.record());
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

int facts(const RecordLine& line) {
  std::string error = whyOneFile({{"record", line.file}}, {{"output", line.output}});
  if (!error.empty()) return fail(Status::Usage, error);
  const Archive archive(line.file, line.chosen.memory.bytes());
  const std::string text = factsOfLaunches(archive, line.chosen.chosen(archive.record()));
  return writeFiles({{line.output, text}}, error) ? 0 : fail(Status::Usage, error);
}

// Each is run in the interpreter; what fails there is left out.
int profileOf(const RecordLine& line) {
  std::string error = whyOneFile({{"record", line.file}}, {{"output", line.output}});
  if (error.empty()) error = whyNotWritten(line.output);
  if (!error.empty()) return fail(Status::Usage, error);
  const Archive archive(line.file, line.chosen.memory.bytes());
  const std::vector<bool> wanted = line.chosen.chosen(archive.record());
  std::map<uint64_t, RecordedText> modules;
  profiling::LaunchProfiler profiler;
  uint64_t failed = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    const RecordedLaunch& launch = archive.record().launches[i];
    auto module = modules.find(launch.module);
    if (module == modules.end())
      module = modules.emplace(launch.module, recordedText(archive, launch.module)).first;
    record::ReplayOptions options;
    options.launch = [&](exec::Machine& machine, const std::string& kernel, exec::LaunchConfig& config) {
      profiler.launch(machine, kernel, config, [&](exec::LaunchConfig& c) { machine.launch(kernel, c); });
    };
    try {
      record::replay(archive, launch, *module->second.module, options);
    } catch (const exec::ExecError& e) {
      ++failed;
      printError(fmt::format("{:>6}  {}: {}: {}\n", i + 1, launchTitle(launch), exec::name(e.kind), e.message));
    }
  }
  if (!writeProfile(line.output, profiler.file(), error)) return fail(Status::Usage, error);
  return failed != 0 ? static_cast<int>(Status::CheckFailed) : 0;
}

// What two launches differ in; empty where they are the same.
std::string launchDifference(const RecordedLaunch& a, const RecordedLaunch& b) {
  if (a.kernel != b.kernel) return fmt::format("{} and {}", readableName(a.kernel), readableName(b.kernel));
  if (launchTitle(a) != launchTitle(b) || a.cluster != b.cluster)
    return fmt::format("{} and {}", launchTitle(a), launchTitle(b));
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
      printResult(fmt::format("{:>6}  {}: {}\n", i + 1, launchTitle(as[i]), what));
    }
  if (as.size() != bs.size()) {
    ++different;
    printResult(fmt::format("{} launches and {}\n", as.size(), bs.size()));
  }
  if (different == 0) printResult(fmt::format("{} launches compared, equal\n", as.size()));
  return different != 0 ? static_cast<int>(Status::CheckFailed) : 0;
}

}  // namespace

int recordCommand(int argc, char** argv) {
  if (argc > 1 && argv[1] == std::string_view("replay")) return replayCommand(argc - 1, argv + 1);
  RecordLine line;
  int exitCode = 0;
  if (!readRecordLine(argc, argv, line, exitCode)) return exitCode;
  try {
    if (line.action == "info") return info(line);
    if (line.action == "cut") return cut(line);
    if (line.action == "diff") return diff(line);
    if (line.action == "facts") return facts(line);
    if (line.action == "profile") return profileOf(line);
    record::packFolder(line.file, line.output);
    return 0;
  } catch (const RecordError& e) {
    return fail(Status::Usage, e.what());
  }
}

}  // namespace ptxopt::tool
