// OpenCL C for nvptx64: address spaces in the types, vectors, images of constants, no headers.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define ID (__nvvm_read_ptx_sreg_tid_x() + __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x())
__constant int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int2 __attribute__((ext_vector_type(2)));
typedef unsigned char uchar8 __attribute__((ext_vector_type(8)));
typedef short short16 __attribute__((ext_vector_type(16)));

__kernel void vectors(__global float4 *o, __global const float4 *a, __constant float4 *c, __local float4 *l, int2 k) {
  int i = ID;
  l[i] = a[i].wzyx * c[k.x]; __syncthreads();
  o[i] = l[i ^ 1] + (float4)(k.y, 1.0f, l[0].x, 2.0f);
  o[i].xz = a[i].yw;
}
__kernel void bytes(__global uchar8 *o, __global short16 *s, __global int *n) {
  int i = ID;
  o[i] = o[i + 1] + (uchar8)3; s[i] = s[i] * s[i + 1] >> (short16)2; n[i] = primes[i & 7] + o[i].s3 + s[i].sf;
}
int collatz(int n) { int k = 0; while (n != 1) { n = n & 1 ? 3 * n + 1 : n >> 1; ++k; } return k; }
__attribute__((noinline)) double horner(__global const double *c, double x, int n) { double s = 0; for (int i = 0; i < n; ++i) s = s * x + c[i]; return s; }
__kernel void mixed(__global int *o, __global double *d, int n, char c) {
  __local int shared[64]; __private int p[16];
  int i = ID;
  for (int j = 0; j < 16; ++j) p[j] = o[j] * c;
  shared[i & 63] = p[n & 15]; __syncthreads();
  o[i] = collatz(shared[63 - i]) + p[(n + i) & 15]; d[i] = horner(d, 0.5 * n, n);
  switch (n) { case 1: o[0] = 1; break; case 2: o[0] = 22; break; case 3: o[1] = 7; break; case 4: o[2] ^= 5; break; case 5: d[0] = 1; break; default: break; }
}
__kernel void matrix(__global float *c, __global const float *a, __global const float *b, int n) {
  __local float x[16][17], y[16][16];
  int tx = __nvvm_read_ptx_sreg_tid_x(), ty = __nvvm_read_ptx_sreg_tid_y(); float s = 0;
  for (int k = 0; k < n; k += 16) { x[ty][tx] = a[ty * n + k + tx]; y[ty][tx] = b[(k + ty) * n + tx]; __syncthreads(); for (int j = 0; j < 16; ++j) s += x[ty][j] * y[j][tx]; __syncthreads(); }
  c[ty * n + tx] = s;
}
