#!/usr/bin/env python3
"""The sample kernels, run by `ptxopt run` and compared with references computed here.

  tests/semantics/exec/samples.py --tool PTXOPT [--filter REGEX] [-j N] [--keep FOLDER]

Integers and what the kernel rounds operation by operation must be equal bit for bit: the reference does the same
operations in the same order, each rounded once. Where a kernel uses an approximate exponential (softmax, attention) the
reference is in double precision and a tolerance stands beside the comparison.
"""
import argparse
import array
import cmath
import concurrent.futures
import hashlib
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
SECONDS = 500
CODES = {"u8": "B", "s32": "i", "u32": "I", "f32": "f", "f64": "d"}


class Wrong(Exception):
    """The tool failed, or its results differ."""


# ---- Arithmetic of f32, each operation rounded once: a double holds the exact product, and a sum, a difference and a
# quotient of floats rounded to double and then to float are as if rounded once.

def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def fma32(a, b, c):
    """a * b + c rounded once: the sum in double is rounded to odd, which a second rounding cannot harm."""
    product = a * b
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)
    if error and not struct.unpack("<Q", struct.pack("<d", total))[0] & 1:
        total = math.nextafter(total, math.inf if error > 0 else -math.inf)
    return f32(total)


def floats(chance, count, low=-1.0, high=1.0):
    return [f32(chance.uniform(low, high)) for _ in range(count)]


# ---- Running

class Run:
    """A sequence of launches of one file's kernels over named buffers."""

    def __init__(self, tool, path, folder):
        self.line, self.folder, self.known, self.buffers = [tool, "run", str(path)], folder, set(), {}

    def buffer(self, name, kind, values):
        """A buffer with its first contents; `values` may be a count of zeros."""
        data = array.array(CODES[kind], [0] * values if isinstance(values, int) else values).tobytes()
        self.buffers[name] = (kind, data)
        (self.folder / f"{name}.in").write_bytes(data)
        return name

    def launch(self, kernel, grid, block, *arguments, shared=0):
        """Arguments are names of buffers, and scalars as the tool spells them."""
        self.line += ["--kernel", kernel, "--grid", ",".join(map(str, grid)), "--block", ",".join(map(str, block))]
        if shared:
            self.line += ["--shared", str(shared)]
        for a in arguments:
            if a in self.buffers and a not in self.known:
                self.known.add(a)
                kind, data = self.buffers[a]
                count = len(data) // array.array(CODES[kind]).itemsize
                a = f"{a}=buf:{kind}:{count}:@{self.folder / a}.in"
            self.line += ["--arg", a]

    def results(self, *names):
        """Runs it all. The contents of these buffers afterwards."""
        line = self.line + [word for name in names for word in ("--dump", f"{name}={self.folder / name}.out")]
        try:
            run = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise Wrong(f"runs for more than {SECONDS} s") from None
        if run.returncode != 0:
            raise Wrong(f"status {run.returncode}: " + " / ".join((run.stderr + run.stdout).split("\n")[:2]))
        contents = []
        for name in names:
            values = array.array(CODES[self.buffers[name][0]])
            values.frombytes((self.folder / f"{name}.out").read_bytes())
            if len(values) * values.itemsize != len(self.buffers[name][1]):
                raise Wrong(f"{name} has {len(values)} elements")
            contents.append(values)
        return contents


def same(got, wanted, what="results"):
    """Equal bit for bit"""
    wanted = array.array(got.typecode, wanted)
    if got.tobytes() == wanted.tobytes():
        return
    bad = [i for i, (a, b) in enumerate(zip(got, wanted)) if struct.pack(got.typecode, a) != struct.pack(got.typecode, b)]
    raise Wrong(f"{len(bad)} of {len(wanted)} {what} differ: [{bad[0]}] is {got[bad[0]]!r}, should be {wanted[bad[0]]!r}")


def close(got, wanted, tolerance, relative_to=None):
    """Within a share of each result, or of `relative_to`"""
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if not abs(a - b) <= tolerance * (abs(b) if relative_to is None else relative_to):
            raise Wrong(f"[{i}] is {a!r}, should be {b!r} within {tolerance}")


def ceiling(a, b):
    return -(-a // b)


# ---- The samples: each function runs one case, of the sizes given

def saxpy(run, chance, n):
    x, y, a = floats(chance, n), floats(chance, n), 1.75
    run.launch("saxpy", (2,), (64,), f"s32:{n}", f"f32:{a}", run.buffer("x", "f32", x), run.buffer("y", "f32", y))
    same(run.results("y")[0], [fma32(a, p, q) for p, q in zip(x, y)])


def product(m, n, k, a, b):
    """Sums of products by fma, in the order of k"""
    result = []
    for row in range(m):
        for column in range(n):
            total = 0.0
            for i in range(k):
                total = fma32(a[row * k + i], b[i * n + column], total)
            result.append(total)
    return result


def matmul(run, chance, n):
    a, b = floats(chance, n * n), floats(chance, n * n)
    run.launch("matmul", (n // 16, n // 16), (16, 16), f"s32:{n}", run.buffer("a", "f32", a), run.buffer("b", "f32", b),
               run.buffer("c", "f32", n * n))
    same(run.results("c")[0], product(n, n, n, a, b))


def gemm(run, chance, m, n, k):
    a, b, c, alpha, beta = floats(chance, m * k), floats(chance, k * n), floats(chance, m * n), 0.75, f32(-0.3)
    run.launch("gemm", (ceiling(n, 32), ceiling(m, 32)), (16, 16), f"s32:{m}", f"s32:{n}", f"s32:{k}", f"f32:{alpha}",
               run.buffer("a", "f32", a), run.buffer("b", "f32", b), f"f32:{beta!r}", run.buffer("c", "f32", c))
    sums = product(m, n, k, a, b)
    same(run.results("c")[0], [fma32(alpha, s, f32(beta * x)) for s, x in zip(sums, c)])


def softmax_rows(rows, columns, x):
    result = []
    for row in range(rows):
        part = x[row * columns:(row + 1) * columns]
        most = max(part)
        powers = [math.exp(v - most) for v in part]
        total = math.fsum(powers)
        result += [p / total for p in powers]
    return result


def softmax(run, chance, rows, columns, block):
    x = floats(chance, rows * columns, -8, 8)
    run.launch("softmax", (rows,), (block,), f"s32:{columns}", run.buffer("in", "f32", x),
               run.buffer("out", "f32", rows * columns))
    # __expf is within 2 + 1.16 |x| units of the last place, of which |x| <= 16 makes 21, or 1.3e-6; the rest is sums.
    close(run.results("out")[0], softmax_rows(rows, columns, x), 1e-5)


def softmax_warp(run, chance, rows, columns):
    x = floats(chance, rows * columns, -8, 8)
    run.launch("softmax", (ceiling(rows, 4),), (32, 4), f"s32:{rows}", f"s32:{columns}", run.buffer("in", "f32", x),
               run.buffer("out", "f32", rows * columns))
    close(run.results("out")[0], softmax_rows(rows, columns, x), 1e-5)  # as above


def scan(run, chance, n, block):
    x = [chance.getrandbits(32) for _ in range(n)]
    blocks = ceiling(n, block)
    run.buffer("in", "u32", x)
    run.buffer("out", "u32", n)
    run.buffer("sums", "u32", blocks)
    run.launch("scan_blocks", (blocks,), (block,), f"s32:{n}", "in", "out", "sums")
    run.launch("scan_sums", (1,), (block,), f"s32:{blocks}", "sums")
    run.launch("scan_add", (blocks,), (block,), f"s32:{n}", "out", "sums")
    wanted, total = [], 0
    for v in x:
        total = total + v & 0xffffffff
        wanted.append(total)
    same(run.results("out")[0], wanted)


def sort(run, chance, n, spread):
    x = [chance.randrange(spread) for _ in range(n)]
    run.buffer("keys", "u32", x)
    run.launch("sort_blocks", (n // 512,), (256,), "keys")
    size = 1024
    while size <= n:
        step = size // 2
        while step >= 512:
            run.launch("merge_far", (n // 256,), (128,), "keys", f"u32:{size}", f"u32:{step}")
            step //= 2
        run.launch("merge_near", (n // 512,), (256,), "keys", f"u32:{size}")
        size *= 2
    same(run.results("keys")[0], sorted(x))


def histogram(run, chance, n, skew):
    data = bytes(min(255, int(255 * chance.random() ** skew)) for _ in range(n))
    run.launch("histogram", (4,), (96,), f"u32:{n}", run.buffer("in", "u8", data), run.buffer("bins", "u32", 256))
    same(run.results("bins")[0], [data.count(v) for v in range(256)])


def histogram_helpers(run, chance, n, width, bins):
    x = [chance.randrange(1000) for _ in range(n)]
    run.launch("histogram", (ceiling(n, 64),), (64,), f"u32:{n}", f"u32:{width}", f"u32:{bins}",
               run.buffer("values", "u32", x), run.buffer("counts", "u32", bins))
    same(run.results("counts")[0], [sum(v // width == b for v in x) for b in range(bins)])


def stencil(run, chance, nx, ny, nz):
    x, centre, side = floats(chance, nx * ny * nz), 0.4, 0.1
    centre, side = f32(centre), f32(side)
    run.launch("stencil", (ceiling(nx, 16), ceiling(ny, 8)), (16, 8), f"s32:{nx}", f"s32:{ny}", f"s32:{nz}",
               f"f32:{centre!r}", f"f32:{side!r}", run.buffer("in", "f32", x), run.buffer("out", "f32", len(x)))

    def at(i, j, k):
        return x[(k * ny + j) * nx + i] if 0 <= i < nx and 0 <= j < ny and 0 <= k < nz else 0.0

    wanted = []
    for k in range(nz):
        for j in range(ny):
            for i in range(nx):
                across, along = f32(at(i - 1, j, k) + at(i + 1, j, k)), f32(at(i, j - 1, k) + at(i, j + 1, k))
                total = f32(f32(across + along) + f32(at(i, j, k - 1) + at(i, j, k + 1)))
                wanted.append(fma32(side, total, f32(centre * at(i, j, k))))
    same(run.results("out")[0], wanted)


def butterflies(bits, roots, values):
    """The kernel's transform, operation by operation"""
    n = 1 << bits
    data = [values[int(f"{i:0{bits}b}"[::-1], 2)] for i in range(n)]
    for level in range(bits):
        span = 1 << level
        for low in (i for i in range(n) if not i & span):
            w, (ax, ay), (bx, by) = roots[(low & (span - 1)) << (bits - 1 - level)], data[low], data[low + span]
            re_, im = fma32(bx, w[0], -f32(by * w[1])), fma32(bx, w[1], f32(by * w[0]))
            data[low], data[low + span] = (f32(ax + re_), f32(ay + im)), (f32(ax - re_), f32(ay - im))
    return data


def fft(run, chance, bits, count):
    n = 1 << bits
    roots = [cmath.exp(-2j * cmath.pi * i / n) for i in range(n // 2)]
    roots = [(f32(w.real), f32(w.imag)) for w in roots]
    x = [(f32(chance.uniform(-1, 1)), f32(chance.uniform(-1, 1))) for _ in range(n * count)]
    run.launch("fft", (count,), (n // 2,), f"s32:{bits}", run.buffer("roots", "f32", [v for w in roots for v in w]),
               run.buffer("in", "f32", [v for z in x for v in z]), run.buffer("out", "f32", 2 * n * count), shared=8 * n)
    got = run.results("out")[0]
    wanted = [z for i in range(count) for z in butterflies(bits, roots, x[i * n:(i + 1) * n])]
    same(got, [v for z in wanted for v in z])
    exact = [sum(complex(*x[i]) * cmath.exp(-2j * cmath.pi * (i * k % n) / n) for i in range(n)) for k in range(n)]
    # bits roundings of values that have at most the largest result's size
    close(got[:2 * n], [v for z in exact for v in (z.real, z.imag)], 1e-6, max(abs(z) for z in exact))


def spmv(run, chance, rows, columns):
    begins, places, values = [0], [], []
    for row in range(rows):
        count = chance.choice([0, 1, 5, 31, 32, 33, 100]) if row else 3
        places += [chance.randrange(columns) for _ in range(count)]
        begins.append(len(places))
    values = [chance.uniform(-1, 1) for _ in places]
    x = [chance.uniform(-1, 1) for _ in range(columns)]
    run.launch("spmv", (ceiling(rows, 4),), (128,), f"s32:{rows}", run.buffer("begins", "s32", begins),
               run.buffer("columns", "s32", places), run.buffer("values", "f64", values), run.buffer("x", "f64", x),
               run.buffer("y", "f64", rows))
    wanted = []
    for row in range(rows):
        lanes = [0.0] * 32
        for i in range(begins[row], begins[row + 1]):
            lane = (i - begins[row]) % 32
            lanes[lane] = lanes[lane] + values[i] * x[places[i]]
        for step in (16, 8, 4, 2, 1):
            lanes = [lanes[i] + lanes[i + step if i + step < 32 else i] for i in range(32)]
        wanted.append(lanes[0])
    same(run.results("y")[0], wanted)


def sha256(run, chance, least, count):
    sizes = range(least, least + count)
    messages = [chance.randbytes(size) for size in sizes]
    offsets = [sum(sizes[:i]) for i in range(len(sizes) + 1)]
    run.launch("sha256", (ceiling(len(sizes), 64),), (64,), f"s32:{len(sizes)}", run.buffer("offsets", "u32", offsets),
               run.buffer("bytes", "u8", b"".join(messages) or b"\0"), run.buffer("digests", "u32", 8 * len(sizes)))
    digests = run.results("digests")[0].tobytes()
    for i, message in enumerate(messages):
        got, wanted = digests[i * 32:(i + 1) * 32], hashlib.sha256(message).digest()
        if got != wanted:
            raise Wrong(f"message {i} of {len(message)} bytes: {got.hex()}, should be {wanted.hex()}")


def attention(run, chance, heads, queries, keys, causal):
    dim = 32
    q, k, v = (floats(chance, heads * n * dim) for n in (queries, keys, keys))
    scale = f32(1 / math.sqrt(dim))
    run.launch("attention", (ceiling(queries, 64), heads), (64,), f"s32:{queries}", f"s32:{keys}", f"f32:{scale!r}",
               f"u8:{int(causal)}", run.buffer("q", "f32", q), run.buffer("k", "f32", k), run.buffer("v", "f32", v),
               run.buffer("out", "f32", len(q)))
    wanted = []
    for row in range(heads * queries):
        head, query = divmod(row, queries)
        rows = [head * keys + j for j in range(min(keys, query + 1) if causal else keys)]
        scores = [scale * sum(q[row * dim + d] * k[r * dim + d] for d in range(dim)) for r in rows]
        weights = softmax_rows(1, len(rows), scores)
        wanted += [sum(w * v[r * dim + d] for w, r in zip(weights, rows)) for d in range(dim)]
    # Some hundred roundings and exponentials, each of parts of 1e-7, of sums that cancel
    close(run.results("out")[0], wanted, 1e-5, max(map(abs, wanted)))


CASES = {
    "saxpy": (saxpy, [(1,), (127,), (1000,)]),
    "matmul": (matmul, [(16,), (48,)]),
    "softmax": (softmax_warp, [(1, 40), (9, 100)]),
    "histogram": (histogram_helpers, [(1, 1, 1000), (700, 37, 20)]),
    "kernels/gemm": (gemm, [(1, 1, 1), (32, 32, 16), (45, 70, 37), (33, 31, 64)]),
    "kernels/softmax": (softmax, [(1, 1, 32), (5, 33, 64), (3, 500, 128)]),
    "kernels/scan": (scan, [(1, 32), (255, 256), (5000, 128), (9999, 1024)]),
    "kernels/sort": (sort, [(512, 1 << 32), (1024, 100), (4096, 1 << 32)]),
    "kernels/histogram": (histogram, [(1, 1), (1023, 1), (6001, 5)]),
    "kernels/stencil": (stencil, [(1, 1, 1), (16, 8, 3), (35, 19, 5)]),
    "kernels/fft": (fft, [(1, 1), (5, 3), (9, 2)]),
    "kernels/spmv": (spmv, [(1, 10), (30, 200)]),
    # A last block has room for 55 bytes of a message.
    "kernels/sha256": (sha256, [(0, 1), (54, 1), (55, 1), (56, 1), (63, 1), (64, 2), (119, 1), (0, 130)]),
    "kernels/attention": (attention, [(1, 1, 1, False), (2, 70, 40, False), (1, 33, 33, True)]),
}


def attempt(tool, sample, sizes, folder):
    """What is wrong with a case; nothing if it is as it should be."""
    case = "x".join(map(str, sizes))
    place = folder / f"{sample.replace('/', '.')}.{case}"
    place.mkdir(parents=True)
    try:
        CASES[sample][0](Run(tool, SAMPLES / f"{sample}.ptx", place), random.Random(f"{sample} {case}"), *sizes)
    except Wrong as wrong:
        return str(wrong)
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=os.path.abspath, required=True)
    parser.add_argument("--filter", type=re.compile, default=re.compile(""))
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="leave the buffers in this (new) folder")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        folder = (args.keep or Path(scratch)).resolve()
        for sample, (_, cases) in CASES.items():
            for sizes in cases:
                if args.filter.search(f"{sample}.{'x'.join(map(str, sizes))}"):
                    rows.append((sample, sizes, pool.submit(attempt, args.tool, sample, sizes, folder)))
        failed = 0
        for sample, sizes, result in rows:
            wrong = result.result()
            failed += bool(wrong)
            print(f"{sample:<20} {'x'.join(map(str, sizes)):<16} {'differs: ' + wrong if wrong else 'ok'}")
    print(f"samples: {len(rows) - failed} passed, {failed} failed")
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
