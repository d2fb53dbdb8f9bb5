// Loops are sorted by the start of their headers, so that each live segment finds the loops that it passes by a search.
// The outermost of those without a mention that admits copies is chosen; ways into and out of a loop are found once.
#include "passes/splitting/loop_candidates.h"

#include <algorithm>

#include "passes/splitting/splittable.h"

namespace ptxopt {

LoopCandidates::LoopCandidates(const Function& f, PassContext& context, const Occurrences& occurrences,
                               const RegisterScopes& scopes, MissedRemarks& missed)
    : f_(f),
      context_(context),
      cfg_(context.analyses.cfg()),
      loops_(context.analyses.loops()),
      slots_(context.analyses.slotIndexes()),
      intervals_(context.analyses.liveIntervals()),
      occurrences_(occurrences),
      scopes_(scopes),
      ways_(loops_.size()),
      candidates_(loops_.size()) {
  if (loops_.size() != 0) collect(missed);
}

void LoopCandidates::collect(MissedRemarks& missed) {
  why_ = whyUnsplittable(context_.module, f_, intervals_);
  std::vector<std::pair<SlotIndex, LoopId>> headers;
  for (uint32_t l = 0; l < loops_.size(); ++l) headers.emplace_back(slots_.start(loops_[LoopId(l)].header), l);
  std::ranges::sort(headers);
  std::vector<RegId> mentions(loops_.size());  // by loop: the register that was last found to be mentioned in it
  std::vector<LoopId> through;
  for (uint32_t r = static_cast<uint32_t>(f_.registers.size()); r-- > 1;) {
    const RegId reg(r);
    through.clear();
    bool marked = false;
    for (const Segment& s : intervals_[reg].segments())
      for (auto h = std::ranges::lower_bound(headers, std::pair(s.start, LoopId(0u)));
           h != headers.end() && h->first < s.end; ++h, ++lookups_) {
        if (!marked) markMentions(reg, mentions);
        marked = true;
        if (mentions[h->second.value] != reg) through.push_back(h->second);
      }
    if (lookups_ > kMostLookups * (f_.instructions.size() + kMostLookups)) return missed.add("budget");
    if (through.empty()) continue;
    found_ = true;
    std::ranges::sort(through);  // parents first
    chooseLoops(reg, through, missed);
  }
}

void LoopCandidates::markMentions(RegId reg, std::vector<RegId>& mentions) const {
  for (const Occurrence& o : occurrences_.of(reg))
    for (LoopId l = loops_.of(cfg_.blockOf(o.instruction)); l.valid() && mentions[l.value] != reg;
         l = loops_[l].parent)
      mentions[l.value] = reg;
}

void LoopCandidates::chooseLoops(RegId reg, const std::vector<LoopId>& through, MissedRemarks& missed) {
  if (!why_[reg.value].empty()) return missed.add(why_[reg.value]);
  if (isOnlyCopied(context_.module, f_, occurrences_, reg)) return missed.add("carried-already");
  std::vector<LoopId> chosen;  // ascending
  for (const LoopId l : through) {
    if (isInsideChosen(l, chosen)) continue;
    const std::string_view why = whyNot(reg, makeWays(l));
    if (!why.empty()) {
      missed.add(why);
    } else {
      chosen.push_back(l);
      candidates_[l.value].push_back(reg);
    }
  }
}

bool LoopCandidates::isInsideChosen(LoopId l, const std::vector<LoopId>& chosen) const {
  for (LoopId outer = loops_[l].parent; outer.valid(); outer = loops_[outer].parent)
    if (std::ranges::binary_search(chosen, outer)) return true;
  return false;
}

std::string_view LoopCandidates::whyNot(RegId reg, const LoopWays& ways) {
  if (!ways.why.empty()) return ways.why;
  for (const LoopWays::Out& o : ways.out) {
    if (!isNeeded(reg, o)) continue;
    if (!o.isAlone) return "shared-exit";
    if (!scopes_.reaches(occurrences_, reg, o.place)) return "scope";
    if (meetsItself(reg, o.to)) return "meets-itself";
  }
  const bool reachesIn =
      std::ranges::all_of(ways.in, [&](InstrId p) { return scopes_.reaches(occurrences_, reg, p); });
  return reachesIn ? "" : "scope";
}

// Whether, somewhere after the copy back at the start of `to`, `reg` is live where a way that does not pass `to`
// joins: there ptxas would see two values that meet, and does not always find out that they are one.
bool LoopCandidates::meetsItself(RegId reg, BlockId to) {
  const DominatorTree& dominators = context_.analyses.dominators();
  for (const Segment& s : intervals_[reg].segments())
    for (BlockId b = slots_.blockAt(s.start); b.value < cfg_.size() && slots_.start(b) < s.end;
         b = BlockId(b.value + 1)) {
      ++lookups_;
      if (!dominators.dominates(to, b)) continue;
      for (const BlockId next : cfg_.successors(b))
        if (!dominators.dominates(to, next) && intervals_[reg].isLiveAt(slots_.start(next))) return true;
    }
  return false;
}

const LoopWays& LoopCandidates::makeWays(LoopId l) {
  std::optional<LoopWays>& ways = ways_[l.value];
  if (!ways) ways = findLoopWays(f_, context_, l);
  return *ways;
}

}  // namespace ptxopt
