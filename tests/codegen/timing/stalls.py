#!/usr/bin/env python3
"""Checks that the latencies of the model of time are no longer than those that ptxas's own schedule keeps.

  stalls.py --dump .../dump_sass --tables .../dump_timing [--packages] [--own] [--sample N] [-j N] [--pairs] [FILE.ptx...]

In each stretch of code without branches, of each instruction of fixed latency whose registers registers.py knows, and its
first reader: the stalls that src/measure/sass decodes between the two must add up to the latency in src/core/target/latencies.def at least.
A violation means that a stall is decoded wrongly, or that the table is too high.

Of two neighbours of one kind, the second of which needs nothing of the first, the least distance says how long ptxas takes an
instruction to have its unit: src/core/target/uses.def may have more (cards with fewer units than the chip), but not less.

Without files: tests/inputs/opcodes. The table has the distance to a reader on the same unit; distance_of() has what ptxas adds
and takes off, as the scheduling information that NVIDIA gave Mesa does (nak/sm75_instr_latencies.rs, sm80_instr_latencies.rs).
--pairs prints the least distance of each pair of kinds, and of neighbours with their number and the table's cycles.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(HERE.parent / "sass"), str(ROOT / "tests" / "lib")]
import compare  # noqa: E402
import machine_code  # noqa: E402
import nvdisasm  # noqa: E402
import registers  # noqa: E402
import sample  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

NO_SCOREBOARD = 7
REGISTERS = re.compile(r"\bU?[RP]\d+")
LEAST_NEIGHBOURS = 8  # below that the least distance says nothing
# What waits, or takes no unit that the tables know.
WITHOUT_UNIT = {"Nothing", "Wait", "Branch", "Convergence", "Barrier", "Unknown", "ClockRead", "FenceBlock",
                "Fence", "FenceSystem"}
FIRST_WITH_BOTH = 100  # from here on some instructions of the ALU may run elsewhere
# Double precision sets a scoreboard, or follows another in order, on all but these.
FIXED_FP64 = {90, 107}
FMA = {"IntegerMultiply", "IntegerMultiplyWide", "Fp32"}
ALWAYS_ALU = {"IntegerAdd", "Logic", "Shift", "Permute"}
ALU = ALWAYS_ALU | {"Compare", "Select", "Move", "MinMax", "AluConvert"}
MOST_SHOWN = 20


def distance_of(number, latency, producer, consumer, is_early, is_late):
    """The least distance from a producer to its reader: a cycle more between the ALU and the FMA unit, two less for the lower
    half of what IMAD.WIDE writes, and for the upper half of its addend."""
    alu = ALU if number < FIRST_WITH_BOTH else ALWAYS_ALU
    crosses = producer in FMA and consumer in alu or producer in alu and consumer in FMA
    return latency + crosses - 2 * is_early - 2 * is_late


def stretches(lines, texts):
    """Lists of (kind, stall, write scoreboard, Access or None), cut where control may come or go."""
    targets = {line.target for line in lines}
    stretch = []
    for at, (line, text) in enumerate(zip(lines, texts)):
        if at * 16 in targets and stretch:
            yield stretch
            stretch = []
        kind = line.operation.split()[0]
        stretch.append((kind, line.stall, line.write, registers.access(text) if text else None, text))
        if kind in ("Branch", "Convergence", "Barrier") or line.stall == 0:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def pairs(stretch):
    """Yields (producer's kind, consumer's kind, whether a predicate, is early, is late, distance, texts); see distance_of."""
    written, time = {}, 0  # register -> (time, kind, is early, text)
    for kind, stall, write, access, text in stretch:
        if access is None:
            written.clear()  # it may write anything
        else:
            is_wide = "WIDE" in access.opcode
            addend = [register for register, place in access.reads if place == 2]
            for register, place in access.reads:
                if register in written:
                    when, producer, is_early, first = written.pop(register)
                    is_late = is_wide and place == 2 and len(addend) > 1 and register == addend[1]
                    yield producer, kind, place is None, is_early, is_late, time - when, (first, text)
            for number, register in enumerate(access.writes):
                written[register] = (time, kind, is_wide and number == 0 and register[0] in "RU", text)
                if write != NO_SCOREBOARD:
                    del written[register]
        time += stall


def neighbours(stretch):
    """Yields (kind, distance) of instructions next to each other that are of one kind and do not depend on one another."""
    for (kind, stall, _, _, text), (other, _, _, _, after) in zip(stretch, stretch[1:]):
        if kind == other and text and after and not text.startswith("@!UPT"):  # never executed: ptxas stalls with them
            written = REGISTERS.findall(text.partition(" ")[2].partition(",")[0])
            if not set(written) & set(REGISTERS.findall(after)):
                yield kind, stall


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", required=True)
    parser.add_argument("--tables", required=True)
    parser.add_argument("--packages", action="store_true", help="nvdisasm and ptxas from PyPI")
    parser.add_argument("--pairs", action="store_true", help="print the least distance of each pair of kinds")
    parser.add_argument("--own", action="store_true", help="only the .target of each file, instead of all that take it")
    parser.add_argument("--arch", default=",".join(compare.ARCHITECTURES))
    parser.add_argument("-j", type=int, default=os.cpu_count(), dest="jobs")
    parser.add_argument("files", nargs="*")
    sample.add_option(parser)
    args = parser.parse_args()
    args.all, args.own = not args.own, args.own
    program, ptxas, why = nvdisasm.from_packages() if args.packages else (nvdisasm.find_nvdisasm(), find_ptxas(), "")
    if not program or not ptxas:
        print(f"stalls: skipped: no {'ptxas' if program else 'nvdisasm'} {why}")
        return 77
    latencies, intervals = read_tables(args.tables)
    known = [arch for arch in args.arch.split(",") if compare.is_known(ptxas, arch)]
    own = sorted((ROOT / "tests" / "inputs" / "opcodes").glob("*.ptx")) + sorted((HERE.parent / "sass" / "kernels").glob("*.ptx"))
    paths = args.files or own
    paths = sample.sampled(list(map(Path, paths)), args.sample, lambda path: path.name)
    work = [(path, arch) for path in paths for arch in compare.architectures_for(path, args, known)]
    counts, wrong, least, between = collections.Counter(), [], {}, {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for number, found, beside in pool.map(lambda item: one(args.dump, program, ptxas, folder, *item), work):
            for producer, consumer, is_predicate, is_early, is_late, distance, texts in found:
                if producer in ("Fp64", "Fp64Compare") and number not in FIXED_FP64:
                    continue
                counts[number] += 1
                key = (producer, consumer, "predicate" if is_predicate else "early" if is_early or is_late else "register")
                least.setdefault(key, {})[number] = min(distance, least.get(key, {}).get(number, 99))
                wanted = distance_of(number, latencies[number][producer], producer, consumer, is_early, is_late)
                if distance < wanted:
                    wrong.append(f"sm_{number}: {producer} -> {consumer}: {distance} cycles, table {wanted}: "
                                 f"{texts[0]} -> {texts[1]}")
            for kind, distance in beside:
                between.setdefault(kind, {}).setdefault(number, []).append(distance)
    for kind, by_number in sorted(between.items()):
        if kind in WITHOUT_UNIT:
            continue
        for number, distances in sorted(by_number.items()):
            if len(distances) >= LEAST_NEIGHBOURS and min(distances) > intervals[number][kind]:
                wrong.append(f"sm_{number}: {kind} every {intervals[number][kind]} cycles, by ptxas {min(distances)}")
        if args.pairs:
            print("neighbours", kind, *(f"sm_{number}:{min(distances)}({len(distances)},{intervals[number][kind]:g})"
                                        for number, distances in sorted(by_number.items())))
    if args.pairs:
        for key, by_number in sorted(least.items()):
            print(*key, *(f"sm_{number}:{distance}" for number, distance in sorted(by_number.items())))
    for line in wrong[:MOST_SHOWN]:
        print("WRONG", line)
    for number in sorted(counts):
        print(f"sm_{number}: {counts[number]} pairs of a producer and its first reader")
    print(f"stalls: {sum(counts.values())} pairs, {sum(map(len, between.values()))} kinds and architectures of neighbours, "
          f"{len(wrong)} violations")
    return 1 if wrong or not counts else 0


def read_tables(tables):
    """-> latencies, and the longest use of a unit, by architecture and kind"""
    latencies, intervals = collections.defaultdict(dict), collections.defaultdict(lambda: collections.defaultdict(float))
    for line in subprocess.run([tables], capture_output=True, text=True, check=True).stdout.splitlines():
        table, architecture, *rest = line.split()
        if table == "latency":
            latencies[int(architecture)][rest[0]] = float(rest[1])
        elif table == "use":
            intervals[int(architecture)][rest[0]] = max(float(rest[2]), intervals[int(architecture)][rest[0]])
    for number, like in ((87, 86), (88, 86)):
        latencies[number], intervals[number] = latencies[like], intervals[like]
    return latencies, intervals


def one(dump, program, ptxas, folder, path, arch):
    number = compare.number_of(arch)
    cubin = compare.assemble(ptxas, path, arch, folder)
    if not cubin:
        return number, [], []
    found, beside, first = [], [], 0
    functions = compare.dumped(dump, cubin, "")
    texts = functions and nvdisasm.texts(program, number, b"".join(function.text for function in functions))
    for function in functions:
        for stretch in stretches(function.lines, texts[first:]):
            found += pairs(stretch)
            beside += neighbours(stretch)
        first += len(function.lines)
    os.unlink(cubin)
    return number, found, beside


if __name__ == "__main__":
    sys.exit(main())
