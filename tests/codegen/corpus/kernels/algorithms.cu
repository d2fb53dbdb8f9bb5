// corpus: weight=medium
// Small whole programs: hashes, sorting networks, products, transforms, stencils, trees.
#include <cstdint>
__constant__ uint32_t K[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 1, 2, 3, 4, 5, 6, 7, 8};
__device__ uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }
extern "C" __global__ void hash(uint32_t *state, const uint32_t *block) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; ++i) w[i] = __byte_perm(block[i], 0, 0x0123);
  for (int i = 16; i < 64; ++i) w[i] = w[i - 16] + w[i - 7] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) + (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
  for (int i = 0; i < 8; ++i) s[i] = state[i];
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    uint32_t a = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[i] + w[i];
    uint32_t b = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (int j = 7; j; --j) s[j] = s[j - 1];
    s[4] += a; s[0] = a + b;
  }
  for (int i = 0; i < 8; ++i) state[i] += s[i];
}
extern "C" __global__ void product(float *c, const float *a, const float *b, int n) {
  __shared__ float x[32][33], y[32][32];
  float s[4] = {};
  for (int k = 0; k < n; k += 32) {
    for (int i = 0; i < 4; ++i) { x[threadIdx.y + 8 * i][threadIdx.x] = a[(blockIdx.y * 32 + threadIdx.y + 8 * i) * n + k + threadIdx.x]; y[threadIdx.y + 8 * i][threadIdx.x] = b[(k + threadIdx.y + 8 * i) * n + blockIdx.x * 32 + threadIdx.x]; }
    __syncthreads();
    for (int j = 0; j < 32; ++j) for (int i = 0; i < 4; ++i) s[i] += x[threadIdx.y + 8 * i][j] * y[j][threadIdx.x];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) c[(blockIdx.y * 32 + threadIdx.y + 8 * i) * n + blockIdx.x * 32 + threadIdx.x] = s[i];
}
extern "C" __global__ void bitonic(int *o) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = o[t];
  for (int k = 2; k <= 256; k *= 2) for (int j = k / 2; j; j /= 2) {
    __syncthreads();
    int u = t ^ j;
    if (u > t && (s[t] > s[u]) == ((t & k) == 0)) { int v = s[t]; s[t] = s[u]; s[u] = v; }
  }
  __syncthreads();
  o[t] = s[t];
}
extern "C" __global__ void fourier(float2 *x, int n) {
  for (int h = 1; h < n; h *= 2) {
    int t = threadIdx.x, i = t / h * 2 * h + t % h;
    float s, c; sincospif(-float(t % h) / h, &s, &c);
    float2 a = x[i], b = x[i + h], w = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    __syncthreads();
    x[i] = make_float2(a.x + w.x, a.y + w.y); x[i + h] = make_float2(a.x - w.x, a.y - w.y);
    __syncthreads();
  }
}
extern "C" __global__ void stencil(double *o, const double *__restrict__ a, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= nx - 1 || y >= ny - 1) return;
  for (int z = 1; z < nz - 1; ++z) {
    double s = 0;
    for (int i = -1; i <= 1; ++i) for (int j = -1; j <= 1; ++j) for (int k = -1; k <= 1; ++k) s += a[(size_t(z + k) * ny + y + j) * nx + x + i] * (i * j * k ? 0.125 : 0.5);
    o[(size_t(z) * ny + y) * nx + x] = s;
  }
}
extern "C" __global__ void bodies(float4 *v, const float4 *p, int n) {
  extern __shared__ float4 tile[];
  float4 me = p[blockIdx.x * blockDim.x + threadIdx.x], f = make_float4(0, 0, 0, 0);
  for (int i = 0; i < n; i += blockDim.x) {
    tile[threadIdx.x] = p[i + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < blockDim.x; ++j) { float4 q = tile[j]; float x = q.x - me.x, y = q.y - me.y, z = q.z - me.z, r = rsqrtf(x * x + y * y + z * z + 1e-9f), w = q.w * r * r * r; f.x += x * w; f.y += y * w; f.z += z * w; }
    __syncthreads();
  }
  v[blockIdx.x * blockDim.x + threadIdx.x] = f;
}
extern "C" __global__ void mandelbrot(uchar4 *o, double cx, double cy, double scale, int w) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y, n = 0;
  double x0 = cx + px * scale, y0 = cy + py * scale, x = 0, y = 0;
  for (; n < 1000 && x * x + y * y < 4; ++n) { double t = x * x - y * y + x0; y = 2 * x * y + y0; x = t; }
  o[py * w + px] = make_uchar4(n & 255, n >> 2 & 255, n >> 4, 255);
}
struct Tree { int key; Tree *left, *right; };
extern "C" __global__ void search(int *o, const Tree *root, const int *keys, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int depth = 0;
    const Tree *t = root;
    while (t && t->key != keys[i]) { t = keys[i] < t->key ? t->left : t->right; ++depth; }
    o[i] = t ? depth : -1;
  }
}
extern "C" __global__ void queens(int *o, int n) {
  int stack[16], cols = 0, found = 0, row = 0;
  stack[0] = 0;
  while (row >= 0) {
    if (row == n) { ++found; --row; cols &= ~(1 << stack[row]); ++stack[row]; continue; }
    int c = stack[row];
    for (; c < n; ++c) { bool ok = !(cols >> c & 1); for (int r = 0; ok && r < row; ++r) ok = abs(stack[r] - c) != row - r; if (ok) break; }
    if (c < n) { stack[row] = c; cols |= 1 << c; stack[++row] = 0; } else if (--row >= 0) { cols &= ~(1 << stack[row]); ++stack[row]; }
  }
  o[threadIdx.x] = found;
}
extern "C" __global__ void sparse(float *y, const int *rows, const int *cols, const float *v, const float *x, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  float s = 0;
  for (int i = rows[r]; i < rows[r + 1]; ++i) s += v[i] * x[cols[i]];
  y[r] = s;
}
extern "C" __global__ void edit_distance(int *o, const char *a, const char *b, int n, int m) {
  int row[33];
  for (int j = 0; j <= 32; ++j) row[j] = j;
  for (int i = 1; i <= n; ++i) { int diagonal = row[0]; row[0] = i; for (int j = 1; j <= 32 && j <= m; ++j) { int up = row[j]; row[j] = min(min(up, row[j - 1]) + 1, diagonal + (a[i - 1] != b[j - 1])); diagonal = up; } }
  o[threadIdx.x] = row[m];
}
