// Reductions, scans and histograms.
#include "each_index.h"
#ifdef INDEX_TYPE

#ifdef ONCE
__device__ inline float sumOfBlock(float value, float* partial) {
  const int t = threadIdx.x;
  partial[t] = value;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    if (t < half) partial[t] += partial[t + half];
    __syncthreads();
  }
  return partial[0];
}
#endif

// The sum: a stream over the grid, then a tree in shared memory.
KERNEL(reduce_sum)(const float* in, float* out, Index n) {
  __shared__ float partial[256];
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  float sum = 0.0f;
  for (Index i = GLOBAL_X; i < n; i += step) sum += in[i];
  sum = sumOfBlock(sum, partial);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// The dot product of two strided vectors, as in BLAS.
KERNEL(dot_strided)(const float* x, const float* y, float* out, Index n, Index incx, Index incy) {
  __shared__ float partial[256];
  float sum = 0.0f;
  for (Index i = threadIdx.x; i < n; i += blockDim.x) sum += x[i * incx] * y[i * incy];
  sum = sumOfBlock(sum, partial);
  if (threadIdx.x == 0) *out = sum;
}

// Row by row: the largest, the sum of exponentials, the quotient.
KERNEL(softmax_rows)(const float* in, float* out, Index rows, Index cols) {
  const Index row = GLOBAL_X;
  if (row >= rows) return;
  float most = -INFINITY;
  for (Index j = 0; j < cols; ++j) most = fmaxf(most, in[row * cols + j]);
  float sum = 0.0f;
  for (Index j = 0; j < cols; ++j) sum += __expf(in[row * cols + j] - most);
  for (Index j = 0; j < cols; ++j) out[row * cols + j] = __expf(in[row * cols + j] - most) / sum;
}

// Sum and sum of squares of a row, then both applied.
KERNEL(layer_norm)(const float* in, const float* gamma, const float* beta, float* out, Index cols, float epsilon) {
  __shared__ float partial[2][256];
  const Index base = static_cast<Index>(blockIdx.x) * cols;
  float sum = 0.0f, squares = 0.0f;
  for (Index j = threadIdx.x; j < cols; j += blockDim.x) {
    const float value = in[base + j];
    sum += value;
    squares += value * value;
  }
  sum = sumOfBlock(sum, partial[0]);
  squares = sumOfBlock(squares, partial[1]);
  const float mean = sum / cols, scale = rsqrtf(squares / cols - mean * mean + epsilon);
  for (Index j = threadIdx.x; j < cols; j += blockDim.x)
    out[base + j] = (in[base + j] - mean) * scale * gamma[j] + beta[j];
}

// The place of the largest value.
KERNEL(argmax_rows)(const float* in, Index* out, Index rows, Index cols) {
  const Index row = GLOBAL_X;
  if (row >= rows) return;
  Index place = 0;
  float most = in[row * cols];
  for (Index j = 1; j < cols; ++j)
    if (in[row * cols + j] > most) {
      most = in[row * cols + j];
      place = j;
    }
  out[row] = place;
}

// Sums of everything before, along each row.
KERNEL(prefix_rows)(const int* in, int* out, Index rows, Index cols) {
  const Index row = GLOBAL_X;
  if (row >= rows) return;
  int sum = 0;
  for (Index j = 0; j < cols; ++j) {
    sum += in[row * cols + j];
    out[row * cols + j] = sum;
  }
}

// Sums of everything before, down each column, in place.
KERNEL(prefix_columns)(float* data, Index rows, Index cols) {
  const Index col = GLOBAL_X;
  if (col >= cols) return;
  for (Index i = 1; i < rows; ++i) data[i * cols + col] += data[(i - 1) * cols + col];
}

// A block's scan by doubling distances.
KERNEL(scan_block)(const float* in, float* out, Index n) {
  __shared__ float data[2][512];
  const Index at = GLOBAL_X;
  const int t = threadIdx.x;
  int now = 0;
  data[0][t] = at < n ? in[at] : 0.0f;
  for (int distance = 1; distance < blockDim.x; distance *= 2) {
    __syncthreads();
    data[1 - now][t] = t >= distance ? data[now][t] + data[now][t - distance] : data[now][t];
    now = 1 - now;
  }
  if (at < n) out[at] = data[now][t];
}

#ifdef ONCE
// Up and down a tree, with an offset that doubles and halves.
PLAIN_KERNEL(scan_tree)(int* data, int n) {
  __shared__ int tree[1024];
  const int t = threadIdx.x;
  int* part = data + blockIdx.x * n;
  for (int i = t; i < n; i += blockDim.x) tree[i] = part[i];
  int offset = 1;
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    for (int k = t; k < d; k += blockDim.x) tree[offset * (2 * k + 2) - 1] += tree[offset * (2 * k + 1) - 1];
    offset *= 2;
  }
  if (t == 0) tree[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    for (int k = t; k < d; k += blockDim.x) {
      const int left = offset * (2 * k + 1) - 1, right = offset * (2 * k + 2) - 1;
      const int kept = tree[left];
      tree[left] = tree[right];
      tree[right] += kept;
    }
  }
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) part[i] = tree[i];
}
#endif

// Bytes counted in shared memory, then added to the global counts.
KERNEL(histogram_bytes)(const unsigned char* in, unsigned* counts, Index n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = GLOBAL_X; i < n; i += step) atomicAdd(&local[in[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&counts[i], local[i]);
}

// Values into bins of equal width, in global memory; each thread takes a stretch.
KERNEL(histogram_range)(const float* in, unsigned* counts, Index n, Index each, float low, float scale, int bins) {
  const Index first = GLOBAL_X * each;
  for (Index i = first; i < first + each && i < n; ++i) {
    const int bin = static_cast<int>((in[i] - low) * scale);
    if (bin >= 0 && bin < bins) atomicAdd(&counts[bin], 1u);
  }
}

#endif
