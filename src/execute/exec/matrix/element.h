// Element types of the matrix instructions: their sizes, and the exact values of narrow floats.
//
// Every float type here but f64 has a value that is a double, exactly, and the product of two such values is a
// double too (at most 22 significant bits, exponents within +-300). tf32 is what the hardware reads of a 32-bit
// register: the low 13 bits are dropped, whatever they are. Encodings: IEEE 754 for f16, bf16, tf32, f32 and e5m2;
// e4m3 has no infinity and one NaN (magnitude 0x7f); e2m3, e3m2 and e2m1 have only finite values. Subnormals count
// everywhere.
//
// An element is held as raw bits in the low end of a uint64_t.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ptxopt::exec::matrix {

enum class Element : uint8_t { F16, Bf16, Tf32, F32, F64, E4m3, E5m2, E2m3, E3m2, E2m1, S32, S8, U8, S4, U4, B1 };

// Bits of one element in memory and in packed registers.
constexpr unsigned bits(Element e) {
  constexpr uint8_t kBits[] = {16, 16, 32, 32, 64, 8, 8, 6, 6, 4, 32, 8, 8, 4, 4, 1};
  return kBits[static_cast<unsigned>(e)];
}
// That one word of a fragment or of shared memory holds in this arithmetic: bits are taken by 32.
constexpr unsigned elementsInWord(Element e) { return e == Element::B1 ? 32 : 1; }
bool isFloat(Element e);
bool isSigned(Element e);
// e4m3, e5m2, e2m3, e3m2, e2m1.
bool isTinyFloat(Element e);
std::optional<Element> elementNamed(std::string_view name);

// The value of a float of any type but f64.
double toDouble(Element e, uint64_t raw);
void toDoubles(Element e, std::span<const uint64_t> raw, std::span<double> values);
// The value of an integer element; raw bits above its size do not count.
int64_t toInteger(Element e, uint64_t raw);

// `value` rounded once to f32 or f16 (nearest, ties to even); every NaN is 0x7fffffff or 0x7fff.
uint32_t roundToF32(double value);
uint16_t roundToF16(double value);

}  // namespace ptxopt::exec::matrix
