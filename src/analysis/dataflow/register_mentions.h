// Where instructions mention registers, in the order of the text, and what changed of that since another time.
//
// Only reachable code counts. Where control comes to the end of the text, the results of the function are mentioned last,
// at a place that is no Block slot.
// Changes:    the mentions of two times are gone through together. An instruction that stands in the same block, after the
//             same instructions or some of them, and mentions the same registers in the same roles, changes nothing for
//             them. All registers that other instructions mention, or mentioned, are changed.
// Cost:       linear in operands.
#pragma once

#include <span>
#include <vector>

#include "analysis/dataflow/cfg.h"
#include "analysis/dataflow/slot_indexes.h"

namespace ptxopt {

struct RegisterMention {
  uint32_t reg;
  SlotIndex at;
  Role role;
};

// Of the registers that are wanted; of all if there is no list.
std::vector<RegisterMention> registerMentions(const Function& f, const Cfg& cfg, const SlotIndexes& slots,
                                              const std::vector<bool>* isWanted);

struct MentionChanges {
  // The graph had the same edges when the mentions before were found.
  MentionChanges(const Function& f, const Cfg& cfg, const SlotIndexes& slots,
                 std::span<const RegisterMention> before, const SlotIndexes& slotsBefore);

  std::vector<RegisterMention> mentions;  // now
  std::vector<bool> isChanged;            // by RegId
  bool isRenumbered = false;              // an instruction or a block has another number
};

}  // namespace ptxopt
