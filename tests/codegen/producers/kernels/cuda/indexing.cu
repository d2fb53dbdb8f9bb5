// Tensors of any shape: places in them are taken apart by division, and put together by products.

struct Shape {
  int rank;
  int sizes[6];
  long long strides[6];
};

// A strided view copied to consecutive elements, as a library does for any number of dimensions.
extern "C" __global__ void gather_view(const float* in, float* out, Shape shape, int count) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    int rest = i;
    long long place = 0;
    for (int d = shape.rank - 1; d >= 0; --d) {
      place += (rest % shape.sizes[d]) * shape.strides[d];
      rest /= shape.sizes[d];
    }
    out[i] = in[place];
  }
}

// A bias for each channel of an NCHW tensor.
extern "C" __global__ void add_channel_bias(float* tensor, const float* bias, int count, int channels, int area) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) tensor[i] += bias[i / area % channels];
}

// Channels last to channels first.
extern "C" __global__ void to_channels_first(const float* in, float* out, unsigned count, unsigned channels,
                                             unsigned width, unsigned height) {
  const unsigned step = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const unsigned c = i % channels, x = i / channels % width, y = i / channels / width % height;
    const unsigned n = i / channels / width / height;
    out[((static_cast<size_t>(n) * channels + c) * height + y) * width + x] = in[i];
  }
}

// Images scaled to another size, the nearest pixel each.
extern "C" __global__ void resize_nearest(const uchar4* in, uchar4* out, int width, int height, int newWidth,
                                          int newHeight) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= newWidth) return;
  for (int y = blockIdx.y; y < newHeight; y += gridDim.y) {
    const int fromX = x * width / newWidth, fromY = y * height / newHeight;
    out[static_cast<size_t>(y) * newWidth + x] = in[static_cast<size_t>(fromY) * width + fromX];
  }
}

// Keys spread over buckets of a hash table whose size the host chooses, with probing.
extern "C" __global__ void hash_insert(const unsigned* keys, unsigned* table, int count, unsigned buckets) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned key = keys[i], hash = key * 2654435761u;
  for (unsigned tries = 0; tries < buckets; ++tries) {
    unsigned* slot = &table[(hash + tries) % buckets];
    if (*slot == key) return;
    if (*slot == ~0u) {
      *slot = key;
      return;
    }
  }
}

// The days, hours and minutes of time stamps.
extern "C" __global__ void split_times(const long long* seconds, int* days, unsigned char* hours,
                                       unsigned char* minutes, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const long long s = seconds[i];
  days[i] = static_cast<int>(s / 86400);
  hours[i] = static_cast<unsigned char>(s % 86400 / 3600);
  minutes[i] = static_cast<unsigned char>(s % 3600 / 60);
}

// Rows of a table by number, with sizes in 64 bits.
extern "C" __global__ void embedding_sum(const int* ids, const float* table, float* out, int perRow, size_t width) {
  const size_t row = blockIdx.x;
  for (size_t c = threadIdx.x; c < width; c += blockDim.x) {
    float sum = 0.0f;
    for (int k = 0; k < perRow; ++k) sum += table[static_cast<size_t>(ids[row * perRow + k]) * width + c];
    out[row * width + c] = sum;
  }
}

// The upper triangle of the distances of points in 3 dimensions.
extern "C" __global__ void pair_distances(const float* points, float* out, int count) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || j >= count || j <= i) return;
  float sum = 0.0f;
  for (int d = 0; d < 3; ++d) {
    const float difference = points[3 * i + d] - points[3 * j + d];
    sum += difference * difference;
  }
  out[static_cast<size_t>(i) * (2 * count - i - 1) / 2 + (j - i - 1)] = sqrtf(sum);
}
