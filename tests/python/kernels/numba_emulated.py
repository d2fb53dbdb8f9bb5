"""A program of Numba with launches, for `ptxopt emulate` (tests/python/clients.py): a product of matrices whose sums are in memory.

  python numba_emulated.py [SIZE]
"""
import sys

import numpy as np
from numba import cuda


@cuda.jit
def product(a, b, c, n):
    column, row = cuda.grid(2)
    if column < n and row < n:
        for k in range(n):
            c[row * n + column] += a[row * n + k] * b[k * n + column]


n = int(sys.argv[1]) if len(sys.argv) > 1 else 32
numbers = np.random.default_rng(7)
a, b = (numbers.random((n, n), dtype=np.float32) for _ in "ab")
c = cuda.to_device(np.zeros(n * n, np.float32))
blocks = (n + 15) // 16
product[(blocks, blocks), (16, 16)](cuda.to_device(a.ravel()), cuda.to_device(b.ravel()), c, np.int32(n))
assert np.allclose(c.copy_to_host().reshape(n, n), a @ b, rtol=1e-4)
print("passed")
