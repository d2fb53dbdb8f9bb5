// Arrays of a thread, in local memory unless a compiler takes them apart.
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

// Indices that are known only when it runs.
extern "C" __global__ void local_table(const unsigned* x, unsigned* y, int steps) {
  unsigned table[16];
  for (int i = 0; i < 16; ++i) table[i] = x[THREAD] * (2 * i + 1);
  unsigned v = x[THREAD];
  for (int i = 0; i < steps; ++i) {
    v = v * 1664525u + table[v >> 28];
    table[v & 15] ^= v;
  }
  y[THREAD] = v;
}

// The median of nine, by a sort that unrolls.
extern "C" __global__ void median_9(const float* x, float* y, int width, int height) {
  const int c = THREAD % (width - 2), r = THREAD / (width - 2);
  if (r >= height - 2) return;
  float v[9];
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) v[j * 3 + i] = x[(r + j) * width + c + i];
  for (int i = 0; i < 5; ++i)
    for (int j = i + 1; j < 9; ++j)
      if (v[j] < v[i]) {
        const float t = v[i];
        v[i] = v[j];
        v[j] = t;
      }
  y[r * width + c] = v[4];
}

// A tree of 2^depth - 1 nodes, walked with a stack.
extern "C" __global__ void tree_walk(const float* values, float* sums, int nodes, float cut) {
  int stack[32], top = 0;
  float sum = 0;
  stack[top++] = 0;
  while (top != 0) {
    const int at = stack[--top];
    const float v = values[(at + static_cast<int>(THREAD)) & (nodes - 1)];
    sum += v;
    if (v > cut) continue;
    if (2 * at + 1 < nodes) stack[top++] = 2 * at + 1;
    if (2 * at + 2 < nodes && top < 31) stack[top++] = 2 * at + 2;
  }
  sums[THREAD] = sum;
}

// A structure by value, of which an element is chosen late.
struct Pose {
  float at[3], turn[4], weight;
};
extern "C" __global__ void blend_poses(const Pose* poses, float* out, unsigned n, int steps) {
  Pose sum = {};
  for (int i = 0; i < steps; ++i) {
    const Pose p = poses[(THREAD + i * 7) % n];
    for (int k = 0; k < 3; ++k) sum.at[k] += p.at[k] * p.weight;
    for (int k = 0; k < 4; ++k) sum.turn[k] += p.turn[k] * p.weight;
    sum.weight += p.weight;
  }
  for (int k = 0; k < 3; ++k) out[THREAD * 7 + k] = sum.at[k];
  for (int k = 0; k < 4; ++k) out[THREAD * 7 + 3 + k] = sum.turn[k] - sum.weight;
}
