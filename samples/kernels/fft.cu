// Fourier transforms of 2^bits complex numbers, a block each, with half as many threads; radix 2, in shared memory.
// roots[i] is exp(-2 pi i / 2^bits * i), given so that the results do not depend on a sine.
extern "C" __global__ void fft(int bits, const float2* __restrict__ roots, const float2* __restrict__ in,
                               float2* __restrict__ out) {
  extern __shared__ float2 values[];
  const unsigned n = 1u << bits, thread = threadIdx.x;
  in += static_cast<unsigned long long>(blockIdx.x) << bits;
  out += static_cast<unsigned long long>(blockIdx.x) << bits;
  for (unsigned i = thread; i < n; i += n / 2) values[__brev(i) >> (32 - bits)] = in[i];
  for (unsigned level = 0; level < bits; ++level) {
    __syncthreads();
    const unsigned span = 1u << level, k = thread & (span - 1), low = 2 * thread - k, high = low + span;
    const float2 w = roots[k << (bits - 1 - level)], a = values[low], b = values[high];
    const float re = __fmaf_rn(b.x, w.x, -__fmul_rn(b.y, w.y)), im = __fmaf_rn(b.x, w.y, __fmul_rn(b.y, w.x));
    values[low] = make_float2(__fadd_rn(a.x, re), __fadd_rn(a.y, im));
    values[high] = make_float2(__fsub_rn(a.x, re), __fsub_rn(a.y, im));
  }
  __syncthreads();
  for (unsigned i = thread; i < n; i += n / 2) out[i] = values[i];
}
