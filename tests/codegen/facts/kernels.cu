// Kernels as they are often written: arrays without __restrict__, numbers that all threads need in memory, results that
// are stored while the inputs are read on.

#define KERNEL extern "C" __global__ void
#define EACH(I, N) for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < (N); I += gridDim.x * blockDim.x)

// Rotary embedding: pairs of a row turned by the angle of their place.
KERNEL rotary(const float* in, const float* cosine, const float* sine, float* out, int pairs) {
  EACH(i, pairs) {
    out[2 * i] = in[2 * i] * cosine[i] - in[2 * i + 1] * sine[i];
    out[2 * i + 1] = in[2 * i] * sine[i] + in[2 * i + 1] * cosine[i];
  }
}

// Complex numbers in two arrays, times other ones.
KERNEL complex_product(const float* aRe, const float* aIm, const float* bRe, const float* bIm, float* re, float* im, int n) {
  EACH(i, n) {
    re[i] = aRe[i] * bRe[i] - aIm[i] * bIm[i];
    im[i] = aRe[i] * bIm[i] + aIm[i] * bRe[i];
  }
}

// Vectors in three arrays, turned by a matrix in memory.
KERNEL rotate_points(const float* m, const float* x, const float* y, const float* z, float* toX, float* toY, float* toZ, int n) {
  EACH(i, n) {
    toX[i] = m[0] * x[i] + m[1] * y[i] + m[2] * z[i];
    toY[i] = m[3] * x[i] + m[4] * y[i] + m[5] * z[i];
    toZ[i] = m[6] * x[i] + m[7] * y[i] + m[8] * z[i];
  }
}

// RGB to luma and two differences of colour.
KERNEL rgb_to_yuv(const unsigned char* r, const unsigned char* g, const unsigned char* b, unsigned char* y, unsigned char* u,
                  unsigned char* v, int n) {
  EACH(i, n) {
    y[i] = static_cast<unsigned char>((66 * r[i] + 129 * g[i] + 25 * b[i] + 4224) >> 8);
    u[i] = static_cast<unsigned char>((-38 * r[i] - 74 * g[i] + 112 * b[i] + 32896) >> 8);
    v[i] = static_cast<unsigned char>((112 * r[i] - 94 * g[i] - 18 * b[i] + 32896) >> 8);
  }
}

// Each pixel of a line to four of two lines, the right and the lower ones as means with their neighbours.
KERNEL upsample(const float* in, float* out, int width, int n) {
  EACH(i, n) {
    const int at = 4 * (i / width) * width + 2 * (i % width);
    out[at] = in[i];
    out[at + 1] = 0.5f * (in[i] + in[i + 1]);
    out[at + 2 * width] = 0.5f * (in[i] + in[i + width]);
    out[at + 2 * width + 1] = 0.25f * (in[i] + in[i + 1] + in[i + width] + in[i + width + 1]);
  }
}

// The derivatives of an image in both directions.
KERNEL sobel(const float* in, float* across, float* down, int width, int n) {
  EACH(i, n) {
    const float* p = in + i;
    across[i] = p[1 - width] + 2.0f * p[1] + p[1 + width] - p[-1 - width] - 2.0f * p[-1] - p[-1 + width];
    down[i] = p[width - 1] + 2.0f * p[width] + p[width + 1] - p[-width - 1] - 2.0f * p[-width] - p[-width + 1];
  }
}

// Bytes of a row, with its scale and its zero.
KERNEL dequantize_rows(const signed char* in, const float* scale, const float* zero, float* out, int columns) {
  const int row = blockIdx.x;
  for (int j = threadIdx.x; j < columns; j += blockDim.x)
    out[row * columns + j] = (in[row * columns + j] - zero[row]) * scale[row];
}

// A step of an optimizer, with its numbers in memory.
KERNEL momentum_step(float* weight, float* momentum, const float* gradient, const float* rate, const float* decay, int n) {
  EACH(i, n) {
    momentum[i] = *decay * momentum[i] + gradient[i];
    weight[i] -= *rate * momentum[i];
  }
}

// The mean and the gain of each channel of an array in NCHW order.
KERNEL scale_channels(const float* in, const float* mean, const float* gain, float* out, int channels, int plane, int n) {
  EACH(i, n) {
    const int c = i / plane % channels;
    out[i] = (in[i] - mean[c]) * gain[c];
  }
}

// A step of Jacobi's method on two coupled fields.
KERNEL coupled_fields(const float* a, const float* b, float* nextA, float* nextB, int width, int n) {
  EACH(i, n) {
    const float sumA = a[i - 1] + a[i + 1] + a[i - width] + a[i + width] - 4.0f * a[i];
    nextA[i] = a[i] + 0.2f * sumA - a[i] * b[i] * b[i];
    const float sumB = b[i - 1] + b[i + 1] + b[i - width] + b[i + width] - 4.0f * b[i];
    nextB[i] = b[i] + 0.1f * sumB + a[i] * b[i] * b[i];
  }
}

// Queries times a key, four numbers at a time, with the products of all of them.
KERNEL scores(const float* query, const float* keys, float* out, int count, int width) {
  EACH(k, count) {
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) {
      const float* q = query + 4 * j;
      const float* key = keys + 4 * (k * width + j);
      sum += q[0] * key[0] + q[1] * key[1] + q[2] * key[2] + q[3] * key[3];
    }
    out[k] = sum;
  }
}

// Sums, differences and products of two arrays at once.
KERNEL moments(const float* x, const float* y, float* sum, float* difference, float* product, float* square, int n) {
  EACH(i, n) {
    sum[i] = x[i] + y[i];
    difference[i] = x[i] - y[i];
    product[i] = x[i] * y[i];
    square[i] = x[i] * x[i] + y[i] * y[i];
  }
}
