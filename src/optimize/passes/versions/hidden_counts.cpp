// The bound of an exit test becomes itself plus a zero that ptxas cannot see: a number of the launch, read again, less
// its known value. The loops are those with a constant trip count that are too large for ptxas to unroll whole.
#include "passes/versions/hidden_counts.h"

#include <vector>

#include "passes/manager/pass.h"
#include "passes/versions/entry_test.h"

namespace ptxopt {
namespace {

class CountHider {
 public:
  CountHider(const Module& module, KernelVersion& version, Analyses& analyses)
      : module_(module), f_(version.body), test_(version.test), analyses_(analyses) {}

  uint64_t run() {
    ScalarEvolution& evolution = analyses_.scalarEvolution();
    const ScevExpressions& e = evolution.expressions();
    const Loops& loops = analyses_.loops();
    std::vector<Bound> bounds;
    uint64_t hidden = 0;
    for (uint32_t l = 0; l < loops.size(); ++l) {
      const TripCount& count = evolution.tripCount(LoopId(l));
      if (!count.exact.valid() || !e.isConstant(count.exact)) continue;
      const uint64_t backedges = e[count.exact].constant;
      if (backedges == 0 ||
          (backedges < kMostUnrolled && (backedges + 1) * instructionsOf(LoopId(l)) <= kMostCopied))
        continue;
      const std::size_t before = bounds.size();
      for (const ExitTest& t : evolution.exitTests(LoopId(l))) {
        const std::size_t operand = t.swapped ? 1 : 2;
        const Bound bound{t.test, operand, definitionOf(f_.operandsOf(f_[t.test])[operand])};
        if (bound.definition.valid() || immediate(f_, f_.operandsOf(f_[t.test])[operand])) bounds.push_back(bound);
      }
      hidden += bounds.size() != before;
    }
    if (bounds.empty()) return 0;
    for (const Bound& bound : bounds) hide(bound);
    return hidden;
  }

 private:
  struct Bound {
    InstrId test;
    std::size_t operand;
    InstrId definition;  // of the register, the only one; none: an immediate
  };

  uint64_t instructionsOf(LoopId l) const {
    uint64_t n = 0;
    for (const BlockId b : analyses_.loops().blocks(l))
      for (InstrId id = analyses_.cfg()[b].first; id.valid(); id = f_[id].next) {
        n += f_[id].isInstruction();
        if (id == analyses_.cfg()[b].last) break;
      }
    return n;
  }

  InstrId definitionOf(const Operand& o) const {
    if (!o.isRegister() || o.flags != 0) return {};
    InstrId found;
    for (const InstrId id : f_)
      for (const Operand& d : f_.operandsOf(f_[id]))
        if (d.isRegister() && d.writes() && d.payload == o.payload) {
          if (found.valid() || d.role != Role::Def) return {};
          found = id;
        }
    return found;
  }

  void hide(const Bound& bound) {
    const unsigned bits = info(module_.form(f_[bound.test]).type).bits;
    if (bits != 32 && bits != 64) return;
    const Operand limit = f_.operandsOf(f_[bound.test])[bound.operand];
    const RegId zero = zeroOf(bits);
    const InstrId where = bound.definition.valid() ? f_[bound.definition].next : start_;
    const RegId to = f_.makeRegister(bits == 64 ? ScalarType::b64 : ScalarType::b32);
    Operand other = limit;
    other.join = Join::Comma;
    f_.insert(where, module_.synthOpcode(bits == 64 ? SynthOpcode::AddS64 : SynthOpcode::AddS32),
              std::vector<Operand>{defOperand(to), useOperand(zero), other});
    std::vector<Operand> operands(f_.operandsOf(f_[bound.test]).begin(), f_.operandsOf(f_[bound.test]).end());
    operands[bound.operand] = registerOperand(to, Role::Use, limit.join);
    f_.setOperands(bound.test, operands);
  }

  RegId zeroOf(unsigned bits) {
    if (!zero_.valid()) {
      start_ = f_.first;
      while (start_.valid() && (f_[start_].kind == InstrKind::Declaration || f_[start_].kind == InstrKind::Pragma))
        start_ = f_[start_].next;
      zero_ = emitZero(module_, f_, start_, test_);
    }
    if (bits == 32) return zero_;
    if (!wide_.valid()) {
      wide_ = f_.makeRegister(ScalarType::b64);
      f_.insert(start_, module_.synthOpcode(SynthOpcode::CvtU64U32),
                std::vector<Operand>{defOperand(wide_), useOperand(zero_)});
    }
    return wide_;
  }

  const Module& module_;
  Function& f_;
  const EntryTest& test_;
  Analyses& analyses_;
  InstrId start_;
  RegId zero_, wide_;
};

}  // namespace

uint64_t hideTripCounts(const Module& module, KernelVersion& version, const Knobs& knobs) {
  if (!hasExactNumber(version.test)) return 0;
  Analyses analyses(module, version.body, livenessLimits(knobs));
  if (!analyses.cfg().complete() || !analyses.mayHaveLiveIntervals() || analyses.loops().size() == 0) return 0;
  return CountHider(module, version, analyses).run();
}

}  // namespace ptxopt
