// Divergent: threads of a warp go different ways.
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void collatz(const unsigned* x, unsigned* lengths, int most) {
  unsigned v = x[THREAD] & 0xffff;
  int n = 0;
  while (v > 1 && n < most) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    ++n;
  }
  lengths[THREAD] = n;
}

extern "C" __global__ void mandelbrot(unsigned* counts, int width, float left, float top, float step, int most) {
  const float cx = left + step * static_cast<float>(THREAD % width), cy = top + step * static_cast<float>(THREAD / width);
  float x = 0, y = 0;
  int n = 0;
  while (n < most && x * x + y * y < 4) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++n;
  }
  counts[THREAD] = n;
}

// What each thread does, its data say.
extern "C" __global__ void switch_on_data(const unsigned* code, unsigned* y, int steps) {
  unsigned v = THREAD;
  for (int i = 0; i < steps; ++i) {
    const unsigned c = code[(v + i) & 255];
    switch (c & 7) {
      case 0: v += c; break;
      case 1: v = v * 3 + 1; break;
      case 2: v ^= v >> 3; break;
      case 3: v = __popc(v) + c; break;
      case 4: v -= 77; break;
      case 5: v = v << 2 | v >> 30; break;
      case 6: v = ~v; break;
      default: v = v / ((c >> 3 & 15) + 1);
    }
  }
  y[THREAD] = v;
}

extern "C" __global__ void leave_early(const float* x, float* y, int n, int columns) {
  const int row = THREAD;
  if (row >= n) return;
  float sum = 0;
  for (int c = 0; c < columns; ++c) {
    const float v = x[row * columns + c];
    if (v > 0.95f) break;
    if (v < -0.5f) continue;
    sum += v;
  }
  y[row] = sum;
}

extern "C" __global__ void sort_rows(const int* x, int* y, int columns) {
  int* const row = y + static_cast<long long>(THREAD) * columns;
  for (int i = 0; i < columns; ++i) {
    const int v = x[static_cast<long long>(THREAD) * columns + i];
    int at = i;
    while (at > 0 && row[at - 1] > v) {
      row[at] = row[at - 1];
      --at;
    }
    row[at] = v;
  }
}

// A row of a sparse matrix for each thread: rows of different lengths.
extern "C" __global__ void sparse_rows(const float* values, const unsigned* columns, const float* x, float* y, int width,
                                       unsigned mask) {
  const int row = THREAD, length = static_cast<int>((row * 2654435761u >> 24) % static_cast<unsigned>(width));
  float sum = 0;
  for (int i = 0; i < length; ++i) sum += values[row * width + i] * x[columns[row * width + i] & mask];
  y[row] = sum;
}
