// Each region shows its cycles for the three memory scenarios; the hottest loop is the one with the most cycles over
// all its iterations where loads hit L2. Waits are added up by line from the trace of that scenario, and those shorter
// than 0.05 cycles are left out.
#include "report/time_data.h"

#include <cmath>
#include <map>

namespace ptxopt::report {
namespace {

using namespace timing;

constexpr Scenario kOfWaits = Scenario::L2;
constexpr double kShown = 0.05;  // cycles: shorter waits are not shown

// More digits would say more than the model knows.
double rounded(double x) { return std::round(x * 10) / 10; }

Json scenariosJson(const RegionTime& r) {
  Json all = Json::array();
  for (std::size_t s = 0; s < kScenarios; ++s)
    all.push_back(
        Json::array({rounded(r.scenarios[s].cycles), nameOf(r.scenarios[s].bottleneck, static_cast<Scenario>(s))}));
  return all;
}

Json regionJson(const ptxas::TimedFunction& f, const RegionTime& r) {
  const uint32_t depth = r.region.loop == Region::kNone ? 0 : f.code.flow.loops()[r.region.loop].depth;
  const ptxas::LineRange lines = ptxas::linesOf(f, r);
  return Json::array({nameOf(f, r), depth, lines.first, lines.last, rounded(r.region.iterations),
                      rounded(r.work.instructions), scenariosJson(r),
                      r.region.loop == Region::kNone ? "" : nameOf(r.region.from)});
}

int hottestLoop(const FunctionTime& time) {
  int hottest = -1;
  double most = 0;
  for (std::size_t n = 0; n < time.regions.size(); ++n) {
    const RegionTime& r = time.regions[n];
    const double cycles = r.region.iterations * r.scenarios[static_cast<std::size_t>(kOfWaits)].cycles;
    if (r.region.loop == Region::kNone || cycles <= most) continue;
    hottest = static_cast<int>(n);
    most = cycles;
  }
  return hottest;
}

struct Line {
  uint32_t instructions = 0;
  double issue = 0;  // cycles
  bool isHot = false;
  double wait = 0;
  uint32_t waitsFor = 0;
};

Json linesJson(const ptxas::TimedFunction& f, int hottest) {
  const target::Machine& machine = f.code.target.machine();
  std::map<uint32_t, Line> lines;
  for (std::size_t n = 0; n < f.time.regions.size(); ++n) {
    const Region& region = f.time.regions[n].region;
    const Trace trace = traceOf(f.code, region, machine, kOfWaits);
    for (const Issue& i : trace.issues) {
      const uint32_t number = f.lineOf(i.instruction);
      if (number == 0) continue;
      Line& line = lines[number];
      ++line.instructions;
      line.issue += i.stall * region.iterations;
      if (static_cast<int>(n) == hottest) line.isHot = true;
      if (i.wait < kShown || i.wait <= line.wait || i.waitedFor == Issue::kNone) continue;
      line.wait = i.wait;
      line.waitsFor = f.lineOf(trace.issues[i.waitedFor].instruction);
    }
  }
  Json all = Json::array();
  for (const auto& [number, line] : lines)
    all.push_back(Json::array(
        {number, line.instructions, rounded(line.issue), line.isHot ? 1 : 0, rounded(line.wait), line.waitsFor}));
  return all;
}

}  // namespace

Json timeData(const ptxas::TimedFunction& f) {
  Json regions = Json::array();
  for (const RegionTime& r : f.time.regions) regions.push_back(regionJson(f, r));
  const int hottest = hottestLoop(f.time);
  return {{"warps", f.time.warps},
          {"threads", f.threads},
          {"iterations", kAssumedIterations},
          {"whole", scenariosJson(f.time.whole)},
          {"regions", std::move(regions)},
          {"hottest", hottest},
          {"lines", linesJson(f, hottest)}};
}

}  // namespace ptxopt::report
