// Bound by issue: loops most of whose instructions compute addresses.
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define THREADS (gridDim.x * blockDim.x)

// A thread for each column; the matrices are small enough for the caches.
extern "C" __global__ void column_sums(const float* a, float* sums, int rows, int columns) {
  const int c = THREAD % columns;
  float sum = 0;
  for (int r = 0; r < rows; ++r) sum += a[r * columns + c];
  sums[THREAD] = sum;
}
extern "C" __global__ void column_sums_64(const float* a, float* sums, long long rows, long long columns) {
  const long long c = THREAD % columns;
  float sum = 0;
  for (long long r = 0; r < rows; ++r) sum += a[r * columns + c];
  sums[THREAD] = sum;
}

extern "C" __global__ void convolve_3x3(const float* image, const float* weights, float* out, int width, int height) {
  const int x = THREAD % (width - 2), first = THREAD / (width - 2);
  for (int y = first; y < height - 2; y += THREADS / (width - 2) + 1) {
    float sum = 0;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i) sum += image[(y + j) * width + x + i] * weights[j * 3 + i];
    out[y * width + x] = sum;
  }
}

// Indices of a tensor of four dimensions from a flat one, in another order.
extern "C" __global__ void permute_4d(const float* x, float* y, int a, int b, int c, int d, int n) {
  for (int i = THREAD; i < n; i += THREADS) {
    const int l = i % d, k = i / d % c, j = i / d / c % b, h = i / d / c / b;
    y[((l * c + k) * b + j) * a + h] = x[i];
  }
}
extern "C" __global__ void divide_constants(const unsigned* x, unsigned* y, unsigned n) {
  for (unsigned i = THREAD; i < n; i += THREADS) {
    const unsigned v = x[i];
    y[i] = v / 7 + v % 10 * 3 + v / 641 + v % 12;
  }
}
extern "C" __global__ void divide_by_shape(const unsigned* x, unsigned* y, unsigned n, unsigned width) {
  for (unsigned i = THREAD; i < n; i += THREADS) {
    const unsigned row = i / width, column = i % width;
    y[i] = x[(column * 5 + row) % n] + row;
  }
}

// Arrays side by side: each at a distance of its own from one base.
extern "C" __global__ void arrays_of_structures(const float* fields, float* out, int n, int steps) {
  float sum = 0;
  for (int s = 0; s < steps; ++s) {
    const int i = (THREAD + s * 32) & (n - 1);
    for (int f = 0; f < 8; ++f) sum += fields[f * n + i];
  }
  out[THREAD] = sum;
}
extern "C" __global__ void columns_to_rows(const float* x, float* y, int channels, int height, int width) {
  for (int i = THREAD; i < height * width; i += THREADS) {
    const int row = i / width, column = i % width;
    for (int c = 0; c < channels; ++c)
      for (int k = 0; k < 9; ++k) {
        const int r = row + k / 3 - 1, q = column + k % 3 - 1;
        const bool inside = r >= 0 && r < height && q >= 0 && q < width;
        y[(c * 9 + k) * height * width + i] = inside ? x[(c * height + r) * width + q] : 0;
      }
  }
}
extern "C" __global__ void multiply_plain(const float* a, const float* b, float* c, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
extern "C" __global__ void triangle(const float* a, float* sums, int n) {
  const int row = THREAD % n;
  float sum = 0;
  for (int c = 0; c <= row; ++c) sum += a[row * (row + 1) / 2 + c];
  sums[THREAD] = sum;
}
extern "C" __global__ void wide_strides(const float* x, float* y, int n, unsigned mask, int stride, int steps) {
  float sum = 0;
  for (int s = 0; s < steps; ++s) {
    const unsigned at = static_cast<unsigned>(static_cast<long long>(s) * stride + THREAD) & mask;
    sum += x[at] + x[(at * 3 + n) & mask];
  }
  y[THREAD] = sum;
}
