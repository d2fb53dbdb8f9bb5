// Figures and code are read from the cubin, and each function is estimated with its lines. A kernel with several bodies
// is estimated once for each, and its whole is their mean, weighted by shares of launches.
#include "ptxas/timed_cubin.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptxas/cubin.h"
#include "ptxas/measures.h"
#include "sass/decode.h"
#include "support/demangle.h"
#include "timing/launch_versions.h"

namespace ptxopt::ptxas {

namespace {

// The whole of a kernel is what its bodies cost, weighed: a launch runs one of them.
void weigh(timing::RegionTime& whole, const std::vector<TimedBody>& bodies) {
  for (std::size_t s = 0; s < timing::kScenarios; ++s)
    for (const auto times : {&timing::RegionTime::scenarios, &timing::RegionTime::alone}) {
      timing::ScenarioTime& sum = (whole.*times)[s];
      sum.cycles = 0;
      double most = 0;
      for (const TimedBody& body : bodies) {
        const timing::ScenarioTime& its = (body.time.whole.*times)[s];
        const double cycles = body.of.share * its.cycles;
        sum.cycles += cycles;
        if (cycles < most) continue;
        most = cycles;
        sum.bottleneck = its.bottleneck;
      }
    }
}

timing::FunctionTime timeBodies(const timing::TimedCode& code, const target::Machine& machine,
                                timing::TimeOptions how, const timing::PtxLoops& ptx, std::string_view kernel,
                                const std::function<uint32_t(uint64_t)>& lineOf, std::vector<TimedBody>& bodies) {
  std::vector<uint32_t> its;
  for (uint32_t b = 0; b < ptx.bodies.size(); ++b)
    if (ptx.bodies[b].kernel == kernel) its.push_back(b);
  const auto found =
      its.size() < 2 ? std::nullopt : timing::launchBodiesOf(code, its.size(), [&](uint32_t instruction) {
        return ptx.bodyOf(lineOf(uint64_t{instruction} * sass::kInstructionBytes));
      });
  if (!found) return estimate(code, machine, how);
  std::vector<double> shares(found->of.size());
  for (const uint32_t b : its) {
    const auto at = static_cast<std::size_t>(std::ranges::find(found->of, b) - found->of.begin());
    if (at == found->of.size()) return estimate(code, machine, how);
    shares.assign(shares.size(), 0);
    shares[at] = 1;
    how.countOf = found->weighed(shares);
    bodies.push_back({ptx.bodies[b], estimate(code, machine, how), found->isInBody[at]});
  }
  for (std::size_t at = 0; at < shares.size(); ++at) shares[at] = ptx.bodies[found->of[at]].share;
  how.countOf = found->weighed(shares);
  timing::FunctionTime time = estimate(code, machine, how);
  weigh(time.whole, bodies);
  return time;
}

}  // namespace

uint32_t TimedFunction::lineOf(uint32_t instruction) const {
  return lineAt(lines, uint64_t{instruction} * sass::kInstructionBytes);
}

LineRange linesOf(const TimedFunction& f, const timing::RegionTime& region) {
  LineRange range;
  for (const timing::Visit& v : region.region.visits) {
    const sass::Block& b = f.code.flow.blocks()[v.block];
    for (uint32_t i = b.first; i < b.end; ++i)
      if (const uint32_t line = f.lineOf(i); line != 0) {
        range.first = range.first == 0 ? line : std::min(range.first, line);
        range.last = std::max(range.last, line);
      }
  }
  return range;
}

std::string nameOf(const TimedFunction& f, const timing::RegionTime& region) {
  const timing::Region& r = region.region;
  if (r.loop == timing::Region::kNone)
    return r.visits.empty() || r.visits[0].block == 0 ? "outside of loops" : "subroutine";
  const uint32_t header = f.code.flow.blocks()[f.code.flow.loops()[r.loop].header].first;
  std::string name = fmt::format("loop at {:#06x}", header * sass::kInstructionBytes);
  const auto [first, last] = linesOf(f, region);
  if (last == 0) return name;
  return name + (first == last ? fmt::format(", line {}", first) : fmt::format(", lines {}-{}", first, last));
}

const TimedFunction* TimedCubin::find(std::string_view name) const {
  const auto found = std::ranges::find(functions, name, &TimedFunction::name);
  return found == functions.end() ? nullptr : &*found;
}

std::vector<std::string> argumentsForLines(bool isDebug) {
  if (isDebug) return {"-g", "-O0"};
  return {"-lineinfo"};
}

std::optional<TimedCubin> timeCubin(std::string_view bytes, const TimedCubinOptions& options, std::string& error) {
  const auto measures = readCubin(bytes);
  const auto code = readCubinCode(bytes);
  if (const auto* wrong = std::get_if<CubinError>(&measures)) {
    error = "not a cubin that can be read: " + wrong->message;
    return std::nullopt;
  }
  const Measures& figures = std::get<Measures>(measures);
  const uint32_t number = std::get<CubinCode>(code).architecture;
  if (!target::Target(number).has(target::Capability::Instructions16Bytes)) {
    error = fmt::format("{}: the model knows sm_70 and newer", figures.architecture);
    return std::nullopt;
  }
  const target::Machine machine(number);
  TimedCubin result;
  result.architecture = figures.architecture;
  result.figuresOf = machine.figuresOf();
  std::vector<std::string> names;
  for (const FunctionCode& f : std::get<CubinCode>(code).functions) names.push_back(f.name);
  const std::string only = nameMeant(options.function, names);
  for (const FunctionCode& f : std::get<CubinCode>(code).functions) {
    if (!only.empty() && f.name != only) continue;
    FunctionMeasures kernel = *figures.find(f.name);
    if (options.threads != 0 && kernel.threads == 0) kernel.threads = options.threads;
    if (options.loops != nullptr && kernel.threads == 0)
      if (const auto seen = options.loops->threads.find(f.name); seen != options.loops->threads.end())
        kernel.threads = seen->second;
    setWarps(kernel, figures.architecture);
    timing::TimedCode timed(f.text, number, f.branches);
    timing::TimeOptions how;
    how.warps = kernel.warps;
    how.threads = kernel.threads;
    const auto lineOf = [&](uint64_t at) { return lineAt(f.lines, at); };
    if (options.profile != nullptr) {
      how.iterationsOf = profiledIterations(timed, *options.profile, f.name, lineOf);
      how.countOf = profiledCounts(timed, *options.profile, f.name, lineOf);
    } else if (options.iterations)
      how.iterationsOf = timing::sameIterations(*options.iterations, timing::IterationsFrom::Given);
    else if (options.loops != nullptr)
      how.iterationsOf = knownOrAssumedIterations(timed, *options.loops, lineOf, timing::kAssumedIterations);
    std::vector<TimedBody> bodies;
    timing::FunctionTime time = options.loops != nullptr && options.profile == nullptr && kernel.isKernel
                                    ? timeBodies(timed, machine, how, *options.loops, f.name, lineOf, bodies)
                                    : estimate(timed, machine, how);
    const uint32_t threads = kernel.threads != 0 ? kernel.threads : kThreadsWhenUnknown;
    result.functions.push_back({f.name, kernel.isKernel, kernel.registers, kernel.isKernel ? threads : 0,
                                std::move(timed), std::move(time), f.lines, std::move(bodies)});
  }
  std::ranges::stable_sort(result.functions, {}, &TimedFunction::name);
  if (!result.functions.empty()) return result;
  error = options.function.empty() ? "there are no functions in it"
                                   : fmt::format("there is no function '{}' in it", options.function);
  return std::nullopt;
}

}  // namespace ptxopt::ptxas
