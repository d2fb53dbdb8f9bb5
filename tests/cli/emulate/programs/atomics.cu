// Every atomic operation, in global and shared memory, of all types and scopes, with results that do not depend on the order.
#include "program.h"

struct Results {
  int add, sub, least, greatest, exchanged, bits[3];
  unsigned unsignedLeast, unsignedGreatest, increased, decreased, swapped;
  unsigned long long wideAdd, wideGreatest, wideBits, wideSwapped;
  long long wideLeast;
  float floatAdd;
  double doubleAdd, doubleSwapped;
  int system, block;
};

__global__ void all(Results* r) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&r->add, i);
  atomicSub(&r->sub, i);
  atomicMin(&r->least, 100 - i);
  atomicMax(&r->greatest, i * 7 % 301);
  if (i == 11) atomicExch(&r->exchanged, 5);
  atomicAnd(&r->bits[0], ~(1 << i % 16));
  atomicOr(&r->bits[1], 1 << i % 24);
  atomicXor(&r->bits[2], i);
  atomicMin(&r->unsignedLeast, 4000000000u - i);
  atomicMax(&r->unsignedGreatest, 4000000000u + i);
  atomicInc(&r->increased, 9);
  atomicDec(&r->decreased, 9);
  atomicCAS(&r->swapped, static_cast<unsigned>(i), static_cast<unsigned>(i) + 1);
  atomicAdd(&r->wideAdd, 1ull << 32 | i);
  atomicMax(&r->wideGreatest, static_cast<unsigned long long>(i) << 40);
  atomicOr(&r->wideBits, 1ull << i % 64);
  atomicMin(&r->wideLeast, -(static_cast<long long>(i) << 33));
  atomicAdd(&r->floatAdd, 0.25f * i);
  atomicAdd(&r->doubleAdd, 0.5 * i);
  atomicAdd_system(&r->system, 1);
  __shared__ int counter;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  atomicAdd_block(&counter, 2);
  __syncthreads();
  if (threadIdx.x == 0) atomicMax(&r->block, counter);
  // What atomics are made of where there is none.
  auto* const place = reinterpret_cast<unsigned long long*>(&r->doubleSwapped);
  unsigned long long old = *reinterpret_cast<volatile unsigned long long*>(place), seen;
  do {
    seen = old;
    old = atomicCAS(place, seen, static_cast<unsigned long long>(__double_as_longlong(__longlong_as_double(seen) + 2.0)));
  } while (old != seen);
}

// A lock around a sum, taken by one thread of a warp at a time.
__global__ void locked(int* lock, int* sum) {
  for (bool isDone = false; !isDone;)
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *reinterpret_cast<volatile int*>(sum) += 1;
      __threadfence();
      atomicExch(lock, 0);
      isDone = true;
    }
}

int main() {
  const int n = 4 * 96;
  Results start{};
  start.least = 1000, start.bits[0] = 0xFFFFFF, start.unsignedLeast = ~0u;
  Results* const device = onDevice(std::vector<Results>{start});
  all<<<4, 96>>>(device);
  LAUNCHED();
  const Results r = onHost(device, 1)[0];
  const int sum = n * (n - 1) / 2;
  int exclusive = 0, greatest = 0;
  for (int i = 0; i < n; ++i) exclusive ^= i, greatest = i * 7 % 301 > greatest ? i * 7 % 301 : greatest;
  EXPECT(r.add == sum && r.sub == -sum && r.least == 100 - (n - 1) && r.greatest == greatest && r.exchanged == 5);
  EXPECT(r.bits[0] == 0xFF0000 && r.bits[1] == 0xFFFFFF && r.bits[2] == exclusive);
  EXPECT(r.unsignedLeast == 4000000000u - (n - 1) && r.unsignedGreatest == 4000000000u + (n - 1));
  EXPECT(r.increased == n % 10 && r.decreased == (10 - n % 10) % 10);
  EXPECT(r.wideAdd == (static_cast<unsigned long long>(n) << 32) + sum);
  EXPECT(r.wideGreatest == static_cast<unsigned long long>(n - 1) << 40 && r.wideBits == ~0ull);
  EXPECT(r.wideLeast == -(static_cast<long long>(n - 1) << 33));
  EXPECT(r.floatAdd == 0.25f * sum && r.doubleAdd == 0.5 * sum && r.doubleSwapped == 2.0 * n);
  EXPECT(r.system == n && r.block == 2 * 96 && r.swapped >= 1 && r.swapped <= n);
  int *lock = zeros<int>(1), *counter = zeros<int>(1);
  locked<<<3, 40>>>(lock, counter);
  LAUNCHED();
  EXPECT(onHost(counter, 1)[0] == 120);
  return passed();
}
