// OpenACC programs: loops over arrays, of which the compiler makes kernels.
#include <stddef.h>

void axpy(int n, double a, const double* restrict x, double* restrict y) {
#pragma acc parallel loop copyin(x [0:n]) copy(y [0:n])
  for (int i = 0; i < n; ++i) y[i] += a * x[i];
}

double dot(int n, const double* x, const double* y) {
  double sum = 0.0;
#pragma acc parallel loop copyin(x [0:n], y [0:n]) reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

void jacobi(int n, int m, const float* in, float* out) {
#pragma acc parallel loop collapse(2) copyin(in [0:n * m]) copy(out [0:n * m])
  for (int j = 1; j < n - 1; ++j)
    for (int i = 1; i < m - 1; ++i)
      out[j * m + i] = 0.25f * (in[j * m + i + 1] + in[j * m + i - 1] + in[(j - 1) * m + i] + in[(j + 1) * m + i]);
}

void matrix_product(int n, const double* a, const double* b, double* c) {
#pragma acc parallel loop gang vector collapse(2) copyin(a [0:n * n], b [0:n * n]) copyout(c [0:n * n])
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
#pragma acc parallel loop gang copyin(starts [0:rows + 1], columns [0:entries], values [0:entries], x [0:rows]) \
    copyout(y [0:rows])
  for (int row = 0; row < rows; ++row) {
    double sum = 0.0;
#pragma acc loop vector reduction(+ : sum)
    for (int k = starts[row]; k < starts[row + 1]; ++k) sum += values[k] * x[columns[k]];
    y[row] = sum;
  }
}

void heat_volume(int nx, int ny, int nz, const double* in, double* out, double rate) {
  const size_t size = (size_t)nx * ny * nz;
#pragma acc parallel loop collapse(3) copyin(in [0:size]) copy(out [0:size])
  for (int z = 1; z < nz - 1; ++z)
    for (int y = 1; y < ny - 1; ++y)
      for (int x = 1; x < nx - 1; ++x) {
        const size_t i = ((size_t)z * ny + y) * nx + x;
        const size_t plane = (size_t)nx * ny;
        out[i] = in[i] + rate * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - plane] + in[i + plane] -
                                 6.0 * in[i]);
      }
}

void bodies(int n, const float* x, const float* y, const float* z, const float* mass, float* ax, float* ay,
            float* az) {
#pragma acc parallel loop copyin(x [0:n], y [0:n], z [0:n], mass [0:n]) copyout(ax [0:n], ay [0:n], az [0:n])
  for (int i = 0; i < n; ++i) {
    float sx = 0.0f, sy = 0.0f, sz = 0.0f;
    for (int j = 0; j < n; ++j) {
      const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      const float square = dx * dx + dy * dy + dz * dz + 0.01f;
      const float weight = mass[j] / (square * square);
      sx += weight * dx;
      sy += weight * dy;
      sz += weight * dz;
    }
    ax[i] = sx;
    ay[i] = sy;
    az[i] = sz;
  }
}

void bin_counts(int n, const int* values, int* counts, int width, int bins) {
#pragma acc parallel loop copyin(values [0:n]) copy(counts [0:bins])
  for (int i = 0; i < n; ++i) {
    const int bin = values[i] / width % bins;
#pragma acc atomic update
    counts[bin]++;
  }
}

struct Particle {
  float x, y, z, vx, vy, vz;
};
void move_particles(int n, struct Particle* particles, float dt) {
#pragma acc parallel loop copy(particles [0:n])
  for (int i = 0; i < n; ++i) {
    particles[i].x += dt * particles[i].vx;
    particles[i].y += dt * particles[i].vy;
    particles[i].z += dt * particles[i].vz;
  }
}

// A colour space, with a table and small arrays in each thread.
void to_luminance(int pixels, const unsigned char* rgb, unsigned char* grey, const float* weights) {
#pragma acc parallel loop copyin(rgb [0:3 * pixels], weights [0:3]) copyout(grey [0:pixels])
  for (int i = 0; i < pixels; ++i) {
    float sum = 0.0f;
    for (int c = 0; c < 3; ++c) sum += weights[c] * rgb[3 * i + c];
    grey[i] = (unsigned char)sum;
  }
}

void mandelbrot(int width, int height, int most, float* out) {
#pragma acc parallel loop collapse(2) copyout(out [0:width * height])
  for (int j = 0; j < height; ++j)
    for (int i = 0; i < width; ++i) {
      const float cx = 3.0f * i / width - 2.0f, cy = 2.0f * j / height - 1.0f;
      float x = 0.0f, y = 0.0f;
      int k = 0;
      for (; k < most && x * x + y * y < 4.0f; ++k) {
        const float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
      }
      out[j * width + i] = k;
    }
}

void sweep_lines(int lines, int length, const double* lower, const double* diagonal, double* right) {
#pragma acc parallel loop gang vector copyin(lower [0:length], diagonal [0:length]) copy(right [0:lines * length])
  for (int line = 0; line < lines; ++line)
    for (int i = 1; i < length; ++i)
      right[i * lines + line] = (right[i * lines + line] - lower[i] * right[(i - 1) * lines + line]) / diagonal[i];
}
