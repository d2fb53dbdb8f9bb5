#include "passes/arithmetic/wide/edits.h"

#include <algorithm>

namespace ptxopt {

void Edits::note(InstrId at, SynthOpcode opcode, std::initializer_list<Operand> operands, bool isNew) {
  Edit e{at, opcode, isNew, static_cast<uint8_t>(operands.size()), {}};
  std::copy(operands.begin(), operands.end(), e.operands.begin());
  edits_.push_back(e);
}

void Edits::apply(const Module& module, Function& f) {
  std::vector<RegId> made(types_.size());
  std::vector<Operand> with;
  for (const Edit& e : edits_) {
    with.clear();
    if (!e.isNew) {
      // The guard and the result.
      const auto old = f.operandsOf(f[e.at]);
      const std::size_t kept = f[e.at].is(Instruction::Guarded) ? 2 : 1;
      with.assign(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(kept));
      if (old.size() > kept && old[kept].join == Join::Pipe) with.push_back(old[kept]);  // p|q
    }
    for (std::size_t k = 0; k < e.count; ++k) {
      Operand o = e.operands[k];
      if (o.isRegister() && (o.payload & kTemporary) != 0) {
        RegId& r = made[o.payload & ~kTemporary];
        if (!r.valid()) r = f.makeRegister(types_[o.payload & ~kTemporary]);
        o.payload = r.value;
      }
      with.push_back(o);
    }
    if (e.isNew) {
      f.insert(e.at, module.synthOpcode(e.opcode), with);
    } else {
      f[e.at].payload = module.synthOpcode(e.opcode).value;
      f.setOperands(e.at, with);
    }
  }
}

}  // namespace ptxopt
