#include "sass/opcode.h"

namespace ptxopt::sass {
namespace {

struct Row {
  std::string_view mnemonic;
  Pipe pipe;
  Flow flow;
};

constexpr Row kRows[] = {
    {"?", Pipe::Unknown, Flow::Next},
#define SASS_OPCODE(name, mnemonic, pipe, flow) {mnemonic, Pipe::pipe, Flow::flow},
#include "sass/opcodes.def"
};

const Row& rowOf(Opcode opcode) { return kRows[static_cast<std::size_t>(opcode)]; }

}  // namespace

std::string_view mnemonicOf(Opcode opcode) { return rowOf(opcode).mnemonic; }
Pipe pipeOf(Opcode opcode) { return rowOf(opcode).pipe; }
Flow flowOf(Opcode opcode) { return rowOf(opcode).flow; }

}  // namespace ptxopt::sass
