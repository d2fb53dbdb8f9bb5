// BitVector and BitRows against the memory: bytes a second of their operations on sets of 1 KiB to 16 MiB, beside memcpy's.
//
//     cmake --build --preset ci --target ptxopt_bench && build/ci/tests/ptxopt_bench
//
// Bytes are those an operation reads and writes. `converged` is a solver's last iteration, where nothing changes: it
// only reads. `grows` changes the last word only. On sets beyond the caches all are about as
// fast as memcpy, listing by half.
#include "support/bit_rows.h"

#include <benchmark/benchmark.h>

#include <cstring>

using ptxopt::BitRows;
using ptxopt::BitVector;

namespace {

BitVector every(std::size_t bits, std::size_t step) {
  BitVector set(bits);
  for (std::size_t i = 0; i < bits; i += step) set.set(i);
  return set;
}

BitRows everyInRow(std::size_t bits, std::size_t step) {
  BitRows row(1, bits);
  for (std::size_t i = 0; i < bits; i += step) row.set(0, i);
  return row;
}

std::size_t bitsOf(const benchmark::State& state) { return static_cast<std::size_t>(state.range(0)) * 8; }

void tell(benchmark::State& state, int64_t streams) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * state.range(0) * streams);
}

void copyOfMemory(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  std::vector<char> from(bytes, 1), to(bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  tell(state, 2);
}

void orAssign(benchmark::State& state) {
  BitVector a = every(bitsOf(state), 3);
  const BitVector b = every(bitsOf(state), 5);
  for (auto _ : state) {
    a |= b;
    benchmark::ClobberMemory();
  }
  tell(state, 3);
}

void orSliceIfChangedConverged(benchmark::State& state) {
  BitRows a = everyInRow(bitsOf(state), 1);
  const BitVector b = every(bitsOf(state), 5);
  for (auto _ : state) benchmark::DoNotOptimize(a.orSliceIfChanged(0, b, 0));
  tell(state, 2);
}

void orWithAndNotIfChangedConverged(benchmark::State& state) {
  BitRows a = everyInRow(bitsOf(state), 1);
  const BitRows kill = everyInRow(bitsOf(state), 7);
  const BitVector in = every(bitsOf(state), 2);
  for (auto _ : state) benchmark::DoNotOptimize(a.orWithAndNotIfChanged(0, in, kill));
  tell(state, 3);
}

void orWithAndNotIfChangedGrows(benchmark::State& state) {
  const std::size_t bits = bitsOf(state);
  BitRows a = everyInRow(bits, 1);
  const BitRows kill = everyInRow(bits, 7);
  const BitVector in = every(bits, 1);
  const std::size_t last = (bits - 1) / 7 * 7 - 1;  // not killed
  for (auto _ : state) {
    a.reset(0, last);
    benchmark::DoNotOptimize(a.orWithAndNotIfChanged(0, in, kill));
  }
  tell(state, 3);
}

void isSubsetOf(benchmark::State& state) {
  const BitVector a = every(bitsOf(state), 6), b = every(bitsOf(state), 3);
  for (auto _ : state) {
    bool answer = a.isSubsetOf(b);
    benchmark::DoNotOptimize(answer);
    benchmark::ClobberMemory();
  }
  tell(state, 2);
}

void forEachSparse(benchmark::State& state) {
  const BitVector a = every(bitsOf(state), 1000);
  for (auto _ : state) {
    std::size_t sum = 0;
    a.forEach([&](std::size_t i) { sum += i; });
    benchmark::DoNotOptimize(sum);
  }
  tell(state, 1);
}

#define PTXOPT_SIZES RangeMultiplier(16)->Range(1 << 10, 1 << 24)
BENCHMARK(copyOfMemory)->PTXOPT_SIZES;
BENCHMARK(orAssign)->PTXOPT_SIZES;
BENCHMARK(orSliceIfChangedConverged)->PTXOPT_SIZES;
BENCHMARK(orWithAndNotIfChangedConverged)->PTXOPT_SIZES;
BENCHMARK(orWithAndNotIfChangedGrows)->PTXOPT_SIZES;
BENCHMARK(isSubsetOf)->PTXOPT_SIZES;
BENCHMARK(forEachSparse)->PTXOPT_SIZES;

}  // namespace
