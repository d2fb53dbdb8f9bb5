// Bound by memory: few instructions for each byte that moves.
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define THREADS (gridDim.x * blockDim.x)

// Accesses of 32, 64 and 128 bits.
template <class T>
__device__ void copy(const T* x, T* y, unsigned n) {
  for (unsigned i = THREAD; i < n; i += THREADS) y[i] = x[i];
}
extern "C" __global__ void copy_32(const float* x, float* y, unsigned n) { copy(x, y, n); }
extern "C" __global__ void copy_64(const float2* x, float2* y, unsigned n) { copy(x, y, n); }
extern "C" __global__ void copy_128(const float4* x, float4* y, unsigned n) { copy(x, y, n); }

// Sectors of which a part is used.
extern "C" __global__ void copy_strided(const float* x, float* y, int n, int stride) {
  for (int i = THREAD; i < n; i += THREADS) y[i] = x[static_cast<long long>(i) * stride];
}

// Packed RGB to grey: accesses of 8 bits, three bytes apart.
extern "C" __global__ void rgb_to_grey(const unsigned char* rgb, unsigned char* grey, int width, int height, int pitch) {
  const int y = blockIdx.y;
  for (int x = THREAD; x < width; x += THREADS) {
    const int r = rgb[y * pitch + 3 * x], g = rgb[y * pitch + 3 * x + 1], b = rgb[y * pitch + 3 * x + 2];
    grey[y * width + x] = static_cast<unsigned char>((77 * r + 150 * g + 29 * b) >> 8);
  }
}

extern "C" __global__ void triad(const float* a, const float* b, float* c, float s, int n) {
  for (int i = THREAD; i < n; i += THREADS) c[i] = a[i] + s * b[i];
}

// Stores alone.
extern "C" __global__ void fill_ramp(unsigned* y, unsigned n, unsigned step) {
  for (unsigned i = THREAD; i < n; i += THREADS) y[i] = i * step;
}

extern "C" __global__ void stencil_7(const float* x, float* y, int n) {
  for (int i = THREAD + 3; i < n - 3; i += THREADS) {
    float sum = 0;
    for (int d = -3; d <= 3; ++d) sum += x[i + d] * (d == 0 ? 0.5f : 0.0625f);
    y[i] = sum;
  }
}

// Each thread goes down a column.
extern "C" __global__ void stencil_5(const float* x, float* y, int width, int height) {
  const int c = THREAD + 1;
  if (c >= width - 1) return;
  for (int r = 1 + blockIdx.y; r < height - 1; r += gridDim.y)
    y[r * width + c] = 0.25f * (x[(r - 1) * width + c] + x[(r + 1) * width + c] + x[r * width + c - 1] +
                                x[r * width + c + 1]) - x[r * width + c];
}

// Planes one after the other, with 64-bit indices.
extern "C" __global__ void stencil_3d(const float* x, float* y, long long width, long long height, long long depth) {
  const long long i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = blockIdx.y + 1;
  if (i >= width - 1 || j >= height - 1) return;
  for (long long k = 1; k < depth - 1; ++k) {
    const long long at = (k * height + j) * width + i;
    y[at] = x[at - 1] + x[at + 1] + x[at - width] + x[at + width] + x[at - width * height] + x[at + width * height] -
            6 * x[at];
  }
}

// A sum for each block, by shared memory.
extern "C" __global__ void reduce_blocks(const float* x, float* sums, int n) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = THREAD; i < n; i += THREADS) sum += x[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half != 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

// A warp for each row, by shuffles.
extern "C" __global__ void reduce_rows(const float* x, float* sums, int rows, int columns) {
  const int lane = threadIdx.x & 31;
  for (int row = THREAD / 32; row < rows; row += THREADS / 32) {
    float sum = 0;
    for (int c = lane; c < columns; c += 32) sum += x[row * columns + c];
    for (int d = 16; d != 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) sums[row] = sum;
  }
}

extern "C" __global__ void gather(const float* x, const unsigned* index, float* y, unsigned n, unsigned mask) {
  for (unsigned i = THREAD; i < n; i += THREADS) y[i] = x[index[i] & mask];
}

extern "C" __global__ void transpose_plain(const float* x, float* y, int width, int height) {
  const int c = THREAD;
  if (c >= width) return;
  for (int r = blockIdx.y; r < height; r += gridDim.y) y[c * height + r] = x[r * width + c];
}
