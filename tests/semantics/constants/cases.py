"""Cases of constant expressions, literals, data operands and initializers. `[out]` in a text is the case's place."""
import math
import struct
from dataclasses import dataclass


@dataclass
class Case:
    text: str
    size: int
    family: str
    is_float: bool = False

    def is_nan(self, value):
        form = {2: "<e", 4: "<f", 8: "<d"}.get(len(value))
        return form is not None and math.isnan(struct.unpack(form, value)[0])


# ---- constant expressions ----

NUMBERS = ("0", "1", "2", "3", "5", "7", "8", "10", "31", "32", "33", "63", "64", "65", "100", "255", "256", "65535", "0x10", "017",
           "0b101", "0x7FFFFFFF", "0x80000000", "0xFFFFFFFF", "2147483647", "2147483648", "4294967295", "4294967296",
           "0x7FFFFFFFFFFFFFFF", "0x8000000000000000", "0xFFFFFFFFFFFFFFFF", "9223372036854775807", "9223372036854775808",
           "18446744073709551615", "18446744073709551616", "18446744073709551617", "WARP_SZ")
OPERATORS = "* / % + - << >> < > <= >= == != & ^ | && ||".split()
PREFIXES = ("-", "~", "!", "+", "- -", "-~", "~-", "!-", "-!", "~~", "!!", "~!", "+-", "-+", "--", "-~-")


def number(random):
    text = random.choice(NUMBERS)
    return text + "U" if text != "WARP_SZ" and random.random() < 0.25 else text


def primary(random, depth):
    kind = random.random()
    if depth > 0 and kind < 0.35:
        return "(" + expression(random, depth - 1) + ")"
    if kind < 0.45:
        return random.choice(("(.s64)", "(.u64)")) + random.choice(("", " ")) + unary(random, 0)
    return number(random)


def unary(random, depth):
    prefix = random.choice(PREFIXES) if random.random() < 0.4 else ""
    return prefix + primary(random, depth)


def expression(random, depth=2):
    kind = random.random()
    if kind < 0.1:
        return unary(random, depth)
    if kind < 0.2 and depth > 0:
        return " ".join((expression(random, depth - 1), "?", expression(random, depth - 1), ":", expression(random, depth - 1)))
    parts = [unary(random, depth)]
    for _ in range(random.choice((1, 1, 2, 3))):
        parts += [random.choice(OPERATORS), unary(random, depth)]
    return " ".join(parts)


def signs(random):
    """Whether the result is signed shows in a comparison with 0, and in a shift."""
    inner = expression(random, 1)
    return random.choice((f"({inner}) < 0", f"({inner}) >> 63", f"({inner}) >> 7", f"({inner}) / -3", f"0 > ({inner})",
                          f"({inner}) >= -1", inner))


def expressions(random, count):
    made = []
    for _ in range(800 * count):
        text = signs(random) if random.random() < 0.7 else expression(random)
        bits = random.choice((64, 64, 64, 32, 16))
        made.append(Case(f".reg .b{bits} %a; mov.{random.choice('us')}{bits} %a, {text}; st.global.b{bits} [out], %a;", bits // 8,
                         "expressions"))
    return made


# ---- literals, where they stand ----

FLOATS = ("1.5", "-1.5", "0.1", "- -2.25", "1e10", "1.5e-3", "-0.0", "0.0", "1e-45", "1e40", "3.4028235677973366e38", "1e-310", "+7.0",
          "0f3F800000", "0fBF800000", "0f7FC00000", "0f7F800000", "0f00000001", "0d3FF0000000000000", "0d3FF123456789ABCD",
          "0dBFB999999999999A", "0d36A0000000000000", "0d47EFFFFFF0000000", "0d7FF0000000000000", "0d3810000000000001",
          "1.0+2.0", "0.1 + 0.2", "1.0 - 2.0*3.0", "(1.0)", "-(1.5)", "-(0.1+0.2)*3.0", "1.0/3.0", "(2.0 - 3.0)/7.0")
TYPES = "u8 s8 b8 u16 s16 b16 u32 s32 b32 u64 s64 b64 f32 f64".split()


def bits_of(kind):
    return int(kind[1:])


def literals(random, count):
    made = []
    for kind in TYPES:
        bits = bits_of(kind)
        register = f"f{bits}" if kind[0] == "f" else f"b{max(bits, 16)}"
        for text in FLOATS + NUMBERS + ("1.0 < 2.0", "1.5 == 1.5", "2.0 >= 3.0"):
            is_float = kind[0] == "f" or kind in ("b32", "b64")
            size = max(bits // 8, 1)
            if bits >= 16:
                made.append(Case(f".reg .{register} %a; mov.{kind} %a, {text}; st.global.{kind} [out], %a;", size, "literals", is_float))
            made.append(Case(f"st.global.{kind} [out], {text};", size, "literals", is_float))
            if bits >= 32 and random.random() < 0.4:
                made.append(Case(f"st.global.v2.{kind} [out], {{{text}, {random.choice(FLOATS + NUMBERS)}}};", 2 * size, "literals"))
            if kind in ("u32", "s32", "b32", "u16"):
                wide = 2 * bits
                made.append(Case(f".reg .b{wide} %a; mov.b{wide} %a, {{{text}, 7}}; st.global.b{wide} [out], %a;", wide // 8, "literals"))
            if kind[0] == "f":
                made.append(Case(f".reg .{kind} %a; .reg .b32 %b; .reg .pred %p; setp.lt.{kind} %p, {text}, 0d3FF0000000000000; "
                                 "selp.u32 %b, 1, 0, %p; st.global.u32 [out], %b;", 4, "literals"))
                made.append(Case(f".reg .{kind} %a; selp.{kind} %a, {text}, 1.0, 1; st.global.{kind} [out], %a;", size, "literals", True))
            elif bits >= 16:
                made.append(Case(f".reg .b32 %b; .reg .pred %p; setp.lt.{kind} %p, {text}, 5; selp.u32 %b, 1, 0, %p; "
                                 "st.global.u32 [out], %b;" if kind[0] != "b" else
                                 f".reg .b{bits} %a; and.{kind} %a, {text}, -2; st.global.b{bits} [out], %a;",
                                 4 if kind[0] != "b" else size, "literals"))
                made.append(Case(f".reg .b64 %b; cvt.u64.{kind} %b, {text}; st.global.b64 [out], %b;", 8, "literals"))
    return made


# ---- data operands: a register and a constant ----

def operands(random, count):
    made = []
    for _ in range(700 * count):
        bits = random.choice((16, 32, 32, 64))
        begin = f".reg .b{bits} %a, %c, %d; .reg .b64 %w; .reg .pred %p; mov.b{bits} %a, {random.choice(NUMBERS[:-1])}; "
        def one():
            if random.random() < 0.15:
                return "%a"
            simple = random.choice(("1", "-1", "4", "0x10U", "~3", "-~3", "!0", "WARP_SZ", "6 & 3", "3 > 2", "1 << 2", "2*3+1", "5 - 7",
                                    "1 ? 5 : 6", "(1+2)", "(.s64)3", "-(.u64)3", "0xFFFFFFFF", "0x80000000", "-2147483648",
                                    "0x100000000", "-2147483649", "0x7FFFFFFFFFFFFFFF", "9223372036854775808", "5000000000"))
            return "%a + " + (simple if random.random() < 0.8 else expression(random, 1))
        kind = random.choice("us") + str(bits)
        text, size = {
            0: (f"mov.{kind} %c, {one()}; st.global.{kind} [out], %c;", bits // 8),
            1: (f"st.global.{kind} [out], {one()};", bits // 8),
            2: (f"add.{kind} %c, {one()}, {one()}; st.global.{kind} [out], %c;", bits // 8),
            3: (f"mul.lo.{kind} %c, {one()}, {one()}; st.global.{kind} [out], %c;", bits // 8),
            4: (f"mad.lo.{kind} %c, {one()}, {one()}, {one()}; st.global.{kind} [out], %c;", bits // 8),
            5: (f"setp.lt.{kind} %p, {one()}, {one()}; selp.b{bits} %c, {one()}, {one()}, %p; st.global.{kind} [out], %c;", bits // 8),
            6: (f"shl.b{bits} %c, {one()}, 3; st.global.{kind} [out], %c;", bits // 8),
            7: (f"cvt.u64.{random.choice(('u', 's'))}{random.choice((8, 16, 32, 64))} %w, {one()}; st.global.u64 [out], %w;", 8),
            8: (f"st.global.u8 [out], {one()};", 1),
            9: (f"and.b{bits} %c, {one()}, {one()}; not.b{bits} %d, %c + 2; st.global.{kind} [out], %d + 1;", bits // 8),
            10: (f"sub.{kind} %c, {one()}, {one()}; min.{kind} %d, %c, {one()}; st.global.{kind} [out], %d;", bits // 8),
            11: (".reg .b32 %l, %h; mov.b64 %w, {7, 9}; mov.b64 {%l, %h}, %w + 0xFFFFFFFFFF; st.global.v2.u32 [out], {%l, %h};", 8),
        }[random.randrange(12)]
        made.append(Case(begin + text, size, "operands"))
    return made


# ---- stores narrower than their registers ----

def stores(random, count):
    """Bits, also those of a number: the last mov is of bits, after which every ptxas takes the low ones. What becomes of a number
    depends on the ptxas (src/core/ir/stored_numbers.h)."""
    made = []
    for _ in range(600 * count):
        bits = random.choice((32, 32, 64))
        registers = random.choice(("bf", "bf", "bu", "bs"))  # ptxas moves .f32 to .f32 and .b32
        value = random.choice((random.uniform(-3, 300), random.uniform(-70000, 70000), random.uniform(0, 256), random.uniform(0, 1e10),
                               random.choice((0.0, 255.9, 256.0, 65535.5, -1.0, 4294967295.0, 1e30, -1e30))))
        literal = ("0f%08X" % struct.unpack("<I", struct.pack("<f", value)) if bits == 32
                   else "0d%016X" % struct.unpack("<Q", struct.pack("<d", value)))
        whole = random.choice((5, 300, 0x12345678, 0x40490FDB if bits == 32 else 0x400921FB54442D18))
        text, last = "", None
        names = "abc"[:random.choice((1, 2, 2, 3))]
        for name in names:
            register, kind = (random.choice(of) + str(bits) for of in (registers, registers if name != names[-1] else registers.replace("f", "b")))
            source = f"%{last}" if last else literal if kind[0] in "bf" and random.random() < 0.8 else str(whole)
            text += f".reg .{register} %{name}; mov.{kind} %{name}, {source}; "
            last = name
        stored = random.choice([t for t in TYPES if t[0] != "f" and bits_of(t) < bits] + ["b8", "b16"])
        made.append(Case(text + f"st.global.{stored} [out], %{last};", bits_of(stored) // 8, "stores"))
    return made


# ---- initializers ----

def initializers(random, count):
    made = []
    for kind in TYPES + ["b128"]:
        size = max(bits_of(kind) // 8, 1)
        pool = list(FLOATS) + [number(random) for _ in range(6)] + ["-(3)", "~-3", "-~3", "!0", "!7", "- -3", "-(.s64)10 / 3", "(.u64)-1 >> 60"]
        for text in random.sample(pool, 12):
            made.append(Case(f".{random.choice(('global', 'const'))} .{kind} x = {text};", size, "initializers", kind[0] == "f"))
        if kind[0] == "f":
            values = [random.choice(FLOATS) for _ in range(3)]
            made.append(Case(f".global .{kind} x[4] = {{{', '.join(values)}}};", 4 * size, "initializers", True))
    for _ in range(40 * count):
        kind = random.choice([t for t in TYPES if t[0] != "f"])
        size = max(bits_of(kind) // 8, 1)
        values = [expression(random, 1) if random.random() < 0.5 else unary(random, 1) for _ in range(3)]
        form = random.choice((f"x[3] = {{{', '.join(values)}}}", f"x[5] = {{{', '.join(values)}}}", f"x[] = {{{', '.join(values)}}}",
                              f"x[2][2] = {{{{{values[0]}}}, {{{values[1]}, {values[2]}}}}}", f"x = {values[0]}"))
        made.append(Case(f".global .{kind} {form};", size, "initializers"))
    return made


FAMILIES = {"expressions": (expressions, 500), "literals": (literals, 300), "operands": (operands, 400), "stores": (stores, 60),
            "initializers": (initializers, 90)}
