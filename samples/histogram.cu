// A histogram with bins of equal width. The helpers are written in PTX, as macros are: they compute more than any one
// caller wants, and the compiler does not look inside.
struct QuotientAndRest {
  unsigned quotient, rest;
};

__device__ QuotientAndRest divide(unsigned x, unsigned y) {
  QuotientAndRest result;
  asm("{\n\t"
      ".reg .u32 product;\n\t"
      "div.u32 %0, %2, %3;\n\t"
      "mul.lo.u32 product, %0, %3;\n\t"
      "sub.u32 %1, %2, product;\n\t"
      "}"
      : "=r"(result.quotient), "=r"(result.rest)
      : "r"(x), "r"(y));
  return result;
}

struct Place {
  unsigned block, threadInGrid, lane, warp;
};

__device__ Place whereAmI() {
  Place p;
  asm("{\n\t"
      ".reg .u32 size, thread;\n\t"
      "mov.u32 %0, %%ctaid.x;\n\t"
      "mov.u32 size, %%ntid.x;\n\t"
      "mov.u32 thread, %%tid.x;\n\t"
      "mad.lo.u32 %1, %0, size, thread;\n\t"
      "and.b32 %2, thread, 31;\n\t"
      "shr.u32 %3, thread, 5;\n\t"
      "}"
      : "=r"(p.block), "=r"(p.threadInGrid), "=r"(p.lane), "=r"(p.warp));
  return p;
}

extern "C" __global__ void histogram(unsigned n, unsigned width, unsigned bins, const unsigned* __restrict__ values,
                                     unsigned* __restrict__ counts) {
  const unsigned i = whereAmI().threadInGrid;
  if (i >= n) return;
  const unsigned bin = divide(values[i], width).quotient;
  if (bin < bins) atomicAdd(&counts[bin], 1);
}
