// Streams through memory: strided, gathered, backwards, by pointers, in narrow and in wide pieces.
#include "each_index.h"
#ifdef INDEX_TYPE

#ifdef ONCE
struct Particle {
  float x, y, z, mass, vx, vy, vz;
};
#endif

// y = a x + y over the grid.
KERNEL(saxpy)(const float* x, float* y, Index n, float a) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = GLOBAL_X; i < n; i += step) y[i] = a * x[i] + y[i];
}

// Four arrays at once.
KERNEL(triad)
(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ c, float* __restrict__ d,
 Index n) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = GLOBAL_X; i < n; i += step) d[i] = a[i] + b[i] * c[i];
}

// Strides that are known only when it runs.
KERNEL(copy_strided)(const float* in, float* out, Index n, Index strideIn, Index strideOut) {
  const Index first = GLOBAL_X * n;
  for (Index i = 0; i < n; ++i) out[(first + i) * strideOut] = in[(first + i) * strideIn];
}

// Pairs to their sums and differences: stride 2.
KERNEL(haar_step)(const float* in, float* low, float* high, Index pairs) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = GLOBAL_X; i < pairs; i += step) {
    low[i] = 0.5f * (in[2 * i] + in[2 * i + 1]);
    high[i] = 0.5f * (in[2 * i] - in[2 * i + 1]);
  }
}

// Packed RGB to grey: stride 3, 8 bits a value.
KERNEL(rgb_to_grey)(const unsigned char* rgb, unsigned char* grey, Index width, Index height, Index pitch) {
  const Index y = GLOBAL_X;
  if (y >= height) return;
  for (Index x = 0; x < width; ++x) {
    const int r = rgb[y * pitch + 3 * x], g = rgb[y * pitch + 3 * x + 1], b = rgb[y * pitch + 3 * x + 2];
    grey[y * width + x] = static_cast<unsigned char>((77 * r + 150 * g + 29 * b) >> 8);
  }
}

// An array of structures.
KERNEL(drift_aos)(Particle* particles, Index n, float dt) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = GLOBAL_X; i < n; i += step) {
    Particle& p = particles[i];
    p.x += dt * p.vx;
    p.y += dt * p.vy;
    p.z += dt * p.vz;
  }
}

// A structure of arrays.
KERNEL(drift_soa)
(float* x, float* y, float* z, const float* vx, const float* vy, const float* vz, Index n, float dt) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = GLOBAL_X; i < n; i += step) {
    x[i] += dt * vx[i];
    y[i] += dt * vy[i];
    z[i] += dt * vz[i];
  }
}

// Through a list of places.
KERNEL(gather_rows)(const float* table, const int* ids, float* out, Index count, Index width) {
  const Index entry = GLOBAL_X;
  if (entry >= count) return;
  const Index row = ids[entry];
  for (Index j = 0; j < width; ++j) out[entry * width + j] = table[row * width + j];
}

// A permutation of what is in memory, and its inverse.
KERNEL(permute)(const Index* order, const double* in, double* out, Index* inverse, Index n) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = GLOBAL_X; i < n; i += step) {
    const Index from = order[i];
    out[i] = in[from];
    inverse[from] = i;
  }
}

// Each thread turns its line around.
KERNEL(reverse_lines)(float* data, Index lines, Index n) {
  const Index line = GLOBAL_X;
  if (line >= lines) return;
  float* values = data + line * n;
  for (Index i = 0; i < n / 2; ++i) {
    const float kept = values[i];
    values[i] = values[n - 1 - i];
    values[n - 1 - i] = kept;
  }
}

// Back substitution on tridiagonal systems: the loop counts down.
KERNEL(back_substitution)(const float* upper, const float* right, float* x, Index systems, Index n) {
  const Index s = GLOBAL_X;
  if (s >= systems || n == 0) return;
  float value = 0.0f;
  Index i = n;
  while (i > 0) {
    --i;
    value = right[i * systems + s] - upper[i * systems + s] * value;
    x[i * systems + s] = value;
  }
}

// Pointers that walk.
KERNEL(pointer_walk)(const float* from, const float* end, float* to, float scale, Index step) {
  const float* p = from + GLOBAL_X;
  float* q = to + GLOBAL_X;
  while (p < end) {
    *q = *p * scale;
    p += step;
    q += step;
  }
}

// Lines of text that end in a zero: their lengths, but no more than a limit. Two exits.
KERNEL(string_lengths)(const char* text, const Index* starts, Index* lengths, Index count, Index most) {
  const Index line = GLOBAL_X;
  if (line >= count) return;
  const char* p = text + starts[line];
  Index length = 0;
  while (length < most && *p++) ++length;
  lengths[line] = length;
}

// The first place that matches in a row of a table, or the width. Two exits.
KERNEL(find_first)(const int* table, const int* keys, Index* places, Index rows, Index width) {
  const Index row = GLOBAL_X;
  if (row >= rows) return;
  const int key = keys[row];
  Index j = 0;
  for (; j < width; ++j)
    if (table[row * width + j] == key) break;
  places[row] = j;
}

// Sixteen bits a value: audio mixed from two tracks.
KERNEL(mix_audio)(const short* left, const short* right, short* out, Index n, int volume) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = GLOBAL_X; i < n; i += step) {
    const int sum = (left[i] * volume + right[i] * (256 - volume)) >> 8;
    out[i] = static_cast<short>(sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum);
  }
}

// One bit a value, 32 to a word: a row of weights of -1 and 1 times a vector.
KERNEL(binary_gemv)(const unsigned* bits, const float* x, float* y, Index rows, Index cols) {
  const Index row = GLOBAL_X;
  if (row >= rows) return;
  const Index words = (cols + 31) / 32;
  float sum = 0.0f;
  for (Index j = 0; j < cols; ++j) {
    const unsigned word = bits[row * words + j / 32];
    sum += (word >> (j & 31) & 1) != 0 ? x[j] : -x[j];
  }
  y[row] = sum;
}

// Four bits a value, two to a byte, with a scale for each 32.
KERNEL(dequantize_q4)(const unsigned char* packed, const float* scales, float* out, Index blocks) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index b = GLOBAL_X; b < blocks; b += step)
    for (int j = 0; j < 16; ++j) {
      const unsigned char pair = packed[b * 16 + j];
      out[b * 32 + j] = scales[b] * ((pair & 15) - 8);
      out[b * 32 + j + 16] = scales[b] * ((pair >> 4) - 8);
    }
}

// Distances of bit strings.
KERNEL(hamming)(const unsigned* a, const unsigned* b, int* out, Index count, Index words) {
  const Index at = GLOBAL_X;
  if (at >= count) return;
  int sum = 0;
  for (Index w = 0; w < words; ++w) sum += __popc(a[at * words + w] ^ b[w]);
  out[at] = sum;
}

// Sixteen bytes at a time.
KERNEL(add_float4)(const float4* __restrict__ a, const float4* __restrict__ b, float4* __restrict__ out, Index n) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = GLOBAL_X; i < n; i += step) {
    const float4 x = a[i], y = b[i];
    out[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
}

// Matrices out of a batch into a padded one.
KERNEL(copy_batched)(const float* in, float* out, Index batches, Index rows, Index cols, Index pitch) {
  const Index col = GLOBAL_X;
  if (col >= cols) return;
  for (Index b = 0; b < batches; ++b)
    for (Index r = 0; r < rows; ++r) out[(b * rows + r) * pitch + col] = in[(b * rows + r) * cols + col];
}

// Transposition in tiles of 32 x 32, eight rows at a time.
KERNEL(transpose_tiled)(const float* in, float* out, Index width, Index height) {
  __shared__ float tile[32][33];
  Index x = static_cast<Index>(blockIdx.x) * 32 + threadIdx.x,
        y = static_cast<Index>(blockIdx.y) * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = static_cast<Index>(blockIdx.y) * 32 + threadIdx.x;
  y = static_cast<Index>(blockIdx.x) * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

#endif
