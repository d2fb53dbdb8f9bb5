"""Instructions on constants that ptxas folds: a case makes its operands by mov, computes, and stores the result."""
from cases import Case

WORDS = {
    16: (0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 127, 128, 255, 256, 0x7FFE, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF, 0x1234, 0xABCD),
    32: (0, 1, 2, 3, 7, 8, 16, 24, 31, 32, 33, 64, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFE, 0x7FFFFFFF,
         0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x12345678, 0xDEADBEEF, 0x00FF00FF, 0xF0F0F0F0),
    64: (0, 1, 2, 7, 31, 32, 33, 63, 64, 255, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000,
         0x8000000000000001, 0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFF, 0x123456789ABCDEF0, 0xFEDCBA9876543210)}
SINGLES = ("0f00000000", "0f80000000", "0f3F800000", "0fBF800000", "0f3F000000", "0f40490FDB", "0f7F800000", "0fFF800000", "0f7FC00000",
           "0f7F800001", "0f00000001", "0f80000001", "0f007FFFFF", "0f00800000", "0f7F7FFFFF", "0fFF7FFFFF", "0f4B800000", "0f3F7FFFFF",
           "0f3F800001", "0f4F000000", "0fCF000000", "0f4F800000", "0f5F000000", "0fDF000000", "0f5F800000", "0f3FC00000", "0f40200000",
           "0fC0200000", "0f437F8000", "0f47000000", "0fC3008000")
DOUBLES = ("0d0000000000000000", "0d8000000000000000", "0d3FF0000000000000", "0dBFF0000000000000", "0d3FE0000000000000",
           "0d400921FB54442D18", "0d7FF0000000000000", "0dFFF0000000000000", "0d7FF8000000000000", "0d0000000000000001",
           "0d000FFFFFFFFFFFFF", "0d0010000000000000", "0d7FEFFFFFFFFFFFFF", "0d3FEFFFFFFFFFFFFF", "0d3FF0000000000001",
           "0d41E0000000000000", "0dC1E0000000000000", "0d41EFFFFFFFE00000", "0d43E0000000000000", "0dC3E0000000000000",
           "0d43F0000000000000", "0d36A0000000000000", "0d380FFFFFC0000000", "0d47EFFFFFF0000000", "0d4004000000000000")
FILES = {"u16": 16, "s16": 16, "b16": 16, "u32": 32, "s32": 32, "b32": 32, "u64": 64, "s64": 64, "b64": 64}


class Maker:
    def __init__(self, random, family):
        self.random, self.family, self.cases = random, family, []

    def integer(self, bits):
        kind = self.random.random()
        return self.random.choice(WORDS[bits]) if kind < 0.85 else self.random.getrandbits(bits)

    def value(self, kind):
        return (self.random.choice(SINGLES) if kind == "f32" else self.random.choice(DOUBLES) if kind == "f64" else
                f"0x{self.integer(FILES[kind]):X}")

    def add(self, opcode, result, kinds, times, is_float=False, after="", fixed=None):
        """`times` cases of an instruction. A `kinds` entry is an operand's type; `fixed`: {number: text} for immediates."""
        bits = 32 if result == "pred" else int(result[1:])
        for _ in range(times):
            text, names = "", []
            for k, kind in enumerate(kinds):
                if fixed and k in fixed:
                    names.append(fixed[k]())
                elif kind == "pred":
                    text += f".reg .pred %p{k}; setp.eq.u32 %p{k}, {self.random.choice('01')}, 1; "
                    names.append(f"%p{k}")
                else:
                    text += f".reg .{kind} %a{k}; mov.{kind} %a{k}, {self.value(kind)}; "
                    names.append(f"%a{k}")
            register = result if result in ("f32", "f64", "pred") else f"b{max(bits, 16)}"
            text += f".reg .{register} %d; {opcode} %d, {', '.join(names)}; {after}"
            if result == "pred":
                text += ".reg .b32 %s; selp.b32 %s, 1, 0, %d; st.global.u32 [out], %s;"
            else:
                text += f"st.global.{'f' if result[0] == 'f' else 'b'}{bits} [out], %d;"
            self.cases.append(Case(text, bits // 8, self.family, is_float))


def integers(random, count):
    m = Maker(random, "arithmetic: integers")
    for t in ("u16", "s16", "u32", "s32", "u64", "s64"):
        bits = FILES[t]
        for opcode in ("add", "sub", "mul.lo", "mul.hi", "min", "max"):
            m.add(f"{opcode}.{t}", t, (t, t), 9 * count)
        m.add(f"mad.lo.{t}", t, (t, t, t), 8 * count)
        m.add(f"mad.hi.{t}", t, (t, t, t), 6 * count)
        m.add(f"sad.{t}", t, (t, t, t), 8 * count)
        if t[0] == "s":
            m.add(f"abs.{t}", t, (t,), 10 * count)
            m.add(f"neg.{t}", t, (t,), 10 * count)
        if bits < 64:
            wide = f"{t[0]}{2 * bits}"
            m.add(f"mul.wide.{t}", wide, (t, t), 12 * count)
            m.add(f"mad.wide.{t}", wide, (t, t, wide), 10 * count)
    for t in ("u32", "s32"):
        for opcode in ("mul24.lo", "mul24.hi"):
            m.add(f"{opcode}.{t}", t, (t, t), 10 * count)
        for opcode in ("mad24.lo", "mad24.hi"):
            m.add(f"{opcode}.{t}", t, (t, t, t), 8 * count)
    m.add("add.sat.s32", "s32", ("s32", "s32"), 16 * count)
    m.add("sub.sat.s32", "s32", ("s32", "s32"), 16 * count)
    m.add("mad.hi.sat.s32", "s32", ("s32", "s32", "s32"), 10 * count)
    return m.cases


def bits(random, count):
    m = Maker(random, "arithmetic: bits")

    def fields(t, first):
        """Of 64 bits ptxas takes all of a position and a length, the ISA and the interpreter the lowest byte."""
        byte = lambda: str(random.choice((0, 1, 2, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 254, 255, random.getrandbits(8))))  # noqa: E731
        return {first: byte, first + 1: byte} if t.endswith("64") else None

    for n in (16, 32, 64):
        for opcode in ("and", "or", "xor"):
            m.add(f"{opcode}.b{n}", f"b{n}", (f"b{n}", f"b{n}"), 6 * count)
        m.add(f"not.b{n}", f"b{n}", (f"b{n}",), 6 * count)
        m.add(f"cnot.b{n}", f"b{n}", (f"b{n}",), 8 * count)
        for opcode in (f"shl.b{n}", f"shr.b{n}", f"shr.u{n}", f"shr.s{n}"):
            m.add(opcode, f"b{n}", (f"b{n}", "u32"), 14 * count)
    for t in ("u32", "s32", "u64", "s64"):
        m.add(f"bfe.{t}", t, (t, "u32", "u32"), 25 * count, fixed=fields(t, 1))
        m.add(f"bfind.{t}", "u32", (t,), 12 * count)
        m.add(f"bfind.shiftamt.{t}", "u32", (t,), 8 * count)
    for t in ("b32", "b64"):
        m.add(f"bfi.{t}", t, (t, t, "u32", "u32"), 25 * count, fixed=fields(t, 2))
        m.add(f"popc.{t}", "u32", (t,), 8 * count)
        m.add(f"clz.{t}", "u32", (t,), 8 * count)
        m.add(f"brev.{t}", t, (t,), 8 * count)
    for way in ("l.wrap", "l.clamp", "r.wrap", "r.clamp"):
        m.add(f"shf.{way}.b32", "b32", ("b32", "b32", "u32"), 10 * count)
    m.add("lop3.b32", "b32", ("b32", "b32", "b32", "b32"), 20 * count, fixed={3: lambda: str(random.randrange(256))})
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        m.add(f"prmt.b32{mode}", "b32", ("b32", "b32", "b32"), 8 * count)
    m.add("fns.b32", "b32", ("b32", "u32", "s32"), 8 * count)
    for mode in ("clamp", "wrap"):
        m.add(f"szext.{mode}.s32", "s32", ("s32", "u32"), 8 * count)
        m.add(f"szext.{mode}.u32", "u32", ("u32", "u32"), 8 * count)
        m.add(f"bmsk.{mode}.b32", "b32", ("u32", "u32"), 8 * count)
    for t in ("u32", "s32"):
        m.add(f"dp4a.{t}.{t}", t, (t, t, t), 8 * count)
        m.add(f"dp2a.lo.{t}.{t}", t, (t, t, t), 6 * count)
    return m.cases


def comparisons(random, count):
    m = Maker(random, "arithmetic: comparisons")
    relations = {"u": "eq ne lt le gt ge lo ls hi hs", "s": "eq ne lt le gt ge", "b": "eq ne",
                 "f": "eq ne lt le gt ge equ neu ltu leu gtu geu num nan"}
    for t in ("b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64"):
        for relation in relations[t[0]].split():
            m.add(f"setp.{relation}.{t}", "pred", (t, t), 5 * count)
            m.add(f"setp.{relation}.{random.choice(('and', 'or', 'xor'))}.{t}", "pred", (t, t, "pred"), 2 * count)
            m.add(f"set.{relation}.u32.{t}", "u32", (t, t), 3 * count)
            m.add(f"set.{relation}.f32.{t}", "f32", (t, t), 2 * count)
            if t == "f32":
                m.add(f"setp.{relation}.ftz.f32", "pred", (t, t), 4 * count)
        m.add(f"selp.{t}", t, (t, t, "pred"), 4 * count)
        if t in ("b32", "u32", "s32", "f32", "b64"):
            # With 0x7FFFFFFF and 0x80000000 ptxas folds the wrong way: the selector 1 more or less.
            m.add(f"slct.{t}.s32", t, (t, t, "s32"), 5 * count, fixed={2: lambda: random.choice(("0", "1", "-1", "77", "0x80000001"))})
            m.add(f"slct.{t}.f32", t, (t, t, "f32"), 8 * count)
    for mode in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        m.add(f"testp.{mode}.f32", "pred", ("f32",), 8 * count)
        m.add(f"testp.{mode}.f64", "pred", ("f64",), 6 * count)
    return m.cases


def conversions(random, count):
    m = Maker(random, "arithmetic: conversions")
    whole = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
    held = lambda t: "u16" if t == "u8" else "s16" if t == "s8" else t
    for source in whole:
        for target in whole:
            after = ".reg .b64 %w; cvt.u64.u16 %w, %d; " if target[1:] == "8" else ""
            m.add(f"cvt.{target}.{source}", held(target), (held(source),), 4 * count)
            m.add(f"cvt.sat.{target}.{source}", held(target), (held(source),), 3 * count)
        for target in ("f32", "f64"):
            for rounding in ("rn", "rz", "rm", "rp"):
                m.add(f"cvt.{rounding}.{target}.{source}", target, (held(source),), 3 * count)
    for source in ("f32", "f64"):
        for target in whole:
            for rounding in ("rni", "rzi", "rmi", "rpi"):
                m.add(f"cvt.{rounding}.{target}.{source}", held(target), (source,), 5 * count)
                if source == "f32":
                    m.add(f"cvt.{rounding}.ftz.{target}.{source}", held(target), (source,), 2 * count)
        for rounding in ("rni", "rzi", "rmi", "rpi"):
            m.add(f"cvt.{rounding}.{source}.{source}", source, (source,), 5 * count, True)
    for rounding in ("rn", "rz", "rm", "rp"):
        m.add(f"cvt.{rounding}.f32.f64", "f32", ("f64",), 14 * count, True)
        m.add(f"cvt.{rounding}.sat.f32.f64", "f32", ("f64",), 4 * count, True)
    m.add("cvt.f64.f32", "f64", ("f32",), 16 * count, True)
    m.add("cvt.sat.f32.f32", "f32", ("f32",), 10 * count, True)
    m.add("cvt.ftz.f32.f32", "f32", ("f32",), 10 * count, True)
    return m.cases


def floats(random, count):
    m = Maker(random, "arithmetic: floats")
    for t in ("f32", "f64"):
        for rounding in ("", ".rn", ".rz", ".rm", ".rp"):
            for opcode in ("add", "sub", "mul"):
                m.add(f"{opcode}{rounding}.{t}", t, (t, t), 8 * count, True)
            if rounding:
                m.add(f"fma{rounding}.{t}", t, (t, t, t), 14 * count, True)
        for opcode in ("min", "max"):
            m.add(f"{opcode}.{t}", t, (t, t), 16 * count, True)
        m.add(f"copysign.{t}", t, (t, t), 10 * count, True)
        m.add(f"abs.{t}", t, (t,), 10 * count, True)
        m.add(f"neg.{t}", t, (t,), 10 * count, True)
    for opcode, kinds in (("add", 2), ("sub", 2), ("mul", 2), ("fma.rn", 3), ("min", 2), ("max", 2)):
        m.add(f"{opcode}.ftz.f32", "f32", ("f32",) * kinds, 10 * count, True)
        if opcode not in ("min", "max"):
            m.add(f"{opcode}.sat.f32", "f32", ("f32",) * kinds, 10 * count, True)
    return m.cases


FAMILIES = {"integers": (integers, 300), "bits": (bits, 300), "comparisons": (comparisons, 200),
            "conversions": (conversions, 100), "floats": (floats, 100)}
