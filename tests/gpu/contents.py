"""What `ptxopt verify` fills memory with, element by element: see src/execute/verify/values.cpp, which this follows.

  element_value(kind, type, seed, index) -> the bits of one element
  buffer_bytes(type, count, number, seed) -> memory for input `number`: its kind is that of verify's trial

The test compares both sides, element by element. Not here: Literal, which needs to know what the kernel compares with
(without that it is Mixed), and pairs of halves.
"""
import math
import struct

from arguments import FLOATS, GOLDEN, MASK, SIZES, bf16_bits

KINDS = ("Small", "Mixed", "Any", "Special", "Rising", "Tiny", "Wide", "Few", "Coarse", "Literal", "Scaled", "Shuffled", "Same")
FIRST_FLOATS = ("Small", "Mixed", "Any", "Small", "Tiny", "Special")
FIRST_INTEGERS = ("Small", "Rising", "Mixed", "Any", "Small", "Special")
LATER_FLOATS = ("Small", "Mixed", "Small", "Any", "Tiny", "Mixed", "Wide", "Rising", "Special", "Wide", "Few", "Coarse", "Literal",
                "Scaled", "Scaled", "Shuffled")
LATER_INTEGERS = ("Small", "Rising", "Mixed", "Any", "Small", "Special", "Few", "Wide", "Literal", "Scaled", "Shuffled")
SPECIAL_INTEGERS = (0, 1, 2, MASK, MASK - 1, 31, 32, 33, 63, 64, 127, 128, 255, 256)
SPECIAL_FLOATS = (0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001, 0x807FFFFF,
                  0x00800000, 0x7F7FFFFF, 0x4B000001)
SPECIAL_DOUBLES = (0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF)
STEPS = (1, 3, 5, 40)
SAME = (1, -1, 2, -0.75, 3, 1e-40, math.inf, -math.inf)
FEW = ("Special", "Mixed", "Small", "Special", "Wide")


def mix(a, b=None):
    if b is not None:
        return mix(mix(a) ^ b)
    x = a + GOLDEN & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


# ---- bits and numbers ----

def single_bits(x):
    """A double as f32, rounded to nearest."""
    try:
        return struct.unpack("<I", struct.pack("<f", x))[0]
    except OverflowError:
        return 0x7F800000 | (0x80000000 if x < 0 else 0)


def single(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def double_bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def to_half(bits, brain):
    """The bits of an f32 as those of a half."""
    value = single(bits)
    if math.isnan(value):
        return 0x7FFF
    if brain:
        return bf16_bits(value)
    try:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        return 0x7C00 | (0x8000 if value < 0 else 0)


def bits_of(kind, x):
    """A number in a format."""
    if kind == "f64":
        return double_bits(x)
    return single_bits(x) if kind == "f32" else to_half(single_bits(x), kind == "bf16")


def unit(r):
    return (mix(r) >> 11) * 2.0 ** -53


# ---- integers ----

def rising(seed, index):
    step = STEPS[mix(seed) % len(STEPS)]
    return index * step + mix(seed, index) % step


def integer(kind, bits, r):
    if kind == "Mixed":
        return mix(r) if r % 8 == 0 else -(mix(r) % 9) & MASK if r % 8 == 1 else mix(r) % 100
    if kind == "Any":
        return mix(r)
    if kind == "Special":
        return (1 << bits - 1) - (r // 4 & 1) if r % 4 == 0 else SPECIAL_INTEGERS[r // 4 % len(SPECIAL_INTEGERS)]
    if kind == "Wide":
        value = mix(r) >> (64 - bits + r % bits)
        return -value & MASK if r // bits % 4 == 0 else value
    return r % 16


# ---- floats: the bits of an f32, or a double ----

def coarse(r):
    exponent = r // 256 % 280 - 152 if r // 32 % 8 == 0 else r // 256 % 40 - 27
    return math.ldexp(float(r % 31 - 15), exponent)


def float_value(kind, r):
    if kind == "Small":
        return single_bits(unit(r) * 2 - 1)
    if kind == "Mixed":
        return single_bits((mix(r) % 2001 - 1000) / 8)
    if kind == "Any":
        return mix(r) & 0xFFFFFFFF
    if kind == "Special":
        return SPECIAL_FLOATS[r % len(SPECIAL_FLOATS)]
    if kind == "Tiny":
        return single_bits(math.ldexp(unit(r) * 2 - 1, -125 - r % 4))
    if kind == "Wide":
        return single_bits(math.ldexp(1 + unit(r) if r // 128 % 2 == 0 else -1 - unit(r), r % 81 - 40))
    if kind == "Coarse":
        return single_bits(coarse(mix(r)))
    return single_bits(unit(r))


def double_value(kind, r):
    if kind == "Any":
        return mix(r)
    if kind == "Special" and r // 16 % 4 == 0:
        return SPECIAL_DOUBLES[r % len(SPECIAL_DOUBLES)]
    if kind == "Tiny":
        return double_bits(math.ldexp((mix(r) >> 11) * 2.0 ** -52 - 1, -1021 - r % 4))
    value = single(float_value(kind, r))
    if kind in ("Special", "Mixed", "Coarse", "Rising") or value == 0:
        return double_bits(value)
    return double_bits(value) | (mix(~r & MASK) & (1 << 29) - 1)


# ---- kinds that are made for a whole array ----

def scaled(kind, seed, r):
    scale = mix(~seed & MASK)
    if kind not in FLOATS:
        return mix(r) & (2 << scale % 11) - 1
    value = unit(r)
    return bits_of(kind, math.ldexp(value * 2 - 1 if scale // 16 % 4 != 0 else value, scale % 9 - 1))


def shuffled(kind, seed, index):
    scale = mix(~seed & MASK)
    width = 5 + scale % 6
    mask = (1 << width) - 1
    low = (index & mask) * (scale >> 16 | 1) + (scale >> 8) & mask
    low = (low ^ low >> width // 2) * (scale >> 32 | 1) & mask
    value = index & ~mask | low
    return bits_of(kind, value / 4) if kind in FLOATS else value


def same(kind, seed):
    r = mix(~seed & MASK)
    if kind not in FLOATS:
        return 0 if r % 2 == 0 else MASK if r // 2 % 4 == 0 else r // 8 % 4
    return bits_of(kind, (0.0 if r // 2 % 2 == 0 else -0.0) if r % 2 == 0 else SAME[r // 4 % len(SAME)])


def value_of(contents, kind, seed, index, r):
    if contents == "Literal":
        return value_of("Mixed", kind, seed, index, r)
    if contents == "Few":
        seed = mix(seed, r % (1 + seed % 3))
        return value_of(FEW[seed % len(FEW)], kind, seed, 0, mix(seed, 0))
    if contents == "Scaled":
        return scaled(kind, seed, r)
    if contents == "Shuffled":
        return shuffled(kind, seed, index)
    if contents == "Same":
        return same(kind, seed)
    if contents == "Rising":
        value = rising(seed, index)
        if kind in ("f32", "f64"):
            return bits_of(kind, value / 4)
        if SIZES[kind] >= 2:
            return value
    if kind == "f64":
        return double_value(contents, r)
    if kind == "f32":
        return float_value(contents, r)
    if kind in FLOATS:
        return to_half(float_value(contents, r), kind == "bf16")
    return integer(contents, 8 * SIZES[kind], r)


def element_value(contents, kind, seed, index):
    return value_of(contents, kind, seed, index, mix(seed, index)) & (1 << 8 * SIZES[kind]) - 1


def contents_kind(floats, number, r):
    first, later = (FIRST_FLOATS, LATER_FLOATS) if floats else (FIRST_INTEGERS, LATER_INTEGERS)
    return first[number] if number < len(first) else later[r % len(later)]


def buffer_bytes(kind, count, number, seed):
    contents = contents_kind(kind in FLOATS, number, mix(seed))
    size = SIZES[kind]
    return b"".join(element_value(contents, kind, seed, i).to_bytes(size, "little") for i in range(count))
