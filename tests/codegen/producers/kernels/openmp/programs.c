// OpenMP programs for a device: loops over arrays, of which the compiler makes kernels.
#include <stddef.h>

void axpy(int n, double a, const double* restrict x, double* restrict y) {
#pragma omp target teams distribute parallel for map(to : x [0:n]) map(tofrom : y [0:n])
  for (int i = 0; i < n; ++i) y[i] += a * x[i];
}

void axpy_simd(int n, float a, const float* restrict x, float* restrict y) {
#pragma omp target teams distribute parallel for simd map(to : x [0:n]) map(tofrom : y [0:n])
  for (int i = 0; i < n; ++i) y[i] += a * x[i];
}

double dot(int n, const double* x, const double* y) {
  double sum = 0.0;
#pragma omp target teams distribute parallel for map(to : x [0:n], y [0:n]) map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

void jacobi(int n, int m, const float* in, float* out) {
#pragma omp target teams distribute parallel for collapse(2) map(to : in [0:n * m]) map(tofrom : out [0:n * m])
  for (int j = 1; j < n - 1; ++j)
    for (int i = 1; i < m - 1; ++i)
      out[j * m + i] = 0.25f * (in[j * m + i + 1] + in[j * m + i - 1] + in[(j - 1) * m + i] + in[(j + 1) * m + i]);
}

void matrix_product(int n, const double* a, const double* b, double* c) {
#pragma omp target teams distribute parallel for collapse(2) map(to                                   \
                                                                 : a [0:n * n], b [0:n * n]) map(from \
                                                                                                 : c [0:n * n])
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

void sparse_product(int rows, const int* starts, const int* columns, const double* values, const double* x,
                    double* y) {
  const int entries = starts[rows];
#pragma omp target teams distribute parallel for map(to                                          \
                                                     : starts [0:rows + 1], columns [0:entries], \
                                                       values [0:entries], x [0:rows]) map(from  \
                                                                                           : y [0:rows])
  for (int row = 0; row < rows; ++row) {
    double sum = 0.0;
    for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
    y[row] = sum;
  }
}

void permute(int channels, int height, int width, const float* in, float* out) {
  const int count = channels * height * width;
#pragma omp target teams distribute parallel for map(to : in [0:count]) map(from : out [0:count])
  for (int i = 0; i < count; ++i) {
    const int x = i % width, y = i / width % height, c = i / width / height;
    out[(y * width + x) * channels + c] = in[i];
  }
}

void bodies(int n, const float* x, const float* y, const float* mass, float* ax, float* ay) {
#pragma omp target teams distribute parallel for map(to                                       \
                                                     : x [0:n], y [0:n], mass [0:n]) map(from \
                                                                                         : ax [0:n], ay [0:n])
  for (int i = 0; i < n; ++i) {
    float sx = 0.0f, sy = 0.0f;
    for (int j = 0; j < n; ++j) {
      const float dx = x[j] - x[i], dy = y[j] - y[i];
      const float weight = mass[j] / (dx * dx + dy * dy + 0.01f);
      sx += weight * dx;
      sy += weight * dy;
    }
    ax[i] = sx;
    ay[i] = sy;
  }
}

void histogram(int n, const unsigned char* values, int* counts) {
#pragma omp target teams distribute parallel for map(to : values [0:n]) map(tofrom : counts [0:256])
  for (int i = 0; i < n; ++i) {
#pragma omp atomic
    counts[values[i]]++;
  }
}

void rows_simd(int rows, int columns, const float* in, float* out) {
#pragma omp target teams distribute map(to : in [0:rows * columns]) map(from : out [0:rows])
  for (int row = 0; row < rows; ++row) {
    float sum = 0.0f;
#pragma omp parallel for simd reduction(+ : sum)
    for (int column = 0; column < columns; ++column) sum += in[(size_t)row * columns + column];
    out[row] = sum;
  }
}
