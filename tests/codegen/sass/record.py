#!/usr/bin/env python3
"""Writes what tests/unit/measure/sass_recorded_test.cpp reads: machine code that ptxas made of our own PTX, and what NVIDIA's
disassembler prints of it.

  record.py [--packages] [--words] [--functions] [-j N]

tests/inputs/sass/words.txt (--words): of each architecture one instruction for each pair of an encoding and a mnemonic in
what ptxas makes of tests/inputs/opcodes/*.ptx. A line `sm_NUMBER`, then of each instruction its two 64-bit words, guard and
mnemonic. tests/inputs/sass/operations.txt: in the same way one instruction for each pair of a mnemonic and what it asks of a
machine (operations.py), which follows its words.

tests/inputs/sass/functions.txt (--functions): functions of kernels/*.ptx. A line `function NAME sm_NUMBER`, then a line
`branch PLACE TARGET...` for each indirect branch, the words of each instruction with guard, mnemonic and target or `-`, and
`loop HEADER INSTRUCTIONS FIRST-END...` for each natural loop in nvdisasm's graph of blocks. Places are hexadecimal.

Without either option both are written. What nvdisasm does not print is left out of words.txt; a function with such an
instruction is not recorded.
"""
import argparse
import concurrent.futures
import os
import struct
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
OUT = ROOT / "tests" / "inputs" / "sass"
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "lib")]
import compare  # noqa: E402
import machine_code  # noqa: E402
import natural_loops  # noqa: E402
import nvdisasm  # noqa: E402
import table  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

FUNCTIONS = {"control": ["attention", "product"], "table": ["table", "two_entries"]}
FUNCTION_ARCHITECTURES = ["sm_75", "sm_80", "sm_90", "sm_100", "sm_107", "sm_120"]
INDIRECT_BRANCHES = 0x34  # an attribute of .nv.info.NAME
SIZED = 4  # the format of attributes with a size


def words_of(text):
    return [struct.unpack_from("<QQ", text, at) for at in range(0, len(text), 16)]


def record_words(program, ptxas, jobs, folder):
    known = [arch for arch in compare.ARCHITECTURES if compare.is_known(ptxas, arch)]
    paths = sorted((ROOT / "tests" / "inputs" / "opcodes").glob("*.ptx"))
    targets = {path: machine_code.read_target(path) for path in paths}
    work = [(path, arch) for path in paths for arch in known if compare.takes(arch, targets[path])]
    code = {compare.number_of(arch): {} for arch in known}  # texts; a dictionary keeps their order
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (_, arch), cubin in zip(work, pool.map(lambda item: compare.assemble(ptxas, *item, folder), work)):
            if cubin:
                sections = machine_code.read_sections(Path(cubin).read_bytes())
                code[compare.number_of(arch)].update((data, None) for name, data in sections.items() if name.startswith(".text."))
                os.unlink(cubin)
    with open(OUT / "words.txt", "w") as file, open(OUT / "operations.txt", "w") as forms:
        for number, texts in code.items():
            text = b"".join(texts)
            found, operations = {}, {}
            for (low, high), line in zip(words_of(text), nvdisasm.raw(program, number, text)):
                if line:
                    found.setdefault((table.encoding_of(struct.pack("<QQ", low, high)), line.mnemonic), (low, high, line))
                if line and line.operation:
                    operations.setdefault((line.mnemonic, line.operation), (low, high))
            print(f"sm_{number}", file=file)
            for _, (low, high, line) in sorted(found.items()):
                print(f"{low:016x} {high:016x} {line.guard} {line.mnemonic}", file=file)
            print(f"sm_{number}", file=forms)
            for (_, operation), (low, high) in sorted(operations.items()):
                print(f"{low:016x} {high:016x} {operation}", file=forms)
            print(f"sm_{number}: {len(found)} words, {len(operations)} operations")


def indirect_branches(info):
    """Pairs of a place and its targets, from the bytes of .nv.info.NAME."""
    at = 0
    while at < len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form != SIZED:
            continue
        if attribute == INDIRECT_BRANCHES:
            numbers, n = struct.unpack_from(f"<{size // 4}I", info, at), 0
            while n < len(numbers):
                count = numbers[n + 2]
                yield numbers[n], numbers[n + 3:n + 3 + count]
                n += 3 + count
        at += size


def stretches(places):
    """Sorted places as FIRST-END."""
    ends = [place for place in places if place + 16 not in places]
    firsts = [place for place in places if place - 16 not in places]
    return " ".join(f"{first:x}-{end + 16:x}" for first, end in zip(sorted(firsts), sorted(ends)))


def record_function(program, number, cubin, name, file):
    sections = machine_code.read_sections(Path(cubin).read_bytes())
    text = sections[".text." + name]
    lines = nvdisasm.raw(program, number, text)
    if None in lines:
        return
    print(f"function {name} sm_{number}", file=file)
    for place, targets in indirect_branches(sections.get(".nv.info." + name, b"")):
        print(f"branch {place:x}", *(f"{target:x}" for target in targets), file=file)
    for (low, high), line in zip(words_of(text), lines):
        target = "-" if line.target is None else f"{line.target:x}"
        print(f"{low:016x} {high:016x} {line.guard} {line.mnemonic} {target}", file=file)
    graph = nvdisasm.graph(program, cubin, compare.function_sections(cubin))[".text." + name]
    trap = next((at * 16 for at, line in enumerate(lines) if line.mnemonic == "BRA" and line.target == at * 16), None)
    edges = {first: [to for to in follows if to in graph and (first, to) != (trap, trap)] for first, (_, follows) in graph.items()}
    loops, irreducible = natural_loops.loops(edges)
    if irreducible:
        print("irreducible", file=file)
        return
    for header, blocks in sorted(loops.items()):
        places = {place for block in blocks for place in graph[block][0]}
        print(f"loop {header:x} {len(places)} {stretches(places)}", file=file)


def record_functions(program, ptxas, folder):
    with open(OUT / "functions.txt", "w") as file:
        for stem, names in FUNCTIONS.items():
            for arch in FUNCTION_ARCHITECTURES:
                cubin = compare.assemble(ptxas, HERE / "kernels" / f"{stem}.ptx", arch, folder)
                for name in names if cubin else []:
                    record_function(program, compare.number_of(arch), cubin, name, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", action="store_true", help="nvdisasm and ptxas from PyPI")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("-j", type=int, default=os.cpu_count(), dest="jobs")
    args = parser.parse_args()
    program, ptxas, why = nvdisasm.from_packages() if args.packages else (nvdisasm.find_nvdisasm(), find_ptxas(), "")
    if not program or not ptxas:
        sys.exit(f"record.py: no {'ptxas' if program else 'nvdisasm'} {why}")
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if args.words or not args.functions:
            record_words(program, ptxas, args.jobs, folder)
        if args.functions or not args.words:
            record_functions(program, ptxas, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
