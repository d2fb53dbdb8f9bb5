#include "replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "exec/block.h"
#include "exec/first_arrival_filter.h"
#include "exec/warp.h"

namespace ptxopt::testing {
namespace {

__extension__ using Wide = __int128;
constexpr std::size_t kMostReported = 20;

}  // namespace

EvolutionReplay::EvolutionReplay(dump::FunctionView& view)
    : view_(view),
      f_(view.function),
      cfg_(view.analyses.cfg()),
      loops_(view.analyses.loops()),
      slots_(view.analyses.slotIndexes()),
      intervals_(view.analyses.liveIntervals()),
      numbers_(view.analyses.valueRanges().numbers()),
      evolution_(view.analyses.scalarEvolution()),
      position_(f_.instructions.size()),
      phis_(cfg_.size()) {
  for (uint32_t r = 0; r < intervals_.size(); ++r) {
    const auto& values = intervals_[RegId(r)].values();
    for (uint32_t v = 0; v < values.size(); ++v)
      if (values[v].kind == ValueKind::Phi)
        phis_[slots_.blockAt(values[v].def).value].push_back({RegId(r), ValueId(v)});
  }
  uint32_t position = 0;
  for (const InstrId id : f_) position_[id.value] = position++;
}

std::vector<EvolutionReplay::Thread>& EvolutionReplay::threadsOf(exec::Warp& warp) {
  const exec::Dim3 id = warp.block().id();
  std::vector<Thread>& threads = threads_[{id.x, id.y, id.z, warp.index()}];
  if (threads.empty()) {
    threads.resize(exec::kLanes);
    for (Thread& t : threads) {
      t.iterations.resize(loops_.size());
      t.values.resize(numbers_.size());
      t.isKnown.resize(numbers_.size());
    }
  }
  return threads;
}

std::optional<uint64_t> EvolutionReplay::contents(exec::Warp& warp, const exec::Routine& routine, RegId r,
                                                  unsigned lane) const {
  const exec::Arg& place = routine.registers[r.value];
  if (r == Function::kCarry || place.bytes == 0 || place.bytes > 8 || f_.registers[r.value].lanes != 1) return {};
  return warp.value(place, lane);
}

// What a register holds is a value's; and that of the plain value that stands for equal ones.
void EvolutionReplay::settle(Thread& t, RegId r, ValueId v, uint64_t bits) {
  if (!v.valid()) return;
  t.values[keyOf(r, v)] = bits;
  t.isKnown[keyOf(r, v)] = true;
  const ExprId e = evolution_.of(r, v);
  if (!e.valid()) return;
  const Expr& n = evolution_.expressions()[e];
  if (n.kind != ExprKind::Value || n.varies) return;
  const uint32_t key = keyOf(n.reg(), n.value());
  if (t.isKnown[key]) return;
  t.values[key] = bits;
  t.isKnown[key] = true;
}

void EvolutionReplay::op(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask mask,
                         exec::Mask active) {
  if (routine.function != &f_ || !exec::standsForInstruction(view_.module, routine, op)) return;
  const InstrId id(op.instruction);
  std::vector<Thread>& threads = threadsOf(warp);
  const bool mayWait = op.kind == exec::OpKind::Plain || op.kind == exec::OpKind::Collective;
  for (exec::Mask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    Thread& t = threads[lane];
    if (mayWait && t.last == id) continue;  // looks again whether it may go on
    arrive(warp, routine, lane, t, id);
    t.last = id;
    for (const Operand& o : f_.operandsOf(f_[id])) {
      if (!o.isRegister() || !o.reads()) continue;
      const auto bits = contents(warp, routine, o.reg(), lane);
      const ValueId v = bits ? intervals_[o.reg()].valueIn(slots_[id]) : ValueId();
      if (!v.valid()) continue;
      settle(t, o.reg(), v, *bits);
      compare(t, o.reg(), evolution_.read(o.reg(), id), *bits, fmt::format("read in line {}", view_.line(id)));
    }
  }
  noteWrites(warp, routine, id, mask & ~active);
}

void EvolutionReplay::after(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask active) {
  if (routine.function != &f_ || !exec::standsForInstruction(view_.module, routine, op)) return;
  noteWrites(warp, routine, InstrId(op.instruction), active);
}

void EvolutionReplay::noteWrites(exec::Warp& warp, const exec::Routine& routine, InstrId id, exec::Mask lanes) {
  std::vector<Thread>& threads = threadsOf(warp);
  for (const Operand& o : f_.operandsOf(f_[id])) {
    if (!o.isRegister() || !o.writes()) continue;
    const ValueId v = intervals_[o.reg()].valueOut(slots_[id]);
    if (!v.valid()) continue;
    for (exec::Mask m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      const auto bits = contents(warp, routine, o.reg(), lane);
      if (!bits) continue;
      settle(threads[lane], o.reg(), v, *bits);
      compareValue(threads[lane], o.reg(), v, *bits, fmt::format("written in line {}", view_.line(id)));
    }
  }
}

// ---- blocks and iterations ----

// Blocks without instructions of their own, from one block to another.
bool EvolutionReplay::findWay(BlockId from, BlockId to, std::vector<BlockId>& way) const {
  const auto next = cfg_.successors(from);
  if (std::ranges::find(next, to) != next.end()) return true;
  for (const BlockId b : next) {
    if (!slots_.instructions(b).empty() || std::ranges::find(way, b) != way.end()) continue;
    way.push_back(b);
    if (findWay(b, to, way)) return true;
    way.pop_back();
  }
  return false;
}

void EvolutionReplay::arrive(exec::Warp& warp, const exec::Routine& routine, unsigned lane, Thread& t, InstrId id) {
  const BlockId to = cfg_.blockOf(id);
  if (!t.last.valid()) {
    // From the start of the function.
    BlockId at = cfg_.roots().front();
    enter(warp, routine, lane, t, BlockId(), at);
    std::vector<BlockId> way;
    if (at != to && findWay(at, to, way)) {
      way.push_back(to);
      for (const BlockId b : way) enter(warp, routine, lane, t, std::exchange(at, b), b);
    }
    return;
  }
  BlockId from = cfg_.blockOf(t.last);
  if (from == to && position_[id.value] > position_[t.last.value]) return;
  std::vector<BlockId> way;
  if (!findWay(from, to, way)) {
    fail(fmt::format("no way from {} to {}", view_.blockTitle(from), view_.blockTitle(to)));
    return;
  }
  way.push_back(to);
  for (const BlockId b : way) enter(warp, routine, lane, t, std::exchange(from, b), b);
}

void EvolutionReplay::enter(exec::Warp& warp, const exec::Routine& routine, unsigned lane, Thread& t, BlockId from,
                            BlockId to) {
  // Loops that are left.
  for (LoopId l = from.valid() ? loops_.of(from) : LoopId(); l.valid() && !loops_.contains(l, to);
       l = loops_[l].parent) {
    const ExprId exact = evolution_.tripCount(l).exact;
    if (!exact.valid()) continue;
    const auto count = evaluate(t, exact);
    if (!count) {
      ++counts.unseen;
      continue;
    }
    ++counts.exact;
    if (*count != t.iterations[l.value])
      fail(fmt::format("L{} at {}: {} backedges, said to be {} = {}", l.value, view_.blockTitle(loops_[l].header),
                       t.iterations[l.value], text(exact), *count));
  }
  const LoopId l = loops_.of(to);
  if (l.valid() && loops_[l].header == to) {
    uint64_t& iteration = t.iterations[l.value];
    iteration = from.valid() && loops_.contains(l, from) ? iteration + 1 : 0;
    if (const auto most = evolution_.tripCount(l).most) {
      ++counts.most;
      if (iteration > *most)
        fail(fmt::format("L{} at {}: {} backedges, said to be at most {}", l.value, view_.blockTitle(to), iteration,
                         *most));
    }
  }
  for (const Phi& phi : phis_[to.value]) {
    const auto bits = contents(warp, routine, phi.reg, lane);
    if (!bits) continue;
    if (from.valid()) settle(t, phi.reg, evolution_.valueAtEnd(phi.reg, from), *bits);
    settle(t, phi.reg, phi.value, *bits);
  }
  // When all are settled, as they may name each other.
  for (const Phi& phi : phis_[to.value])
    if (const auto bits = contents(warp, routine, phi.reg, lane))
      compareValue(t, phi.reg, phi.value, *bits, fmt::format("on entry to {}", view_.blockTitle(to)));
}

// ---- comparing ----

void EvolutionReplay::fail(std::string text) {
  ++wrongs;
  if (wrong.size() < kMostReported && std::ranges::find(wrong, text) == wrong.end())
    wrong.push_back(std::move(text));
}

std::string EvolutionReplay::text(ExprId e) const {
  return evolution_.toString(
      e, [&](RegId r, ValueId v) { return fmt::format("{}:{}", view_.registerName(r), v.value); });
}

void EvolutionReplay::compareValue(const Thread& t, RegId r, ValueId v, uint64_t bits, const std::string& where) {
  compare(t, r, evolution_.of(r, v), bits, where);
}

void EvolutionReplay::compare(const Thread& t, RegId r, ExprId e, uint64_t bits, const std::string& where) {
  if (!e.valid()) return;
  const Expr n = evolution_.expressions()[e];
  const IntegerRange range = evolution_.range(e);
  if (range.width() != n.width) fail(fmt::format("{}: {} has a range of another width", where, text(e)));
  if (!range.isFull()) ++counts.ranges;
  if (!range.contains(bits))
    fail(fmt::format("{}: {} = {} is {:#x}, not in {}", where, view_.registerName(r), text(e), bits,
                     range.toString()));
  if (n.kind == ExprKind::Value) return;
  const auto computed = evaluate(t, e);
  if (!computed) {
    ++counts.unseen;
    return;
  }
  ++counts.values;
  counts.recurrences += hasRecurrence(e);
  if (*computed != bits)
    fail(fmt::format("{}: {} is {:#x}, but {} is {:#x}", where, view_.registerName(r), bits, text(e), *computed));
  if (n.kind == ExprKind::Recurrence) checkWhole(t, e, where);
}

bool EvolutionReplay::hasRecurrence(ExprId e) const {
  const ScevExpressions& x = evolution_.expressions();
  const Expr& n = x[e];
  switch (n.kind) {
    case ExprKind::Constant:
    case ExprKind::Value: return false;
    case ExprKind::Recurrence: return true;
    case ExprKind::Sum:
    case ExprKind::Product:
      return std::ranges::any_of(x.terms(e), [&](const ExprTerm& term) { return hasRecurrence(term.expr); });
    case ExprKind::SignExtend:
    case ExprKind::ZeroExtend:
    case ExprKind::Truncate: return hasRecurrence(n.operand());
    default: return hasRecurrence(n.left()) || hasRecurrence(n.right());
  }
}

void EvolutionReplay::checkWhole(const Thread& t, ExprId e, const std::string& where) {
  const Expr n = evolution_.expressions()[e];
  for (const bool isSigned : {false, true}) {
    const auto [known, isNew] = proofs_.try_emplace(uint64_t{e.value} << 1 | isSigned);
    if (isNew) known->second = evolution_.whyNoWrap(e, isSigned);
    if (!known->second) continue;
    const auto start = evaluate(t, n.start()), step = evaluate(t, n.step());
    if (!start || !step) continue;
    ++counts.whole;
    const Wide first = isSigned ? Wide{signedAt(*start, n.width)} : Wide{*start};
    const Wide now = first + Wide{signedAt(*step, n.width)} * static_cast<Wide>(t.iterations[n.loop.value]);
    const Wide one = 1;
    const Wide least = isSigned ? -(one << (n.width - 1)) : 0;
    const Wide most = (isSigned ? one << (n.width - 1) : one << n.width) - 1;
    if (now < least || now > most)
      fail(fmt::format("{}: {} wraps {} in iteration {} from {:#x}, by its {} it does not", where, text(e),
                       isSigned ? "signed" : "unsigned", t.iterations[n.loop.value], *start,
                       name(known->second->kind)));
  }
}

// None where a leaf was not seen or a divisor is 0.
std::optional<uint64_t> EvolutionReplay::evaluate(const Thread& t, ExprId e) const {
  const ScevExpressions& x = evolution_.expressions();
  const Expr& n = x[e];
  const auto masked = [&](uint64_t bits) { return maskTo(bits, n.width); };
  switch (n.kind) {
    case ExprKind::Constant: return n.constant;
    case ExprKind::Value: {
      const uint32_t key = keyOf(n.reg(), n.value());
      if (!t.isKnown[key]) return {};
      return t.values[key];
    }
    case ExprKind::Sum:
    case ExprKind::Product: {
      uint64_t all = n.kind == ExprKind::Sum ? n.constant : 1;
      for (const ExprTerm& term : x.terms(e)) {
        const auto v = evaluate(t, term.expr);
        if (!v) return {};
        all = n.kind == ExprKind::Sum ? all + *v * term.factor : all * *v;
      }
      return masked(all);
    }
    case ExprKind::SignExtend:
    case ExprKind::ZeroExtend:
    case ExprKind::Truncate: {
      const auto v = evaluate(t, n.operand());
      if (!v || n.kind != ExprKind::SignExtend) return v ? std::optional(masked(*v)) : v;
      return masked(static_cast<uint64_t>(signedAt(*v, x[n.operand()].width)));
    }
    default: break;
  }
  const auto a = evaluate(t, n.left()), b = evaluate(t, n.right());
  if (!a || !b) return {};
  const bool isLess = *a < *b, isBelow = signedAt(*a, n.width) < signedAt(*b, n.width);
  switch (n.kind) {
    case ExprKind::UnsignedMin: return isLess ? a : b;
    case ExprKind::UnsignedMax: return isLess ? b : a;
    case ExprKind::SignedMin: return isBelow ? a : b;
    case ExprKind::SignedMax: return isBelow ? b : a;
    case ExprKind::UnsignedDivide: return *b == 0 ? std::nullopt : std::optional(*a / *b);
    case ExprKind::UnsignedRemainder: return *b == 0 ? std::nullopt : std::optional(*a % *b);
    case ExprKind::Recurrence: return masked(*a + *b * t.iterations[n.loop.value]);
    default: return {};
  }
}

}  // namespace ptxopt::testing
