// What buffers hold at first, where there is too much of it for Python: the same bytes as arguments.py gives.
#define THREAD (static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x)
#define THREADS (static_cast<unsigned long long>(gridDim.x) * blockDim.x)

__device__ void store(void* out, unsigned long long i, int bytes, unsigned long long bits) {
  switch (bytes) {
    case 1: static_cast<unsigned char*>(out)[i] = static_cast<unsigned char>(bits); break;
    case 2: static_cast<unsigned short*>(out)[i] = static_cast<unsigned short>(bits); break;
    case 4: static_cast<unsigned*>(out)[i] = static_cast<unsigned>(bits); break;
    default: static_cast<unsigned long long*>(out)[i] = bits;
  }
}

// `digits`: those of a float, 0 for an integer. A random float of so many digits is exact in each step.
extern "C" __global__ void fill_random(void* out, unsigned long long n, unsigned long long state, int bytes, int digits) {
  for (unsigned long long i = THREAD; i < n; i += THREADS) {
    unsigned long long x = state + (i + 1) * 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    x ^= x >> 31;
    if (digits != 0) {
      const double value = static_cast<double>(x >> (64 - digits)) / static_cast<double>(1ull << (digits - 1)) - 1.0;
      const float single = static_cast<float>(value);
      unsigned short half;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(single));
      x = digits == 53   ? __double_as_longlong(value)
          : digits == 24 ? __float_as_uint(single)
          : digits == 8  ? __float_as_uint(single) >> 16
                         : half;
    }
    store(out, i, bytes, x);
  }
}

extern "C" __global__ void fill_iota(void* out, unsigned long long n, int bytes, int digits) {
  for (unsigned long long i = THREAD; i < n; i += THREADS) {
    const float single = static_cast<float>(i);
    store(out, i, bytes, digits == 53 ? __double_as_longlong(static_cast<double>(i)) : digits == 24 ? __float_as_uint(single) : i);
  }
}

extern "C" __global__ void fill_value(void* out, unsigned long long n, unsigned long long bits, int bytes) {
  for (unsigned long long i = THREAD; i < n; i += THREADS) store(out, i, bytes, bits);
}
