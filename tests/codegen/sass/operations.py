"""What an instruction asks of a machine, read from what NVIDIA's disassembler prints of it: src/measure/timing/operation.h decodes the
same from its bits. compare.py and record.py use it.
"""
import re

LOADS_AND_STORES = {"LD": "GlobalLoad", "LDG": "GlobalLoad", "ST": "GlobalStore", "STG": "GlobalStore", "LDS": "SharedLoad",
                    "STS": "SharedStore", "STAS": "SharedStore", "LDL": "LocalLoad", "STL": "LocalStore", "LDC": "ConstantLoad",
                    "ULDC": "UniformConstant", "LDCU": "UniformConstant", "LDGSTS": "AsyncCopy"}
ATOMICS = {"ATOM": "GlobalAtomic", "ATOMG": "GlobalAtomic", "ATOMS": "SharedAtomic", "RED": "GlobalReduction",
           "REDG": "GlobalReduction", "REDAS": "SharedAtomic"}
MATRICES = {"LDSM": "MatrixLoad", "STSM": "MatrixStore"}
SIZES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}
ATOMIC_SIZES = {"64": 8, "S64": 8, "U64": 8, "F64": 8, "128": 16, "F32x2": 8, "F32x4": 16, "F16x4": 8, "BF16x4": 8, "F16x8": 16,
                "BF16x8": 16}
WIDE = 16  # bytes of a thread from which a global load has a kind of its own
NUMBERS64 = {"F64", "S64", "U64"}
FENCES = {"CTA": "FenceBlock", "GPU": "Fence", "SYS": "FenceSystem"}
# Sparse products, by the dense ones of half the depth.
HALF_AS_DEPTH = {"16816": "1688", "16832": "16816"}
TF32_AS_DEPTH = {"1688": "1684", "16816": "1688"}
BYTE_AS_DEPTH = {"16832": "16816", "16864": "16832"}
NIBBLE_AS_DEPTH = {"16864": "16832", "168128": "16864"}


def expected(opcode, operands):
    """-> "KIND BYTES u|- REPEATS WAIT", as dump_sass prints it; None for what is not compared."""
    name, *modifiers = opcode.split(".")
    if name in LOADS_AND_STORES or name in ATOMICS or name in MATRICES:
        return memory(name, modifiers, operands)
    if name == "DEPBAR":
        return f"Wait 0 - 1 {wait(operands)}"
    kind, repeats = matrix(name, modifiers) if name.endswith("MMA") else (None, 1)
    kind = kind or form(name, modifiers)
    return kind and f"{kind} 0 - {repeats} -"


def memory(name, modifiers, operands):
    if name in MATRICES:
        count = int(modifiers[-1]) if modifiers[-1] in ("2", "4") else 1
        return f"{MATRICES[name]} {4 * count} - 1 -"
    sizes = ATOMIC_SIZES if name in ATOMICS else SIZES
    size = next((sizes[modifier] for modifier in modifiers if modifier in sizes), 4)
    kind = ATOMICS.get(name) or LOADS_AND_STORES[name]
    if kind == "GlobalLoad" and size >= WIDE:
        kind = "GlobalLoadWide"
    addresses = re.findall(r"\[([^\]]*)\]", operands)
    is_uniform = not any(re.search(r"\bR\d", address) for address in addresses)
    is_shown = is_uniform and kind not in ("AsyncCopy", "LocalLoad", "LocalStore")
    return f"{kind} {size} {'u' if is_shown else '-'} 1 -"


def wait(operands):
    listed = re.search(r"\{([\d,]+)\}", operands)
    empty = sum(1 << int(number) for number in listed[1].split(",")) if listed else 0
    counted = re.match(r"SB(\d), (0x[0-9a-f]+)", operands)
    if counted:
        return f"{counted[1]}:{int(counted[2], 16)}:{empty}"
    return f"{(empty & -empty).bit_length() - 1}:0:{empty}"


def form(name, modifiers):
    if name == "IMAD":
        return "IntegerMultiplyWide" if {"WIDE", "HI"} & set(modifiers) else "IntegerMultiply"
    if name == "IADD":
        return "IntegerAdd64" if "64" in modifiers else "IntegerAddSimple"
    if name == "HFMA2":
        return "HalfTensor" if "MMA" in modifiers else "Half"
    if name == "MUFU":
        return "SpecialExponential" if "EX2" in modifiers else "Special"
    if name == "MEMBAR":
        return next(kind for scope, kind in FENCES.items() if scope in modifiers)
    if name in ("F2F", "F2I", "I2F", "FRND"):
        return "Convert64" if NUMBERS64 & set(modifiers) else "Convert"
    return None


def matrix(name, modifiers):
    shape = next((modifier for modifier in modifiers if re.match(r"\d[\dx]{2,}$", modifier)), "")
    is_sparse = "SP" in modifiers
    if name == "HMMA":
        if shape == "884":
            return "MatrixHalf884", 1
        if "TF32" in modifiers:
            return "MatrixTf" + (TF32_AS_DEPTH[shape] if is_sparse else shape), 1
        sums = "" if modifiers[modifiers.index(shape) + 1] == "F32" else "Sum16"
        return "MatrixHalf" + (HALF_AS_DEPTH[shape] if is_sparse else shape) + sums, 1
    if name == "IMMA":
        is_nibble = any(modifier in ("S4", "U4") for modifier in modifiers)
        as_depth = NIBBLE_AS_DEPTH if is_nibble else BYTE_AS_DEPTH
        return ("MatrixNibble" if is_nibble else "MatrixByte") + (as_depth[shape] if is_sparse else shape), 1
    if name == "BMMA":
        return "MatrixBit" + shape, 1
    if name == "QMMA":
        sums = "Sum16" if "F16" in modifiers else ""
        return "MatrixQuarter" + ("16832" if is_sparse else shape) + sums, 1
    if name == "OMMA":
        return "MatrixFp4", 1
    if name == "DMMA":
        return "MatrixFp64x" + shape.replace("x", ""), 1
    if name in ("HGMMA", "IGMMA", "BGMMA", "QGMMA"):
        return "MatrixGroup", int(shape.split("x")[1]) // 8
    return None, 1
