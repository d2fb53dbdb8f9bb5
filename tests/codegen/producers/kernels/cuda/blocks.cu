// Blocks that work together through shared memory and shuffles.

__device__ static float sum_of_warp(float x) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xffffffffu, x, offset);
  return x;
}

// Mean and variance of rows, then both applied: divisions by what the loop does not change.
extern "C" __global__ void normalize_rows(const float* in, float* out, int width, float epsilon) {
  __shared__ float sums[32], squares[32];
  const float* row = in + static_cast<size_t>(blockIdx.x) * width;
  float sum = 0.0f, square = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    sum += row[i];
    square += row[i] * row[i];
  }
  sum = sum_of_warp(sum);
  square = sum_of_warp(square);
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = sum;
    squares[threadIdx.x / 32] = square;
  }
  __syncthreads();
  const int warps = blockDim.x / 32;
  sum = square = 0.0f;
  for (int w = 0; w < warps; ++w) {
    sum += sums[w];
    square += squares[w];
  }
  const float mean = sum / width, variance = square / width - mean * mean;
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    out[static_cast<size_t>(blockIdx.x) * width + i] = (row[i] - mean) / sqrtf(variance + epsilon);
}

// Probabilities of rows: each divided by the sum.
extern "C" __global__ void probabilities(float* rows, int width) {
  __shared__ float total;
  float* row = rows + static_cast<size_t>(blockIdx.x) * width;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += 32) sum += row[i];
  sum = sum_of_warp(sum);
  if (threadIdx.x == 0) total = sum;
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += 32) row[i] = row[i] / total;
}

// Weights in shared memory are read on both sides of the shuffles.
extern "C" __global__ void weighted_ranks(const float* in, float* out, int count) {
  __shared__ float weights[64];
  if (threadIdx.x < 64) weights[threadIdx.x] = 1.0f / (threadIdx.x + 1);
  __syncthreads();
  const int lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
  float value = i < count ? in[i] : 0.0f;
  float x = value * weights[lane] + weights[lane + 32];
  x += __shfl_xor_sync(0xffffffffu, x, 1) * weights[lane];
  x += __shfl_xor_sync(0xffffffffu, x, 2) * weights[lane];
  x += __shfl_xor_sync(0xffffffffu, x, 4) * weights[lane + 32];
  x += __shfl_xor_sync(0xffffffffu, x, 8) * weights[lane + 32];
  if (i < count) out[i] = x;
}

// Counts of values in a histogram whose number of bins the host chooses.
extern "C" __global__ void histogram_bins(const int* values, int* bins, int count, int low, int width,
                                          int binCount) {
  __shared__ int own[256];
  for (int i = threadIdx.x; i < binCount; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const int bin = (values[i] - low) / width;
    if (bin >= 0 && bin < binCount) atomicAdd(&own[bin], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < binCount; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}

// A table in shared memory spread over rows and columns whose width is a parameter.
extern "C" __global__ void transform_tiles(const float* in, float* out, int tile, int tilesPerRow) {
  __shared__ float block[1024];
  const size_t pitch = static_cast<size_t>(tile) * tilesPerRow;
  const size_t base = static_cast<size_t>(blockIdx.y) * tile * pitch + static_cast<size_t>(blockIdx.x) * tile;
  for (int i = threadIdx.x; i < tile * tile; i += blockDim.x) block[i] = in[base + i / tile * pitch + i % tile];
  __syncthreads();
  for (int i = threadIdx.x; i < tile * tile; i += blockDim.x) {
    const int row = i / tile, column = i % tile;
    float sum = 0.0f;
    for (int k = 0; k < tile; ++k) sum += block[row * tile + k] * block[k * tile + column];
    out[base + row * pitch + column] = sum;
  }
}
