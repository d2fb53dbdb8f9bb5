// Numbers are rounded once, from the text to the type, and hexadecimal ones are bits. Random contents come from
// splitmix64 seeded by FNV-1a of the seed and the buffer's name, so that they do not depend on the order of buffers.
#include "tool/commands/run_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "exec/value/half.h"

namespace ptxopt::tool {
namespace {

constexpr std::array<std::string_view, 16> kValueTypes = {"u8",  "s8",  "b8",  "u16", "s16", "b16", "f16", "bf16",
                                                          "u32", "s32", "b32", "f32", "u64", "s64", "b64", "f64"};

uint64_t lowBits(unsigned bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

// A double as the bits of a type, rounded to nearest.
uint64_t floatBits(ScalarType type, double value) {
  switch (type) {
    case ScalarType::f16: return exec::roundTo<exec::F16>(value, exec::Rounding::Nearest);
    case ScalarType::bf16: return exec::roundTo<exec::Bf16>(value, exec::Rounding::Nearest);
    case ScalarType::f32: return std::bit_cast<uint32_t>(static_cast<float>(value));
    default: return std::bit_cast<uint64_t>(value);
  }
}

uint64_t quietNan(ScalarType type) {
  switch (type) {
    case ScalarType::f16: return 0x7e00;
    case ScalarType::bf16: return 0x7fc0;
    case ScalarType::f32: return 0x7fc00000;
    default: return 0x7ff8000000000000;
  }
}

uint64_t parseHexBits(ScalarType type, std::string_view text, std::string_view digits) {
  uint64_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.size() * 4 != info(type).bits)
    refuse("'{}' is not 0{} and {} hexadecimal digits", text, text[1], info(type).bits / 4);
  return bits;
}

uint64_t parseFloat(ScalarType type, std::string_view text) {
  const auto starts = [&](char letter) { return text.size() > 1 && text[0] == '0' && (text[1] | 0x20) == letter; };
  if (type == ScalarType::f32 && starts('f')) return parseHexBits(type, text, text.substr(2));
  if (type == ScalarType::f64 && starts('d')) return parseHexBits(type, text, text.substr(2));
  std::string_view magnitude = text;
  const bool isNegative = text.starts_with('-');
  if (isNegative || text.starts_with('+')) magnitude.remove_prefix(1);
  const uint64_t sign = isNegative ? uint64_t{1} << (info(type).bits - 1) : 0;
  if (magnitude == "nan") return quietNan(type) | sign;
  if (magnitude == "inf") return floatBits(type, isNegative ? -HUGE_VAL : HUGE_VAL);
  // from_chars of float and double round the text once.
  const char *const begin = magnitude.data(), *const end = begin + magnitude.size();
  const bool isNumber = !magnitude.empty() && (magnitude[0] == '.' || (magnitude[0] >= '0' && magnitude[0] <= '9'));
  std::from_chars_result result{begin, std::errc::invalid_argument};
  uint64_t bits = 0;
  if (isNumber && type == ScalarType::f32) {
    float value = 0;
    result = std::from_chars(begin, end, value);
    bits = std::bit_cast<uint32_t>(value);
  } else if (isNumber) {
    double value = 0;
    result = std::from_chars(begin, end, value);
    bits = floatBits(type, value);
    const uint64_t infinity = floatBits(type, HUGE_VAL);
    if (result.ec == std::errc() && bits == infinity) result.ec = std::errc::result_out_of_range;
  }
  if (result.ec == std::errc::result_out_of_range && result.ptr == end)
    refuse("'{}' does not fit into {}", text, info(type).name);
  if (result.ec != std::errc() || result.ptr != end)
    refuse("'{}' is not a value of type {}", text, info(type).name);
  return bits | sign;
}

uint64_t parseInteger(ScalarType type, std::string_view text) {
  const unsigned bits = info(type).bits;
  std::string_view digits = text;
  const bool isNegative = text.starts_with('-');
  if (isNegative) digits.remove_prefix(1);
  const bool isHex = digits.starts_with("0x") || digits.starts_with("0X");
  if (isHex) digits.remove_prefix(2);
  uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, isHex ? 16 : 10);
  if (error == std::errc::invalid_argument || stop != end)
    refuse("'{}' is not a value of type {}", text, info(type).name);
  const bool isSigned = isSignedType(type), isBits = isBitType(type);
  const uint64_t half = uint64_t{1} << (bits - 1);
  // Hexadecimal numbers are bits.
  const uint64_t most = isNegative           ? (isSigned || isBits ? half : 0)
                        : isSigned && !isHex ? half - 1
                                             : lowBits(bits);
  if (error != std::errc() || value > most) refuse("'{}' does not fit into {}", text, info(type).name);
  return (isNegative ? 0 - value : value) & lowBits(bits);
}

template <typename F>
void forEachElement(ScalarType type, std::span<std::byte> data, F&& bitsAt) {
  const unsigned bytes = bytesOf(type);
  for (std::size_t i = 0; i < data.size() / bytes; ++i) {
    const uint64_t bits = bitsAt(i);
    std::memcpy(data.data() + i * bytes, &bits, bytes);  // little-endian, as all that CUDA runs on
  }
}

double floatOf(ScalarType type, uint64_t bits) {
  switch (type) {
    case ScalarType::f16: return exec::widen<exec::F16>(static_cast<uint16_t>(bits));
    case ScalarType::bf16: return exec::widen<exec::Bf16>(static_cast<uint16_t>(bits));
    case ScalarType::f32: return std::bit_cast<float>(static_cast<uint32_t>(bits));
    default: return std::bit_cast<double>(bits);
  }
}

}  // namespace

bool isFloatType(ScalarType type) {
  return type == ScalarType::f16 || type == ScalarType::bf16 || type == ScalarType::f32 || type == ScalarType::f64;
}
bool isBitType(ScalarType type) {
  return type == ScalarType::b8 || type == ScalarType::b16 || type == ScalarType::b32 || type == ScalarType::b64;
}

bool isValueType(ScalarType type) {
  return std::find(kValueTypes.begin(), kValueTypes.end(), info(type).name) != kValueTypes.end();
}

ScalarType valueType(std::string_view name) {
  if (std::find(kValueTypes.begin(), kValueTypes.end(), name) == kValueTypes.end())
    refuse("'{}' is none of {}", name, fmt::join(kValueTypes, " "));
  return scalarType(name);
}

uint64_t parseValue(ScalarType type, std::string_view text) {
  return isFloatType(type) ? parseFloat(type, text) : parseInteger(type, text);
}

std::string formatValue(ScalarType type, uint64_t bits) {
  const unsigned size = bytesOf(type);
  if (isFloatType(type)) {
    const double value = floatOf(type, bits);
    if (std::isnan(value)) return fmt::format("nan(0x{:0{}x})", bits, size * 2);
    // The shortest text that gives the value back; f16 and bf16 are shown as the float that they are.
    return type == ScalarType::f64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  }
  if (isBitType(type)) return fmt::format("0x{:0{}x}", bits, size * 2);
  if (!isSignedType(type)) return fmt::format("{}", bits);
  const unsigned unused = 64 - size * 8;
  return fmt::format("{}", static_cast<int64_t>(bits << unused) >> unused);
}

std::vector<std::byte> parseBytes(std::string_view hex) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    uint8_t value = 0;
    const char* const end = hex.data() + std::min(i + 2, hex.size());
    const auto [stop, error] = std::from_chars(hex.data() + i, end, value, 16);
    if (error != std::errc() || stop != hex.data() + i + 2) refuse("'{}' is not pairs of hexadecimal digits", hex);
    out.push_back(std::byte{value});
  }
  return out;
}

void fillIota(ScalarType type, std::span<std::byte> data) {
  forEachElement(type, data, [&](std::size_t i) {
    return isFloatType(type) ? floatBits(type, static_cast<double>(i)) : uint64_t{i};
  });
}

void fillValue(ScalarType type, uint64_t bits, std::span<std::byte> data) {
  forEachElement(type, data, [&](std::size_t) { return bits; });
}

// The generator is splitmix64, begun at a hash (FNV-1a) of seed and name.
void fillRandom(ScalarType type, uint64_t seed, std::string_view name, std::span<std::byte> data) {
  uint64_t state = 0xcbf29ce484222325;
  const auto hash = [&](uint8_t byte) { state = (state ^ byte) * 0x100000001b3; };
  for (unsigned i = 0; i < 64; i += 8) hash(static_cast<uint8_t>(seed >> i));
  for (const char c : name) hash(static_cast<uint8_t>(c));
  const auto next = [&] {
    uint64_t x = state += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  };
  // As many bits as a value of [-1, 1) can have one beside the other: all results are exact.
  const int digits = type == ScalarType::f16    ? 11
                     : type == ScalarType::bf16 ? 8
                     : type == ScalarType::f32  ? 24
                                                : 53;
  forEachElement(type, data, [&](std::size_t) {
    const uint64_t x = next();
    if (!isFloatType(type)) return x;
    return floatBits(type, std::ldexp(static_cast<double>(x >> (64 - digits)), 1 - digits) - 1.0);
  });
}

std::string formatValues(ScalarType type, std::span<const std::byte> data) {
  const unsigned bytes = bytesOf(type);
  const std::size_t perLine = bytes == 1 ? 16 : bytes == 8 ? 4 : 8;
  std::string out;
  const std::size_t count = data.size() / bytes;
  for (std::size_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, data.data() + i * bytes, bytes);
    if (i % perLine == 0) out += fmt::format("{}  [{}]", i == 0 ? "" : "\n", i);
    out += ' ';
    out += formatValue(type, bits);
  }
  if (count != 0) out += '\n';
  return out;
}

}  // namespace ptxopt::tool
