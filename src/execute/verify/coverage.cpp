#include "verify/coverage.h"

#include <algorithm>

#include "text/parse.h"

namespace ptxopt::verify {

std::vector<std::size_t> Coverage::lines(uint8_t bit) const {
  std::vector<std::size_t> lines;
  for (const auto& [routine, seen] : seen_)
    for (std::size_t id = 0; id < seen.size(); ++id) {
      const Instruction& i = routine->function->instructions[id];
      if ((seen[id] & bit) != 0 && i.isInstruction()) lines.push_back(locate(module_.source, i.sourceBegin).line);
    }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

}  // namespace ptxopt::verify
