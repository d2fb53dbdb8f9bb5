// Vectors of 2, 3, 4, 8 and 16 elements of every type: operators, comparisons, swizzles, loads and stores.

// vloadn and vstoren need no alignment beyond an element's: each work item's vectors lie at an odd offset.
#define INTEGERS(T, N)                                                                     \
  __kernel void vector_##T##N(__global const T* a, __global const T* b, __global T* out) { \
    const size_t i = get_global_id(0);                                                     \
    const T##N x = vload##N(i, a + 1), y = vload##N(i, b + 3);                             \
    __global T* base = out + 1;                                                            \
    vstore##N(x + y, i * 10, base);                                                        \
    vstore##N(x - y * (T)3, i * 10 + 1, base);                                             \
    vstore##N((x & y) | ~(x ^ y), i * 10 + 2, base);                                       \
    vstore##N((x << (T##N)(3)) + (x >> (T##N)(2)), i * 10 + 3, base);                      \
    vstore##N(max(x, y) - min(x, (T##N)(7)), i * 10 + 4, base);                            \
    vstore##N(mul_hi(x, y), i * 10 + 5, base);                                             \
    vstore##N(add_sat(x, y) ^ sub_sat(x, y), i * 10 + 6, base);                            \
    vstore##N(rotate(x, y) + hadd(x, y), i * 10 + 7, base);                                \
    vstore##N(clz(x) + popcount(y), i * 10 + 8, base);                                     \
    vstore##N(mad_hi(x, y, x) + bitselect(x, y, (T##N)(0x5a)), i * 10 + 9, base);          \
  }
#define WIDTHS(T) INTEGERS(T, 2) INTEGERS(T, 3) INTEGERS(T, 4) INTEGERS(T, 8) INTEGERS(T, 16)
//@ for T in char uchar short ushort int uint long ulong, N in 2 3 4 8 16: vector_$T$N 64 32 in:$T:64*$N+8
//@@ in:$T:64*$N+8 out:$T:640*$N+8
WIDTHS(char)
WIDTHS(uchar)
WIDTHS(short)
WIDTHS(ushort)
WIDTHS(int)
WIDTHS(uint)
WIDTHS(long)
WIDTHS(ulong)

// Pointers to vectors: aligned accesses, which become vector loads and stores.
#define FLOATING(T, N, I)                                                                         \
  __kernel void vector_##T##N(__global const T##N* a, __global const T##N* b, __global T##N* out, \
                              __global int* bits) {                                               \
    const size_t i = get_global_id(0);                                                            \
    const T##N x = a[i], y = b[i];                                                                \
    out[i * 6] = x + y;                                                                           \
    out[i * 6 + 1] = x * y - x;                                                                   \
    out[i * 6 + 2] = x / y;                                                                       \
    out[i * 6 + 3] = fma(x, y, x) + floor(y);                                                     \
    out[i * 6 + 4] = fmax(x, y) + fmin(fabs(x), (T##N)(2));                                       \
    out[i * 6 + 5] = select(x, y, x < y) + sqrt(fabs(x));                                         \
    bits[i * 2] = any(x < y) * 4 + all(x <= y) * 2 + any(x != x);                                 \
    bits[i * 2 + 1] = all((x == y) | (x > y));                                                    \
  }
#define FLOATING_WIDTHS(T, I) \
  FLOATING(T, 2, I) FLOATING(T, 3, I) FLOATING(T, 4, I) FLOATING(T, 8, I) FLOATING(T, 16, I)
//@ for T in float double, N in 2 4 8 16: vector_$T$N 64 32 in:$T:64*$N in:$T:64*$N out:$T:384*$N out:int:128
//@ for T in float double: vector_${T}3 64 32 in:$T:64*4 in:$T:64*4 out:$T:384*4:holes3 out:int:128
#pragma OPENCL FP_CONTRACT OFF
FLOATING_WIDTHS(float, int)
FLOATING_WIDTHS(double, long)

// Comparisons give -1 or 0 in an integer of the element's width.
//@ compare_vectors 64 32 in:int:256 in:int:256 in:uchar:512 in:float:512 in:double:128 out:int:256 out:char:512
//@@ out:int:512 out:long:128
__kernel void compare_vectors(__global const int4* a, __global const int4* b, __global const uchar8* c,
                              __global const float8* d, __global const double2* e, __global int4* ints,
                              __global char8* chars, __global int8* floats, __global long2* doubles) {
  const size_t i = get_global_id(0);
  ints[i] = (a[i] < b[i]) + (a[i] == b[i]) * 3 - (a[i] >= b[i] - 5) * 7;
  chars[i] = (c[i] > (uchar8)(100)) & (c[i] != (uchar8)(200));
  floats[i] = (d[i] <= d[63 - i]) ^ isless(d[i], (float8)(0.5f));
  doubles[i] = !(e[i] < e[63 - i]);
}

//@ swizzles 64 32 in:int:256 in:short:1024 out:int:1024 out:short:1024
__kernel void swizzles(__global const int4* a, __global const short16* b, __global int4* out,
                       __global short16* wide) {
  const size_t i = get_global_id(0);
  const int4 x = a[i];
  int4 y = x.wzyx;
  y.xz += x.hi;
  y.s13 = x.even - x.odd;
  out[i * 4] = y;
  out[i * 4 + 1] = (int4)(x.yy, x.w, 9);
  out[i * 4 + 2] = x.s0123 * (x.xxxx - y);
  int3 z = x.xyz;
  z.y = -z.y;
  out[i * 4 + 3] = (int4)(z, z.y);
  short16 w = b[i];
  w.s0123 = w.scdef;
  w.s8 = w.s9 + w.sA;
  w.odd = w.even;
  w.lo ^= w.hi;
  wide[i] = w;
}

// The bits of one vector read as another.
//@ reinterpretations 128 32 in:uint:512 out:uint:512 out:uchar:512 out:ushort:512 out:float:128
__kernel void reinterpretations(__global const uint4* a, __global uint4* out, __global uchar4* bytes,
                                __global ushort4* shorts, __global float* floats) {
  const size_t i = get_global_id(0);
  const uint4 x = a[i];
  uchar4 u = as_uchar4(x.x);
  u = u.wzyx + (uchar4)(1, 2, 3, 4);
  bytes[i] = u;
  shorts[i] = as_ushort4((uint2)(x.y, x.z)).yxwz;
  floats[i] = as_float((x.w & 0x007fffff) | 0x3f800000) - 1.0f;
  const ulong2 l = as_ulong2(x);
  out[i] = as_uint4((ulong2)(l.y + l.x, l.x ^ l.y >> 7));
}

// Elements chosen by a variable: a vector in private memory.
//@ indexed_elements 128 32 in:int:1024 in:uchar:128 out:int:128
__kernel void indexed_elements(__global const int8* a, __global const uchar* b, __global int* out) {
  const size_t i = get_global_id(0);
  int values[8];
  vstore8(a[i], 0, values);
  int sum = 0;
  for (int k = 0; k < 8; ++k) sum = sum * 3 + values[(b[i] + k * 3) & 7];
  out[i] = sum;
}

//@ blend_bytes 256 64 in:uchar:1024 in:uchar:1024 in:uchar:256 out:uchar:1024
__kernel void blend_bytes(__global const uchar4* a, __global const uchar4* b, __global const uchar* alpha,
                          __global uchar4* out) {
  const size_t i = get_global_id(0);
  const int4 x = (int4)(a[i].x, a[i].y, a[i].z, a[i].w), y = (int4)(b[i].x, b[i].y, b[i].z, b[i].w);
  out[i] = convert_uchar4_sat(x + ((y - x) * (int)alpha[i] + 127) / 255 + (int4)(0, 20, -20, 1));
}
