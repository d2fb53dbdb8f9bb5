// corpus: weight=medium
// Random numbers from cuRAND's device functions.
#include <curand_kernel.h>
template <class State> __device__ void draw(State *s, float *o, double *d, unsigned *u) {
  State local = s[threadIdx.x];
  o[0] = curand_uniform(&local); o[1] = curand_normal(&local); d[0] = curand_log_normal_double(&local, 0.5, 2.0); u[0] = curand(&local); u[1] = curand_poisson(&local, 3.0);
  s[threadIdx.x] = local;
}
extern "C" __global__ void generators(curandStateXORWOW_t *x, curandStatePhilox4_32_10_t *p, curandStateMRG32k3a_t *m, float *o, double *d, unsigned *u) {
  curand_init(1234, threadIdx.x, 0, x + threadIdx.x); draw(x, o, d, u);
  curand_init(99, threadIdx.x, 5, p + threadIdx.x); draw(p, o + 9, d + 9, u + 9);
  float4 f = curand_normal4(p); o[2] = f.x + f.w;
  curand_init(7, threadIdx.x, 1, m + threadIdx.x); draw(m, o + 18, d + 18, u + 18);
}
