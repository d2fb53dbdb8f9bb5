// Comes last: has every row of opcodes.def that the interpreter supports been executed by some test before?
#include <doctest/doctest.h>

#include "exec/opcode_support.h"
#include "exec_rows.h"

namespace ptxopt::exec {

TEST_CASE("exec: every supported row of opcodes.def was executed") {
  // A run of few tests says nothing; one of many but not all names what those left out would have executed.
  if (executedRows().count() < 100) return;
  for (const OpcodeSupport& s : opcodeSupport()) {
    if (s.support == Support::None) continue;
    CAPTURE(s.row->key);
    CHECK(executedRows().has(*s.row));
  }
}

}  // namespace ptxopt::exec
