// Atomic functions whose outcome does not depend on the order of the work items.
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif

//@ for T in int uint: atomics_global_$T 512 64 in:$T:512 inout:$T:16:zero
#define GLOBAL_ATOMICS(T)                                                  \
  __kernel void atomics_global_##T(__global const T* a, __global T* out) { \
    const size_t i = get_global_id(0);                                     \
    const T x = a[i];                                                      \
    atomic_add(&out[0], x);                                                \
    atomic_sub(&out[1], x);                                                \
    atomic_inc(&out[2]);                                                   \
    atomic_dec(&out[3]);                                                   \
    atomic_min(&out[4], x);                                                \
    atomic_max(&out[5], x);                                                \
    atomic_and(&out[6], x | (T)0xff);                                      \
    atomic_or(&out[7], x&(T)0x00ff00ff);                                   \
    atomic_xor(&out[8], x);                                                \
    atomic_add(&out[9 + (i & 3)], (T)i);                                   \
    atomic_cmpxchg(&out[13], (T)0, (T)77);                                 \
    if (i == 300) atomic_xchg(&out[14], x);                                \
  }
GLOBAL_ATOMICS(int)
GLOBAL_ATOMICS(uint)

//@ for T in int uint: atomics_local_$T 512 128 in:$T:512 out:$T:4*9
#define LOCAL_ATOMICS(T)                                                  \
  __kernel void atomics_local_##T(__global const T* a, __global T* out) { \
    __local T cells[9];                                                   \
    const uint t = get_local_id(0);                                       \
    const T x = a[get_global_id(0)];                                      \
    if (t < 9) cells[t] = t == 6 ? (T)-1 : (T)t;                          \
    barrier(CLK_LOCAL_MEM_FENCE);                                         \
    atomic_add(&cells[0], x);                                             \
    atomic_sub(&cells[1], x);                                             \
    atomic_inc(&cells[2]);                                                \
    atomic_dec(&cells[3]);                                                \
    atomic_min(&cells[4], x);                                             \
    atomic_max(&cells[5], x);                                             \
    atomic_and(&cells[6], x | (T)0x3c);                                   \
    atomic_or(&cells[7], x&(T)0x0f0f0f0f);                                \
    atomic_xor(&cells[8], x);                                             \
    barrier(CLK_LOCAL_MEM_FENCE);                                         \
    if (t < 9) out[get_group_id(0) * 9 + t] = cells[t];                   \
  }
LOCAL_ATOMICS(int)
LOCAL_ATOMICS(uint)

// The old values are each number once, whoever gets which: their sums tell.
//@ tickets 512 64 inout:uint:3:zero inout:uint:512:zero
__kernel void tickets(__global uint* counter, __global uint* seen) {
  const uint ticket = atomic_inc(&counter[0]);
  seen[ticket] = ticket * 7u + 1;
  atomic_add(&counter[1], ticket);
  atomic_xor(&counter[2], ticket * ticket);
}

// The sum of what an exchange gives back and leaves is what was put in.
//@ exchange_chain 256 64 in:uint:256 inout:uint:2:zero
__kernel void exchange_chain(__global const uint* a, __global uint* cells) {
  const uint old = atomic_xchg(&cells[0], a[get_global_id(0)]);
  atomic_add(&cells[1], old);
  if (get_global_id(0) == 0) atomic_add(&cells[1], 0);
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_add(&cells[1], atomic_xchg(&cells[0], 0u));
}

// Addition of floats, of whole numbers so that the order does not tell, by compare and exchange
//@ compare_exchange_loop 256 64 in:int:256:range(-1000,1000) inout:int:4:zero
__kernel void compare_exchange_loop(__global const int* a, __global int* sums) {
  const float x = (float)a[get_global_id(0)];
  volatile __global int* cell = &sums[get_global_id(0) & 3];
  int old = *cell;
  for (;;) {
    const int found = atomic_cmpxchg(cell, old, as_int(as_float(old) + x));
    if (found == old) break;
    old = found;
  }
}

//@ for T in long ulong: atomics_64_$T 256 64 in:$T:256 inout:$T:8:zero
#define ATOMICS_64BIT(T)                                               \
  __kernel void atomics_64_##T(__global const T* a, __global T* out) { \
    const T x = a[get_global_id(0)];                                   \
    atom_add(&out[0], x);                                              \
    atom_min(&out[1], x);                                              \
    atom_max(&out[2], x);                                              \
    atom_and(&out[3], x | (T)0xffff);                                  \
    atom_or(&out[4], x&(T)0x00ff00ff00ff00fful);                       \
    atom_xor(&out[5], x);                                              \
    atom_cmpxchg(&out[6], (T)0, (T)99);                                \
    if (get_global_id(0) == 77) atom_xchg(&out[7], x);                 \
  }
ATOMICS_64BIT(long)
ATOMICS_64BIT(ulong)

// A queue in local memory: who pushes takes a place, and the places together hold each value once.
//@ local_queue 256 64 in:int:256 out:int:4*2
__kernel void local_queue(__global const int* a, __global int* out) {
  __local int queue[64], count;
  const uint t = get_local_id(0);
  if (t == 0) count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int x = a[get_global_id(0)];
  if (x & 1) queue[atomic_inc(&count)] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t == 0) {
    uint sum = 0;
    for (int k = 0; k < count; ++k) sum += (uint)queue[k] * (uint)queue[k];
    out[get_group_id(0) * 2] = count;
    out[get_group_id(0) * 2 + 1] = (int)sum;
  }
}
