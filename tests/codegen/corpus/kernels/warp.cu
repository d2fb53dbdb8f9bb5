// Warp operations, divergence, clocks.
extern "C" __global__ void warp(int *o, float *f, unsigned long long *l, double *d, const int *in) {
  int t = threadIdx.x, v = in[t];
  unsigned m = __activemask();
  o[0] = __shfl_sync(~0u, v, 3) + __shfl_up_sync(~0u, v, 1) + __shfl_down_sync(~0u, v, 2, 16) + __shfl_xor_sync(~0u, v, 4);
  f[0] = __shfl_sync(~0u, f[t], t ^ 1); d[0] = __shfl_xor_sync(~0u, d[t], 1); l[0] = __shfl_down_sync(~0u, l[t], 1);
  o[1] = __all_sync(~0u, v) + __any_sync(~0u, v > 2) + __ballot_sync(~0u, v & 1);
  o[2] = __match_any_sync(~0u, v); int all; o[3] = __match_all_sync(~0u, l[t], &all) + all;
  if (v > 5) { o[4] = __popc(__activemask()); __syncwarp(m); o[5] = __ballot_sync(__activemask(), v > 9); }
  o[6] = __syncthreads_count(v) + __syncthreads_and(v) + __syncthreads_or(v);
  long long start = clock64(); __nanosleep(100); o[7] = int(clock64() - start); o[8] = clock();
#if __CUDA_ARCH__ >= 800
  o[9] = __reduce_add_sync(m, v) + __reduce_min_sync(m, v) + __reduce_and_sync(m, unsigned(v));
#endif
  for (int i = 16; i; i >>= 1) v += __shfl_xor_sync(~0u, v, i);
  for (int i = 1; i < 32; i *= 2) { int w = __shfl_up_sync(~0u, v, i); if ((t & 31) >= i) v += w; }
  asm volatile("bar.sync 1, 64; bar.arrive 2, 64; barrier.sync 3;");
  int p; asm volatile("{ .reg .pred a, b; setp.ne.s32 a, %1, 0; bar.red.or.pred b, 4, !a; selp.s32 %0, 1, 0, b; }" : "=r"(p) : "r"(v));
  o[10] = v + p;
}
