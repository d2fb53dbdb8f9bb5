// The semantics of cvt on one value: from the bits of one type to the bits of another.
//
// An instruction resolves its conversion once, when it is decoded, and calls the function for every lane with the
// same mode:
//     ConvertFunction f = resolveConversion(from, to, mode);   // nullptr: PTX has no such conversion
//     result = f(bits, mode);
// Values travel in 64 bits. Only the low bits of a source's type count. A result of a signed integer type is
// sign extended to 64 bits, every other one zero extended (what cvt does in a register wider than its type).
//
// Integer types are in convert_integer.h (with cvt.pack), floating-point ones in convert_float.h, packed and
// stochastic forms in convert_narrow.h; loops over lanes that are worth it find the commonest conversions inline in
// convert_fast.h.
//
// Declined (nullptr): every combination of types and modifiers that PTX 9.0 does not have, .rs (convert_narrow.h),
// and the fixed-point .s2f6x2 and the scaled forms of later versions. Not checked: whether a rounding is written
// where PTX demands one or forbids it (widening ignores it), and the target architecture.
#pragma once

#include <cstdint>

#include "exec/value/convert_float.h"
#include "exec/value/convert_format.h"
#include "exec/value/convert_integer.h"

namespace ptxopt::exec {

using ConvertFunction = uint64_t (*)(uint64_t bits, ConvertMode mode);

// fp8, fp6, fp4 and ue8m0 are one element here, not a pair.
ConvertFunction resolveConversion(ScalarFormat from, ScalarFormat to, ConvertMode mode);

// One value; the conversion must exist.
uint64_t convert(uint64_t bits, ScalarFormat from, ScalarFormat to, ConvertMode mode);

}  // namespace ptxopt::exec
