"""Comparing what two variants left in a buffer, bit for bit.

  difference(buffer, before, after, nan) -> None where they are equal, or what differs, for JSON and for text

With nan="any" all NaNs of a type are one value. Bytes beyond the end of the buffer are compared, too: see job.py.
"""
import struct

from arguments import FLOATS, SIZES

CHUNK = 1 << 16
MOST_COUNTED = 100_000
NANS = {"f16": (0x7C00, 0x03FF), "bf16": (0x7F80, 0x007F), "f32": (0x7F800000, 0x007FFFFF), "f64": (0x7FF << 52, (1 << 52) - 1)}
NUMBERS = {"f16": "<e", "f32": "<f", "f64": "<d"}


def shown(kind, bits):
    size = SIZES[kind]
    text = f"0x{bits:0{2 * size}x}"
    if kind == "bf16":
        return f"{text} ({struct.unpack('<f', struct.pack('<I', bits << 16))[0]:.4g})"
    if kind in NUMBERS:
        digits = {2: 5, 4: 9, 8: 17}[size]
        return f"{text} ({struct.unpack(NUMBERS[kind], bits.to_bytes(size, 'little'))[0]:.{digits}g})"
    value = bits - (1 << 8 * size) if kind[0] == "s" and bits >> (8 * size - 1) else bits
    return f"{text} ({value})"


def is_nan(kind, bits):
    if kind not in FLOATS:
        return False
    exponent, fraction = NANS[kind]
    return bits & exponent == exponent and bits & fraction != 0


def differing(kind, before, after, nan):
    """Index and bits of the elements that differ."""
    size = SIZES[kind]
    for begin in range(0, len(before), CHUNK):
        a, b = before[begin:begin + CHUNK], after[begin:begin + CHUNK]
        if a == b:
            continue
        for at in range(0, len(a), size):
            if a[at:at + size] == b[at:at + size]:
                continue
            x, y = (int.from_bytes(part[at:at + size], "little") for part in (a, b))
            if not (nan == "any" and is_nan(kind, x) and is_nan(kind, y)):
                yield (begin + at) // size, x, y


def difference(buffer, before, after, nan="bits"):
    if before == after:
        return None
    first, count = None, 0
    for index, x, y in differing(buffer.type, before, after, nan):
        first = first or (index, x, y)
        count += 1
        if count == MOST_COUNTED:
            break
    if first is None:
        return None
    index, x, y = first
    return {"buffer": buffer.name, "index": index, "byte": index * SIZES[buffer.type], "beyond_end": index >= buffer.count,
            "before": shown(buffer.type, x), "after": shown(buffer.type, y), "differing": count, "of": buffer.count}


def in_words(d):
    beyond = ", beyond the end" if d["beyond_end"] else ""
    least = "at least " if d["differing"] == MOST_COUNTED else ""
    return (f"{d['buffer']}[{d['index']}]{beyond}: {d['before']} and {d['after']}; {least}{d['differing']} of {d['of']} elements differ")
