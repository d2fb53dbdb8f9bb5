// Where values may point: the lattice of the analysis of fields.h.
#pragma once

#include <cstdint>
#include <map>
#include <numeric>

namespace ptxopt::verify {

// at + k * stride, for any k; a stride of 0: at alone.
struct Spot {
  int64_t at = 0;
  uint64_t stride = 0;
  bool isTerm = false;  // the value is a sum of several fields; one may be the pointer
};

inline Spot together(Spot a, Spot b) {
  const uint64_t stride =
      std::gcd(std::gcd(a.stride, b.stride), static_cast<uint64_t>(a.at < b.at ? b.at - a.at : a.at - b.at));
  const bool isTerm = a.isTerm || b.isTerm;
  if (stride == 0) return {a.at, 0, isTerm};
  const auto s = static_cast<int64_t>(stride);
  return {(a.at % s + s) % s, stride, isTerm};
}

// Fields, and where in the memory of each a value may point.
using FieldSet = std::map<uint32_t, Spot>;

// False when nothing is new.
inline bool merge(FieldSet& into, const FieldSet& from) {
  bool changed = false;
  for (const auto& [field, spot] : from) {
    const auto [known, isNew] = into.try_emplace(field, spot);
    const Spot all = isNew ? spot : together(known->second, spot);
    changed = changed || isNew || all.at != known->second.at || all.stride != known->second.stride ||
              all.isTerm != known->second.isTerm;
    known->second = all;
  }
  return changed;
}

// The values of `from` with something added: a constant, or multiples of `stride`.
inline FieldSet moved(const FieldSet& from, int64_t by, uint64_t stride) {
  FieldSet result = from;
  for (auto& [field, spot] : result)
    spot = together({spot.at + by, spot.stride, spot.isTerm}, {spot.at + by, stride, false});
  return result;
}

}  // namespace ptxopt::verify
