#include "passes/lsr/address_edits.h"

#include <algorithm>

namespace ptxopt {
namespace {

void setAddress(Function& f, const AddressEdit& e) {
  const uint32_t first = f[e.at].firstOperand, count = f[e.at].operandCount;
  const uint32_t memory = first + e.operand - 1;
  const bool hasImmediate = f.operands[memory].inside() == 2;
  f.operands[memory + 1].payload = e.reg.value;
  if (hasImmediate && e.immediate != 0) {
    f.operands[memory + 2] = integerOperand(e.immediate, Join::Plus);
  } else if (hasImmediate) {
    f.operands[memory].payload = 1;
    for (uint32_t k = memory + 2; k + 1 < first + count; ++k) f.operands[k] = f.operands[k + 1];
    --f[e.at].operandCount;
  } else if (e.immediate != 0) {
    f.operands[memory].payload = 2;
    f[e.at].firstOperand = static_cast<uint32_t>(f.operands.size());
    f[e.at].operandCount = count + 1;
    for (uint32_t k = 0; k < count; ++k) {
      const Operand o = f.operands[first + k];
      f.operands.push_back(o);
      if (k == e.operand) f.operands.push_back(integerOperand(e.immediate, Join::Plus));
    }
  }
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
    if (e.isAddress)
      setAddress(f, e);
    else
      f.operands[f[e.at].firstOperand + e.operand].payload = e.reg.value;
    f.touch(e.at);
  }
}

}  // namespace ptxopt
