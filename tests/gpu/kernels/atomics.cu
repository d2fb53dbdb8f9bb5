// Atomic operations on global memory. Only those whose result no order changes: integers.
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define THREADS (gridDim.x * blockDim.x)

extern "C" __global__ void count_values(const unsigned* x, unsigned* counts, int n, unsigned mask) {
  for (int i = THREAD; i < n; i += THREADS) atomicAdd(&counts[x[i] & mask], 1u);
}
// All in one place.
extern "C" __global__ void add_up(const unsigned* x, unsigned* sum, int n) {
  for (int i = THREAD; i < n; i += THREADS) atomicAdd(sum, x[i]);
}
extern "C" __global__ void largest(const int* x, int* most, int n, int groups) {
  for (int i = THREAD; i < n; i += THREADS) atomicMax(&most[i % groups], x[i]);
}
// A sum of squares modulo a prime, by compare and swap.
extern "C" __global__ void add_modulo(const unsigned* x, unsigned* sums, int n, unsigned mask) {
  for (int i = THREAD; i < n; i += THREADS) {
    const unsigned v = (x[i] & 0xff) * (x[i] & 0xff);
    unsigned* const place = &sums[i & mask];
    unsigned old = *place, seen;
    do {
      seen = old;
      old = atomicCAS(place, seen, (seen + v) % 65521u);
    } while (old != seen);
  }
}
extern "C" __global__ void mark_bits(const unsigned* x, unsigned* bits, int n, unsigned mask) {
  for (int i = THREAD; i < n; i += THREADS) atomicOr(&bits[(x[i] & mask) / 32], 1u << (x[i] & 31));
}
