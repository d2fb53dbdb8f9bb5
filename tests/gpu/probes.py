"""Probes for latencies: chains of one instruction, each of which waits for the one before.

A probe is two kernels that differ in nothing but the length of the chain in their loop. The difference of their cycles by
the difference of their steps is the latency; what a loop and reading the clock cost is in both. pack.py checks in the
machine code that ptxas left every step: the two kernels differ by as many instructions as they have steps more.

`kinds` are those of src/core/target/kinds.def that a step consists of. A step of two kinds gives the sum of their latencies.
GlobalLoad:L1 and its like are the latencies of memory.def; the rows of some kinds say what comes on top of these.
"""
from dataclasses import dataclass

import step_kernel

SHORT, LONG = 64, 192  # steps of an iteration
WARP = 32

# Register x is the chain; of 64 bits with the prefix l, f32 with f, f64 with d.
DECLARATIONS = """	.reg .pred %p;
	.reg .b32 %x, %s, %t, %m<4>;
	.reg .b64 %lx, %ly;
	.reg .f32 %fx, %g<4>;
	.reg .f64 %dx, %h<2>;
	.shared .align 16 .b8 cells[256];
	.local .align 8 .b8 stack[64];"""
STARTS = """	ld.global.b32 %x, [%data+64];
	xor.b32 %x, %x, %lane;
	ld.global.b64 %lx, [%data+88];
	ld.global.f32 %fx, [%data+112];
	ld.global.f64 %dx, [%data+128];
	mov.f32 %g0, %fx; mov.f32 %g1, %fx; mov.f32 %g2, %fx; mov.f32 %g3, %fx;
	mov.f64 %h0, %dx; mov.f64 %h1, %dx;
	mov.b32 %m0, %a; mov.b32 %m1, %a; mov.b32 %m2, %a; mov.b32 %m3, %a;
	mov.u32 %t, 0;
	"""
ENDS = """	st.global.u32 [%out+8], %x;
	st.global.u64 [%out+16], %lx;
	st.global.f32 [%out+24], %fx;
	st.global.f64 [%out+32], %dx;
	st.global.f32 [%out+40], %g0; st.global.f32 [%out+44], %g3;
	st.global.f64 [%out+48], %h1;
	st.global.u32 [%out+56], %m0; st.global.u32 [%out+60], %m3;"""


@dataclass(frozen=True)
class Probe:
    name: str
    kinds: str  # of src/core/target/kinds.def, joined by +
    step: str
    before: str = ""
    least: int = 75  # architecture
    instructions: int = 1  # of a step, in machine code
    lengths: tuple = (SHORT, LONG)

    def text(self, target, isa):
        return step_kernel.module(target, isa, self.lengths, WARP, DECLARATIONS, STARTS + self.before, lambda length: [f"\t{self.step}"] * length, ENDS)


def mma(name, kinds, shape, types, a, b, accumulators, least):
    sums = "{" + ",".join(accumulators) + "}"
    step = f"mma.sync.aligned.{shape}.row.col.{types} {sums}, {a}, {b}, {sums};"
    return Probe(name, kinds, step, least=least)


# Where ptxas takes another unit on some architectures: the opcode there, and the kinds of the step then.
OTHER_UNITS = {"0x235": {"Half+Half": "Half+HalfTensor"}, "0x306": {"AluConvert+Convert": "Convert+Convert"}}

LOGIC = "lop3.b32 %x, %x, %b, %c, 0xE8;\n\tlop3.b32 %x, %x, %a, %d, 0x96;"
FLOATS, INTEGERS = ["%g0", "%g1", "%g2", "%g3"], ["%m0", "%m1", "%m2", "%m3"]
PROBES = [
    Probe("fma", "Fp32", "fma.rn.f32 %fx, %fx, %fa, %fb;"),
    Probe("multiply-add", "IntegerMultiply", "mad.lo.s32 %x, %x, %a, %b;"),
    # The upper half of a product, which is there last.
    Probe("multiply-wide", "IntegerMultiplyWide", "mov.b64 {%s, %t}, %lx;\n\tmul.wide.u32 %lx, %t, %a;"),
    Probe("logic", "Logic+Logic", LOGIC, instructions=2),
    Probe("add-logic", "IntegerAdd+Logic", "add.s32 %t, %x, %a;\n\tadd.s32 %x, %t, %d;\n\tlop3.b32 %x, %x, %b, %c, 0xE8;", instructions=2),
    Probe("minimum-logic", "MinMax+Logic", "min.s32 %x, %x, %a;\n\tlop3.b32 %x, %x, %b, %c, 0xE8;", instructions=2),
    Probe("shift", "Shift", "shf.l.wrap.b32 %x, %x, %a, %b;"),
    Probe("permute", "Permute", "prmt.b32 %x, %x, %a, %b;"),
    Probe("compare-select", "Compare+Select", "setp.lt.s32 %p, %x, %a;\n\tselp.b32 %x, %b, %x, %p;", instructions=2),
    Probe("half", "Half+Half", "fma.rn.f16x2 %x, %x, %a, %b;\n\tfma.rn.f16x2 %x, %x, %a, %b;", instructions=2),
    Probe("double", "Fp64", "fma.rn.f64 %dx, %dx, %da, %db;"),
    Probe("root", "Special", "rsqrt.approx.ftz.f32 %fx, %fx;"),
    Probe("exponential", "SpecialExponential", "ex2.approx.ftz.f32 %fx, %fx;"),
    Probe("count-bits", "BitCount", "popc.b32 %x, %x;"),
    Probe("convert", "AluConvert+Convert", "cvt.rn.f32.s32 %fx, %x;\n\tcvt.rni.s32.f32 %x, %fx;", instructions=2),
    Probe("match", "Match", "match.any.sync.b32 %x, %x, -1;"),
    Probe("vote", "Compare+Vote", "setp.ne.s32 %p, %x, %a;\n\tvote.sync.ballot.b32 %x, %p, -1;", instructions=2),
    Probe("load-matrix", "MatrixLoad", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%x}, [%x];",
          "mov.u32 %x, cells;\n\tand.b32 %t, %lane, 3;\n\tshl.b32 %t, %t, 2;\n\tadd.u32 %t, %t, %x;\n\tst.shared.b32 [%t], %x;"),
    Probe("shuffle", "Shuffle", "shfl.sync.bfly.b32 %x, %x, 1, 31, -1;"),
    Probe("load-constant", "ConstantLoad+Logic", "ld.const.b32 %t, [%lx];\n\tcvt.u64.u32 %ly, %t;\n\tor.b64 %lx, %lx, %ly;",
          "mov.u64 %lx, zeros;\n\tld.global.s32 %ly, [%data+152];\n\tadd.s64 %lx, %lx, %ly;", instructions=2),
    Probe("load-shared", "SharedLoad", "ld.shared.b32 %x, [%x];", "mov.u32 %x, cells;\n\tst.shared.b32 [%x], %x;"),
    Probe("load-local", "LocalLoad+GlobalLoad:L1", "ld.local.b32 %x, [%x];", "mov.u32 %x, stack;\n\tst.local.b32 [%x], %x;"),
    Probe("load-global-l1", "GlobalLoad:L1", "ld.global.ca.b64 %lx, [%lx];", "mov.b64 %lx, %data;\n\tst.global.b64 [%lx], %lx;"),
    Probe("atomic-shared", "SharedAtomic", "atom.shared.exch.b32 %x, [cells], %x;"),
    Probe("atomic-global", "GlobalAtomic+GlobalLoad:L2", "atom.global.exch.b32 %x, [%data], %x;"),
    Probe("barrier", "Barrier", "bar.sync 0;"),
    mma("matrix-half-1688", "MatrixHalf1688", "m16n8k8", "f32.f16.f16.f32", "{%k0,%k1}", "{%k4}", FLOATS, 75),
    mma("matrix-half-16816", "MatrixHalf16816", "m16n8k16", "f32.f16.f16.f32", "{%k0,%k1,%k2,%k3}", "{%k4,%k5}", FLOATS, 80),
    mma("matrix-tf32-1688", "MatrixTf1688", "m16n8k8", "f32.tf32.tf32.f32", "{%k0,%k1,%k2,%k3}", "{%k4,%k5}", FLOATS, 80),
    mma("matrix-byte-16832", "MatrixByte16832", "m16n8k32", "s32.s8.s8.s32", "{%k0,%k1,%k2,%k3}", "{%k4,%k5}", INTEGERS, 80),
    mma("matrix-double-884", "MatrixFp64x884", "m8n8k4", "f64.f64.f64.f64", "{%da}", "{%db}", ["%h0", "%h1"], 80),
]
