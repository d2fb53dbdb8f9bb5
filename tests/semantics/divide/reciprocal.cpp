// The reciprocals of the pass `divide`, for divisors of 32 bits: that what PtxAlgebra::reciprocal computes is what
// the estimate of formulas.h asks for, whatever the float reciprocal's error of up to two units in the last place.
//
//   ptxopt_divide_reciprocal [--full]    all divisors, in a minute or so; without it the ends and one of 61 between
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace {

float roundedUp(uint32_t d) {
  const auto f = static_cast<float>(d);
  return static_cast<double>(f) < static_cast<double>(d) ? std::bit_cast<float>(std::bit_cast<uint32_t>(f) + 1) : f;
}

uint32_t truncated(float f) { return f >= 4294967296.0f ? UINT32_MAX : static_cast<uint32_t>(f); }

// 2^32 - m * d in [0, d]; or m = 0 for a divisor that goes into any number at most once.
bool isGood(uint32_t m, uint32_t d) {
  constexpr uint64_t kAll = uint64_t{1} << 32;
  const uint64_t product = static_cast<uint64_t>(m) * d;
  return product <= kAll && (kAll - product <= d || (m == 0 && d >= kAll / 2));
}

bool check(uint32_t d) {
  const auto inverse = static_cast<float>(1.0 / static_cast<double>(roundedUp(d)));
  for (int error = -2; error <= 2; ++error) {
    const uint32_t bits = std::bit_cast<uint32_t>(inverse) + static_cast<uint32_t>(error) + 0x0ffffffdu;
    const uint32_t rough = truncated(std::bit_cast<float>(bits)), negated = 0u - d;
    const uint32_t better = rough + static_cast<uint32_t>(uint64_t{rough} * (rough * negated) >> 32);
    const uint32_t factor = better * negated > d ? better + 1 : better;
    if (isGood(factor, d)) continue;
    fmt::print("divisor {} with an error of {}: {}\n", d, error, factor);
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool full = argc > 1 && std::strcmp(argv[1], "--full") == 0;
  constexpr uint64_t kEnds = 1u << 21, kAll = uint64_t{1} << 32;
  uint64_t checked = 0, failed = 0;
  for (uint64_t d = 1; d < kAll; d += full || d < kEnds || d > kAll - kEnds ? 1 : 61) {
    ++checked;
    if (!check(static_cast<uint32_t>(d)) && ++failed == 20) break;
  }
  fmt::print("divide: {} reciprocals, {} failed\n", checked, failed);
  return failed == 0 ? 0 : 1;
}
