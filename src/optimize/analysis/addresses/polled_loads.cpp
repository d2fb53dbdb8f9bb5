// Sources of a value are Same, Loaded or Varies, and the last of its operands' kinds is its kind. A value on the way
// counts as varying, which ends cycles.
#include "analysis/addresses/polled_loads.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/opcode_predicates.h"

namespace ptxopt {
namespace {

// What a value of a loop is made of. In a computation the last of its sources' kinds is its kind.
enum class Source : uint8_t { Same, Loaded, Varies };

class LoopPolls {
 public:
  LoopPolls(const Module& module, const Function& f, Analyses& analyses, LoopId loop)
      : module_(module),
        f_(f),
        cfg_(analyses.cfg()),
        loops_(analyses.loops()),
        slots_(analyses.slotIndexes()),
        intervals_(analyses.liveIntervals()),
        evolution_(analyses.scalarEvolution()),
        loop_(loop) {}

  bool polls() {
    return std::ranges::any_of(loops_.exits(cfg_, loop_), [&](const Loops::Exit& exit) {
      const InstrId last = cfg_[exit.from].last;
      if (!last.valid() || !f_[last].isInstruction()) return false;
      const auto operands = f_.operandsOf(f_[last]);
      return std::ranges::any_of(
          operands, [&](const Operand& o) { return o.isRegister() && o.reads() && decides(o.reg(), last); });
    });
  }

  // Whether a load reads the same place in each iteration.
  bool isOfOnePlace(InstrId load) { return ofOperands(load, false) != Source::Varies; }

 private:
  InstrId definition(RegId reg, InstrId at) const {
    const ValueId v = intervals_[reg].valueIn(slots_[at]);
    if (!v.valid() || intervals_[reg][v].kind != ValueKind::Instruction) return {};
    return slots_.instructionAt(intervals_[reg][v].def);
  }

  // Whether some comparison in the loop that a predicate is made of compares what is loaded with nothing that varies.
  bool decides(RegId predicate, InstrId at) {
    const ValueId v = intervals_[predicate].valueIn(slots_[at]);
    if (!v.valid() || decided_.size() > kMostValues || !decided_.insert(keyOf(predicate, v)).second) return false;
    if (of(predicate, v) == Source::Loaded) return true;
    const InstrId id = definition(predicate, at);
    if (!id.valid() || !loops_.contains(loop_, cfg_.blockOf(id))) return false;
    // For `p = x and a < b`, x and the comparison separately.
    const OpcodeForm& form = module_.form(f_[id]);
    if (!form.knowsOperands() ||
        (form.op != Op::Setp && form.op != Op::And && form.op != Op::Or && form.op != Op::Not &&
         form.op != Op::Mov && form.op != Op::Xor && form.op != Op::Selp))
      return false;
    Source compared = Source::Same;
    for (const Operand& o : f_.operandsOf(f_[id])) {
      if (!o.isRegister() || o.writes() || !o.reads()) continue;
      if (f_.registers[o.payload].registerClass() == RegisterClass::Pred) {
        if (decides(o.reg(), id)) return true;
      } else {
        compared = std::max(compared, read(o.reg(), id));
      }
    }
    return compared == Source::Loaded;
  }

  Source read(RegId reg, InstrId at) {
    const ValueId v = intervals_[reg].valueIn(slots_[at]);
    return v.valid() ? of(reg, v) : Source::Same;
  }

  Source of(RegId reg, ValueId v) {
    const LiveValue& value = intervals_[reg][v];
    const BlockId block = slots_.blockAt(value.def);
    if (value.kind == ValueKind::Entry || !loops_.contains(loop_, block)) return Source::Same;
    // While it is on the way it varies: it depends on itself.
    const auto [at, isNew] = known_.try_emplace(keyOf(reg, v), Source::Varies);
    if (!isNew) return at->second;
    if (known_.size() > kMostValues) return Source::Varies;
    const Source made =
        value.kind == ValueKind::Phi ? ofPhi(reg, block) : ofInstruction(slots_.instructionAt(value.def));
    return known_[keyOf(reg, v)] = made;
  }

  Source ofPhi(RegId reg, BlockId block) {
    Source all = Source::Same;
    for (const BlockId p : cfg_.predecessors(block)) {
      if (!cfg_[p].reachable) continue;
      const ValueId v = evolution_.valueAtEnd(reg, p);
      if (v.valid()) all = std::max(all, of(reg, v));
    }
    return all;
  }

  Source ofInstruction(InstrId id) {
    const OpcodeForm& form = module_.form(f_[id]);
    if (form.is(effect::Volatile | effect::Call | effect::Unknown) || !form.knowsOperands()) return Source::Varies;
    if (form.op == Op::Atom) return Source::Varies;
    const bool isRead = form.is(effect::Read) && !isParameter(form.space) && form.space != StateSpace::Const;
    const Source sources = ofOperands(id, true);
    return isRead ? std::max(sources, Source::Loaded) : sources;
  }

  // With `all`, also what a guarded instruction leaves and its guard.
  Source ofOperands(InstrId id, bool all) {
    Source sources = Source::Same;
    for (const Operand& o : f_.operandsOf(f_[id])) {
      if (o.kind == OperandKind::SpecialRegister && o.is(Operand::VolatileRead)) return Source::Varies;
      if (!o.isRegister() || !o.reads() || (!all && (o.writes() || o.is(Operand::Guard)))) continue;
      sources = std::max(sources, read(o.reg(), id));
    }
    return sources;
  }

  static uint64_t keyOf(RegId reg, ValueId v) { return uint64_t{reg.value} << 32 | v.value; }

  static constexpr std::size_t kMostValues = 2000;  // in a loop that computes more it is not looked for all

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  const Loops& loops_;
  const SlotIndexes& slots_;
  const LiveIntervals& intervals_;
  const ScalarEvolution& evolution_;
  const LoopId loop_;
  std::unordered_map<uint64_t, Source> known_;  // by register and value
  std::unordered_set<uint64_t> decided_;
};

}  // namespace

std::vector<bool> findPolledLoads(const Module& module, const Function& f, Analyses& analyses) {
  const Cfg& cfg = analyses.cfg();
  const Loops& loops = analyses.loops();
  std::vector<bool> isPolled(f.instructions.size());
  for (uint32_t l = 0; l < loops.size(); ++l) {
    LoopPolls loop(module, f, analyses, LoopId(l));
    if (!loop.polls()) continue;
    for (const BlockId b : loops.blocks(LoopId(l)))
      for (InstrId id = cfg[b].first; id.valid(); id = f[id].next) {
        if (f[id].isInstruction() && module.form(f[id]).op == Op::Ld && isGlobalOrGeneric(module.form(f[id]).space))
          isPolled[id.value] = isPolled[id.value] || loop.isOfOnePlace(id);
        if (id == cfg[b].last) break;
      }
  }
  return isPolled;
}

}  // namespace ptxopt
