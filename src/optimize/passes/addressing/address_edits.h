// Changes of the registers that instructions read, collected and made at once: a constant that comes into an
// address moves the operands after it, so what speaks of operands by number holds until apply(). Cost: sorting.
#pragma once

#include <vector>

#include "ir/function.h"

namespace ptxopt {

struct AddressEdit {
  InstrId at;
  uint32_t operand = 0;  // the register; of an address that inside `[..]`
  RegId reg;             // what it becomes
  int32_t immediate = 0;
  bool isAddress = false;
};

class AddressEdits {
 public:
  // If there are several for the same operand, the last one counts.
  void add(const AddressEdit& e) { edits_.push_back(e); }
  bool empty() const { return edits_.empty(); }
  void apply(Function& f);

 private:
  std::vector<AddressEdit> edits_;
};

}  // namespace ptxopt
