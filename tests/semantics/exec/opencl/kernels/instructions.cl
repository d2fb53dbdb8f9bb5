// Instructions that no function of OpenCL stands for: inline assembly for PTX, C for the CPU. Lanes of a warp talk
// through local memory on the CPU, where a group is one warp.

#ifdef __NVPTX__
static uint reversed(uint a) {
  uint r;
  __asm__("brev.b32 %0, %1;" : "=r"(r) : "r"(a));
  return r;
}
static ulong reversed_long(ulong a) {
  ulong r;
  __asm__("brev.b64 %0, %1;" : "=l"(r) : "l"(a));
  return r;
}
static uint extracted(uint a, uint position, uint length) {
  uint r;
  __asm__("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(position), "r"(length));
  return r;
}
static int extracted_signed(int a, uint position, uint length) {
  int r;
  __asm__("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(position), "r"(length));
  return r;
}
static uint inserted(uint a, uint b, uint position, uint length) {
  uint r;
  __asm__("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(position), "r"(length));
  return r;
}
static uint highest(uint a) {
  uint r;
  __asm__("bfind.u32 %0, %1;" : "=r"(r) : "r"(a));
  return r;
}
static uint highest_signed(int a) {
  uint r;
  __asm__("bfind.s32 %0, %1;" : "=r"(r) : "r"(a));
  return r;
}
static uint permuted(uint a, uint b, uint selector) {
  uint r;
  __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(selector));
  return r;
}
#define LOGIC(a, b, c, table)                                                           \
  ({                                                                                    \
    uint r;                                                                             \
    __asm__("lop3.b32 %0, %1, %2, %3, " #table ";" : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
    r;                                                                                  \
  })
static uint funnel_right_clamped(uint low, uint high, uint n) {
  uint r;
  __asm__("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(n));
  return r;
}
static uint funnel_left_wrapped(uint low, uint high, uint n) {
  uint r;
  __asm__("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(n));
  return r;
}
static int dot4(int a, int b, int c) {
  int r;
  __asm__("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
static int dot4_mixed(uint a, int b, int c) {
  int r;
  __asm__("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
static int dot2_high(int a, int b, int c) {
  int r;
  __asm__("dp2a.hi.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
static uint shift_left(uint a, uint n) {
  uint r;
  __asm__("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(n));
  return r;
}
static int shift_right(int a, uint n) {
  int r;
  __asm__("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(n));
  return r;
}
#else
uint reversed(uint a) {
  uint r = 0;
  for (int i = 0; i < 32; ++i) r |= (a >> i & 1) << (31 - i);
  return r;
}
ulong reversed_long(ulong a) { return (ulong)reversed((uint)a) << 32 | reversed((uint)(a >> 32)); }
uint extracted(uint a, uint position, uint length) {
  uint r = 0;
  position &= 255, length &= 255;
  for (uint i = 0; i < min(length, 32u); ++i) r |= (position + i < 32 ? a >> (position + i) & 1 : 0) << i;
  return r;
}
int extracted_signed(int a, uint position, uint length) {
  uint r = 0;
  position &= 255, length &= 255;
  const uint sign = length == 0 ? 0 : (uint)a >> min(position + length - 1, 31u) & 1;
  for (uint i = 0; i < 32; ++i) r |= (i < length && position + i < 32 ? (uint)a >> (position + i) & 1 : sign) << i;
  return (int)r;
}
uint inserted(uint a, uint b, uint position, uint length) {
  position &= 255, length &= 255;
  for (uint i = 0; i < length && position + i < 32; ++i)
    b = (b & ~(1u << (position + i))) | (i < 32 ? a >> i & 1 : 0) << (position + i);
  return b;
}
uint highest(uint a) {
  uint r = 0xffffffffu;
  for (uint i = 0; i < 32; ++i)
    if (a >> i & 1) r = i;
  return r;
}
uint highest_signed(int a) { return highest(a < 0 ? ~(uint)a : (uint)a); }
uint permuted(uint a, uint b, uint selector) {
  uint r = 0;
  for (int i = 0; i < 4; ++i) {
    const uint s = selector >> (4 * i) & 15, byte = ((s & 4 ? b : a) >> (8 * (s & 3))) & 255;
    r |= (s & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * i);
  }
  return r;
}
uint logic(uint a, uint b, uint c, uint table) {
  uint r = 0;
  for (int i = 0; i < 32; ++i) r |= (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
  return r;
}
#define LOGIC(a, b, c, table) logic(a, b, c, table)
uint funnel_right_clamped(uint low, uint high, uint n) {
  return n >= 32 ? high : (uint)(((ulong)high << 32 | low) >> n);
}
uint funnel_left_wrapped(uint low, uint high, uint n) {
  return (uint)((((ulong)high << 32 | low) << (n & 31)) >> 32);
}
int dot4(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c = (int)((uint)c + (uint)((char)(a >> 8 * i) * (char)(b >> 8 * i)));
  return c;
}
int dot4_mixed(uint a, int b, int c) {
  for (int i = 0; i < 4; ++i) c = (int)((uint)c + (uint)((uchar)(a >> 8 * i) * (char)(b >> 8 * i)));
  return c;
}
int dot2_high(int a, int b, int c) {
  return (int)((uint)c + (uint)((short)a * (char)(b >> 16)) + (uint)((short)(a >> 16) * (char)(b >> 24)));
}
uint shift_left(uint a, uint n) { return n > 31 ? 0 : a << n; }
int shift_right(int a, uint n) { return a >> min(n, 31u); }
#endif

//@ bit_fields 1024 64 in:uint:1024 in:uint:1024 in:uchar:1024 in:uchar:1024 out:uint:1024*12
__kernel void bit_fields(__global const uint* a, __global const uint* b, __global const uchar* p,
                         __global const uchar* n, __global uint* out) {
  const size_t i = get_global_id(0);
  const uint position = i & 1 ? p[i] : p[i] & 31, length = i & 2 ? n[i] : n[i] & 31;
  __global uint* row = out + i * 12;
  row[0] = reversed(a[i]);
  row[1] = extracted(a[i], position, length);
  row[2] = (uint)extracted_signed((int)a[i], position, length);
  row[3] = inserted(a[i], b[i], position, length);
  row[4] = highest(a[i]);
  row[5] = highest_signed((int)a[i]);
  row[6] = permuted(a[i], b[i], (uint)p[i] << 8 | n[i]);
  row[7] = funnel_right_clamped(a[i], b[i], position);
  row[8] = funnel_left_wrapped(a[i], b[i], position);
  row[9] = shift_left(a[i], position);
  row[10] = (uint)shift_right((int)a[i], position);
  row[11] = (uint)(reversed_long((ulong)a[i] << 32 | b[i]) >> 13);
}

//@ logic_tables 512 64 in:uint:512 in:uint:512 in:uint:512 out:uint:512*8
__kernel void logic_tables(__global const uint* a, __global const uint* b, __global const uint* c,
                           __global uint* out) {
  const size_t i = get_global_id(0);
  __global uint* row = out + i * 8;
  row[0] = LOGIC(a[i], b[i], c[i], 0x96);
  row[1] = LOGIC(a[i], b[i], c[i], 0xe8);
  row[2] = LOGIC(a[i], b[i], c[i], 0x1d);
  row[3] = LOGIC(a[i], b[i], c[i], 0x02);
  row[4] = LOGIC(a[i], b[i], c[i], 0xb4);
  row[5] = LOGIC(a[i], b[i], c[i], 0x6f);
  row[6] = LOGIC(a[i], b[i], c[i], 0x40);
  row[7] = LOGIC(a[i], b[i], c[i], 0xd3);
}

//@ dot_products 512 64 in:int:512 in:int:512 in:int:512 out:int:512*3
__kernel void dot_products(__global const int* a, __global const int* b, __global const int* c, __global int* out) {
  const size_t i = get_global_id(0);
  out[i * 3] = dot4(a[i], b[i], c[i]);
  out[i * 3 + 1] = dot4_mixed((uint)a[i], b[i], c[i]);
  out[i * 3 + 2] = dot2_high(a[i], b[i], c[i]);
}

// Sums and differences of 128 bits: add.cc and addc, sub.cc and subc
//@ carry_chains 512 64 in:uint:2048 in:uint:2048 out:uint:512*8
__kernel void carry_chains(__global const uint4* a, __global const uint4* b, __global uint4* out) {
  const size_t i = get_global_id(0);
  const uint4 x = a[i], y = b[511 - i];
  uint4 sum, difference;
#ifdef __NVPTX__
  __asm__("add.cc.u32 %0, %4, %8;\n\taddc.cc.u32 %1, %5, %9;\n\taddc.cc.u32 %2, %6, %10;\n\taddc.u32 %3, %7, %11;"
          : "=&r"(sum.x), "=&r"(sum.y), "=&r"(sum.z), "=r"(sum.w)
          : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w));
  __asm__("sub.cc.u32 %0, %4, %8;\n\tsubc.cc.u32 %1, %5, %9;\n\tsubc.cc.u32 %2, %6, %10;\n\tsubc.u32 %3, %7, %11;"
          : "=&r"(difference.x), "=&r"(difference.y), "=&r"(difference.z), "=r"(difference.w)
          : "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w), "r"(y.x), "r"(y.y), "r"(y.z), "r"(y.w));
#else
  ulong carry = 0;
  long borrow = 0;
  uint u[4], v[4];
  const uint p[4] = {x.x, x.y, x.z, x.w}, q[4] = {y.x, y.y, y.z, y.w};
  for (int k = 0; k < 4; ++k) {
    carry += (ulong)p[k] + q[k];
    u[k] = (uint)carry;
    carry >>= 32;
    borrow += (long)p[k] - q[k];
    v[k] = (uint)borrow;
    borrow >>= 32;
  }
  sum = (uint4)(u[0], u[1], u[2], u[3]);
  difference = (uint4)(v[0], v[1], v[2], v[3]);
#endif
  out[i * 2] = sum;
  out[i * 2 + 1] = difference;
}

// A warp's exchanges, votes, matches and reductions; a group is a warp.
//@ warp_operations 256 32 in:uint:256 in:uchar:256 out:uint:256*12
__kernel void warp_operations(__global const uint* a, __global const uchar* b, __global uint* out) {
  const size_t i = get_global_id(0);
  const uint x = a[i], y = b[i] & 3;
  __global uint* row = out + i * 12;
#ifdef __NVPTX__
#define SHUFFLE(MODE, LANE, BOUND)                                                                           \
  ({                                                                                                         \
    uint r;                                                                                                  \
    __asm__ __volatile__("shfl.sync." MODE ".b32 %0, %1, %2, " BOUND ", -1;" : "=r"(r) : "r"(x), "r"(LANE)); \
    r;                                                                                                       \
  })
#define REDUCE(OPERATION)                                                            \
  ({                                                                                 \
    uint r;                                                                          \
    __asm__ __volatile__("redux.sync." OPERATION " %0, %1, -1;" : "=r"(r) : "r"(x)); \
    r;                                                                               \
  })
#define VOTE(MODE)                                                                           \
  ({                                                                                         \
    uint r;                                                                                  \
    __asm__ __volatile__("{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %1, 0;\n\tvote.sync." MODE \
                         ".pred q, p, -1;\n\tselp.u32 %0, 1, 0, q;\n\t}"                     \
                         : "=r"(r)                                                           \
                         : "r"(y));                                                          \
    r;                                                                                       \
  })
  row[0] = SHUFFLE("idx", x & 31, "31");
  row[1] = SHUFFLE("up", 3u, "0");
  row[2] = SHUFFLE("down", y, "31");
  row[3] = SHUFFLE("bfly", 5u, "31");
  row[4] = SHUFFLE("down", 2u, "0x181f");  // within eights
  __asm__ __volatile__("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\tvote.sync.ballot.b32 %0, p, -1;\n\t}"
                       : "=r"(row[5])
                       : "r"(y));
  row[6] = VOTE("any") | VOTE("all") << 1 | VOTE("uni") << 2;
  __asm__ __volatile__("match.any.sync.b32 %0, %1, -1;" : "=r"(row[7]) : "r"(y));
  row[8] = REDUCE("add.u32");
  row[9] = REDUCE("max.s32");
  row[10] = REDUCE("xor.b32");
  row[11] = REDUCE("min.u32") ^ REDUCE("and.b32") ^ REDUCE("or.b32");
#else
  const uint lane = get_local_id(0);
  __local uint xs[32], ys[32];
  xs[lane] = x;
  ys[lane] = y;
  barrier(CLK_LOCAL_MEM_FENCE);
  row[0] = xs[x & 31];
  row[1] = lane < 3 ? x : xs[lane - 3];
  row[2] = lane + y > 31 ? x : xs[lane + y];
  row[3] = xs[lane ^ 5];
  row[4] = (lane & 7) + 2 > 7 ? x : xs[lane + 2];
  uint ballot = 0, equal = 0, sum = 0, exclusive = 0, least = UINT_MAX, all_of = UINT_MAX, any_of = 0;
  int most = INT_MIN;
  for (uint k = 0; k < 32; ++k) {
    ballot |= (uint)(ys[k] != 0) << k;
    equal |= (uint)(ys[k] == y) << k;
    sum += xs[k];
    exclusive ^= xs[k];
    least = min(least, xs[k]);
    all_of &= xs[k];
    any_of |= xs[k];
    most = max(most, (int)xs[k]);
  }
  row[5] = ballot;
  row[6] = (uint)(ballot != 0) | (uint)(ballot == UINT_MAX) << 1 | (uint)(ballot == 0 || ballot == UINT_MAX) << 2;
  row[7] = equal;
  row[8] = sum;
  row[9] = (uint)most;
  row[10] = exclusive;
  row[11] = least ^ all_of ^ any_of;
#endif
}
