// y = A x for a sparse A by compressed rows, a warp a row.
extern "C" __global__ void spmv(int rows, const int* __restrict__ begins, const int* __restrict__ columns,
                                const double* __restrict__ values, const double* __restrict__ x,
                                double* __restrict__ y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  double sum = 0;
#pragma unroll 1
  for (int i = begins[row] + lane; i < begins[row + 1]; i += 32)
    sum = __dadd_rn(sum, __dmul_rn(values[i], x[columns[i]]));
  for (int step = 16; step > 0; step /= 2) sum = __dadd_rn(sum, __shfl_down_sync(~0u, sum, step));
  if (lane == 0) y[row] = sum;
}
