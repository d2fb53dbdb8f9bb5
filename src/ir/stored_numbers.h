// Which registers a store narrower than they are stores a part of, and which of them may hold numbers.
//
// ptxas gives a value the type of the instruction that makes it, not that of its register: ld.f32, add.f32 and mov.f32
// make a number, ld.b32, and.b32 and mov.b32 make bits, also where the one goes to a .b32 register and the other to an
// .f32 one. An instruction that names no type of a result (shfl, a call) makes what its register, or the function,
// declares. A store that is narrower than its register stores the low bits of bits, and a number converted: `st.u8 [a],
// %r1` after `ld.f32 %r1` is F2I.U8 (rounded to zero, saturated), and after `ld.f32 %f1` and `mov.b32 %r1, %f1` it is the
// lowest byte. So does `st.f32` of 64 bits: an integer becomes a float, and a double one too. Only stores do so (st,
// st.param, sust); conversions, shifts and all the others take bits. (Read from the machine code that ptxas 13.0 makes
// for sm_80, sm_90 and sm_120.)
//
// It knows this within a block only. Where ways join, and after every label and branch, a register holds what it is
// declared for: bits a .b32 one, also where an add.f32 on each way wrote it, and a number an .f32 one, also after ld.b32.
// Guarded stores, calls, barriers, votes, fences and divisions end a block for ptxas, too; other guarded instructions and
// atomics do not.
//
// So a pass that moves such a store to another register, or removes or inserts a copy before it, changes what is stored
// if one of the values is a number. What passes ask here is by register, and in the doubt a value is a number.
// Cost: linear in the operands.
#pragma once

#include <span>
#include <vector>

#include "ir/module.h"

namespace ptxopt {

struct StoredNumbers {
  std::vector<bool> isStoredNarrowly;  // by RegId
  std::vector<bool> mayBeNumber;       // by RegId; looked for only where some register is stored narrowly
  bool operator==(const StoredNumbers&) const = default;
};

// Whether an instruction of this form stores less than the whole register, which is one of its data operands.
bool storesNarrowly(const OpcodeForm& form, const Register& r);
// Whether the value that an instruction of this form writes to the register may have a floating-point type.
bool mayMakeNumber(const OpcodeForm& form, const Register& r);

// Whether an instruction of this form is a store that converts numbers.
bool mayStoreNumber(const OpcodeForm& form);

StoredNumbers findStoredNumbers(const Module& module, const Function& f);
// `stores`: those instructions of the function of which mayStoreNumber.
StoredNumbers findStoredNumbers(const Module& module, const Function& f, std::span<const InstrId> stores);

// What the instructions that write a register make it: `Number` where each makes one of `type`, which is as
// wide as the register, and `Bits` where each makes bits; `Unclear` where they differ, or one was not asked of ptxas.
struct HeldType {
  enum class Kind : uint8_t { Bits, Number, Unclear };
  Kind kind = Kind::Bits;
  ScalarType type = ScalarType::None;
  bool operator==(const HeldType&) const = default;
};
// By RegId.
std::vector<HeldType> findHeldTypes(const Module& module, const Function& f);
// What ptxas takes the register for at instruction `use`: what the block wrote last, or what the register is declared for.
// Unclear where it may have ended the block in between, and the two differ. Cost: linear in the instructions of the block.
HeldType heldTypeAt(const Module& module, const Function& f, const Instruction& use, RegId reg);

}  // namespace ptxopt
