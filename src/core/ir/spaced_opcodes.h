// The spelling of a generic memory access with a state space: `ld.relaxed.gpu.u32` in global memory is
// `ld.relaxed.gpu.global.u32`.
//
// Declines, with an empty string: what is not a generic access; forms that ptxas does not take in the space (tried for
// all of them by tests/codegen/spaces/forms.py): of shared, local and constant memory the L1 and L2 hints, .mmio,
// .proxy::readonly and vectors of atomics; of local memory also .volatile, every order and every scope; writes of
// constant memory; opcodes that are generic by nature, such as prefetchu. Cost: linear in the spelling.
#pragma once

#include <string>
#include <string_view>

#include "ir/address_state.h"
#include "ir/opcode_fields.h"

namespace ptxopt {

// `ld`, `st`, `atom`, `red` and others with an operand [a] that may lie in any space, and say none.
bool isGenericAccess(const OpcodeFields& opcode);
// The spelling of `opcode` in `space`: Global, Shared, Local or Const.
std::string spacedOpcode(std::string_view opcode, AddressKind space);

}  // namespace ptxopt
