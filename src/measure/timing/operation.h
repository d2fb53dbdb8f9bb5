// What an instruction asks of a machine: its kind, and the memory that it reads or writes.
//
// Bits beside those of sass/instruction.h, by opcode (operation_memory.cpp, operation_matrix.cpp). Sources: the field lists
// of cicuvc/nvidia-sass-document for sm_90 and sm_100, and for all architectures what NVIDIA's disassembler prints of what ptxas
// makes (tests/codegen/sass/compare.py compares).
#pragma once

#include <cstdint>
#include <optional>

#include "sass/instruction.h"
#include "target/machine.h"
#include "target/target.h"

namespace ptxopt::timing {

using target::Kind, target::Machine, target::Memory, target::Scenario, target::Source, target::Unit, target::Use;
using target::kKinds, target::kScenarios, target::kUnits;

enum class Space : uint8_t { None, Global, Shared, Local, Constant, Texture };

struct Operation {
  Kind kind;
  Space space = Space::None;
  // Bytes that one thread of a warp reads or writes; of an access at one address for all threads too. 0: not known, or none.
  uint16_t bytes = 0;
  bool reads = false, writes = false;  // memory
  // All threads of the warp access one address, which stands in uniform registers or constants alone.
  bool isUniform = false;
  // How often it takes what Machine::uses says. More than 1 for products of a warpgroup: their columns by 8.
  uint16_t repeats = 1;
  // What it advances a register by, always: R4 = R4 + 16. 0: it does something else.
  int32_t step = 0;
};

Operation operationOf(sass::Word word, const sass::Instruction& instruction, const target::Target& target);

// The portions of 128 bytes in an access to memory, for which uses.def has cycles; 1 for anything else. An access of a
// warp has 32 threads' bytes, but for constants, which are read at one address. Where all threads access one address of another
// memory, that may stand in uniform registers or in those of each thread; memory does the same for both, so isUniform does not
// count there.
double portionsOf(const Operation& operation);

// Cycles until the next instruction of the warp can issue: the stall that is encoded. None and a yield, which ptxas puts on
// ERRBAR alone, stand for 46 cycles (Huerta et al. 2025).
uint32_t stallOf(const sass::Control& control);

// DEPBAR.LE: waits until `scoreboard` has at most `count` outstanding, and those of `empty`, a bit for each, have none.
// DEPBAR without a count waits for `empty` alone: its lowest scoreboard and a count of 0 stand for itself.
struct CountedWait {
  uint8_t scoreboard, count;
  uint8_t empty = 0;
};
std::optional<CountedWait> countedWaitOf(sass::Word word, const sass::Instruction& instruction);

}  // namespace ptxopt::timing
