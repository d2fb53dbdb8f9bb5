// Control flow: loops, divergence, switches, calls; and what a compiler makes of structs, arrays and pointers.

//@ collatz 512 64 in:uint:512 out:uint:512
__kernel void collatz(__global const uint* a, __global uint* out) {
  ulong x = a[get_global_id(0)] % 100000 + 1;
  uint steps = 0;
  while (x != 1 && steps < 1000) {
    x = x & 1 ? 3 * x + 1 : x / 2;
    ++steps;
  }
  out[get_global_id(0)] = steps;
}

//@ mandelbrot 32x32 8x8 out:ushort:1024 int=100
__kernel void mandelbrot(__global ushort* out, int limit) {
  const int cx = ((int)get_global_id(0) * 3 - 64) << 20, cy = ((int)get_global_id(1) * 2 - 32) << 20;
  int x = 0, y = 0, n = 0;  // with 25 bits behind the point
  for (; n < limit; ++n) {
    const long xx = (long)x * x >> 25, yy = (long)y * y >> 25;
    if (xx + yy > 4l << 25) break;
    const int xy = (int)((long)x * y >> 24);
    x = (int)(xx - yy) + cx;
    y = xy + cy;
  }
  out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = (ushort)n;
}

//@ greatest_divisor 512 64 in:uint:512 in:uint:512 out:uint:512
__kernel void greatest_divisor(__global const uint* a, __global const uint* b, __global uint* out) {
  uint x = a[get_global_id(0)], y = b[get_global_id(0)];
  while (y) {
    const uint t = x % y;
    x = y;
    y = t;
  }
  out[get_global_id(0)] = x;
}

//@ nested_breaks 512 64 in:int:512 out:int:512
__kernel void nested_breaks(__global const int* a, __global int* out) {
  const size_t i = get_global_id(0);
  int found = -1, work = 0;
  for (int x = 0; x < 12; ++x) {
    if (((a[i] >> x) & 3) == 2) continue;
    for (int y = 0; y < 9; ++y) {
      ++work;
      if ((x * 7 + y * 5 + (a[i] & 15)) % 31 == 30) {
        found = x * 16 + y;
        break;
      }
      if (work > 60 + (a[i] & 31)) goto done;
    }
    if (found > 64) break;
  }
done:
  out[i] = found * 1000 + work;
}

// A dense switch, which becomes a table of branches, with a case that falls through
//@ switches 1024 64 in:uchar:1024 in:int:1024 out:int:1024
__kernel void switches(__global const uchar* a, __global const int* b, __global int* out) {
  const size_t i = get_global_id(0);
  uint x = (uint)b[i];
  switch (a[i] & 15) {
    case 0: x += 17; break;
    case 1: x ^= 0x5a5a5a5a; break;
    case 2: x = x << 7 | x >> 25; break;
    case 3: x *= 2654435761u;  // falls through
    case 4: x -= 12345; break;
    case 5: x = ~x; break;
    case 6: x = (uint)((int)x >> 5); break;
    case 7: x /= 13; break;
    case 8:
      for (int k = 0; k < 5; ++k) x = x * 5 + 1;
      break;
    case 9: x = x % 1009; break;
    case 10: x &= 0xff00ff; break;
    case 12: x |= 0x80000001; break;
    case 13: x = 0; break;
    default: x = 42 - x;
  }
  switch (x % 1000) {
    case 7: x = 1; break;
    case 421: x = 2; break;
    case 999: x = 3; break;
    default: break;
  }
  out[i] = (int)x;
}

// A little machine that interprets a program, different in every work item
//@ state_machine 256 64 in:uchar:4096 out:int:256
__kernel void state_machine(__global const uchar* code, __global int* out) {
  const size_t i = get_global_id(0);
  uint stack[8], top = 0, pc = 0;
  for (int k = 0; k < 8; ++k) stack[k] = (uint)(i * 11 + k);
  for (int step = 0; step < 100 && pc < 16; ++step) {
    const uchar op = code[i * 16 + pc++];
    const uint x = stack[top & 7], y = stack[(top + 1) & 7];
    switch (op & 7) {
      case 0: stack[++top & 7] = op >> 3; break;
      case 1: stack[++top & 7] = x + y; break;
      case 2: stack[top & 7] = x * y + 1; break;
      case 3: --top; break;
      case 4: pc = (x & 3) ? pc : (op >> 4); break;
      case 5: stack[(x + op) & 7] ^= y; break;
      case 6: stack[top & 7] = x < y ? x - y : y >> (op >> 5); break;
      case 7: pc += op >> 6; break;
    }
  }
  uint hash = top + pc * 131;
  for (int k = 0; k < 8; ++k) hash = hash * 31 + stack[k];
  out[i] = (int)hash;
}

struct Particle {
  float3 position;
  float mass;
  int kind;
  char tag[5];
  double energy;
};

__attribute__((noinline)) struct Particle moved(struct Particle p, float by, int kind) {
  p.position = p.position + (float3)(by, -by, by * 0.5f);
  p.kind ^= kind;
  for (int k = 0; k < 5; ++k) p.tag[k] = (char)(p.tag[k] + k * kind);
  p.energy = p.energy * 0.5 + p.mass;
  return p;
}

#pragma OPENCL FP_CONTRACT OFF
// Structs by value, through calls and arrays
//@ structs 128 32 in:float:512:small in:int:128 out:float:512 out:int:128 out:double:128
__kernel void structs(__global const float* a, __global const int* b, __global float* out, __global int* kinds,
                      __global double* energies) {
  const size_t i = get_global_id(0);
  struct Particle all[3];
  for (int k = 0; k < 3; ++k) {
    all[k].position = (float3)(a[i * 4], a[i * 4 + 1], (float)k);
    all[k].mass = a[i * 4 + 2] + (float)k;
    all[k].kind = b[i] >> k;
    for (int j = 0; j < 5; ++j) all[k].tag[j] = (char)(b[i] >> j * 3);
    all[k].energy = a[i * 4 + 3];
  }
  all[(uint)b[i] % 3] = moved(all[(uint)(b[i] >> 4) % 3], a[i * 4 + 1], b[i]);
  float3 sum = all[0].position + all[1].position * all[2].position;
  out[i * 4] = sum.x, out[i * 4 + 1] = sum.y, out[i * 4 + 2] = sum.z;
  out[i * 4 + 3] = all[0].mass + all[1].mass;
  uint hash = 0;
  for (int k = 0; k < 3; ++k) {
    hash = hash * 33 + (uint)all[k].kind;
    for (int j = 0; j < 5; ++j) hash = hash * 33 + (uchar)all[k].tag[j];
  }
  kinds[i] = (int)hash;
  energies[i] = all[1].energy + all[2].energy;
}

__attribute__((noinline)) int mixed(int a, long b, char c, short d, float e, double f) {
  return (int)((uint)a * 3u + (uint)(b >> 13) + (uint)c * 7u + (uint)d) ^ (int)(e * 4.0f) ^ (int)f;
}

__attribute__((noinline)) void swapped(int* x, int* y) {
  const int t = *x;
  *x = *y;
  *y = t;
}

__attribute__((noinline)) ulong factorial_mod(uint n, ulong modulus) {
  ulong r = 1;
  for (uint k = 2; k <= n; ++k) r = r * k % modulus;
  return r;
}

//@ calls 256 64 in:int:256 in:long:256 in:float:256:small out:int:256*2 out:ulong:256
__kernel void calls(__global const int* a, __global const long* b, __global const float* c, __global int* out,
                    __global ulong* big) {
  const size_t i = get_global_id(0);
  int x = mixed(a[i], b[i], (char)a[i], (short)b[i], c[i], (double)c[i] * 8.0), y = (int)b[i];
  if (x < y) swapped(&x, &y);
  out[i * 2] = x;
  out[i * 2 + 1] = y;
  big[i] = a[i] & 1 ? factorial_mod((uint)a[i] & 31, 1000003) : factorial_mod((uint)b[i] & 15, ULONG_MAX / 16);
}

__attribute__((noinline)) float4 mixed_vectors(int4 a, float4 b, double2 c, short8 d) {
  const float4 sum = (float4)(a.x & 255, a.y & 255, a.z & 255, a.w & 255) + b;
  return sum + (float4)((float)c.x, (float)c.y, (float)d.s1, (float)d.s6);
}

__attribute__((noinline)) ulong3 turned(ulong3 a, uint2 by) { return a.zxy ^ (ulong3)(by.x, by.y, by.x + by.y); }

// A frame that asks for 32 bytes of alignment, below callers' frames of odd sizes
__attribute__((noinline)) long hashed(long4 a, int k) {
  long4 rows[3] = {a, a.wzyx + 1l, a.yxwz ^ 5l};
  rows[k % 3].y += k;
  return rows[(k + 1) % 3].x * 3 + rows[k % 3].y + rows[(k + 2) % 3].w;
}

//@ aligned_frames 64 32 in:long:256 out:long:64
__kernel void aligned_frames(__global const long4* a, __global long* out) {
  const size_t i = get_global_id(0);
  char odd[5];
  for (int k = 0; k < 5; ++k) odd[k] = (char)(i + k);
  out[i] = hashed(a[i], odd[i % 5] & 63) + odd[(i + 2) % 5];
}

// Vectors as parameters and results
//@ vector_calls 128 32 in:int:512 in:float:512:small in:double:256:small in:short:1024 out:float:512
//@@ out:ulong:512:holes3
__kernel void vector_calls(__global const int4* a, __global const float4* b, __global const double2* c,
                           __global const short8* d, __global float4* out, __global ulong3* big) {
  const size_t i = get_global_id(0);
  const float4 x = mixed_vectors(a[i], b[i], c[i], d[i]);
  out[i] = mixed_vectors(a[127 - i].wzyx, x, c[i].yx, d[i]);
  big[i] = turned((ulong3)(a[i].x, a[i].y, i), (uint2)(a[i].z, a[i].w));
}

// Pointers that choose among arrays, and walk
//@ pointers 256 64 in:int:2048 out:int:256
__kernel void pointers(__global const int* a, __global int* out) {
  const size_t i = get_global_id(0);
  int first[8], second[8];
  for (int k = 0; k < 8; ++k) first[k] = a[i * 8 + k], second[7 - k] = a[i * 8 + k] * 5u;
  uint sum = 0;
  for (int *p = a[i * 8] & 1 ? first : second, *end = p + 8; p != end; ++p) sum = sum * 7 + (uint)*p;
  __global const int* q = a + i * 8 + (a[i * 8 + 1] & 7);
  __global const int* r = a + ((i * 37) & 255) * 8;
  sum += (uint)*q * (uint)r[3] + (uint)(q - a);
  out[i] = (int)sum;
}

// The n-queens problem with a stack of its own
//@ queens 64 32 out:int:64
__kernel void queens(__global int* out) {
  const int n = 6, first = (int)get_global_id(0) % 6, second = (int)get_global_id(0) / 6 % 6;
  int column[8], row = 2, found = 0;
  column[0] = first;
  column[1] = second;
  column[2] = -1;
  if (first == second || abs_diff(first, second) == 1) row = -1;
  while (row >= 2) {
    int c = column[row] + 1;
    for (; c < n; ++c) {
      bool fits = true;
      for (int k = 0; k < row && fits; ++k) fits = column[k] != c && (int)abs_diff(column[k], c) != row - k;
      if (fits) break;
    }
    if (c == n) {
      --row;
      continue;
    }
    column[row] = c;
    if (row == n - 1)
      ++found;
    else
      column[++row] = -1;
  }
  out[get_global_id(0)] = found;
}

//@ crc32 128 32 in:uchar:2048 out:uint:128
__kernel void crc32(__global const uchar* a, __global uint* out) {
  uint crc = 0xffffffffu;
  for (int k = 0; k < 16; ++k) {
    crc ^= a[get_global_id(0) * 16 + k];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
  }
  out[get_global_id(0)] = ~crc;
}

//@ generators 256 64 in:uint:256 out:uint:256 out:ulong:256
__kernel void generators(__global const uint* seeds, __global uint* out, __global ulong* wide) {
  const size_t i = get_global_id(0);
  uint x = seeds[i] | 1;
  ulong s = seeds[i];
  for (int k = 0; k < 40 + (int)(i & 7); ++k) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    s = s * 6364136223846793005ul + 1442695040888963407ul;
    s = rotate(s, (ulong)(s >> 59));
  }
  out[i] = x;
  wide[i] = s;
}

// Binary search in sorted numbers: i * i of the place i
//@ binary_search 512 64 in:uint:512 out:int:512 int=1000
__kernel void binary_search(__global const uint* a, __global int* out, int n) {
  const uint wanted = a[get_global_id(0)] % 1100000;
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if ((uint)(middle * middle) < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  out[get_global_id(0)] = low;
}

// The work items of a warp leave one by one, and loops of different lengths follow.
//@ early_returns 512 64 in:int:512 inout:int:512:zero
__kernel void early_returns(__global const int* a, __global int* out) {
  const size_t i = get_global_id(0);
  if (a[i] & 1) return;
  int x = a[i];
  for (int k = 0; k < (int)(i & 31); ++k) {
    x = (int)((uint)x * 3u + 1);
    if ((x & 0x70) == 0x30) return;
    out[i] = x;
  }
  if (i % 3 == 0)
    out[i] += 1;
  else if (i % 3 == 1)
    out[i] = (int)((uint)out[i] * 5u);
}

//@ sieve 16 16 out:uint:16
__kernel void sieve(__global uint* out) {
  uchar composite[256];
  const uint base = get_global_id(0) * 256;
  for (uint k = 0; k < 256; ++k) composite[k] = base + k < 2;
  for (uint p = 2; p * p < base + 256; ++p)
    for (uint m = max(p * p, (base + p - 1) / p * p); m < base + 256; m += p) composite[m - base] = 1;
  uint count = 0, sum = 0;
  for (uint k = 0; k < 256; ++k)
    if (!composite[k]) ++count, sum += base + k;
  out[get_global_id(0)] = sum << 8 | count;
}
