// Dense linear algebra: products, triangular solves and the steps of factorizations.
#include "each_index.h"
#ifdef INDEX_TYPE

// C = A B, one thread an element.
KERNEL(gemm_naive)
(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, Index m, Index n, Index k) {
  const Index row = GLOBAL_Y, col = GLOBAL_X;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (Index i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

// C = alpha A^T B + beta C with leading dimensions, as BLAS has them.
KERNEL(gemm_tn)
(const double* a, const double* b, double* c, Index m, Index n, Index k, Index lda, Index ldb, Index ldc,
 double alpha, double beta) {
  const Index row = GLOBAL_Y, col = GLOBAL_X;
  if (row >= m || col >= n) return;
  double sum = 0.0;
  for (Index i = 0; i < k; ++i) sum += a[i * lda + row] * b[i * ldb + col];
  c[row * ldc + col] = alpha * sum + beta * c[row * ldc + col];
}

// Tiles of 16 x 16 in shared memory; the edges are filled with zeros.
KERNEL(gemm_tiled)(const float* a, const float* b, float* c, Index m, Index n, Index k) {
  __shared__ float tileA[16][16], tileB[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const Index row = static_cast<Index>(blockIdx.y) * 16 + ty, col = static_cast<Index>(blockIdx.x) * 16 + tx;
  float sum = 0.0f;
  for (Index t = 0; t < k; t += 16) {
    tileA[ty][tx] = row < m && t + tx < k ? a[row * k + t + tx] : 0.0f;
    tileB[ty][tx] = col < n && t + ty < k ? b[(t + ty) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += tileA[ty][i] * tileB[i][tx];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}

// y = A x, a row a thread.
KERNEL(gemv)(const float* a, const float* x, float* y, Index rows, Index cols) {
  const Index row = GLOBAL_X;
  if (row >= rows) return;
  float sum = 0.0f;
  for (Index j = 0; j < cols; ++j) sum += a[row * cols + j] * x[j];
  y[row] = sum;
}

// y = A^T x, a column a thread.
KERNEL(gemv_transposed)(const float* a, const float* x, float* y, Index rows, Index cols) {
  const Index col = GLOBAL_X;
  if (col >= cols) return;
  float sum = 0.0f;
  for (Index i = 0; i < rows; ++i) sum += a[i * cols + col] * x[i];
  y[col] = sum;
}

// A += x y^T: a thread goes down its column.
KERNEL(outer_product)(float* a, const float* x, const float* y, Index rows, Index cols, Index lda) {
  const Index col = GLOBAL_X;
  if (col >= cols) return;
  const float factor = y[col];
  for (Index i = 0; i < rows; ++i) a[i * lda + col] += x[i] * factor;
}

// L X = B by forward substitution, a right-hand side a thread: a triangular nest.
KERNEL(triangular_solve)(const float* l, float* b, Index n, Index columns) {
  const Index col = GLOBAL_X;
  if (col >= columns) return;
  for (Index i = 0; i < n; ++i) {
    float sum = b[i * columns + col];
    for (Index j = 0; j < i; ++j) sum -= l[i * n + j] * b[j * columns + col];
    b[i * columns + col] = sum / l[i * n + i];
  }
}

// One step of Cholesky's factorization: the trailing rows take the product with column k.
KERNEL(cholesky_step)(float* a, Index n, Index k) {
  const Index row = GLOBAL_X + k + 1;
  if (row >= n) return;
  const float factor = a[row * n + k];
  for (Index j = k + 1; j <= row; ++j) a[row * n + j] -= factor * a[j * n + k];
}

// C = A A^T, lower half only: the second loop's bound is the first one's counter.
KERNEL(syrk_lower)(const float* a, float* c, Index n, Index k) {
  const Index row = GLOBAL_X;
  if (row >= n) return;
  for (Index col = 0; col <= row; ++col) {
    float sum = 0.0f;
    for (Index i = 0; i < k; ++i) sum += a[row * k + i] * a[col * k + i];
    c[row * n + col] = sum;
  }
}

// Products of many small matrices of one size.
KERNEL(gemm_batched)(const float* a, const float* b, float* c, Index count, Index size) {
  const Index batch = blockIdx.x;
  const Index row = threadIdx.y, col = threadIdx.x;
  if (batch >= count || row >= size || col >= size) return;
  const float* left = a + batch * size * size;
  const float* right = b + batch * size * size;
  float sum = 0.0f;
  for (Index i = 0; i < size; ++i) sum += left[row * size + i] * right[i * size + col];
  c[batch * size * size + row * size + col] = sum;
}

// Complex numbers, real and imaginary parts beside each other.
KERNEL(gemm_complex)(const float2* a, const float2* b, float2* c, Index n) {
  const Index row = GLOBAL_Y, col = GLOBAL_X;
  if (row >= n || col >= n) return;
  float re = 0.0f, im = 0.0f;
  for (Index k = 0; k < n; ++k) {
    const float2 x = a[row * n + k], y = b[k * n + col];
    re += x.x * y.x - x.y * y.y;
    im += x.x * y.y + x.y * y.x;
  }
  c[row * n + col] = make_float2(re, im);
}

#endif
