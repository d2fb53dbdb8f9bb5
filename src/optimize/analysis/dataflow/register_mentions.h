// Where instructions mention registers, in the order of the text, and what changed of that since another time.
//
// Only reachable code counts. Where control comes to the end of the text, the results of the function are mentioned
// last, at a place that is not a Block slot.
// Changes:    the mentions of two times are gone through together. Where the same registers are mentioned in the same
//             roles at the same place, nothing changes for them. All registers that are, or were, mentioned elsewhere
//             are changed.
// Cost:       linear in operands.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "analysis/dataflow/cfg.h"
#include "analysis/dataflow/slot_indexes.h"

namespace ptxopt {

// 8 bytes, and without a constructor: there are many, and they are written at once.
struct RegisterMention {
  uint32_t code;   // the register and the role
  uint32_t place;  // SlotIndex::raw

  static uint32_t codeOf(const Operand& o) { return o.payload << 2 | static_cast<uint32_t>(o.role); }
  uint32_t reg() const { return code >> 2; }
  Role role() const { return static_cast<Role>(code & 3); }
  SlotIndex at() const { return SlotIndex(place); }
};

class RegisterMentions {
 public:
  RegisterMentions() = default;
  explicit RegisterMentions(std::size_t most)
      : all_(std::make_unique_for_overwrite<RegisterMention[]>(most + 1)), end_(all_.get()) {}

  std::size_t size() const { return static_cast<std::size_t>(end_ - all_.get()); }
  operator std::span<const RegisterMention>() const { return {all_.get(), size()}; }
  // After those there are, up to `most`.
  void add(uint32_t code, SlotIndex at) { *end_++ = {code, at.raw()}; }
  // Where the next goes, and up to where some were written there.
  RegisterMention* next() { return end_; }
  void addedUpTo(RegisterMention* end) { end_ = end; }
  // One after the last that stands at no place.
  void close() { *end_ = {0, SlotIndex().raw()}; }

 private:
  std::unique_ptr<RegisterMention[]> all_;
  RegisterMention* end_ = nullptr;
};

// For the registers that are wanted, by RegId; for all if there is no list. Closed.
RegisterMentions registerMentions(const Function& f, const Cfg& cfg, const SlotIndexes& slots,
                                  const std::vector<uint8_t>* isWanted);

struct MentionChanges {
  // The mentions before are closed; the graph had the same edges, and its blocks the same numbers, when they were found.
  MentionChanges(const Function& f, const Cfg& cfg, const SlotIndexes& slots, const RegisterMentions& before);

  // For the registers that changed, now.
  RegisterMentions changed() const;

  RegisterMentions mentions;       // now; closed
  std::vector<uint8_t> isChanged;  // by RegId
};

}  // namespace ptxopt
