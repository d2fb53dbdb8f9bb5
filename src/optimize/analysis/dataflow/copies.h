// Which instructions only copy a register to a register, and what stands in the way of taking them as one.
//
// A copy gives its destination the bits of its source, unchanged and all of them, in registers of one width. The
// families differ in what joining the two registers asks for:
//   Plain       mov within one class, between registers whose declared types mean the same to every instruction
//   Retyped     mov within one class, where the declared types differ (.b32 and .f16x2) or the mov is typed
//               otherwise than they are
//   CrossClass  mov between an integer and a floating-point class of one width (.b32 and .f32): ptxas decides by
//               the declared type what an instruction may do with a register, so the joined one must be declared
//               .bN
//   Convert     cvt between equal formats, without rounding, saturation or flushing: it changes no bit
//   Address     cvta of an address that is the same in both spaces: cvta.global and cvta.to.global
//   Select      selp between a register and itself
//   Vector      one lane of a mov of vectors: mov.v2.b32 {a, b}, {x, y}
//   Unpack      one lane of `mov.b64 {a, b}, d` where d was made by `mov.b64 d, {x, y}`: a copies x
//   Pack        `mov.b64 d2, {a, b}` of what `mov.b64 {a, b}, d` left: d2 copies d
// The last two read their source where an instruction before them read it (coalescing/pack_copies.h finds them).
#pragma once

#include <optional>
#include <vector>

#include "ir/module.h"

namespace ptxopt {

enum class CopyFamily : uint8_t { Plain, Retyped, CrossClass, Convert, Address, Select, Vector, Unpack, Pack };
inline constexpr std::size_t kCopyFamilies = 9;
std::string_view name(CopyFamily family);

struct Copy {
  InstrId instruction;
  RegId to, from;
  CopyFamily family = CopyFamily::Plain;
  bool isGuarded = false;  // it happens, or `to` keeps what it has
  // Unpack, Pack: the instruction that read `from`, and a register that holds the value, or it and others packed,
  // when the copy reads it.
  InstrId readAt;
  RegId via;

  InstrId source() const { return readAt.valid() ? readAt : instruction; }
  bool isAcross() const { return readAt.valid(); }
  // Whether the instruction may make other copies as well.
  bool isLane() const { return family == CopyFamily::Vector || family == CopyFamily::Unpack; }

  friend bool operator==(const Copy&, const Copy&) = default;
};

// The copy of one register that an instruction makes; nothing when it is none.
std::optional<Copy> readCopy(const Module& module, const Function& function, InstrId id);

// The only instructions that make copies.
inline bool mayCopy(Op op) { return op == Op::Mov || op == Op::Cvt || op == Op::Cvta || op == Op::Selp; }

// Adds the copies that an instruction makes: one, or several lane by lane.
void readCopies(const Module& module, const Function& function, InstrId id, std::vector<Copy>& copies);

// Whether copies into and out of a register are looked for: not of 8 and 128 bits, vectors and handles.
bool takesPartInCopies(const Register& r);

// Whether two declared types of one class mean the same to every instruction: .b32, .u32 and .s32 do, .f16x2 does
// not.
bool areInterchangeable(ScalarType a, ScalarType b);

}  // namespace ptxopt
