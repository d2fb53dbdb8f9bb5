// Opcodes of machine code: their mnemonics, pipes and what they do to control, from opcodes.def.
#pragma once

#include <cstdint>
#include <string_view>

namespace ptxopt::sass {

enum class Opcode : uint16_t {
  Unknown,  // encodings.def has no row for these bits
#define SASS_OPCODE(name, mnemonic, pipe, flow) name,
#include "sass/opcodes.def"
};

// The unit that executes it, in the disassembler's own classes.
enum class Pipe : uint8_t {
  Unknown,   // the sources do not say
  Alu,       // integer, logic, comparison, conversion in place ("int")
  Fma,       // single precision and integer multiply-add ("fmalighter")
  Half,      // half precision, and matrix products of it ("fp16")
  Double,    // double precision ("fma64lite")
  Memory,    // memory, textures, special functions, conversions: variable latency ("mio")
  Uniform,   // the uniform datapath, and what is started by one thread of a warp ("udp")
  Branch,    // branches and convergence barriers ("cbu")
  FrontEnd,  // done without a unit ("fe")
};

// Where control goes after an instruction.
enum class Flow : uint8_t {
  Next,            // to the next instruction
  Branch,          // to its target; also to the next one where it is conditional
  IndirectBranch,  // to one of several places, which a table beside the code names
  Call,            // to its target, and then to the next instruction
  Return,          // out of a called function
  Exit,            // the thread ends
};

// The mnemonic without what follows its first dot: "IMAD". "?" for Unknown.
std::string_view mnemonicOf(Opcode opcode);
Pipe pipeOf(Opcode opcode);
Flow flowOf(Opcode opcode);

}  // namespace ptxopt::sass
