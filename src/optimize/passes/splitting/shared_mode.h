// Splitting by shared memory: the carrier is a slot in .shared memory (shared_slots.h).
//
// This is the form of splitting that ptxas does not undo. Accesses must stand in no deeper loop than some of the
// points that they relieve, and if they are in a loop, in a less deep one.
// Declines: not-32-or-64-bits, in-inner-loop, no-shared-memory, loads-together.
#pragma once

#include "passes/splitting/shared_slots.h"
#include "passes/splitting/split_mode.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {

class SharedMode : public SplitMode {
 public:
  // `mostUnits`: that may be live at a point.
  SharedMode(const SplitSource& source, const KernelNeeds& needs, uint32_t mostUnits)
      : SplitMode(Kind::Shared),
        source_(source),
        slots_(needs),
        most_(mostUnits),
        together_(2 * source.cfg.size()) {}

  const SharedSlots& slots() const { return slots_; }

  std::string_view whyNot(const RegisterSplit& s, const HighPoints& high) const override;
  bool mayPick(const RegisterSplit& s, const PickedRegisters& picked, MissedRemarks& missed) const override;
  void pick(RegisterSplit& s, PickedRegisters& picked) override;
  void begin(Function& f) override { slots_.declare(source_.module, f); }
  void beginBlock() override { slots_.startBlock(); }
  void takeOver(Function& f, const RegisterSplit& s, InstrId place) override;
  void writeAgain(Function& f, const RegisterSplit& s, InstrId place) override;

 private:
  bool relievesDeeper(const RegisterSplit& s, const HighPoints& high) const;
  bool fitsTogether(const RegisterSplit& s) const;
  void forEachAccess(const RegisterSplit& s, const auto& visit) const;

  const SplitSource& source_;
  SharedSlots slots_;
  uint32_t most_;
  std::vector<uint32_t> together_;  // units stored and loaded in each block
};

}  // namespace ptxopt
