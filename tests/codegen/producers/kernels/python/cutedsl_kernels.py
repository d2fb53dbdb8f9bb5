"""Kernels for CuTe DSL:  cutedsl_kernels.py KERNEL CAPABILITY OUT.ptx  compiles one, without a GPU; --list names them."""
import os
import sys
import tempfile

FOLDER = tempfile.TemporaryDirectory()
os.environ["CUTE_DSL_DUMP_DIR"] = FOLDER.name  # read, like the next, when the package is imported
os.environ["CUTE_DSL_ARCH"] = f"sm_{sys.argv[2] if len(sys.argv) > 3 else '90a'}"

import cutlass  # noqa: E402
import cutlass.cute as cute  # noqa: E402
from cutlass import Float32, Int32  # noqa: E402
from cutlass.cute.runtime import make_fake_compact_tensor  # noqa: E402

KERNELS = {}
THREADS = 128


def kernel(*signature):
    """`signature`: the types of the arguments; [type, ...] is a tensor with that many axes, of sizes that are not known."""
    def add(function):
        KERNELS[function.__name__] = function, signature
        return function
    return add


@cute.kernel
def axpy_device(a: Float32, x: cute.Tensor, y: cute.Tensor):
    i = cute.arch.block_idx()[0] * THREADS + cute.arch.thread_idx()[0]
    while i < cute.size(x):
        y[i] = a * x[i] + y[i]
        i += cute.arch.grid_dim()[0] * THREADS


@kernel(Float32, [Float32], [Float32])
@cute.jit
def axpy(a: Float32, x: cute.Tensor, y: cute.Tensor):
    axpy_device(a, x, y).launch(grid=(64, 1, 1), block=(THREADS, 1, 1))


@cute.kernel
def row_sums_device(x: cute.Tensor, y: cute.Tensor):
    row = cute.arch.block_idx()[0] * THREADS + cute.arch.thread_idx()[0]
    if row < x.shape[0]:
        total = Float32(0.0)
        for column in range(x.shape[1]):
            total += x[row, column] / Float32(column + 1)
        y[row] = total


@kernel([Float32, Float32], [Float32])
@cute.jit
def row_sums(x: cute.Tensor, y: cute.Tensor):
    row_sums_device(x, y).launch(grid=(cute.ceil_div(x.shape[0], THREADS), 1, 1), block=(THREADS, 1, 1))


@cute.kernel
def softmax_rows_device(x: cute.Tensor, out: cute.Tensor):
    row = cute.arch.block_idx()[0] * THREADS + cute.arch.thread_idx()[0]
    if row < x.shape[0]:
        most = x[row, 0]
        for column in range(1, x.shape[1]):
            most = cutlass.max(most, x[row, column])
        total = Float32(0.0)
        for column in range(x.shape[1]):
            total += cute.math.exp(x[row, column] - most)
        for column in range(x.shape[1]):
            out[row, column] = cute.math.exp(x[row, column] - most) / total


@kernel([Float32, Float32], [Float32, Float32])
@cute.jit
def softmax_rows(x: cute.Tensor, out: cute.Tensor):
    softmax_rows_device(x, out).launch(grid=(cute.ceil_div(x.shape[0], THREADS), 1, 1), block=(THREADS, 1, 1))


@cute.kernel
def matrix_product_device(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    column = cute.arch.block_idx()[0] * 16 + cute.arch.thread_idx()[0]
    row = cute.arch.block_idx()[1] * 16 + cute.arch.thread_idx()[1]
    if row < c.shape[0] and column < c.shape[1]:
        total = Float32(0.0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


@kernel([Float32, Float32], [Float32, Float32], [Float32, Float32])
@cute.jit
def matrix_product(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    matrix_product_device(a, b, c).launch(grid=(cute.ceil_div(c.shape[1], 16), cute.ceil_div(c.shape[0], 16), 1), block=(16, 16, 1))


# A flat index taken apart.
@cute.kernel
def permute_device(x: cute.Tensor, out: cute.Tensor, channels: Int32, height: Int32, width: Int32):
    i = cute.arch.block_idx()[0] * THREADS + cute.arch.thread_idx()[0]
    while i < cute.size(x):
        column = i % width
        row = i // width % height
        channel = i // width // height
        out[(row * width + column) * channels + channel] = x[i]
        i += cute.arch.grid_dim()[0] * THREADS


@kernel([Float32], [Float32], Int32, Int32, Int32)
@cute.jit
def permute(x: cute.Tensor, out: cute.Tensor, channels: Int32, height: Int32, width: Int32):
    permute_device(x, out, channels, height, width).launch(grid=(64, 1, 1), block=(THREADS, 1, 1))


def argument(type_):
    if isinstance(type_, list):
        return make_fake_compact_tensor(type_[0], tuple(cute.sym_int() for _ in type_), stride_order=tuple(reversed(range(len(type_)))))
    return type_(1)


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(KERNELS))
        return
    name, _, out = sys.argv[1:]
    function, signature = KERNELS[name]
    with open(out, "w") as file:
        file.write(cute.compile[cute.KeepPTX](function, *map(argument, signature)).__ptx__)


if __name__ == "__main__":
    main()
