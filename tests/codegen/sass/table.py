#!/usr/bin/env python3
"""Writes src/measure/sass/encodings.def from what NVIDIA's disassembler accepts, or compares it.

  table.py --nvdisasm PROGRAM --words FOLDER probe SM75...   asks for each encoding and adds to FOLDER/sm_NUMBER.txt
  table.py --nvdisasm PROGRAM --words FOLDER code FILE.cubin...  adds what stands in real code
  table.py --words FOLDER write                                  writes encodings.def, and rows that opcodes.def lacks
  table.py --words FOLDER --dump dump_sass check                 compares the decoder with FOLDER

An encoding is 13 bits: bit 91, then bits 11 to 0. `probe` asks nvdisasm for words whose other bits are zero but for the guard
and the control bits, and for encodings that it refuses then also for --tries words of random operands: some opcodes are
refused with operands of zeros, such as F2I. A word at a time takes 3 to 10 ms: about a minute an architecture, and with 18
tries half an hour. What no try finds, real code has: `code`. All steps add to what FOLDER has.

Two mnemonics for one encoding of one architecture are an error: variants.def has to say which other bits tell them apart.
"""
import argparse
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
SASS = HERE.parents[2] / "src" / "measure" / "sass"
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lib")]
import machine_code  # noqa: E402
import nvdisasm  # noqa: E402

ARCHITECTURES = [75, 80, 86, 87, 88, 89, 90, 100, 103, 107, 110, 120, 121]
ENCODINGS = 1 << 13
OPERANDS = (1 << 91) - (1 << 16) | (1 << 104) - (1 << 92)  # all bits that are neither opcode, guard nor control
ALWAYS = 7 << 12  # the guard PT
CONTROL = 0x7E5 << 105  # a stall of 5 cycles, no scoreboards
SEED = 7
FLOWS = {"BRA": "Branch", "JMP": "Branch", "BRX": "IndirectBranch", "BRXU": "IndirectBranch", "JMX": "IndirectBranch",
         "JMXU": "IndirectBranch", "CALL": "Call", "RET": "Return", "RTT": "Return", "EXIT": "Exit"}
SILENT = "-"  # nvdisasm takes the word and prints nothing
VARIANTS = (SASS / "variants.def").read_text()
WIDTH = 114


def word_of(encoding, operands):
    word = operands & OPERANDS | encoding & 0xFFF | (encoding >> 12) << 91 | ALWAYS | CONTROL
    return struct.pack("<QQ", word & (1 << 64) - 1, word >> 64)


def encoding_of(word):
    low, high = struct.unpack("<QQ", word)
    return low & 0xFFF | (high >> 27 & 1) << 12


def read_known(folder, number):
    path = Path(folder, f"sm_{number}.txt")
    if not path.exists():
        return {}
    return {int(line.split()[0], 16): line.split()[1] for line in path.read_text().splitlines()}


def base_of(mnemonic):
    """Of an opcode in variants.def the one whose encoding it shares."""
    while match := re.search(rf"^SASS_VARIANT\({re.escape(mnemonic)}, (\w+)", VARIANTS, re.M):
        mnemonic = match[1]
    return mnemonic


def add(folder, number, found):
    """found: pairs of an encoding and a mnemonic."""
    known = read_known(folder, number)
    for encoding, mnemonic in found:
        mnemonic = base_of(mnemonic)
        if mnemonic == SILENT and encoding in known:
            continue
        if known.get(encoding) == SILENT:
            known[encoding] = mnemonic
        if known.setdefault(encoding, mnemonic) != mnemonic:
            sys.exit(f"table.py: sm_{number}: {encoding:#x} is {known[encoding]} and {mnemonic}")
    lines = [f"{encoding:04x} {mnemonic}\n" for encoding, mnemonic in sorted(known.items())]
    Path(folder, f"sm_{number}.txt").write_text("".join(lines))
    return len(known)


def all_known(folder):
    """The tables of all architectures. What nvdisasm does not print is what the next architecture has there."""
    tables = {number: read_known(folder, number) for number in ARCHITECTURES}
    for older, newer in reversed(list(zip(ARCHITECTURES, ARCHITECTURES[1:]))):
        for encoding, mnemonic in list(tables[older].items()):
            if mnemonic == SILENT:
                tables[older][encoding] = tables[newer].get(encoding, SILENT)
    return {number: {encoding: m for encoding, m in table.items() if m != SILENT} for number, table in tables.items()}


def built_probe(folder):
    library = os.path.join(folder, "probe.so")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", str(HERE / "probe.c"), "-o", library, "-ldl"], check=True)
    return library


def asked(program, name, words, library, folder):
    """The mnemonic of each word, None for those that nvdisasm refuses."""
    paths = {variable: os.path.join(folder, variable) for variable in ("PROBE_WORDS", "PROBE_FILE")}
    Path(paths["PROBE_WORDS"]).write_bytes(b"".join(words))
    Path(paths["PROBE_FILE"]).write_bytes(bytes(16))
    text = subprocess.run([program, "-b", name, paths["PROBE_FILE"]], env={**os.environ, **paths, "LD_PRELOAD": library},
                          capture_output=True, text=True).stdout
    parts = re.split(r"^#(\d+)\n", text, flags=re.M)
    if len(parts) != 2 * len(words) + 1:
        sys.exit(f"table.py: {len(parts) // 2} answers for {len(words)} words: this nvdisasm opens its input otherwise")
    return [mnemonic_in(part) if status == "0" else None for part, status in zip(parts[::2], parts[1::2])]


def mnemonic_in(output):
    match = nvdisasm.LINE.search(output)
    return nvdisasm.parsed(match).mnemonic if match else SILENT


def probe(args):
    with tempfile.TemporaryDirectory() as folder:
        library = built_probe(folder)
        for name in args.what:
            number, draw = int(re.search(r"\d+", name)[0]), random.Random(SEED)
            for attempt in range(args.tries + 1):
                known = read_known(args.words, number)
                left = [encoding for encoding in range(ENCODINGS) if encoding not in known]
                # Fewer and fewer bits set: fields that must be zero differ by opcode.
                operands = [0 if attempt == 0 else random_bits(draw, 1 + attempt % 3) for _ in left]
                mnemonics = asked(args.nvdisasm, name, list(map(word_of, left, operands)), library, folder)
                total = add(args.words, number, [pair for pair in zip(left, mnemonics) if pair[1]])
                print(f"{name}: {total} encodings after {attempt + 1} words each", flush=True)


def random_bits(draw, rarity):
    bits = draw.getrandbits(128)
    for _ in range(rarity - 1):
        bits &= draw.getrandbits(128)
    return bits


def code(args):
    for path in args.what:
        data = Path(path).read_bytes()
        flags, version = struct.unpack_from("<I", data, 0x30)[0], data[8]
        number = flags >> 8 & 0xFF if version >= 8 else flags & 0xFF
        for name, text in machine_code.read_sections(data).items():
            if name.startswith(".text."):
                words = [text[at:at + 16] for at in range(0, len(text), 16)]
                lines = nvdisasm.raw(args.nvdisasm, number, text)
                add(args.words, number, [(encoding_of(word), line.mnemonic) for word, line in zip(words, lines) if line])


def name_of(mnemonic):
    """In enum class Opcode; two underscores at the beginning are the compiler's."""
    return "Hir" + mnemonic[len("__HIR"):].lower() if mnemonic.startswith("__HIR") else mnemonic


def stretches(present):
    """The maximal runs of neighbours in ARCHITECTURES that are all present."""
    runs = []
    for number in ARCHITECTURES:
        if number not in present:
            continue
        at = ARCHITECTURES.index(number)
        if runs and at and runs[-1][1] == ARCHITECTURES[at - 1]:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [tuple(run) for run in runs]


def rows(tables):
    """(mnemonic, first, last) -> encodings"""
    present = defaultdict(set)
    for number, table in tables.items():
        for encoding, mnemonic in table.items():
            present[mnemonic, encoding].add(number)
    result = defaultdict(list)
    for (mnemonic, encoding), numbers in sorted(present.items()):
        for first, last in stretches(numbers):
            result[mnemonic, first, last].append(encoding)
    return dict(sorted(result.items()))


def row_text(mnemonic, first, last, encodings):
    line, lines = f"SASS_ENCODINGS({name_of(mnemonic)}, {first}, {last}", []
    for encoding in encodings:
        item = f"{encoding:#05x}"
        if len(line) + len(item) + 3 > WIDTH:
            lines.append(line + ",")
            line = " " * len("SASS_ENCODINGS(") + item
        else:
            line += ", " + item
    return "\n".join([*lines, line + ")\n"])


def replace_rows(path, macro, text):
    """Writes `text` in place of the rows, between the head and the #undef of a .def file."""
    old = path.read_text()
    first, last = old.index(f"\n{macro}(") + 1, old.rindex(f"\n#undef {macro}")
    path.write_text(old[:first] + text + old[last:])


def write(args):
    tables = all_known(args.words)
    if missing := [number for number, table in tables.items() if not table]:
        sys.exit(f"table.py: nothing of {missing} in {args.words}")
    replace_rows(SASS / "encodings.def", "SASS_ENCODINGS", "".join(row_text(*key, found) for key, found in rows(tables).items()))
    opcodes = SASS / "opcodes.def"
    kept = dict((line.split('"')[1], line) for line in opcodes.read_text().splitlines() if line.startswith("SASS_OPCODE("))
    variants = set(re.findall(r"^SASS_VARIANT\((\w+)", VARIANTS, re.M))
    for mnemonic in sorted({mnemonic for table in tables.values() for mnemonic in table.values()} - kept.keys() | variants - kept.keys()):
        print(f"new: {mnemonic}: set its pipe")
        kept[mnemonic] = f'SASS_OPCODE({name_of(mnemonic)}, "{mnemonic}", Unknown, {FLOWS.get(mnemonic, "Next")})'
    replace_rows(opcodes, "SASS_OPCODE", "".join(line + "\n" for _, line in sorted(kept.items())))


def check(args):
    wrong = 0
    for number, table in all_known(args.words).items():
        words = [struct.unpack("<QQ", word_of(encoding, 0)) for encoding in range(ENCODINGS)]
        text = subprocess.run([args.dump, "--raw", str(number)], input="".join(f"{low:x} {high:x}\n" for low, high in words),
                              capture_output=True, text=True, check=True).stdout
        decoded = [line.split()[3] for line in text.splitlines() if not line.startswith("loop")]
        for encoding, mnemonic in enumerate(decoded):
            if table.get(encoding, "?") != mnemonic:
                wrong += 1
                print(f"sm_{number}: {encoding:#x} is {mnemonic}, not {table.get(encoding, 'refused')}")
    print(f"table: {wrong} differences")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvdisasm", default=nvdisasm.find_nvdisasm())
    parser.add_argument("--dump")
    parser.add_argument("--words", required=True, metavar="FOLDER")
    parser.add_argument("--tries", type=int, default=18)
    parser.add_argument("verb", choices=["probe", "code", "write", "check"])
    parser.add_argument("what", nargs="*")
    args = parser.parse_args()
    os.makedirs(args.words, exist_ok=True)
    return {"probe": probe, "code": code, "write": write, "check": check}[args.verb](args) or 0


if __name__ == "__main__":
    sys.exit(main())
