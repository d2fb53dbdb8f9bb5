// An opcode is first classed as one of the operations on addresses; a function for each operation then gives the state
// of the result from those of its operands. Multiplying or shifting by 32 bits may make half an address and gives
// Unknown.
#include "analysis/addresses/address_arithmetic.h"

#include "ir/function.h"

namespace ptxopt {
namespace {

using Act = AddressOperation;

// Whether it is a number or may be one or else is a global address.
bool isPlain(AddressState s) { return s.kind <= AddressKind::Global; }
bool isTop(AddressState s) { return s.kind >= AddressKind::Mixed; }

// For several plain ones. What nobody wrote makes nothing.
AddressState mix(AddressState a, AddressState b) {
  if (!isPlain(a) || !isPlain(b)) return kUnknownAddress;
  if (a.kind == AddressKind::None || b.kind == AddressKind::None) return {};
  return a.kind == AddressKind::Global || b.kind == AddressKind::Global ? kAssumedGlobal : kNumberAddress;
}

AddressState difference(AddressState a, AddressState b) {
  if (isPlain(a) && isPlain(b)) {
    if (a.kind == AddressKind::Global && b.kind == AddressKind::Number) return a;
    return mix(a, b);
  }
  if (a.kind == AddressKind::None || b.kind == AddressKind::None) return {};
  if (b.kind == AddressKind::Number) return a;
  return !isTop(a) && a.kind == b.kind ? kNumberAddress : kUnknownAddress;
}

// A factor makes a number of what is not an address of a space for certain: nobody multiplies pointers.
AddressState product(AddressState a, AddressState b, std::optional<uint64_t> by) {
  if (a.kind == AddressKind::None || b.kind == AddressKind::None) return {};
  // By 2^32 it may be the upper half of an address that is put together, as with a shift.
  if (by && *by != 0 && static_cast<uint32_t>(*by) == 0) return kUnknownAddress;
  // By 1 it is what it was, an address or the distance of one; by -1, too, for what subtracts it.
  if ((by == 1 || by == UINT64_MAX) && (isTop(a) || isTop(b))) return kUnknownAddress;
  const auto isFactor = [](AddressState s) { return isPlain(s) || isTop(s); };
  return isFactor(a) && isFactor(b) ? kNumberAddress : kUnknownAddress;
}

// A shift takes the lowest 32 bits of a number.
AddressState shiftedLeft(AddressState a, std::optional<uint64_t> by) {
  if (a.kind == AddressKind::None) return {};
  // By 32 it may be the upper half of an address that is put together.
  if (!by || static_cast<uint32_t>(*by) >= 32) return kUnknownAddress;
  if (static_cast<uint32_t>(*by) == 0) return a;
  return isPlain(a) || isTop(a) ? kNumberAddress : kUnknownAddress;
}

AddressState shiftedRight(AddressState a, std::optional<uint64_t> by) {
  if (a.kind == AddressKind::None) return {};
  if (by && static_cast<uint32_t>(*by) >= 32) return kNumberAddress;
  if (by && static_cast<uint32_t>(*by) == 0) return a;
  return isPlain(a) ? kNumberAddress : kUnknownAddress;
}

bool hasWindow(AddressState s) {
  return s.kind == AddressKind::Shared || s.kind == AddressKind::Local || s.kind == AddressKind::SharedOffset ||
         s.kind == AddressKind::LocalOffset;
}

AddressState masked(AddressState a, AddressState b, std::optional<uint64_t> by) {
  if (a.kind == AddressKind::None || b.kind == AddressKind::None) return {};
  if (by && *by <= UINT32_MAX) return kNumberAddress;
  if (by && *by >= ~kWindowAlignment + 1 && hasWindow(a)) return a;
  return mix(a, b);
}

// mul.hi counts as mul.lo: of numbers either is a number.
AddressOperation productOperation(const OpcodeForm& form, AddressOperation ofWhole, AddressOperation ofWide) {
  if (form.half != ProductHalf::Wide) return canHoldPointer(form.type) ? ofWhole : Act::Other;
  return info(form.type).bits == 32 ? ofWide : Act::Other;
}

// For what is computed in 64 bits.
AddressOperation wholeOperation(const OpcodeForm& form) {
  switch (form.op) {
    case Op::Mov: return form.hasOnly(0) ? Act::Copy : Act::Other;
    case Op::Selp: return Act::Choose;
    case Op::Add: return Act::Add;
    case Op::Sub: return Act::Subtract;
    case Op::Shl: return Act::ShiftLeft;
    case Op::Shr: return Act::ShiftRight;
    case Op::And: return Act::And;
    case Op::Or: return Act::Or;
    case Op::Xor:
    case Op::Min:
    case Op::Max:
    case Op::Neg:
    case Op::Not:
    case Op::Div:
    case Op::Rem:
    case Op::Abs: return Act::Mix;
    default: return Act::Other;
  }
}

}  // namespace

AddressOperation addressOperation(const OpcodeForm& form) {
  if (form.has(ModifierFlag::CarryOut)) return Act::Other;
  switch (form.op) {
    case Op::Cvta:
      if (namedSpace(form) == AddressKind::None) return Act::Other;
      return form.has(ModifierFlag::To) ? Act::FromGeneric : Act::ToGeneric;
    case Op::Cvt:
      if (!form.hasOnly(0) || (form.type != ScalarType::u64 && form.type != ScalarType::s64)) return Act::Other;
      return canHoldPointer(form.sourceType) ? Act::Convert : Act::Narrow;
    case Op::Mul: return productOperation(form, Act::Multiply, Act::MultiplyWide);
    case Op::Mad: return productOperation(form, Act::MultiplyAdd, Act::MultiplyAddWide);
    default: return canHoldPointer(form.type) ? wholeOperation(form) : Act::Other;
  }
}

AddressKind namedSpace(const OpcodeForm& form) {
  if (form.op == Op::Cvta && form.type != ScalarType::u64) return AddressKind::None;
  switch (form.space) {
    case StateSpace::Global: return AddressKind::Global;
    case StateSpace::Shared:
    case StateSpace::SharedCta: return AddressKind::Shared;
    case StateSpace::Local: return AddressKind::Local;
    case StateSpace::Const: return AddressKind::Const;
    default: return AddressKind::None;
  }
}

AddressKind offsetKind(AddressKind space) {
  switch (space) {
    case AddressKind::Shared: return AddressKind::SharedOffset;
    case AddressKind::Local: return AddressKind::LocalOffset;
    case AddressKind::Const: return AddressKind::ConstOffset;
    default: return space;
  }
}

bool canHoldPointer(ScalarType t) { return t == ScalarType::b64 || t == ScalarType::u64 || t == ScalarType::s64; }
bool canHoldPointer(const Register& r) { return r.lanes == 1 && canHoldPointer(r.type); }

AddressState sumOf(AddressState a, AddressState b) {
  if (a.kind == AddressKind::None || b.kind == AddressKind::None) return {};
  if (a.kind == AddressKind::Number) return b;
  if (b.kind == AddressKind::Number) return a;
  return mix(a, b);
}

AddressState addressResult(AddressOperation operation, AddressState a, AddressState b, AddressState c,
                           std::optional<uint64_t> constant) {
  switch (operation) {
    case Act::Copy:
    case Act::Convert: return a;
    case Act::Choose: return join(a, b);
    case Act::Add: return sumOf(a, b);
    case Act::Subtract: return difference(a, b);
    case Act::Multiply: return constant == 1 ? a : product(a, b, constant);
    case Act::MultiplyAdd: return sumOf(product(a, b, constant), c);
    case Act::MultiplyWide:
    case Act::Narrow: return kNumberAddress;
    case Act::MultiplyAddWide: return sumOf(kNumberAddress, c);
    case Act::ShiftLeft: return shiftedLeft(a, constant);
    case Act::ShiftRight: return shiftedRight(a, constant);
    case Act::And: return masked(a, b, constant);
    case Act::Or: return constant && *constant < kWindowAlignment && hasWindow(a) ? a : mix(a, b);
    case Act::Mix: return mix(a, b);
    case Act::ToGeneric:
    case Act::FromGeneric:
    case Act::Other: break;
  }
  return kUnknownAddress;
}

}  // namespace ptxopt
