// Classes of equal registers are numbers that are valid in one epoch. Parts, packs and selections are numbered by their
// operands within a block, so that equal ones get one number. Where edges meet, registers stay together if they are
// together on both.
#include "passes/coalescing/check_values.h"

#include <algorithm>

namespace ptxopt::coalescing {

namespace {

// Keeps the classes that say something, several names or a part of a named one, and numbers them as they come up.
void tidy(KnownNames& known) {
  std::map<Class, uint32_t> size;
  for (const auto& m : known.members) ++size[m.in];
  std::erase_if(known.parts, [&](const auto& p) { return !size.contains(p.whole) || !size.contains(p.part); });
  for (const auto& p : known.parts) size[p.whole] = size[p.part] = 2;
  std::erase_if(known.members, [&](const auto& m) { return size[m.in] < 2; });
  std::map<Class, Class> number;
  for (auto& m : known.members) m.in = number.try_emplace(m.in, static_cast<Class>(number.size())).first->second;
  for (auto& p : known.parts) p.whole = number[p.whole], p.part = number[p.part];
  std::sort(known.parts.begin(), known.parts.end());
}

}  // namespace

bool KnownNames::meet(const KnownNames& other) {
  if (!isReached) {
    *this = other;
    isReached = true;
    return true;
  }
  KnownNames met;
  met.isReached = true;
  std::map<std::pair<Class, Class>, Class> both;
  std::multimap<Class, std::pair<Class, Class>> pairsOf;  // by the class here: that there, and the common one
  auto theirs = other.members.begin();
  for (const Member& m : members) {
    while (theirs != other.members.end() && theirs->name < m.name) ++theirs;
    if (theirs == other.members.end() || theirs->name != m.name) continue;
    const auto [at, isNew] = both.try_emplace({m.in, theirs->in}, static_cast<Class>(both.size()));
    if (isNew) pairsOf.emplace(m.in, std::pair(theirs->in, at->second));
    met.members.push_back({m.name, at->second});
  }
  for (const Part& p : parts) {
    const auto [first, last] = pairsOf.equal_range(p.whole);
    for (auto w = first; w != last; ++w) {
      const auto [theirWhole, whole] = w->second;
      const auto q =
          std::lower_bound(other.parts.begin(), other.parts.end(), Part{theirWhole, p.count, p.index, 0});
      if (q == other.parts.end() || q->whole != theirWhole || q->count != p.count || q->index != p.index) continue;
      if (const auto part = both.find({p.part, q->part}); part != both.end())
        met.parts.push_back({whole, p.count, p.index, part->second});
    }
  }
  tidy(met);
  if (met.members == members && met.parts == parts) return false;
  *this = std::move(met);
  return true;
}

void NameClasses::load(const KnownNames& known) {
  ++epoch_;
  usedConstants_.clear();
  next_ = 0;
  parts_.clear();
  packs_.clear();
  selections_.clear();
  selectionOf_.clear();
  for (const auto& m : known.members) {
    set(m.name, m.in);
    next_ = std::max(next_, m.in + 1);
  }
  std::map<std::pair<Class, uint32_t>, std::vector<Class>> wholes;
  for (const auto& p : known.parts) {
    parts_[{p.whole, p.count, p.index}] = p.part;
    wholes[{p.whole, p.count}].push_back(p.part);
  }
  for (const auto& [whole, parts] : wholes) {
    if (parts.size() != whole.second) continue;
    std::array<uint32_t, kMostParts + 1> key{whole.second};
    std::copy(parts.begin(), parts.end(), key.begin() + 1);
    packs_[key] = whole.first;
  }
}

KnownNames NameClasses::save(std::span<const Name> live) {
  KnownNames known;
  known.isReached = true;
  for (const Name n : live) known.members.push_back({n, (*this)[n]});
  std::sort(usedConstants_.begin(), usedConstants_.end());
  for (const Name n : usedConstants_) known.members.push_back({n, class_[n]});
  for (const auto& [key, part] : parts_) known.parts.push_back({key[0], key[1], key[2], part});
  tidy(known);
  return known;
}

Class NameClasses::operator[](Name n) {
  if (epochOf_[n] != epoch_) set(n, fresh());
  return class_[n];
}

void NameClasses::set(Name n, Class c) {
  if (n >= constants_ && epochOf_[n] != epoch_) usedConstants_.push_back(n);
  epochOf_[n] = epoch_;
  class_[n] = c;
}

Class NameClasses::part(Class whole, uint32_t count, uint32_t index) {
  const auto [at, isNew] = parts_.try_emplace({whole, count, index}, next_);
  if (!isNew) return at->second;
  const Class c = fresh();
  std::array<uint32_t, kMostParts + 1> key{count};
  for (uint32_t k = 0; k < count; ++k) {
    const auto other = parts_.find({whole, count, k});
    if (other == parts_.end()) return c;
    key[k + 1] = other->second;
  }
  packs_.try_emplace(key, whole);
  return c;
}

Class NameClasses::pack(std::span<const Class> parts) {
  std::array<uint32_t, kMostParts + 1> key{static_cast<uint32_t>(parts.size())};
  std::copy(parts.begin(), parts.end(), key.begin() + 1);
  const auto [at, isNew] = packs_.try_emplace(key, next_);
  if (!isNew) return at->second;
  const Class c = fresh();
  for (uint32_t k = 0; k < parts.size(); ++k) parts_[{c, key[0], k}] = parts[k];
  return c;
}

Class NameClasses::select(Class predicate, Class source, Class otherwise) {
  const auto selection = [&](Class c) -> const Selection* {
    const auto at = selectionOf_.find(c);
    return at != selectionOf_.end() && at->second.predicate == predicate ? &at->second : nullptr;
  };
  if (const Selection* s = selection(source)) source = s->source;
  if (const Selection* s = selection(otherwise)) otherwise = s->otherwise;
  if (source == otherwise) return source;
  const Selection term{predicate, source, otherwise};
  const auto [at, isNew] = selections_.try_emplace(term, next_);
  if (isNew) selectionOf_[fresh()] = term;
  return at->second;
}

}  // namespace ptxopt::coalescing
