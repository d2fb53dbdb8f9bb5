// Scalar integer operators and functions, for every integer type. Each work item writes a row of results.

// C's operators. Signed sums and products are formed unsigned where they could overflow an int.
#define OPERATORS(T, U)                                                                    \
  __kernel void operators_##T(__global const T* a, __global const T* b, __global T* out) { \
    const size_t i = get_global_id(0);                                                     \
    const T x = a[i], y = b[i];                                                            \
    __global T* row = out + i * 16;                                                        \
    row[0] = (T)((U)x + (U)y);                                                             \
    row[1] = (T)((U)x - (U)y);                                                             \
    row[2] = (T)((ulong)x * (ulong)y);                                                     \
    row[3] = x & y;                                                                        \
    row[4] = x | y;                                                                        \
    row[5] = x ^ y;                                                                        \
    row[6] = ~x;                                                                           \
    row[7] = (T)(0 - (U)x);                                                                \
    row[8] = x < y;                                                                        \
    row[9] = x <= y;                                                                       \
    row[10] = x > y;                                                                       \
    row[11] = x >= y;                                                                      \
    row[12] = x == y;                                                                      \
    row[13] = x != y;                                                                      \
    row[14] = (x && y) ? 5 : (x || y) ? 3 : !x;                                            \
    row[15] = x > y ? x : y;                                                               \
  }
//@ for T in char uchar short ushort int uint long ulong: operators_$T 512 64 in:$T:512 in:$T:512 out:$T:512*16
OPERATORS(char, uint)
OPERATORS(uchar, uint)
OPERATORS(short, uint)
OPERATORS(ushort, uint)
OPERATORS(int, uint)
OPERATORS(uint, uint)
OPERATORS(long, ulong)
OPERATORS(ulong, ulong)

// Division and remainder, of what C defines: not by 0, and not the least value by -1.
#define DIVISION(T)                                                                       \
  __kernel void division_##T(__global const T* a, __global const T* b, __global T* out) { \
    const size_t i = get_global_id(0);                                                    \
    const T x = a[i];                                                                     \
    T y = b[i];                                                                           \
    if (y == 0) y = 1;                                                                    \
    if (y == (T)-1) y = 3;                                                                \
    __global T* row = out + i * 8;                                                        \
    row[0] = x / y;                                                                       \
    row[1] = x % y;                                                                       \
    row[2] = x / 3;                                                                       \
    row[3] = x % 3;                                                                       \
    row[4] = x / 7;                                                                       \
    row[5] = x / 16;                                                                      \
    row[6] = x % 16;                                                                      \
    row[7] = x / 100;                                                                     \
  }
//@ for T in char uchar short ushort int uint long ulong: division_$T 512 64 in:$T:512 in:$T:512 out:$T:512*8
DIVISION(char)
DIVISION(uchar)
DIVISION(short)
DIVISION(ushort)
DIVISION(int)
DIVISION(uint)
DIVISION(long)
DIVISION(ulong)

// Shifts by any amount (OpenCL takes it modulo the width; char and short are promoted only where we say so), and by
// constants.
#define SHIFTS(T, BITS)                                                                 \
  __kernel void shifts_##T(__global const T* a, __global const T* b, __global T* out) { \
    const size_t i = get_global_id(0);                                                  \
    const T x = a[i];                                                                   \
    const int n = (int)b[i] & (BITS - 1);                                               \
    __global T* row = out + i * 8;                                                      \
    row[0] = x << n;                                                                    \
    row[1] = x >> n;                                                                    \
    row[2] = x << (BITS - 1);                                                           \
    row[3] = x >> (BITS - 1);                                                           \
    row[4] = x << 3;                                                                    \
    row[5] = x >> 3;                                                                    \
    row[6] = (T)(1 << (n & 7)) | (x >> 1);                                              \
    row[7] = (T)((x << 1) ^ (x >> (BITS - 2)));                                         \
  }
//@ for T in char uchar short ushort int uint long ulong: shifts_$T 512 64 in:$T:512 in:$T:512 out:$T:512*8
SHIFTS(char, 8)
SHIFTS(uchar, 8)
SHIFTS(short, 16)
SHIFTS(ushort, 16)
SHIFTS(int, 32)
SHIFTS(uint, 32)
SHIFTS(long, 64)
SHIFTS(ulong, 64)

// Shift amounts beyond the width of int, uint, long and ulong: OpenCL masks them.
#define WRAPPED_SHIFTS(T)                                                                       \
  __kernel void wrapped_shifts_##T(__global const T* a, __global const T* b, __global T* out) { \
    const size_t i = get_global_id(0);                                                          \
    out[i * 2] = a[i] << b[i];                                                                  \
    out[i * 2 + 1] = a[i] >> b[i];                                                              \
  }
//@ for T in int uint long ulong: wrapped_shifts_$T 512 64 in:$T:512 in:$T:512 out:$T:512*2
WRAPPED_SHIFTS(int)
WRAPPED_SHIFTS(uint)
WRAPPED_SHIFTS(long)
WRAPPED_SHIFTS(ulong)

// OpenCL's integer functions
#define FUNCTIONS(T)                                                                                            \
  __kernel void functions_##T(__global const T* a, __global const T* b, __global const T* c, __global T* out) { \
    const size_t i = get_global_id(0);                                                                          \
    const T x = a[i], y = b[i], z = c[i];                                                                       \
    __global T* row = out + i * 20;                                                                             \
    row[0] = (T)abs(x);                                                                                         \
    row[1] = (T)abs_diff(x, y);                                                                                 \
    row[2] = add_sat(x, y);                                                                                     \
    row[3] = sub_sat(x, y);                                                                                     \
    row[4] = hadd(x, y);                                                                                        \
    row[5] = rhadd(x, y);                                                                                       \
    row[6] = clz(x);                                                                                            \
    row[7] = popcount(x);                                                                                       \
    row[8] = mul_hi(x, y);                                                                                      \
    row[9] = mad_hi(x, y, z);                                                                                   \
    row[10] = mad_sat(x, y, z);                                                                                 \
    row[11] = max(x, y);                                                                                        \
    row[12] = min(x, y);                                                                                        \
    row[13] = clamp(x, min(y, z), max(y, z));                                                                   \
    row[14] = rotate(x, y);                                                                                     \
    row[15] = bitselect(x, y, z);                                                                               \
    row[16] = rotate(x, (T)5);                                                                                  \
    row[17] = clz((T)(x & y));                                                                                  \
    row[18] = mul_hi(x, (T)x);                                                                                  \
    row[19] = popcount((T)(x ^ z));                                                                             \
  }
//@ for T in char uchar short ushort int uint long ulong: functions_$T 1024 128 in:$T:1024 in:$T:1024 in:$T:1024
//@@ out:$T:1024*20
FUNCTIONS(char)
FUNCTIONS(uchar)
FUNCTIONS(short)
FUNCTIONS(ushort)
FUNCTIONS(int)
FUNCTIONS(uint)
FUNCTIONS(long)
FUNCTIONS(ulong)

#define SELECT_SCALAR(T, C)                                                                                  \
  __kernel void select_##T(__global const T* a, __global const T* b, __global const C* c, __global T* out) { \
    const size_t i = get_global_id(0);                                                                       \
    out[i] = select(a[i], b[i], c[i]);                                                                       \
  }
//@ for T in char short int long float: select_$T 256 64 in:$T:256 in:$T:256 in:$C($T):256 out:$T:256
//@ for T in uchar ushort uint ulong double: select_$T 256 64 in:$T:256 in:$T:256 in:$C($T):256 out:$T:256
SELECT_SCALAR(char, char)
SELECT_SCALAR(uchar, char)
SELECT_SCALAR(short, short)
SELECT_SCALAR(ushort, short)
SELECT_SCALAR(int, int)
SELECT_SCALAR(uint, int)
SELECT_SCALAR(long, long)
SELECT_SCALAR(ulong, long)
SELECT_SCALAR(float, int)
SELECT_SCALAR(double, long)

#define UPSAMPLE(T, U, R)                                                                 \
  __kernel void upsample_##T(__global const T* a, __global const U* b, __global R* out) { \
    const size_t i = get_global_id(0);                                                    \
    out[i] = upsample(a[i], b[i]);                                                        \
  }
//@ upsample_char 256 64 in:char:256 in:uchar:256 out:short:256
//@ upsample_uchar 256 64 in:uchar:256 in:uchar:256 out:ushort:256
//@ upsample_short 256 64 in:short:256 in:ushort:256 out:int:256
//@ upsample_ushort 256 64 in:ushort:256 in:ushort:256 out:uint:256
//@ upsample_int 256 64 in:int:256 in:uint:256 out:long:256
//@ upsample_uint 256 64 in:uint:256 in:uint:256 out:ulong:256
UPSAMPLE(char, uchar, short)
UPSAMPLE(uchar, uchar, ushort)
UPSAMPLE(short, ushort, int)
UPSAMPLE(ushort, ushort, uint)
UPSAMPLE(int, uint, long)
UPSAMPLE(uint, uint, ulong)

// Products of 24 bits: only of arguments that have no more, others being undefined.
//@ mul24_int 512 64 in:int:512 in:int:512 in:int:512 out:int:512*2
__kernel void mul24_int(__global const int* a, __global const int* b, __global const int* c, __global int* out) {
  const size_t i = get_global_id(0);
  const int x = a[i] >> 8, y = b[i] >> 8;
  out[i * 2] = mul24(x, y);
  out[i * 2 + 1] = mad24(x, y, c[i]);
}

//@ mul24_uint 512 64 in:uint:512 in:uint:512 in:uint:512 out:uint:512*2
__kernel void mul24_uint(__global const uint* a, __global const uint* b, __global const uint* c,
                         __global uint* out) {
  const size_t i = get_global_id(0);
  const uint x = a[i] >> 8, y = b[i] >> 8;
  out[i * 2] = mul24(x, y);
  out[i * 2 + 1] = mad24(x, y, c[i]);
}

// Products and sums of 128 bits out of 64-bit words, by hand: carries through comparisons.
//@ wide_product 512 64 in:ulong:512 in:ulong:512 out:ulong:512*4
__kernel void wide_product(__global const ulong* a, __global const ulong* b, __global ulong* out) {
  const size_t i = get_global_id(0);
  const ulong x = a[i], y = b[i];
  const ulong low = x * y, high = mul_hi(x, y);
  const ulong sum = low + x, carry = sum < low;
  out[i * 4] = sum;
  out[i * 4 + 1] = high + carry;
  const ulong ll = (x & UINT_MAX) * (y & UINT_MAX), lh = (x & UINT_MAX) * (y >> 32),
              hl = (x >> 32) * (y & UINT_MAX);
  const ulong middle = (ll >> 32) + (lh & UINT_MAX) + (hl & UINT_MAX);
  out[i * 4 + 2] = (x >> 32) * (y >> 32) + (lh >> 32) + (hl >> 32) + (middle >> 32) - high;
  out[i * 4 + 3] = (ulong)mul_hi((long)x, (long)y);
}

// Comparisons of mixed widths and signs after promotion
//@ promotions 512 64 in:char:512 in:ushort:512 in:int:512 in:ulong:512 out:long:512*8
__kernel void promotions(__global const char* a, __global const ushort* b, __global const int* c,
                         __global const ulong* d, __global long* out) {
  const size_t i = get_global_id(0);
  __global long* row = out + i * 8;
  row[0] = a[i] < b[i];
  row[1] = c[i] < (int)b[i] ? a[i] : b[i];
  row[2] = (ulong)c[i] < d[i];
  row[3] = a[i] + b[i];
  row[4] = (long)c[i] * a[i];
  row[5] = (long)(d[i] >> (b[i] & 63));
  row[6] = (char)c[i] + (short)d[i];
  row[7] = (uchar)a[i] * (uint)c[i];
}
