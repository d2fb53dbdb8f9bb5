"""What ptxas makes of a PTX file, and whether two files become the same machine code.

  machine_code.py stats A.ptx...         one line a kernel: registers, stack, spills, machine instructions, those of its
                                         innermost loops, and the warps that a multiprocessor holds by registers alone
  machine_code.py same A.ptx B.ptx       exit 0 when both assemble to the same machine code

As a module: assemble(path, arch, opt) -> Assembled, fingerprint(assembled) -> {section: digest}, differing(a, b) and
same(a, b) on two fingerprints, stats(assembled), loop_stats(assembled, arch), difference(a, b) on two Assembled.

Compared are the instructions of every function (.text.*), the constant banks, the initialised and zeroed data with
their sizes, the attributes that the driver reads (.nv.info.*) and the relocations of all these. Not compared: names and
symbol order, debug sections, and the note with the command line.

toolkit.py finds ptxas. Where $PTXOPT_KEPT names a folder, what ptxas made of a
text is kept there, under the hash of all that it depends on, and no text is assembled twice: tests of one build that
come to the same text, such as those of the sanitized one and their twins, share it.
"""
import argparse
import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass, field

import natural_loops
from architectures import warps_and_blocks
from toolkit import find_ptxas

COMPARED = (".text.", ".nv.constant", ".nv.global", ".nv.shared", ".nv.local", ".nv.info.", ".rel.text.", ".rela.text.",
            ".rel.nv.", ".rela.nv.")
NOBITS = (8, 0x70000007, 0x70000009, 0x7000000A, 0x70000015)  # section types without bytes in the file: .bss, and NVIDIA's
RELOCATIONS, SYMBOLS = (4, 9), 2
# The low 12 bits of machine instructions. A branch on a uniform predicate is of sm_100 and newer.
BRANCH, UNIFORM_BRANCH, NOP = 0x947, 0x547, 0x918
BRANCHES = (BRANCH, UNIFORM_BRANCH)
# Loads and stores, without those of local and constant memory: LD, LDG, LDS, ST, STG, STS. The low 9 bits are the operation.
ACCESSES, OPERATION = (0x180, 0x181, 0x184, 0x185, 0x186, 0x188), 0x1FF
ENDS = (0x94D, 0x949, 0x958, 0x950)  # EXIT, BRX, BRXU, RET
NEVER = 15  # a guard, !PT


class AssemblyError(Exception):
    """ptxas refused the file; str() is what it said."""

    was_killed = False  # by a signal, which says nothing of the file


@dataclass
class Assembled:
    sections: dict = field(default_factory=dict)  # name -> bytes
    log: str = ""  # what ptxas -v printed


def target_words(path):
    """What stands after .target, without comments: the architecture and options."""
    with open(path, "rb") as file:
        head = file.read(1 << 16).decode("latin-1")
    match = re.search(r"\.target\s+(\w+(?:\s*,\s*\w+)*)", re.sub(r"//.*|/\*.*?\*/", "", head))
    return re.split(r"\s*,\s*", match[1]) if match else []


def read_target(path):
    """The architecture to assemble for: the file's own .target, or the oldest one ptxas still makes code for."""
    match = re.match(r"(?:sm|compute)_(\d+)([af]?)", " ".join(target_words(path)))
    return f"sm_{match[1]}{match[2]}" if match and int(match[1]) >= 75 else "sm_75"


def is_debug(path):
    """True for a `.target ..., debug` module, which ptxas only takes unoptimized."""
    return "debug" in target_words(path)


def assemble(path, arch=None, opt=3, whole=False):
    """Assemble one file, or take from $PTXOPT_KEPT what came of its text before. Raises AssemblyError with what ptxas said
    where it refuses."""
    folder = os.environ.get("PTXOPT_KEPT")
    ptxas = find_ptxas()
    if not folder or not ptxas:
        return assemble_now(path, arch, opt, whole)
    with open(path, "rb") as file:
        text = file.read()
    kept = os.path.join(folder, "assembled", key_of(text, ptxas, arch or read_target(path), f"{opt} {whole}"))
    try:
        with open(kept, "rb") as file:
            result = load(file.read())
    except FileNotFoundError:
        try:
            result = assemble_now(path, arch, opt, whole)
        except AssemblyError as error:
            if error.was_killed:
                raise
            result = str(error).replace(str(path), PATH_MARK)
        store(result, kept)
    if isinstance(result, str):
        raise AssemblyError(result.replace(PATH_MARK, str(path)))
    return result


PATH_MARK = "\0path\0"  # for the path of the file in a message that is kept


def key_of(text, ptxas, arch, opt):
    """The hash of what the machine code depends on; a ptxas is told from others by its place, size and time."""
    real = os.path.realpath(ptxas)
    about = os.stat(real)
    with open(__file__, "rb") as file:
        words = [real, str(about.st_size), str(about.st_mtime_ns), arch, str(opt), hashlib.sha256(file.read()).hexdigest()]
    return hashlib.sha256("\n".join(words).encode() + b"\n" + text).hexdigest()[:32]


def store(result, path):
    """An Assembled, or the text of an error; in one step, for tests beside this one."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if isinstance(result, str):
        data = json.dumps({"refused": result}).encode()
    else:
        sections = {name: data for name, data in result.sections.items() if name.startswith(COMPARED)}
        sizes = {name: len(data) for name, data in sections.items()}
        data = json.dumps({"sections": sizes, "log": result.log}).encode() + b"\n" + b"".join(sections.values())
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), delete=False) as file:
        file.write(zlib.compress(data, 1))
    os.replace(file.name, path)


def load(data):
    head, _, bytes_of = zlib.decompress(data).partition(b"\n")
    head = json.loads(head)
    if "refused" in head:
        return head["refused"]
    result, at = Assembled({}, head["log"]), 0
    for name, size in head["sections"].items():
        result.sections[name] = bytes_of[at:at + size]
        at += size
    return result


def assemble_now(path, arch=None, opt=3, whole=False):
    """Assemble one file.

    Relocatable code keeps functions that no kernel calls, so -c is tried first. Some old PTX is refused with it. `whole`: a
    whole program is tried first, which is what the guard does; with -c what calls functions of other files.
    """
    ptxas = find_ptxas()
    if not ptxas:
        raise AssemblyError("no ptxas found (set PTXAS)")
    flags = ["-v", f"-arch={arch or read_target(path)}"] + (["-g", "-O0"] if is_debug(path) else [f"-O{opt}"])
    refused = None
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "a.cubin")
        for mode in ([], ["-c"]) if whole else (["-c"], []):
            run = subprocess.run([ptxas, *flags, *mode, path, "-o", cubin], capture_output=True, text=True, errors="replace")
            if run.returncode == 0:
                with open(cubin, "rb") as file:
                    return Assembled(read_sections(file.read()), run.stderr)
            refused = refused or run
            if not whole and "Compile only(-c)" not in run.stderr and "not allowed with ABI" not in run.stderr:
                break
    error = AssemblyError(refused.stderr.strip() or f"ptxas ended with status {refused.returncode}")
    error.was_killed = refused.returncode < 0
    raise error


def read_sections(elf):
    """name -> bytes of every section of a 64-bit ELF file; of one that holds no bytes, its size as text."""
    table, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, table + i * size) for i in range(count)]
    # Of PTX 1.4, ptxas 12 writes links to another section.
    symbols = next((header for header in headers if header[1] == SYMBOLS), None)
    sections = {}
    for name_at, kind, _, _, offset, length, _, _, _, entry in headers:
        name = text_at(elf, headers[names_index][4] + name_at)
        if kind in NOBITS:
            sections[name] = b"%d zero bytes" % length
        elif kind in RELOCATIONS:
            sections[name] = relocations(elf, offset, length, entry, symbols[4], headers[symbols[6]][4])
        else:
            sections[name] = elf[offset:offset + length]
    return sections


def text_at(elf, at):
    return elf[at:elf.index(b"\0", at)].decode()


def relocations(elf, offset, length, entry, symbols, names):
    """Relocations as sorted lines, with the symbol's name for its number, which depends on the order of the symbols."""
    rows = []
    for at in range(offset, offset + length, entry):
        place, info = struct.unpack_from("<QQ", elf, at)
        name_at, = struct.unpack_from("<I", elf, symbols + 24 * (info >> 32))
        # Names that ptxas makes for variables of a function end in a running number.
        name = re.sub(r"^(\$.*__)\d+$", r"\1", text_at(elf, names + name_at))
        rows.append(f"{place:x} type {info & 0xFFFFFFFF:x} {name} {elf[at + 16:at + entry].hex()}")
    return "\n".join(sorted(rows)).encode()


def fingerprint(assembled):
    """name -> digest of every section that is compared: small enough to keep."""
    return {name: hashlib.sha256(data).hexdigest() for name, data in assembled.sections.items() if name.startswith(COMPARED)}


def differing(a, b):
    """Names of the sections in which two fingerprints differ."""
    return sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))


def same(a, b):
    return not differing(a, b)


def opcodes_of(text):
    return [struct.unpack_from("<Q", text, at)[0] & 0xFFF for at in range(0, len(text) // 16 * 16, 16)]


def difference(a, b):
    """How the code of b differs from that of a: 'same'; 'order', the same number of each instruction in every function,
    with as many registers, as much stack and as many spills, so that only the order or the numbers of registers are
    others; 'less', in no function more instructions, registers, stack or spills; or 'other'."""
    if same(fingerprint(a), fingerprint(b)):
        return "same"
    before, after = stats(a), stats(b)
    if before.keys() != after.keys():
        return "other"
    texts = [name for name in a.sections.keys() | b.sections.keys() if name.startswith(".text.")]
    if before == after and all(sorted(opcodes_of(a.sections.get(name, b""))) == sorted(opcodes_of(b.sections.get(name, b"")))
                               for name in texts):
        return "order"
    return "less" if all(after[name][key] <= row[key] for name, row in before.items() for key in row) else "other"


def instruction_count(text):
    """Machine instructions of a function, without the padding and the branch to itself at its end."""
    opcodes = opcodes_of(text)
    while opcodes and opcodes[-1] == NOP:
        opcodes.pop()
    if opcodes and opcodes[-1] == BRANCH:
        opcodes.pop()
    return len(opcodes)


def accesses(text):
    """How many instructions load or store. A loop that is unrolled by four has each of them five times."""
    return sum(opcode & OPERATION in ACCESSES for opcode in opcodes_of(text))


def branch_target(low, high, at, wide):
    """The number of the instruction that the branch at number `at` goes to; None for none of the function's.

    The offset is in bytes / 4 from the next instruction, signed, in the bits from 34 on. From sm_90 on (`wide`) its low
    byte is apart, in the bits from 16 on.
    """
    offset = (low | high << 64) >> 34 & (1 << 48) - 1
    offset -= offset >> 47 << 48
    if wide:
        offset = offset << 8 | low >> 16 & 0xFF
    return at + 1 + offset // 4 if offset % 4 == 0 else None


def always(low, high):
    """Whether a branch or an exit is always taken: its guard and its other predicate are PT, or the uniform one is UPT, and it
    does not ask whether the warp diverged."""
    if low >> 12 & 15 != 7 or high >> 23 & 15 != 7:
        return False
    return low >> 24 & 15 == 7 if low & 0xFFF == UNIFORM_BRANCH else not low >> 33 & 1


def follows(text):
    """instruction -> those that may follow it. Where indirect branches go is not known here."""
    count = instruction_count(text)
    words = [struct.unpack_from("<QQ", text, at) for at in range(0, len(text) // 16 * 16, 16)]
    # The branch to itself after the code shows how this architecture writes an offset of -16 bytes.
    wide = len(words) > count and words[count][0] & 0xFFF == BRANCH and words[count][0] >> 16 & 0xFF == 0xFC
    graph = {}
    for at, (low, high) in enumerate(words[:count]):
        opcode, targets = low & 0xFFF, []
        if low >> 12 & 15 == NEVER or opcode not in (*ENDS, *BRANCHES) or not always(low, high):
            targets.append(at + 1)
        if opcode in BRANCHES and low >> 12 & 15 != NEVER and (targets or branch_target(low, high, at, wide) != at):
            targets.append(branch_target(low, high, at, wide))
        graph[at] = [to for to in targets if to is not None and 0 <= to < count]
    return graph


def inner_loops(text):
    """Machine instructions of each innermost natural loop. src/measure/sass finds the same ones in another way."""
    found, _ = natural_loops.loops(follows(text))
    return [len(body) for header, body in found.items() if not any(other in body for other in found if other != header)]


def resident_warps(registers, arch):
    """Warps that a multiprocessor holds by registers alone: 64 Ki registers, granted 8 a thread at a time."""
    most, _ = warps_and_blocks()[int(re.search(r"\d+", arch)[0])]
    return min(most, 65536 // ((max(registers, 1) + 7) // 8 * 8 * 32) // 4 * 4)


def stats(assembled):
    """function -> dict(registers, stack, spill_stores, spill_loads, shared, instructions)"""
    result, current = {}, None
    for line in assembled.log.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'|Function properties for (\S+)", line):
            current = match[1] or match[2]
            result.setdefault(current, dict(registers=0, stack=0, spill_stores=0, spill_loads=0, shared=0))
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            result[current].update(stack=int(match[1]), spill_stores=int(match[2]), spill_loads=int(match[3]))
        elif match := re.search(r"Used (\d+) registers", line):
            shared = re.search(r"(\d+) bytes smem", line)
            result[current].update(registers=int(match[1]), shared=int(shared[1]) if shared else 0)
    for name, row in result.items():
        row["instructions"] = instruction_count(assembled.sections.get(".text." + name, b""))
    return result


def loop_stats(assembled, arch):
    """stats() and, of each function, inner (instructions of the innermost loops together), loops (how many) and warps."""
    result = stats(assembled)
    for name, row in result.items():
        sizes = inner_loops(assembled.sections.get(".text." + name, b""))
        row.update(inner=sum(sizes), loops=len(sizes), warps=resident_warps(row["registers"], arch))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["stats", "same"])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--arch", help="default: the .target of the (first) file")
    parser.add_argument("--opt", type=int, default=3)
    args = parser.parse_args()
    try:
        if args.verb == "stats":
            for path in args.files:
                for name, row in sorted(loop_stats(assemble(path, args.arch, args.opt), args.arch or read_target(path)).items()):
                    print(path, name, *(f"{key}={value}" for key, value in row.items()), sep="\t")
            return 0
        if len(args.files) != 2:
            parser.error("same takes two files")
        arch = args.arch or read_target(args.files[0])
        bad = differing(*(fingerprint(assemble(path, arch, args.opt)) for path in args.files))
    except AssemblyError as error:
        print(f"machine_code.py: {error}", file=sys.stderr)
        return 2
    print("differs: " + ", ".join(bad) if bad else "same machine code")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
