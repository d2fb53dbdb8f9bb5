// Stencils on regular grids; strides come as parameters or from the extents.
#include "each_index.h"
#ifdef INDEX_TYPE

// Three points, a stretch of the line a thread.
KERNEL(stencil_1d)(const float* in, float* out, Index n, Index each, float side, float middle) {
  const Index first = GLOBAL_X * each + 1;
  const Index last = first + each < n - 1 ? first + each : n - 1;
  for (Index i = first; i < last; ++i) out[i] = side * (in[i - 1] + in[i + 1]) + middle * in[i];
}

// Five points; a thread goes down a column.
KERNEL(stencil_5)(const float* __restrict__ in, float* __restrict__ out, Index width, Index height) {
  const Index x = GLOBAL_X + 1;
  if (x >= width - 1) return;
  for (Index y = 1; y < height - 1; ++y) {
    const Index at = y * width + x;
    out[at] = 0.2f * (in[at] + in[at - 1] + in[at + 1] + in[at - width] + in[at + width]);
  }
}

// Seven points, with the strides of the array as parameters.
KERNEL(stencil_7)
(const double* in, double* out, Index nx, Index ny, Index nz, Index strideY, Index strideZ, double c0, double c1) {
  const Index x = GLOBAL_X + 1, y = GLOBAL_Y + 1;
  if (x >= nx - 1 || y >= ny - 1) return;
  for (Index z = 1; z < nz - 1; ++z) {
    const Index at = x + y * strideY + z * strideZ;
    out[at] =
        c1 * (in[at - 1] + in[at + 1] + in[at - strideY] + in[at + strideY] + in[at - strideZ] + in[at + strideZ]) +
        c0 * in[at];
  }
}

// All 27 neighbours by their distance, as in a multigrid smoother.
KERNEL(stencil_27)
(const float* in, float* out, Index nx, Index ny, Index nz, float c0, float c1, float c2, float c3) {
  const Index x = GLOBAL_X + 1, y = GLOBAL_Y + 1;
  if (x >= nx - 1 || y >= ny - 1) return;
  for (Index z = 1; z < nz - 1; ++z) {
    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int dz = -1; dz <= 1; ++dz)
#pragma unroll
      for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
        for (int dx = -1; dx <= 1; ++dx)
          sums[(dx != 0) + (dy != 0) + (dz != 0)] += in[((z + dz) * ny + y + dy) * nx + x + dx];
    out[(z * ny + y) * nx + x] = c0 * sums[0] + c1 * sums[1] + c2 * sums[2] + c3 * sums[3];
  }
}

// Steps in time on a block's part of a rod in shared memory.
KERNEL(heat_steps)(const float* in, float* out, Index n, int steps, float rate) {
  __shared__ float now[2][258];
  const Index at = GLOBAL_X;
  const int t = threadIdx.x + 1;
  now[0][t] = at < n ? in[at] : 0.0f;
  if (threadIdx.x == 0) {
    now[0][0] = now[1][0] = at > 0 && at <= n ? in[at - 1] : 0.0f;
    now[0][257] = now[1][257] = at + 256 < n ? in[at + 256] : 0.0f;
  }
  __syncthreads();
  int from = 0;
  for (int step = 0; step < steps; ++step) {
    now[1 - from][t] = now[from][t] + rate * (now[from][t - 1] - 2.0f * now[from][t] + now[from][t + 1]);
    from = 1 - from;
    __syncthreads();
  }
  if (at < n) out[at] = now[from][t];
}

// A finite-difference wave of order eight along z, with the coefficients in a small array.
KERNEL(wave_z8)
(const float* __restrict__ now, const float* __restrict__ speed, float* __restrict__ next,
 const float* __restrict__ weights, Index nx, Index ny, Index nz) {
  const Index x = GLOBAL_X, y = GLOBAL_Y;
  if (x >= nx || y >= ny) return;
  const Index plane = nx * ny;
  for (Index z = 4; z + 4 < nz; ++z) {
    const Index at = z * plane + y * nx + x;
    float sum = weights[0] * now[at];
    for (int r = 1; r <= 4; ++r) sum += weights[r] * (now[at - r * plane] + now[at + r * plane]);
    next[at] = 2.0f * now[at] - next[at] + speed[at] * sum;
  }
}

#endif
