// Loops, locals, shared memory, calls and switches, as clang writes them.
#include "builtins.h"
struct Pair { int key; double value; };
__constant__ float table[16] = {1, 2.5f, -3};
__device__ Pair pairs[4] = {{1, 2.0}, {3, -4.5}};
__device__ int *pointer = &pairs[1].key;
__device__ const char *words[] = {"one", "two \"quoted\"", nullptr};

extern "C" __global__ void __launch_bounds__(128, 4) saxpy(float *y, const float *x, float a, int n) { for (int i = index(); i < n; i += 128) y[i] = a * x[i] + y[i]; }
extern "C" __global__ void reduce(int *o, const int *in, int n) {
  __shared__ int s[256];
  int t = tid(), v = 0;
  for (int i = t; i < n; i += 256) v += in[i];
  s[t] = v;
  for (int h = 128; h; h /= 2) { barrier(); if (t < h) s[t] += s[t + h]; }
  if (t == 0) o[ctaid()] = s[0];
}
extern __shared__ double dynamic[];
extern "C" __global__ void transposed(double *o, const double *in, int w) { dynamic[tid()] = in[index()]; barrier(); o[index()] = dynamic[w - tid()] * table[tid() & 15]; }
__noinline__ __device__ Pair make(int k, Pair p, char c, bool b) { p.key += k * c; p.value = b ? p.value : -p.value; return p; }
__noinline__ __device__ long fact(long n) { return n < 2 ? 1 : n * fact(n - 1); }
__device__ float halve(float x) { return x / 2; }
__device__ float third(float x) { return x / 3; }
__device__ float (*functions[2])(float) = {halve, third};
extern "C" __global__ void calls(Pair *p, float *f, int n) {
  int i = index();
  p[i] = make(n, p[i + 1], (char)i, n > i);
  p[0].key += *pointer + words[n][i];
  f[i] = functions[n & 1](f[i]) + fact(n);
}
struct Base { virtual __device__ int get(int x) { return x; } int y = 3; };
struct Derived : Base { __device__ int get(int x) override { return x * y; } };
extern "C" __global__ void virtuals(int *o, int n) { Base b; Derived d; d.y = n; Base *p = n > 3 ? &d : &b; o[index()] = p->get(n); }
extern "C" __global__ void cases(int *o, int n, int m) {
  int a[8] = {}, r = 0;
  for (int i = 0; i < m; ++i) {
    switch (n ^ i) { case 0: r += 3; break; case 1: r -= m; break; case 2: r *= 7; break; case 3: a[r & 7]++; break; case 4: r ^= a[i & 7]; break; case 5: return; case 6: r = o[i]; continue; default: r++; }
    a[i & 7] += r;
  }
  o[index()] = r + a[n & 7];
}
extern "C" __global__ void wide(__int128 *o, unsigned __int128 *u, long long *l, unsigned short *h, signed char *c) {
  int i = index();
  o[i] = o[i + 1] * o[i + 2] + (o[i] >> (i & 127)); u[i] = (u[i] << 5) - u[i + 1];
  l[i] = l[i] / 10 + l[i] % (l[i + 1] | 1) + __builtin_popcountll(l[i]) + __builtin_clzll(l[i]); h[i] = h[i] * 3 + c[i]; c[i] = (signed char)(h[i] >> 3);
}
extern "C" __global__ void atomics(int *i, float *f, double *d, unsigned *u) {
  __nvvm_atom_add_gen_i(i, 3); __nvvm_atom_add_gen_f(f, 1.5f); i[1] = __nvvm_atom_cas_gen_i(i + 2, 1, 2); u[0] = __nvvm_atom_inc_gen_ui(u + 1, 7);
  __atomic_fetch_max(i + 3, 5, __ATOMIC_RELAXED); __atomic_store_n(i + 4, 5, __ATOMIC_RELAXED); __nvvm_membar_gl();
}
extern "C" __global__ void warp(int *o, int n) {
  int v = o[index()];
  v += __nvvm_shfl_sync_bfly_i32(-1, v, 1, 31); v += __nvvm_vote_any_sync(-1, v > n); v += __nvvm_vote_ballot_sync(-1, v & 1);
  __nvvm_bar_warp_sync(-1); v += __nvvm_read_ptx_sreg_laneid() + (int)__nvvm_read_ptx_sreg_clock64();
  o[index()] = v + __nvvm_mul24_i(v, n);
}
extern "C" __global__ void floats(float *f, double *d, _Float16 *h) {
  int i = index();
  f[i] = __builtin_sqrtf(f[i]) + __builtin_fmaf(f[1], f[2], 3.0f) / f[3] + __builtin_fabsf(f[4]) + __nvvm_ex2_approx_f(f[5]) + __nvvm_rsqrt_approx_f(f[6]);
  d[i] = d[i] / d[1] + __builtin_sqrt(d[2]) + __builtin_floor(d[3]) + (double)f[i] + (long)d[4] + (unsigned)f[7]; h[i] = h[i] * h[1] + (_Float16)f[2];
}
extern "C" __global__ void assembly(int *o) {
  int r;
  asm volatile("{ .reg .pred p; .reg .b32 t; setp.gt.s32 p, %1, 0; @p mov.u32 t, 5; @!p mov.u32 t, -1; L%=: add.s32 %0, t, %1; }" : "=r"(r) : "r"(o[1]));
  o[0] = r;
}
