// Both models give a number of units, to which constants from a fit over test kernels are added; the sum is rounded to
// multiples of 8 above 32 and held within the stated limit.
#include "analysis/machine/register_estimate.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/machine/eager_schedule.h"
#include "analysis/machine/fat_point.h"
#include "target/occupancy.h"

namespace ptxopt {
namespace {

// What is added to a count, from the fit over test kernels (tests/codegen/calibration/run.py). ptxas is generous up to
// kFree registers, where most machines still hold all their warps: there the scheduler gets what it asks for.
constexpr uint32_t kBeyondAllocated = 10, kBeyondSlots = 6, kBeyondEager = 8, kFree = 32;
// What kernels with calls get: registers that the ABI keeps for callers and callees are taken whether used or not.
constexpr uint32_t kBeyondSlotsWithCalls = 16, kLeastWithCalls = 24;
constexpr uint32_t kEmpty = 4;  // a kernel without values
constexpr uint32_t kLeast = 8;
constexpr uint32_t kRegisterStep = 8;  // a warp gets registers in multiples of this

bool hasCalls(const Module& module, const Function& f) {
  for (const InstrId id : f)
    if (f[id].isInstruction() && module.form(f[id]).is(effect::Call)) return true;
  return false;
}

// Above what is free ptxas mostly ends at a multiple of the step, since a warp is handed that many anyway.
uint32_t registers(uint32_t count, const RegisterEstimate& e) {
  if (e.mostAllocated == 0 && !e.hasCalls) return kEmpty;
  const uint32_t least = e.hasCalls ? kLeastWithCalls : kLeast;
  if (count > kFree) count = (count + kRegisterStep / 2) / kRegisterStep * kRegisterStep;
  return std::max(std::min(count, e.limit), least);
}

RegisterEstimate plainEstimate(const Module& module, const Function& function, const RegisterPressure& pressure,
                               const AllocatedValues& allocated) {
  RegisterEstimate e;
  for (const RegisterPressure::Units& u : pressure.along()) e.mostUnits = std::max(e.mostUnits, u.data + u.uniform);
  for (const uint32_t u : allocatedUnits(allocated, pressure.points().size()))
    e.mostAllocated = std::max(e.mostAllocated, u);
  e.limit = statedRegisterLimit(module, function);
  e.hasCalls = hasCalls(module, function);
  e.plain = registers(e.mostAllocated + kBeyondAllocated, e);
  return e;
}

uint32_t fatPoint(const RegisterEstimate& e) {
  return registers(e.hasCalls ? e.slots + kBeyondSlotsWithCalls
                              : std::max(e.slots + kBeyondSlots, std::min(e.eager + kBeyondEager, kFree)),
                   e);
}

}  // namespace

uint32_t statedRegisterLimit(const Module& module, const Function& f) {
  uint64_t threads = 0, blocks = 1;
  uint32_t limit = target::Limits::kMostRegistersPerThread;
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
  const uint64_t warps = (threads + target::Limits::kThreadsPerWarp - 1) / target::Limits::kThreadsPerWarp;
  const uint64_t all =
      (warps * blocks + target::Limits::kParts - 1) / target::Limits::kParts * target::Limits::kParts;
  const uint64_t each =
      target::Limits::kRegisters / (all * target::Limits::kThreadsPerWarp) / kRegisterStep * kRegisterStep;
  return static_cast<uint32_t>(std::min<uint64_t>(limit, std::max<uint64_t>(each, kLeast)));
}

uint32_t plainRegisters(const Module& module, const Function& function, const RegisterPressure& pressure,
                        const AllocatedValues& allocated) {
  return plainEstimate(module, function, pressure, allocated).plain;
}

RegisterEstimate estimateRegisters(const Module& module, const Function& function,
                                   const RegisterPressure& pressure) {
  return estimateRegisters(module, function, pressure, allocatedValues(module, function, pressure));
}

RegisterEstimate estimateRegisters(const Module& module, const Function& function, const RegisterPressure& pressure,
                                   const AllocatedValues& allocated) {
  RegisterEstimate e = plainEstimate(module, function, pressure, allocated);
  const FatPointResult placed = placeValues(function, pressure.points(), allocated);
  e.eager = eagerPressure(module, function, pressure, allocated);
  e.slots = placed.slots;
  e.spilled = placed.spilled;
  e.fatPoint = fatPoint(e);
  return e;
}

uint32_t fatPointRegisters(const Module& module, const Function& function, const RegisterPressure& pressure,
                           const AllocatedValues& allocated) {
  RegisterEstimate e = plainEstimate(module, function, pressure, allocated);
  // As many slots as the kernel may have registers decide, since more are added to them than rounding takes away.
  static_assert(kBeyondSlots >= kRegisterStep / 2 && kBeyondSlotsWithCalls >= kRegisterStep / 2);
  e.slots = placeValues(function, pressure.points(), allocated, e.limit).slots;
  // The scheduler is followed only where what it asks for may count.
  if (!e.hasCalls && e.slots + kBeyondSlots < kFree)
    e.eager = eagerPressure(module, function, pressure, allocated, kFree - kBeyondEager);
  return fatPoint(e);
}

std::string toString(const RegisterEstimate& e) {
  return fmt::format(
      "registers (estimate): {} by the plain maximum, {} by the fat-point model; units live {}, kept {}, reordered "
      "{}, "
      "slots {}{}\n",
      e.plain, e.fatPoint, e.mostUnits, e.mostAllocated, e.eager, e.slots,
      e.spilled == 0 ? "" : fmt::format(", {} values without a slot", e.spilled));
}

}  // namespace ptxopt
