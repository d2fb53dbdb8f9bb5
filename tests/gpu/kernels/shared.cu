// Shared memory: banks, barriers and atomics on it.
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

// Tiles of 32 by 32, with a pitch that spreads columns over the banks, and without.
template <int PITCH>
__device__ void transpose(const float* x, float* y, int width, int height) {
  __shared__ float tile[32 * PITCH];
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += blockDim.y) tile[r * PITCH + threadIdx.x] = x[(row + r) * width + column];
  __syncthreads();
  for (int r = threadIdx.y; r < 32; r += blockDim.y)
    y[(blockIdx.x * 32 + r) * height + row + threadIdx.x] = tile[threadIdx.x * PITCH + r];
}
extern "C" __global__ void transpose_tiles(const float* x, float* y, int width, int height) {
  transpose<33>(x, y, width, height);
}
extern "C" __global__ void transpose_conflicts(const float* x, float* y, int width, int height) {
  transpose<32>(x, y, width, height);
}

extern "C" __global__ void multiply_tiles(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    left[y][x] = a[row * n + k + x];
    right[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void histogram(const unsigned char* x, unsigned* counts, int n) {
  __shared__ unsigned part[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) part[i] = 0;
  __syncthreads();
  for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) atomicAdd(&part[x[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&counts[i], part[i]);
}

extern "C" __global__ void scan(const int* x, int* y) {
  extern __shared__ int sums[];
  const int i = threadIdx.x, n = blockDim.x;
  sums[i] = x[THREAD];
  int from = 0;
  for (int d = 1; d < n; d *= 2) {
    __syncthreads();
    const int v = sums[from * n + i] + (i >= d ? sums[from * n + i - d] : 0);
    from = 1 - from;
    sums[from * n + i] = v;
  }
  y[THREAD] = sums[from * n + i];
}

extern "C" __global__ void sort_block(const unsigned* x, unsigned* y) {
  extern __shared__ unsigned keys[];
  const unsigned i = threadIdx.x;
  keys[i] = x[THREAD];
  for (unsigned size = 2; size <= blockDim.x; size *= 2)
    for (unsigned d = size / 2; d != 0; d /= 2) {
      __syncthreads();
      const unsigned other = i ^ d;
      if (other > i) {
        const unsigned a = keys[i], b = keys[other];
        if ((a > b) == ((i & size) == 0)) {
          keys[i] = b;
          keys[other] = a;
        }
      }
    }
  __syncthreads();
  y[THREAD] = keys[i];
}

// Many steps over what one load brought in.
extern "C" __global__ void relax_tile(const float* x, float* y, int steps) {
  __shared__ float cells[2][256];
  const int i = threadIdx.x;
  cells[0][i] = x[THREAD];
  for (int s = 0; s < steps; ++s) {
    __syncthreads();
    const float* const from = cells[s & 1];
    cells[(s + 1) & 1][i] = 0.25f * from[(i + 255) & 255] + 0.5f * from[i] + 0.25f * from[(i + 1) & 255];
  }
  __syncthreads();
  y[THREAD] = cells[steps & 1][i];
}

// Each access of a warp to `stride` banks.
extern "C" __global__ void bank_conflicts(const float* x, float* y, int stride, int steps) {
  __shared__ float cells[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) cells[i] = x[i];
  __syncthreads();
  float sum = 0;
  for (int s = 0; s < steps; ++s) sum += cells[(threadIdx.x * stride + s) & 1023];
  y[THREAD] = sum;
}
