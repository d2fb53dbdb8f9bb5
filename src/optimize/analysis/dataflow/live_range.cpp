// Queries bisect the sorted segments without branches. Values are numbered in the order of their definitions when a
// range is finished.
#include "analysis/dataflow/live_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace ptxopt {

std::string toString(SlotIndex i) {
  if (!i.valid()) return "?";
  return fmt::format("{}{}", i.base().raw(), "Berd"[i.slot()]);
}

// ---- queries ----

// Without branches: which half it is in cannot be foretold.
const Segment* LiveRange::search(SlotIndex i) const {
  const Segment* first = segments_.data();
  std::size_t n = segments_.size();
  if (n == 0) return nullptr;
  while (n > 1) {
    const std::size_t half = n / 2;
    first += first[half - 1].end <= i ? half : 0;
    n -= half;
  }
  return first->contains(i) ? first : nullptr;
}

// ---- changes ----

void LiveRange::renumberValues() {
  if (std::ranges::is_sorted(values_, {}, &LiveValue::def)) return;
  std::vector<uint32_t> order(values_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](uint32_t v) { return values_[v].def; });
  std::vector<ValueId> now(values_.size());
  std::vector<LiveValue> sorted;
  for (const uint32_t v : order) {
    now[v] = ValueId(sorted.size());
    sorted.push_back(values_[v]);
  }
  for (Segment& s : segments_) s.value = now[s.value.value];
  values_.assign(sorted);
}

// ---- looking at it ----

std::string LiveRange::verify() const {
  std::vector<bool> defined(values_.size());
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& s = segments_[i];
    if (s.start >= s.end) return fmt::format("the segment at {} is empty", ptxopt::toString(s.start));
    if (s.value.value >= values_.size())
      return fmt::format("the segment at {} has no value", ptxopt::toString(s.start));
    if (i > 0 && segments_[i - 1].end > s.start)
      return fmt::format("segments overlap at {}", ptxopt::toString(s.start));
    if (i > 0 && segments_[i - 1].end == s.start && segments_[i - 1].value == s.value)
      return fmt::format("segments with one value touch at {}", ptxopt::toString(s.start));
    // A phi's segment may begin earlier: where the block before in the text, the end of a loop, holds it as well.
    const LiveValue& value = values_[s.value.value];
    if (value.kind == ValueKind::Instruction ? value.def == s.start : s.contains(value.def))
      defined[s.value.value] = true;
    if (value.def != s.start && s.start.slot() != SlotIndex::Block)
      return fmt::format("the segment at {} begins neither with its value nor with a block",
                         ptxopt::toString(s.start));
  }
  for (std::size_t v = 0; v < values_.size(); ++v)
    if (!defined[v])
      return fmt::format("value {} is not live where it begins, at {}", v, ptxopt::toString(values_[v].def));
  return {};
}

std::string LiveRange::toString() const {
  std::string text;
  for (const Segment& s : segments_)
    text += fmt::format("{}[{},{}:{})", text.empty() ? "" : " ", ptxopt::toString(s.start), ptxopt::toString(s.end),
                        s.value.value);
  for (std::size_t v = 0; v < values_.size(); ++v) {
    const LiveValue& value = values_[v];
    text += fmt::format("{}{}@{}{}{}", text.empty() ? "" : " ", v, ptxopt::toString(value.def),
                        value.kind == ValueKind::Phi     ? "-phi"
                        : value.kind == ValueKind::Entry ? "-entry"
                                                         : "",
                        value.isPartial ? "-partial" : "");
  }
  return text;
}

}  // namespace ptxopt
