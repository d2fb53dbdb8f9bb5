// Random control-flow graphs as PTX text: one kernel whose blocks do nothing but branch.
//
// Block n begins with the label Ln. Graphs are sparse or dense, mostly forward or wild, with several ways out, ways
// that never end, blocks that nothing reaches and, in some, labels used as values.
#pragma once

#include <random>
#include <string>

#include "support.h"

namespace ptxopt::testing {

inline std::string randomGraph(uint64_t seed, std::size_t mostBlocks = 12) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::size_t blocks = 1 + pick(mostBlocks);
  const std::size_t leaving = pick(4);  // of ten blocks
  const bool isLocal = pick(2) == 0, isForward = pick(3) == 0, hasValues = pick(4) == 0;
  const auto target = [&](std::size_t from) {
    std::size_t to = pick(blocks);
    if (isLocal) to = (from + blocks - 1 + pick(4)) % blocks;
    if (isForward && to <= from && pick(4) != 0) to = from + 1 < blocks ? from + 1 + pick(blocks - from - 1) : from;
    return "L" + std::to_string(to);
  };
  std::string tables, body;
  for (std::size_t b = 0; b < blocks; ++b) {
    body += "L" + std::to_string(b) + ":\nbar.sync 0;\n";
    if (hasValues && pick(8) == 0) body += "mov.u64 %rd1, " + target(b) + ";\n";
    if (pick(10) < leaving) {
      static const char* const kWays[] = {"ret;\n", "exit;\n", "trap;\n", "@%p ret;\n", "@!%p exit;\n"};
      body += kWays[pick(5)];
    }
    switch (pick(6)) {
      case 0: body += "bra " + target(b) + ";\n"; break;
      case 1:
      case 2: body += "@%p bra " + target(b) + ";\n"; break;
      case 3: body += "@%p bra " + target(b) + ";\nbra " + target(b) + ";\n"; break;
      case 4: {
        const std::string table = "T" + std::to_string(b);
        tables += table + ": .branchtargets " + target(b) + ", " + target(b) + ", " + target(b) + ";\n";
        body += (pick(3) == 0 ? "@%p brx.idx %r1, " : "brx.idx %r1, ") + table + ";\n";
        break;
      }
      default: break;
    }
  }
  return kHeader + ".entry k()\n{\n.reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<3>;\n" + tables + "bra L0;\n" +
         body + "}\n";
}

}  // namespace ptxopt::testing
