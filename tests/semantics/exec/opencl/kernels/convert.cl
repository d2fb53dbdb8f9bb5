// Conversions between every two scalar types, in every rounding, with and without saturation.

// Floats to integers: four roundings and the default one. Without saturation only values that fit are defined.
#define FLOAT_TO(T, S)                                                                                    \
  __kernel void convert_##S##_to_##T(__global const S* any, __global const S* fitting, __global T* out) { \
    const size_t i = get_global_id(0);                                                                    \
    __global T* row = out + i * 10;                                                                       \
    row[0] = convert_##T##_sat(any[i]);                                                                   \
    row[1] = convert_##T##_sat_rte(any[i]);                                                               \
    row[2] = convert_##T##_sat_rtz(any[i]);                                                               \
    row[3] = convert_##T##_sat_rtp(any[i]);                                                               \
    row[4] = convert_##T##_sat_rtn(any[i]);                                                               \
    row[5] = convert_##T(fitting[i]);                                                                     \
    row[6] = convert_##T##_rte(fitting[i]);                                                               \
    row[7] = convert_##T##_rtz(fitting[i]);                                                               \
    row[8] = convert_##T##_rtp(fitting[i]);                                                               \
    row[9] = convert_##T##_rtn(fitting[i]);                                                               \
  }
// Integers to floats
#define TO_FLOAT(T, S)                                                       \
  __kernel void convert_##T##_to_##S(__global const T* a, __global S* out) { \
    const size_t i = get_global_id(0);                                       \
    out[i * 5] = convert_##S(a[i]);                                          \
    out[i * 5 + 1] = convert_##S##_rte(a[i]);                                \
    out[i * 5 + 2] = convert_##S##_rtz(a[i]);                                \
    out[i * 5 + 3] = convert_##S##_rtp(a[i]);                                \
    out[i * 5 + 4] = convert_##S##_rtn(a[i]);                                \
  }
//@ for S in float double, T in char uchar short ushort int uint long ulong: convert_${S}_to_$T 1024 64
//@@ in:$S:1024:around($T) in:$S:1024:fit($T) out:$T:1024*10
//@ for S in float double, T in char uchar short ushort int uint long ulong: convert_${T}_to_$S 1024 64
//@@ in:$T:1024:scaled out:$S:1024*5
#define BOTH(T) FLOAT_TO(T, float) FLOAT_TO(T, double) TO_FLOAT(T, float) TO_FLOAT(T, double)
BOTH(char)
BOTH(uchar)
BOTH(short)
BOTH(ushort)
BOTH(int)
BOTH(uint)
BOTH(long)
BOTH(ulong)

// Integers to integers, cut off and saturated
#define FROM(T)                                                                                                \
  __kernel void convert_from_##T(__global const T* a, __global char* c, __global uchar* uc, __global short* s, \
                                 __global ushort* us, __global int* n, __global uint* un, __global long* l,    \
                                 __global ulong* ul) {                                                         \
    const size_t i = get_global_id(0);                                                                         \
    const T x = a[i];                                                                                          \
    c[i * 2] = convert_char(x), c[i * 2 + 1] = convert_char_sat(x);                                            \
    uc[i * 2] = convert_uchar(x), uc[i * 2 + 1] = convert_uchar_sat(x);                                        \
    s[i * 2] = convert_short(x), s[i * 2 + 1] = convert_short_sat(x);                                          \
    us[i * 2] = convert_ushort(x), us[i * 2 + 1] = convert_ushort_sat(x);                                      \
    n[i * 2] = convert_int(x), n[i * 2 + 1] = convert_int_sat(x);                                              \
    un[i * 2] = convert_uint(x), un[i * 2 + 1] = convert_uint_sat(x);                                          \
    l[i * 2] = convert_long(x), l[i * 2 + 1] = convert_long_sat(x);                                            \
    ul[i * 2] = convert_ulong(x), ul[i * 2 + 1] = convert_ulong_sat(x);                                        \
  }
//@ for T in char uchar short ushort int uint long ulong: convert_from_$T 512 64 in:$T:512:scaled out:char:1024
//@@ out:uchar:1024 out:short:1024 out:ushort:1024 out:int:1024 out:uint:1024 out:long:1024 out:ulong:1024
FROM(char)
FROM(uchar)
FROM(short)
FROM(ushort)
FROM(int)
FROM(uint)
FROM(long)
FROM(ulong)

//@ convert_double_to_float 2048 64 in:double:2048:around(float) out:float:2048*5
__kernel void convert_double_to_float(__global const double* a, __global float* out) {
  const size_t i = get_global_id(0);
  out[i * 5] = convert_float(a[i]);
  out[i * 5 + 1] = convert_float_rte(a[i]);
  out[i * 5 + 2] = convert_float_rtz(a[i]);
  out[i * 5 + 3] = convert_float_rtp(a[i]);
  out[i * 5 + 4] = convert_float_rtn(a[i]);
}

//@ convert_float_to_double 1024 64 in:float:1024 out:double:1024
__kernel void convert_float_to_double(__global const float* a, __global double* out) {
  const size_t i = get_global_id(0);
  out[i] = convert_double(a[i]);
}

// Every one of the 65536 halves.
//@ load_half 1024 64 in:half:65536:iota out:float:65536
__kernel void load_half(__global const half* a, __global float* out) {
  for (size_t i = get_global_id(0); i < 65536; i += get_global_size(0)) out[i] = vload_half(i, a);
}

//@ for S in float double: store_half_$S 2048 64 in:$S:2048:around(half) out:half:2048*5
#define STORE_HALF(S)                                                     \
  __kernel void store_half_##S(__global const S* a, __global half* out) { \
    const size_t i = get_global_id(0);                                    \
    vstore_half(a[i], i * 5, out);                                        \
    vstore_half_rte(a[i], i * 5 + 1, out);                                \
    vstore_half_rtz(a[i], i * 5 + 2, out);                                \
    vstore_half_rtp(a[i], i * 5 + 3, out);                                \
    vstore_half_rtn(a[i], i * 5 + 4, out);                                \
  }
STORE_HALF(float)
STORE_HALF(double)

//@ for N in 2 3 4 8 16: half_vector_$N 64 32 in:half:64*$N out:half:64*$N
#define HALF_VECTOR(N)                                                        \
  __kernel void half_vector_##N(__global const half* a, __global half* out) { \
    const size_t i = get_global_id(0);                                        \
    const float##N x = vload_half##N(i, a);                                   \
    vstore_half##N##_rte(x * 1.25f + (float##N)(0.0625f), i, out);            \
  }
#pragma OPENCL FP_CONTRACT OFF
HALF_VECTOR(2)
HALF_VECTOR(3)
HALF_VECTOR(4)
HALF_VECTOR(8)
HALF_VECTOR(16)

//@ convert_vectors 128 32 in:float:512:around(int) in:int:512:scaled in:uint:512:scaled in:double:256:around(float)
//@@ out:int:512 out:uchar:512 out:float:512 out:float:512 out:short:512 out:float:256
__kernel void convert_vectors(__global const float4* a, __global const int4* b, __global const uint4* c,
                              __global const double2* d, __global int4* ints, __global uchar4* bytes,
                              __global float4* floats, __global float4* cut, __global short4* shorts,
                              __global float2* up) {
  const size_t i = get_global_id(0);
  ints[i] = convert_int4_sat_rte(a[i]);
  bytes[i] = convert_uchar4_sat_rte(a[i]);
  floats[i] = convert_float4(b[i]);
  cut[i] = convert_float4_rtz(c[i]);
  shorts[i] = convert_short4_sat(c[i]);
  up[i] = convert_float2_rtp(d[i]);
}
