#include "analysis/register_estimate.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/fat_point.h"
#include "analysis/occupancy.h"

namespace ptxopt {
namespace {

// registers = factor * count + always, fitted by least absolute error (tests/calibration/run.py --fit).
struct Line {
  double factor, always;
};
constexpr Line kPlainLine{1.0, 4.0};
constexpr Line kFatPointLine{1.0, 4.0};
// ptxas gives no kernel with calls less than what the ABI keeps for callers and callees.
constexpr uint32_t kLeastWithCalls = 24;
constexpr uint32_t kLeast = 8;
constexpr uint32_t kRegisterStep = 8;  // a warp gets registers in multiples of this

uint32_t mostKept(const std::vector<KeptValue>& values, std::size_t points) {
  std::vector<uint32_t> change(points + 1), halves(points + 1);  // wrap around and back
  for (const KeptValue& v : values)
    for (const KeptValue::Span& s : v.spans) {
      std::vector<uint32_t>& which = v.size.isHalf ? halves : change;
      const uint32_t units = v.size.isHalf ? 1 : v.size.units;
      which[s.first] += units;
      which[s.last + 1] -= units;
    }
  uint32_t whole = 0, half = 0, most = 0;
  for (std::size_t p = 0; p < points; ++p) {
    whole += change[p];
    half += halves[p];
    most = std::max(most, whole + (half + 1) / 2);
  }
  return most;
}

bool hasCalls(const Module& module, const Function& f) {
  for (const InstrId id : f)
    if (f[id].isInstruction() && module.form(f[id]).is(effect::Call)) return true;
  return false;
}

// What the kernel's directives allow: .maxnreg, or registers for .minnctapersm blocks of .maxntid threads.
uint32_t statedLimit(const Module& module, const Function& f) {
  uint64_t threads = 0, blocks = 1;
  uint32_t limit = Architecture::kMostRegistersPerThread;
  for (const FunctionDirective& d : f.directives) {
    const std::string_view name = module.text(d.name);
    if (d.valueCount == 0) continue;
    if (name == ".maxnreg") limit = std::min(limit, std::max(d.values[0], kLeast));
    if (name == ".minnctapersm") blocks = std::max(d.values[0], 1u);
    if (name != ".maxntid" && name != ".reqntid") continue;
    threads = 1;
    for (uint32_t i = 0; i < d.valueCount; ++i) threads *= d.values[i];
  }
  if (threads == 0) return limit;
  const uint64_t warps = (threads + Architecture::kThreadsPerWarp - 1) / Architecture::kThreadsPerWarp;
  const uint64_t all = (warps * blocks + Architecture::kParts - 1) / Architecture::kParts * Architecture::kParts;
  const uint64_t each = Architecture::kRegisters / (all * Architecture::kThreadsPerWarp) / kRegisterStep * kRegisterStep;
  return static_cast<uint32_t>(std::min<uint64_t>(limit, std::max<uint64_t>(each, kLeast)));
}

uint32_t registers(const Line& line, uint32_t count, const RegisterEstimate& e) {
  const double fitted = line.factor * count + line.always;
  const uint32_t least = e.hasCalls ? kLeastWithCalls : kLeast;
  const auto rounded = static_cast<uint32_t>(std::clamp(fitted + 0.5, 0.0, 1e6));
  return std::min(std::max(rounded, least), std::max(e.limit, least));
}

}  // namespace

RegisterEstimate estimateRegisters(const Module& module, const Function& function,
                                   const RegisterPressure& pressure) {
  const std::vector<KeptValue> values = keptValues(module, function, pressure);
  const FatPointResult placed = placeValues(function, pressure.points(), values);
  RegisterEstimate e;
  for (const RegisterPressure::Units& u : pressure.along()) e.mostUnits = std::max(e.mostUnits, u.data + u.uniform);
  e.mostKept = mostKept(values, pressure.points().size());
  e.slots = placed.slots;
  e.spilled = placed.spilled;
  e.limit = statedLimit(module, function);
  e.hasCalls = hasCalls(module, function);
  e.plain = registers(kPlainLine, e.mostKept, e);
  e.fatPoint = registers(kFatPointLine, e.slots, e);
  return e;
}

std::string toString(const RegisterEstimate& e) {
  return fmt::format(
      "registers (estimate): {} by the plain maximum, {} by the fat-point model; units live {}, kept {}, slots {}{}\n",
      e.plain, e.fatPoint, e.mostUnits, e.mostKept, e.slots,
      e.spilled == 0 ? "" : fmt::format(", {} values without a slot", e.spilled));
}

}  // namespace ptxopt
