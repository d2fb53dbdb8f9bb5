// 64-bit and 128-bit integers: tests of primes, bits, divisions, and a fraction to many digits.
#include "program.h"

using Wide = unsigned long long;

__host__ __device__ Wide timesModulo(Wide a, Wide b, Wide m) {
  return static_cast<Wide>(static_cast<unsigned __int128>(a) * b % m);
}
__host__ __device__ bool isPrime(Wide n) {
  if (n < 2 || n % 2 == 0) return n == 2;
  Wide d = n - 1;
  int twos = 0;
  for (; d % 2 == 0; d /= 2) ++twos;
  for (Wide base : {2ull, 3ull, 5ull, 7ull}) {
    if (n == base) return true;
    Wide x = 1, power = base % n;
    for (Wide e = d; e != 0; e /= 2, power = timesModulo(power, power, n))
      if (e % 2 == 1) x = timesModulo(x, power, n);
    bool mayBe = x == 1 || x == n - 1;
    for (int i = 1; i < twos && !mayBe; ++i) mayBe = (x = timesModulo(x, x, n)) == n - 1;
    if (!mayBe) return false;
  }
  return true;
}

__global__ void primes(Wide from, unsigned* bits) {
  const unsigned vote = __ballot_sync(~0u, isPrime(from + blockIdx.x * blockDim.x + threadIdx.x));
  if (threadIdx.x % 32 == 0) bits[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = vote;
}

__global__ void bits(const Wide* in, Wide* out) {
  const Wide x = in[threadIdx.x];
  Wide* const o = out + 8 * threadIdx.x;
  o[0] = __popcll(x);
  o[1] = __clzll(static_cast<long long>(x));
  o[2] = __ffsll(static_cast<long long>(x));
  o[3] = __brevll(x);
  o[4] = __umul64hi(x, x | 1);
  o[5] = static_cast<Wide>(static_cast<long long>(x) / 1000003);
  o[6] = x % ((x >> 40) + 3);
  o[7] = x << (x & 63) | x >> (63 - (x & 63));
}

// A thread a fraction 1 / n: its digits, and where they begin to repeat.
__global__ void fractions(int* lengths) {
  const int n = 2 + static_cast<int>(threadIdx.x);
  int seen[100];
  for (int i = 0; i < n; ++i) seen[i] = -1;
  int rest = 1 % n, at = 0;
  while (rest != 0 && seen[rest] < 0) seen[rest] = at++, rest = rest * 10 % n;
  lengths[threadIdx.x] = rest == 0 ? 0 : at - seen[rest];
}

int main() {
  const Wide from = 1000000000000ull;
  unsigned* const votes = zeros<unsigned>(2);
  primes<<<2, 32>>>(from, votes);
  const auto found = onHost(votes, 2);
  for (int i = 0; i < 64; ++i) EXPECT((found[i / 32] >> i % 32 & 1) == isPrime(from + i));

  Numbers numbers;
  std::vector<Wide> values(32);
  for (Wide& v : values) v = static_cast<Wide>(numbers.next()) << 32 | numbers.next();
  values[3] = 1ull << 63;
  Wide* const out = zeros<Wide>(values.size() * 8);
  bits<<<1, 32>>>(onDevice(values), out);
  LAUNCHED();
  const auto r = onHost(out, values.size() * 8);
  for (size_t i = 0; i < values.size(); ++i) {
    const Wide x = values[i];
    Wide reversed = 0;
    for (int b = 0; b < 64; ++b) reversed |= (x >> b & 1) << (63 - b);
    EXPECT(r[8 * i] == static_cast<Wide>(__builtin_popcountll(x)) && r[8 * i + 1] == static_cast<Wide>(__builtin_clzll(x)));
    EXPECT(r[8 * i + 2] == static_cast<Wide>(__builtin_ffsll(static_cast<long long>(x))) && r[8 * i + 3] == reversed);
    EXPECT(r[8 * i + 4] == static_cast<Wide>(static_cast<unsigned __int128>(x) * (x | 1) >> 64));
    EXPECT(r[8 * i + 5] == static_cast<Wide>(static_cast<long long>(x) / 1000003) && r[8 * i + 6] == x % ((x >> 40) + 3));
    EXPECT(r[8 * i + 7] == (x << (x & 63) | x >> (63 - (x & 63))));
  }
  int* const lengths = zeros<int>(98);
  fractions<<<1, 98>>>(lengths);
  const auto l = onHost(lengths, 98);
  EXPECT(l[7 - 2] == 6 && l[97 - 2] == 96 && l[8 - 2] == 0 && l[13 - 2] == 6 && l[12 - 2] == 1);
  return passed();
}
