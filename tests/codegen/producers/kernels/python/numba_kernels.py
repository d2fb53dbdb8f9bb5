"""Kernels in Python for Numba:  numba_kernels.py KERNEL CAPABILITY OUT.ptx  compiles one, without a GPU; --list names them."""
import math
import sys

from numba import cuda, types

KERNELS = {}
f32, f64, i32, i64, u8 = types.float32, types.float64, types.int32, types.int64, types.uint8


def kernel(*signature):
    def add(function):
        KERNELS[function.__name__] = function, signature
        return function
    return add


@kernel(f32, f32[::1], f32[::1])
def axpy(a, x, y):
    i = cuda.grid(1)
    while i < y.shape[0]:
        y[i] += a * x[i]
        i += cuda.gridsize(1)


# Arrays with any strides, as slices of others have.
@kernel(f32, f32[:], f32[:])
def axpy_strided(a, x, y):
    for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
        y[i] += a * x[i]


@kernel(f64[:, ::1], f64[:, ::1], f64[:, ::1])
def matrix_product(a, b, c):
    row, column = cuda.grid(2)
    if row < c.shape[0] and column < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


@kernel(f32[:, ::1], f32[:, ::1], f32[:, ::1])
def matrix_product_tiled(a, b, c):
    x_tile = cuda.shared.array((16, 16), f32)
    y_tile = cuda.shared.array((16, 16), f32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = f32(0)
    for tile in range((a.shape[1] + 15) // 16):
        x_tile[ty, tx] = a[row, tile * 16 + tx] if row < a.shape[0] and tile * 16 + tx < a.shape[1] else f32(0)
        y_tile[ty, tx] = b[tile * 16 + ty, column] if column < b.shape[1] and tile * 16 + ty < b.shape[0] else f32(0)
        cuda.syncthreads()
        for k in range(16):
            total += x_tile[ty, k] * y_tile[k, tx]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


# A flat index taken apart as Python does, with rounding towards minus infinity.
@kernel(f32[::1], f32[::1], i32, i32, i32)
def permute(values, out, channels, height, width):
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        x = i % width
        y = i // width % height
        c = i // width // height
        out[(y * width + x) * channels + c] = values[i]


@kernel(i32[::1], i32[::1], i32, i32)
def histogram(values, bins, low, width):
    i = cuda.grid(1)
    if i < values.size:
        place = (values[i] - low) // width
        if 0 <= place < bins.size:
            cuda.atomic.add(bins, place, 1)


@kernel(f32[:, ::1], f32[:, ::1])
def softmax_rows(values, out):
    row = cuda.grid(1)
    if row >= values.shape[0]:
        return
    most = values[row, 0]
    for j in range(1, values.shape[1]):
        most = max(most, values[row, j])
    total = f32(0)
    for j in range(values.shape[1]):
        total += math.exp(values[row, j] - most)
    for j in range(values.shape[1]):
        out[row, j] = math.exp(values[row, j] - most) / total


@kernel(f64[::1], f64[::1], f64[:, ::1])
def local_polynomials(points, weights, out):
    i = cuda.grid(1)
    if i >= points.size:
        return
    values = cuda.local.array(6, f64)
    values[0] = 1.0
    values[1] = points[i]
    for k in range(2, 6):
        values[k] = ((2 * k - 1) * points[i] * values[k - 1] - (k - 1) * values[k - 2]) / k
    for k in range(6):
        out[i, k] = weights[i] * values[k]


@kernel(f32[:, ::1], f32[:, ::1], f32)
def heat_step(values, out, rate):
    i, j = cuda.grid(2)
    if 1 <= i < values.shape[0] - 1 and 1 <= j < values.shape[1] - 1:
        around = values[i - 1, j] + values[i + 1, j] + values[i, j - 1] + values[i, j + 1]
        out[i, j] = values[i, j] + rate * (around - 4 * values[i, j])


@kernel(f64, f64, f64, f64, u8[:, ::1], i32)
def mandelbrot(left, right, bottom, top, image, most):
    height, width = image.shape
    start_x, start_y = cuda.grid(2)
    step_x, step_y = cuda.gridsize(2)
    for x in range(start_x, width, step_x):
        real = left + x * (right - left) / width
        for y in range(start_y, height, step_y):
            c = complex(real, bottom + y * (top - bottom) / height)
            z = 0.0j
            count = most
            for k in range(most):
                z = z * z + c
                if z.real * z.real + z.imag * z.imag >= 4:
                    count = k
                    break
            image[y, x] = count


@kernel(f32[::1], f32[::1])
def block_sums(values, sums):
    partial = cuda.shared.array(256, f32)
    t = cuda.threadIdx.x
    total = f32(0)
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        total += values[i]
    partial[t] = total
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            partial[t] += partial[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = partial[0]


@kernel(i32[::1], i32[::1], f32[::1], f32[::1], f32[::1])
def sparse_product(starts, columns, values, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = f32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


@kernel(f32[:, :, ::1], f32[:, :, ::1], f32)
def normalize_pixels(image, out, epsilon):
    for y in range(cuda.blockIdx.x, image.shape[0], cuda.gridDim.x):
        for x in range(cuda.threadIdx.x, image.shape[1], cuda.blockDim.x):
            total = f32(0)
            for c in range(image.shape[2]):
                total += image[y, x, c] * image[y, x, c]
            for c in range(image.shape[2]):
                out[y, x, c] = image[y, x, c] / math.sqrt(total + epsilon)


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(KERNELS))
        return
    name, capability, out = sys.argv[1:]
    function, signature = KERNELS[name]
    ptx, _ = cuda.compile_ptx(function, signature, cc=(int(capability[:-1]), int(capability[-1])))
    with open(out, "w") as file:
        file.write(ptx)


main()
