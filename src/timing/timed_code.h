// A function's machine code with what each instruction asks of the machine.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sass/control_flow.h"
#include "timing/operation.h"

namespace ptxopt::timing {

struct TimedCode {
  // `text`: the bytes of its .text section. `architecture`: the number of sm_NUMBER.
  TimedCode(std::string_view text, uint32_t architecture, std::span<const sass::IndirectBranch> branches);

  uint32_t architecture;
  std::vector<sass::Instruction> instructions;  // padding included
  std::vector<Operation> operations;            // of each
  std::vector<std::optional<CountedWait>> countedWaits;
  sass::ControlFlow flow;
};

}  // namespace ptxopt::timing
