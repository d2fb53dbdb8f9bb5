// Bound by one unit: independent chains of one kind of instruction, as many as hide its latency.
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

#define CHAINS 8
#define PIPE(NAME, TYPE, STEP)                                                               \
  extern "C" __global__ void NAME(const TYPE* x, TYPE* y, TYPE a, TYPE b, int steps) {       \
    TYPE v[CHAINS];                                                                          \
    for (int c = 0; c < CHAINS; ++c) v[c] = x[THREAD] + static_cast<TYPE>(c);                \
    for (int i = 0; i < steps; ++i)                                                          \
      for (int c = 0; c < CHAINS; ++c) {                                                     \
        TYPE& u = v[c];                                                                      \
        STEP;                                                                                \
      }                                                                                      \
    TYPE sum = 0;                                                                            \
    for (int c = 0; c < CHAINS; ++c) sum += v[c];                                            \
    y[THREAD] = sum;                                                                         \
  }

typedef unsigned long long Wide;
PIPE(pipe_fma, float, u = u * a + b)
PIPE(pipe_add, float, u = (u + a) * b)
PIPE(pipe_multiply_add, unsigned, u = u * a + b)
PIPE(pipe_multiply_wide, Wide, u = static_cast<Wide>(static_cast<unsigned>(u)) * static_cast<unsigned>(a) + (u >> 32))
PIPE(pipe_multiply_64, Wide, u = u * a + b)
PIPE(pipe_multiply_high, unsigned, u = __umulhi(u, a) + b)
PIPE(pipe_logic, unsigned, u = (u ^ a) + (u & b))
PIPE(pipe_shift, unsigned, u = __funnelshift_l(u, u ^ a, b))
PIPE(pipe_compare, int, u = u > a ? u - b : u + a)
PIPE(pipe_bits, unsigned, u = __popc(u) + (__brev(u) ^ a))
PIPE(pipe_double, double, u = u * a + b)
PIPE(pipe_special, float, asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(u) : "f"(u * a)); u -= b)
PIPE(pipe_convert, float, u = static_cast<float>(static_cast<int>(u * a)) + b)
PIPE(pipe_divide, float, u = b / (u + a))

// Two halves at a time.
extern "C" __global__ void pipe_half(const unsigned* x, unsigned* y, unsigned a, unsigned b, int steps) {
  unsigned v[CHAINS];
  for (int c = 0; c < CHAINS; ++c) v[c] = x[THREAD] ^ static_cast<unsigned>(c);
  for (int i = 0; i < steps; ++i)
    for (int c = 0; c < CHAINS; ++c) asm("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(v[c]) : "r"(a), "r"(b));
  for (int c = 0; c < CHAINS; ++c) y[THREAD * CHAINS + c] = v[c];
}

// What hashes do: rotations, sums and a choice.
extern "C" __global__ void hash_rounds(const unsigned* x, unsigned* y, int rounds) {
  unsigned a = x[THREAD], b = a ^ 0x6a09e667, c = a ^ 0xbb67ae85, d = a ^ 0x3c6ef372;
  for (int i = 0; i < rounds; ++i) {
    const unsigned s = __funnelshift_r(a, a, 6) ^ __funnelshift_r(a, a, 11) ^ __funnelshift_r(a, a, 25);
    const unsigned t = d + s + ((a & b) ^ (~a & c)) + 0x428a2f98u * static_cast<unsigned>(i);
    d = c;
    c = b;
    b = a;
    a = t;
  }
  y[THREAD] = a ^ b ^ c ^ d;
}
