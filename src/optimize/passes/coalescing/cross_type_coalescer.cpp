// cross-type-coalescer: removes the copies that register-coalescer does not take, by joining their registers.
//
// What:       mov between registers of one size declared otherwise (.b32 and .f32, .b32 and .f16x2), cvt and cvta
//             that change nothing, selp between a register and itself, the lanes of mov of vectors, the lanes of an
//             unpack of what was packed, and a pack of what was unpacked (analysis/dataflow/copies.h). Registers of two
//             declared types become one of the untyped type of that size, which every instruction takes.
// Algorithm:  two heaps. Copies leave the first by the number of the register they write, among those of one
//             register by their weight: instructions that the two live ranges span, mentions of the two registers,
//             frequency of the block by its depth of loops. What interferes goes to the second heap; the heaps are
//             swapped as long as something was joined. First so for the copies whose live ranges stay within their
//             block, then for the others. Plain copies are not tried, but they count: for what is equal
//             (coalescing/copy_values.h), and where both sides became one register they go. What is left then:
//             reads move to the register that was copied from where that still holds the value; a copy of a
//             constant, also a plain one that interferes, becomes a mov of the constant.
// Keeps:      64-bit copies into a phi that convert an address or the declared type, and what a guard writes: ptxas
//             makes other code of these. Packs and unpacks, unless knob join-packs lets them go: ptxas counts the
//             instructions of a loop before it folds them, and may unroll it otherwise. Classes by size; 8-bit,
//             128-bit and vector registers; registers of tied operands and of wgmma; types and names of parameter
//             lists. It never writes one register twice in a destination tuple.
// Machine code of ptxas: identical.
// Cost:       n log n in the copies and in the length of their registers' live ranges.
// Declines:   too-large: the control-flow graph has too many edges. lanes-of-16-bits: packs and unpacks of halves,
//             which ptxas makes other code of than of their registers. packs-across-blocks: packs and unpacks of
//             what another block unpacked or packed, for the same reason. param-memory: a load of an argument that
//             was stored before; ptxas takes none of these. Copies that stay are counted by why. cvta to shared,
//             local and const memory and back changes nothing either, but ptxas computes it on some architectures.
#include <algorithm>
#include <queue>
#include <unordered_map>

#include "ir/opcode_predicates.h"
#include "passes/coalescing/check.h"
#include "passes/coalescing/copy_report.h"
#include "passes/coalescing/pack_copies.h"

namespace ptxopt {
namespace {

class CrossTypeCoalescer {
 public:
  CrossTypeCoalescer(Function& f, PassContext& context) : f_(f), context_(context) {}

  bool run() {
    bool changed = false;
    // What went may have made others equal: selp of two registers that are one now.
    for (int iteration = 0; iteration < kMostIterations; ++iteration) {
      if (iteration != 0 && !mayHaveOurs()) break;
      std::vector<Copy> copies = findCopies(iteration == 0);
      if (std::ranges::none_of(copies, isOurs)) break;
      Coalescer coalescer(f_, context_, std::move(copies), limits());
      if (!once(coalescer)) break;
      changed = true;
      context_.analyses.invalidate();
    }
    report_.finish(context_);
    return changed;
  }

 private:
  static constexpr int kMostIterations = 4;
  static constexpr uint32_t kMostDepth = 6;  // deeper loops count like this one

  static bool isOurs(const Copy& c) { return c.family != CopyFamily::Plain; }

  // Whether findCopies may find one of ours. Mostly all are gone: a look at the instructions says so, without analyses.
  bool mayHaveOurs() const {
    if (context_.knobs[Knob::JoinPacks] != 0) return true;
    std::vector<Copy> copies;
    for (const InstrId id : f_)
      if (f_[id].isInstruction() && mayCopy(context_.module.form(f_[id]).op))
        readCopies(context_.module, f_, id, copies);
    return std::ranges::any_of(copies, isOurs);
  }

  struct Entry {
    RegId reg;
    uint64_t weight;
    SlotIndex at;
    const Copy* copy;
  };
  struct ComesLater {
    bool operator()(const Entry& a, const Entry& b) const {
      if (a.reg != b.reg) return a.reg > b.reg;
      if (a.weight != b.weight) return a.weight < b.weight;
      return a.at != b.at ? a.at > b.at : a.copy > b.copy;  // copies of one instruction: in their order
    }
  };
  using Heap = std::priority_queue<Entry, std::vector<Entry>, ComesLater>;

  Coalescer::Limits limits() const {
    return {static_cast<uint64_t>(context_.knobs[Knob::LargeIntervalSizeThreshold]),
            static_cast<uint64_t>(context_.knobs[Knob::LargeIntervalFreqThreshold]),
            static_cast<uint64_t>(context_.knobs[Knob::CopyLimit]),
            static_cast<uint64_t>(context_.knobs[Knob::CoalesceLimit]),
            context_.knobs[Knob::JoinGuardedDefinitions] != 0,
            context_.knobs[Knob::JoinCriticalEdges] != 0};
  }

  // Ours first: the limit is for them.
  std::vector<Copy> findCopies(bool isFirst) {
    std::vector<Copy> copies = context_.analyses.copyFacts().copies();
    // Packs that are left are counted, once.
    PackCopies packs;
    if (isFirst || context_.knobs[Knob::JoinPacks] != 0) packs = findPackCopies(f_, context_, copies);
    if (isFirst && packs.halves != 0) {
      context_.count("lanes-of-16-bits", packs.halves);
      context_.decline("lanes-of-16-bits", "packs and unpacks of 16-bit registers");
    }
    if (isFirst && packs.acrossBlocks != 0) {
      context_.count("packs-across-blocks", packs.acrossBlocks);
      context_.decline("packs-across-blocks", "packs and unpacks of what another block unpacked or packed");
    }
    if (isFirst) findParamMemory();
    if (context_.knobs[Knob::JoinPacks] == 0) {
      if (isFirst && !packs.copies.empty()) context_.count("packs-left", packs.copies.size());
      packs.copies.clear();
    }
    copies.insert(copies.end(), packs.copies.begin(), packs.copies.end());
    std::stable_partition(copies.begin(), copies.end(), isOurs);
    return copies;
  }

  // A load of a slot that the block stored an argument to, without a call between.
  void findParamMemory() {
    std::unordered_map<uint32_t, bool> isStored;  // by VariableId
    std::size_t loads = 0;
    for (const InstrId id : f_) {
      const Instruction& i = f_[id];
      if (i.kind == InstrKind::Label) isStored.clear();
      if (!i.isInstruction()) continue;
      const OpcodeForm& form = context_.module.form(i);
      if (form.is(effect::Call | effect::kControl)) isStored.clear();
      const bool isStore = isParameterStore(form), isLoad = isParameterLoad(form);
      if (!isStore && !isLoad) continue;
      for (const Operand& o : f_.operandsOf(i)) {
        if (o.kind != OperandKind::Variable) continue;
        if (isStore)
          isStored[o.payload] = true;
        else
          loads += isStored.contains(o.payload);
      }
    }
    if (loads == 0) return;
    context_.count("param-memory", loads);
    context_.decline("param-memory", "an argument is loaded where it was stored");
  }

  // Instructions and starts of blocks from one slot to the same of another.
  std::size_t lengthOf(const Segment& s) const {
    const SlotIndexes& slots = context_.analyses.slotIndexes();
    const std::size_t steps = slots.countBefore(s.end.base()) - slots.countBefore(s.start.base());
    return s.end.slot() < s.start.slot() ? steps - 1 : steps;
  }

  uint64_t weightOf(const Coalescer& coalescer, const Copy& c, BlockId b) const {
    uint64_t weight = mentions_[c.to.value] + mentions_[c.from.value];
    for (const RegId r : {c.to, c.from})
      for (const Segment& s : coalescer.rangeOf(r).segments()) weight += lengthOf(s);
    uint64_t frequency = 1;
    for (uint32_t d = std::min(context_.analyses.loops().depth(b), kMostDepth); d != 0; --d) frequency *= 10;
    return weight + frequency;
  }

  void joinAll(Coalescer& coalescer, Heap& heap) {
    Heap waiting;
    for (bool joined = true; joined && !heap.empty();) {
      joined = false;
      for (; !heap.empty(); heap.pop()) {
        const Verdict v = coalescer.tryJoin(*heap.top().copy);
        joined = joined || v == Verdict::Joined;
        if (v == Verdict::Interferes) waiting.push(heap.top());
      }
      std::swap(heap, waiting);
    }
  }

  bool once(Coalescer& coalescer) {
    mentions_.assign(f_.registers.size(), 0);
    for (const Operand& o : f_.operands)
      if (o.isRegister()) ++mentions_[o.payload];
    std::vector<Copy> ours;
    Heap local, global;
    for (const Copy& c : coalescer.copies()) {
      if (!isOurs(c)) continue;
      ours.push_back(c);
      if (!coalescer.isCandidate(c.to) || !coalescer.isCandidate(c.from)) continue;
      const BlockId b = context_.analyses.cfg().blockOf(c.instruction);
      Heap& heap = coalescer.isLocal(c) ? local : global;
      heap.push({c.to, weightOf(coalescer, c, b), context_.analyses.slotIndexes()[c.instruction], &c});
    }
    report_.startIteration(ours);
    joinAll(coalescer, local);
    joinAll(coalescer, global);
    bool moved = false;
    for (const Copy& c : coalescer.copies()) moved |= isOurs(c) ? settle(coalescer, c) : settlePlain(coalescer, c);
    if (!report_.anyRemoved() && !moved) return false;
    coalescer.joinSameRegisters();
    return coalescer.apply().any() || moved;
  }

  static bool goes(Coalescer& coalescer, const Copy& c, Verdict v) {
    return v == Verdict::Same || (c.isLane() && coalescer.isCandidate(c.to) && coalescer.isDead(c));
  }

  // Whether another lane of a copy's instruction stays.
  bool staysForOthers(Coalescer& coalescer, const Copy& c) {
    std::size_t others = 0;
    for (const Operand& o :
         f_.operandsOf(f_[c.instruction]).subspan(1, f_.operandsOf(f_[c.instruction])[0].inside()))
      others += o.isRegister();
    const Copy *first = &c, *last = &c + 1;
    const std::span<const Copy> all = coalescer.copies();
    while (first != all.data() && first[-1].instruction == c.instruction) --first;
    while (last != all.data() + all.size() && last->instruction == c.instruction) ++last;
    for (; first != last; ++first) others -= goes(coalescer, *first, coalescer.check(*first));
    return others != 0;
  }

  // Counts what becomes of a copy; of one that could not be joined moves the reads, or makes it write its constant.
  // Whether it did.
  bool settle(Coalescer& coalescer, const Copy& c) {
    const Verdict v = coalescer.check(c);
    if (goes(coalescer, c, v)) {
      if (c.isLane() && staysForOthers(coalescer, c))
        report_.kept(c, Verdict::Tuple);
      else
        report_.removed(c);
    } else if (!c.isGuarded && v == Verdict::Interferes && coalescer.forward(c)) {
      report_.removed(c);
      return true;
    } else if (v != Verdict::Joined && coalescer.rematerialize(c)) {
      report_.removed(c);
      context_.count("rematerialized");
      return true;
    } else {
      report_.kept(c, v == Verdict::Joined ? Verdict::Interferes : v);
    }
    return false;
  }

  // A constant that went through copies of ours is only known as one here.
  bool settlePlain(Coalescer& coalescer, const Copy& c) {
    if (coalescer.check(c) != Verdict::Interferes || !coalescer.rematerialize(c)) return false;
    context_.count("rematerialized");
    return true;
  }

  Function& f_;
  PassContext& context_;
  std::vector<uint32_t> mentions_;  // by RegId
  CopyReport report_;
};

}  // namespace

bool crossTypeCoalescer(Function& f, PassContext& context) {
  if (!context.hasUsableGraph()) return false;
  return withCoalescingCheck(f, context, [&] { return CrossTypeCoalescer(f, context).run(); });
}

}  // namespace ptxopt
