// How many copies of a loop of the PTX are in a loop of machine code, by how many instructions were made of each line.
//
// Lines of arithmetic, exchanges between threads, loads and stores (work.h) have one instruction for each copy: the number that most
// of these lines have; of as many the one of what can vanish least. ptxas makes two of some lines, and of others
// fewer than there are copies, which it computes once for several.
// Declines: without such lines, unless each line has one instruction.
#pragma once

#include <cstdint>
#include <map>

#include "timing/work.h"

namespace ptxopt::timing {

class Copies {
 public:
  void add(uint32_t line, const Operation& operation);
  uint32_t count() const;  // 0: not known

 private:
  std::map<uint32_t, uint32_t> all_, telling_;  // instructions by line
  std::map<uint32_t, Witness> by_;              // of a line of telling_
};

}  // namespace ptxopt::timing
