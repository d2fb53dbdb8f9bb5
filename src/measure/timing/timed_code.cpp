#include "timing/timed_code.h"

#include <cstring>

#include "sass/decode.h"

namespace ptxopt::timing {

TimedCode::TimedCode(std::string_view text, uint32_t number, std::span<const sass::IndirectBranch> branches)
    : target(number), instructions(sass::Decoder(target).decode(text)), flow(instructions, branches) {
  operations.reserve(instructions.size());
  countedWaits.reserve(instructions.size());
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    sass::Word word;
    std::memcpy(&word.low, text.data() + i * sass::kInstructionBytes, 8);
    std::memcpy(&word.high, text.data() + i * sass::kInstructionBytes + 8, 8);
    operations.push_back(operationOf(word, instructions[i], target));
    countedWaits.push_back(countedWaitOf(word, instructions[i]));
  }
}

}  // namespace ptxopt::timing
