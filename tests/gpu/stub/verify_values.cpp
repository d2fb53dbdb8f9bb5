// Prints what verify fills memory with, for the test of tests/gpu/contents.py: a line for each element,
//     KIND TYPE SEED INDEX BITS        numbers in hexadecimal, kinds by their number
// and one for each choice of a kind: floats (1) or integers (0), the number of the trial, what it is drawn by, the kind
//     kind FLOATS NUMBER R KIND
#include <cstdio>
#include <initializer_list>

#include "verify/values.h"

int main() {
  using namespace ptxopt;
  using Kind = verify::Contents::Kind;
  const struct {
    ScalarType type;
    const char* name;
  } types[] = {{ScalarType::u8, "u8"},   {ScalarType::u16, "u16"}, {ScalarType::u32, "u32"},
               {ScalarType::u64, "u64"}, {ScalarType::f16, "f16"}, {ScalarType::bf16, "bf16"},
               {ScalarType::f32, "f32"}, {ScalarType::f64, "f64"}};
  for (unsigned kind = 0; kind <= static_cast<unsigned>(Kind::Same); ++kind)
    for (const auto& [type, name] : types)
      for (uint64_t seed = 1; seed <= 12; ++seed) {
        verify::Contents c;
        c.kind = static_cast<Kind>(kind);
        c.element = type;
        c.seed = verify::mix(seed);
        const unsigned bits = info(type).bits;
        const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
        for (uint64_t index : {0, 1, 2, 3, 7, 100, 1023, 123456})
          std::printf("%u %s %llx %llx %llx\n", kind, name, static_cast<unsigned long long>(c.seed),
                      static_cast<unsigned long long>(index),
                      static_cast<unsigned long long>(verify::elementValue(c, index) & mask));
      }
  for (const bool floats : {false, true})
    for (unsigned number = 0; number < 40; ++number) {
      const uint64_t r = verify::mix(number);
      std::printf("kind %d %x %llx %u\n", floats, number, static_cast<unsigned long long>(r),
                  static_cast<unsigned>(verify::contentsKind(floats, number, r)));
    }
}
