#include "tool/commands/tune_records.h"

#include <fmt/format.h>

#include "text/parse.h"

namespace ptxopt::tool {

using gpu::Outcome;

RecordBench::RecordBench(RecordBenchSettings settings)
    : settings_(std::move(settings)), archive_(settings_.file, settings_.launches.memory.bytes()) {
  settings_.ptxas.keepsOutput = true;
  settings_.ptxas.cache = nullptr;  // it has figures alone
  const std::vector<bool> wanted = settings_.launches.chosen(archive_.record());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) launches_.push_back(i);
  if (launches_.empty())
    throw record::RecordError(
        fmt::format("'{}' has no such launches of '{}'", settings_.file, settings_.launches.kernel));
}

std::string RecordBench::imageOf(std::string_view text, std::string& error) const {
  if (settings_.driverAssembles) return std::string(text);
  Assembly assembly = assemble(text, settings_.architecture, settings_.ptxas);
  if (assembly && assembly.output) return std::move(assembly.output->cubin);
  error = assembly ? "it is no whole program" : assembly.error;
  return {};
}

std::string RecordBench::begin(std::string_view input) {
  try {
    device_ = gpu::describeDevice(settings_.replay).name;
  } catch (const gpu::NoDriver& e) {
    return e.what();
  }
  std::string error;
  input_ = input;
  inputImage_ = imageOf(input_, error);
  if (inputImage_.empty()) return error;
  auto parsed = parse(input_, "<input>");
  if (std::holds_alternative<ParseError>(parsed)) return "the text is not PTX";
  module_ = std::move(std::get<0>(parsed));
  gpu::ReplayOptions once = settings_.replay;
  once.isTimed = false;
  std::vector<std::size_t> able;
  std::string refusal;
  for (const std::size_t i : launches_) {
    const gpu::Result r =
        gpu::replayOnGpu(archive_, archive_.record().launches[i], *module_, {{"the input", inputImage_}}, once);
    if (r.outcome == Outcome::Refused) {
      refusal = fmt::format("launch {}: {}", i + 1, r.detail);
      continue;
    }
    // What the record says does not count: it may have been made elsewhere, or of another text.
    const bool isAble = r.outcome == Outcome::Equal || (r.outcome == Outcome::Different && r.detail.empty());
    if (!isAble) return fmt::format("launch {}: {}: {}", i + 1, nameOf(r.outcome), r.detail);
    able.push_back(i);
  }
  launches_ = std::move(able);
  return launches_.empty() ? refusal : std::string();
}

DeviceTime RecordBench::time(std::string_view text) const {
  DeviceTime result;
  const std::string image = imageOf(text, result.detail);
  if (image.empty()) {
    result.rejected = "refused";
    return result;
  }
  gpu::Summary all;
  all.hasInterval = true;
  double before = 0;
  for (const std::size_t i : launches_) {
    const gpu::Result r = gpu::replayOnGpu(archive_, archive_.record().launches[i], *module_,
                                           {{"the input", inputImage_}, {"the variant", image}}, settings_.replay);
    if (!r.times) {
      result.rejected = r.outcome == Outcome::Different ? "different" : "failed";
      result.detail = fmt::format("launch {}: {}", i + 1, r.detail);
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
