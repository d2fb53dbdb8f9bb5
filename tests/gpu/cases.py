"""The kernels of the bench, as data: what bounds each, and how it is launched, small for the interpreter and in real size.

A case is launched as `ptxopt run` launches kernels: arguments.py has the syntax. In the arguments {name} stands for a
number of the size. Threads are those of a block of 256 unless a size says otherwise; grids are blocks.
Buffers that are `random` may hold anything at all: kernels mask what they take for an index.
"""
from dataclasses import dataclass, field

BOTTLENECKS = {
    "memory": "bytes that move", "latency": "results that are waited for, with few warps", "issue": "instructions, most for addresses",
    "pipe": "one unit", "divergent": "threads of a warp that go different ways", "shared": "shared memory and barriers",
    "atomic": "atomic operations", "tensor": "matrix products", "local": "arrays of a thread"}


@dataclass
class Case:
    name: str
    file: str
    bottleneck: str
    arguments: str
    small: dict
    real: dict
    setup: list = field(default_factory=list)  # (kernel, its arguments), launched once before with the same shape
    least: int = 75  # architecture

    def launches(self, size):
        numbers = {"small": self.small, "real": self.real}[size]
        return [{"kernel": kernel, "grid": three(numbers["grid"]), "block": three(numbers.get("block", 256)),
                 "shared": numbers.get("shared", 0), "arguments": [a.format(**numbers) for a in text.split()]}
                for kernel, text in [*self.setup, (self.name, self.arguments)]]


def three(shape):
    shape = [shape] if isinstance(shape, int) else list(shape)
    return shape + [1] * (3 - len(shape))


def sized(grid, **numbers):
    return {"grid": grid, **numbers}


MEGA = 1 << 20


def memory():
    def stream(name, arguments, count=16 * MEGA, **more):
        return Case(name, "memory.cu", "memory", arguments, sized(2, n=1000, **more), sized(2048, n=count, **more))

    yield stream("copy_32", "x=buf:f32:{n}:random y=buf:f32:{n}:zero u32:{n}")
    for name, vector in (("copy_64", 2), ("copy_128", 4)):
        yield Case(name, "memory.cu", "memory", "x=buf:f32:{floats}:random y=buf:f32:{floats}:zero u32:{n}",
                   sized(2, n=700, floats=700 * vector), sized(2048, n=8 * MEGA, floats=8 * MEGA * vector))
    yield Case("copy_strided", "memory.cu", "memory", "x=buf:f32:{all}:random y=buf:f32:{n}:zero s32:{n} s32:{stride}",
               sized(2, n=600, stride=3, all=1800), sized(2048, n=4 * MEGA, stride=8, all=32 * MEGA))
    yield Case("rgb_to_grey", "memory.cu", "memory",
               "rgb=buf:u8:{bytes}:random grey=buf:u8:{pixels}:zero s32:{width} s32:{height} s32:{pitch}",
               sized((1, 3), block=64, width=100, height=3, pitch=304, bytes=912, pixels=300),
               sized((16, 4096), width=8192, height=4096, pitch=24640, bytes=24640 * 4096, pixels=8192 * 4096))
    yield stream("triad", "a=buf:f32:{n}:random b=buf:f32:{n}:random c=buf:f32:{n}:zero f32:1.5 s32:{n}")
    yield stream("fill_ramp", "y=buf:u32:{n}:zero u32:{n} u32:{step}", 32 * MEGA, step=7)
    yield stream("stencil_7", "x=buf:f32:{n}:random y=buf:f32:{n}:zero s32:{n}")
    yield Case("stencil_5", "memory.cu", "memory", "x=buf:f32:{n}:random y=buf:f32:{n}:zero s32:{width} s32:{height}",
               sized((1, 2), block=64, width=60, height=12, n=720),
               sized((16, 64), width=4096, height=4096, n=16 * MEGA))
    yield Case("stencil_3d", "memory.cu", "memory",
               "x=buf:f32:{n}:random y=buf:f32:{n}:zero s64:{width} s64:{height} s64:{depth}",
               sized((1, 4), block=32, width=30, height=6, depth=5, n=900),
               sized((1, 254), width=256, height=256, depth=256, n=16 * MEGA))
    yield Case("reduce_blocks", "memory.cu", "memory", "x=buf:f32:{n}:random sums=buf:f32:{blocks}:zero s32:{n}",
               sized(2, n=2000, blocks=2), sized(1024, n=32 * MEGA, blocks=1024))
    yield Case("reduce_rows", "memory.cu", "memory", "x=buf:f32:{n}:random sums=buf:f32:{rows}:zero s32:{rows} s32:{columns}",
               sized(1, block=64, rows=5, columns=100, n=500), sized(1024, rows=16384, columns=2048, n=32 * MEGA))
    yield Case("gather", "memory.cu", "memory",
               "x=buf:f32:{all}:random index=buf:u32:{n}:random y=buf:f32:{n}:zero u32:{n} u32:{mask}",
               sized(2, n=900, all=512, mask=511), sized(2048, n=8 * MEGA, all=32 * MEGA, mask=32 * MEGA - 1))
    yield Case("transpose_plain", "memory.cu", "memory", "x=buf:f32:{n}:random y=buf:f32:{n}:zero s32:{width} s32:{height}",
               sized((1, 3), block=64, width=50, height=7, n=350), sized((16, 256), width=4096, height=4096, n=16 * MEGA))


def latency():
    def chain(name, arguments, setup=(), **numbers):
        small, real = ({k: v[i] if isinstance(v, tuple) else v for k, v in numbers.items()} for i in (0, 1))
        return Case(name, "latency.cu", "latency", arguments, sized(2, block=32, **small), sized(64, block=32, **real), list(setup))

    yield chain("chase_global", "next last=buf:u32:{threads}:zero u32:{n} s32:{steps}",
                [("chase_make", "next=buf:u32:{n}:zero u32:{n}")], threads=(64, 2048), n=(512, 16 * MEGA), steps=(40, 2000))
    yield chain("chase_shared", "seed=buf:u32:1:random last=buf:u32:{threads}:zero s32:{steps}", threads=(64, 2048), steps=(60, 20000))
    yield chain("list_walk", "records=buf:u32:{words}:random sums=buf:f32:{threads}:zero u32:{mask} s32:{steps}",
                threads=(64, 2048), words=(1024, 4 * MEGA), mask=(255, MEGA - 1), steps=(30, 2000))
    yield chain("search", "sorted=buf:u32:{n}:iota keys=buf:u32:{threads}:random found=buf:u32:{threads}:zero u32:{n}",
                threads=(64, 2048), n=(900, 32 * MEGA))
    yield chain("hash_probe", "table=buf:u32:{n}:random keys=buf:u32:{threads}:random places=buf:u32:{threads}:zero u32:{mask} s32:{most}",
                threads=(64, 2048), n=(256, MEGA), mask=(255, MEGA - 1), most=(40, 2000))
    yield chain("dot_chain", "x=buf:f32:{n}:random y=buf:f32:{n}:random sums=buf:f32:{threads}:zero s32:{steps} s32:{threads}",
                threads=(64, 2048), steps=(20, 2000), n=(1280, 4096000))
    yield chain("horner", "x=buf:f32:{threads}:random y=buf:f32:{threads}:zero f32:0.5 f32:0.25 s32:{steps}", threads=(64, 2048),
                steps=(50, 20000))
    yield chain("divide_chain", "x=buf:u32:{threads}:random y=buf:u32:{threads}:zero u32:12 s32:{steps}", threads=(64, 2048),
                steps=(20, 4000))
    yield chain("recurrence", "x=buf:f64:{threads}:random y=buf:f64:{threads}:zero f64:0.75 s32:{steps}", threads=(64, 2048),
                steps=(30, 10000))


def issue():
    def case(name, arguments, small, real):
        return Case(name, "issue.cu", "issue", arguments, small, real)

    for name, kind in (("column_sums", "s32"), ("column_sums_64", "s64")):
        yield case(name, "a=buf:f32:{n}:random sums=buf:f32:{threads}:zero " + kind + ":{rows} " + kind + ":{columns}",
                   sized(1, block=64, threads=64, rows=20, columns=40, n=800),
                   sized(1024, threads=1024 * 256, rows=512, columns=1024, n=512 * 1024))
    yield case("convolve_3x3", "image=buf:f32:{n}:random weights=buf:f32:9:random out=buf:f32:{n}:zero s32:{width} s32:{height}",
               sized(1, block=64, width=22, height=14, n=308), sized(1024, width=4098, height=4098, n=4098 * 4098))
    yield case("permute_4d", "x=buf:f32:{n}:random y=buf:f32:{n}:zero s32:{a} s32:{b} s32:{c} s32:{d} s32:{n}",
               sized(1, block=64, a=2, b=3, c=5, d=7, n=210), sized(1024, a=64, b=32, c=48, d=80, n=64 * 32 * 48 * 80))
    yield case("divide_constants", "x=buf:u32:{n}:random y=buf:u32:{n}:zero u32:{n}", sized(1, n=600), sized(1024, n=16 * MEGA))
    yield case("divide_by_shape", "x=buf:u32:{n}:random y=buf:u32:{n}:zero u32:{n} u32:{width}",
               sized(1, n=600, width=37), sized(1024, n=16 * MEGA, width=1237))
    yield case("arrays_of_structures", "fields=buf:f32:{all}:random out=buf:f32:{threads}:zero s32:{n} s32:{steps}",
               sized(1, block=64, threads=64, n=128, all=1024, steps=5),
               sized(1024, threads=1024 * 256, n=16384, all=131072, steps=200))
    yield case("columns_to_rows", "x=buf:f32:{image}:random y=buf:f32:{all}:zero s32:{channels} s32:{height} s32:{width}",
               sized(1, block=64, channels=2, height=9, width=11, image=198, all=1782),
               sized(1024, channels=8, height=512, width=512, image=8 << 18, all=72 << 18))
    yield case("multiply_plain", "a=buf:f32:{all}:random b=buf:f32:{all}:random c=buf:f32:{all}:zero s32:{n}",
               sized((1, 4), block=32, n=20, all=400), sized((4, 1024), n=1024, all=MEGA))
    yield case("triangle", "a=buf:f32:{all}:random sums=buf:f32:{threads}:zero s32:{n}",
               sized(1, block=64, threads=64, n=30, all=465), sized(1024, threads=1024 * 256, n=512, all=131328))
    yield case("wide_strides", "x=buf:f32:{all}:random y=buf:f32:{threads}:zero s32:{n} u32:{mask} s32:{stride} s32:{steps}",
               sized(1, block=64, threads=64, all=512, mask=511, n=99, stride=37, steps=20),
               sized(1024, threads=1024 * 256, all=65536, mask=65535, n=999, stride=3741, steps=400))


def pipe():
    scalars = {"f32": ("f32:0.75", "f32:0.125"), "u32": ("u32:1664525", "u32:1013904223"), "s32": ("s32:1000", "s32:77"),
               "u64": ("u64:6364136223846793005", "u64:1442695040888963407"), "f64": ("f64:0.75", "f64:0.125")}
    kinds = {"pipe_fma": "f32", "pipe_add": "f32", "pipe_multiply_add": "u32", "pipe_multiply_wide": "u64", "pipe_multiply_64": "u64",
             "pipe_multiply_high": "u32", "pipe_logic": "u32", "pipe_shift": "u32", "pipe_compare": "s32", "pipe_bits": "u32",
             "pipe_double": "f64", "pipe_special": "f32", "pipe_convert": "f32", "pipe_divide": "f32"}
    sizes = sized(1, block=64, threads=64, words=512, steps=6), sized(1024, threads=1024 * 256, words=2 * MEGA, steps=1000)
    for name, kind in kinds.items():
        a, b = scalars[kind]
        yield Case(name, "pipe.cu", "pipe", f"x=buf:{kind}:{{threads}}:random y=buf:{kind}:{{threads}}:zero {a} {b} s32:{{steps}}", *sizes)
    yield Case("pipe_half", "pipe.cu", "pipe", "x=buf:u32:{threads}:random y=buf:u32:{words}:zero b32:0x3a003800 b32:0x2c003000 s32:{steps}", *sizes)
    yield Case("hash_rounds", "pipe.cu", "pipe", "x=buf:u32:{threads}:random y=buf:u32:{threads}:zero s32:{steps}", *sizes)


def divergent():
    def case(name, arguments, small, real):
        return Case(name, "divergent.cu", "divergent", arguments, sized(1, block=64, threads=64, **small),
                    sized(512, threads=512 * 256, **real))

    yield case("collatz", "x=buf:u32:{threads}:random lengths=buf:u32:{threads}:zero s32:{most}", {"most": 40}, {"most": 400})
    yield case("mandelbrot", "counts=buf:u32:{threads}:zero s32:{width} f32:-2 f32:-1.25 f32:{step} s32:{most}",
               {"width": 8, "step": 0.3, "most": 20}, {"width": 512, "step": 0.005, "most": 2000})
    yield case("switch_on_data", "code=buf:u32:256:random y=buf:u32:{threads}:zero s32:{steps}", {"steps": 12}, {"steps": 1000})
    yield case("leave_early", "x=buf:f32:{all}:random y=buf:f32:{threads}:zero s32:{threads} s32:{columns}",
               {"columns": 20, "all": 1280}, {"columns": 128, "all": 512 * 256 * 128})
    yield case("sort_rows", "x=buf:s32:{all}:random y=buf:s32:{all}:zero s32:{columns}",
               {"columns": 8, "all": 512}, {"columns": 64, "all": 512 * 256 * 64})
    yield case("sparse_rows", "values=buf:f32:{all}:random columns=buf:u32:{all}:random x=buf:f32:{n}:random y=buf:f32:{threads}:zero s32:{width} u32:{mask}",
               {"width": 20, "all": 1280, "n": 256, "mask": 255}, {"width": 128, "all": 512 * 256 * 128, "n": MEGA, "mask": MEGA - 1})


def shared():
    def case(name, arguments, small, real):
        return Case(name, "shared.cu", "shared", arguments, small, real)

    for name in ("transpose_tiles", "transpose_conflicts"):
        yield case(name, "x=buf:f32:{n}:random y=buf:f32:{n}:zero s32:{width} s32:{height}",
                   sized((2, 1), block=(32, 8), width=64, height=32, n=2048),
                   sized((128, 128), block=(32, 8), width=4096, height=4096, n=16 * MEGA))
    yield case("multiply_tiles", "a=buf:f32:{all}:random b=buf:f32:{all}:random c=buf:f32:{all}:zero s32:{n}",
               sized((2, 2), block=(16, 16), n=32, all=1024), sized((64, 64), block=(16, 16), n=1024, all=MEGA))
    yield case("histogram", "x=buf:u8:{n}:random counts=buf:u32:256:zero s32:{n}", sized(2, block=64, n=700), sized(512, n=64 * MEGA))
    yield case("scan", "x=buf:s32:{n}:random y=buf:s32:{n}:zero", sized(2, block=64, shared=512, n=128),
               sized(8192, block=512, shared=4096, n=4 * MEGA))
    yield case("sort_block", "x=buf:u32:{n}:random y=buf:u32:{n}:zero", sized(2, block=64, shared=256, n=128),
               sized(4096, block=512, shared=2048, n=2 * MEGA))
    yield case("relax_tile", "x=buf:f32:{n}:random y=buf:f32:{n}:zero s32:{steps}", sized(1, n=256, steps=5),
               sized(2048, n=MEGA // 2, steps=500))
    yield case("bank_conflicts", "x=buf:f32:1024:random y=buf:f32:{n}:zero s32:{stride} s32:{steps}",
               sized(1, block=64, n=64, stride=4, steps=20), sized(1024, n=1024 * 256, stride=8, steps=1000))


def atomic():
    def case(name, arguments, **more):
        small, real = ({k: v[i] for k, v in more.items()} for i in (0, 1))
        return Case(name, "atomics.cu", "atomic", arguments, sized(2, block=64, n=400, **small), sized(512, n=4 * MEGA, **real))

    yield case("count_values", "x=buf:u32:{n}:random counts=buf:u32:{places}:zero s32:{n} u32:{mask}", places=(64, MEGA), mask=(63, MEGA - 1))
    yield case("add_up", "x=buf:u32:{n}:random sum=buf:u32:1:zero s32:{n}")
    yield case("largest", "x=buf:s32:{n}:random most=buf:s32:{groups}:zero s32:{n} s32:{groups}", groups=(7, 1009))
    yield case("add_modulo", "x=buf:u32:{n}:random sums=buf:u32:{places}:zero s32:{n} u32:{mask}", places=(64, 65536), mask=(63, 65535))
    yield case("mark_bits", "x=buf:u32:{n}:random bits=buf:u32:{places}:zero s32:{n} u32:{mask}", places=(32, 32768), mask=(1023, MEGA - 1))


def tensor():
    def case(name, arguments, small, real):
        return Case(name, "tensor.cu", "tensor", arguments, small, real, least=80)

    small, real = sized(1, block=64, tiles=3, steps=4, a=384, b=192, c=256), \
        sized(512, tiles=64, steps=1000, a=64 * 128, b=64 * 64, c=512 * 256 * 4)
    # Values, not bits: random bits as halves are mostly enormous.
    for name, kind in (("tensor_f16", "f16"), ("tensor_bf16", "bf16")):
        yield case(name, "a=buf:" + kind + ":{a2}:random b=buf:" + kind + ":{b2}:random c=buf:f32:{c}:zero s32:{tiles} s32:{steps}",
                   *({**s, "a2": 2 * s["a"], "b2": 2 * s["b"]} for s in (small, real)))
    yield case("tensor_tf32", "a=buf:f32:{a}:random b=buf:f32:{b}:random c=buf:f32:{c}:zero s32:{tiles} s32:{steps}", small, real)
    yield case("tensor_s8", "a=buf:u32:{a}:random b=buf:u32:{b}:random c=buf:s32:{c}:zero s32:{tiles} s32:{steps}", small, real)
    yield case("tensor_resident", "a=buf:f16:256:random b=buf:f16:128:random c=buf:f32:{c}:zero s32:{steps}", small, real)
    yield case("tensor_tiles", "a=buf:f16:{a2}:random b=buf:f16:{b2}:random c=buf:f32:{c}:zero s32:{tiles} s32:{steps}",
               *({**s, "a2": 2 * s["a"], "b2": 2 * s["b"]} for s in (small, real)))


def local():
    def case(name, arguments, small, real):
        return Case(name, "local.cu", "local", arguments, sized(1, block=64, threads=64, **small),
                    sized(512, threads=512 * 256, **real))

    yield case("local_table", "x=buf:u32:{threads}:random y=buf:u32:{threads}:zero s32:{steps}", {"steps": 10}, {"steps": 500})
    yield Case("median_9", "local.cu", "local", "x=buf:f32:{n}:random y=buf:f32:{n}:zero s32:{width} s32:{height}",
               sized(1, block=64, width=12, height=8, n=96), sized(32768, width=4098, height=2050, n=4098 * 2050))
    yield case("tree_walk", "values=buf:f32:{nodes}:random sums=buf:f32:{threads}:zero s32:{nodes} f32:0.25",
               {"nodes": 32}, {"nodes": 4096})
    yield case("blend_poses", "poses=buf:f32:{words}:random out=buf:f32:{results}:zero u32:{n} s32:{steps}",
               {"n": 50, "words": 400, "results": 448, "steps": 5}, {"n": 8192, "words": 65536, "results": 512 * 256 * 7, "steps": 200})


CASES = [case for family in (memory, latency, issue, pipe, divergent, shared, atomic, tensor, local) for case in family()]
