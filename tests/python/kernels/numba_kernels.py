"""Kernels compiled by numba-cuda for named targets without a GPU, for tests/python/clients.py.

  python numba_kernels.py CAPABILITY...

By cuda.compile_ptx, and to a cubin as for a launch, with link-time optimization and without.
"""
import sys

import numba.cuda.compiler as compiler
from numba import cuda, float32, int32


def row_sums(out, x, n, factor):
    row = cuda.grid(1)
    total = factor
    for column in range(n):
        total += x[row * n + column] * factor
    out[row] = total


libraries = []
compile_cuda = compiler.compile_cuda


def noting(*arguments, **named):
    made = compile_cuda(*arguments, **named)
    libraries.append(made.library)
    return made


compiler.compile_cuda = noting
for capability in map(int, sys.argv[1:]):
    cc = (capability // 10, capability % 10)
    for lto in (False, True):
        cuda.compile_ptx(row_sums, (float32[::1], float32[::1], int32, float32), cc=cc)
        library = libraries[-1]
        library._lto = lto
        cubin = library.get_cubin(cc=cc)
        assert cubin.code if hasattr(cubin, "code") else cubin
        print(capability, "lto" if lto else "no lto")
