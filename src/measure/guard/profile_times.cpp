// The text is assembled with lines, the model of time is applied with the profile's loops, and the times of kernels
// whose iterations are all known are kept in the cache as JSON.
#include "guard/profile_times.h"

#include <algorithm>
#include <memory>
#include <variant>

#include "iterations/ptx_loops.h"
#include "profile/profile.h"
#include "ptxas/timed_cubin.h"
#include "support/json.h"
#include "text/parse.h"
#include "timing/kernel_time.h"

namespace ptxopt::guard {
namespace {

using Times = std::map<std::string, ptxas::ProfiledTime>;

constexpr std::string_view kFormat = "times by a profile, 3";

std::string written(const Times& times) {
  SortedJson json = SortedJson::object();
  for (const auto& [kernel, time] : times)
    json[kernel] = {{"whole", time.whole},       {"alone", time.alone},
                    {"beside", time.beside},     {"beside-alone", time.besideAlone},
                    {"computed", time.computed}, {"written", time.written}};
  return dumpJson(json);
}

std::optional<Times> readTimes(const std::string& text) {
  try {
    Times times;
    const SortedJson json = parseSortedJson(text);
    for (const auto& [kernel, its] : json.items())
      times[kernel] = {its.at("whole"),        its.at("alone"),    its.at("beside"),
                       its.at("beside-alone"), its.at("computed"), its.at("written")};
    return times;
  } catch (const SortedJson::exception&) {
    return std::nullopt;  // a broken entry is written anew
  }
}

bool isSettled(const timing::FunctionTime& time) {
  return std::ranges::all_of(time.regions, [](const timing::RegionTime& r) {
    return r.region.loop == timing::Region::kNone || r.region.iterations == 0 ||
           r.region.from != timing::IterationsFrom::Assumed;
  });
}

Times timesOf(std::string_view cubin, const timing::PtxLoops& loops) {
  ptxas::TimedCubinOptions how;
  how.loops = &loops;
  std::string none;
  const auto timed = ptxas::timeCubin(cubin, how, none);
  Times times;
  if (!timed) return times;
  for (const ptxas::TimedFunction& f : timed->functions) {
    if (!f.isKernel || !isSettled(f.time)) continue;
    ptxas::ProfiledTime& its = times[f.name];
    for (std::size_t s = 0; s < timing::kScenarios; ++s) {
      its.whole[s] = f.time.whole.scenarios[s].cycles;
      its.alone[s] = f.time.whole.alone[s].cycles;
      const timing::RegionTime& beside = f.bodies.empty() ? f.time.whole : f.bodies.back().time.whole;
      its.beside[s] = beside.scenarios[s].cycles;
      its.besideAlone[s] = beside.alone[s].cycles;
    }
    its.computed = f.time.whole.work.computed;
    its.written = f.time.whole.work.written;
  }
  return times;
}

}  // namespace

Times profiledTimes(std::string_view text, std::string_view profile, std::string_view architecture,
                    const ptxas::PtxasSettings& settings) {
  ptxas::PtxasSettings withLines = settings;
  for (std::string& argument : ptxas::argumentsForLines(false)) withLines.arguments.push_back(std::move(argument));
  withLines.cache = nullptr;
  withLines.keepsOutput = true;
  std::string key;
  if (settings.cache != nullptr) {
    key = ptxas::callOf(architecture, withLines);
    for (const std::string_view part : {kFormat, profile, text}) key += ptxas::Cache::key(part);
    key = ptxas::Cache::key(key);
    const auto kept = settings.cache->find(key);
    if (auto times = kept ? readTimes(*kept) : std::nullopt) return *std::move(times);
  }
  auto parsed = text::parse(text);
  auto* const module = std::get_if<std::unique_ptr<Module>>(&parsed);
  if (module == nullptr || (*module)->isDebug || !profile::read(profile, {}, **module).empty()) return {};
  const ptxas::Assembly assembly = ptxas::assemble(text, architecture, withLines);
  if (!assembly || !assembly.output) return {};
  Times times = timesOf(assembly.output->cubin, iterations::loopsOf(**module));
  if (settings.cache != nullptr) settings.cache->put(key, written(times));
  return times;
}

}  // namespace ptxopt::guard
