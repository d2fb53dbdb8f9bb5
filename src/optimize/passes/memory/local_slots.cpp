#include "passes/memory/local_slots.h"

#include <algorithm>

namespace ptxopt {

std::vector<LocalSlot> LocalSlots::make(std::vector<Element> elements, std::string_view& whyNot) {
  std::ranges::sort(elements, [](const Element& a, const Element& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.bytes > b.bytes;
  });
  std::vector<LocalSlot> slots;
  std::vector<bool> isAligned;
  for (const Element& e : elements) {
    const bool isNew = slots.empty() || e.offset >= slots.back().end;
    if (isNew) {
      slots.push_back({.begin = e.offset, .end = e.offset + e.bytes, .bytes = e.bytes, .registers = {}});
      isAligned.push_back(true);
    }
    LocalSlot& slot = slots.back();
    slot.isWhole &= e.offset == slot.begin && e.bytes == slot.bytes;
    slot.end = std::max(slot.end, e.offset + e.bytes);
    slot.weight += e.weight;
    isAligned.back() = isAligned.back() && e.offset % e.bytes == 0;
  }
  for (std::size_t k = 0; k < slots.size(); ++k)
    if (!slots[k].isWhole && !isAligned[k]) {
      whyNot = "unaligned";
      return {};
    }
  return slots;
}

const LocalSlot* LocalSlots::find(const std::vector<LocalSlot>& slots, int64_t offset) {
  const auto after = std::ranges::upper_bound(slots, offset, {}, &LocalSlot::begin);
  if (after == slots.begin()) return nullptr;
  const LocalSlot& slot = *std::prev(after);
  return offset < slot.end ? &slot : nullptr;
}

}  // namespace ptxopt
