"""Kernels for TileLang:  tilelang_kernels.py KERNEL CAPABILITY OUT.ptx  compiles one, without a GPU; --list names them.

TileLang writes CUDA C++, of which its nvcc makes the PTX.
"""
import sys

import tilelang
import tilelang.language as T
from tilelang.contrib import nvcc

KERNELS = {}


def kernel(function):
    KERNELS[function.__name__] = function
    return function


@kernel
def matrix_product(m=1024, n=1024, k=1024, rows=64, columns=64, depth=32):
    @T.prim_func
    def main(a: T.Tensor((m, k), "float16"), b: T.Tensor((k, n), "float16"), c: T.Tensor((m, n), "float16")):
        with T.Kernel(T.ceildiv(n, columns), T.ceildiv(m, rows), threads=128) as (x, y):
            tile_a = T.alloc_shared((rows, depth), "float16")
            tile_b = T.alloc_shared((depth, columns), "float16")
            total = T.alloc_fragment((rows, columns), "float32")
            T.clear(total)
            for step in T.Pipelined(T.ceildiv(k, depth), num_stages=2):
                T.copy(a[y * rows, step * depth], tile_a)
                T.copy(b[step * depth, x * columns], tile_b)
                T.gemm(tile_a, tile_b, total)
            T.copy(total, c[y * rows, x * columns])
    return main


# A flat index taken apart.
@kernel
def permute(channels=24, height=100, width=36, block=512):
    size = channels * height * width

    @T.prim_func
    def main(x: T.Tensor((size,), "float32"), out: T.Tensor((size,), "float32")):
        with T.Kernel(T.ceildiv(size, block), threads=128) as at:
            for j in T.Parallel(block):
                i = at * block + j
                if i < size:
                    out[(i // width % height * width + i % width) * channels + i // (width * height)] = x[i]
    return main


@kernel
def softmax_rows(rows=1024, columns=512):
    @T.prim_func
    def main(x: T.Tensor((rows, columns), "float32"), out: T.Tensor((rows, columns), "float32")):
        with T.Kernel(rows, threads=128) as row:
            values = T.alloc_fragment((1, columns), "float32")
            most = T.alloc_fragment((1,), "float32")
            total = T.alloc_fragment((1,), "float32")
            T.copy(x[row, 0], values)
            T.reduce_max(values, most, dim=1)
            for i, j in T.Parallel(1, columns):
                values[i, j] = T.exp(values[i, j] - most[i])
            T.reduce_sum(values, total, dim=1)
            for i, j in T.Parallel(1, columns):
                values[i, j] /= total[i]
            T.copy(values, out[row, 0])
    return main


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(KERNELS))
        return
    name, capability, out = sys.argv[1:]
    tilelang.disable_cache()
    made = tilelang.compile(KERNELS[name](), target={"kind": "cuda", "arch": f"sm_{capability}"})
    ptx = nvcc.compile_cuda(made.get_kernel_source(), "ptx", f"sm_{capability}", nvcc.default_compile_options())
    with open(out, "wb") as file:
        file.write(ptx)


main()
