#include "passes/addressing/address_edits.h"

#include <algorithm>

namespace ptxopt {
namespace {

// [old+imm] becomes [reg+immediate].
void setAddress(Function& f, const AddressEdit& e) {
  std::vector<Operand> operands(f.operandsOf(f[e.at]).begin(), f.operandsOf(f[e.at]).end());
  Operand& memory = operands[e.operand - 1];
  const auto next = operands.begin() + e.operand + 1;
  const bool hasNumber = memory.inside() == 2;
  const Operand number = integerOperand(e.immediate, Join::Plus);
  memory.payload = e.immediate != 0 ? 2 : 1;
  operands[e.operand].payload = e.reg.value;
  if (hasNumber && e.immediate != 0)
    *next = number;
  else if (hasNumber)
    operands.erase(next);
  else if (e.immediate != 0)
    operands.insert(next, number);
  f.setOperands(e.at, operands);
}

}  // namespace

void AddressEdits::apply(Function& f) {
  // The last one of an operand first; and from the last operand of an instruction to the first.
  std::ranges::reverse(edits_);
  std::ranges::stable_sort(edits_, [](const AddressEdit& a, const AddressEdit& b) {
    return a.at != b.at ? a.at < b.at : a.operand > b.operand;
  });
  const AddressEdit* done = nullptr;
  for (const AddressEdit& e : edits_) {
    if (done != nullptr && done->at == e.at && done->operand == e.operand) continue;
    done = &e;
    if (e.isAddress) {
      setAddress(f, e);
    } else {
      f.operands[f[e.at].firstOperand + e.operand].payload = e.reg.value;
      f.touch(e.at);
    }
  }
}

}  // namespace ptxopt
