// Each module is assembled once, on its first launch, for the device at hand, or passed to the driver as PTX. Launches
// are run and compared in the order of the record, and shown as lines or as JSON.
#include "tool/commands/replay_gpu.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <optional>

#include "support/json.h"
#include "tool/commands/launch_list.h"
#include "tool/files.h"
#include "tool/options/environment.h"
#include "tool/options/number_checks.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

using gpu::Outcome;

constexpr const char* kReplayGroup = "On a GPU (--gpu)";
constexpr double kShort = 0.01;  // milliseconds: launching takes a part of it that is not part of the kernel

std::string timeText(double milliseconds) {
  return milliseconds >= 1 ? fmt::format("{:.3f} ms", milliseconds) : fmt::format("{:.2f} us", 1000 * milliseconds);
}

std::string timesText(const gpu::Times& t, bool hasAfter) {
  if (!hasAfter) return timeText(t.before.median);
  return fmt::format("{} -> {}, x{:.3f} [{:.3f}, {:.3f}] {}", timeText(t.before.median), timeText(t.after.median),
                     t.ratio.median, t.ratio.low, t.ratio.high, t.verdict);
}

std::string text(const gpu::Result& r, bool hasAfter) {
  std::string out = nameOf(r.outcome);
  if (!r.fromRecord.empty()) out += ", from the record: " + r.fromRecord;
  if (!r.detail.empty()) out += (r.fromRecord.empty() ? ": " : "; ") + r.detail;
  if (r.outcome == Outcome::Equal && !r.hasRecord) out += ", the record has no result";
  if (r.times) out += "; " + timesText(*r.times, hasAfter);
  return out;
}

Json summaryJson(const gpu::Summary& s) {
  Json j{{"median", s.median}, {"low", nullptr}, {"high", nullptr}};
  if (s.hasInterval) j["low"] = s.low, j["high"] = s.high;
  return j;
}

Json launchJson(std::size_t number, const record::RecordedLaunch& l, const gpu::Result& r, bool hasAfter) {
  const auto shape = [](const exec::Dim3& d) { return Json::array({d.x, d.y, d.z}); };
  Json j{{"launch", number},           {"kernel", l.kernel},          {"grid", shape(l.grid)},
         {"block", shape(l.block)},    {"cluster", shape(l.cluster)}, {"shared", l.shared},
         {"status", nameOf(r.outcome)}};
  if (!r.detail.empty()) j["detail"] = r.detail;
  const bool isRun = r.outcome == Outcome::Equal || r.outcome == Outcome::Different;
  j["record"] = !r.fromRecord.empty() ? "different" : r.hasRecord && isRun ? "equal" : "not compared";
  if (!r.fromRecord.empty()) j["record_difference"] = r.fromRecord;
  if (r.times) {
    j["milliseconds"]["before"] = summaryJson(r.times->before);
    if (hasAfter) {
      j["milliseconds"]["after"] = summaryJson(r.times->after);
      j["ratio"] = summaryJson(r.times->ratio);
      j["ratio"]["verdict"] = r.times->verdict;
    }
    j["iterations"] = r.times->iterations;
  }
  return j;
}

// What the driver gets of a text. Throws record::RecordError with what ptxas says.
std::string imageOf(const ReplayGpuLine& line, const std::string& text, const gpu::Device& device) {
  if (line.load == "ptx") return text;
  const std::string architecture = fmt::format("sm_{}{}", device.major, device.minor);
  ptxas::PtxasSettings settings;
  settings.program = findPtxasAloud(line.ptxas, {ptxas::versionNeededBy(text), architecture});
  if (settings.program.empty()) throw record::RecordError("there is no ptxas; --load ptx needs none");
  std::string error;
  std::string cubin = cubinOf(text, architecture, settings, error);
  if (cubin.empty()) throw record::RecordError(error);
  return cubin;
}

}  // namespace

std::string cubinOf(std::string_view text, const std::string& architecture, ptxas::PtxasSettings settings,
                    std::string& error) {
  settings.keepsOutput = true;
  settings.cache = nullptr;  // it has figures alone
  ptxas::Assembly assembly = ptxas::assemble(text, architecture, settings);
  if (assembly && assembly.output) return std::move(assembly.output->cubin);
  error = assembly ? "it is not a whole program" : assembly.error;
  return {};
}

void ReplayGpuLine::addTo(CLI::App& app) {
  CLI::Option* const gpu =
      app.add_flag("--gpu", isAsked, "run them on this machine's GPU, and time them")->group(kReplayGroup);
  const auto add = [&](CLI::Option* option) { return option->needs(gpu)->group(kReplayGroup); };
  add(app.add_option("--driver", options.library, "the driver [$PTXOPT_GPU_DRIVER, or libcuda.so.1]"))
      ->type_name("LIBRARY");
  add(app.add_option("--device", options.device, "the number of the GPU, from 0"))
      ->type_name("N")
      ->capture_default_str();
  add(app.add_option("--seconds", options.timing.seconds, "time each launch for SECONDS"))
      ->type_name("SECONDS")
      ->check(positiveNumber())
      ->capture_default_str();
  add(app.add_flag("--no-time{false}", options.isTimed, "compare only"));
  add(app.add_option("--timeout", options.limitSeconds, "give up on a launch after SECONDS"))
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  add(app.add_option("--load", load, "what the driver gets: PTX, which it assembles, or a cubin of ptxas"))
      ->type_name("ptx|cubin")
      ->check(CLI::IsMember({"ptx", "cubin"}))
      ->capture_default_str();
  add(app.add_option("--ptxas", ptxas, "for --load cubin [$PTXOPT_PTXAS, $PTXAS, or the first one found]"))
      ->type_name("PROGRAM");
  add(app.add_option("--json", json, "write the results as JSON"))->type_name("FILE.json");
}

int replayOnGpu(const ReplayGpuLine& line, const record::Archive& archive, const std::vector<bool>& wanted,
                const std::function<ReplaySides(uint64_t module)>& textsOf) {
  const record::Record& record = archive.record();
  const gpu::Device device = gpu::describeDevice(line.options);
  std::vector<std::optional<std::vector<gpu::Image>>> images(record.modules.size());
  Json launches = Json::array();
  std::size_t counts[6] = {}, run = 0, isShort = 0, asRecorded = 0;
  double before = 0, after = 0;
  bool hasAfter = false;
  for (std::size_t i = 0; i < record.launches.size(); ++i) {
    if (!wanted[i]) continue;
    const record::RecordedLaunch& l = record.launches[i];
    const ReplaySides sides = textsOf(l.module);
    hasAfter |= sides.after != nullptr;
    auto& made = images[l.module];
    if (!made) {
      made.emplace();
      made->push_back({"before", imageOf(line, sides.before->text, device)});
      if (sides.after != nullptr) made->push_back({"after", imageOf(line, sides.after->text, device)});
    }
    const gpu::Result result =
        gpu::replayOnGpu(gpu::gpuLaunchOf(archive, l), *sides.before->module, *made, line.options);
    if (result.outcome == Outcome::NoDriver) throw gpu::NoDriver(result.detail);
    const bool hasFailedBefore = !l.memory.empty() && l.memory.front().after.empty();
    const bool isAsRecorded = hasFailedBefore && result.outcome == Outcome::Failed && result.failed == "before";
    ++run;
    ++(isAsRecorded ? asRecorded : counts[static_cast<int>(result.outcome)]);
    if (result.times) {
      before += result.times->before.median;
      after += result.times->after.median;
      isShort += result.times->before.median < kShort;
    }
    printResult(
        fmt::format("{:>6}  {}: {}\n", i + 1, launchTitle(l),
                    text(result, sides.after != nullptr) + (isAsRecorded ? ", as when it was recorded" : "")));
    launches.push_back(launchJson(i + 1, l, result, sides.after != nullptr));
  }
  const auto count = [&](Outcome o, const char* word) {
    const std::size_t n = counts[static_cast<int>(o)];
    return n != 0 ? fmt::format(", {} {}", n, word) : std::string();
  };
  printResult(fmt::format("{} launches on {}: {} equal{}{}{}{}{}\n", run, device.name,
                          counts[static_cast<int>(Outcome::Equal)], count(Outcome::Different, "differ"),
                          count(Outcome::Failed, "fail"), count(Outcome::Undetermined, "not determined"),
                          count(Outcome::Refused, "refused"),
                          asRecorded != 0 ? fmt::format(", {} fail as when they were recorded", asRecorded) : ""));
  if (before > 0 && hasAfter)
    printResult(
        fmt::format("{} -> {} for all of them, x{:.3f}\n", timeText(before), timeText(after), after / before));
  if (isShort != 0)
    printResult(
        fmt::format("{} of them are shorter than 10 us: a part of their time is that of launching\n", isShort));
  if (!line.json.empty()) {
    const Json all{{"device",
                    {{"name", device.name},
                     {"driver", device.driver},
                     {"capability", Json::array({device.major, device.minor})}}},
                   {"record", archive.path()},
                   {"confidence", gpu::kConfidence},
                   {"margin", gpu::kMargin},
                   {"launches", launches}};
    const std::string written = dumpJson(all, 1) + "\n";
    std::string error;
    if (!writeFiles({{line.json, written}}, error)) return fail(Status::Usage, error);
  }
  const bool isWrong =
      counts[static_cast<int>(Outcome::Different)] + counts[static_cast<int>(Outcome::Failed)] != 0;
  return isWrong ? static_cast<int>(Status::CheckFailed) : 0;
}

}  // namespace ptxopt::tool
