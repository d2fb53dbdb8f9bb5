#include "analysis/address_arithmetic.h"

namespace ptxopt {
namespace {

using Kind = AddressKind;
using Op = AddressOperation;

constexpr AddressState kNumber{Kind::Number, false}, kUnknown{Kind::Unknown, false};

// Whether it is a number or may be one or else is a global address.
bool isPlain(AddressState s) { return s.kind <= Kind::Global; }
bool isTop(AddressState s) { return s.kind >= Kind::Mixed; }

// Of several plain ones. What nobody wrote makes nothing.
AddressState mix(AddressState a, AddressState b) {
  if (!isPlain(a) || !isPlain(b)) return kUnknown;
  if (a.kind == Kind::None || b.kind == Kind::None) return {};
  return a.kind == Kind::Global || b.kind == Kind::Global ? AddressState{Kind::Global, true} : kNumber;
}

AddressState difference(AddressState a, AddressState b) {
  if (isPlain(a) && isPlain(b)) {
    if (a.kind == Kind::Global && b.kind == Kind::Number) return a;
    return mix(a, b);
  }
  if (a.kind == Kind::None || b.kind == Kind::None) return {};
  if (b.kind == Kind::Number) return a;
  return !isTop(a) && a.kind == b.kind ? kNumber : kUnknown;
}

// A factor makes a number of what is no address of a space for certain: nobody multiplies pointers.
AddressState product(AddressState a, AddressState b) {
  if (a.kind == Kind::None || b.kind == Kind::None) return {};
  const auto isFactor = [](AddressState s) { return isPlain(s) || isTop(s); };
  return isFactor(a) && isFactor(b) ? kNumber : kUnknown;
}

AddressState shiftedLeft(AddressState a, std::optional<uint64_t> by) {
  if (a.kind == Kind::None) return {};
  // By 32 it may be the upper half of an address that is put together.
  if (!by || *by >= 32) return kUnknown;
  if (*by == 0) return a;
  return isPlain(a) || isTop(a) ? kNumber : kUnknown;
}

AddressState shiftedRight(AddressState a, std::optional<uint64_t> by) {
  if (a.kind == Kind::None) return {};
  if (by && *by >= 32) return kNumber;
  if (by && *by == 0) return a;
  return isPlain(a) ? kNumber : kUnknown;
}

bool hasWindow(AddressState s) {
  return s.kind == Kind::Shared || s.kind == Kind::Local || s.kind == Kind::SharedOffset ||
         s.kind == Kind::LocalOffset;
}

AddressState masked(AddressState a, AddressState b, std::optional<uint64_t> by) {
  if (a.kind == Kind::None || b.kind == Kind::None) return {};
  if (by && *by <= UINT32_MAX) return kNumber;
  if (by && *by >= ~kWindowAlignment + 1 && hasWindow(a)) return a;
  return mix(a, b);
}

bool ends(std::string_view text, std::string_view with) { return text.ends_with(with); }

bool isWhole(std::string_view opcode) {
  return ends(opcode, ".u64") || ends(opcode, ".s64") || ends(opcode, ".b64");
}

}  // namespace

AddressOperation addressOperation(std::string_view opcode) {
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  if (base == "cvta") {
    if (namedSpace(opcode) == Kind::None) return Op::Other;
    return opcode.starts_with("cvta.to.") ? Op::FromGeneric : Op::ToGeneric;
  }
  if (base == "cvt") {
    if (!opcode.starts_with("cvt.u64.") && !opcode.starts_with("cvt.s64.")) return Op::Other;
    return isWhole(opcode) ? Op::Convert : Op::Narrow;
  }
  if (base == "mul" || base == "mad") {
    const bool adds = base == "mad";
    if (opcode.size() > 8 && opcode.substr(3, 6) == ".wide.")
      return ends(opcode, "32") ? (adds ? Op::MultiplyAddWide : Op::MultiplyWide) : Op::Other;
    if (!isWhole(opcode) || opcode.find(".cc") != opcode.npos) return Op::Other;
    return adds ? Op::MultiplyAdd : Op::Multiply;
  }
  if (!isWhole(opcode) || opcode.find(".cc.") != opcode.npos) return Op::Other;
  if (base == "mov") return opcode.size() == 7 ? Op::Copy : Op::Other;
  if (base == "selp") return Op::Choose;
  if (base == "add") return Op::Add;
  if (base == "sub") return Op::Subtract;
  if (base == "shl") return Op::ShiftLeft;
  if (base == "shr") return Op::ShiftRight;
  if (base == "and") return Op::And;
  if (base == "or") return Op::Or;
  if (base == "xor" || base == "min" || base == "max" || base == "neg" || base == "not" || base == "div" ||
      base == "rem" || base == "abs")
    return Op::Mix;
  return Op::Other;
}

AddressKind namedSpace(std::string_view opcode) {
  std::string_view rest = opcode.substr(opcode.find('.') + 1);
  if (rest.starts_with("to.")) rest.remove_prefix(3);
  const std::string_view space = rest.substr(0, rest.find('.'));
  if (opcode.starts_with("cvta") && !ends(opcode, ".u64")) return Kind::None;
  if (space == "global") return Kind::Global;
  if (space == "shared" || space == "shared::cta") return Kind::Shared;
  if (space == "local") return Kind::Local;
  if (space == "const") return Kind::Const;
  return Kind::None;
}

AddressKind offsetKind(AddressKind space) {
  switch (space) {
    case Kind::Shared: return Kind::SharedOffset;
    case Kind::Local: return Kind::LocalOffset;
    case Kind::Const: return Kind::ConstOffset;
    default: return space;
  }
}

AddressState sumOf(AddressState a, AddressState b) {
  if (a.kind == Kind::None || b.kind == Kind::None) return {};
  if (a.kind == Kind::Number) return b;
  if (b.kind == Kind::Number) return a;
  return mix(a, b);
}

AddressState addressResult(AddressOperation operation, AddressState a, AddressState b, AddressState c,
                           std::optional<uint64_t> constant) {
  switch (operation) {
    case Op::Copy:
    case Op::Convert: return a;
    case Op::Choose: return join(a, b);
    case Op::Add: return sumOf(a, b);
    case Op::Subtract: return difference(a, b);
    case Op::Multiply: return constant == 1 ? a : product(a, b);
    case Op::MultiplyAdd: return sumOf(product(a, b), c);
    case Op::MultiplyWide:
    case Op::Narrow: return kNumber;
    case Op::MultiplyAddWide: return sumOf(kNumber, c);
    case Op::ShiftLeft: return shiftedLeft(a, constant);
    case Op::ShiftRight: return shiftedRight(a, constant);
    case Op::And: return masked(a, b, constant);
    case Op::Or: return constant && *constant < kWindowAlignment && hasWindow(a) ? a : mix(a, b);
    case Op::Mix: return mix(a, b);
    case Op::ToGeneric:
    case Op::FromGeneric:
    case Op::Other: break;
  }
  return kUnknown;
}

}  // namespace ptxopt
