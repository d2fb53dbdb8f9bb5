// What `--verify` asks about the optimizer's own output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::tool {

struct OutputCheck {
  std::string difference;                // empty: none was found
  std::vector<std::string> notCompared;  // kernels that could not be run, with the reason
};

// Runs `input`, which is valid PTX, and `output` on the same inputs, `jobs` kernels at a time. `facts`: a text that the
// launches keep to (facts/facts.h), without mistakes, or nothing.
OutputCheck verifyOutput(std::string_view input, const std::string& fileName, std::string_view output,
                         unsigned jobs, std::string_view facts = {});

}  // namespace ptxopt::tool
