// The input is run first, to see that its results can be compared at all. A variant's figure is the ratio of its time
// to the input's, weighted over all launches by the input's time; a variant whose results differ from the input's is
// rejected.
#include "tool/commands/tune_bench.h"

#include <fmt/format.h>

#include "tool/commands/replay_gpu.h"

namespace ptxopt::tool {
namespace {

using gpu::Outcome;

// Why variants cannot be compared with the input; empty: they can. What a record says does not count: it may have been made
// elsewhere, or of another text.
std::string whyNotComparable(const gpu::Result& r) {
  switch (r.outcome) {
    case Outcome::Equal: return {};
    case Outcome::Different: return r.detail;
    case Outcome::Undetermined: return "there is nothing to compare with: " + r.detail;
    case Outcome::Failed: return "the input fails on the GPU: " + r.detail;
    default: return fmt::format("{}: {}", nameOf(r.outcome), r.detail);
  }
}

}  // namespace

std::string GpuBench::imageOf(std::string_view text, std::string& error) const {
  if (settings_.driverAssembles) return std::string(text);
  return cubinOf(text, settings_.architecture, settings_.ptxas, error);
}

std::string GpuBench::begin(std::string_view input) {
  try {
    device_ = gpu::describeDevice(settings_.replay).name;
  } catch (const gpu::NoDriver& e) {
    return e.what();
  }
  std::string error;
  input_ = imageOf(input, error);
  if (input_.empty()) return error;
  gpu::ReplayOptions once = settings_.replay;
  once.isTimed = false;
  std::vector<GpuBenchSettings::NamedLaunch> able;
  std::string refusal;
  for (const auto& [name, launch] : settings_.launches) {
    const gpu::Result r = gpu::replayOnGpu(launch, *settings_.module, {{"input", input_}}, once);
    const std::string why = whyNotComparable(r);
    if (r.outcome == Outcome::Refused)
      refusal = name + r.detail;
    else if (why.empty())
      able.push_back({name, launch});
    else
      return name + why;
  }
  settings_.launches = std::move(able);
  return settings_.launches.empty() ? refusal : std::string();
}

tune::DeviceTime GpuBench::time(std::string_view text) const {
  tune::DeviceTime result;
  const std::string image = imageOf(text, result.detail);
  if (image.empty()) {
    result.rejected = "refused";
    return result;
  }
  gpu::Summary all;
  all.hasInterval = true;
  double before = 0;
  for (const auto& [name, launch] : settings_.launches) {
    const gpu::Result r =
        gpu::replayOnGpu(launch, *settings_.module, {{"input", input_}, {"variant", image}}, settings_.replay);
    if (!r.times || !whyNotComparable(r).empty()) {
      result.rejected = r.outcome == Outcome::Different ? "different" : "failed";
      result.detail = name + r.detail;
      return result;
    }
    const double weight = r.times->before.median;
    before += weight;
    all.median += weight * r.times->ratio.median;
    all.low += weight * r.times->ratio.low;
    all.high += weight * r.times->ratio.high;
    all.hasInterval &= r.times->ratio.hasInterval;
  }
  if (before > 0) all.median /= before, all.low /= before, all.high /= before;
  result.ratio = all.median;
  result.low = all.low;
  result.high = all.high;
  result.verdict = gpu::verdictOf(all);
  return result;
}

}  // namespace ptxopt::tool
