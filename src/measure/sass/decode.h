// Decoding machine code: 16 bytes an instruction, of sm_75 to sm_121.
//
// The opcode is a look-up in a table of the architecture, made from encodings.def, and of a few encodings a look at other
// bits (variants.def). A target that targets.def lacks is decoded as the newest one before it, and sm_70 and sm_72 as
// sm_75. Decoding cannot fail: bits without a row
// are Opcode::Unknown, which has guard and control like any other and is followed by the next instruction. Bytes after
// the last whole instruction are ignored. Cost: a look-up an instruction, and a table of 16 KiB an architecture, made once.
#pragma once

#include <string_view>
#include <vector>

#include "sass/instruction.h"
#include "target/target.h"

namespace ptxopt::sass {

class Decoder {
 public:
  explicit Decoder(const target::Target& target);
  explicit Decoder(uint32_t number) : Decoder(target::Target(number)) {}

  // `at` is where the instruction stands, in bytes from the beginning of its section.
  Instruction decode(Word word, int64_t at) const;
  // From the bytes of a .text section.
  std::vector<Instruction> decode(std::string_view text) const;

 private:
  Opcode opcodeOf(Word word, uint16_t encoding) const;
  std::optional<int64_t> targetOf(Word word, Opcode opcode, int64_t at) const;
  int64_t immediate(Word word) const;

  // `opcode` if `word` has the bits that `mask` has set as `value` has them.
  struct Variant {
    Opcode opcode, of;
    Word mask, value;
  };

  bool splitsOffsets_;                  // the low byte of a branch's offset stands apart
  const std::vector<Opcode>* opcodes_;  // by encoding
  std::vector<Variant> variants_;
};

// How many of the instructions are code: ptxas ends a function with a branch to itself and pads it with NOPs.
std::size_t countWithoutPadding(const std::vector<Instruction>& instructions);

}  // namespace ptxopt::sass
