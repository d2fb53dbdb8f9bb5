// The search is optimistic: phis count as equal to their sources until these disagree. A phi that disagrees becomes a
// root of its own, and all values are computed again.
#include "passes/coalescing/copy_values.h"

#include <algorithm>

namespace ptxopt {

CandidateIntervals::CandidateIntervals(const Function& f, Analyses& analyses, std::span<const RegId> candidates) {
  constexpr std::size_t kSmall = 50000;  // instructions
  if (!candidates.empty() && f.instructions.size() < kSmall)
    shared_ = &analyses.liveIntervals();
  else
    own_.emplace(f, analyses.cfg(), analyses.slotIndexes(), analyses.dominators(), candidates);
}

CopyValues::CopyValues(const Function& function, const Cfg& cfg, const SlotIndexes& slots,
                       const LiveIntervals& intervals, std::span<const RegId> candidates,
                       std::span<const Copy> copies)
    : f_(function), cfg_(cfg), slots_(slots), intervals_(intervals), first_(function.registers.size(), kNone) {
  for (const RegId r : candidates) {
    first_[r.value] = static_cast<Number>(register_.size());
    register_.resize(register_.size() + intervals[r].values().size(), r);
  }
  root_.assign(register_.size(), kNone);
  definedBy_.assign(register_.size(), nullptr);
  copied_.assign(register_.size(), kNone);
  findCopies(copies);
  findSources();

  // What needs no look at others first; what is left, in the order in which control comes by.
  std::vector<uint32_t> order(cfg.size());
  for (std::size_t k = 0; k < cfg.postOrder().size(); ++k)
    order[cfg.postOrder()[k].value] = static_cast<uint32_t>(cfg.postOrder().size() - k);
  struct Open {
    uint32_t order;
    SlotIndex def;
    Number number;
  };
  std::vector<Open> open;
  for (Number n = 0; n < root_.size(); ++n) {
    const LiveValue& v = (*this)[n];
    if (v.kind == ValueKind::Phi || definedBy_[n] != nullptr)
      open.push_back({order[slots.blockAt(v.def).value], v.def, n});
    else
      root_[n] = n;
  }
  std::sort(open.begin(), open.end(), [](const Open& a, const Open& b) {
    return std::tie(a.order, a.def, a.number) < std::tie(b.order, b.def, b.number);
  });
  // Roots only become more: each iteration starts anew from those that there are, takes every other value from what
  // comes before it, and then looks which phis do not agree with the sides that come after them. (Going on with
  // the values of the iteration before would find false disagreement, between new values and old ones.)
  std::vector<Number> fresh;
  do {
    for (const Open& o : open)
      if (root_[o.number] != o.number) root_[o.number] = kNone;
    for (const Open& o : open)
      if (root_[o.number] == kNone) root_[o.number] = evaluate(o.number);
    fresh.clear();
    for (const Open& o : open)
      if (root_[o.number] != o.number && evaluate(o.number) != root_[o.number]) fresh.push_back(o.number);
    for (const Number n : fresh) root_[n] = n;
  } while (!fresh.empty());
}

void CopyValues::findCopies(std::span<const Copy> copies) {
  for (const Copy& c : copies) {
    const SlotIndex at = slots_[c.instruction];
    if (!at.valid() || first_[c.to.value] == kNone || first_[c.from.value] == kNone) continue;
    if (c.via.valid() && first_[c.via.value] == kNone) continue;
    const ValueId v = intervals_[c.to].valueOut(at);
    if (!v.valid()) continue;
    const ValueId source = intervals_[c.from].valueIn(slots_[c.source()]);
    definedBy_[number(c.to, v)] = &c;
    copied_[number(c.to, v)] = source.valid() ? number(c.from, source) : kNone;
  }
}

void CopyValues::findSources() {
  sourceStart_.reserve(register_.size() + 1);
  for (Number n = 0; n < register_.size(); ++n) {
    sourceStart_.push_back(static_cast<uint32_t>(sources_.size()));
    const RegId r = register_[n];
    const LiveRange& range = intervals_[r];
    const LiveValue& value = (*this)[n];
    const auto take = [&](ValueId v) {
      if (v.valid()) sources_.push_back(first_[r.value] + v.value);
    };
    // Where control both enters and comes back, the entry value is the phi of all.
    if (value.kind == ValueKind::Phi || value.kind == ValueKind::Entry) {
      for (const BlockId p : cfg_.predecessors(slots_.blockAt(value.def)))
        if (cfg_[p].reachable) take(range.valueAt(slots_.last(p)));
    } else if (value.isPartial) {
      take(range.valueIn(value.def));
    }
  }
  sourceStart_.push_back(static_cast<uint32_t>(sources_.size()));
}

CopyValues::Number CopyValues::meet(Number a, Number b, Number self) const {
  if (a == kNone || a == b) return b;
  return b == kNone ? a : self;
}

CopyValues::Number CopyValues::evaluate(Number n) const {
  const Copy* copy = definedBy_[n];
  Number result = kNone;
  if (copy != nullptr) {
    if (copied_[n] == kNone) return n;
    result = root_[copied_[n]];
    if (!(*this)[n].isPartial || completes(n, *copy)) return result;
  }
  for (const Number s : sources(n))
    if (s != n && result != n) result = meet(result, root_[s], n);
  return result;
}

// Whether what guarded copy `copy` keeps was just written with the same value by a copy under the opposite guard.
bool CopyValues::completes(Number n, const Copy& copy) const {
  const Number old = sources(n).empty() ? kNone : sources(n).back();
  const Copy* other = old == kNone ? nullptr : definedBy_[old];
  if (other == nullptr || !other->isGuarded || other->from != copy.from) return false;
  const Operand& mine = f_.operandsOf(f_[copy.instruction])[0];
  const Operand& its = f_.operandsOf(f_[other->instruction])[0];
  if (mine.payload != its.payload || mine.is(Operand::Not) == its.is(Operand::Not)) return false;
  if (f_[other->instruction].next != copy.instruction) return false;
  return copy.to != copy.from && copy.to != mine.reg();
}

}  // namespace ptxopt
