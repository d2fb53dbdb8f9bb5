// Addresses with extensions become affine under the condition that they do not wrap, which is noted as a check. Those
// with equal steps and a constant distance form a group. A group's range comes from the bound of the loop's counter.
#include "passes/loops/versioning/loop_accesses.h"

#include <algorithm>

#include "ir/opcode_predicates.h"

namespace ptxopt {
namespace {

constexpr int64_t kMostOffset = 1 << 20;

}  // namespace

void LoopAccesses::add(InstrId id) {
  const OpcodeForm& form = context_.module.form(f_[id]);
  if (!isGlobalOrGeneric(form.space) || form.has(ModifierFlag::NonCoherent)) return;
  const auto operands = f_.operandsOf(f_[id]);
  LoopAccess access{.id = id};
  access.isStore = form.op == Op::St;
  access.isGuarded = f_[id].is(Instruction::Guarded);
  access.bytes = form.vector * info(form.type).bits / 8;
  access.memory =
      static_cast<uint32_t>(std::ranges::find(operands, OperandKind::Memory, &Operand::kind) - operands.begin());
  all_.push_back(access);
  const uint32_t inside = access.memory < operands.size() ? operands[access.memory].inside() : 0;
  if (form.space != StateSpace::Global || inside < 1 || inside > 2) return;
  const Operand& base = operands[access.memory + 1];
  if (!base.isRegister() || base.role != Role::Use || base.flags != 0) return;
  uint64_t offset = 0;
  if (inside == 2) {
    const Operand& by = operands[access.memory + 2];
    const auto bits = immediate(f_, by);
    if (!bits || (by.join != Join::Plus && by.join != Join::Minus)) return;
    offset = by.join == Join::Minus ? ~*bits + 1 : *bits;
  }
  ScevExpressions& e = evolution_.expressions();
  ExprId address = evolution_.read(base.reg(), id);
  if (!address.valid() || e[address].width != 64) return;
  RunTimeChecks wraps(e);
  address = affine(e.addConstant(address, offset), wraps);
  if (!address.valid() || wraps.isNever()) return;
  const bool isMoving = e.isRecurrence(address, loop_);
  if (!isMoving && !e.isInvariant(address, loop_)) return;
  all_.back().start = isMoving ? e[address].start() : address;
  all_.back().step = isMoving ? e[address].step() : e.constant(0, 64);
  if (isMoving && (!e.isInvariant(all_.back().start, loop_) || !e.isInvariant(all_.back().step, loop_)))
    all_.back().start = ExprId();
  else
    join(all_.back(), wraps);
}

void LoopAccesses::join(LoopAccess& access, const RunTimeChecks& wraps) {
  ScevExpressions& e = evolution_.expressions();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    AccessGroup& group = groups_[g];
    uint64_t difference = 0;
    if (group.step != access.step || !e.differByConstant(access.start, group.start, difference)) continue;
    const auto offset = static_cast<int64_t>(difference);
    if (offset < -kMostOffset || offset > kMostOffset) continue;
    group.low = std::min(group.low, offset);
    group.high = std::max(group.high, offset + access.bytes);
    group.wraps.add(wraps);
    access.group = g;
    access.offset = offset;
    return;
  }
  access.group = groups_.size();
  groups_.push_back({access.start, access.step, 0, access.bytes, wraps});
}

// The same value as a recurrence of the loop, or as what does not vary in it, if the checks hold; as it is where it is neither.
ExprId LoopAccesses::affine(ExprId given, RunTimeChecks& wraps) const {
  ScevExpressions& e = evolution_.expressions();
  if (e.isInvariant(given, loop_) || e.isRecurrence(given, loop_)) return given;
  const Expr n = e[given];
  if (n.kind == ExprKind::SignExtend || n.kind == ExprKind::ZeroExtend) return affineExtension(given, wraps);
  if (n.kind != ExprKind::Sum) return given;
  const std::vector<ExprTerm> terms(e.terms(given).begin(), e.terms(given).end());
  ExprId all = e.constant(n.constant, n.width);
  for (const ExprTerm& t : terms) {
    const ExprId part = affine(t.expr, wraps);
    if (!part.valid()) return part;
    all = e.add(all, e.scale(part, t.factor));
  }
  return all;
}

// An extended counter of 32 bits counts in 64 bits where it does not wrap: its last number, computed in 64 bits, is one of 32
// bits, and so are all before it.
ExprId LoopAccesses::affineExtension(ExprId given, RunTimeChecks& wraps) const {
  ScevExpressions& e = evolution_.expressions();
  const Expr n = e[given];
  const bool isSigned = n.kind == ExprKind::SignExtend;
  const ExprId inner = n.operand();
  if (n.width != 64 || e[inner].width != 32 || !e.isRecurrence(inner, loop_)) return given;
  const ExprId narrowStep = e[inner].step();
  if (!e.isInvariant(e[inner].start(), loop_) || !e.isInvariant(narrowStep, loop_)) return given;
  // The step of the loop's counter, some times.
  ExprId step = evolution_.signExtend(narrowStep, 64);
  const ExprId one = bound_.registerStep();
  if (one.valid() && e[one].width == 32) {
    int64_t factor = narrowStep == one ? 1 : 0;
    if (e[narrowStep].kind == ExprKind::Sum && e[narrowStep].constant == 0 && e[narrowStep].termCount == 1 &&
        e.terms(narrowStep)[0].expr == one)
      factor = signedAt(e.terms(narrowStep)[0].factor, 32);
    if (factor != 0) {
      step = e.scale(bound_.wideStep(), static_cast<uint64_t>(factor));
      const bool isNumberOf32 = factor == 1 && e[step].kind == ExprKind::SignExtend;
      if (factor > 0 && !isNumberOf32) wraps.less(step, e.constant(uint64_t{1} << 31, 64), true);
      if (factor < 0) wraps.less(step, e.constant(static_cast<uint64_t>(int64_t{INT32_MIN}), 64), true, false);
    }
  }
  const auto reach = bound_.reach(step);
  if (!reach) return ExprId();
  wraps.add(reach->checks);
  const ExprId start =
      isSigned ? evolution_.signExtend(e[inner].start(), 64) : evolution_.zeroExtend(e[inner].start(), 64);
  const ExprId last = reach->goesDown ? e.subtract(start, reach->size) : e.add(start, reach->size);
  const int64_t least = isSigned ? INT32_MIN : 0, end = isSigned ? int64_t{1} << 31 : int64_t{1} << 32;
  if (reach->goesDown)
    wraps.less(last, e.constant(static_cast<uint64_t>(least), 64), true, false);
  else
    wraps.less(last, e.constant(static_cast<uint64_t>(end), 64), true);
  return e.recurrence(loop_, start, step);
}

std::optional<AccessRange> LoopAccesses::range(std::size_t g) const {
  const AccessGroup& group = groups_[g];
  const auto reach = bound_.reach(group.step);
  if (!reach) return std::nullopt;
  ScevExpressions& e = evolution_.expressions();
  AccessRange r{
      .low = e.addConstant(group.start, static_cast<uint64_t>(group.low)), .size = {}, .checks = bound_.checks()};
  if (reach->goesDown) r.low = e.subtract(r.low, reach->size);
  r.size = e.addConstant(reach->size, static_cast<uint64_t>(group.high - group.low));
  r.checks.add(group.wraps);
  r.checks.add(reach->checks);
  return r;
}

std::optional<uint64_t> LoopAccesses::distance(const LoopAccess& a, const LoopAccess& b,
                                               bool isIterationBefore) const {
  if (a.step != b.step) return std::nullopt;
  ScevExpressions& e = evolution_.expressions();
  const ExprId there = isIterationBefore ? e.subtract(b.start, b.step) : b.start;
  uint64_t difference = 0;
  return e.differByConstant(there, a.start, difference) ? std::optional(difference) : std::nullopt;
}

}  // namespace ptxopt
