// Comes last: has every row of opcodes.def that the interpreter supports been executed by some test before?
#include <doctest/doctest.h>

#include "everything.h"
#include "exec/opcode_support.h"
#include "exec_rows.h"

namespace ptxopt::exec {

TEST_CASE("exec: every supported row of opcodes.def was executed") {
  if (!testing::runsEverything) {
    MESSAGE("not looked at: the command line may leave out tests");
    return;
  }
  for (const OpcodeSupport& s : opcodeSupport()) {
    if (s.support == Support::None) continue;
    CAPTURE(s.row->key);
    CHECK(executedRows().has(*s.row));
  }
}

}  // namespace ptxopt::exec
