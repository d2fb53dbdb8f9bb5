// What the coalescing passes ask about all instructions of a function, found by one look at them: the copies, and of each
// register what stands in the way of giving it up for another one.
//
// Cost: linear in operands.
#pragma once

#include <vector>

#include "analysis/dataflow/copies.h"
#include "ir/stored_numbers.h"

namespace ptxopt {

class CopyFacts {
 public:
  CopyFacts(const Module& module, const Function& function);

  // For one register and its lanes, in the order of the text.
  const std::vector<Copy>& copies() const { return copies_; }
  // Those of family Plain.
  std::vector<Copy> plainCopies() const;
  const StoredNumbers& stored() const { return stored_; }
  // An instruction reads and writes it in one operand, without a guard.
  bool isTied(RegId r) const { return (marks_[r.value] & kTied) != 0; }
  // An instruction mentions it that is asynchronous and convergent, or not in the table.
  bool isOpaque(RegId r) const { return (marks_[r.value] & kOpaque) != 0; }
  // It stands in more than one place that reads it.
  bool hasSeveralReads(RegId r) const { return (marks_[r.value] & kReads) == kReads; }

  // Whether there are braces: a register may then have a name that is declared anew.
  bool hasScopes() const { return hasScopes_; }

  friend bool operator==(const CopyFacts&, const CopyFacts&) = default;

 private:
  static constexpr uint8_t kReads = 3;  // none, 1, or several: a bit for each
  static constexpr uint8_t kTied = 4, kOpaque = 8;

  std::vector<Copy> copies_;
  StoredNumbers stored_;
  std::vector<uint8_t> marks_;  // by RegId
  bool hasScopes_ = false;
};

}  // namespace ptxopt
