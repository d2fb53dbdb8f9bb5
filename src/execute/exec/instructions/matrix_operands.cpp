// Registers of 32 lanes are copied into arrays of lanes and back, so that the arithmetic of matrices sees plain
// numbers. A lane that is missing is reported as exited, elsewhere or never started.
#include "exec/instructions/matrix_operands.h"

#include <fmt/format.h>

#include <bit>

#include "exec/error.h"

namespace ptxopt::exec {

namespace {

// "3, 8-15, 31"
std::string lanesOf(Mask mask) {
  std::string text;
  while (mask != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const auto count = static_cast<unsigned>(std::countr_one(mask >> first));
    if (!text.empty()) text += ", ";
    text += count == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, first + count - 1);
    if (first + count >= kLanes) break;
    mask = mask >> (first + count) << (first + count);
  }
  return text;
}

ScalarType bitsType(unsigned bits) { return bits == 64 ? ScalarType::b64 : ScalarType::b32; }

void checkCount(const Binder& b, std::size_t given, unsigned count, const char* what) {
  if (given != count) b.unsupported(fmt::format("{} registers for {}, which has {}", given, what, count));
}

}  // namespace

void requireWholeWarp(const Warp& w, Mask active) {
  if (active == kAllLanes) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(active));
  std::string text = "all 32 lanes of the warp must execute it together";
  const Mask never = ~w.started(), exited = ~active & w.exited(), elsewhere = ~active & ~never & ~exited;
  if (never != 0) text += fmt::format("; the block has no lanes {}", lanesOf(never));
  if (exited != 0) text += fmt::format("; lanes {} have exited", lanesOf(exited));
  if (elsewhere != 0) text += fmt::format("; lanes {} are not there", lanesOf(elsewhere));
  throw LaneFault{FaultKind::Deadlock, lane, text};
}

uint64_t uniformValue(const Warp& w, const Arg& a, const char* what) {
  const uint64_t first = w.value(a, 0);
  for (unsigned i = 1; i < kLanes; ++i) {
    if (w.value(a, i) == first) continue;
    throw LaneFault{FaultKind::Unsupported, i,
                    fmt::format("{} is not the same in all lanes: {:#x} and, in lane 0, {:#x}; that is undefined "
                                "behaviour",
                                what, w.value(a, i), first)};
  }
  return first;
}

void readRegisters(const Warp& w, std::span<const Arg> args, std::span<matrix::Lanes> lanes) {
  for (std::size_t r = 0; r < args.size(); ++r) {
    if (args[r].bytes == 8) {
      const uint64_t* const from = w.in<uint64_t>(args[r]);
      for (unsigned i = 0; i < kLanes; ++i) lanes[r][i] = from[i];
    } else {
      const uint32_t* const from = w.in<uint32_t>(args[r]);
      for (unsigned i = 0; i < kLanes; ++i) lanes[r][i] = from[i];
    }
  }
}

void writeRegisters(const Warp& w, std::span<const Arg> args, std::span<const matrix::Lanes> lanes) {
  for (std::size_t r = 0; r < args.size(); ++r) {
    if (args[r].bytes == 8) {
      uint64_t* const to = w.out<uint64_t>(args[r]);
      for (unsigned i = 0; i < kLanes; ++i) to[i] = lanes[r][i];
    } else {
      uint32_t* const to = w.out<uint32_t>(args[r]);
      for (unsigned i = 0; i < kLanes; ++i) to[i] = static_cast<uint32_t>(lanes[r][i]);
    }
  }
}

std::vector<Arg> matrixSources(Binder& b, std::size_t operand, unsigned count, unsigned bits, const char* what) {
  std::vector<Arg> args = b.sources(operand, bitsType(bits));
  checkCount(b, args.size(), count, what);
  return args;
}

std::vector<Arg> matrixDests(Binder& b, std::size_t operand, unsigned count, unsigned bits, const char* what) {
  std::vector<Arg> args = b.dests(operand, bitsType(bits));
  checkCount(b, args.size(), count, what);
  return args;
}

void refuseSparse(const Binder& b) {
  if (b.has("sp") || b.has("sp::ordered_metadata")) b.unsupported("sparse matrices");
}

}  // namespace ptxopt::exec
