"""A program of Triton with launches and without PyTorch, for `ptxopt emulate` (tests/python/clients.py): scaled rows.

  python triton_emulated.py [WIDTH]
"""
import ctypes
import sys

import numpy as np
import triton
import triton.language as tl

driver = ctypes.CDLL("libcuda.so.1")
active = triton.runtime.driver.active  # it makes a context


class Array:
    """Memory of the device with what a NumPy array holds; Triton asks for dtype and data_ptr()."""

    def __init__(self, values):
        self.values, self.dtype, self.address = values, "fp32", ctypes.c_uint64()
        assert driver.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(values.nbytes)) == 0
        assert driver.cuMemcpyHtoD_v2(self.address, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(values.nbytes)) == 0

    def data_ptr(self):
        return self.address.value

    def get(self):
        place = self.values.ctypes.data_as(ctypes.c_void_p)
        assert driver.cuMemcpyDtoH_v2(place, self.address, ctypes.c_size_t(self.values.nbytes)) == 0
        return self.values


@triton.jit
def scale_rows(out, x, factors, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, width, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < width
        tl.store(out + row * width + at, tl.load(x + row * width + at, mask) * tl.load(factors + row), mask)


width = int(sys.argv[1]) if len(sys.argv) > 1 else 700
x = np.random.default_rng(7).random((4, width), dtype=np.float32)
factors = np.arange(1, 5, dtype=np.float32)
out = Array(np.zeros((4, width), np.float32))
scale_rows[(4,)](out, Array(x.copy()), Array(factors), width, BLOCK=256)
assert np.array_equal(out.get(), x * factors[:, None])
print("passed")
