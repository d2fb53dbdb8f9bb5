// Control flow: nested loops, breaks, gotos, early exits, irreducible graphs, unrolling, launch bounds.
extern "C" __global__ void __launch_bounds__(128) loops(int *o, const int *a, int n, int m) {
  int s = 0;
  for (int i = 0; i < n; ++i) {
    if (a[i] < 0) continue;
    for (int j = i; j < m; j += 3) { if (a[j] == s) goto next; if (a[j] > 1000) return; s += a[j] * j; }
    do { s ^= a[s & 15]; } while (s > 100);
  next:
    if (s == 7) break;
  }
  int k = n;
  while (k-- > 0 && a[k]) s -= k;
  o[threadIdx.x] = s;
}
extern "C" __global__ void irreducible(int *o, int n) {
  int i = 0, s = 1;
  if (n & 1) goto middle;
top:
  s = s * 3 + i;
middle:
  s ^= i++;
  if (s & 0x100) goto bottom;
  if (i < n) goto top;
bottom:
  if (i++ < 2 * n) goto middle;
  o[threadIdx.x] = s;
}
extern "C" __global__ void __launch_bounds__(64, 4) unrolled(float *o, const float *a, int n) {
  float s[8] = {};
#pragma unroll 4
  for (int i = 0; i < n; ++i) for (int j = 0; j < 8; ++j) s[j] += a[i * 8 + j] * a[j];
#pragma unroll 1
  for (int i = 0; i < 16; ++i) s[0] += a[i];
#pragma nounroll
  for (int i = 0; i < n; i += 2) s[1] *= a[i];
  for (int j = 0; j < 8; ++j) o[j] = s[j];
}
extern "C" __global__ void __maxnreg__(40) predicated(int *o, const float *x, const unsigned char *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bool p = x[i] > 0 && c[i] != 'a', q = x[i + 1] < x[i] || c[i] == 'z', r = p ^ q;
  o[i] = p ? q ? 1 : 2 : r ? 3 : 4;
  if (p && !q) o[i + n] = r; else if (q && c[i + 1] > 5) o[i + n] = -1;
  o[i] += (x[i] >= 1 && x[i] <= 2) - (c[i] & 1 ? __float2int_rd(x[i]) : c[i] * 3);
}
