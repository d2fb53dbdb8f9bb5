// SHA-256 (FIPS 180-4), a message a thread: message i is the bytes offsets[i] to offsets[i + 1].
__constant__ unsigned kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ unsigned turned(unsigned x, int n) { return __funnelshift_r(x, x, n); }

__device__ void compress(unsigned (&state)[8], unsigned (&w)[16]) {
  unsigned a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6],
           h = state[7];
#pragma unroll 16
  for (int i = 0; i < 64; ++i) {
    if (i >= 16) {
      const unsigned x = w[(i + 1) % 16], y = w[(i + 14) % 16];
      w[i % 16] +=
          (turned(x, 7) ^ turned(x, 18) ^ x >> 3) + w[(i + 9) % 16] + (turned(y, 17) ^ turned(y, 19) ^ y >> 10);
    }
    const unsigned t =
        h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + kRound[i] + w[i % 16];
    const unsigned u = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t, d = c, c = b, b = a, a = t + u;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e, state[5] += f, state[6] += g,
      state[7] += h;
}

extern "C" __global__ void sha256(int messages, const unsigned* __restrict__ offsets,
                                  const unsigned char* __restrict__ bytes, unsigned* __restrict__ digests) {
  const int message = blockIdx.x * blockDim.x + threadIdx.x;
  if (message >= messages) return;
  const unsigned begin = offsets[message], size = offsets[message + 1] - begin;
  unsigned state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const unsigned blocks = (size + 8) / 64 + 1;
#pragma unroll 1
  for (unsigned block = 0; block < blocks; ++block) {
    unsigned w[16];
    for (int i = 0; i < 16; ++i) {
      unsigned word = 0;
      for (int j = 0; j < 4; ++j) {
        const unsigned at = block * 64 + i * 4 + j;
        word = word << 8 | (at < size ? bytes[begin + at] : at == size ? 0x80 : 0);
      }
      w[i] = word;
    }
    if (block == blocks - 1) w[14] = size >> 29, w[15] = size << 3;
    compress(state, w);
  }
  for (int i = 0; i < 8; ++i) digests[message * 8 + i] = __byte_perm(state[i], 0, 0x0123);
}
