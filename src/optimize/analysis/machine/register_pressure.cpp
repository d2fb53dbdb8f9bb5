// The segments of live ranges add their units where they begin and take them away where they end; a running sum gives
// the count at each point. Slots lead to points by a table of the number's upper bits.
#include "analysis/machine/register_pressure.h"

#include <algorithm>

namespace ptxopt {
namespace {

// Marks the 16-bit registers that a `mov` takes out of, or puts into, a 32- or 64-bit one.
void markHalves(const Module& module, const Function& f, std::vector<RegisterSize>& sizes) {
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    if (!i.isInstruction() || module.form(i).op != Op::Mov) continue;
    const auto operands = f.operandsOf(i);
    for (std::size_t at = 0; at < operands.size(); ++at) {
      if (operands[at].kind != OperandKind::Vector) continue;
      for (const Operand& o : operands.subspan(at + 1, operands[at].inside()))
        if (o.isRegister() && f.registers[o.payload].lanes == 1 && info(f.registers[o.payload].type).bits == 16)
          sizes[o.payload] = {0, true};
    }
  }
}

}  // namespace

std::vector<RegisterSize> registerSizes(const Module& module, const Function& function) {
  std::vector<RegisterSize> sizes;
  sizes.reserve(function.registers.size());
  for (const Register& r : function.registers) {
    const RegisterClass c = r.registerClass();
    const bool isFlag = c == RegisterClass::Pred || c == RegisterClass::Carry;
    sizes.push_back({isFlag ? 1 : std::max((info(r.type).bits * r.lanes + 31) / 32, 1u), false});
  }
  if (!sizes.empty()) sizes[Function::kCarry.value] = {1, false};
  markHalves(module, function, sizes);
  return sizes;
}

PressurePoints::PressurePoints(const Cfg& cfg, const SlotIndexes& slots) {
  std::size_t count = cfg.size();
  for (uint32_t b = 0; b < cfg.size(); ++b) count += slots.instructions(BlockId(b)).size();
  points_.reserve(count);
  firstOf_.reserve(cfg.size() + 1);
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    firstOf_.push_back(static_cast<uint32_t>(points_.size()));
    points_.push_back({slots.start(BlockId(b)), BlockId(b), InstrId()});
    for (const InstrId id : slots.instructions(BlockId(b))) points_.push_back({slots[id].reg(), BlockId(b), id});
  }
  firstOf_.push_back(static_cast<uint32_t>(points_.size()));
  if (points_.empty()) return;
  table_.resize((slots.lastOfFunction().raw() >> kShift) + 2);
  uint32_t at = 0;
  for (uint32_t t = 0; t < table_.size(); ++t) {
    while (at < points_.size() && points_[at].slot.raw() >> kShift < t) ++at;
    table_[t] = at;
  }
}

std::size_t PressurePoints::firstFrom(SlotIndex slot) const {
  std::size_t at = table_[std::min<std::size_t>(slot.raw() >> kShift, table_.size() - 1)];
  while (at < points_.size() && points_[at].slot < slot) ++at;
  return at;
}

RegisterPressure::RegisterPressure(const Module& module, const Function& function, const Cfg& cfg,
                                   const SlotIndexes& slots, const LiveIntervals& intervals,
                                   const RegisterFiles& files)
    : f_(function),
      intervals_(intervals),
      files_(files),
      sizes_(registerSizes(module, function)),
      points_(cfg, slots),
      units_(points_.size()) {
  if (units_.empty()) return;
  // What begins and ends at each point; summed up afterwards. Unsigned numbers wrap around and back.
  std::vector<uint32_t> halves;  // data and uniform, interleaved; empty: there are none
  std::vector<Units> change(points_.size() + 1);
  for (uint32_t r = 0; r < f_.registers.size(); ++r) {
    const RegisterSize size = sizes_[r];
    const RegisterFile file = files_.of(RegId(r));
    for (const Segment& s : intervals_[RegId(r)].segments()) {
      const std::size_t first = points_.firstFrom(s.start), end = points_.firstFrom(s.end);
      if (size.isHalf) {
        halves.resize(2 * (points_.size() + 1));
        const std::size_t lane = file == RegisterFile::Uniform ? 1 : 0;
        ++halves[2 * first + lane];
        --halves[2 * end + lane];
        continue;
      }
      uint32_t Units::*const member = file == RegisterFile::Data        ? &Units::data
                                      : file == RegisterFile::Predicate ? &Units::predicate
                                                                        : &Units::uniform;
      change[first].*member += size.units;
      change[end].*member -= size.units;
    }
  }
  Units whole;
  uint32_t dataHalves = 0, uniformHalves = 0;
  for (std::size_t p = 0; p < units_.size(); ++p) {
    whole = {whole.data + change[p].data, whole.predicate + change[p].predicate, whole.uniform + change[p].uniform};
    units_[p] = whole;
    if (!halves.empty()) {
      dataHalves += halves[2 * p];
      uniformHalves += halves[2 * p + 1];
      units_[p].data += (dataHalves + 1) / 2;
      units_[p].uniform += (uniformHalves + 1) / 2;
    }
    for (const RegisterFile file : kRegisterFiles)
      if (units_[p][file] > maximum_[file]) place_[static_cast<std::size_t>(file)] = p;
    maximum_ = maximum_.max(units_[p]);
  }
}

RegisterPressure::Units RegisterPressure::maximumOf(BlockId b) const {
  Units most;
  for (std::size_t p = points_.firstOf(b); p < points_.endOf(b); ++p) most = most.max(units_[p]);
  return most;
}

RegisterPressure::Units RegisterPressure::maximumOf(const Loops& loops, LoopId l) const {
  Units most;
  for (const BlockId b : loops.blocks(l)) most = most.max(maximumOf(b));
  return most;
}

std::vector<RegId> RegisterPressure::liveAt(std::size_t point, RegisterFile file) const {
  std::vector<RegId> live;
  for (uint32_t r = 0; r < f_.registers.size(); ++r)
    if (files_.of(RegId(r)) == file && intervals_[RegId(r)].isLiveAt(points_[point].slot)) live.emplace_back(r);
  return live;
}

std::vector<RegisterPressure::Span> RegisterPressure::spans() const {
  std::vector<Span> result;
  if (units_.empty()) return result;
  for (uint32_t r = 0; r < f_.registers.size(); ++r)
    for (const Segment& s : intervals_[RegId(r)].segments()) {
      const std::size_t first = points_.firstFrom(s.start), end = points_.firstFrom(s.end);
      if (first < end)
        result.push_back({RegId(r), s.value, static_cast<uint32_t>(first), static_cast<uint32_t>(end - 1)});
    }
  return result;
}

}  // namespace ptxopt
