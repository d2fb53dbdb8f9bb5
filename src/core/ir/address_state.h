// What is known of a 64-bit value as an address. See analysis/addresses/address_spaces.h, which finds it.
//
// A lattice, from below: None, Number, the spaces, Mixed, the two kinds of parameters, Unknown.
//
// Global is certain or assumed. It is certain of what variables of .global and `.ptr .global` parameters give. It is
// assumed of what the host passed or memory held at the launch: such a pointer is accessed as global memory, but may be
// the generic address of a constant variable, which is the number of a global address as well. So an assumed Global
// says how to access memory, and proves only that the address is none of shared or local memory.
#pragma once

#include <cstdint>

namespace ptxopt {

enum class AddressKind : uint8_t {
  None,    // nobody wrote it
  Number,  // no address of a variable: an offset, an index, null
  // Generic addresses in a space, and numbers (null).
  Global,
  Shared,
  Local,
  Const,
  // Addresses as the space itself counts them. Those of global memory are Global.
  SharedOffset,
  LocalOffset,
  ConstOffset,
  // The space is unknown, and why.
  Mixed,              // addresses of several spaces meet
  FunctionParameter,  // of a function whose calls are not all known
  LaunchedParameter,  // of a kernel that device code may launch, or kernel parameters are not to be taken as global
  Unknown,
};

struct AddressState {
  AddressKind kind = AddressKind::None;
  bool mayBeNumber = false;  // of an address: null or another number as well
  bool isAssumed = false;    // of Global

  friend bool operator==(AddressState, AddressState) = default;
};
inline constexpr AddressState kNumberAddress{AddressKind::Number}, kUnknownAddress{AddressKind::Unknown},
    kAssumedGlobal{AddressKind::Global, true, true};

constexpr bool isSpace(AddressKind k) { return k >= AddressKind::Global && k <= AddressKind::Const; }
// Whether it lies in no memory but global memory.
constexpr bool isCertainlyGlobal(AddressState s) { return s.kind == AddressKind::Global && !s.isAssumed; }

// What holds of a value that is one or the other.
constexpr AddressState join(AddressState a, AddressState b) {
  if (a.kind == AddressKind::None) return b;
  if (b.kind == AddressKind::None) return a;
  const bool mayBeNumber =
      a.mayBeNumber || b.mayBeNumber || a.kind == AddressKind::Number || b.kind == AddressKind::Number;
  if (a.kind > b.kind) {
    const AddressState c = a;
    a = b;
    b = c;
  }
  if (b.kind == AddressKind::Number) return {b.kind, false};
  if (a.kind == b.kind || a.kind == AddressKind::Number) return {b.kind, mayBeNumber, a.isAssumed || b.isAssumed};
  if (b.kind < AddressKind::Mixed) return {AddressKind::Mixed, mayBeNumber};
  return {a.kind <= AddressKind::Mixed ? b.kind : AddressKind::Unknown, mayBeNumber};
}

}  // namespace ptxopt
