"""What ptxas computes while it compiles: the constants that its machine code stores.

  compile_kernel(ptx) -> (sections, "") or (None, what ptxas said)
  stored(code) -> {offset: byte or None}    what a kernel without branches stores, by the offset from its only pointer

The code is read up to the first branch or call. It is for sm_75, where a constant reaches a register by few instructions. A register that anything else wrote holds
None: ptxas left that operation to the machine, and nothing is known about its result.
"""
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import machine_code  # noqa: E402

ARCH = "sm_75"
ZERO = 255  # the register RZ
MOV, MOV_IMMEDIATE, IMAD_MOV, IMAD_MOV_IMMEDIATE, HALF_IMMEDIATE, CS2R = 0x202, 0x802, 0x224, 0x424, 0x435, 0x805
STORES = (0x386, 0x986)
STORED_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16}
UNIFORM_OR_NONE = (0xAB9, 0x882, 0x9B9, 0x3C2, 0x918)  # write no vector register
EXIT, CONTROL = 0x94D, range(0x940, 0x960)  # BRA, CALL, RET, BSSY ...


def compile_kernel(ptx, level=3, folder=None):
    with tempfile.TemporaryDirectory(dir=folder) as place:
        source, cubin = os.path.join(place, "k.ptx"), os.path.join(place, "k.cubin")
        Path(source).write_text(ptx)
        try:
            run = subprocess.run([machine_code.find_ptxas(), f"-arch={ARCH}", f"-O{level}", source, "-o", cubin],
                                 capture_output=True, text=True, errors="replace", timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return None, "ptxas does not end"
        if run.returncode != 0:
            return None, (run.stdout + run.stderr).replace(source, "k.ptx") or f"ptxas ended with status {run.returncode}"
        return machine_code.read_sections(Path(cubin).read_bytes()), ""


def stored(code):
    registers, memory = {ZERO: 0}, {}
    for at in range(0, len(code) // 16 * 16, 16):
        low, high = struct.unpack_from("<QQ", code, at)
        opcode, target, second, immediate = low & 0xFFF, low >> 16 & 0xFF, low >> 24 & 0xFF, low >> 32
        unguarded, third = low >> 12 & 15 == 7, high & 0xFF
        if opcode == EXIT and unguarded:
            break
        if opcode in CONTROL:  # what comes after is not known: it may be skipped, or may be a join
            for k in range(at, len(code) // 16 * 16, 16):
                low, high = struct.unpack_from("<QQ", code, k)
                if low & 0xFFF in STORES:
                    store(memory, {}, low >> 32, STORED_BYTES[high >> 9 & 7], False)
            break
        if opcode in STORES:
            store(memory, registers, immediate, STORED_BYTES[high >> 9 & 7], unguarded)
            continue
        if opcode in UNIFORM_OR_NONE:
            continue
        values = (None, None, None, None)  # an instruction may write several
        if unguarded and opcode in (MOV_IMMEDIATE,) or opcode in (IMAD_MOV_IMMEDIATE, HALF_IMMEDIATE) and second == ZERO:
            values = (immediate,)
        elif unguarded and opcode == MOV:
            values = (registers.get(immediate & 0xFF),)
        elif unguarded and opcode == IMAD_MOV and second == ZERO:
            values = (registers.get(third),)
        elif unguarded and opcode == CS2R and high >> 8 & 0xFF == 0xFF:
            values = (0, 0)
        for k, value in enumerate(values if unguarded else (None, None, None, None)):
            if target + k < ZERO:
                registers[target + k] = value
    return memory


def store(memory, registers, operand, size, unguarded):
    offset, register = operand >> 8, operand & 0xFF
    offset -= offset >> 23 << 24
    for k in range(size):
        value = registers.get(register + k // 4 if register != ZERO else ZERO) if unguarded else None
        memory[offset + k] = None if value is None else value >> 8 * (k % 4) & 0xFF


def bytes_at(memory, offset, size):
    """None where one of them is not known."""
    found = [memory.get(offset + k) for k in range(size)]
    return None if None in found else bytes(found)
