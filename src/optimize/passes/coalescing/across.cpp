// Joins of copies that read their source before they are made, and of those that are one lane of an instruction.
//
// `mov.b64 d, {x, y}; ...; mov.b64 {a, b}, d`: a can take the register of x if that holds x all the way. Between
// the two instructions the value lives packed in d and in what was copied from d. The live ranges of all these,
// which a path from the first instruction to the second never leaves, are the bridge: there, too, no other value
// may be held in the register that x and a share, and from then on it is live there. An instruction goes when all
// its lanes go or are dead. Lanes that went become `_` in one that stays, so that it never writes one register
// twice.
#include <algorithm>

#include "passes/coalescing/coalescer.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostPieces = 4096;  // of a bridge

}  // namespace

// Whether an instruction defines a value with this root.
bool Coalescer::beginsAt(InstrId id, Number root) const {
  return std::ranges::any_of(f_.operandsOf(f_[id]), [&](const Operand& o) {
    if (!o.isRegister() || !o.writes() || values_->firstOf(o.reg()) == CopyValues::kNone) return false;
    const ValueId v = intervals()[o.reg()].valueOut(slots_[id]);
    return v.valid() && values_->root(values_->number(o.reg(), v)) == root;
  });
}

// The bridge of a copy. False when it has too many pieces, or when the values do not tell how it came here.
bool Coalescer::makeBridge(const Copy& c, JoinedRange& bridge) {
  const ValueId held = rangeOf(c.via).valueIn(slots_[c.instruction]);
  if (!held.valid()) return false;
  if (byRoot_.empty()) {
    for (Number n = 0; n < values_->size(); ++n) byRoot_.push_back(n);
    std::stable_sort(byRoot_.begin(), byRoot_.end(),
                     [&](Number a, Number b) { return values_->root(a) < values_->root(b); });
  }
  const auto byRoot = [&](Number a, Number b) { return values_->root(a) < values_->root(b); };
  std::vector<JoinedRange::Piece> pieces;
  const Number label = values_->root(read(c));
  std::vector<Number> roots{values_->root(values_->number(c.via, held))};
  if (!beginsAt(c.readAt, roots.front())) return false;
  for (std::size_t next = 0; next < roots.size(); ++next) {
    const auto [first, last] = std::equal_range(byRoot_.begin(), byRoot_.end(), roots[next], byRoot);
    for (auto n = first; n != last; ++n) {
      const RegId r = values_->registerOf(*n);
      for (const Segment& s : intervals()[r].segments())
        if (values_->number(r, s.value) == *n) pieces.push_back({s.start, s.end, label});
      if (pieces.size() > kMostPieces) return false;
      // A value that came here across instructions itself was held by others until then.
      const Copy* copy = values_->copyOf(*n);
      if (copy == nullptr || !copy->isAcross()) continue;
      const ValueId v = rangeOf(copy->via).valueIn(slots_[copy->instruction]);
      if (!v.valid()) return false;
      const Number further = values_->root(values_->number(copy->via, v));
      if (!beginsAt(copy->readAt, further)) return false;
      if (std::find(roots.begin(), roots.end(), further) == roots.end()) roots.push_back(further);
    }
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const auto& a, const auto& b) { return std::tie(a.start, a.end) < std::tie(b.start, b.end); });
  for (const JoinedRange::Piece& p : pieces) bridge.append(p);
  return true;
}

Verdict Coalescer::joinAcross(const Copy& c, bool really) {
  const std::size_t index = static_cast<std::size_t>(&c - copies_.data());
  if (across_[index]) return Verdict::Same;
  JoinedRange bridge;
  if (!makeBridge(c, bridge)) return Verdict::LargeInterval;
  const Number a = written(c), b = read(c);
  if (webs_[find(a)].range.conflicts(bridge) || webs_[find(b)].range.conflicts(bridge)) return Verdict::Interferes;
  const Verdict v = join(a, b, really);
  if (v != Verdict::Joined && v != Verdict::Same) return v;
  if (really) {
    Web& web = webs_[find(a)];
    web.range.join(std::move(bridge));
    web.isPlace = true;  // its definitions reach further than its reads tell
    across_[index] = true;
  }
  return Verdict::Joined;
}

bool Coalescer::isDead(const Copy& c) const {
  const LiveRange& range = rangeOf(c.to);
  const SlotIndex at = slots_[c.instruction];
  const Segment* s = range.find(at.reg());
  return s != nullptr && s->start == at.reg() && s->end <= at.dead();
}

// Whether the copy writes what its register holds already.
bool Coalescer::isGone(const Copy& c) {
  if (frozen(c) != Verdict::Joined) return false;
  if (c.isAcross()) return across_[static_cast<std::size_t>(&c - copies_.data())];
  const Number from = read(c);
  const Number place = moved_[from] != CopyValues::kNone ? moved_[from] : from;
  return f_.operandsOf(f_[c.instruction]).back().isRegister() && find(written(c)) == find(place);
}

// Which instructions go as all their lanes do, and which operands of others become `_`.
void Coalescer::settleLanes(std::vector<InstrId>& superfluous, std::vector<Sink>& sinks) {
  for (std::size_t k = 0; k < copies_.size();) {
    std::size_t last = k;
    while (last < copies_.size() && copies_[last].instruction == copies_[k].instruction) ++last;
    const std::span<const Copy> lanes = std::span(copies_).subspan(k, last - k);
    k = last;
    if (!lanes.front().isLane()) continue;
    const Instruction& i = f_[lanes.front().instruction];
    // The group of destinations comes first.
    std::vector<uint32_t> gone;
    std::vector<Number> written;
    bool all = true;
    for (uint32_t o = i.firstOperand + 1; o <= i.firstOperand + f_.operands[i.firstOperand].inside(); ++o) {
      if (!f_.operands[o].isRegister()) continue;
      const RegId r = f_.operands[o].reg();
      const auto lane = std::ranges::find_if(lanes, [&](const Copy& c) { return c.to == r; });
      bool goes = lane != lanes.end() && (isGone(*lane) || isDead(*lane));
      if (!goes && values_->firstOf(r) != CopyValues::kNone) {
        const ValueId v = intervals()[r].valueOut(slots_[lanes.front().instruction]);
        const Number web = find(values_->number(r, v));
        // Two lanes of one value may have come together by other copies: one write is enough.
        goes = std::ranges::find(written, web) != written.end();
        written.push_back(web);
      }
      if (goes)
        gone.push_back(o);
      else
        all = false;
    }
    if (all)
      superfluous.push_back(lanes.front().instruction);
    else
      for (const uint32_t o : gone) sinks.push_back({lanes.front().instruction, o});
  }
}

}  // namespace ptxopt
