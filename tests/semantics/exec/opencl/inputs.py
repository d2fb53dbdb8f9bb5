"""The contents of the kernels' buffers: edge values first, in every pairing, then random ones from a fixed seed.

A value is held as its bits. Kinds of contents:
  any             what the type can hold: for integers of every length, for floats also infinities, NaNs and denormals
  zero, iota      0, or 0 1 2 ...
  small           floats of a like size, which add up without overflow
  near            floats between 1/2 and 2, many of them neighbours
  numbers         any, without NaN and without -0 (which has an equal): for sorting
  rounding        floats with and without a fraction of a half, and any
  scaled          integers of every length, and those halfway between two floats
  range(LO,HI)    integers from LO to HI
  around(T)       floats at and beside the limits of T, halfway between two values of T, and any
  fit(T)          floats that every rounding takes to a value of the integer type T
"""
import random
import re
import struct
import zlib

INTEGERS = {"char": (8, True), "uchar": (8, False), "short": (16, True), "ushort": (16, False),
            "int": (32, True), "uint": (32, False), "long": (64, True), "ulong": (64, False)}
FLOATS = {"half": ("e", "H", 10, 5), "float": ("f", "I", 23, 8), "double": ("d", "Q", 52, 11)}
CODES = {8: "B", 16: "H", 32: "I", 64: "Q"}


def bits_of(name):
    return INTEGERS[name][0] if name in INTEGERS else 1 + FLOATS[name][2] + FLOATS[name][3]


def pack(name, values):
    return struct.pack(f"<{len(values)}{CODES[bits_of(name)]}", *values)


def unpack(name, data):
    return struct.unpack(f"<{len(data) * 8 // bits_of(name)}{CODES[bits_of(name)]}", data)


def is_nan(name, bits):
    if name not in FLOATS:
        return False
    _, _, fraction, exponent = FLOATS[name]
    return bits >> fraction & ((1 << exponent) - 1) == (1 << exponent) - 1 and bits & ((1 << fraction) - 1) != 0


def shown(name, bits):
    if name in FLOATS:
        letter, code, _, _ = FLOATS[name]
        return f"{struct.unpack('<' + letter, struct.pack('<' + code, bits))[0]!r} (0x{bits:0{bits_of(name) // 4}x})"
    width, signed = INTEGERS[name]
    return f"{bits - (1 << width) if signed and bits >> (width - 1) else bits} (0x{bits:x})"


def float_bits(name, value):
    """The bits of a Python number in this type, infinite where it is too large."""
    letter, code, _, _ = FLOATS[name]
    try:
        return struct.unpack("<" + code, struct.pack("<" + letter, value))[0]
    except OverflowError:
        return float_bits(name, float("inf") if value > 0 else float("-inf"))


def float_value(name, bits):
    letter, code, _, _ = FLOATS[name]
    return struct.unpack("<" + letter, struct.pack("<" + code, bits))[0]


def limits(name):
    width, signed = INTEGERS[name]
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)


def integer_edges(name):
    width = INTEGERS[name][0]
    mask, top = (1 << width) - 1, 1 << (width - 1)
    ones = mask // 3
    return [0, 1, 2, 3, mask, mask - 1, top - 1, top - 2, top, top + 1, ones, mask ^ ones, 1 << width // 2,
            (1 << width // 2) - 1, 7, 100, width - 1, width]


def float_edges(name):
    _, _, fraction, exponent = FLOATS[name]
    sign, infinity = 1 << (fraction + exponent), ((1 << exponent) - 1) << fraction
    one = ((1 << (exponent - 1)) - 1) << fraction
    plain = [0, one, infinity, 1, (1 << fraction) - 1, 1 << fraction, infinity - 1, one + 1, one - 1]
    return (plain + [x | sign for x in plain] + [infinity | 1 << (fraction - 1)] +
            [float_bits(name, x) for x in (0.5, 1.5, -2.5, 3.0)])


def random_integer(chance, name):
    width = INTEGERS[name][0]
    value = chance.getrandbits(width)
    if chance.random() < 0.5:
        value >>= chance.randrange(width)
        if chance.random() < 0.5:
            value = -value
    return value & ((1 << width) - 1)


def random_float(chance, name):
    _, _, fraction, exponent = FLOATS[name]
    if chance.random() < 0.5:
        return float_bits(name, chance.uniform(-100, 100))
    bits = chance.getrandbits(1 + fraction + exponent)
    return bits | 1 << (fraction - 1) if is_nan(name, bits) else bits  # a quiet one


def any_of(chance, name):
    if name in INTEGERS:
        return chance.choice(integer_edges(name)) if chance.random() < 0.2 else random_integer(chance, name)
    return chance.choice(float_edges(name)) if chance.random() < 0.2 else random_float(chance, name)


def halfway(chance, target):
    """An integer in the middle of two values of a float type, or one beside it."""
    fraction = FLOATS[target][2]
    shift = chance.randrange(1, 12)
    value = (1 << fraction | chance.getrandbits(fraction)) << shift
    return value + (1 << (shift - 1)) + chance.randrange(-1, 2)


def scaled(chance, name):
    """For conversion to floats and to narrower integers"""
    width = INTEGERS[name][0]
    draw = chance.random()
    if draw < 0.3:
        value = halfway(chance, chance.choice(["float", "double"]))
        return chance.choice([1, -1]) * value & ((1 << width) - 1)
    if draw < 0.6:
        low, high = limits(chance.choice(sorted(INTEGERS)))
        return chance.choice([low, high]) + chance.randrange(-2, 3) & ((1 << width) - 1)
    return any_of(chance, name)


def stepped(name, bits, by):
    """The neighbour of a float in this type's order, of the same sign."""
    _, _, fraction, exponent = FLOATS[name]
    sign = bits & 1 << (fraction + exponent)
    magnitude = (bits ^ sign) + by
    return bits if magnitude < 0 or magnitude > ((1 << exponent) - 1) << fraction else sign | magnitude


def around_integer(chance, name, target):
    low, high = limits(target)
    draw = chance.random()
    if draw < 0.3:
        value = chance.choice([low, high, 0]) + chance.choice([-1.5, -1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1, 1.5])
    elif draw < 0.6:
        value = chance.randrange(low, high + 1) >> chance.randrange(INTEGERS[target][0])
        value += chance.choice([0, 0.25, 0.5, 0.5, 0.75, -0.5])
    elif draw < 0.7:
        value = chance.randrange(-9, 10) / 2
    else:
        return any_of(chance, name)
    bits = float_bits(name, value)
    return stepped(name, bits, chance.choice([0, 0, 0, -1, 1]))


def around_float(chance, name, target):
    """Values of a wider float type that a narrower one cannot hold: halfway, beside that, denormal there, too large."""
    if chance.random() < 0.2:
        return any_of(chance, name)
    _, _, fraction, exponent = FLOATS[target]
    extra = FLOATS[name][2] - fraction
    top = ((1 << exponent) - 1) << fraction
    near = chance.choice([chance.randrange(top), chance.randrange(1 << (fraction + 1)), top - 1 - chance.randrange(4),
                          chance.randrange(8)])
    bits = float_bits(name, float_value(target, near))
    gap = chance.choice([0, 1, (1 << (extra - 1)) - 1, 1 << (extra - 1), (1 << (extra - 1)) + 1, (1 << extra) - 1])
    if near < 1 << fraction:  # denormal there: half a step is an exact number here
        step = float_value(target, 1)
        bits = float_bits(name, float_value(target, near) + step * chance.choice([0, 0.25, 0.5, 0.5, 0.75]))
        gap = chance.choice([0, 0, 1])
    bits += gap
    return bits | chance.getrandbits(1) << (bits_of(name) - 1)


def fitting(chance, name, target):
    low, high = limits(target)
    value = chance.randrange(low, high) >> chance.randrange(INTEGERS[target][0])
    value += chance.choice([0, 0.25, 0.5, 0.5, 0.75])
    bits = float_bits(name, value)
    while not low <= float_value(name, bits) <= high:
        bits = stepped(name, bits, -1)
    return bits


def near_one(chance, name):
    if chance.random() < 0.5:
        return float_bits(name, chance.uniform(0.5, 2))
    return stepped(name, float_bits(name, chance.choice([0.5, 0.75, 1.0, 1.25, 1.5])), chance.randrange(-4, 5))


def contents(name, count, kind, position, seed):
    """`count` values of the type `name`. `position` is that of the argument: two arguments pair all their edges."""
    chance = random.Random(zlib.crc32(f"{seed} {position} {name} {kind}".encode()))
    match = re.fullmatch(r"(\w+)(?:\((.*)\))?", kind)
    word, value = match[1], match[2]
    if word == "any":
        edges = integer_edges(name) if name in INTEGERS else float_edges(name)
        n = len(edges)
        pairs = [edges[i % n] if position == 0 else edges[i // n] if position == 1 else chance.choice(edges)
                 for i in range(min(n * n, count // 2 if count < 2 * n * n else n * n))]
        return pairs + [any_of(chance, name) for _ in range(count - len(pairs))]
    if word == "numbers":
        values = contents(name, 2 * count, "any", position, seed)
        minus_zero = 1 << (bits_of(name) - 1) if name in FLOATS else None
        return [x for x in values if not is_nan(name, x) and x != minus_zero][-count:]
    makers = {
        "zero": lambda i: 0,
        "iota": lambda i: i,
        "small": lambda i: float_bits(name, chance.uniform(-16, 16)),
        "near": lambda i: near_one(chance, name),
        "scaled": lambda i: scaled(chance, name),
        "rounding": lambda i: around_integer(chance, name, chance.choice(["char", "int", "long"])),
        "around": lambda i: (around_float if value in FLOATS else around_integer)(chance, name, value),
        "fit": lambda i: fitting(chance, name, value),
        "range": lambda i: chance.randint(*map(int, value.split(","))) & ((1 << bits_of(name)) - 1),
    }
    return [makers[word](i) for i in range(count)]
