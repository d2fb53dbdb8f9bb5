// The values that inputs are made of: functions of a seed and a place.
#pragma once

#include <cstdint>

#include "verify/input.h"

namespace ptxopt::verify {

// Counter-based randomness: a well mixed function of its arguments.
uint64_t mix(uint64_t x);
uint64_t mix(uint64_t a, uint64_t b);

// An integer of that many bits.
uint64_t integerValue(Contents::Kind kind, unsigned bits, uint64_t r);
// Element `index` of memory.
uint64_t elementValue(const Contents& c, uint64_t index);
bool holdsFloats(ScalarType type);
// What kind of contents trial `number` has: plain ones at first, later any.
Contents::Kind contentsKind(bool floats, unsigned number, uint64_t r);
// A scalar that is a floating-point number.
uint64_t floatBits(const Field& f, Contents::Kind kind, uint64_t r);
// The low bits, as many as the field has.
inline uint64_t cutTo(const Field& f, uint64_t bits) {
  return f.bytes < 8 ? bits & ((uint64_t{1} << (f.bytes * 8)) - 1) : bits;
}

}  // namespace ptxopt::verify
