"""Arguments of kernels as `ptxopt run` takes them, and the buffers that they name.

  u32:5 s64:-1 f32:1.5 f64:inf     scalars
  f32:0f3F800000 b32:0x3f800000    ... by their bits
  bytes:00ff01 bytes:@FILE         structures
  [NAME=]buf:TYPE:COUNT:INIT       a new buffer, passed as its address; INIT is zero, iota, random, fill=VALUE, uninit, @FILE
  x x+64                           an earlier buffer, with an offset in bytes; variables of the module are not reached

`random` gives the bytes that `ptxopt run --seed` gives. Buffers without a name are arg0, arg1, ...
"""
import math
import re
import struct
from dataclasses import dataclass
from pathlib import Path

INTEGERS = {f"{kind}{bits}": bits // 8 for kind in "usb" for bits in (8, 16, 32, 64)}
FLOATS = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
SIZES = {**INTEGERS, **FLOATS}
PACKS = {"f16": "<e", "f32": "<f", "f64": "<d"}
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}  # of random numbers: exact in every step
NAME = re.compile(r"[A-Za-z_$%][\w$%]*")
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


class ArgumentError(Exception):
    """str() is what is wrong with an argument."""


@dataclass
class Buffer:
    name: str
    type: str
    count: int
    init: str
    folder: str = "."

    @property
    def size(self):
        return self.count * SIZES[self.type]


@dataclass
class Scalar:
    data: bytes


@dataclass
class Address:
    buffer: str
    offset: int


def bf16_bits(value):
    """Rounded to nearest, ties to even."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if math.isnan(value):
        return 0x7FC0 | bits >> 31 << 15
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def float_bytes(kind, value):
    if kind == "bf16":
        return struct.pack("<H", bf16_bits(value))
    try:
        return struct.pack(PACKS[kind], value)
    except OverflowError:
        raise ArgumentError(f"{value} does not fit into {kind}") from None


def parse_float(kind, text):
    size = FLOATS[kind]
    exact = re.fullmatch(r"0[fF]([0-9a-fA-F]{8})" if kind == "f32" else r"0[dD]([0-9a-fA-F]{16})", text)
    if exact and kind in ("f32", "f64"):
        return int(exact[1], 16).to_bytes(size, "little")
    if not re.fullmatch(r"[+-]?(inf|nan|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)", text, re.I):
        raise ArgumentError(f"'{text}' is not a value of type {kind}")
    if "nan" in text.lower():
        quiet = {"f16": 0x7E00, "bf16": 0x7FC0, "f32": 0x7FC00000, "f64": 0x7FF8 << 48}[kind]
        return (quiet | text.startswith("-") << (8 * size - 1)).to_bytes(size, "little")
    return float_bytes(kind, float(text))


def parse_integer(kind, text):
    if not re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)", text):
        raise ArgumentError(f"'{text}' is not a value of type {kind}")
    bits = 8 * INTEGERS[kind]
    value = int(text, 16 if "x" in text.lower() else 10)
    half, is_hex = 1 << (bits - 1), "x" in text.lower()
    least = -half if kind[0] in "sb" else 0
    most = half - 1 if kind[0] == "s" and not is_hex else 2 * half - 1
    if not least <= value <= most:
        raise ArgumentError(f"'{text}' does not fit into {kind}")
    return (value % (2 * half)).to_bytes(bits // 8, "little")


def parse_value(kind, text):
    if kind not in SIZES:
        raise ArgumentError(f"'{kind}' is none of {' '.join(SIZES)}")
    return parse_float(kind, text) if kind in FLOATS else parse_integer(kind, text)


def parse_buffer(name, spec, folder):
    parts = spec.split(":", 3)
    if len(parts) < 3 or parts[0] != "buf":
        raise ArgumentError(f"'{spec}' is not buf:TYPE:COUNT:INIT")
    kind = parts[1]
    if kind not in SIZES:
        raise ArgumentError(f"'{kind}' is none of {' '.join(SIZES)}")
    if parts[2].startswith("@"):
        init = ":".join(parts[2:])
        return Buffer(name, kind, (Path(folder) / init[1:]).stat().st_size // SIZES[kind], init, folder)
    if len(parts) < 4 or not parts[2].isdigit():
        raise ArgumentError(f"'{spec}' is not buf:TYPE:COUNT:INIT")
    init = parts[3]
    if init.startswith("fill="):
        parse_value(kind, init[5:])
    elif init not in ("zero", "iota", "random", "uninit") and not init.startswith("@"):
        raise ArgumentError(f"'{init}' is none of zero, iota, random, fill=VALUE, uninit and @FILE")
    return Buffer(name, kind, int(parts[2]), init, folder)


def parse(text, number, buffers, folder="."):
    """An argument: a Scalar, or an Address; a new buffer is added to `buffers`."""
    if ":" not in text:
        name, _, offset = text.partition("+")
        if name not in buffers:
            raise ArgumentError(f"there is no buffer '{name}'")
        if offset and not offset.isdigit():
            raise ArgumentError(f"'{text}': '{offset}' is not a number of bytes")
        return Address(name, int(offset or 0))
    head, equals, rest = text.partition("=")
    named = bool(equals) and ":" not in head
    spec, name = (rest, head) if named else (text, f"arg{number}")
    if named and not NAME.fullmatch(name):
        raise ArgumentError(f"'{name}' is not a name for a buffer")
    kind, _, value = spec.partition(":")
    if kind == "buf":
        if name in buffers:
            raise ArgumentError(f"there are two buffers called '{name}'")
        buffers[name] = parse_buffer(name, spec, folder)
        return Address(name, 0)
    if named:
        raise ArgumentError(f"'{text}': only buffers have names")
    if kind == "bytes":
        try:
            return Scalar((Path(folder) / value[1:]).read_bytes() if value.startswith("@") else bytes.fromhex(value))
        except ValueError:
            raise ArgumentError(f"'{value}' is not pairs of hexadecimal digits") from None
    return Scalar(parse_value(kind, value))


# ---- what buffers hold ----

def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def random_state(seed, name):
    """Where the generator of a buffer begins: FNV-1a of the seed and the name."""
    state = 0xCBF29CE484222325
    for byte in seed.to_bytes(8, "little") + name.encode():
        state = (state ^ byte) * 0x100000001B3 & MASK
    return state


def random_bytes(kind, count, seed, name):
    """splitmix64; floats lie in [-1, 1)."""
    state, size, out = random_state(seed, name), SIZES[kind], []
    numbers = (mix(state + i * GOLDEN & MASK) for i in range(1, count + 1))
    if kind not in FLOATS:
        low = (1 << 8 * size) - 1
        return b"".join((x & low).to_bytes(size, "little") for x in numbers)
    digits = DIGITS[kind]
    scale = 2.0 ** (1 - digits)
    for x in numbers:
        out.append(float_bytes(kind, (x >> (64 - digits)) * scale - 1.0))
    return b"".join(out)


def initial_bytes(buffer, seed):
    """What a buffer holds at first."""
    size, init = SIZES[buffer.type], buffer.init
    if init in ("zero", "uninit"):
        return bytes(buffer.size)
    if init == "random":
        return random_bytes(buffer.type, buffer.count, seed, buffer.name)
    if init == "iota":
        if buffer.type in FLOATS:
            return b"".join(float_bytes(buffer.type, float(i)) for i in range(buffer.count))
        return b"".join((i % (1 << 8 * size)).to_bytes(size, "little") for i in range(buffer.count))
    if init.startswith("fill="):
        return parse_value(buffer.type, init[5:]) * buffer.count
    data = (Path(buffer.folder) / init[1:]).read_bytes()
    if len(data) != buffer.size:
        raise ArgumentError(f"'{init[1:]}' has {len(data)} bytes, the buffer '{buffer.name}' has {buffer.size}")
    return data
