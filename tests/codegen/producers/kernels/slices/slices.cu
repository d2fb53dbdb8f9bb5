// Code as languages with checked slices make it: pointers with lengths, indices of 64 bits, a check of each,
// iterators, optional results, functions that are not inlined.

template <class T>
struct Slice {
  T* data;
  size_t length;
  __device__ T& operator[](size_t i) const {
    if (i >= length) __builtin_trap();
    return data[i];
  }
};
template <class T>
struct Optional {
  bool some;
  T value;
};
// All places of a grid-wide loop.
struct Places {
  size_t next, end, step;
  __device__ Optional<size_t> take() {
    if (next >= end) return {false, 0};
    const size_t place = next;
    next += step;
    return {true, place};
  }
};
__device__ static Places places(size_t end) {
  return {static_cast<size_t>(blockIdx.x * blockDim.x + threadIdx.x), end,
          static_cast<size_t>(gridDim.x * blockDim.x)};
}

extern "C" __global__ void slice_saxpy(float a, const float* xData, size_t xLength, float* yData, size_t yLength) {
  const Slice<const float> x = {xData, xLength};
  const Slice<float> y = {yData, yLength};
  Places all = places(y.length);
  for (Optional<size_t> i = all.take(); i.some; i = all.take()) y[i.value] += a * x[i.value];
}

__noinline__ __device__ static float dot(const Slice<const float>& a, const Slice<const float>& b) {
  float sum = 0.0f;
  for (size_t i = 0; i < a.length; ++i) sum += a[i] * b[i];
  return sum;
}
extern "C" __global__ void slice_dots(const float* aData, const float* bData, float* outData, size_t rows,
                                      unsigned width) {
  const Slice<float> out = {outData, rows};
  Places all = places(rows);
  for (Optional<size_t> i = all.take(); i.some; i = all.take())
    out[i.value] = dot({aData + i.value * width, width}, {bData + i.value * width, width});
}

__noinline__ __device__ static Optional<size_t> position(const Slice<const int>& sorted, int wanted) {
  size_t low = 0, high = sorted.length;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (sorted[middle] == wanted) return {true, middle};
    if (sorted[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return {false, 0};
}
extern "C" __global__ void slice_search(const int* sortedData, size_t sortedLength, const int* wanted, long* found,
                                        size_t count) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Optional<size_t> at = position({sortedData, sortedLength}, wanted[i]);
  found[i] = at.some ? static_cast<long>(at.value) : -1;
}

struct Matrix {
  Slice<double> values;
  size_t rows, columns;
  __device__ double& at(size_t row, size_t column) const { return values[row * columns + column]; }
};
extern "C" __global__ void slice_matrix_product(double* a, double* b, double* c, unsigned rows, unsigned depth,
                                                unsigned columns) {
  const Matrix x = {{a, static_cast<size_t>(rows) * depth}, rows, depth};
  const Matrix y = {{b, static_cast<size_t>(depth) * columns}, depth, columns};
  const Matrix z = {{c, static_cast<size_t>(rows) * columns}, rows, columns};
  const size_t row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= z.rows || column >= z.columns) return;
  double sum = 0.0;
  for (size_t k = 0; k < x.columns; ++k) sum += x.at(row, k) * y.at(k, column);
  z.at(row, column) = sum;
}

// Two halves of a slice swapped, element by element.
__noinline__ __device__ static void exchange(Slice<unsigned>& a, Slice<unsigned>& b, size_t i) {
  const unsigned old = a[i];
  a[i] = b[i];
  b[i] = old;
}
extern "C" __global__ void slice_swap_halves(unsigned* data, size_t length) {
  Slice<unsigned> low = {data, length / 2}, high = {data + length / 2, length / 2};
  Places all = places(low.length);
  for (Optional<size_t> i = all.take(); i.some; i = all.take()) exchange(low, high, i.value);
}

// Chunks of a size that the caller chooses: the number of a chunk and the place in it.
extern "C" __global__ void slice_chunk_sums(const unsigned* data, size_t length, unsigned long long* sums,
                                            size_t sumsLength, size_t chunk) {
  const Slice<const unsigned> in = {data, length};
  const Slice<unsigned long long> out = {sums, sumsLength};
  Places all = places(length);
  for (Optional<size_t> i = all.take(); i.some; i = all.take())
    atomicAdd(&out[i.value / chunk], static_cast<unsigned long long>(in[i.value]) * (i.value % chunk));
}

// A window over a slice, with both ends held back.
extern "C" __global__ void slice_windows(const short* data, unsigned length, int* out, unsigned window) {
  const Slice<const short> in = {data, length};
  const Slice<int> result = {out, length};
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= length) return;
  const unsigned from = i < window ? 0 : i - window, to = i + window >= length ? length : i + window + 1;
  int sum = 0;
  for (unsigned k = from; k < to; ++k) sum += in[k];
  result[i] = sum / static_cast<int>(to - from);
}
