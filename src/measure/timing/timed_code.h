// A function's machine code with what each instruction asks of the machine.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sass/control_flow.h"
#include "timing/operation.h"

namespace ptxopt::timing {

struct TimedCode {
  // `text`: the bytes of its .text section. `number`: of its target, 90 for sm_90.
  TimedCode(std::string_view text, uint32_t number, std::span<const sass::IndirectBranch> branches);

  target::Target target;
  std::vector<sass::Instruction> instructions;  // padding included
  std::vector<Operation> operations;            // of each
  std::vector<std::optional<CountedWait>> countedWaits;
  sass::ControlFlow flow;
};

}  // namespace ptxopt::timing
