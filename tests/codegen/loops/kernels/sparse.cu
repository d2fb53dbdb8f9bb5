// Sparse matrices: products with vectors in the usual formats, and a sampled dense product.
#include "each_index.h"
#ifdef INDEX_TYPE

// CSR, a row a thread.
KERNEL(spmv_csr)
(const Index* starts, const int* columns, const float* values, const float* x, float* y, Index rows) {
  const Index row = GLOBAL_X;
  if (row >= rows) return;
  float sum = 0.0f;
  for (Index k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}

// CSR, a row a warp.
KERNEL(spmv_csr_vector)
(const Index* starts, const Index* columns, const double* values, const double* x, double* y, Index rows) {
  const Index row = GLOBAL_X / 32;
  const int lane = threadIdx.x & 31;
  if (row >= rows) return;
  const Index end = starts[row + 1];
  double sum = 0.0;
  for (Index k = starts[row] + lane; k < end; k += 32) sum += values[k] * x[columns[k]];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[row] = sum;
}

// ELLPACK: entries of a row lie a pitch apart, and -1 marks padding.
KERNEL(spmv_ell)
(const int* columns, const float* values, const float* x, float* y, Index rows, Index width, Index pitch) {
  const Index row = GLOBAL_X;
  if (row >= rows) return;
  float sum = 0.0f;
  for (Index k = 0; k < width; ++k) {
    const int column = columns[k * pitch + row];
    if (column >= 0) sum += values[k * pitch + row] * x[column];
  }
  y[row] = sum;
}

// COO with atomics, in a loop over the grid.
KERNEL(spmv_coo)(const int* rowOf, const int* colOf, const float* values, const float* x, float* y, Index count) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index k = GLOBAL_X; k < count; k += step) atomicAdd(&y[rowOf[k]], values[k] * x[colOf[k]]);
}

// Products of dense rows only where the sparse pattern has entries.
KERNEL(sddmm)
(const int* rowOf, const int* colOf, const float* a, const float* b, float* out, Index count, Index k) {
  const Index entry = GLOBAL_X;
  if (entry >= count) return;
  const Index row = rowOf[entry], col = colOf[entry];
  float sum = 0.0f;
  for (Index i = 0; i < k; ++i) sum += a[row * k + i] * b[col * k + i];
  out[entry] *= sum;
}

// Sparse matrix times a dense one with several columns.
KERNEL(spmm_csr)
(const int* starts, const int* columns, const float* values, const float* b, float* c, Index rows, Index n) {
  const Index row = GLOBAL_Y, col = GLOBAL_X;
  if (row >= rows || col >= n) return;
  float sum = 0.0f;
  for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * b[columns[k] * n + col];
  c[row * n + col] = sum;
}

#endif
