// Trials made from others: a little changed, or with arrays that have to do with each other.
#include "verify/values.h"

namespace ptxopt::verify {

namespace {

// A scalar of another trial, a little changed or equal to another one.
uint64_t nearScalar(uint64_t bits, const Trial& t, const KernelUse& use, const auto& random) {
  const auto threads = static_cast<uint64_t>(t.block.count());
  const uint64_t c = use.constants.empty() ? 2 : use.constants[random(use.constants.size())];
  const uint64_t another = t.fields[random(t.fields.size())].bits;
  const uint64_t choices[] = {bits + 1, bits - 1, bits * 2,          bits / 2, bits + threads, c,
                              c + 1,    c - 1,    bits ^ random(16), another,  random(64),     bits};
  return choices[random(std::size(choices))];
}

}  // namespace

void makeAlike(Trial& t) {
  for (std::size_t k = 0; k < t.fields.size(); ++k)
    for (std::size_t first = 0; first < k; ++first) {
      const FieldValue& other = t.fields[first];
      if (!t.fields[k].isPointer || !other.isPointer || other.contents.element != t.fields[k].contents.element)
        continue;
      t.fields[k].contents = other.contents;
      break;
    }
}

void makeConstant(Trial& t, uint64_t seed) {
  for (std::size_t k = 0; k < t.fields.size(); ++k) {
    if (!t.fields[k].isPointer) continue;
    Contents& c = t.fields[k].contents;
    if (holdsFloats(c.element) || mix(seed, k) % 4 == 0) c.kind = Contents::Kind::Same;
  }
}

Trial nearTrial(const Trial& other, const KernelUse& use, uint64_t seed, unsigned number) {
  Trial t = other;
  uint64_t state = mix(~seed, number);
  const auto random = [&](uint64_t below) {
    state = mix(state);
    return state % below;
  };
  t.dirty = number % 2 == 1;
  if (t.firstCluster == 0 && random(4) == 0) t.grid.x = t.cluster.x * static_cast<uint32_t>(1 + random(4));
  const bool sameContents = random(4) == 0;
  for (std::size_t k = 0; k < t.fields.size(); ++k) {
    FieldValue& v = t.fields[k];
    const Field& f = use.fields[k];
    if (v.isPointer) {
      if (!sameContents) v.contents.seed = mix(seed, mix(number, k));
      if (random(3) == 0)
        v.contents.kind = contentsKind(holdsFloats(v.contents.element), number, random(UINT64_MAX));
      continue;
    }
    if (f.use == Field::Use::Handle) continue;
    if (random(2 + t.fields.size() / 4) != 0) continue;
    if (f.isFloat) {
      v.bits = floatBits(f, contentsKind(true, number, random(UINT64_MAX)), random(UINT64_MAX));
      continue;
    }
    v.bits = cutTo(f, nearScalar(v.bits, t, use, random));
  }
  if (!sameContents && random(8) == 0) makeAlike(t);
  if (!sameContents && random(16) == 0) makeConstant(t, random(UINT64_MAX));
  return t;
}

}  // namespace ptxopt::verify
