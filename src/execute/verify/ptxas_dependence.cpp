// The lines of a function are found once and kept. A kernel's functions are collected breadth first through the symbols
// that operands name, marked by the number of the search.
#include "verify/ptxas_dependence.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/values/plain_operands.h"
#include "ir/stored_numbers.h"

namespace ptxopt::verify {
namespace {

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

}  // namespace

PtxasDependences::PtxasDependences(const Module& module)
    : module_(module),
      definitions_(module),
      lineStarts_{0},
      lines_(module.functions.size()),
      seen_(module.functions.size()) {
  const std::string_view text = module.source;
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string_view::npos;) lineStarts_.push_back(++at);
}

std::vector<std::string> PtxasDependences::of(const Function& kernel) {
  std::vector<std::string> lines;
  for (const Function* f : namedBy(kernel)) lines.insert(lines.end(), linesOf(*f).begin(), linesOf(*f).end());
  return lines;
}

// FILE:LINE:COL
std::string PtxasDependences::placeOf(std::size_t offset) const {
  const auto next = std::ranges::upper_bound(lineStarts_, offset);
  return fmt::format("{}:{}:{}", module_.fileName, next - lineStarts_.begin(), offset - next[-1] + 1);
}

// The kernel, and the functions with a body that it and these name.
std::vector<const Function*> PtxasDependences::namedBy(const Function& kernel) {
  std::vector<const Function*> all{&kernel};
  seen_[kernel.index] = ++search_;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Function& f = *all[k];
    for (const InstrId id : f)
      for (const Operand& o : f.operandsOf(f[id])) {
        if (o.kind != OperandKind::Symbol || module_.symbols[o.payload].kind != SymbolKind::Function) continue;
        const Function* const named = definitions_.of(module_.functions[module_.symbols[o.payload].index]);
        if (named == nullptr || seen_[named->index] == search_) continue;
        seen_[named->index] = search_;
        all.push_back(named);
      }
  }
  return all;
}

const std::vector<std::string>& PtxasDependences::linesOf(const Function& f) {
  std::optional<std::vector<std::string>>& lines = lines_[f.index];
  if (lines) return *lines;
  lines.emplace();
  if (const InstrId store = findNarrowNumberStore(module_, f); store.valid())
    lines->push_back(
        fmt::format("{}: the low bits are stored, as the PTX ISA says; some ptxas convert what may be a "
                    "floating-point number [narrow-number-store]",
                    placeOf(f[store].sourceBegin)));
  for (const InstrId id : f) {
    if (!f[id].isInstruction() || !hasWideField(module_, f, f[id])) continue;
    lines->push_back(
        fmt::format("{}: the lowest byte of the position and of the length counts, as the PTX ISA says; ptxas "
                    "takes all bits [wide-field]",
                    placeOf(f[id].sourceBegin)));
    break;
  }
  return *lines;
}

}  // namespace ptxopt::verify
