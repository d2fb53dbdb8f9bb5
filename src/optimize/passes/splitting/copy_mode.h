// Splitting by copies: the carrier is another register.
//
// ptxas joins copies of values with one definition again, so that its machine code stays what it was, but not of what
// it computes anew itself, nor of lane masks, whose origin it wants to see. Copies of these are declined.
// Declines: cheap-definition, several-definitions, convergent.
#pragma once

#include "passes/splitting/split_mode.h"

namespace ptxopt {

class CopyMode : public SplitMode {
 public:
  explicit CopyMode(const SplitSource& source) : SplitMode(Kind::Copy), source_(source) {}

  std::string_view whyNot(const RegisterSplit& s, const HighPoints& high) const override;
  void beginSplit(Function& f, RegisterSplit& s) override;
  void takeOver(Function& f, const RegisterSplit& s, InstrId place) override;
  void writeAgain(Function& f, const RegisterSplit& s, InstrId place) override;

 private:
  const SplitSource& source_;
};

}  // namespace ptxopt
