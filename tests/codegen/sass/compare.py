#!/usr/bin/env python3
"""Compares src/measure/sass with NVIDIA's disassembler on what ptxas makes of PTX files.

  compare.py --dump build/release/tests/codegen/sass/dump_sass [--arch sm_XX,...] [--own | --all] [--corpus WORK]
             [--packages] [--sample N] [-j N] [FILE.ptx...]

Of each instruction the mnemonic, the guard and the target must be the same, and what it asks of a machine (operations.py:
bytes, address, form, shape of a matrix product, counted wait). Of each function the natural loops must be: header and
instructions. The disassembler's graph of blocks gives the loops, found by their definition (tests/lib/natural_loops.py).

Without files: the PTX of tests/ and samples/, and with --corpus also what tests/codegen/corpus/run.py --work WORK compiled.
Each file is assembled for its own .target (--own), and by default for one more architecture that takes it, another for
each file; --all takes all. --packages gets nvdisasm and ptxas of CUDA 13.5 from PyPI. Files that ptxas refuses are left
out. Without ptxas or nvdisasm the status is 77.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "lib")]
import machine_code  # noqa: E402
import nvdisasm  # noqa: E402
import natural_loops  # noqa: E402
import sample  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

ARCHITECTURES = ["sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103", "sm_103a",
                 "sm_107", "sm_110", "sm_110a", "sm_120", "sm_120a", "sm_121"]
BATCH = 4 << 20  # bytes of machine code for one run of nvdisasm
PTXAS_LIMIT = 300  # seconds
MOST_SHOWN = 20


@dataclass
class Function:
    """What dump_sass prints of a function that has a section of its own."""
    where: str
    text: bytes
    lines: list = field(default_factory=list)
    loops: dict = field(default_factory=dict)  # header -> places of its instructions
    irreducible: int = 0


def number_of(arch):
    return int(re.search(r"\d+", arch)[0])


def takes(arch, target):
    """Whether ptxas makes code of `arch` from PTX of `target`."""
    if target[-1] == "a":
        return arch == target
    if target[-1] == "f":
        return arch[-1] == "a" and number_of(arch) // 10 == number_of(target) // 10 and number_of(arch) >= number_of(target)
    return number_of(arch) >= number_of(target)


def architectures_for(path, args, known):
    target = machine_code.read_target(path)
    fitting = [arch for arch in known if takes(arch, target)]
    if args.all:
        return fitting
    own = [target if target in known else fitting[0]] if fitting else []
    others = [arch for arch in fitting if arch not in own]
    if args.own or not others:
        return own
    return own + [others[zlib.crc32(os.path.basename(path).encode()) % len(others)]]


def assemble(ptxas, path, arch, folder):
    """-> path of the cubin; None where ptxas refuses the file."""
    out = os.path.join(folder, f"{zlib.crc32(str(path).encode()):08x}.{arch}.cubin")
    level = ["-g", "-O0"] if machine_code.is_debug(path) else ["-O3"]
    for mode in ([], ["-c"]):
        try:
            done = subprocess.run([ptxas, f"-arch={arch}", *level, *mode, str(path), "-o", out], capture_output=True,
                                  timeout=PTXAS_LIMIT)
        except subprocess.TimeoutExpired:
            return None
        if done.returncode == 0:
            return out
    return None


def dumped(dump, cubin, where):
    """The functions of a cubin, by dump_sass; their bytes are read here."""
    sections = machine_code.read_sections(Path(cubin).read_bytes())
    functions = []
    for line in subprocess.run([dump, cubin], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if words[0] == "function":
            functions.append(Function(f"{where} {words[1]}", sections[".text." + words[1]]))
        elif words[0] == "loop":
            places = [place for stretch in words[5:] for place in range(int(stretch.split("-")[0], 16), int(stretch.split("-")[1], 16), 16)]
            functions[-1].irreducible += words[4] == "irreducible"
            functions[-1].loops[int(words[1], 16)] = set(places)
        else:
            _, operation, control = line.split(" ; ")
            stall, write = map(int, control.split())
            target = None if words[4] == "-" else int(words[4], 16)
            functions[-1].lines.append(nvdisasm.Line(words[2], words[3], target, False, operation, stall, write))
    return functions


def batches(functions):
    batch, size = [], 0
    for function in functions:
        if batch and size + len(function.text) > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(function)
        size += len(function.text)
    if batch:
        yield batch


def masked(target):
    """nvdisasm prints 40 bits of an address."""
    return None if target is None else target & (1 << 40) - 1


def wrong_lines(program, number, batch):
    """Compares instructions; the functions of a batch stand one after the other in what nvdisasm reads. -> (what is wrong,
    how many nvdisasm did not print)."""
    wrong = []
    lines = nvdisasm.raw(program, number, b"".join(function.text for function in batch))
    base = first = 0
    for function in batch:
        theirs = lines[first:first + len(function.lines)]
        for at, (mine, line) in enumerate(zip(function.lines, theirs)):
            if line is None:
                continue
            place = None if line.target is None else line.target - (0 if line.is_absolute else base)
            if (mine.guard, mine.mnemonic, masked(mine.target)) != (line.guard, line.mnemonic, masked(place)):
                wrong.append(f"{function.where} at {at * 16:#x}: {mine.guard} {mine.mnemonic} {mine.target}, "
                             f"by nvdisasm {line.guard} {line.mnemonic} {place}")
            if line.operation and mine.operation != line.operation:
                wrong.append(f"{function.where} at {at * 16:#x}: {mine.mnemonic}: {mine.operation}, by nvdisasm {line.operation}")
        first += len(function.lines)
        base += len(function.text)
    return wrong, lines.count(None)


def function_sections(cubin):
    """name -> section, of every function, also of those within the section of a kernel."""
    text = subprocess.run(["readelf", "-sSW", cubin], capture_output=True, text=True).stdout
    names = dict(re.findall(r"^\s+\[ *(\d+)\] (\.text\.\S+)", text, re.M))
    rows = re.findall(r"FUNC .*? (\d+) (\S+)$", text, re.M)
    return {name: names[index] for index, name in rows if index in names}


def wrong_loops(program, cubin, functions):
    """-> (what is wrong, natural loops compared, functions with irreducible ones)."""
    wrong, compared, irreducible = [], 0, 0
    graphs = nvdisasm.graph(program, cubin, function_sections(cubin))
    for function in functions:
        graph = graphs.get(".text." + function.where.split()[-1], {})
        edges = {first: [to for to in follows if to != first or len(places) > 1 or not always_to_itself(function, first)]
                 for first, (places, follows) in graph.items()}
        edges = {first: [to for to in follows if to in graph] for first, follows in edges.items()}
        natural, left = natural_loops.loops(edges)
        theirs = {header: {place for block in blocks for place in graph[block][0]} for header, blocks in natural.items()}
        if left or function.irreducible:
            irreducible += 1
            if bool(left) != bool(function.irreducible):
                wrong.append(f"{function.where}: irreducible loops {function.irreducible}, by nvdisasm's graph {bool(left)}")
            continue
        compared += len(theirs)
        for header in sorted(theirs.keys() | function.loops.keys()):
            if theirs.get(header) != function.loops.get(header):
                sizes = [None if loops.get(header) is None else len(loops[header]) for loops in (function.loops, theirs)]
                wrong.append(f"{function.where}: loop at {header:#x}: {sizes[0]} instructions, by nvdisasm's graph {sizes[1]}")
    return wrong, compared, irreducible


def always_to_itself(function, place):
    line = function.lines[place // 16]
    return line.mnemonic == "BRA" and line.guard == "-" and line.target == place


def has_cycle(function):
    return any(line.mnemonic.startswith(("BRX", "JMX")) or line.target is not None and line.target <= at * 16
               for at, line in enumerate(function.lines[:-1]))


def files_of(args):
    paths = [Path(path) for path in args.files]
    if not paths:
        for folder in ("tests", "samples"):
            paths += sorted((ROOT / folder).rglob("*.ptx"))
        paths = [path for path in paths if "rejected" not in path.parts]
        if args.corpus:
            kept = os.environ.get("PTXOPT_KEPT", args.corpus)
            paths += sorted(Path(kept, "ptx").glob("*.ptx"))
    return sample.sampled(paths, args.sample, lambda path: path.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", required=True, help="the program of this folder")
    parser.add_argument("--arch", default=",".join(ARCHITECTURES), help="only these")
    parser.add_argument("--own", action="store_true", help="only the .target of each file")
    parser.add_argument("--all", action="store_true", help="every architecture that takes a file")
    parser.add_argument("--corpus", metavar="WORK")
    parser.add_argument("--packages", action="store_true", help="nvdisasm and ptxas from PyPI")
    parser.add_argument("--loops", type=int, default=1, metavar="N", help="compare the loops of one cubin of N; default: all")
    parser.add_argument("-j", type=int, default=os.cpu_count(), dest="jobs")
    parser.add_argument("files", nargs="*")
    sample.add_option(parser)
    args = parser.parse_args()
    program, ptxas, why = nvdisasm.from_packages() if args.packages else (nvdisasm.find_nvdisasm(), find_ptxas(), "")
    if not program or not ptxas:
        print(f"sass: skipped: no {'ptxas' if program else 'nvdisasm'} {why}")
        return 77
    known = [arch for arch in args.arch.split(",") if is_known(ptxas, arch)]
    work = [(path, arch) for path in files_of(args) for arch in architectures_for(path, args, known)]
    with tempfile.TemporaryDirectory() as folder:
        return compare(args, program, ptxas, work, folder)


def is_known(ptxas, arch):
    return arch in subprocess.run([ptxas, "--help"], capture_output=True, text=True).stdout.replace("'", " ").replace(",", " ").split()


def compare(args, program, ptxas, work, folder):
    counts, wrong, seen = collections.Counter(), [], set()
    by_number, with_loops = collections.defaultdict(list), []

    def one(item):
        cubin = assemble(ptxas, *item, folder)
        functions = dumped(args.dump, cubin, f"{os.path.basename(item[0])} {item[1]}") if cubin else None
        return item, cubin, functions

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for (path, arch), cubin, functions in pool.map(one, work):
            if cubin is None:
                counts["refused"] += 1
                continue
            new = [f for f in functions if (number_of(arch), f.text) not in seen]
            seen.update((number_of(arch), f.text) for f in new)
            by_number[number_of(arch)] += new
            cyclic = [f for f in new if has_cycle(f)]
            if cyclic and zlib.crc32(os.path.basename(cubin).encode()) % args.loops == 0:
                with_loops.append((cubin, cyclic))
            else:
                os.unlink(cubin)
        jobs = [pool.submit(wrong_lines, program, number, batch) for number, all_of in by_number.items() for batch in batches(all_of)]
        loops = [pool.submit(wrong_loops, program, *item) for item in with_loops]
        for job in jobs:
            found, silent = job.result()
            wrong += found
            counts["silent"] += silent
        for job in loops:
            found, compared, irreducible = job.result()
            wrong += found
            counts["loops"] += compared
            counts["irreducible"] += irreducible
    for number, functions in sorted(by_number.items()):
        mnemonics = {line.mnemonic for f in functions for line in f.lines}
        print(f"sm_{number}: {len(functions)} functions, {sum(len(f.lines) for f in functions)} instructions, {len(mnemonics)} mnemonics")
    for line in sorted(wrong, key=len)[:MOST_SHOWN]:
        print("WRONG", line)
    functions = sum(map(len, by_number.values()))
    print(f"sass: {len(work) - counts['refused']} cubins, {functions} different functions, {counts['loops']} natural loops, "
          f"{counts['irreducible']} functions with irreducible ones; {counts['refused']} refused by ptxas, {counts['silent']} instructions "
          f"not printed by nvdisasm; {len(wrong)} differences")
    return 1 if wrong or functions == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
