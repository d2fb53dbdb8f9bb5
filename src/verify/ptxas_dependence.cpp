#include "verify/ptxas_dependence.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/values/plain_operands.h"
#include "ir/stored_numbers.h"

namespace ptxopt::verify {
namespace {

// FILE:LINE:COL
std::string placeOf(const Module& module, std::size_t offset) {
  const std::string_view before = std::string_view(module.source).substr(0, offset);
  const std::size_t lineStart = before.rfind('\n') + 1;  // 0 where there is none
  return fmt::format("{}:{}:{}", module.fileName, 1 + std::ranges::count(before, '\n'), offset - lineStart + 1);
}

// A position or length above 255, of 64 bits.
bool hasWideField(const Module& module, const Function& f, const Instruction& i) {
  const OpcodeForm& form = module.form(i);
  if ((form.op != Op::Bfe && form.op != Op::Bfi) || info(form.type).bits != 64) return false;
  const PlainOperands operands(f.operandsOf(i));
  for (std::size_t k = operands.size() < 2 ? 0 : operands.size() - 2; k < operands.size(); ++k) {
    const Operand* const o = operands.single(k);
    if (o == nullptr) continue;
    if (const auto value = immediate(f, *o); value && static_cast<uint32_t>(*value) > 0xFF) return true;
  }
  return false;
}

// The kernel, and the functions with a body that it and these name.
std::vector<const Function*> namedBy(const Module& module, const Function& kernel) {
  std::vector<const Function*> all{&kernel};
  std::vector<bool> isSeen(module.functions.size());
  isSeen[kernel.index] = true;
  for (std::size_t k = 0; k < all.size(); ++k)
    for (const InstrId id : *all[k])
      for (const Operand& o : all[k]->operandsOf((*all[k])[id])) {
        if (o.kind != OperandKind::Symbol || module.symbols[o.payload].kind != SymbolKind::Function) continue;
        const NameId name = module.functions[module.symbols[o.payload].index].name;
        for (const Function& f : module.functions) {
          if (f.name != name || !f.hasBody || isSeen[f.index]) continue;
          isSeen[f.index] = true;
          all.push_back(&f);
        }
      }
  return all;
}

}  // namespace

std::vector<std::string> ptxasDependences(const Module& module, const Function& kernel) {
  std::vector<std::string> lines;
  for (const Function* f : namedBy(module, kernel)) {
    if (const InstrId store = findNarrowNumberStore(module, *f); store.valid())
      lines.push_back(
          fmt::format("{}: the low bits are stored, as the PTX ISA says; some ptxas convert what may be a "
                      "floating-point number [narrow-number-store]",
                      placeOf(module, (*f)[store].sourceBegin)));
    for (const InstrId id : *f) {
      if (!(*f)[id].isInstruction() || !hasWideField(module, *f, (*f)[id])) continue;
      lines.push_back(
          fmt::format("{}: the lowest byte of the position and of the length counts, as the PTX ISA says; ptxas "
                      "takes all bits [wide-field]",
                      placeOf(module, (*f)[id].sourceBegin)));
      break;
    }
  }
  return lines;
}

}  // namespace ptxopt::verify
