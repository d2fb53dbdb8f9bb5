// OpenCL kernels as they are usually written: the numbers of work items are of type size_t.

__kernel void scale_add(__global const float* x, __global float* y, const float a, const int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) y[i] += a * x[i];
}

__kernel void matrix_product(__global const float* a, __global const float* b, __global float* c, int m, int n,
                             int k) {
  const int row = get_global_id(1), column = get_global_id(0);
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

__kernel void matrix_product_tiled(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float x[16][16], y[16][16];
  const int column = get_global_id(0), row = get_global_id(1), tx = get_local_id(0), ty = get_local_id(1);
  float sum = 0.0f;
  for (int tile = 0; tile < n / 16; ++tile) {
    x[ty][tx] = a[row * n + tile * 16 + tx];
    y[ty][tx] = b[(tile * 16 + ty) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; ++k) sum += x[ty][k] * y[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

__kernel void reduce_groups(__global const float* in, __global float* out, __local float* partial, uint n) {
  const uint local_id = get_local_id(0);
  float sum = 0.0f;
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) sum += in[i];
  partial[local_id] = sum;
  for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (local_id < step) partial[local_id] += partial[local_id + step];
  }
  if (local_id == 0) out[get_group_id(0)] = partial[0];
}

__kernel void convolve_image(__global const uchar4* in, __global uchar4* out, __constant float* filter, int radius,
                             int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float4 sum = (float4)(0.0f);
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
      const int column = min(max(x + dx, 0), width - 1), row = min(max(y + dy, 0), height - 1);
      const uchar4 p = in[row * width + column];
      const float weight = filter[(dy + radius) * (2 * radius + 1) + dx + radius];
      sum += weight * (float4)(p.x, p.y, p.z, p.w);
    }
  out[y * width + x] = (uchar4)((uchar)sum.x, (uchar)sum.y, (uchar)sum.z, (uchar)sum.w);
}

// The places of a tensor in another order of its three dimensions.
__kernel void permute_volume(__global const float* in, __global float* out, uint d0, uint d1, uint d2) {
  const uint count = d0 * d1 * d2;
  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
    const uint z = i % d2, y = i / d2 % d1, x = i / (d1 * d2);
    out[(z * d1 + y) * d0 + x] = in[i];
  }
}

// Bodies attract each other.
__kernel void gravity(__global const float4* position, __global float4* velocity, const int count, const float dt) {
  const int i = get_global_id(0);
  const float4 own = position[i];
  float4 force = (float4)(0.0f);
  for (int j = 0; j < count; ++j) {
    const float4 other = position[j];
    const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
    const float inverse = 1.0f / sqrt(dx * dx + dy * dy + dz * dz + 1e-4f);
    const float weight = other.w * inverse * inverse * inverse;
    force += weight * (float4)(dx, dy, dz, 0.0f);
  }
  velocity[i] += dt * force;
}

// Cells of the game of life on a torus.
__kernel void life(__global const uchar* cells, __global uchar* next, int width, int height) {
  const int x = get_global_id(0), y = get_global_id(1);
  int neighbours = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) neighbours += cells[(y + dy + height) % height * width + (x + dx + width) % width];
  next[y * width + x] = neighbours == 3 || (neighbours == 2 && cells[y * width + x]);
}

// Work that goes by bytes of a block of text: counts of letters.
__kernel void letters(__global const uchar* text, __global int* counts, const ulong length) {
  __local int own[26];
  const int t = get_local_id(0);
  if (t < 26) own[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (ulong i = get_global_id(0); i < length; i += get_global_size(0)) {
    const uchar c = text[i] | 32;
    if (c >= 'a' && c <= 'z') atomic_add(&own[c - 'a'], 1);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < 26) atomic_add(&counts[t], own[t]);
}

// Prices of options on a tree, in private memory.
__kernel void binomial_options(__global const double* spot, __global double* price, double strike, double up,
                               double chance, double discount, int n) {
  const size_t i = get_global_id(0);
  if (i >= (size_t)n) return;
  double values[9];
  double factor = spot[i];
  for (int k = 0; k < 8; ++k) factor /= up;
  for (int k = 0; k <= 8; ++k) {
    values[k] = fmax(factor - strike, 0.0);
    factor *= up * up;
  }
  for (int step = 8; step > 0; --step)
    for (int k = 0; k < step; ++k) values[k] = discount * (chance * values[k + 1] + (1.0 - chance) * values[k]);
  price[i] = values[0];
}
