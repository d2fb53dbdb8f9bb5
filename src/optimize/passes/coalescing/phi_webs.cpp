// Classes of phis and their sources are sorted by the depth of loops and by the text. Each is joined as a whole first
// and, where that fails, copy by copy.
#include "passes/coalescing/phi_webs.h"

#include <algorithm>

namespace ptxopt {

PhiWebs::PhiWebs(PassContext& context, Coalescer& coalescer) : context_(context), coalescer_(coalescer) {
  findClasses();
  sortClasses();
}

void PhiWebs::findClasses() {
  const CopyValues& values = coalescer_.values();
  const Cfg& cfg = context_.analyses.cfg();
  const SlotIndexes& slots = context_.analyses.slotIndexes();
  const auto blockOf = [&](CopyValues::Number n) { return slots.blockAt(values[n].def); };

  std::vector<const Copy*> writer(values.size());  // by value
  firstReader_.resize(values.size());
  struct Result {
    CopyValues::Number phi;
    const Copy* copy;
  };
  std::vector<Result> results;  // of phis, copied in the phi's block
  for (const Copy& c : coalescer_.copies()) {
    if (!coalescer_.isCandidate(c.to) || !coalescer_.isCandidate(c.from)) continue;
    const CopyValues::Number to = coalescer_.written(c), from = coalescer_.read(c);
    writer[to] = &c;
    const Copy*& first = firstReader_[from];
    if (first == nullptr || slots[c.instruction] < slots[first->instruction]) first = &c;
    if (values[from].kind == ValueKind::Phi && blockOf(from) == cfg.blockOf(c.instruction))
      results.push_back({from, &c});
  }
  std::stable_sort(results.begin(), results.end(), [](const Result& a, const Result& b) { return a.phi < b.phi; });
  auto result = results.begin();
  for (CopyValues::Number n = 0; n < values.size(); ++n) {
    if (values[n].kind != ValueKind::Phi) continue;
    Class found{.phi = n, .block = blockOf(n), .copies = {}};
    for (const CopyValues::Number s : values.sources(n))
      if (writer[s] != nullptr) found.copies.push_back(writer[s]);
    const bool isMade = !found.copies.empty();
    for (; result != results.end() && result->phi == n; ++result)
      if (isMade) found.copies.push_back(result->copy);
    if (isMade) classes_.push_back(std::move(found));
  }
}

void PhiWebs::sortClasses() {
  const Cfg& cfg = context_.analyses.cfg();
  const Loops& loops = context_.analyses.loops();
  const SlotIndexes& slots = context_.analyses.slotIndexes();
  const auto key = [&](const Copy* c) {
    return std::pair(UINT32_MAX - loops.depth(cfg.blockOf(c->instruction)), slots[c->instruction]);
  };
  for (Class& c : classes_) {
    std::sort(c.copies.begin(), c.copies.end(), [&](const Copy* a, const Copy* b) { return key(a) < key(b); });
    c.copies.erase(std::unique(c.copies.begin(), c.copies.end()), c.copies.end());
  }
  // Those of one block by their first copies in the text: of several registers that one value is copied to, the
  // first takes its place, and the order of first definitions stays, by which ptxas numbers.
  const auto first = [&](const Class& c) {
    SlotIndex least = slots[c.copies.front()->instruction];
    for (const Copy* copy : c.copies) least = std::min(least, slots[copy->instruction]);
    return least;
  };
  struct Key {
    uint32_t shallowness;
    SlotIndex first;
    std::size_t place;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys;
  for (const Class& c : classes_) keys.push_back({UINT32_MAX - loops.depth(c.block), first(c), keys.size()});
  std::sort(keys.begin(), keys.end());
  std::vector<Class> sorted;
  for (const Key& k : keys) sorted.push_back(std::move(classes_[k.place]));
  classes_ = std::move(sorted);
}

bool PhiWebs::isSecond(const Copy& c) {
  const Copy& first = *firstReader_[coalescer_.read(c)];
  return coalescer_.find(coalescer_.written(first)) != coalescer_.find(coalescer_.written(c));
}

bool PhiWebs::isInIrreducible(BlockId b) const {
  const Loops& loops = context_.analyses.loops();
  for (LoopId l = loops.of(b); l.valid(); l = loops[l].parent)
    if (loops[l].irreducible) return true;
  return false;
}

std::string_view PhiWebs::keptByRule(const Class& of, const Copy& c) {
  if (isInIrreducible(of.block)) return "irreducible";
  if (isSecond(c)) return "shared-value";
  const bool stays = context_.knobs[Knob::JoinCriticalEdges] == 0 && coalescer_.isOnCriticalEdge(c);
  return stays ? "critical-edge" : std::string_view();
}

bool PhiWebs::joinWhole(Class& c) {
  std::vector<CopyValues::Number> members{c.phi};
  for (const Copy* copy : c.copies) {
    if (!keptByRule(c, *copy).empty()) return false;
    members.push_back(coalescer_.written(*copy));
    members.push_back(coalescer_.read(*copy));
  }
  if (coalescer_.checkAll(members) != Verdict::Joined) return false;
  for (const CopyValues::Number n : members) coalescer_.tryJoin(c.phi, n);
  return c.isWhole = true;
}

bool PhiWebs::joinEach(Class& c) {
  bool joined = false;
  for (const Copy* copy : c.copies) {
    std::string_view why = keptByRule(c, *copy);
    if (why.empty()) {
      const Verdict v = coalescer_.tryJoin(*copy);
      joined |= v == Verdict::Joined;
      if (v == Verdict::Joined || v == Verdict::Same) continue;
      why = name(v);
    }
    if (c.kept++ == 0) c.why = why;
  }
  return joined;
}

bool PhiWebs::join() {
  bool joined = false;
  for (Class& c : classes_) joined |= joinWhole(c);
  for (Class& c : classes_)
    if (!c.isWhole) joined |= joinEach(c);
  return joined;
}

void PhiWebs::report(CopyReport& report, std::map<std::string_view, uint64_t>& byRule) {
  struct Member {
    const Copy* copy;
    const Class* of;
  };
  std::vector<Member> members;
  for (const Class& c : classes_)
    for (const Copy* copy : c.copies) members.push_back({copy, &c});
  std::stable_sort(members.begin(), members.end(),
                   [](const Member& a, const Member& b) { return a.copy->instruction < b.copy->instruction; });
  const auto isSame = [](const Member& a, const Member& b) { return a.copy == b.copy; };
  members.erase(std::unique(members.begin(), members.end(), isSame), members.end());
  std::vector<Copy> copies;
  for (const Member& m : members) copies.push_back(*m.copy);
  report.startIteration(copies);
  byRule.clear();
  for (const Member& m : members) {
    const Verdict v = coalescer_.check(*m.copy);
    if (v == Verdict::Same)
      report.removed(*m.copy);
    else if (const std::string_view rule = keptByRule(*m.of, *m.copy); !rule.empty())
      ++byRule[rule];
    else
      report.kept(*m.copy, v);
  }
}

}  // namespace ptxopt
