// Work groups that share local memory, with barriers between.

//@ reduction 1024 128 in:int:1024 out:int:8
__kernel void reduction(__global const int* a, __global int* out) {
  __local int tile[128];
  const uint t = get_local_id(0);
  tile[t] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_size = 64; half_size > 0; half_size >>= 1) {
    if (t < half_size) tile[t] = (int)((uint)tile[t] + (uint)tile[t + half_size]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = tile[0];
}

//@ reduction_float 1024 64 in:float:1024:small out:float:16*2
__kernel void reduction_float(__global const float* a, __global float* out) {
  __local float sum[64], most[64];
  const uint t = get_local_id(0);
  sum[t] = most[t] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint n = 32; n > 0; n /= 2) {
    if (t < n) {
      sum[t] += sum[t + n];
      most[t] = fmax(most[t], most[t + n]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0) * 2] = sum[0], out[get_group_id(0) * 2 + 1] = most[0];
}

// Inclusive scan with two buffers
//@ scan_inclusive 1024 256 in:uint:1024 out:uint:1024
__kernel void scan_inclusive(__global const uint* a, __global uint* out) {
  __local uint buffer[2][256];
  const uint t = get_local_id(0);
  int now = 0;
  buffer[0][t] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 1; step < 256; step *= 2) {
    buffer[1 - now][t] = buffer[now][t] + (t >= step ? buffer[now][t - step] : 0);
    now = 1 - now;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = buffer[now][t];
}

// Exclusive scan up and down a tree (two elements each)
//@ scan_tree 512 128 in:long:1024 out:long:1024
__kernel void scan_tree(__global const long* a, __global long* out) {
  __local ulong tree[256];
  const uint t = get_local_id(0), base = get_group_id(0) * 256;
  tree[2 * t] = (ulong)a[base + 2 * t];
  tree[2 * t + 1] = (ulong)a[base + 2 * t + 1];
  uint offset = 1;
  for (uint n = 128; n > 0; n >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < n) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) tree[255] = 0;
  for (uint n = 1; n < 256; n *= 2) {
    offset >>= 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < n) {
      const uint left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      const ulong kept = tree[left];
      tree[left] = tree[right];
      tree[right] += kept;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[base + 2 * t] = (long)tree[2 * t];
  out[base + 2 * t + 1] = (long)tree[2 * t + 1];
}

//@ transpose 64x32 16x16 in:float:64*32 out:float:64*32
__kernel void transpose(__global const float* a, __global float* out) {
  __local float tile[16][17];
  const uint x = get_local_id(0), y = get_local_id(1);
  const uint width = get_global_size(0), height = get_global_size(1);
  tile[y][x] = a[get_global_id(1) * width + get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(get_group_id(0) * 16 + y) * height + get_group_id(1) * 16 + x] = tile[x][y];
}

//@ histogram_local 1024 128 in:uchar:8192 inout:uint:256:zero
__kernel void histogram_local(__global const uchar* a, __global uint* bins) {
  __local uint mine[256];
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < 8192; i += get_global_size(0)) atomic_inc(&mine[a[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) atomic_add(&bins[i], mine[i]);
}

//@ for T in int ushort ulong float: bitonic_sort_$T 512 128 in:$T:512:numbers out:$T:512
#define BITONIC(T)                                                        \
  __kernel void bitonic_sort_##T(__global const T* a, __global T* out) {  \
    __local T keys[128];                                                  \
    const uint t = get_local_id(0);                                       \
    keys[t] = a[get_global_id(0)];                                        \
    for (uint size = 2; size <= 128; size *= 2)                           \
      for (uint step = size / 2; step > 0; step /= 2) {                   \
        barrier(CLK_LOCAL_MEM_FENCE);                                     \
        const uint other = t ^ step;                                      \
        if (other > t) {                                                  \
          const T x = keys[t], y = keys[other];                           \
          if ((x > y) == ((t & size) == 0)) keys[t] = y, keys[other] = x; \
        }                                                                 \
      }                                                                   \
    barrier(CLK_LOCAL_MEM_FENCE);                                         \
    out[get_global_id(0)] = keys[t];                                      \
  }
BITONIC(int)
BITONIC(ushort)
BITONIC(ulong)
BITONIC(float)

#pragma OPENCL FP_CONTRACT OFF
//@ matrix_product 32x32 8x8 in:float:32*32:small in:float:32*32:small out:float:32*32 int=32
__kernel void matrix_product(__global const float* a, __global const float* b, __global float* c, int n) {
  __local float x[8][8], y[8][8];
  const int row = get_global_id(1), column = get_global_id(0), r = get_local_id(1), s = get_local_id(0);
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    x[r][s] = a[row * n + k + s];
    y[r][s] = b[(k + r) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 8; ++i) sum = fma(x[r][i], y[i][s], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

// A row with one neighbour on each side, which other groups own
//@ stencil_halo 1024 64 in:double:1024:small out:double:1024
__kernel void stencil_halo(__global const double* a, __global double* out) {
  __local double tile[66];
  const int t = get_local_id(0), i = get_global_id(0), n = get_global_size(0);
  tile[t + 1] = a[i];
  if (t == 0) tile[0] = i > 0 ? a[i - 1] : 0;
  if (t == 63) tile[65] = i + 1 < n ? a[i + 1] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = (tile[t] + tile[t + 2]) * 0.25 + tile[t + 1] * 0.5;
}

// Local memory of a three-dimensional group, of bytes and of vectors
//@ local_block 16x8x4 8x4x2 in:uchar:512 in:float:2048 out:uchar:512 out:float:2048
__kernel void local_block(__global const uchar* a, __global const float4* b, __global uchar* out,
                          __global float4* wide) {
  __local uchar bytes[2][4][8];
  __local float4 vectors[64];
  const size_t x = get_local_id(0), y = get_local_id(1), z = get_local_id(2);
  const size_t i = (get_global_id(2) * 8 + get_global_id(1)) * 16 + get_global_id(0), flat = (z * 4 + y) * 8 + x;
  bytes[z][y][x] = a[i];
  vectors[flat] = b[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = bytes[1 - z][3 - y][7 - x] + bytes[z][y][x ^ 1];
  wide[i] = vectors[63 - flat].wxyz;
}

// A group of 48, not a multiple of a warp, and one of 1
//@ odd_group 144 48 in:int:144 out:int:144
__kernel void odd_group(__global const int* a, __global int* out) {
  __local int tile[48];
  const int t = get_local_id(0);
  tile[t] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  int best = tile[t], rank = 0;
  for (int k = 0; k < 48; ++k) rank += tile[k] < best || (tile[k] == best && k < t);
  barrier(CLK_LOCAL_MEM_FENCE);
  tile[rank] = best;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tile[t];
}

//@ lonely_groups 40 1 in:int:40 out:int:40
__kernel void lonely_groups(__global const int* a, __global int* out) {
  __local int mine;
  mine = a[get_global_id(0)] ^ (int)get_group_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_num_groups(0) - 1 - get_group_id(0)] = mine * 3u;
}

// Values travel around a ring through local memory, the barrier in a loop of uniform length
//@ ring 256 64 in:uint:256 out:uint:256 uint=37
__kernel void ring(__global const uint* a, __global uint* out, uint iterations) {
  __local uint here[64], there[64];
  const uint t = get_local_id(0);
  here[t] = a[get_global_id(0)];
  for (uint k = 0; k < iterations; ++k) {
    barrier(CLK_LOCAL_MEM_FENCE);
    there[(t + 1) & 63] = rotate(here[t], k & 31u) + t;
    barrier(CLK_LOCAL_MEM_FENCE);
    here[t] = there[t] ^ there[(t + k) & 63];
  }
  out[get_global_id(0)] = here[t];
}
