#include "passes/lsr/address_operands.h"

#include <algorithm>

namespace ptxopt {
namespace {

// Whether `.word` is among the modifiers, perhaps with `::cta` and its like.
bool names(std::string_view opcode, std::string_view word) {
  const std::size_t at = opcode.find(word), end = at + word.size();
  return at != std::string_view::npos && (end == opcode.size() || opcode[end] == '.' || opcode[end] == ':');
}

MemorySpace spaceOf(std::string_view base, std::string_view opcode, bool isFirst) {
  // First to shared memory, then from global memory.
  if (base == "cp") return isFirst ? MemorySpace::Shared : MemorySpace::Global;
  if (base == "ldmatrix") return MemorySpace::Shared;  // where no space is said, too
  if (names(opcode, ".global")) return MemorySpace::Global;
  if (names(opcode, ".shared")) return MemorySpace::Shared;
  if (names(opcode, ".local")) return MemorySpace::Local;
  if (names(opcode, ".const")) return MemorySpace::Constant;
  return names(opcode, ".param") ? MemorySpace::Other : MemorySpace::Generic;
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

std::vector<AddressOperand> addressOperands(const Module& module, const Function& f, const Instruction& i) {
  constexpr std::string_view kPlain[] = {"ld", "ldu", "st", "atom", "red", "prefetch", "prefetchu", "ldmatrix"};
  std::vector<AddressOperand> found;
  if (!i.isInstruction()) return found;
  const auto operands = f.operandsOf(i);
  const auto isMemory = [](const Operand& o) { return o.kind == OperandKind::Memory; };
  if (std::ranges::none_of(operands, isMemory)) return found;
  const OpcodeForm& form = module.form(i);
  if (form.row == nullptr || form.is(effect::Unknown)) return found;
  const std::string_view base = form.row->base(), opcode = module.text(form.text);
  const bool isCopy = opcode.starts_with("cp.async.ca.") || opcode.starts_with("cp.async.cg.");
  if (!isCopy && (form.is(effect::Async) || std::ranges::find(kPlain, base) == std::end(kPlain))) return found;
  bool isFirst = true;
  for (uint32_t k = 0; k < operands.size(); ++k) {
    if (!isMemory(operands[k])) continue;
    AddressOperand a{.operand = k + 1, .space = spaceOf(base, opcode, isFirst)};
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
  return found;
}

}  // namespace ptxopt
