// Device functions: by value, by pointer, recursive, virtual, through tables; switch tables, printf, assert, alloca.
#include <cassert>
#include <cstdio>
struct Big { int a[7]; double d; char c; };
struct Small { short x, y; };
struct Empty {};

__noinline__ __device__ int plain(int a, int b) { return a * b + 1; }
__noinline__ __device__ Big by_value(Big b, Small s, float4 v, Empty) { b.a[s.x & 3] += s.y; b.d += v.x * v.w; b.c ^= 1; return b; }
__noinline__ __device__ float4 vectors(float4 a, double2 b, char3 c) { return make_float4(a.x + b.x, a.y + b.y, a.z + c.x, a.w + c.z); }
__noinline__ __device__ bool predicate(bool p, char c, unsigned short s, long long l) { return p && c < s && l != 3; }
__noinline__ __device__ void output(int *p, int **q, float &f) { *p = 1; **q = 2; f *= 2; }
__noinline__ __device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int odd(int n);
__noinline__ __device__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__noinline__ __device__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
struct Word { unsigned short x; };
__noinline__ __device__ Word *third(void *p) { return (Word *)p + 3; }
[[noreturn]] __noinline__ __device__ void fail(const char *why) { printf("%s\n", why); __trap(); }

extern "C" __global__ void direct(int *o, Big *b, float4 *v, double2 *d, int **q) {
  int t = threadIdx.x;
  o[t] = plain(o[t], t) + plain(3, 4);
  b[t] = by_value(b[t], Small{short(t), 5}, v[t], Empty{});
  v[t] = vectors(v[t], d[t], char3{1, 2, 3});
  if (predicate(t > 3, char(t), 77, o[t])) output(o, q, v[t].y);
  o[1] = fibonacci(t) + even(t) + third(o)->x;
  if (o[t] == 12345) fail("bad");
}

typedef float (*Unary)(float);
__noinline__ __device__ float twice(float x) { return x + x; }
__noinline__ __device__ float square(float x) { return x * x; }
__noinline__ __device__ float negate(float x) { return -x; }
__device__ Unary table[3] = {twice, square, negate};
__constant__ Unary constant_table[2] = {square, negate};
extern "C" __global__ void indirect(float *o, int *which, Unary given) {
  int t = threadIdx.x;
  o[t] = table[which[t] % 3](o[t]) + constant_table[which[t] & 1](o[t]) + (given ? given(o[t]) : 0.0f);
  Unary local = which[t] > 5 ? twice : negate;
  o[t] += local(1.0f);
}

struct Shape {
  float k;
  __device__ Shape(float k) : k(k) {}
  __device__ virtual float area(float x) const { return k * x; }
  __device__ virtual void grow(int n) { k += n; }
  __device__ virtual ~Shape() {}
};
struct Square : Shape { using Shape::Shape; __device__ float area(float x) const override { return x * x * k; } };
struct Disc : Square { int n = 3; using Square::Square; __device__ float area(float x) const override { return 3.14f * x * n; } __device__ void grow(int m) override { n *= m; } };
extern "C" __global__ void virtuals(float *o, int n) {
  Shape *s = n == 0 ? new Shape(1) : n == 1 ? new Square(2) : new Disc(3);
  s->grow(n);
  o[threadIdx.x] = s->area(o[threadIdx.x]);
  delete s;
  Disc d(2.0f);
  const Shape &r = d;
  o[n] += r.area(1.0f);
}

extern "C" __global__ void switches(int *o, int n, int m) {
  int r = 0;
  switch (n) {
    case 0: r = m * 3; break; case 1: r = m ^ 0x55; break; case 2: r = m / 7; break; case 3: r = o[3]; [[fallthrough]]; case 4: r += o[4]; break;
    case 5: o[9] = 1; return; case 6: r = __popc(m); break; case 7: r = m << 3; break; case 8: r = -m; break; case 9: __syncthreads(); break;
    default: r = 77;
  }
  switch (m) { case 100: r++; break; case 1000: r--; break; case 100000: r *= 2; break; case -5: r ^= 1; break; }
  for (int i = 0; i < n; ++i) switch ((m >> i) & 7) { case 0: r += 1; break; case 1: r -= 5; break; case 2: r *= 3; continue; case 3: r ^= m; break; case 4: r |= 8; break; case 5: goto out; case 6: r = ~r; break; case 7: r >>= 1; }
out:
  o[threadIdx.x] = r;
}

extern "C" __global__ void messages(const char *s, int n, double d, long long l) {
  printf("no arguments\n");
  printf("%s %d %f %lld %c %p \"quoted\" \\ %%\t\x01\n", s, n, d, l, 'x', (void *)s);
  assert(n > 3 && "too small; {not a brace} // nor a comment");
  if (n > 100) __trap();
  if (n > 99) asm volatile("exit;");
  __brkpt();
}

extern "C" __global__ void stack(int *o, int n) {
  int *p = (int *)__builtin_alloca(n * sizeof(int));
  for (int i = 0; i < n; ++i) p[i] = o[i];
  int fixed[20];
  for (int i = 0; i < 20; ++i) fixed[i] = p[i % n] * i;
  o[threadIdx.x] = fixed[o[0] % 20] + p[o[1] % n];
}

extern "C" __global__ void heap(int **o, int n) {
  int *p = (int *)malloc(n * 4);
  memset(p, n, n * 4);
  memcpy(p, o, 16);
  o[threadIdx.x] = p;
  if (n == 3) free(p);
}
