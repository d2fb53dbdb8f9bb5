// Which addresses of global memory a kernel reads and writes, over all threads and blocks of a launch.
//
// What:       for each instruction that accesses global memory, or memory of no known space, two terms (bound_terms.h):
//             the least address and the end, as signed numbers of 64 bits, and what must be assumed for them to hold
//             (value_bounds.h). Shared and local memory, parameters, constants and textures are not relevant here.
// Declines:   as a whole, with a reason, kernels that may write where no address says it (calls, unknown opcodes, bulk
//             copies, surfaces, module variables), and kernels that may wait for what other launches write: acquire,
//             volatile and relaxed loads, fences beyond the block, atomics whose result is read, loads that a loop
//             polls (polled_loads.h), griddepcontrol. Also 32-bit addresses, several entries. For a single access,
//             `why` says why it has no bounds.
// Cost:       live intervals and scalar evolution; each access by itself.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/addresses/bound_terms.h"
#include "analysis/addresses/parameter_memory.h"
#include "analysis/manager/analyses.h"

namespace ptxopt {

struct Footprint {
  InstrId access;
  BlockId block;
  bool isWrite = false;
  uint32_t bytes = 0;
  ParameterMemory::Set parameters = 0;  // what the address is made of
  TermId least, end;                    // none: `why`
  BoundAssumptions assumptions;
  std::string_view why;
  bool isKnown() const { return why.empty(); }
};

class Footprints {
 public:
  // All must live as long as this, and stay as they are. `analyses` may have live intervals.
  Footprints(const Module& module, const Function& kernel, Analyses& analyses);

  // Why there are none; empty where there are.
  std::string_view declined() const { return declined_; }
  std::string_view declinedMore() const { return more_; }
  const BoundTerms& terms() const { return terms_; }
  BoundTerms& terms() { return terms_; }
  const std::vector<Footprint>& all() const { return all_; }
  const ParameterMemory& memory() const { return memory_; }

 private:
  enum class Effect : uint8_t { None, Read, Write, Declined };

  Effect effectOf(InstrId id);
  Effect decline(std::string_view why) {
    declined_ = why;
    return Effect::Declined;
  }
  Effect writes(InstrId id);
  Effect copies(const OpcodeForm& form);
  bool isElsewhere(InstrId id) const;
  bool readsResult(InstrId id);
  void findBounds(Footprint& footprint, class ValueBounds& bounds);

  const Module& module_;
  const Function& f_;
  Analyses& analyses_;
  const ParameterMemory memory_;
  const AddressSpaces spaces_;
  BoundTerms terms_;
  std::vector<Footprint> all_;
  std::vector<bool> isRead_;  // by RegId; empty: not known yet
  std::string_view declined_, more_;
};

}  // namespace ptxopt
