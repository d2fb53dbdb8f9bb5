// register-coalescer: removes the plain copies of one class by joining their registers.
//
// What:       `mov` between two registers of one class and type, guarded or not, wherever the two can be one
//             register: also where both are live, as long as they hold the same value there.
// Algorithm:  a worklist of the copies, blocks of deeper loops first, in a block's order of the text; with
//             join-globalcopies those within a block before those across blocks, with join-splitedges those on
//             split edges first. A copy whose one side has no other copy waits when joining it would stand in the
//             way of another copy of its block (the terminal rule), until all others were tried. What interferes
//             once always will, as joining only makes live ranges longer. What is left then: reads move to the
//             register that was copied from where that still holds the value; a copy of a constant becomes a mov of
//             the constant. (After LLVM's RegisterCoalescer in its order and knobs. Commuting an instruction to
//             free a copy has no work here: an instruction of PTX may write any register, so the join itself does
//             it.)
// Keeps:      registers of tied operands and of wgmma; names in parameter lists; the order of everything else.
// Machine code of ptxas: identical.
// Cost:       n log n in the copies and what their registers' live ranges are long.
// Declines:   too-large: the control-flow graph has too many edges. Each copy that stays is counted by why.
#include <algorithm>
#include <unordered_map>

#include "passes/coalescing/check.h"
#include "passes/coalescing/coalescer.h"
#include "passes/coalescing/copy_report.h"
#include "passes/coalescing/reschedule.h"

namespace ptxopt {
namespace {

class RegisterCoalescer {
 public:
  RegisterCoalescer(Function& f, PassContext& context) : f_(f), context_(context) {}

  bool run() {
    // What reschedule() moves the check would take for a mistake: each run of iterations is checked by itself.
    const auto checkedIterations = [&] {
      return withCoalescingCheck(f_, context_, [&] { return runIterations(); });
    };
    bool changed = checkedIterations();
    for (int k = 0; knob(Knob::TwoaddrReschedule) && k < kMostIterations && context_.error.empty() && reschedule();
         ++k) {
      context_.analyses.invalidate();
      changed = checkedIterations() || changed;
    }
    report_.finish(context_);
    return changed;
  }

 private:
  static constexpr int kMostIterations = 4;

  bool runIterations() {
    bool changed = false;
    // Moved reads and constants may leave other copies free to go: a second look, from the beginning.
    for (int iteration = 0; iteration < kMostIterations; ++iteration) {
      std::vector<Copy> copies = findCopies();
      if (copies.empty()) break;
      Coalescer coalescer(f_, context_, std::move(copies), limits());
      if (coalescer.copies().empty() || !once(coalescer)) break;
      changed = true;
      context_.analyses.invalidate();
      if (!again_) break;
    }
    return changed;
  }

  // Moves reads out of the way of copies that stay, at most for one copy a block: the places of the others are not
  // known after that.
  bool reschedule() {
    Coalescer coalescer(f_, context_, findCopies(), limits());
    const Cfg& cfg = context_.analyses.cfg();
    std::vector<bool> isDone(cfg.size());
    bool moved = false;
    for (const Copy& c : coalescer.copies()) {
      const BlockId b = cfg.blockOf(c.instruction);
      if (isDone[b.value] || coalescer.check(c) != Verdict::Interferes) continue;
      if (!rescheduleReads(context_.module, f_, context_.analyses.slotIndexes(), cfg, coalescer.intervals(), c))
        continue;
      context_.count("rescheduled");
      isDone[b.value] = moved = true;
    }
    return moved;
  }

  bool knob(Knob k) const { return context_.knobs[k] != 0; }

  Coalescer::Limits limits() const {
    return {static_cast<uint64_t>(context_.knobs[Knob::LargeIntervalSizeThreshold]),
            static_cast<uint64_t>(context_.knobs[Knob::LargeIntervalFreqThreshold]),
            static_cast<uint64_t>(context_.knobs[Knob::CopyLimit]),
            static_cast<uint64_t>(context_.knobs[Knob::CoalesceLimit]),
            knob(Knob::JoinGuardedDefinitions),
            knob(Knob::JoinCriticalEdges)};
  }

  std::vector<Copy> findCopies() const { return context_.analyses.copyFacts().plainCopies(); }

  // A block with one way in and one way out and nothing but copies: made to hold those of an edge.
  bool isSplitEdge(BlockId b) const {
    const Cfg& cfg = context_.analyses.cfg();
    if (cfg.predecessors(b).size() != 1 || cfg.successors(b).size() != 1) return false;
    for (const InstrId id : context_.analyses.slotIndexes().instructions(b))
      if (!readCopy(context_.module, f_, id) && !context_.module.form(f_[id]).is(effect::Branch)) return false;
    return true;
  }

  // In the order in which they are tried.
  std::vector<const Copy*> sortedCopies(const Coalescer& coalescer) const {
    const Cfg& cfg = context_.analyses.cfg();
    const Loops& loops = context_.analyses.loops();
    const SlotIndexes& slots = context_.analyses.slotIndexes();
    struct Key {
      uint32_t shallowness;
      bool isNotSplit, isGlobal;
      SlotIndex at;
      const Copy* copy;
    };
    std::vector<Key> keys;
    for (const Copy& c : coalescer.copies()) {
      const BlockId b = cfg.blockOf(c.instruction);
      keys.push_back({UINT32_MAX - loops.depth(b), !(knob(Knob::JoinSplitedges) && isSplitEdge(b)),
                      knob(Knob::JoinGlobalcopies) && !coalescer.isLocal(c), slots[c.instruction], &c});
    }
    std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
      return std::tie(a.shallowness, a.isGlobal, a.isNotSplit, a.at) <
             std::tie(b.shallowness, b.isGlobal, b.isNotSplit, b.at);
    });
    std::vector<const Copy*> sorted;
    for (const Key& k : keys) sorted.push_back(k.copy);
    return sorted;
  }

  // Whether a copy should wait: one of its sides has no other copy, and is in the way of another copy of the other
  // side in this block.
  bool mustWait(Coalescer& coalescer, const Copy& c) {
    if (!knob(Knob::TerminalRule)) return false;
    for (const auto& [end, inner] : {std::pair(c.to, c.from), std::pair(c.from, c.to)}) {
      if (degree_[end.value] != 1 || degree_[inner.value] < 2) continue;
      const auto endValue = end == c.to ? coalescer.written(c) : coalescer.read(c);
      const BlockId b = context_.analyses.cfg().blockOf(c.instruction);
      for (const Copy* other : copiesOf(inner)) {
        if (other == &c || context_.analyses.cfg().blockOf(other->instruction) != b) continue;
        if (!coalescer.isCandidate(other->to) || !coalescer.isCandidate(other->from)) continue;
        const auto far = other->to == inner ? coalescer.read(*other) : coalescer.written(*other);
        if (degree_[(other->to == inner ? other->from : other->to).value] < 2) continue;
        if (coalescer.interfere(endValue, far)) return true;
      }
    }
    return false;
  }

  void countDegrees(const Coalescer& coalescer) {
    degree_.assign(f_.registers.size(), 0);
    for (const Copy& c : coalescer.copies())
      for (const RegId r : {c.to, c.from}) ++degree_[r.value];
    firstCopy_.assign(f_.registers.size() + 1, 0);
    for (std::size_t r = 0; r < f_.registers.size(); ++r)
      firstCopy_[r + 1] = firstCopy_[r] + std::min(degree_[r], kMostLooks);
    copiesOf_.resize(firstCopy_.back());
    std::vector<uint32_t> next(firstCopy_.begin(), firstCopy_.end() - 1);
    for (const Copy& c : coalescer.copies())
      for (const RegId r : {c.to, c.from})
        if (next[r.value] != firstCopy_[r.value + 1]) copiesOf_[next[r.value]++] = &c;
  }

  // The first kMostLooks of the copies that mention a register.
  std::span<const Copy* const> copiesOf(RegId r) const {
    return std::span(copiesOf_).subspan(firstCopy_[r.value], firstCopy_[r.value + 1] - firstCopy_[r.value]);
  }

  // Those that must wait come last.
  void joinAll(Coalescer& coalescer) {
    countDegrees(coalescer);
    std::vector<const Copy*> waiting;
    for (const Copy* c : sortedCopies(coalescer)) {
      if (coalescer.isCandidate(c->to) && coalescer.isCandidate(c->from) && mustWait(coalescer, *c))
        waiting.push_back(c);
      else
        coalescer.tryJoin(*c);
    }
    for (const Copy* c : waiting) coalescer.tryJoin(*c);
  }

  // One iteration. Whether the function changed; `again_` says whether a further one may find more.
  bool once(Coalescer& coalescer) {
    again_ = false;
    report_.startIteration(coalescer.copies());
    if (knob(Knob::JoinLiveintervals)) joinAll(coalescer);
    bool moved = false, rematerialized = false, isLate = false;
    std::unordered_map<CopyValues::Number, int64_t> copiesOfConstant;
    const int64_t lateThreshold = context_.knobs[Knob::LateRematUpdateThreshold];
    for (const Copy& c : coalescer.copies()) {
      const Verdict v = coalescer.check(c);
      if (v == Verdict::Same) {
        report_.removed(c);
      } else if (coalescer.forward(c)) {
        report_.removed(c);
        moved = true;
      } else if (coalescer.rematerialize(c)) {
        context_.count("rematerialized");
        report_.removed(c);
        rematerialized = true;
        const auto constant = coalescer.values().root(coalescer.read(c));
        isLate = isLate || ++copiesOfConstant[constant] > lateThreshold;
      } else {
        report_.kept(c, v == Verdict::Joined ? Verdict::Interferes : v);
      }
    }
    again_ = moved || (rematerialized && !isLate);
    if (!report_.anyRemoved()) return false;
    coalescer.joinSameRegisters();
    const Coalescer::Applied applied = coalescer.apply();
    return applied.any() || moved || rematerialized;
  }

  static constexpr uint32_t kMostLooks = 16;  // copies of one register that the terminal rule looks at

  Function& f_;
  PassContext& context_;
  std::vector<uint32_t> degree_;     // by RegId: copies that mention it
  std::vector<uint32_t> firstCopy_;  // by RegId, and one more: where its copies begin in copiesOf_
  std::vector<const Copy*> copiesOf_;
  CopyReport report_;
  bool again_ = false;
};

}  // namespace

bool registerCoalescer(Function& f, PassContext& context) {
  if (!context.hasUsableGraph()) return false;
  return RegisterCoalescer(f, context).run();
}

}  // namespace ptxopt
