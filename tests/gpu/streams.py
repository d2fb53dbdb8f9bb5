"""Streams: how long an instruction takes the units of a part of an SM, and which instructions take the same ones.

A stream is, as a probe is, two kernels that differ in nothing but the number of steps in their loop. Each thread has CHAINS
chains that do not depend on one another, and a block of THREADS threads fills the four parts of an SM, so that a step takes
the time of the unit that has most to do. `kinds` are those of a step; the model's time is the longest sum of uses.def over
the units. A step of two kinds takes the sum of both where they share a unit, else the longer one.

# in a step is the number of the chain, @ an offset that is different in each step of the chain.
"""
from dataclasses import dataclass

import step_kernel

SHORT, LONG = 128, 384  # steps of an iteration; an iteration also has what its branch takes, which must not be longer
CHAINS, THREADS = 8, 512
FEW = (64, 192)  # where ptxas would need more registers than there are
SPAN = 512  # bytes of memory for the results of a chain

DECLARATIONS = """	.reg .pred %p<8>;
	.reg .b32 %x<8>, %y<8>, %t<8>, %z<8>, %cell, %wide, %m<8>;
	.reg .b64 %lx<8>, %lz<8>, %place, %spot, %zero;
	.reg .f32 %fx<8>, %g<8>;
	.reg .f64 %dx<8>, %h<4>;
	.shared .align 16 .b8 cells[1024];"""
# %place and %spot have 4 and 16 bytes for each lane, after the inputs; %cell and %wide+512 too, in shared memory.
STARTS = """	ld.global.s32 %zero, [%data+152];
	mul.wide.u32 %place, %lane, 4;
	add.s64 %place, %place, %data;
	add.s64 %place, %place, 4096;
	mul.wide.u32 %spot, %lane, 16;
	add.s64 %spot, %spot, %data;
	add.s64 %spot, %spot, 4096;
	mov.u32 %cell, cells;
	mad.lo.u32 %wide, %lane, 16, %cell;
	mad.lo.u32 %cell, %lane, 4, %cell;
	st.shared.b32 [%cell], %cell;"""
# So that ptxas does not move loads out of the loop.
ITERATION = """	add.s64 %place, %place, %zero;
	add.s64 %spot, %spot, %zero;"""
START = """	ld.global.b32 %x#, [%place+256];
	ld.global.b32 %y#, [%place+384];
	add.u32 %x#, %x#, #;
	mov.b32 %t#, %x#;
	mov.b32 %z#, %y#;
	setp.ne.u32 %p#, %x#, 0;
	mov.b64 %lx#, {%x#, %y#};
	mov.b64 %lz#, {%y#, %x#};
	ld.global.f32 %fx#, [%data+112];
	ld.global.f64 %dx#, [%data+128];
	mov.b32 %g#, %fa;
	mov.b32 %m#, %a;"""

END = """	add.s64 %place, %out, @;
	st.global.u32 [%place+8], %x#; st.global.u32 [%place+16], %y#; st.global.u32 [%place+24], %z#;
	st.global.u64 [%place+32], %lx#; st.global.u64 [%place+80], %lz#;
	st.global.f32 [%place+40], %fx#; st.global.f64 [%place+48], %dx#;
	st.global.f32 [%place+56], %g#; st.global.u32 [%place+64], %m#;
	selp.u32 %t#, 1, %t#, %p#; st.global.u32 [%place+72], %t#;"""


def numbered(text, chain, before=0):
    return text.replace("#", str(chain)).replace("@", str(before))


@dataclass(frozen=True)
class Stream:
    name: str
    kinds: str  # of src/core/target/kinds.def, joined by +
    step: str | tuple  # a tuple: that of each chain
    instructions: float = 1  # of a step, in machine code
    before: str = ""
    least: int = 75  # architecture
    chains: int = CHAINS
    threads: int = THREADS
    lengths: tuple = (SHORT, LONG)

    def step_of(self, place):
        chain, before = place % self.chains, place // self.chains * self.chains
        return numbered(self.step if isinstance(self.step, str) else self.step[chain], chain, before * 128)

    def text(self, target, isa):
        starts = [STARTS, *(numbered(START, i) for i in range(CHAINS)), *(f"\tmov.f64 %h{i}, %da;" for i in range(4)), "\t" + self.before]
        ends = [numbered(END, i, i * SPAN) for i in range(CHAINS)] + [f"\tst.global.f64 [%out+{CHAINS * SPAN + 8 * i}], %h{i};" for i in range(4)]
        return step_kernel.module(target, isa, self.lengths, self.threads, DECLARATIONS, "\n".join(starts),
                                  lambda length: ["\t" + self.step_of(i) for i in range(length)], "\n".join(ends), ITERATION)


def matrix(name, kinds, shape, types, a, b, least, letter="g"):
    sums = ["{" + ",".join(f"%{letter}{4 * i + j}" for j in range(4)) + "}" for i in range(2)]
    steps = tuple(f"mma.sync.aligned.{shape}.row.col.{types} {s}, {a}, {b}, {s};" for s in sums)
    return Stream(name, kinds, steps, least=least, chains=2)


# Two registers at most: three of the same bank take a cycle more, and ptxas chooses them.
FMA = "fma.rn.f32 %fx#, %fx#, %fa, %fa;"
MAD = "mad.lo.s32 %x#, %x#, %a, %a;"
WIDE = "mov.b64 {%m#,%z#}, %lx#;\n\tmul.wide.u32 %lx#, %z#, %a;"
ADD = "add.s32 %m#, %x#, %y#;\n\tadd.s32 %x#, %m#, %c;\n\tlop3.b32 %y#, %y#, %x#, %b, 0xE8;"
LOGIC = "lop3.b32 %x#, %x#, %y#, %b, 0xE8;\n\tlop3.b32 %y#, %y#, %x#, %c, 0x96;"
ONE_LOGIC = "lop3.b32 %t#, %t#, %z#, 0x5A5A1234, 0xE8;"
SHIFT = "shf.l.wrap.b32 %t#, %t#, %z#, %z#;"
HALF = "fma.rn.f16x2 %t#, %t#, %a, %a;"
DOUBLE = "fma.rn.f64 %dx#, %dx#, %da, %da;"
ROOT = "rsqrt.approx.ftz.f32 %fx#, %fx#;"
# Each row holds its own address four times.
ROWS = "add.u32 %wide, %wide, 512; st.shared.v4.b32 [%wide], {%wide,%wide,%wide,%wide}; " + " ".join(f"mov.u32 %x{i}, %wide;" for i in range(CHAINS))
STREAMS = [
    Stream("fma", "Fp32", FMA),
    Stream("multiply-add", "IntegerMultiply", MAD),
    Stream("multiply-wide", "IntegerMultiplyWide", WIDE),
    Stream("multiply-high", "IntegerMultiplyWide", "mul.hi.u32 %x#, %x#, %a;"),
    Stream("dot-product", "DotProduct", "dp4a.u32.u32 %x#, %x#, %a, %b;"),
    Stream("shift", "Shift", SHIFT),
    Stream("logic", "Logic", ONE_LOGIC),
    Stream("permute", "Permute", "prmt.b32 %x#, %x#, %y#, %b;"),
    Stream("add-logic", "IntegerAdd+Logic", ADD, 2),
    Stream("add-64", "IntegerAdd*2+IntegerMultiply*2", "add.s64 %lx#, %lx#, %lz#;\n\tadd.s64 %lz#, %lz#, %lx#;", 4),
    Stream("minimum-logic", "MinMax+Logic", "min.s32 %x#, %x#, %y#;\n\tlop3.b32 %y#, %y#, %x#, %c, 0x96;", 2),
    Stream("compare-select", "Compare+Select", "setp.lt.s32 %p#, %x#, %a;\n\tselp.b32 %x#, %y#, %x#, %p#;", 2),
    Stream("half", "Half+Half", HALF + "\n\tfma.rn.f16x2 %t#, %t#, %c, %c;", 2),
    Stream("half-compare", "HalfCompare*2", "max.f16x2 %t#, %t#, %z#;\n\tmin.f16x2 %z#, %t#, %z#;", 2, least=80),
    Stream("double", "Fp64", DOUBLE),
    Stream("root", "Special", ROOT),
    Stream("exponential", "SpecialExponential", "ex2.approx.ftz.f32 %fx#, %fx#;"),
    Stream("count-bits", "BitCount", "popc.b32 %x#, %x#;"),
    Stream("convert", "AluConvert+Convert", "cvt.rn.f32.s32 %fx#, %x#;\n\tcvt.rni.s32.f32 %x#, %fx#;", 2),
    Stream("convert-half", "AluConvert", "cvt.rn.f16x2.f32 %x#, %fx#, %fx#;\n\tmov.b32 %fx#, %x#;", least=80),
    Stream("convert-double", "Convert64+Convert64", "cvt.f64.f32 %dx#, %fx#;\n\tcvt.rn.f32.f64 %fx#, %dx#;", 2),
    # Which share a unit.
    Stream("fma, multiply-add", "Fp32+IntegerMultiply", f"{FMA}\n\t{MAD}", 2),
    Stream("fma, fma, multiply-add", "Fp32+Fp32+IntegerMultiply", f"{FMA}\n\t{FMA}\n\t{MAD}", 3),
    Stream("fma, multiply-wide", "Fp32+IntegerMultiplyWide", f"{FMA}\n\t{WIDE}", 2),
    Stream("fma, logic", "Fp32+Logic", f"{FMA}\n\t{ONE_LOGIC}", 2),
    Stream("multiply-add, logic", "IntegerMultiply+Logic", f"{MAD}\n\t{ONE_LOGIC}", 2),
    Stream("multiply-wide, logic", "IntegerMultiplyWide+Logic", f"{WIDE}\n\t{ONE_LOGIC}", 2),
    Stream("multiply-add, multiply-wide", "IntegerMultiply+IntegerMultiplyWide", f"{MAD}\n\t{WIDE}", 2),
    Stream("logic, shift", "Logic+Shift", f"lop3.b32 %x#, %x#, %y#, 0x5A5A1234, 0xE8;\n\t{SHIFT}", 2),
    Stream("double, fma", "Fp64+Fp32", f"{DOUBLE}\n\t{FMA}", 2),
    Stream("double, multiply-add", "Fp64+IntegerMultiply", f"{DOUBLE}\n\t{MAD}", 2),
    Stream("double, half", "Fp64+Half", f"{DOUBLE}\n\t{HALF}", 2),
    Stream("half, fma", "Half+Fp32", f"{HALF}\n\t{FMA}", 2),
    Stream("half, multiply-add", "Half+IntegerMultiply", f"{HALF}\n\t{MAD}", 2),
    Stream("root, fma", "Special+Fp32", f"{ROOT}\n\tfma.rn.f32 %g#, %g#, %fa, %fa;", 2),
    Stream("root, count-bits", "Special+BitCount", f"{ROOT}\n\tpopc.b32 %x#, %x#;", 2),
    # Across a warp.
    Stream("shuffle", "Shuffle", "shfl.sync.bfly.b32 %x#, %x#, 1, 31, -1;"),
    Stream("vote", "Compare+Vote", "setp.ne.s32 %p#, %x#, %a;\n\tvote.sync.ballot.b32 %x#, %p#, -1;", 2),
    Stream("match", "Match", "match.any.sync.b32 %x#, %x#, -1;"),
    Stream("reduce", "Reduce", "redux.sync.add.s32 %x#, %x#, -1;", 2, least=80),
    # Memory. Addresses are all different, or an access depends on the one before.
    Stream("load-shared-4", "SharedLoad", "ld.shared.b32 %x#, [%x#];", before=" ".join(f"mov.u32 %x{i}, %cell;" for i in range(CHAINS))),
    Stream("load-shared-16", "SharedLoad*4+Logic*2",
           "ld.shared.v4.b32 {%x#,%y#,%t#,%z#}, [%x#];\n\tlop3.b32 %x#, %x#, %y#, %t#, 0x96;\n\tand.b32 %x#, %x#, %z#;", 3, before=ROWS),
    Stream("store-shared-4", "SharedStore", "st.volatile.shared.b32 [%cell], %x#;"),
    Stream("store-shared-16", "SharedStore*4", "st.volatile.shared.v4.b32 [%wide+512], {%x#,%y#,%t#,%z#};"),
    Stream("load-shared, shuffle", "SharedLoad+Shuffle", "ld.volatile.shared.b32 %x#, [%cell];\n\tshfl.sync.bfly.b32 %y#, %y#, 1, 31, -1;", 2),
    Stream("load-matrix-1", "MatrixLoad", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%x#}, [%x#];", before=ROWS),
    Stream("load-matrix-4", "MatrixLoad*4", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%x#,%y#,%t#,%z#}, [%x#];", before=ROWS),
    Stream("atomic-shared", "SharedAtomic", "atom.shared.add.u32 %x#, [%cell], %y#;"),
    Stream("load-global-4", "GlobalLoad+Logic*0.5", "ld.global.ca.b32 %x#, [%place+@+#*128];\n\txor.b32 %y#, %y#, %x#;", 1.5, threads=256, lengths=FEW),
    Stream("load-global-16", "GlobalLoadWide*4+Logic*0.5", "ld.global.ca.v4.b32 {%x#,%t#,%m#,%z#}, [%spot+@*4+#*512];\n\txor.b32 %y#, %y#, %x#;", 1.5, threads=256, lengths=FEW),
    Stream("store-global-4", "GlobalStore", "st.global.b32 [%place+@+#*128], %x#;"),
    Stream("load-constant", "ConstantLoad+Logic", "ld.const.b32 %x#, [%lx#];\n\tcvt.u64.u32 %lz#, %x#;\n\tor.b64 %lx#, %lx#, %lz#;", 2,
           before=" ".join(f"mov.u64 %lx{i}, zeros; cvt.u64.u32 %lz{i}, %y{i}; add.s64 %lx{i}, %lx{i}, %lz{i};" for i in range(CHAINS))),
    # Matrix products.
    matrix("matrix-half-1688", "MatrixHalf1688", "m16n8k8", "f32.f16.f16.f32", "{%k0,%k1}", "{%k4}", 75),
    matrix("matrix-half-16816", "MatrixHalf16816", "m16n8k16", "f32.f16.f16.f32", "{%k0,%k1,%k2,%k3}", "{%k4,%k5}", 80),
    matrix("matrix-tf32-1688", "MatrixTf1688", "m16n8k8", "f32.tf32.tf32.f32", "{%k0,%k1,%k2,%k3}", "{%k4,%k5}", 80),
    matrix("matrix-byte-16832", "MatrixByte16832", "m16n8k32", "s32.s8.s8.s32", "{%k0,%k1,%k2,%k3}", "{%k4,%k5}", 80, letter="m"),
]
