// corpus: weight=heavy
// CUB's block and warp algorithms on several types.
#include <cub/cub.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
template <class T, int N, int ITEMS> __global__ void block(T *o, const T *in) {
  using Load = cub::BlockLoad<T, N, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<T, N, ITEMS, cub::BLOCK_STORE_VECTORIZE>;
  using Scan = cub::BlockScan<T, N>;
  using Reduce = cub::BlockReduce<T, N>;
  using Merge = cub::BlockMergeSort<T, N, ITEMS>;
  using Flags = cub::BlockDiscontinuity<T, N>;
  __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; typename Scan::TempStorage scan; typename Reduce::TempStorage reduce; typename Merge::TempStorage merge; typename Flags::TempStorage flags; } s;
  T x[ITEMS]; int flags[ITEMS];
  Load(s.load).Load(in + blockIdx.x * N * ITEMS, x); __syncthreads();
  Scan(s.scan).InclusiveSum(x, x); __syncthreads();
  Merge(s.merge).Sort(x, [](const T &a, const T &b) { return a < b; }); __syncthreads();
  Flags(s.flags).FlagHeads(flags, x, cuda::std::not_equal_to<>()); __syncthreads();
  T sum = Reduce(s.reduce).Sum(x); __syncthreads();
  for (int i = 0; i < ITEMS; ++i) x[i] += T(flags[i]);
  if (threadIdx.x == 0) o[0] = sum;
  Store(s.store).Store(o + blockIdx.x * N * ITEMS, x);
}
template <class K, int N, int ITEMS> __global__ void sort(K *o) {
  using Sort = cub::BlockRadixSort<K, N, ITEMS, int>;
  using Histogram = cub::BlockHistogram<unsigned char, N, ITEMS, 256>;
  __shared__ union { typename Sort::TempStorage sort; typename Histogram::TempStorage histogram; } s;
  __shared__ unsigned bins[256];
  K k[ITEMS]; int v[ITEMS]; unsigned char b[ITEMS];
  for (int i = 0; i < ITEMS; ++i) { k[i] = o[threadIdx.x * ITEMS + i]; v[i] = i; b[i] = (unsigned char)i; }
  Sort(s.sort).SortDescending(k, v); __syncthreads();
  Histogram(s.histogram).Histogram(b, bins);
  for (int i = 0; i < ITEMS; ++i) o[threadIdx.x * ITEMS + i] = k[i] + K(v[i] + bins[v[i] & 255]);
}
template <class T> __global__ void warps(T *o) {
  __shared__ typename cub::WarpReduce<T>::TempStorage r[4];
  __shared__ typename cub::WarpScan<T>::TempStorage s[4];
  int w = threadIdx.x / 32;
  T x = o[threadIdx.x], y;
  y = cub::WarpReduce<T>(r[w]).Reduce(x, cuda::maximum<>()); cub::WarpScan<T>(s[w]).ExclusiveSum(x, x);
  o[threadIdx.x] = x + y;
}
template __global__ void block<int, 128, 4>(int *, const int *);
template __global__ void block<double, 64, 3>(double *, const double *);
template __global__ void sort<float, 128, 4>(float *);
template __global__ void sort<unsigned short, 64, 2>(unsigned short *);
template __global__ void warps<float>(float *);
template __global__ void warps<long long>(long long *);
