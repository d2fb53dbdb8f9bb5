#include "analysis/values/launch_registers.h"

#include <algorithm>
#include <vector>

#include "analysis/values/launch_values.h"
#include "analysis/values/plain_operands.h"
#include "analysis/values/uniform_registers.h"
#include "ir/opcode_predicates.h"

namespace ptxopt {
namespace {

class RegisterGuess {
 public:
  RegisterGuess(const Module& module, const Function& f, const Cfg& cfg)
      : module_(module), f_(f), cfg_(cfg), states_(f.registers.size()), isFound_(f.instructions.size()) {
    for (const InstrId id : f_)
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && o.writes()) ++states_[o.payload].others;
    // Nobody knows what is in these on entry.
    for (std::size_t r = 0; r < states_.size(); ++r)
      if (f_.registers[r].isParameter || states_[r].others == 0) ++states_[r].others;
  }

  bool run(InstructionFilter isOfInterest) {
    for (unsigned sweep = 0; sweep < kMostSweeps; ++sweep) {
      bool hasGrown = false;
      for (uint32_t b = 0; b < cfg_.size(); ++b) {
        ++block_;
        for (InstrId id = cfg_[BlockId(b)].first; id.valid(); id = f_[id].next) {
          const Instruction& i = f_[id];
          const auto operands = f_.operandsOf(i);
          const bool isNew = isFound_[id.value] == 0;
          const bool may = !isNew || mayWriteOne(i, operands);
          if (may && isOfInterest(module_.form(i), operands)) return true;
          hasGrown |= may && isNew;
          if (may) isFound_[id.value] = 1;
          for (const Operand& o : operands)
            if (o.isRegister() && o.writes()) write(states_[o.payload], may, isNew);
          if (id == cfg_[BlockId(b)].last) break;
        }
      }
      if (!hasGrown) break;
    }
    return false;
  }

 private:
  static constexpr unsigned kMostSweeps = 3;

  struct State {
    uint32_t others = 0;      // instructions that write it, but not such a value
    uint32_t holdsOneIn = 0;  // the number of the block, in all sweeps, in which it was written and holds one
  };

  void write(State& s, bool may, bool isNew) const {
    s.holdsOneIn = may ? block_ : 0;
    if (may && isNew) --s.others;
  }

  bool mayWriteOne(const Instruction& i, std::span<const Operand> operands) const {
    if (!i.isInstruction() || i.is(Instruction::Guarded)) return false;
    const OpcodeForm& form = module_.form(i);
    if (form.op == Op::Shfl) {  // its lane and its mask do not matter
      const PlainOperands plain(operands);
      return plain.single(1) != nullptr && mayBeOne(*plain.single(1)) && form.knowsOperands() &&
             isUniformOrRegister(*plain.single(1), false);
    }
    if (!std::ranges::all_of(operands, [&](const Operand& o) { return mayBeOne(o); }) || !isFollowed(form))
      return false;
    const bool loadsParameter = f_.isEntry && isParameterLoad(form);
    return std::ranges::all_of(operands, [&](const Operand& o) { return isUniformOrRegister(o, loadsParameter); });
  }

  // Of a register that is read.
  bool mayBeOne(const Operand& o) const {
    if (!o.isRegister() || !o.reads()) return true;
    const State& s = states_[o.payload];
    return s.others == 0 || s.holdsOneIn == block_;
  }
  bool isUniformOrRegister(const Operand& o, bool loadsParameter) const {
    return o.isRegister() || isUniformSource(module_, f_, o, loadsParameter);
  }

  static bool isFollowed(const OpcodeForm& form) {
    return form.knowsOperands() &&
           (form.op == Op::Mov || form.op == Op::Ld || isConstantLoad(form) || LaunchValues::isComputation(form));
  }

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  std::vector<State> states_;     // by register
  std::vector<uint8_t> isFound_;  // by instruction: whether it may write one
  uint32_t block_ = 0;
};

}  // namespace

bool mayWriteLaunchValue(const Module& module, const Function& function, const Cfg& cfg,
                         InstructionFilter isOfInterest) {
  return RegisterGuess(module, function, cfg).run(isOfInterest);
}

}  // namespace ptxopt
