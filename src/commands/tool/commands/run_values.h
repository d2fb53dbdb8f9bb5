// Values as the command line of `ptxopt run` spells them, and as it prints them.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/types.h"

namespace ptxopt::tool {

// Something on the command line, or in a file that it names, makes no sense.
struct RunError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws RunError.
template <typename... T>
[[noreturn]] void refuse(fmt::format_string<T...> format, T&&... values) {
  throw RunError(fmt::format(format, std::forward<T>(values)...));
}

// A type that values may have: u8 s8 b8 u16 s16 b16 f16 bf16 u32 s32 b32 f32 u64 s64 b64 f64. Throws RunError.
ScalarType valueType(std::string_view name);
bool isValueType(ScalarType type);
inline unsigned bytesOf(ScalarType type) { return info(type).bits / 8; }
bool isFloatType(ScalarType type);
bool isBitType(ScalarType type);

// "5", "-1", "0xff"; for floats "1.5", "nan", "inf", "0f3F800000", "0d...". Bits, the upper ones zero. Throws
// RunError.
uint64_t parseValue(ScalarType type, std::string_view text);
std::string formatValue(ScalarType type, uint64_t bits);

// "00ff01", two digits a byte. Throws RunError.
std::vector<std::byte> parseBytes(std::string_view hex);

// 0, 1, 2, ...; integers wrap.
void fillIota(ScalarType type, std::span<std::byte> data);
void fillValue(ScalarType type, uint64_t bits, std::span<std::byte> data);
// Floats from [-1, 1), all bits of integers. The same for the same seed and name.
void fillRandom(ScalarType type, uint64_t seed, std::string_view name, std::span<std::byte> data);

// The values, some a line, each line with the index of its first.
std::string formatValues(ScalarType type, std::span<const std::byte> data);

}  // namespace ptxopt::tool
