#include "ptxas/machine_code.h"

#include "sass/decode.h"

namespace ptxopt {

MachineCodeCounts countMachineCode(std::string_view text, uint32_t architecture,
                                   std::span<const sass::IndirectBranch> branches) {
  const std::vector<sass::Instruction> code = sass::Decoder(architecture).decode(text);
  MachineCodeCounts counts;
  counts.instructions = static_cast<uint32_t>(sass::countWithoutPadding(code));
  const sass::ControlFlow flow(code, branches);
  for (const sass::Loop& loop : flow.loops()) {
    if (!loop.isInnermost) continue;
    counts.inner += loop.instructions;
    ++counts.innerLoops;
  }
  return counts;
}

}  // namespace ptxopt
