"""The registers that an instruction reads and writes, from the text of NVIDIA's disassembler.

Only what uses() and definitions() say is certain for the opcodes of KNOWN: arithmetic, moves, comparisons and selections on
registers, predicates and their uniform counterparts. Registers are names as printed: R5, UR4, P0, UP1.
"""
import re
from dataclasses import dataclass, field

INSTRUCTION = re.compile(r"^(?:@!?(U?P\w+)\s+)?(\S+)\s*(.*)$")
REGISTER = re.compile(r"(?<![\w.])(U?R)(\d+)((?:\.\w+)*)")
PREDICATE = re.compile(r"\bU?P\d\b")
PLAIN_PREDICATE = re.compile(r"^U?P[\dT]$")
PLAIN_REGISTER = re.compile(r"^U?R(\d+|Z)\b")

SETS_PREDICATES = {"ISETP", "FSETP", "DSETP", "HSETP2", "PLOP3", "UISETP", "UPLOP3", "UFSETP"}
CARRIES = {"IADD3", "IADD", "LEA", "IMAD", "UIADD3", "UIMAD", "ULEA"}
OF_PAIRS = {"DADD", "DMUL", "DFMA", "FFMA2", "FADD2", "FMUL2"}
KNOWN = SETS_PREDICATES | CARRIES | OF_PAIRS | {
    "FFMA", "FADD", "FMUL", "FMNMX", "FSEL", "FSET", "LOP3", "SHF", "SEL", "MOV", "PRMT", "IMNMX", "VIMNMX", "VIADD", "IDP", "IABS",
    "SGXT", "BMSK", "HADD2", "HMUL2", "HFMA2", "HMNMX2", "HSET2", "I2FP", "F2FP", "VABSDIFF", "VABSDIFF4", "UMOV", "ULOP3", "USHF",
    "USEL", "UPRMT", "USGXT", "UBMSK", "FHADD", "FHFMA", "FMNMX3", "VIMNMX3", "VIADDMNMX", "CS2R"}


@dataclass
class Access:
    """`reads` are pairs of a register and its place: the number of the operand, or None for a predicate."""
    writes: list = field(default_factory=list)
    reads: list = field(default_factory=list)
    opcode: str = ""

    @property
    def mnemonic(self):
        return self.opcode.split(".")[0]


def registers_of(operand, count):
    result = []
    for match in REGISTER.finditer(operand):
        width = 2 if ".64" in match[3] else count
        result += [f"{match[1]}{int(match[2]) + n}" for n in range(width)]
    return result


def access(text):
    """-> Access of an instruction; None where it is not certain."""
    guard, opcode, rest = INSTRUCTION.match(text).groups()
    name, *modifiers = opcode.split(".")
    if name not in KNOWN:
        return None
    operands = [operand.strip() for operand in re.split(r",(?![^\[{]*[\]}])", rest)] if rest else []
    of_pairs = name in OF_PAIRS or name in ("IADD", "MOV") and "64" in modifiers or name == "CS2R" and "32" not in modifiers
    found, at = Access(opcode=opcode), 0
    if guard and PREDICATE.fullmatch(guard):
        found.reads.append((guard, None))
    while at < len(operands) and PLAIN_PREDICATE.match(operands[at]) and (at < 2 or name not in SETS_PREDICATES):
        found.writes += PREDICATE.findall(operands[at])
        at += 1
    if name not in SETS_PREDICATES:
        if at == len(operands) or not PLAIN_REGISTER.match(operands[at]):
            return None
        found.writes += registers_of(operands[at], 2 if of_pairs or "WIDE" in modifiers else 1)
        at += 1
        while name in CARRIES and at < len(operands) and PLAIN_PREDICATE.match(operands[at]):
            found.writes += PREDICATE.findall(operands[at])
            at += 1
    for place, operand in enumerate(operands[at:]):
        count = 2 if of_pairs or "WIDE" in modifiers and place == 2 else 1
        found.reads += [(register, place) for register in registers_of(operand, count)]
        found.reads += [(predicate, None) for predicate in PREDICATE.findall(operand)]
    return found
