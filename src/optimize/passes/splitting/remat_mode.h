// Splitting by rematerialization: no carrier; a cheap definition is computed again at each place.
//
// The only definition is cheap (cheap_definitions.h), and its operands hold the same values and may be named at each
// place. A definition that nothing reads any more goes. What a recomputed definition reads is not split, nor is one
// recomputed that reads what is split: the order of the two would matter.
// Declines: none; the next mode is asked.
#pragma once

#include "passes/splitting/split_mode.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {

class RematMode : public SplitMode {
 public:
  explicit RematMode(const SplitSource& source) : SplitMode(Kind::Remat), source_(source) {}

  std::string_view whyNot(const RegisterSplit& s, const HighPoints& high) const override;
  bool mayPick(const RegisterSplit& s, const PickedRegisters& picked, MissedRemarks& missed) const override;
  void pick(RegisterSplit& s, PickedRegisters& picked) override;
  void beginSplit(Function& f, RegisterSplit& s) override;
  bool takesOver() const override { return false; }
  void writeAgain(Function& f, const RegisterSplit& s, InstrId place) override;
  void end(Function& f) override;

 private:
  bool operandsReach(InstrId definition, InstrId place) const;

  const SplitSource& source_;
  std::vector<InstrId> dying_;
};

}  // namespace ptxopt
