#!/usr/bin/env python3
"""What ptxopt gains in modelled cycles, and which pass gains and loses them.

  tests/codegen/timing/gains.py [--tool PTXOPT] [--archs sm_80,...] [--producers nvcc,clang] [--kernels N] [--folder DIR]
                                [--by-pass] [--by-limit] [--guard] [--unroll] [--list] [--check] [--json FILE] [--ptxas PTXAS] [--work build/timing] [-j N]

Kernels are those of tests/codegen/loops, compiled by nvcc and clang and kept from being unrolled by ptxas, or, with --folder,
those of the PTX files below a folder. Each is assembled before and after -O2 without the guard (with --guard: also with
it), and timed by the model for data in L1, L2 and DRAM. Printed are, for each architecture, geometric means of after / before
over the kernels with loops: of the whole, and of the innermost loops where there are as many before and after; and how many
kernels are better and worse by the guard's rule. Kernels in which ptxas unrolls loops otherwise before and after are counted apart:
how many there are, and how many of them cost more for the same work. --unroll lets it unroll the kernels of the tests.

--by-pass runs -O2 without each pass, and without each form of loop-forms, in turn: a pass gains what the kernels lose without it. Its table has the instructions
and the cycles of innermost loops that are saved and lost, in percent of all, by scenario.
--by-limit tells innermost loops apart by what limits them before, in each scenario, with the mean of cycles after / before,
and the mean of the bytes that an iteration moves. With --guard, of what is left with the guard.
--check fails unless no kernel is slower with the guard in any scenario, and the bounds of BOUNDS hold. 77 without a ptxas
or compiler.
"""
import argparse
import concurrent.futures
import json
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent / "toolchains"), str(HERE.parents[1] / "lib")]
import guard_rule  # noqa: E402
import inputs  # noqa: E402
from bench import Bench, Refused  # noqa: E402
from code_figures import mean_ratio  # noqa: E402
from compilers import prepare, run  # noqa: E402
from loop_kernels import compilers  # noqa: E402
from tables import table  # noqa: E402
from toolchains import toolchain  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

os.environ["PTXOPT_GUARD"] = "off"  # asked for where it is measured
SCENARIOS = guard_rule.SCENARIOS
# Guarded -O2 on the kernels of tests/codegen/loops: geometric means of the whole in L1, L2 and DRAM. What must hold, by
# architecture and producer, and what is aimed at.
BOUNDS = {("sm_80", "nvcc"): (0.99, 1.0, 1.0), ("sm_80", "clang"): (0.94, 0.992, 1.0),
          ("sm_90", "nvcc"): (0.99, 1.0, 1.0), ("sm_90", "clang"): (0.92, 0.995, 1.0),
          ("sm_120", "nvcc"): (1.0, 1.0, 1.0), ("sm_120", "clang"): (0.995, 1.0, 1.0)}
AIMS = (0.92, 0.97, 1.00)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "build/release/ptxopt"))
    parser.add_argument("--archs", default="sm_80,sm_90,sm_100,sm_120")
    parser.add_argument("--producers", default="nvcc,clang")
    parser.add_argument("--kernels", type=int, default=1, metavar="N", help="one kernel of N; default: all")
    parser.add_argument("--folder", help="PTX files below it instead of the kernels of the tests")
    parser.add_argument("--by-pass", action="store_true")
    parser.add_argument("--by-limit", action="store_true")
    parser.add_argument("--guard", action="store_true")
    parser.add_argument("--unroll", action="store_true", help="let ptxas unroll the kernels of the tests")
    parser.add_argument("--list", action="store_true", help="name the kernels that are worse")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--ptxas")
    parser.add_argument("--work", default=str(ROOT / "build/timing"))
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    args.guard |= args.check
    return args


def texts_for(args, arch, tools, work):
    """(group, name, text)"""
    if args.folder:
        for path in sorted(Path(args.folder).rglob("*.ptx")):
            yield "files", str(path.relative_to(args.folder)), path.read_bytes().decode("latin-1")
        return
    for producer, text in inputs.kernels(arch, args.producers.split(","), tools, work, args.kernels):
        yield producer, text.name, text.text.replace('.pragma "nounroll";', "") if args.unroll else text.text


class Gains:
    """Pairs of figures of kernels with loops."""

    def __init__(self):
        self.whole = [[] for _ in SCENARIOS]
        self.inner = [[] for _ in SCENARIOS]
        self.instructions, self.kernels, self.better, self.worse, self.slower = [], 0, 0, [], []
        self.otherwise = []  # unrolled otherwise by ptxas: cycles of the whole say nothing; with the signs

    def add(self, name, before, after):
        self.kernels += 1
        sign = guard_rule.by_time(before, after)
        self.better += sign < 0
        if sign > 0:
            self.worse.append(name)
        a, b = before["cycles"], after["cycles"]
        if not a or not b:
            return
        if not guard_rule.by_cycles(a, b, before["stack"] == after["stack"])[1]:
            self.otherwise.append((name, sign))
            return
        if any(guard_rule.is_longer(x, y) for x, y in zip(a["whole"], b["whole"])):
            self.slower.append(name)
        if not before["inner-loops"]:
            return
        self.instructions.append((before["instructions"], after["instructions"]))
        for s in range(len(SCENARIOS)):
            self.whole[s].append((a["whole"][s], b["whole"][s]))
            if len(a["inner"]) == len(b["inner"]):
                self.inner[s].append(tuple(sum(loop["cycles"][s] for loop in t["inner"]) for t in (a, b)))

    def cells(self):
        def means(pairs):
            return " ".join(f"{mean_ratio(p):.3f}" if p else "-" for p in pairs)
        return [str(self.kernels), f"{mean_ratio(self.instructions):.3f}" if self.instructions else "-", means(self.inner),
                means(self.whole), str(self.better), str(len(self.worse)), str(len(self.slower)),
                f"{len(self.otherwise)}, {sum(sign > 0 for _, sign in self.otherwise)}"]

    def as_json(self):
        return {"kernels": self.kernels, "better": self.better, "worse": self.worse, "slower": self.slower, "otherwise": [name for name, _ in self.otherwise],
                "instructions": mean_ratio(self.instructions) if self.instructions else None,
                "inner": [mean_ratio(p) if p else None for p in self.inner],
                "whole": [mean_ratio(p) if p else None for p in self.whole]}


def compared(bench, source, arch, options):
    """[(kernel, before, after)]; nothing where ptxas or ptxopt refuses."""
    try:
        before = bench.figures(source, arch)
        after = bench.figures(bench.made(source, *options, "--arch", arch), arch)
    except Refused as reason:
        print(f"refused: {source}: {reason}", file=sys.stderr)
        return []
    return [(name, row, after[name]) for name, row in before.items() if row["kind"] == "entry" and name in after]


def left_out(tool):
    """(name, option) of each pass of -O2, and of each form of loop-forms"""
    passes = re.findall(r"^([a-z0-9-]+) +-O[12] ", run([tool, "--list-passes"], 60).stdout, re.M)
    forms = re.findall(r"^form-([a-z-]+)", run([tool, "--list-knobs"], 60).stdout, re.M)
    return [(name, f"--skip-pass={name}") for name in passes] + [(form, f"--form-{form}=off") for form in forms]


def by_pass(args, bench, arch, sources, pool):
    """A row for each pass that changes the code of some kernel."""
    full = {s: {name: after for name, _, after in rows} for s, rows in
            zip(sources, pool.map(lambda s: compared(bench, s, arch, ("-O2", "--guard=off")), sources))}
    rows = []
    for name, option in left_out(args.tool):
        without = pool.map(lambda s: compared(bench, s, arch, ("-O2", "--guard=off", option)), sources)
        saved = lost = changed = 0
        gained, gone, total = [0.0] * 3, [0.0] * 3, [0.0] * 3
        for source, found in zip(sources, without):
            for kernel, _, row in found:
                now = full[source].get(kernel)
                if not now or not now["cycles"] or not row["cycles"]:
                    continue
                changed += now != row
                saved += max(0, row["inner"] - now["inner"])
                lost += max(0, now["inner"] - row["inner"])
                for s in range(3):
                    a, b = (sum(loop["cycles"][s] for loop in f["cycles"]["inner"]) for f in (row, now))
                    total[s] += a
                    gained[s] += max(0.0, a - b)
                    gone[s] += max(0.0, b - a)
        if changed:
            percent = [f"-{100 * g / t:.2f} +{100 * l / t:.2f}" if t else "-" for g, l, t in zip(gained, gone, total)]
            rows.append([name, str(changed), f"-{saved} +{lost}", *percent])
    return rows


def by_limit(bench, arch, sources, options, pool):
    """A row for each scenario and limit: loops, cycles, bytes of an iteration before and after."""
    def loops(source):
        try:
            before, after = (bench.times(path, arch) for path in (source, bench.made(source, *options, "--arch", arch)))
        except Refused:
            return []
        pairs = []
        for name, regions in before.items():
            a, b = ([r for r in rows if r["loop"] and r["loop"]["innermost"]] for rows in (regions, after.get(name, [])))
            pairs += zip(a, b) if len(a) == len(b) else []
        return pairs
    kinds = {}
    for pairs in pool.map(loops, sources):
        for a, b in pairs:
            for s in a["scenarios"]:
                limit = a["scenarios"][s]["bottleneck"]
                kinds.setdefault((s, limit if limit == "latency" else "bandwidth" if limit.endswith("bandwidth") else "a unit"), []).append((a, b))
    rows = []
    for (s, limit), pairs in sorted(kinds.items()):
        cycles = [tuple(r["scenarios"][s]["cycles"] for r in pair) for pair in pairs]
        moved = [sum(pair[i]["bytes"] for pair in pairs) / len(pairs) for i in (0, 1)]
        rows.append([s, limit, str(len(pairs)), f"{mean_ratio(cycles):.3f}", f"{moved[0]:.0f} {moved[1]:.0f}"])
    return rows


def beyond(gains, limits, text):
    """What is above its limit."""
    return [text.format(f"{scenario} x{mean_ratio(pairs):.3f}", f"x{limit:.3f}")
            for scenario, pairs, limit in zip(SCENARIOS, gains.whole, limits) if pairs and mean_ratio(pairs) > limit]


def main():
    args = parse_arguments()
    tools = compilers()
    ptxas = args.ptxas or find_ptxas()
    if not ptxas or not (args.folder or any(tools.values())):
        print("skipped: timing gains need ptxas and nvcc or clang")
        return 77
    work = os.path.abspath(args.work)
    prepare(work)
    bench = Bench(args.tool, work, toolchain(ptxas))
    rows, pass_rows, limit_rows, document, bad, aims = [], [], [], {}, [], []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for arch in args.archs.split(","):
            groups = {}
            for group, name, text in texts_for(args, arch, tools, work):
                source = bench.stored(inputs.lowered(text, arch, bench.toolchain.newest))
                groups.setdefault(group, []).append((name, source))
            for group, items in groups.items():
                sources = [source for _, source in items]
                ways = {"-O2": ("-O2", "--guard=off")}
                if args.guard:
                    ways["guarded"] = ("-O2", "--guard=ptxas", "--ptxas", bench.toolchain.path)
                for way, options in ways.items():
                    gains = Gains()
                    found = pool.map(lambda s: compared(bench, s, arch, options), sources)
                    for (name, _), kernels in zip(items, found):
                        for kernel, before, after in kernels:
                            gains.add(f"{kernel} of {name}", before, after)
                    rows.append([arch, group, way, *gains.cells()])
                    document[f"{arch} {group} {way}"] = gains.as_json()
                    if not gains.kernels:
                        bad.append(f"{arch} {group}: nothing was compared")
                    if way == "guarded":
                        bad += [f"{arch} {group}: {name} is slower with the guard" for name in gains.slower]
                        if not args.folder and not args.unroll:
                            bad += beyond(gains, BOUNDS.get((arch, group), (9, 9, 9)), f"{arch} {group}: {{}}, bound {{}}")
                            aims += beyond(gains, AIMS, f"{arch} {group}: {{}}, aim {{}}")
                    if args.list:
                        for name in gains.worse:
                            print(f"  worse, {arch} {group} {way}: {name}")
                if args.by_limit:
                    limit_rows += [[arch, group, *row] for row in by_limit(bench, arch, sources, list(ways.values())[-1], pool)]
                if args.by_pass:
                    pass_rows += [[arch, group, *row] for row in by_pass(args, bench, arch, sources, pool)]
    table(["arch", "kernels of", "way", "n", "instr.", "innermost L1 L2 DRAM", "whole L1 L2 DRAM", "better", "worse", "slower", "unrolled, worse"], rows)
    if pass_rows:
        print()
        table(["arch", "kernels of", "pass", "n", "inner instr.", *(f"% in {s}" for s in SCENARIOS)], pass_rows)
    if limit_rows:
        print()
        table(["arch", "kernels of", "scenario", "limited by", "loops", "cycles", "bytes of an iteration"], limit_rows)
    if args.json:
        Path(args.json).write_text(json.dumps(document, indent=1) + "\n")
    for aim in aims:
        print(f"not reached: {aim}")
    for problem in bad:
        print(f"FAILED {problem}")
    return 1 if args.check and bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
