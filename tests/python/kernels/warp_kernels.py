"""A kernel compiled by Warp for named targets without a GPU, for tests/python/clients.py.

  python warp_kernels.py CAPABILITY...
"""
import os
import sys
import tempfile

import warp as wp

wp.config.quiet = True


@wp.kernel
def row_sums(x: wp.array(dtype=float), y: wp.array(dtype=float), n: int):
    row = wp.tid()
    total = float(0.0)
    for column in range(n):
        total += x[row * n + column] / y[column]
    y[row] = total


with tempfile.TemporaryDirectory() as folder:
    wp.config.kernel_cache_dir = folder
    for capability in map(int, sys.argv[1:]):
        wp.compile_aot_module(row_sums.module, arch=capability, module_dir=os.path.join(folder, "made"), use_ptx=True)
    print(sorted(name for name in os.listdir(os.path.join(folder, "made")) if name.endswith(".ptx")))
