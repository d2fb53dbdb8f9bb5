// Tensor cores: products of matrices of 16 by 8, a chain of them for each warp.
#define WARP ((blockIdx.x * blockDim.x + threadIdx.x) / 32)
#define LANE (threadIdx.x & 31)

// Fragments as 32-bit words, loaded for each step with addresses that a compiler has to compute.
template <int A, int B, class Step>
__device__ void multiply(const unsigned* a, const unsigned* b, unsigned* c, int tiles, int steps, Step step) {
  unsigned sum[4] = {};
  for (int s = 0; s < steps; ++s) {
    const int tile = (static_cast<int>(WARP) + s) % tiles;
    unsigned x[A], y[B];
    for (int i = 0; i < A; ++i) x[i] = a[(tile * 32 + LANE) * A + i];
    for (int i = 0; i < B; ++i) y[i] = b[(tile * 32 + LANE) * B + i];
    step(sum, x, y);
  }
  for (int i = 0; i < 4; ++i) c[(WARP * 32 + LANE) * 4 + i] = sum[i];
}

#define MMA(NAME, A, B, TEXT, OPERANDS, ...)                                                                 \
  extern "C" __global__ void NAME(const unsigned* a, const unsigned* b, unsigned* c, int tiles, int steps) { \
    multiply<A, B>(a, b, c, tiles, steps, [](unsigned* d, const unsigned* x, const unsigned* y) {            \
      asm(TEXT " {%0,%1,%2,%3}, " OPERANDS ", {%0,%1,%2,%3};"                                                \
          : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                   \
          : __VA_ARGS__);                                                                                    \
    });                                                                                                      \
  }
#define FLOAT_MMA(NAME, A, B, TEXT, OPERANDS, ...)                                                           \
  extern "C" __global__ void NAME(const unsigned* a, const unsigned* b, unsigned* c, int tiles, int steps) { \
    multiply<A, B>(a, b, c, tiles, steps, [](unsigned* d, const unsigned* x, const unsigned* y) {            \
      float f[4];                                                                                            \
      for (int i = 0; i < 4; ++i) f[i] = __uint_as_float(d[i]);                                              \
      asm(TEXT " {%0,%1,%2,%3}, " OPERANDS ", {%0,%1,%2,%3};"                                                \
          : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])                                                   \
          : __VA_ARGS__);                                                                                    \
      for (int i = 0; i < 4; ++i) d[i] = __float_as_uint(f[i]);                                              \
    });                                                                                                      \
  }

FLOAT_MMA(tensor_f16, 4, 2, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "{%4,%5,%6,%7}, {%8,%9}", "r"(x[0]),
          "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]))
FLOAT_MMA(tensor_bf16, 4, 2, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "{%4,%5,%6,%7}, {%8,%9}",
          "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]))
FLOAT_MMA(tensor_tf32, 4, 2, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "{%4,%5,%6,%7}, {%8,%9}", "r"(x[0]),
          "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]))
MMA(tensor_s8, 4, 2, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "{%4,%5,%6,%7}, {%8,%9}", "r"(x[0]), "r"(x[1]),
    "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]))

// Fragments that stay in registers, four sums that do not wait for each other: nothing but the unit itself.
extern "C" __global__ void tensor_resident(const unsigned* a, const unsigned* b, float* c, int steps) {
  unsigned x[4], y[2];
  for (int i = 0; i < 4; ++i) x[i] = a[LANE * 4 + i];
  for (int i = 0; i < 2; ++i) y[i] = b[LANE * 2 + i];
  float f[4][4] = {};
  for (int s = 0; s < steps; ++s)
    for (int k = 0; k < 4; ++k)
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(f[k][0]), "+f"(f[k][1]), "+f"(f[k][2]), "+f"(f[k][3])
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  for (int i = 0; i < 4; ++i) c[(WARP * 32 + LANE) * 4 + i] = f[0][i] + f[1][i] + f[2][i] + f[3][i];
}

// Tiles by way of shared memory and ldmatrix.
extern "C" __global__ void tensor_tiles(const unsigned* a, const unsigned* b, float* c, int tiles, int steps) {
  __shared__ alignas(16) unsigned left[16 * 8], right[8 * 8];
  float f[4] = {};
  for (int s = 0; s < steps; ++s) {
    const int tile = (static_cast<int>(blockIdx.x) + s) % tiles;
    __syncthreads();
    for (int i = threadIdx.x; i < 128; i += blockDim.x) left[i] = a[tile * 128 + i];
    for (int i = threadIdx.x; i < 64; i += blockDim.x) right[i] = b[tile * 64 + i];
    __syncthreads();
    unsigned x[4], y[2];
    const auto row = static_cast<unsigned>(__cvta_generic_to_shared(&left[(LANE & 15) * 8 + LANE / 16 * 4]));
    const auto column = static_cast<unsigned>(__cvta_generic_to_shared(&right[(LANE & 7) * 8 + LANE / 8 % 2 * 4]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(y[0]), "=r"(y[1]) : "r"(column));
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  }
  for (int i = 0; i < 4; ++i) c[(WARP * 32 + LANE) * 4 + i] = f[i];
}
