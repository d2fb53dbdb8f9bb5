// Sweeps in the order of the text take registers out of the guess until nothing changes. The last walk asks whether an
// instruction of interest may write such a value.
#include "analysis/values/launch_registers.h"

#include <algorithm>
#include <utility>
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
      : module_(module), f_(f), cfg_(cfg), states_(f.registers.size()), isExcluded_(f.instructions.size()) {
    // Nobody knows what is on entry in parameters, and in what is never written.
    std::vector<uint8_t> isWritten(f.registers.size());
    for (const InstrId id : f_)
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && o.writes()) isWritten[o.payload] = 1;
    for (std::size_t r = 0; r < states_.size(); ++r)
      if (f_.registers[r].isParameter || isWritten[r] == 0) states_[r].isOther = true;
  }

  bool run(InstructionFilter isOfInterest) {
    bool hasOne = true;
    bool hasShrunk = true;
    for (unsigned sweep = 0; sweep < kMostSweeps && hasOne && hasShrunk; ++sweep) {
      hasOne = hasShrunk = false;
      for (uint32_t b = 0; b < cfg_.size(); ++b) {
        ++block_;
        for (InstrId id = cfg_[BlockId(b)].first; id.valid(); id = f_[id].next) {
          const Instruction& i = f_[id];
          const auto operands = f_.operandsOf(i);
          const bool may = isExcluded_[id.value] == 0 && mayWriteOne(i, operands);
          hasOne |= may && isOfInterest(module_.form(i), operands);
          if (!may) isExcluded_[id.value] = 1;
          for (const Operand& o : operands)
            if (o.isRegister() && o.writes()) hasShrunk |= write(states_[o.payload], may);
          if (id == cfg_[BlockId(b)].last) break;
        }
      }
    }
    return hasOne;
  }

 private:
  static constexpr unsigned kMostSweeps = 4;

  struct State {
    bool isOther = false;     // an instruction writes it, but not such a value
    uint32_t holdsOneIn = 0;  // the number of the block, in all sweeps, in which it was written and holds one
  };

  // Whether less is taken to be one than before.
  bool write(State& s, bool may) const {
    s.holdsOneIn = may ? block_ : 0;
    return !may && !std::exchange(s.isOther, true);
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

  // For a register that is read.
  bool mayBeOne(const Operand& o) const {
    if (!o.isRegister() || !o.reads()) return true;
    const State& s = states_[o.payload];
    return !s.isOther || s.holdsOneIn == block_;
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
  std::vector<State> states_;        // by register
  std::vector<uint8_t> isExcluded_;  // by instruction: whether it writes none
  uint32_t block_ = 0;
};

}  // namespace

bool mayWriteLaunchValue(const Module& module, const Function& function, const Cfg& cfg,
                         InstructionFilter isOfInterest) {
  return RegisterGuess(module, function, cfg).run(isOfInterest);
}

}  // namespace ptxopt
