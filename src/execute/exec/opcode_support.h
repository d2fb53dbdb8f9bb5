// Which rows of opcodes.def the interpreter executes: what `ptxopt run --list-opcodes` and docs/opcodes.md say.
//
// A row is there when its base opcode has a binder (or is control flow) and refused.def says nothing else about it.
// tests/unit/execute/exec_opcodes_test.cpp compares that with what the decoder does to every form in tests/inputs/opcodes.
#pragma once

#include <string_view>
#include <vector>

#include "ir/opcodes.h"

namespace ptxopt::exec {

enum class Support : uint8_t { Full, Partial, None };
const char* name(Support s);  // "yes", "partly", "no"

struct OpcodeSupport {
  const OpcodeRow* row = nullptr;
  Support support = Support::Full;
  std::string_view reason;  // what is refused, unless Full
};

// In the order of opcodes.def, without the rows that stand for sub-operations not in the table ("fallback:").
std::vector<OpcodeSupport> opcodeSupport();

}  // namespace ptxopt::exec
