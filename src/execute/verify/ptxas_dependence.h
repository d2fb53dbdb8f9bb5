// Instructions that mean one thing by the PTX ISA and another to some ptxas, so that what a kernel does on a GPU may differ from
// what the interpreter does, which follows the ISA.
//
// - a store narrower than its register, of what may be a floating-point number (ir/stored_numbers.h);
// - bfe and bfi of 64 bits with a position or length that is a literal above 255: the ISA takes its lowest byte, ptxas all
//   of it. One in a register is not looked for.
// Cost: of each function once, linear; of a kernel the functions that it names, directly or not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/definitions.h"
#include "ir/module.h"

namespace ptxopt::verify {

class PtxasDependences {
 public:
  explicit PtxasDependences(const Module& module);

  // A line for the first of each kind in the kernel and in each of these functions.
  std::vector<std::string> of(const Function& kernel);

 private:
  std::vector<const Function*> namedBy(const Function& kernel);
  const std::vector<std::string>& linesOf(const Function& f);
  std::string placeOf(std::size_t offset) const;

  const Module& module_;
  const Definitions definitions_;
  std::vector<std::size_t> lineStarts_;
  std::vector<std::optional<std::vector<std::string>>> lines_;  // by Function::index
  std::vector<uint32_t> seen_;                                  // by Function::index: the number of a search
  uint32_t search_ = 0;
};

}  // namespace ptxopt::verify
