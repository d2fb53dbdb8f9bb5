// Every kind of variable and of access.
#include <cstdint>
struct Node { int value; Node *next; const char *name; float f[3]; };
extern __device__ Node second;
__device__ int counter = 42;
__device__ Node first = {1, &second, "first \"node\"", {1.5f, -2.25f, 1e30f}};
__device__ Node second = {2, nullptr, nullptr, {0, 0, 0}};
__device__ int *inside = &first.value;
__device__ const float *into_array = &first.f[2];
static __device__ uint8_t bytes[5] = {1, 2, 3, 0xff, 0};
__device__ int16_t matrix[2][3] = {{1, -2, 3}, {4, 5, -6}};
__device__ double doubles[] = {0.1, -1e300, 1.0 / 3};
__device__ bool flag = true;
__device__ long long big = -1234567890123456789LL;
__device__ char text[] = "hello, { } ; // \\ world";
__device__ __align__(64) float4 aligned[4];
__managed__ int managed_counter = 5;
__managed__ float managed_table[10];
__constant__ int coefficients[256];
__constant__ float weights[4] = {0.25f, 0.5f, -0.125f, 2.0f};
__constant__ Node *constant_node = &first;
__constant__ __align__(16) struct { char c; short s; int i; long long l; union { float f; int j; } u; } mixed = {'a', -2, 3, 4, {1.0f}};
template <class T> __device__ T held = T(7);

extern "C" __global__ void globals(int *o, int n) {
  o[0] = counter++ + first.next->value + *inside + int(*into_array) + bytes[n] + matrix[n & 1][n % 3] + int(doubles[n]) + flag + int(big) + text[n];
  aligned[n] = make_float4(1, 2, 3, weights[n]);
  managed_counter += n; managed_table[n] = n;
  o[1] = coefficients[n] + coefficients[5] + constant_node->value + mixed.c + mixed.s + mixed.i + int(mixed.l) + int(mixed.u.f);
  o[2] = held<int> + int(held<double>);
  Node *p = &first;
  for (int i = 0; i < n && p; ++i) p = p->next;
  o[3] = p->value;
}

extern __shared__ double dynamic[];
extern "C" __global__ void shared_memory(int *o, int n) {
  __shared__ int a[64];
  __shared__ __align__(128) char raw[256];
  __shared__ struct { int x; float y; } s;
  __shared__ volatile int spin;
  int *ints = (int *)dynamic;
  float *floats = (float *)(ints + n);
  int t = threadIdx.x;
  a[t] = o[t]; ints[t] = o[t]; floats[t] = t; raw[t] = t; spin = t;
  if (t == 0) s.x = 5, s.y = 3.0f;
  __syncthreads();
  while (spin != n) spin = spin + 1;
  o[t] = a[63 - t] + ints[n - t] + int(floats[t ^ 1]) + raw[255 - t] + s.x + int(s.y) + int(dynamic[t]);
  { __shared__ int inner[4]; inner[t & 3] = t; __syncthreads(); o[t] += inner[n & 3]; }
}
template <class T> __global__ void dynamic_generic(T *o) { extern __shared__ __align__(16) unsigned char space[]; T *p = (T *)space; p[threadIdx.x] = o[threadIdx.x]; __syncthreads(); o[threadIdx.x] = p[threadIdx.x ^ 1]; }
template __global__ void dynamic_generic(char *);
template __global__ void dynamic_generic(double2 *);

struct Params { int a; char b; short c[3]; double d; float4 e; const int *p; };
extern "C" __global__ void parameters(Params p, const __grid_constant__ Params g, int64_t l, uint8_t c, bool b, float3 f, int *o) {
  o[0] = p.a + p.b + p.c[threadIdx.x % 3] + int(p.d) + int(p.e.z) + p.p[1] + int(l) + c + b + int(f.y);
  const Params *address = &g;
  o[1] = address->c[o[2]] + *g.p;
}

extern "C" __global__ void accesses(int4 *o, const int4 *__restrict__ r, volatile int *v, const uint8_t *bytes, int *q) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  o[t] = r[t]; o[t].y = __ldg(&r[t + 1].x) + __ldcg(&r[t].z) + __ldcs(&q[1]) + __ldlu(&q[2]) + __ldcv(&q[3]);
  __stcg(&q[4], t); __stcs(&q[5], t); __stwt(&q[6], t); __stwb(&q[7], t);
  v[0] = v[1] + v[2]; v[1] = v[1];
  uint32_t w; memcpy(&w, bytes + 4 * t, 4); q[8] = w;
  int mixedup[8]; for (int i = 0; i < 8; ++i) mixedup[i] = q[i];
  q[9] = mixedup[q[10] & 7];
  char buffer[13]; for (int i = 0; i < 13; ++i) buffer[i] = bytes[i + t];
  buffer[q[0] % 13] = 5; q[11] = buffer[q[1] % 13];
  struct { unsigned a : 3, b : 11, c : 18; } f; memcpy(&f, &q[12], 4); f.b += f.a; f.c ^= 5; memcpy(&q[13], &f, 4);
  q[14] = __isGlobal(q) + __isShared(buffer) + __isLocal(buffer);
  asm volatile("prefetch.global.L2 [%0];" ::"l"(q + 100));
  long long l; asm volatile("ld.global.nc.L1::no_allocate.L2::128B.b64 %0, [%1+-8];" : "=l"(l) : "l"(q + 2)); q[15] = int(l);
  __threadfence(); __threadfence_block(); __threadfence_system();
}
