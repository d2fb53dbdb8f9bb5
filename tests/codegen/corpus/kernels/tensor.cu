// Matrix units: wmma in every type, mma, ldmatrix, wgmma.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
template <class A, class C, int M, int N, int K> __device__ void product(C *o, const A *a, const A *b) {
  wmma::fragment<wmma::matrix_a, M, N, K, A, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, M, N, K, A, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, M, N, K, C> z;
  wmma::fill_fragment(z, C(0));
  for (int i = 0; i < 4; ++i) {
    wmma::load_matrix_sync(x, a + i * K, 64);
    wmma::load_matrix_sync(y, b + i * K, 64);
    wmma::mma_sync(z, x, y, z);
  }
  for (int i = 0; i < z.num_elements; ++i) z.x[i] = z.x[i] * C(2);
  wmma::store_matrix_sync(o, z, 64, wmma::mem_row_major);
}
extern "C" __global__ void half_products(float *o, __half *h, const __half *a) { product<__half, float, 16, 16, 16>(o, a, a + 9); product<__half, __half, 32, 8, 16>(h, a, a + 9); }
extern "C" __global__ void byte_products(int *o, const signed char *a, const unsigned char *b) { product<signed char, int, 16, 16, 16>(o, a, a + 9); product<unsigned char, int, 8, 32, 16>(o + 99, b, b + 9); }
extern "C" __global__ void new_products(float *o, double *d, const __nv_bfloat16 *b, const double *e) {
#if __CUDA_ARCH__ >= 800
  product<__nv_bfloat16, float, 16, 16, 16>(o, b, b + 9);
  wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> z;
  wmma::load_matrix_sync(x, e, 8); wmma::load_matrix_sync(y, e + 9, 8); wmma::load_matrix_sync(z, d, 8, wmma::mem_col_major);
  wmma::mma_sync(z, x, y, z);
  wmma::store_matrix_sync(d, z, 8, wmma::mem_col_major);
#endif
}
extern "C" __global__ void inline_mma(float *o, const unsigned *p, double *d) {
  extern __shared__ unsigned s[];
  unsigned a[4], b[2], at = __cvta_generic_to_shared(s + threadIdx.x * 4);
  float c[4] = {0, 0, 0, 0};
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  for (int k = 0; k < 8; ++k) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(at + k * 64));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2+16];" : "=r"(b[0]), "=r"(b[1]) : "r"(at + k * 32));
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
                 : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]));
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(d[0]), "+d"(d[1]) : "d"(d[2]), "d"(d[3]));
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, 0x0;"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(at));
#endif
    int i[2] = {int(a[0]), int(a[1])};
    asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+r"(i[0]), "+r"(i[1]) : "r"(b[0]), "r"(b[1]));
    c[0] += i[0];
  }
  o[threadIdx.x] = c[0] + c[1] + c[2] + c[3];
}
extern "C" __global__ void warpgroup(float *o, unsigned long long da, unsigned long long db) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  float d[4] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int k = 0; k < 4; ++k)
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 1;\n}\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(da + k * 2), "l"(db + k * 2), "r"(k));
  asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  for (int i = 0; i < 4; ++i) o[threadIdx.x * 4 + i] = d[i];
#endif
}
