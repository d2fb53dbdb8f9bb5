// One switch says which opcodes are plain accesses and another in which space each bracket lies. A bracket with more
// than a register and a literal is passed over.
#include "passes/addressing/address_operands.h"

#include <algorithm>

namespace ptxopt {
namespace {

MemorySpace spaceOf(const OpcodeForm& form, bool isFirst) {
  // First to shared memory, then from global memory.
  if (form.op == Op::CpAsync) return isFirst ? MemorySpace::Shared : MemorySpace::Global;
  if (form.op == Op::Ldmatrix) return MemorySpace::Shared;  // where no space is said, too
  switch (form.space) {
    case StateSpace::None: return MemorySpace::Generic;
    case StateSpace::Global: return MemorySpace::Global;
    case StateSpace::Shared:
    case StateSpace::SharedCta:
    case StateSpace::SharedCluster: return MemorySpace::Shared;
    case StateSpace::Local: return MemorySpace::Local;
    case StateSpace::Const: return MemorySpace::Constant;
    case StateSpace::Param:
    case StateSpace::ParamEntry:
    case StateSpace::ParamFunc: break;
  }
  return MemorySpace::Other;
}

}  // namespace

std::string_view name(MemorySpace space) {
  switch (space) {
    case MemorySpace::Generic: return "generic";
    case MemorySpace::Global: return "global";
    case MemorySpace::Shared: return "shared";
    case MemorySpace::Local: return "local";
    case MemorySpace::Constant: return "const";
    case MemorySpace::Other: break;
  }
  return "other";
}

bool mayHaveAddresses(Op op) {
  switch (op) {
    case Op::Ld:
    case Op::Ldu:
    case Op::St:
    case Op::StBulk:
    case Op::Atom:
    case Op::Red:
    case Op::Prefetch:
    case Op::Prefetchu:
    case Op::Ldmatrix:
    case Op::CpAsync: return true;
    default: return false;
  }
}

std::vector<AddressOperand> addressOperands(const Module& module, const Function& f, const Instruction& i) {
  std::vector<AddressOperand> found;
  addressOperands(module, f, i, found);
  return found;
}

void addressOperands(const Module& module, const Function& f, const Instruction& i,
                     std::vector<AddressOperand>& found) {
  found.clear();
  if (!i.isInstruction()) return;
  const OpcodeForm& form = module.form(i);
  if (!mayHaveAddresses(form.op)) return;
  const auto operands = f.operandsOf(i);
  const auto isMemory = [](const Operand& o) { return o.kind == OperandKind::Memory; };
  bool isFirst = true;
  for (uint32_t k = 0; k < operands.size(); ++k) {
    if (!isMemory(operands[k])) continue;
    AddressOperand a{.operand = k + 1, .space = spaceOf(form, isFirst)};
    isFirst = false;
    const uint32_t inside = operands[k].inside();
    if (inside < 1 || inside > 2) continue;
    const Operand& reg = operands[k + 1];
    if (!reg.isRegister() || reg.role != Role::Use || reg.flags != 0) continue;
    if (inside == 2) {
      const Operand& o = operands[k + 2];
      const auto bits = immediate(f, o);
      if (!bits || (o.join != Join::Plus && o.join != Join::Minus)) continue;
      a.immediate = static_cast<int64_t>(o.join == Join::Minus ? ~*bits + 1 : *bits);
    }
    found.push_back(a);
  }
}

}  // namespace ptxopt
