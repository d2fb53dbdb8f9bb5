// Floating-point arithmetic: IEEE's exactly rounded operations, with nothing contracted.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#define ARITHMETIC(T)                                                                                            \
  __kernel void arithmetic_##T(__global const T* a, __global const T* b, __global const T* c, __global T* out) { \
    const size_t i = get_global_id(0);                                                                           \
    const T x = a[i], y = b[i], z = c[i];                                                                        \
    __global T* row = out + i * 10;                                                                              \
    row[0] = x + y;                                                                                              \
    row[1] = x - y;                                                                                              \
    row[2] = x * y;                                                                                              \
    row[3] = x / y;                                                                                              \
    row[4] = x * y + z;                                                                                          \
    row[5] = x * y - z * z;                                                                                      \
    row[6] = fma(x, y, z);                                                                                       \
    row[7] = fma(-x, y, z);                                                                                      \
    row[8] = sqrt(x);                                                                                            \
    row[9] = 1 / y;                                                                                              \
  }
//@ for T in float double: arithmetic_$T 2048 64 in:$T:2048 in:$T:2048 in:$T:2048 out:$T:2048*10
ARITHMETIC(float)
ARITHMETIC(double)

// Operands of like size, so that sums cancel and products round.
//@ for T in float double: close_$T 2048 64 in:$T:2048:near in:$T:2048:near in:$T:2048:near out:$T:2048*10
#define CLOSE(T)                                                                                            \
  __kernel void close_##T(__global const T* a, __global const T* b, __global const T* c, __global T* out) { \
    const size_t i = get_global_id(0);                                                                      \
    const T x = a[i], y = b[i], z = c[i];                                                                   \
    __global T* row = out + i * 10;                                                                         \
    row[0] = x - y;                                                                                         \
    row[1] = (x - y) - z;                                                                                   \
    row[2] = x * y;                                                                                         \
    row[3] = x / y;                                                                                         \
    row[4] = fma(x, y, -(x * y));                                                                           \
    row[5] = fma(x, y, -z);                                                                                 \
    row[6] = x * y - z;                                                                                     \
    row[7] = sqrt(fabs(x * z));                                                                             \
    row[8] = (x + y) + z;                                                                                   \
    row[9] = x + (y + z);                                                                                   \
  }
CLOSE(float)
CLOSE(double)

// OpenCL leaves the sign of fmin(+0, -0) open: adding +0 makes both +0.
#define FLOAT_FUNCTIONS(T)                                                                                      \
  __kernel void functions_##T(__global const T* a, __global const T* b, __global const T* c, __global T* out) { \
    const size_t i = get_global_id(0);                                                                          \
    const T x = a[i], y = b[i], z = c[i];                                                                       \
    __global T* row = out + i * 14;                                                                             \
    row[0] = floor(x);                                                                                          \
    row[1] = ceil(x);                                                                                           \
    row[2] = trunc(x);                                                                                          \
    row[3] = rint(x);                                                                                           \
    row[4] = round(x);                                                                                          \
    row[5] = fabs(x);                                                                                           \
    row[6] = copysign(x, y);                                                                                    \
    row[7] = fmin(x, y) + 0;                                                                                    \
    row[8] = fmax(x, y) + 0;                                                                                    \
    row[9] = step(x, y);                                                                                        \
    row[10] = sign(x);                                                                                          \
    row[11] = -x;                                                                                               \
    row[12] = x < y ? x : y;                                                                                    \
    row[13] = (x > y ? y : x) + (y != z ? (T)1 : (T)2);                                                         \
  }
//@ for T in float double: functions_$T 2048 64 in:$T:2048:rounding in:$T:2048 in:$T:2048 out:$T:2048*14
FLOAT_FUNCTIONS(float)
FLOAT_FUNCTIONS(double)

#define CLASSES(T)                                                                         \
  __kernel void classes_##T(__global const T* a, __global const T* b, __global int* out) { \
    const size_t i = get_global_id(0);                                                     \
    const T x = a[i], y = b[i];                                                            \
    __global int* row = out + i * 20;                                                      \
    row[0] = isequal(x, y);                                                                \
    row[1] = isnotequal(x, y);                                                             \
    row[2] = isgreater(x, y);                                                              \
    row[3] = isgreaterequal(x, y);                                                         \
    row[4] = isless(x, y);                                                                 \
    row[5] = islessequal(x, y);                                                            \
    row[6] = islessgreater(x, y);                                                          \
    row[7] = isordered(x, y);                                                              \
    row[8] = isunordered(x, y);                                                            \
    row[9] = isnan(x);                                                                     \
    row[10] = isinf(x);                                                                    \
    row[11] = isfinite(x);                                                                 \
    row[12] = isnormal(x);                                                                 \
    row[13] = signbit(x) != 0;                                                             \
    row[14] = x < y;                                                                       \
    row[15] = !(x < y);                                                                    \
    row[16] = x >= y || x != y;                                                            \
    row[17] = !(x > y) && !(x <= y);                                                       \
    row[18] = x == x;                                                                      \
    row[19] = x != 0 ? 4 : 9;                                                              \
  }
//@ for T in float double: classes_$T 2048 64 in:$T:2048 in:$T:2048 out:int:2048*20
CLASSES(float)
CLASSES(double)

//@ float_bits 1024 64 in:uint:1024 out:uint:1024*3 out:float:1024
__kernel void float_bits(__global const uint* a, __global uint* out, __global float* scaled) {
  const size_t i = get_global_id(0);
  const float x = as_float((a[i] & 0x807fffffu) | ((a[i] >> 23 & 127) + 64) << 23);
  out[i * 3] = as_uint(x * 2.0f);
  out[i * 3 + 1] = as_uint(x) >> 23 & 255;
  out[i * 3 + 2] = as_uint(fabs(x)) ^ as_uint(-x);
  scaled[i] = as_float(as_int(x) + (1 << 23));
}

//@ double_bits 1024 64 in:ulong:1024 out:ulong:1024*2
__kernel void double_bits(__global const ulong* a, __global ulong* out) {
  const size_t i = get_global_id(0);
  const double x = as_double((a[i] & 0x800ffffffffffffful) | ((a[i] >> 52 & 1023) + 512) << 52);
  out[i * 2] = as_ulong(x * x);
  out[i * 2 + 1] = as_ulong(x - 1.0) ^ as_ulong(fabs(x));
}

// Horner's rule in four precisions of care
//@ for T in float double: polynomial_$T 512 64 in:$T:512:small in:$T:16:small out:$T:512*2
#define POLYNOMIAL(T)                                                                       \
  __kernel void polynomial_##T(__global const T* a, __global const T* c, __global T* out) { \
    const size_t i = get_global_id(0);                                                      \
    const T x = a[i] / 16;                                                                  \
    T plain = c[15], fused = c[15];                                                         \
    for (int k = 14; k >= 0; --k) {                                                         \
      plain = plain * x + c[k];                                                             \
      fused = fma(fused, x, c[k]);                                                          \
    }                                                                                       \
    out[i * 2] = plain;                                                                     \
    out[i * 2 + 1] = fused;                                                                 \
  }
POLYNOMIAL(float)
POLYNOMIAL(double)

// Sums with the lost part carried along, and of products by their exact errors
//@ compensated_sum 64 32 in:float:4096:small out:float:64*3
__kernel void compensated_sum(__global const float* a, __global float* out) {
  const size_t i = get_global_id(0);
  float plain = 0, sum = 0, lost = 0, dot = 0, error = 0;
  for (int k = 0; k < 64; ++k) {
    const float x = a[i * 64 + k];
    plain += x;
    const float y = x - lost, t = sum + y;
    lost = (t - sum) - y;
    sum = t;
    const float p = x * x;
    error += fma(x, x, -p);
    dot += p;
  }
  out[i * 3] = plain;
  out[i * 3 + 1] = sum;
  out[i * 3 + 2] = dot + error;
}

//@ bodies 64 32 in:double:256:small out:double:256 int=20
__kernel void bodies(__global const double4* a, __global double4* out, int steps) {
  const size_t i = get_global_id(0);
  double4 p = a[i];
  double3 v = (double3)(0.125, -0.25, 0.5);
  for (int k = 0; k < steps; ++k) {
    const double3 d = p.xyz - a[(i + 1 + k) & 63].xyz;
    const double r = d.x * d.x + d.y * d.y + d.z * d.z + 0.01;
    v = v - d / (r * sqrt(r));
    p.xyz = p.xyz + v * 0.0625;
    p.w = p.w + r;
  }
  out[i] = p;
}
