// Wide products:  cvt.s64.s32 t, x ; shl.b64 u, t, k ; add.s64 a, base, u  (or mul.lo.s64 by a constant, or
//                 cvt.u64.u32)
//                 becomes  mul.wide.s32 u, x, 1<<k ; add.s64 a, base, u,  which is one IMAD.WIDE. mad.wide by a
//                 constant is three, so it is split the same way. For global and generic addresses only: shared
//                 ones have 32 bits and gain nothing.
// Cost:           linear.
// Declines:       no-leader-here (the index is no longer in its register), extension-needed (something else needs
//                 the extended index, too)
#include "passes/addressing/address_rebuild.h"

#include <algorithm>
#include <bit>

namespace ptxopt {

AddressRebuild::AddressRebuild(Function& f, PassContext& context, AddressValues& values, AddressEdits& edits,
                               RangeRegisterBudget& budget, RegisterReach& reaches, MissedRemarks& missed)
    : f_(f),
      context_(context),
      module_(context.module),
      slots_(context.analyses.slotIndexes()),
      evolution_(context.analyses.scalarEvolution()),
      expressions_(evolution_.expressions()),
      values_(values),
      edits_(edits),
      budget_(budget),
      reaches_(reaches),
      missed_(missed),
      isMoved_(values.size()),
      isChanged_(f.instructions.size()) {}

bool AddressRebuild::isGlobalAddress(ValueKey k) const {
  return std::ranges::any_of(values_.uses(k),
                             [](const ValueUse& u) { return u.isAddress && u.space != MemorySpace::Shared; });
}

void AddressRebuild::note(Change change) {
  isChanged_[change.id.value] = true;
  changes_.push_back(change);
}

// Registers are made here and not before: analyses that are made in between know none of them.
void AddressRebuild::apply() {
  for (Change& c : changes_) {
    if (c.hasHelper) {
      const RegId made = f_.makeRegister(ScalarType::b64);
      c.helperOperands[0].payload = made.value;
      c.operands[2].payload = made.value;
      f_.insert(c.id, module_.synthOpcode(c.helper), c.helperOperands);
    }
    f_[c.id].payload = module_.synthOpcode(c.opcode).value;
    f_.setOperands(c.id, c.operands);
  }
}

}  // namespace ptxopt
