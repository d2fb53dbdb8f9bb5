// Which instructions only copy a register to a register, and what stands in the way of taking them as one.
//
// A copy gives its destination the bits of its source, unchanged and all of them, in registers of one width. The
// families differ in what joining the two registers asks for:
//   Plain       mov within one class, between registers whose declared types mean the same to every instruction
//   Retyped     mov within one class, where the declared types differ (.b32 and .f16x2) or the mov is typed
//               otherwise than they are
//   CrossClass  mov between an integer and a floating-point class of one width (.b32 and .f32): ptxas decides by
//   the
//               declared type what an instruction may do with a register, so the joined one must be declared .bN
//   Convert     cvt between equal formats, without rounding, saturation or flushing: it changes no bit
//   Address     cvta of an address that is the same in both spaces: cvta.global and cvta.to.global
// Packing, unpacking and copies through .param memory move registers as well, but not one to one.
#pragma once

#include <optional>

#include "ir/module.h"

namespace ptxopt {

enum class CopyFamily : uint8_t { Plain, Retyped, CrossClass, Convert, Address };
inline constexpr std::size_t kCopyFamilies = 5;
std::string_view name(CopyFamily family);

struct Copy {
  InstrId instruction;
  RegId to, from;
  CopyFamily family = CopyFamily::Plain;
  bool isGuarded = false;  // it happens, or `to` keeps what it has
};

// The copy that an instruction makes; nothing when it is none.
std::optional<Copy> readCopy(const Module& module, const Function& function, InstrId id);

// Whether two declared types of one class mean the same to every instruction: .b32, .u32 and .s32 do, .f16x2 does
// not.
bool areInterchangeable(ScalarType a, ScalarType b);

}  // namespace ptxopt
