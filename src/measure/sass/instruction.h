// A decoded machine instruction of NVIDIA's GPUs, sm_70 and newer ("SASS").
//
// What stands where in its 128 bits (bit 0 is the lowest of the first 64-bit word, little-endian):
//   0-11, 91   the opcode, 13 bits. On the highest bit, 91, forms differ that have an operand in a uniform register
//   12-15      the guard: 12-14 the predicate (7: PT, always true), 15 set: negated
//   105-108    stall: issue cycles until this warp's next instruction
//   109        clear: the scheduler prefers another warp after this one
//   110-112    the scoreboard that it sets until its results are written; 7: none
//   113-115    the scoreboard that it sets until its sources are read; 7: none
//   116-121    one bit for each scoreboard that it waits for
//   122-125    reuse: one bit for each source operand that stays in the operand cache
// Operands lie between, by opcode; only those of branches are decoded.
//
// Sources: the public project cicuvc/nvidia-sass-document (fields and opcodes of sm_90 and sm_100), Jia et al.,
// "Dissecting the NVIDIA Volta GPU architecture via microbenchmarking" (2018, control bits), and what NVIDIA's
// disassembler prints (docs/machine-code.md).
#pragma once

#include <cstdint>
#include <optional>

#include "sass/opcode.h"

namespace ptxopt::sass {

constexpr uint32_t kInstructionBytes = 16;

// An instruction as it stands in memory.
struct Word {
  uint64_t low = 0, high = 0;

  // Bits first to first + count - 1; count is at most 32.
  constexpr uint32_t bits(unsigned first, unsigned count) const {
    const uint64_t shifted = first >= 64  ? high >> (first - 64)
                             : first == 0 ? low
                                          : low >> first | high << (64 - first);
    return static_cast<uint32_t>(shifted & ((uint64_t{1} << count) - 1));
  }
};

// A predicate that is read: P0 to P6, or PT, which is true.
struct Predicate {
  static constexpr uint8_t kTrue = 7;
  uint8_t number = kTrue;
  bool negated = false;

  constexpr bool isAlways() const { return number == kTrue && !negated; }
  constexpr bool isNever() const { return number == kTrue && negated; }
  friend constexpr bool operator==(Predicate, Predicate) = default;
};

// What ptxas encodes for the scheduler.
struct Control {
  static constexpr uint8_t kNoScoreboard = 7;
  uint8_t stall = 0;                        // cycles, 0 to 15
  bool yields = false;                      // the scheduler prefers another warp next
  uint8_t writeScoreboard = kNoScoreboard;  // 0 to 5
  uint8_t readScoreboard = kNoScoreboard;   // 0 to 5
  uint8_t waits = 0;                        // a bit for each of the six scoreboards
  uint8_t reuse = 0;                        // a bit for each source operand
  friend constexpr bool operator==(const Control&, const Control&) = default;
};

struct Instruction {
  Opcode opcode = Opcode::Unknown;
  uint16_t encoding = 0;  // the 13 bits of the opcode, bit 91 highest
  Predicate guard;
  Control control;
  // For a branch, an exit or a return: whether control may also continue after it, for all that is known here.
  bool isConditional = false;
  // Where a branch, a call, or the end of a region of divergence (BSSY, WARPSYNC.COLLECTIVE) leads: bytes from the
  // beginning of what was decoded, which may be outside of it. None where a register or a constant holds it.
  std::optional<int64_t> target;

  Flow flow() const { return isNever() ? Flow::Next : flowOf(opcode); }
  bool isNever() const { return guard.isNever(); }
};

}  // namespace ptxopt::sass
