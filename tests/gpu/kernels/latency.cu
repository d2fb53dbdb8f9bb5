// Bound by latency: chains of what waits for what came before, with few warps to hide it.
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

// A list through all of the memory, in one cycle: n is a power of two.
extern "C" __global__ void chase_make(unsigned* next, unsigned n) {
  for (unsigned i = THREAD; i < n; i += gridDim.x * blockDim.x) next[i] = (i * 1664525u + 1013904223u) & (n - 1);
}
extern "C" __global__ void chase_global(const unsigned* next, unsigned* last, unsigned n, int steps) {
  unsigned at = THREAD & (n - 1);
  for (int i = 0; i < steps; ++i) at = next[at];
  last[THREAD] = at;
}

extern "C" __global__ void chase_shared(const unsigned* seed, unsigned* last, int steps) {
  __shared__ unsigned next[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = (i * 1664525u + seed[0] * 2 + 1) & 1023;
  __syncthreads();
  unsigned at = threadIdx.x;
  for (int i = 0; i < steps; ++i) at = next[at];
  last[THREAD] = at;
}

// Records that say where the next one is, and have something to add up.
struct Record {
  unsigned next, weight;
  float value, unused;
};
extern "C" __global__ void list_walk(const Record* records, float* sums, unsigned mask, int steps) {
  unsigned at = THREAD & mask;
  float sum = 0;
  for (int i = 0; i < steps; ++i) {
    const Record r = records[at];
    sum += r.value * static_cast<float>(r.weight & 15);
    at = (r.next ^ at * 5 + 1) & mask;
  }
  sums[THREAD] = sum;
}

extern "C" __global__ void search(const unsigned* sorted, const unsigned* keys, unsigned* found, unsigned n) {
  const unsigned key = keys[THREAD];
  unsigned low = 0, high = n;
  while (low < high) {
    const unsigned middle = low + (high - low) / 2;
    if (sorted[middle] < key) low = middle + 1;
    else high = middle;
  }
  found[THREAD] = low;
}

extern "C" __global__ void hash_probe(const unsigned* table, const unsigned* keys, unsigned* places, unsigned mask,
                                      int most) {
  const unsigned key = keys[THREAD];
  unsigned at = key * 2654435761u & mask;
  int i = 0;
  while (i < most && table[at] != key) {
    at = (at + 1) & mask;
    ++i;
  }
  places[THREAD] = at + (i << 24);
}

// One warp of a block, one chain.
extern "C" __global__ void dot_chain(const float* x, const float* y, float* sums, int n, int stride) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i * stride + THREAD] * y[i * stride + THREAD];
  sums[THREAD] = sum;
}
extern "C" __global__ void horner(const float* x, float* y, float a, float b, int steps) {
  float v = x[THREAD], p = a;
  for (int i = 0; i < steps; ++i) p = p * v + b;
  y[THREAD] = p;
}
extern "C" __global__ void divide_chain(const unsigned* x, unsigned* y, unsigned divisor, int steps) {
  unsigned v = x[THREAD];
  for (int i = 0; i < steps; ++i) v = v / (divisor | 1) + (v ^ 0x9E3779B9u);
  y[THREAD] = v;
}
extern "C" __global__ void recurrence(const double* x, double* y, double a, int steps) {
  double v = x[THREAD], w = 1;
  for (int i = 0; i < steps; ++i) {
    const double next = v * a - w;
    w = v * 0.5;
    v = next;
  }
  y[THREAD] = v;
}
