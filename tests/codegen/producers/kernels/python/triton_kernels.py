"""Kernels for Triton:  triton_kernels.py KERNEL CAPABILITY OUT.ptx  compiles one, without a GPU; --list names them."""
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

KERNELS = {}
PTX_VERSION = 88


def kernel(constants=None, **signature):
    """`constants`: the compile-time ones; the others with their types, all pointers divisible by 16 as the launcher sees it."""
    def add(function):
        KERNELS[function.__name__] = function, signature, constants or {}
        return triton.jit(function)
    return add


@kernel(dict(BLOCK=1024), x="*fp32", y="*fp32", out="*fp32", count="i32")
def add_vectors(x, y, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    tl.store(out + at, tl.load(x + at, mask) + tl.load(y + at, mask), mask)


@kernel(dict(BLOCK=256), out="*fp32", x="*fp32", width="i32", stride="i32")
def softmax_rows(out, x, width, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    most = tl.full([BLOCK], float("-inf"), tl.float32)
    for start in range(0, width, BLOCK):
        at = start + tl.arange(0, BLOCK)
        most = tl.maximum(most, tl.load(x + row * stride + at, at < width, other=float("-inf")))
    top = tl.max(most, 0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, width, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.exp(tl.load(x + row * stride + at, at < width, other=float("-inf")) - top)
    whole = tl.sum(total, 0)
    for start in range(0, width, BLOCK):
        at = start + tl.arange(0, BLOCK)
        tl.store(out + row * stride + at, tl.exp(tl.load(x + row * stride + at, at < width) - top) / whole, at < width)


@kernel(dict(BLOCK=256), x="*fp16", out="*fp16", weight="*fp16", bias="*fp16", width="i32", epsilon="fp32")
def layer_norm(x, out, weight, bias, width, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * width
    out += row * width
    sums = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, width, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = tl.load(x + at, at < width, other=0.0).to(tl.float32)
        sums += value
        squares += value * value
    mean = tl.sum(sums, 0) / width
    scale = 1.0 / tl.sqrt(tl.sum(squares, 0) / width - mean * mean + epsilon)
    for start in range(0, width, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < width
        value = tl.load(x + at, mask, other=0.0).to(tl.float32)
        tl.store(out + at, (value - mean) * scale * tl.load(weight + at, mask) + tl.load(bias + at, mask), mask)


@kernel(dict(M=64, N=64, K=32, GROUP=8), a="*fp16", b="*fp16", c="*fp16", m="i32", n="i32", k="i32", stride_a="i32", stride_b="i32",
        stride_c="i32")
def matrix_product(a, b, c, m, n, k, stride_a, stride_b, stride_c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
                   GROUP: tl.constexpr):
    program = tl.program_id(0)
    tiles_n = tl.cdiv(n, N)
    first = program // (GROUP * tiles_n) * GROUP
    height = min(tl.cdiv(m, M) - first, GROUP)
    tile_m = first + program % (GROUP * tiles_n) % height
    tile_n = program % (GROUP * tiles_n) // height
    rows = (tile_m * M + tl.arange(0, M)) % m
    columns = (tile_n * N + tl.arange(0, N)) % n
    depth = tl.arange(0, K)
    from_a = a + rows[:, None] * stride_a + depth[None, :]
    from_b = b + depth[:, None] * stride_b + columns[None, :]
    total = tl.zeros((M, N), tl.float32)
    for step in range(0, tl.cdiv(k, K)):
        x = tl.load(from_a, mask=depth[None, :] < k - step * K, other=0.0)
        y = tl.load(from_b, mask=depth[:, None] < k - step * K, other=0.0)
        total = tl.dot(x, y, total)
        from_a += K
        from_b += K * stride_b
    row = tile_m * M + tl.arange(0, M)
    column = tile_n * N + tl.arange(0, N)
    tl.store(c + row[:, None] * stride_c + column[None, :], total.to(tl.float16), (row[:, None] < m) & (column[None, :] < n))


@kernel(dict(BLOCK=256), x="*fp32", bias="*fp32", out="*fp32", count="i32", channels="i32", area="i32")
def channel_bias(x, bias, out, count, channels, area, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, count, step):
        at = start + tl.arange(0, BLOCK)
        mask = at < count
        tl.store(out + at, tl.load(x + at, mask) + tl.load(bias + at // area % channels, mask), mask)


@kernel(dict(BLOCK=128), image="*fp32", out="*fp32", channels="i32", height="i32", width="i32", size="i32", pad="i32")
def image_to_columns(image, out, channels, height, width, size, pad, BLOCK: tl.constexpr):
    rows = channels * size * size
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    y = place // width
    x = place % width
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        c = row // (size * size)
        dy = row // size % size - pad
        dx = row % size - pad
        inside = (y + dy >= 0) & (y + dy < height) & (x + dx >= 0) & (x + dx < width)
        value = tl.load(image + (c * height + y + dy) * width + x + dx, inside, other=0.0)
        tl.store(out + row * height * width + place, value, place < height * width)


@kernel(dict(BLOCK=128), ids="*i64", table="*fp16", out="*fp16", width="i32")
def embedding(ids, table, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    from_row = tl.load(ids + row)
    for start in range(0, width, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < width
        tl.store(out + row * width + at, tl.load(table + from_row * width + at, mask), mask)


@kernel(dict(HALF=64), q="*fp16", cosines="*fp32", sines="*fp32", length="i32", heads="i32")
def rotary(q, cosines, sines, length, heads, HALF: tl.constexpr):
    program = tl.program_id(0)
    place = program // heads % length
    at = tl.arange(0, HALF)
    base = q + program * 2 * HALF
    low = tl.load(base + at).to(tl.float32)
    high = tl.load(base + HALF + at).to(tl.float32)
    c = tl.load(cosines + place * HALF + at)
    s = tl.load(sines + place * HALF + at)
    tl.store(base + at, (low * c - high * s).to(tl.float16))
    tl.store(base + HALF + at, (high * c + low * s).to(tl.float16))


@kernel(dict(BLOCK=256), packed="*u8", scales="*fp16", out="*fp16", count="i32", group="i32")
def unpack_nibbles(packed, scales, out, count, group, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    pair = tl.load(packed + at // 2, mask, other=0)
    nibble = tl.where(at % 2 == 0, pair & 15, pair >> 4).to(tl.int32) - 8
    tl.store(out + at, nibble.to(tl.float16) * tl.load(scales + at // group, mask), mask)


@kernel(dict(BLOCK=32), x="*fp32", out="*fp32", rows="i32", columns="i32", stride_x="i64", stride_out="i64")
def transposed(x, out, rows, columns, stride_x, stride_out, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (row[:, None] < rows) & (column[None, :] < columns)
    tile = tl.load(x + row[:, None] * stride_x + column[None, :], mask)
    tl.store(out + column[:, None] * stride_out + row[None, :], tl.trans(tile), tl.trans(mask))


@kernel(dict(BLOCK=256), x="*fp32", out="*fp32", width="i32")
def prefix_sums(x, out, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = 0.0
    for start in range(0, width, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums = tl.cumsum(tl.load(x + row * width + at, at < width, other=0.0), 0) + carry
        tl.store(out + row * width + at, sums, at < width)
        carry = tl.max(tl.where(at == start + BLOCK - 1, sums, float("-inf")), 0)


@kernel(dict(M=64, N=32, D=64), q="*fp16", k="*fp16", v="*fp16", out="*fp16", length="i32", heads="i32", group="i32", scale="fp32")
def attention(q, k, v, out, length, heads, group, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1) % heads
    batch = tl.program_id(1) // heads
    rows = tl.program_id(0) * M + tl.arange(0, M)
    depth = tl.arange(0, D)
    base_q = (batch * heads + head) * length * D
    base_k = (batch * (heads // group) + head // group) * length * D
    x = tl.load(q + base_q + rows[:, None] * D + depth[None, :], rows[:, None] < length, other=0.0)
    most = tl.full([M], float("-inf"), tl.float32)
    total = tl.zeros([M], tl.float32)
    sums = tl.zeros([M, D], tl.float32)
    for start in range(0, length, N):
        columns = start + tl.arange(0, N)
        y = tl.load(k + base_k + columns[:, None] * D + depth[None, :], columns[:, None] < length, other=0.0)
        scores = tl.where(columns[None, :] < length, tl.dot(x, tl.trans(y)) * scale, float("-inf"))
        higher = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp(scores - higher[:, None])
        shrink = tl.exp(most - higher)
        total = total * shrink + tl.sum(weights, 1)
        z = tl.load(v + base_k + columns[:, None] * D + depth[None, :], columns[:, None] < length, other=0.0)
        sums = tl.dot(weights.to(tl.float16), z, sums * shrink[:, None])
        most = higher
    tl.store(out + base_q + rows[:, None] * D + depth[None, :], (sums / total[:, None]).to(tl.float16), rows[:, None] < length)


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(KERNELS))
        return
    name, capability, out = sys.argv[1:]
    function, signature, constants = KERNELS[name]
    types = {**signature, **{constant: "constexpr" for constant in constants}}
    aligned = {(place,): [["tt.divisibility", 16]] for place, kind in enumerate(signature.values()) if kind.startswith("*")}
    source = ASTSource(fn=triton.jit(function), signature=types, constexprs=constants, attrs=aligned)
    # Triton's own ptxas may be newer than the one here.
    compiled = triton.compile(source, target=GPUTarget("cuda", int(capability), 32), options={"ptx_version": PTX_VERSION})
    with open(out, "w") as file:
        file.write(compiled.asm["ptx"])


main()
