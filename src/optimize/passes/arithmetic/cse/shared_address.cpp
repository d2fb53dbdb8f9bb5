// An address is read from its bracket, or from a register's scalar evolution, split into a base and a constant. Two
// with one base are compared by their distance modulo 2^32. Others are apart where both lie inside their variables,
// which must have a size that no other module changes.
#include "passes/arithmetic/cse/shared_address.h"

namespace ptxopt::cse {
namespace {

std::optional<MemoryAddress> named(const Operand& o, uint64_t offset) {
  if (o.flags != 0) return std::nullopt;
  if (o.kind == OperandKind::Variable) return MemoryAddress{MemoryAddress::Base::Variable, o.payload, offset};
  if (o.kind == OperandKind::Symbol) return MemoryAddress{MemoryAddress::Base::Symbol, o.payload, offset};
  return std::nullopt;
}

}  // namespace

std::optional<MemoryAddress> MemoryAddresses::of(InstrId at, uint32_t operand) {
  const auto operands = f_.operandsOf(f_[at]).subspan(operand);
  const uint32_t inside = operands[0].inside();
  if (operands[0].kind != OperandKind::Memory || inside < 1 || inside > 2) return std::nullopt;
  uint64_t offset = 0;
  if (inside == 2) {
    const Operand& o = operands[2];
    const auto bits = immediate(f_, o);
    if (!bits || (o.join != Join::Plus && o.join != Join::Minus)) return std::nullopt;
    offset = o.join == Join::Minus ? ~*bits + 1 : *bits;
  }
  const Operand& base = operands[1];
  if (const auto address = named(base, offset)) return address;
  if (!base.isRegister() || base.role != Role::Use || base.flags != 0) return std::nullopt;
  const ExprId e = evolution_.read(base.reg(), at);
  if (!e.valid()) return std::nullopt;
  ScevExpressions& expressions = evolution_.expressions();
  const unsigned width = expressions[e].width;
  if (expressions.isConstant(e)) return std::nullopt;
  const ExprId rest = expressions.withoutConstant(e);
  offset = maskTo(offset + expressions.constantPart(e), width);
  if (const Expr& n = expressions[rest]; n.kind == ExprKind::Value) {
    if (const InstrId definition = evolution_.constantDefinition(n.reg(), n.value()); definition.valid()) {
      const auto sources = f_.operandsOf(f_[definition]);
      if (sources.size() == 2 && module_.form(f_[definition]).op == Op::Mov)
        if (const auto address = named(sources[1], static_cast<uint64_t>(signedAt(offset, width)))) return address;
    }
  }
  return MemoryAddress{MemoryAddress::Base::Expression, rest.value, offset};
}

const Variable* MemoryAddresses::variable(const MemoryAddress& a) const {
  if (a.base == MemoryAddress::Base::Variable) return &f_.variables[a.id];
  if (a.base != MemoryAddress::Base::Symbol) return nullptr;
  const Symbol& s = module_.symbols[a.id];
  return s.kind == SymbolKind::Variable ? &module_.variables[s.index] : nullptr;
}

bool MemoryAddresses::isInside(const MemoryAddress& a, unsigned bytes) const {
  const Variable* const v = variable(a);
  if (v == nullptr) return false;
  const DeclarationForm& declaration = module_.declarationForms[v->form];
  const std::string_view text = module_.text(declaration.text);
  for (const std::string_view word : {"extern", "weak", "common"})
    if (text.find(word) != std::string_view::npos) return false;
  const uint64_t size = v->declarator.elements * (info(declaration.type).bits / 8) * declaration.lanes;
  return v->declarator.elements < (uint64_t{1} << 32) && a.offset < size && bytes <= size - a.offset;
}

bool MemoryAddresses::areApart(const MemoryAddress& a, unsigned bytesOfA, const MemoryAddress& b,
                               unsigned bytesOfB) const {
  if (a.base == b.base && a.id == b.id) {
    // The lower half of the address is what counts, and it wraps.
    const auto ahead = static_cast<uint32_t>(b.offset - a.offset);
    return ahead >= bytesOfA && ~ahead + 1 >= bytesOfB;
  }
  return isInside(a, bytesOfA) && isInside(b, bytesOfB);
}

}  // namespace ptxopt::cse
