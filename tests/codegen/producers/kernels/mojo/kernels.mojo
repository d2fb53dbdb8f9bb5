# Kernels for Mojo, which mojo_kernels.py compiles; main names those that are to be compiled.
from max.gpu import global_idx
from max.gpu.host import DeviceContext

comptime Floats = Pointer[Float32, MutAnyOrigin]


# A matrix product with a thread for each element.
def matrix_product(a: Floats, b: Floats, c: Floats, rows: Int32, columns: Int32, depth: Int32):
    var column = Int32(global_idx.x)
    var row = Int32(global_idx.y)
    if row < rows and column < columns:
        var total = Float32(0)
        for k in range(depth):
            total += a[unsafe_offset=Int(row * depth + k)] * b[unsafe_offset=Int(k * columns + column)]
        c[unsafe_offset=Int(row * columns + column)] = total


# A flat index taken apart.
def permute(x: Floats, y: Floats, channels: Int32, height: Int32, width: Int32):
    var i = Int32(global_idx.x)
    if i < channels * height * width:
        var column = i % width
        var row = i // width % height
        var channel = i // width // height
        y[unsafe_offset=Int((row * width + column) * channels + channel)] = x[unsafe_offset=Int(i)]


# Sums of rows, divided element by element.
def row_sums(x: Floats, y: Floats, rows: Int32, columns: Int32):
    var row = Int32(global_idx.x)
    if row < rows:
        var total = Float32(0)
        for column in range(columns):
            total += x[unsafe_offset=Int(row * columns + column)] / Float32(column + 1)
        y[unsafe_offset=Int(row)] = total


def main() raises:
    with DeviceContext() as context:
        var x = context.enqueue_create_buffer[DType.float32](1024)
        var y = context.enqueue_create_buffer[DType.float32](1024)
        var z = context.enqueue_create_buffer[DType.float32](1024)
        var a = x.unsafe_ptr()
        var b = y.unsafe_ptr()
        var c = z.unsafe_ptr()
        context.enqueue_function[matrix_product](a, b, c, Int32(4), Int32(4), Int32(4), grid_dim=1, block_dim=32)
        context.enqueue_function[permute](a, b, Int32(4), Int32(4), Int32(4), grid_dim=1, block_dim=32)
        context.enqueue_function[row_sums](a, b, Int32(4), Int32(4), grid_dim=1, block_dim=32)
