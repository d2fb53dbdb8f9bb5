// Half, bfloat16, fp8, fp6 and fp4 arithmetic and conversions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

extern "C" __global__ void halves(__half *o, const __half *p, __half2 *o2, const __half2 *p2, float *f) {
  __half a = p[0], b = p[1], c = p[2];
  __half2 x = p2[0], y = p2[1], z = p2[2];
  o[0] = a + b; o[1] = a * b - c; o[2] = __hfma(a, b, c); o[3] = a / b; o[4] = hexp(a); o[5] = hsqrt(b); o[6] = __hmax(a, b); o[7] = __habs(c);
  o[8] = a < b ? a : c; o[9] = __float2half_rd(f[0]); o[10] = __int2half_rn(int(f[1])); o[11] = hsin(a); o[12] = __hfma_sat(a, b, c);
  o2[0] = __hadd2(x, y); o2[1] = __hfma2(x, y, z); o2[2] = __h2div(x, y); o2[3] = h2log(x); o2[4] = __hmin2(x, y); o2[5] = __hgt2(x, y);
  o2[6] = __floats2half2_rn(f[0], f[1]); o2[7] = __lows2half2(x, y); o2[8] = __hfma2_relu(x, y, z); o2[9] = __half2half2(a);
  f[2] = __half2float(a) + __low2float(x); f[3] = __hbeq2(x, y) ? 1.0f : 0.0f;
  atomicAdd(&o2[10], x); atomicAdd(&o[30], a);
}
extern "C" __global__ void bfloats(__nv_bfloat16 *o, const __nv_bfloat16 *p, __nv_bfloat162 *o2, const __nv_bfloat162 *p2, float *f, double *d) {
#if __CUDA_ARCH__ >= 800
  __nv_bfloat16 a = p[0], b = p[1], c = p[2];
  o[0] = a + b; o[1] = __hfma(a, b, c); o[2] = a / b; o[3] = hexp2(a); o[4] = hrsqrt(b); o[5] = __hmin(a, b); o[6] = -c; o[7] = __float2bfloat16_rz(f[0]);
  o[8] = __double2bfloat16(d[0]); o[9] = __ushort2bfloat16_rn(7); o[10] = a >= b ? a : c;
  o2[0] = p2[0] * p2[1]; o2[1] = __hfma2(p2[0], p2[1], p2[2]); o2[2] = __floats2bfloat162_rn(f[0], f[1]); o2[3] = __hmax2(p2[0], p2[1]);
  f[2] = __bfloat162float(a); d[1] = double(__bfloat162float(b));
  atomicAdd(&o2[5], p2[3]);
#endif
}
extern "C" __global__ void small_floats(__nv_fp8_e4m3 *a, __nv_fp8_e5m2 *b, __nv_fp8x4_e4m3 *c, __nv_fp4x2_storage_t *d, __nv_fp6x2_storage_t *e, float4 *f, __half2 *h) {
  a[0] = __nv_fp8_e4m3(f[0].x); a[1] = __nv_fp8_e4m3(h[0].x); b[0] = __nv_fp8_e5m2(f[0].y); c[0] = __nv_fp8x4_e4m3(f[1]);
  f[2] = float4(c[1]); f[3].x = float(a[2]) + float(b[2]); h[1] = __half2(__nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t(c[2].__x), __NV_E5M2));
  d[0] = __nv_cvt_float2_to_fp4x2(make_float2(f[0].x, f[0].y), __NV_E2M1, cudaRoundNearest);
  h[2] = __half2(__nv_cvt_fp4x2_to_halfraw2(d[1], __NV_E2M1));
  e[0] = __nv_cvt_float2_to_fp6x2(make_float2(f[0].z, f[0].w), __NV_E3M2, cudaRoundNearest);
  h[3] = __half2(__nv_cvt_fp6x2_to_halfraw2(e[1], __NV_E2M3));
}
