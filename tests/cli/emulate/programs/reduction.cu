// Sums, least and greatest of several types: templates, shuffles, dynamic shared memory, a variable of the device.
#include "program.h"

struct Sum {
  template <typename T>
  __device__ T operator()(T a, T b) const { return a + b; }
};
struct Least {
  template <typename T>
  __device__ T operator()(T a, T b) const { return b < a ? b : a; }
};
struct Greatest {
  template <typename T>
  __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

__device__ unsigned blocksDone;

template <typename T, typename Operation>
__device__ T ofWarp(T x, Operation f) {
  for (int i = 16; i > 0; i /= 2) x = f(x, __shfl_xor_sync(~0u, x, i));
  return x;
}

// The last block to finish reduces what the others left.
template <typename T, typename Operation>
__global__ void reduce(const T* in, int n, T* partial, T* out, T neutral) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const warps = reinterpret_cast<T*>(memory);
  __shared__ bool isLast;
  const Operation f{};
  T x = neutral;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x = f(x, in[i]);
  for (int iteration = 0;; ++iteration) {
    x = ofWarp(x, f);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
    __syncthreads();
    x = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : neutral;
    if (threadIdx.x < 32) x = ofWarp(x, f);
    if (iteration == 1) break;
    if (threadIdx.x == 0) {
      partial[blockIdx.x] = x;
      __threadfence();
      isLast = atomicInc(&blocksDone, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!isLast) return;
    x = threadIdx.x < gridDim.x ? reinterpret_cast<volatile T*>(partial)[threadIdx.x] : neutral;
  }
  if (threadIdx.x == 0) *out = x;
}

template <typename T, typename Operation>
T reduced(const std::vector<T>& values, T neutral, int blocks, int threads) {
  T *in = onDevice(values), *partial = zeros<T>(blocks), *out = zeros<T>(1);
  reduce<T, Operation><<<blocks, threads, threads / 32 * sizeof(T)>>>(in, static_cast<int>(values.size()), partial, out,
                                                                      neutral);
  LAUNCHED();
  return onHost(out, 1)[0];
}

int main() {
  Numbers numbers;
  std::vector<int> ints(5000);
  std::vector<long long> longs(3333);
  std::vector<float> floats(4097);
  std::vector<double> doubles(2048);
  int sum = 0;
  long long least = 1LL << 62;
  float greatest = -1;
  double doubleSum = 0;
  for (int& x : ints) sum += x = static_cast<int>(numbers.below(2000)) - 1000;
  for (long long& x : longs) x = (static_cast<long long>(numbers.next()) << 20) - (1LL << 50), least = x < least ? x : least;
  for (float& x : floats) x = numbers.unit(), greatest = x > greatest ? x : greatest;
  for (double& x : doubles) doubleSum += x = numbers.below(1000) / 8.0;
  EXPECT((reduced<int, Sum>(ints, 0, 8, 128) == sum));
  EXPECT((reduced<long long, Least>(longs, 1LL << 62, 5, 96) == least));
  EXPECT((reduced<float, Greatest>(floats, -1.0f, 4, 256) == greatest));
  EXPECT((reduced<double, Sum>(doubles, 0.0, 3, 64) == doubleSum));
  unsigned done = 1;
  CUDA(cudaMemcpyFromSymbol(&done, blocksDone, sizeof done));
  EXPECT(done == 0);
  return passed();
}
