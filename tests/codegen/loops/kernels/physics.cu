// Particles, transforms, polynomials and recurrences.
#include "each_index.h"
#ifdef INDEX_TYPE

#ifdef ONCE
__device__ inline void pull(float4 other, float4 self, float& ax, float& ay, float& az) {
  const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
  const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-6f);
  const float force = other.w * inverse * inverse * inverse;
  ax += force * dx;
  ay += force * dy;
  az += force * dz;
}
#endif

// All pairs, from global memory.
KERNEL(nbody_global)(const float4* bodies, float4* acceleration, Index n) {
  const Index i = GLOBAL_X;
  if (i >= n) return;
  const float4 self = bodies[i];
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (Index j = 0; j < n; ++j) pull(bodies[j], self, ax, ay, az);
  acceleration[i] = make_float4(ax, ay, az, 0.0f);
}

// All pairs, by tiles in shared memory.
KERNEL(nbody_tiled)(const float4* bodies, float4* acceleration, Index n) {
  __shared__ float4 tile[128];
  const Index i = GLOBAL_X;
  const float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const float4 self = i < n ? bodies[i] : zero;
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (Index first = 0; first < n; first += 128) {
    tile[threadIdx.x] = first + threadIdx.x < n ? bodies[first + threadIdx.x] : zero;
    __syncthreads();
    for (int j = 0; j < 128; ++j) pull(tile[j], self, ax, ay, az);
    __syncthreads();
  }
  if (i < n) acceleration[i] = make_float4(ax, ay, az, 0.0f);
}

// Neighbours from a list, a particle's entries a pitch apart.
KERNEL(lennard_jones)
(const float* x, const float* y, const float* z, const int* neighbours, const int* counts, float* energy, Index n,
 Index pitch, float cutoff) {
  const Index i = GLOBAL_X;
  if (i >= n) return;
  float sum = 0.0f;
  for (Index k = 0; k < static_cast<Index>(counts[i]); ++k) {
    const int j = neighbours[k * pitch + i];
    const float dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
    const float square = dx * dx + dy * dy + dz * dz;
    if (square < cutoff) {
      const float inverse = 1.0f / square, sixth = inverse * inverse * inverse;
      sum += 4.0f * sixth * (sixth - 1.0f);
    }
  }
  energy[i] = sum;
}

// One stage of an FFT of radix 2 in global memory; the twiddle factors lie a stride apart.
KERNEL(fft_stage)(const float2* in, float2* out, const float2* twiddles, Index n, Index half) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index k = GLOBAL_X; k < n / 2; k += step) {
    const Index j = k % half, base = k / half * half * 2 + j;
    const float2 a = in[base], b = in[base + half], w = twiddles[j * (n / 2 / half)];
    const float re = b.x * w.x - b.y * w.y, im = b.x * w.y + b.y * w.x;
    out[base] = make_float2(a.x + re, a.y + im);
    out[base + half] = make_float2(a.x - re, a.y - im);
  }
}

#ifdef ONCE
// A whole FFT of 512 points in shared memory, a block each.
PLAIN_KERNEL(fft_shared)(float2* data, const float2* twiddles) {
  __shared__ float2 values[512];
  float2* part = data + blockIdx.x * 512;
  for (int i = threadIdx.x; i < 512; i += blockDim.x) values[__brev(i) >> 23] = part[i];
  for (int half = 1; half < 512; half *= 2) {
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x) {
      const int j = k & (half - 1), at = 2 * k - j;
      const float2 a = values[at], b = values[at + half], w = twiddles[j * (256 / half)];
      const float re = b.x * w.x - b.y * w.y, im = b.x * w.y + b.y * w.x;
      values[at] = make_float2(a.x + re, a.y + im);
      values[at + half] = make_float2(a.x - re, a.y - im);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 512; i += blockDim.x) part[i] = values[i];
}

// A bitonic sort in shared memory.
PLAIN_KERNEL(bitonic_sort)(unsigned* keys) {
  __shared__ unsigned part[512];
  unsigned* own = keys + blockIdx.x * 512;
  for (int i = threadIdx.x; i < 512; i += blockDim.x) part[i] = own[i];
  for (int size = 2; size <= 512; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int t = threadIdx.x; t < 256; t += blockDim.x) {
        const int a = 2 * t - (t & (stride - 1)), b = a + stride;
        const unsigned low = part[a], high = part[b];
        if ((low > high) == ((a & size) == 0)) {
          part[a] = high;
          part[b] = low;
        }
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < 512; i += blockDim.x) own[i] = part[i];
}
#endif

// Horner's rule, the coefficients of the highest power first.
KERNEL(polynomial)(const double* coefficients, const double* x, double* y, Index n, Index degree) {
  const Index i = GLOBAL_X;
  if (i >= n) return;
  double value = 0.0;
  for (Index k = degree + 1; k > 0; --k) value = value * x[i] + coefficients[k - 1];
  y[i] = value;
}

// Chebyshev's series by Clenshaw's recurrence: each thread a series of its own.
KERNEL(clenshaw)(const float* coefficients, const float* x, float* y, Index n, Index terms) {
  const Index i = GLOBAL_X;
  if (i >= n) return;
  const float t = 2.0f * x[i];
  float b1 = 0.0f, b2 = 0.0f;
  for (Index k = 1; k < terms; ++k) {
    const float b0 = coefficients[i * terms + terms - k] + t * b1 - b2;
    b2 = b1;
    b1 = b0;
  }
  y[i] = coefficients[i * terms] + x[i] * b1 - b2;
}

// Recursive filters on many channels that are interleaved.
KERNEL(iir_filter)(const float* in, float* out, Index channels, Index samples, float b0, float b1, float a1) {
  const Index c = GLOBAL_X;
  if (c >= channels) return;
  float before = 0.0f, value = 0.0f;
  for (Index t = 0; t < samples; ++t) {
    const float now = in[t * channels + c];
    value = b0 * now + b1 * before - a1 * value;
    before = now;
    out[t * channels + c] = value;
  }
}

// Distances of all pairs: one step of Floyd and Warshall, a row a thread.
KERNEL(floyd_warshall)(float* distance, Index n, Index k) {
  const Index i = GLOBAL_X;
  if (i >= n) return;
  const float first = distance[i * n + k];
  for (Index j = 0; j < n; ++j) distance[i * n + j] = fminf(distance[i * n + j], first + distance[k * n + j]);
}

// Edit distance of short strings, the previous line in global memory.
KERNEL(edit_distance)
(const char* a, const char* b, int* line, int* out, Index pairs, Index lengthA, Index lengthB) {
  const Index p = GLOBAL_X;
  if (p >= pairs) return;
  for (Index j = 0; j <= lengthB; ++j) line[j * pairs + p] = static_cast<int>(j);
  for (Index i = 0; i < lengthA; ++i) {
    int diagonal = line[p];
    line[p] = static_cast<int>(i) + 1;
    for (Index j = 0; j < lengthB; ++j) {
      const int above = line[(j + 1) * pairs + p], left = line[j * pairs + p];
      const int changed = diagonal + (a[p * lengthA + i] != b[p * lengthB + j]);
      const int added = min(above, left) + 1;
      line[(j + 1) * pairs + p] = min(changed, added);
      diagonal = above;
    }
  }
  out[p] = line[lengthB * pairs + p];
}

// The nearest of some centres, with points of any dimension.
KERNEL(nearest_centre)
(const float* points, const float* centres, Index* nearest, Index count, Index k, Index dimensions) {
  const Index i = GLOBAL_X;
  if (i >= count) return;
  float least = INFINITY;
  Index place = 0;
  for (Index c = 0; c < k; ++c) {
    float sum = 0.0f;
    for (Index d = 0; d < dimensions; ++d) {
      const float difference = points[i * dimensions + d] - centres[c * dimensions + d];
      sum += difference * difference;
    }
    if (sum < least) {
      least = sum;
      place = c;
    }
  }
  nearest[i] = place;
}

#endif
