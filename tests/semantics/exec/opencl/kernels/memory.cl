// Address spaces, scalar arguments of every type, and the numbering of work items.

__constant int primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
__constant uchar bytes[7] = {1, 0xff, 0x80, 0x7f, 3, 0, 42};
__constant float4 weights[2] = {(float4)(0.5f, -1.5f, 2.0f, 1e-3f), (float4)(3.0f, 0.125f, -0.25f, 7.0f)};
__constant double ratio = 0.1;
struct Entry {
  short key;
  long value;
};
__constant struct Entry table[3] = {{-5, 0x123456789abcdefl}, {7, -1}, {300, LONG_MIN}};

#pragma OPENCL FP_CONTRACT OFF
//@ constants 256 64 in:uint:256 out:int:256 out:float:1024 out:double:256 out:long:256
__kernel void constants(__global const uint* a, __global int* out, __global float4* floats,
                        __global double* doubles, __global long* longs) {
  const size_t i = get_global_id(0);
  out[i] = primes[a[i] & 15] * (int)bytes[a[i] % 7];
  floats[i] = weights[a[i] & 1] * (float)(a[i] & 255);
  doubles[i] = ratio * a[i];
  longs[i] = table[a[i] % 3].value ^ table[(a[i] >> 8) % 3].key;
}

//@ scalar_arguments 64 32 char=-7 uchar=200 short=-30000 ushort=60000 int=-2000000000 uint=4000000000
//@@ long=-9000000000000000000 ulong=18000000000000000000 float=1.5 double=-2.25 out:long:64*8 out:double:64*2
__kernel void scalar_arguments(char c, uchar uc, short s, ushort us, int i, uint ui, long l, ulong ul, float f,
                               double d, __global long* out, __global double* floats) {
  const size_t g = get_global_id(0);
  __global long* row = out + g * 8;
  row[0] = c + (long)g;
  row[1] = uc;
  row[2] = s;
  row[3] = us;
  row[4] = i;
  row[5] = ui;
  row[6] = l;
  row[7] = (long)ul;
  floats[g * 2] = f * (float)g;
  floats[g * 2 + 1] = d + (double)g;
}

//@ work_items 12x10x6 4x5x3 out:uint:720*4
__kernel void work_items(__global uint* out) {
  const size_t i =
      (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
  __global uint* row = out + i * 4;
  row[0] = get_local_id(0) | get_local_id(1) << 8 | get_local_id(2) << 16;
  row[1] = get_group_id(0) | get_group_id(1) << 8 | get_group_id(2) << 16;
  row[2] = get_local_size(0) | get_local_size(1) << 8 | get_local_size(2) << 16;
  row[3] = get_num_groups(0) | get_num_groups(1) << 8 | get_num_groups(2) << 16;
}

union Bits {
  ulong whole;
  uint words[2];
  uchar bytes[8];
  double number;
};

//@ unions 256 64 in:ulong:256 out:ulong:256
__kernel void unions(__global const ulong* a, __global ulong* out) {
  union Bits u;
  u.whole = a[get_global_id(0)];
  u.words[0] += u.words[1];
  u.bytes[5] ^= u.bytes[2];
  u.bytes[u.words[0] & 7] = 0x99;
  out[get_global_id(0)] = u.whole;
}

struct __attribute__((packed)) Packed {
  uchar a;
  uint b;
  ushort c;
  ulong d;
};

// Fields without alignment: accesses byte by byte
//@ packed_fields 128 32 in:uchar:128*15 out:ulong:128
__kernel void packed_fields(__global const uchar* raw, __global ulong* out) {
  __global const struct Packed* p = (__global const struct Packed*)raw + get_global_id(0);
  out[get_global_id(0)] = p->a + p->b * 3ul + ((ulong)p->c << 20) - p->d;
}

struct Record {
  int id;
  float weights[3];
  ulong mask;
};

// Records in global memory, copied whole
//@ record_copy 128 32 in:uint:768 out:uint:768
__kernel void record_copy(__global const struct Record* in, __global struct Record* out) {
  const size_t i = get_global_id(0);
  struct Record r = in[127 - i];
  r.id += (int)i;
  r.mask = r.mask << 3 | r.mask >> 61;
  out[i] = r;
}

// Each row's elements by one work item, and each column's by another in the same launch
//@ strides 64 32 in:short:4096 out:int:128
__kernel void strides(__global const short* a, __global int* out) {
  const size_t i = get_global_id(0);
  int row = 0, column = 0;
  for (int k = 0; k < 64; ++k) row += a[i * 64 + k] * (k + 1), column ^= a[k * 64 + i] << (k & 15);
  out[i] = row;
  out[64 + i] = column;
}

// A local matrix of private arrays, indexed by variables
//@ private_matrix 64 32 in:float:64*9:small out:float:64*9
__kernel void private_matrix(__global const float* a, __global float* out) {
  float m[3][3], r[3][3];
  const size_t i = get_global_id(0);
  for (int k = 0; k < 9; ++k) m[k / 3][k % 3] = a[i * 9 + k];
  for (int x = 0; x < 3; ++x)
    for (int y = 0; y < 3; ++y) {
      float sum = 0;
      for (int k = 0; k < 3; ++k) sum += m[x][k] * m[k][y];
      r[(x + (int)i) % 3][y] = sum;
    }
  for (int k = 0; k < 9; ++k) out[i * 9 + k] = r[k / 3][k % 3];
}

// In place: each work item reverses its own row of bytes.
//@ reverse_rows 64 16 inout:uchar:64*21:any
__kernel void reverse_rows(__global uchar* a) {
  __global uchar* row = a + get_global_id(0) * 21;
  for (int low = 0, high = 20; low < high; ++low, --high) {
    const uchar t = row[low];
    row[low] = row[high];
    row[high] = t;
  }
}

// Sparse rows: how many there are of each differs.
//@ sparse_rows 64 32 in:uint:1024 in:double:1024:small out:double:64
__kernel void sparse_rows(__global const uint* columns, __global const double* values, __global double* out) {
  const size_t i = get_global_id(0);
  const uint begin = i * 16, end = begin + columns[begin] % 17;
  double sum = 0;
  for (uint k = begin; k < end; ++k) sum = fma(values[k], values[columns[k] & 1023], sum);
  out[i] = sum;
}
