// SHA-256 of short messages against known digests, and a hash table of 64-bit slots that many threads fill.
#include <cstring>
#include <string>

#include "program.h"

__constant__ unsigned kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ unsigned turned(unsigned x, int n) { return __funnelshift_r(x, x, n); }

// Of messages of one block.
__global__ void sha256(const unsigned char* messages, const int* lengths, unsigned* digests) {
  const unsigned char* const message = messages + 64 * threadIdx.x;
  const int length = lengths[threadIdx.x];
  unsigned w[64];
  for (int i = 0; i < 16; ++i) {
    w[i] = 0;
    for (int b = 0; b < 4; ++b) {
      const int at = 4 * i + b;
      w[i] = w[i] << 8 | (at < length ? message[at] : at == length ? 0x80 : 0);
    }
  }
  w[15] = length * 8;
  for (int i = 16; i < 64; ++i)
    w[i] = w[i - 16] + (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
           (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
  const unsigned start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned h[8];
  for (int i = 0; i < 8; ++i) h[i] = start[i];
  for (int i = 0; i < 64; ++i) {
    const unsigned t1 = h[7] + (turned(h[4], 6) ^ turned(h[4], 11) ^ turned(h[4], 25)) + ((h[4] & h[5]) ^ (~h[4] & h[6])) +
                        kRound[i] + w[i];
    const unsigned t2 = (turned(h[0], 2) ^ turned(h[0], 13) ^ turned(h[0], 22)) + ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
    for (int j = 7; j > 0; --j) h[j] = h[j - 1];
    h[4] += t1;
    h[0] = t1 + t2;
  }
  for (int i = 0; i < 8; ++i) digests[8 * threadIdx.x + i] = start[i] + h[i];
}

using Slot = unsigned long long;
constexpr unsigned kSlots = 1024;

__device__ unsigned slotOf(unsigned key) {
  key ^= key >> 16, key *= 0x85ebca6bu, key ^= key >> 13, key *= 0xc2b2ae35u;
  return (key ^ key >> 16) % kSlots;
}
// Keys are not 0; a key that is there already adds to its value.
__global__ void insert(const unsigned* keys, int n, Slot* table) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Slot mine = static_cast<Slot>(keys[i]) << 32 | 1;
  for (unsigned s = slotOf(keys[i]);; s = (s + 1) % kSlots) {
    Slot seen = atomicCAS(&table[s], 0ull, mine);
    if (seen == 0) return;
    if (seen >> 32 == keys[i]) {
      atomicAdd(&table[s], 1ull);
      return;
    }
  }
}
__global__ void find(const unsigned* keys, int n, const Slot* table, unsigned* counts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned s = slotOf(keys[i]);
  while (table[s] != 0 && table[s] >> 32 != keys[i]) s = (s + 1) % kSlots;
  counts[i] = static_cast<unsigned>(table[s]);
}

int main() {
  const std::string texts[] = {"abc", "", "the quick brown fox"};
  std::vector<unsigned char> messages(32 * 64);
  std::vector<int> lengths(32);
  for (int i = 0; i < 32; ++i) {
    lengths[i] = static_cast<int>(texts[i % 3].size());
    std::memcpy(&messages[64 * i], texts[i % 3].data(), texts[i % 3].size());
  }
  unsigned* const digests = zeros<unsigned>(32 * 8);
  sha256<<<1, 32>>>(onDevice(messages), onDevice(lengths), digests);
  LAUNCHED();
  const auto d = onHost(digests, 32 * 8);
  const unsigned abc[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223, 0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
  const unsigned empty[8] = {0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924, 0x27ae41e4, 0x649b934c, 0xa495991b, 0x7852b855};
  for (int i = 0; i < 8; ++i) EXPECT(d[i] == abc[i] && d[8 + i] == empty[i] && d[3 * 8 + i] == abc[i] && d[16 + i] == d[40 + i]);

  Numbers numbers;
  std::vector<unsigned> keys(900);
  for (unsigned& k : keys) k = 1 + numbers.below(500) * 7;
  unsigned *in = onDevice(keys), *counts = zeros<unsigned>(keys.size());
  Slot* const table = zeros<Slot>(kSlots);
  const int n = static_cast<int>(keys.size());
  insert<<<(n + 127) / 128, 128>>>(in, n, table);
  find<<<(n + 127) / 128, 128>>>(in, n, table, counts);
  LAUNCHED();
  const auto found = onHost(counts, keys.size());
  std::vector<unsigned> expected(4000);
  for (unsigned k : keys) ++expected[k];
  for (int i = 0; i < n; ++i) EXPECT(found[i] == expected[keys[i]]);
  return passed();
}
