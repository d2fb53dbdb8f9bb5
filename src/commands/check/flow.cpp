// Control and data flow of functions without errors.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/dataflow/uninitialised.h"
#include "analysis/manager/analyses.h"
#include "check/checkers.h"

namespace ptxopt::check {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // of the states of uninitialised registers

void checkUninitialised(const Module& module, const Function& f, Analyses& analyses, Findings& findings) {
  const Liveness& liveness = analyses.liveness(Liveness::Strength::Plain);
  if (!liveness.solved()) return;
  for (const UninitialisedRead& read :
       findUninitialisedReads(module, f, analyses.cfg(), liveness, kMostBytes).reads) {
    const std::size_t at = f[read.instruction].sourceBegin;
    if (read.reg == Function::kCarry)
      findings.push_back({CheckId::UninitialisedCarry, at, "the carry flag may be read before it is written"});
    else
      findings.push_back(
          {CheckId::Uninitialised, at,
           fmt::format("{} may be read before it is written", module.text(f.registers[read.reg.value].name))});
  }
}

// Code generators end a path that cannot be with a trap or an exit: that alone is not worth a word.
bool doesSomething(const Module& module, const Instruction& i) {
  return i.isInstruction() && !module.form(i).is(effect::Return | effect::Exit | effect::NoReturn);
}

void checkUnreachable(const Module& module, const Function& f, const Cfg& cfg, Findings& findings) {
  bool isReported = false;  // of this run of blocks
  for (const InstrId id : f) {
    if (cfg[cfg.blockOf(id)].reachable) {
      isReported = false;
    } else if (!isReported && doesSomething(module, f[id])) {
      findings.push_back({CheckId::Unreachable, f[id].sourceBegin, "control does not come here"});
      isReported = true;
    }
  }
}

// A barrier under the condition that the thread's number in one dimension is, or is not, some number, in a block of a size that
// says that there are more threads.
class DivergentBarriers {
 public:
  DivergentBarriers(const Module& module, const Function& f, Analyses& analyses, Findings& findings)
      : module_(module), f_(f), analyses_(analyses), findings_(findings), definition_(f.registers.size()) {}

  void check() {
    bool hasBarrier = false;
    for (const InstrId id : f_) hasBarrier |= isBlockBarrier(f_[id]);
    if (!hasBarrier || !hasSeveralThreads()) return;
    std::vector<bool> isMany(f_.registers.size());
    for (const InstrId id : f_)
      for (const Operand& o : f_.operandsOf(f_[id])) {
        if (!o.isRegister() || !o.writes()) continue;
        if (definition_[o.payload].valid()) isMany[o.payload] = true;
        definition_[o.payload] = id;
      }
    for (std::size_t r = 0; r < isMany.size(); ++r)
      if (isMany[r]) definition_[r] = InstrId();
    const DominatorTree& dominators = analyses_.dominators();
    const Cfg& cfg = analyses_.cfg();
    for (const InstrId id : f_) {
      const Instruction& i = f_[id];
      if (!isBlockBarrier(i) || !cfg[cfg.blockOf(id)].reachable) continue;
      bool isDivergent = i.is(Instruction::Guarded) && isOneThread(f_.operandsOf(i)[0].reg());
      for (BlockId b = cfg.blockOf(id); !isDivergent && b.valid(); b = dominators.parent(b))
        isDivergent = isSideOfBranch(b);
      if (isDivergent)
        findings_.push_back({CheckId::DivergentBarrier, i.sourceBegin,
                             "some threads of the block do not come to this barrier, by their number"});
    }
  }

 private:
  bool isBlockBarrier(const Instruction& i) const {
    if (!i.isInstruction()) return false;
    const OpcodeForm& form = module_.form(i);
    if (form.op != Op::Bar || form.has(ModifierFlag::Warp) || form.has(ModifierFlag::Arrive)) return false;
    std::size_t operands = 0;
    for (const Operand& o : f_.operandsOf(i)) operands += !o.is(Operand::Guard);
    return operands == 1;  // with a number of threads it is a barrier of some
  }

  bool hasSeveralThreads() const {
    for (const FunctionDirective& d : f_.directives)
      if (module_.text(d.name) == ".reqntid" && d.valueCount > 0)
        return uint64_t{d.values[0]} * std::max(1u, d.values[1]) * std::max(1u, d.values[2]) > 1;
    return false;
  }

  // setp.eq.u32 %p, %tid.x, 0
  bool isOneThread(RegId predicate) const {
    const InstrId id = definition_[predicate.value];
    if (!id.valid() || f_[id].is(Instruction::Guarded)) return false;
    const OpcodeForm& form = module_.form(f_[id]);
    if (form.op != Op::Setp || !form.hasOnly(field::Comparison)) return false;
    if (form.comparison != ComparisonOperator::Eq && form.comparison != ComparisonOperator::Ne) return false;
    const auto operands = f_.operandsOf(f_[id]);
    return operands.size() == 3 && isThreadNumber(operands[1]) && operands[2].kind == OperandKind::Integer &&
           static_cast<int32_t>(operands[2].payload) == 0;
  }

  bool isThreadNumber(const Operand& o) const {
    if (o.kind == OperandKind::SpecialRegister) return module_.text(NameId(o.payload)) == "%tid.x";
    if (!o.isRegister() || o.flags != 0) return false;
    const InstrId id = definition_[o.payload];
    if (!id.valid() || f_[id].is(Instruction::Guarded)) return false;
    const auto operands = f_.operandsOf(f_[id]);
    return module_.form(f_[id]).op == Op::Mov && operands.size() == 2 && !operands[1].isRegister() &&
           isThreadNumber(operands[1]);
  }

  // Whether control comes to the block only by one side of a branch that one thread, or all but one, takes.
  bool isSideOfBranch(BlockId b) const {
    const Cfg& cfg = analyses_.cfg();
    const auto from = cfg.predecessors(b);
    if (from.size() != 1) return false;
    const Instruction& branch = f_[cfg[from[0]].last];
    return branch.isInstruction() && module_.form(branch).op == Op::Bra && branch.is(Instruction::Guarded) &&
           cfg.successors(from[0]).size() == 2 && isOneThread(f_.operandsOf(branch)[0].reg());
  }

  const Module& module_;
  const Function& f_;
  Analyses& analyses_;
  Findings& findings_;
  std::vector<InstrId> definition_;  // by RegId; of those that one instruction writes
};

}  // namespace

void checkFlow(const Module& module, Findings& findings) {
  for (const Function& f : module.functions) {
    if (!f.hasBody) continue;
    Analyses analyses(module, f);
    if (!analyses.cfg().complete()) continue;
    checkUninitialised(module, f, analyses, findings);
    checkUnreachable(module, f, analyses.cfg(), findings);
    DivergentBarriers(module, f, analyses, findings).check();
  }
}

}  // namespace ptxopt::check
