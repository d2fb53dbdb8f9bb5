// A step of diffusion over a box: planes with a border in shared memory, the neighbours above and below in
// registers. Outside the box everything is 0.
constexpr int kX = 16, kY = 8;

extern "C" __global__ void stencil(int nx, int ny, int nz, float centre, float side, const float* __restrict__ in,
                                   float* __restrict__ out) {
  __shared__ float plane[kY + 2][kX + 2];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * kX + tx, y = blockIdx.y * kY + ty;
  const auto at = [&](int i, int j, int k) {
    return i >= 0 && j >= 0 && i < nx && j < ny && k < nz ? in[(k * ny + j) * nx + i] : 0.0f;
  };
  float below = 0, here = at(x, y, 0);
  for (int z = 0; z < nz; ++z) {
    const float above = at(x, y, z + 1);
    plane[ty + 1][tx + 1] = here;
    if (ty == 0) plane[0][tx + 1] = at(x, y - 1, z);
    if (ty == kY - 1) plane[kY + 1][tx + 1] = at(x, y + 1, z);
    if (tx == 0) plane[ty + 1][0] = at(x - 1, y, z);
    if (tx == kX - 1) plane[ty + 1][kX + 1] = at(x + 1, y, z);
    __syncthreads();
    const float across = __fadd_rn(plane[ty + 1][tx], plane[ty + 1][tx + 2]);
    const float along = __fadd_rn(plane[ty][tx + 1], plane[ty + 2][tx + 1]);
    const float sum = __fadd_rn(__fadd_rn(across, along), __fadd_rn(below, above));
    if (x < nx && y < ny) out[(z * ny + y) * nx + x] = __fmaf_rn(side, sum, __fmul_rn(centre, here));
    __syncthreads();
    below = here;
    here = above;
  }
}
