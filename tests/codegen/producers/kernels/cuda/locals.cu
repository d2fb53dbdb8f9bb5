// Small objects that live in a thread: structures, arrays, results through pointers.

struct Vector {
  float x, y, z;
};
struct Quaternion {
  float w;
  Vector v;
};

__device__ static Vector cross(const Vector& a, const Vector& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
__device__ static Vector scaled(const Vector& a, float s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ static Vector sum(const Vector& a, const Vector& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ static float dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// Points turned by a rotation.
extern "C" __global__ void rotate_points(Vector* points, Quaternion q, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Vector twice = scaled(cross(q.v, points[i]), 2.0f);
  points[i] = sum(points[i], sum(scaled(twice, q.w), cross(q.v, twice)));
}

// Where rays meet triangles; the numbers come back through pointers.
__device__ static bool meets(const Vector& from, const Vector& along, const Vector* triangle, float* distance,
                             float* u, float* v) {
  const Vector side1 = sum(triangle[1], scaled(triangle[0], -1.0f)),
               side2 = sum(triangle[2], scaled(triangle[0], -1.0f));
  const Vector p = cross(along, side2);
  const float determinant = dot(side1, p);
  if (determinant > -1e-6f && determinant < 1e-6f) return false;
  const Vector t = sum(from, scaled(triangle[0], -1.0f));
  *u = dot(t, p) / determinant;
  const Vector q = cross(t, side1);
  *v = dot(along, q) / determinant;
  *distance = dot(side2, q) / determinant;
  return *u >= 0.0f && *v >= 0.0f && *u + *v <= 1.0f && *distance > 0.0f;
}

extern "C" __global__ void trace_triangles(const Vector* from, const Vector* along, const Vector* triangles,
                                           int triangleCount, float* nearest, int* hit, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float best = 1e30f;
  int found = -1;
  for (int t = 0; t < triangleCount; ++t) {
    float distance, u, v;
    if (meets(from[i], along[i], &triangles[3 * t], &distance, &u, &v) && distance < best) {
      best = distance;
      found = t;
    }
  }
  nearest[i] = best;
  hit[i] = found;
}

// The inverses of 3 by 3 matrices.
extern "C" __global__ void invert_matrices(const double* in, double* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  double m[9], r[9];
  for (int k = 0; k < 9; ++k) m[k] = in[9 * i + k];
  r[0] = m[4] * m[8] - m[5] * m[7];
  r[1] = m[2] * m[7] - m[1] * m[8];
  r[2] = m[1] * m[5] - m[2] * m[4];
  r[3] = m[5] * m[6] - m[3] * m[8];
  r[4] = m[0] * m[8] - m[2] * m[6];
  r[5] = m[2] * m[3] - m[0] * m[5];
  r[6] = m[3] * m[7] - m[4] * m[6];
  r[7] = m[1] * m[6] - m[0] * m[7];
  r[8] = m[0] * m[4] - m[1] * m[3];
  const double determinant = m[0] * r[0] + m[1] * r[3] + m[2] * r[6];
  for (int k = 0; k < 9; ++k) out[9 * i + k] = r[k] / determinant;
}

// Colours from 8 bits a channel to 5, 6, 5 bits and back, with the error handed on along the row.
extern "C" __global__ void dither_rows(uchar4* pixels, unsigned short* out, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  int errorX = 0, errorY = 0, errorZ = 0;
  for (int x = 0; x < width; ++x) {
    uchar4 p = pixels[row * width + x];
    const int r = min(255, p.x + errorX), g = min(255, p.y + errorY), b = min(255, p.z + errorZ);
    errorX = r & 7;
    errorY = g & 3;
    errorZ = b & 7;
    out[row * width + x] = static_cast<unsigned short>(r >> 3 << 11 | g >> 2 << 5 | b >> 3);
  }
}

// A counter-based generator of random numbers; its state goes by reference.
struct Generator {
  unsigned long long state, step;
};
__device__ static unsigned next(Generator& g) {
  const unsigned long long old = g.state;
  g.state = old * 6364136223846793005ull + g.step;
  const unsigned mixed = static_cast<unsigned>(((old >> 18) ^ old) >> 27), turn = static_cast<unsigned>(old >> 59);
  return mixed >> turn | mixed << (-turn & 31);
}
extern "C" __global__ void monte_carlo_pi(unsigned* hits, int iterations, unsigned long long seed) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  Generator g = {seed + i, 2ull * i + 1};
  unsigned inside = 0;
  for (int k = 0; k < iterations; ++k) {
    const float x = next(g) * (1.0f / 4294967296.0f), y = next(g) * (1.0f / 4294967296.0f);
    inside += x * x + y * y < 1.0f;
  }
  hits[i] = inside;
}
