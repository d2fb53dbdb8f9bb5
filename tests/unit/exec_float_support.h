// What the tests of floating-point instructions share: numbers to try, and cases made of a function of numbers.
#pragma once

#include <type_traits>

#include "exec/error.h"
#include "exec_float_reference.h"
#include "exec_lanes.h"
#include "exec_rows.h"

namespace ptxopt::testing {

// .ftz: a zero of the same sign for a subnormal number.
template <class Format>
typename Format::Word withoutSubnormal(typename Format::Word x) {
  const double value = decode<Format>(x);
  if (value == 0 || std::isnan(value) || std::fabs(value) >= std::ldexp(1.0, Format::kLeastExponent)) return x;
  return encode<Format>(std::copysign(0.0, value));
}

// .sat
template <class Format>
typename Format::Word clamped(typename Format::Word x) {
  const double value = decode<Format>(x);
  return encode<Format>(value > 0 ? std::min(value, 1.0) : 0.0);
}

// 64-bit values made of numbers of a format: edges with edges, and others at random.
template <class Format>
std::vector<Values> numbers(int count) {
  using Word = typename Format::Word;
  Operands<Format> random(count);
  const std::vector<Word> edge = edges<Format>();
  std::size_t next = 0;
  const auto pick = [&](bool fromEdges) {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += Format::kBits)
      v |= static_cast<uint64_t>(fromEdges ? edge[next++ * 7 % edge.size()] : random.next()) << shift;
    return v;
  };
  std::vector<Values> result;
  for (std::size_t i = 0; i < edge.size(); ++i)
    for (std::size_t j = i % 5; j < edge.size(); j += 5) {
      Values v{pick(true), pick(true), pick(true), pick(true)};
      v.x = (v.x & ~static_cast<uint64_t>(static_cast<Word>(~Word{0}))) | edge[i];
      v.y = (v.y & ~static_cast<uint64_t>(static_cast<Word>(~Word{0}))) | edge[j];
      result.push_back(v);
    }
  for (int i = 0; i < testing::cases(count); ++i)
    result.push_back({pick(false), pick(false), pick(false), pick(false)});
  return result;
}

// x a half; y and z halves, or numbers of f32 that the sum of which with it can round.
template <class Half>
std::vector<Values> mixedNumbers(int count) {
  Operands<Half> half(7);
  Operands<exec::F32> single(8);
  std::vector<Values> result;
  for (int i = 0; i < testing::cases(count); ++i) {
    Values v{half.next(), single.next(), single.next(), 0};
    if (i % 2 == 0) {  // z near x, y a bit of noise below it
      const auto x = std::bit_cast<uint32_t>(static_cast<float>(decode<Half>(static_cast<uint16_t>(v.x))));
      v.y = (x ^ (v.y & 0x807F'FFFF)) + ((v.y >> 23) % 8 << 23);
      v.z = x ^ (v.z & 0x80FF'FFFF);
    }
    result.push_back({v.x, static_cast<uint32_t>(v.y), static_cast<uint32_t>(v.z), 0});
  }
  return result;
}

// d = f(a, b, c) number by number, of kPerLane numbers in a register.
template <class Format, typename F>
LaneCase numberCase(const std::string& opcode, unsigned perLane, unsigned operands, F f) {
  using Word = typename Format::Word;
  const unsigned bits = static_cast<unsigned>(Format::kBits) * perLane;
  const std::string suffix = bits == 64 ? "" : bits == 32 ? "r" : "h";
  const char result = bits == 64 ? 'd' : bits == 32 ? 'r' : 'h';
  std::string ptx = opcode + " %" + result;
  for (unsigned i = 0; i < operands; ++i) ptx += std::string(", %") + "xyz"[i] + suffix;
  return {ptx + ";", result, [=](const Values& v) {
            uint64_t packed = 0;
            for (unsigned k = 0; k < perLane; ++k) {
              const unsigned shift = k * static_cast<unsigned>(Format::kBits);
              const std::array<Word, 3> x = {static_cast<Word>(v.x >> shift), static_cast<Word>(v.y >> shift),
                                             static_cast<Word>(v.z >> shift)};
              packed |= static_cast<uint64_t>(static_cast<Word>(f(x))) << shift;
            }
            return packed;
          }};
}

// What running kernel k of the machine complains of.
inline std::string message(exec::Machine& machine) {
  auto& buffer = machine.memory().allocate("buffer", 4096);
  exec::LaunchConfig config;
  config.block = {32, 1, 1};
  config.grid = {1, 1, 1};
  config.parameters.resize(20);
  std::memcpy(config.parameters.data(), &buffer.base, 8);
  std::memcpy(config.parameters.data() + 8, &buffer.base, 8);
  const uint32_t count = 32;
  std::memcpy(config.parameters.data() + 16, &count, 4);
  try {
    config.observer = &exec::executedRows();
    machine.launch("k", config);
  } catch (const exec::ExecError& e) {
    return e.what();
  }
  return {};
}

}  // namespace ptxopt::testing
