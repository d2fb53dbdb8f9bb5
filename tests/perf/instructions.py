#!/usr/bin/env python3
"""Counts the instructions that the tool executes, and fails where they are more than before.

    tests/perf/instructions.py --tool build/ci/ptxopt [--before PTXOPT] [--most PERCENT] [FILE.ptx ...]
    tests/perf/instructions.py --tool build/ci/ptxopt --compiler NAME --update

Unlike times, counts (`valgrind --tool=callgrind`) are the same in each run. The inputs are made here: many kernels as nvcc
prints them, one large kernel, loops with copies for phis, values that interfere, loops over arrays, accesses of shared
memory; and the kernels of samples/. Each is optimized with -O2, and the first is also reprinted with -O0. `drop-in` is
ptxopt-ptxas, which stands beside the tool, without the ptxas that it calls. `start` is a
file of three lines: what starting takes. FILE adds files.

Without --before the counts are compared with those of the commit before, in tests/perf/instructions.json, which a commit
that changes them updates by --update. They hold for one compiler: with another one than --compiler NAME says there, or
without valgrind, the job is skipped (exit code 77). Exit code 1: an input takes more than --most percent (2) more. What starting
takes differs by machine, and is taken off the other inputs; it may itself be 60,000 instructions more besides. The steps that
take more than before, over all inputs of -O2, are named.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from coalescing import interfering, phis, wrap
from measure import function, ptx, table

# The passes are measured, not ptxas, and of the environment as little as there can be: what is in it is read at each start.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": "/nonexistent", "PTXOPT_GUARD": "off", "PTXOPT_CACHE_DIR": "",
               "PTXOPT_PTXAS": shutil.which("ptxas") or "none"}

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = Path(__file__).resolve().parent / "instructions.json"
SKIPPED = 77
START = "start"
NOTABLE = 1e-4  # of all instructions, by which a step has grown
LOADING = 60_000  # what loading libraries and the environment take more on one machine than on another; 40,000 were seen


def arrays(n):
    """Loops over arrays, one after the other."""
    body = []
    for k in range(n // 7):
        count, wide = 2 + k, 2 + 2 * k
        body += [f"mov.u32 %r{count}, 0;", f"L{k}:", f"mul.wide.s32 %rd{wide}, %r{count}, 4;",
                 f"add.s64 %rd{wide + 1}, %rd1, %rd{wide};", f"st.global.u32 [%rd{wide + 1}], %r0;",
                 f"add.s32 %r{count}, %r{count}, 1;", f"setp.lt.s32 %p1, %r{count}, %r0;", f"@%p1 bra L{k};"]
    return wrap(body, n // 7 + 3, 2 * (n // 7) + 3)


def shared(n):
    body = []
    for k in range(n // 2):
        body += [f"st.shared.u32 [s+{4 * (k % 500)}], %r0;", f"ld.shared.u32 %r{k + 1}, [s+{4 * (k * 7 % 500)}];"]
    text = wrap([*body, f"st.global.u32 [%rd1], %r{n // 2};"], n // 2 + 1)
    return text.replace(".visible .entry", ".shared .align 4 .b8 s[2000];\n.visible .entry")


HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
MADE = {
    "many kernels": lambda: ptx(300_000),
    "one kernel": lambda: HEADER + '.file 1 "synthetic.cu"\n' + function(0, 500),
    "phis": lambda: phis(5_000),
    "interfering": lambda: interfering(2_000),
    "arrays": lambda: arrays(2_000),
    "shared": lambda: shared(5_000),
    START: lambda: HEADER,
}


SAMPLES = ROOT / "samples"
COMMANDS = {
    "run": ["run", SAMPLES / "saxpy.ptx", *"--grid 40 --block 256 --arg u32:10000 f32:2 buf:f32:10240:iota buf:f32:10240:fill=1".split()],
    "guard": [SAMPLES / "kernels" / "attention.ptx", "-O2", "--guard=ptxas", "-o", "/dev/null"],
    "time": ["time", SAMPLES / "kernels" / "gemm.ptx"],
}
DROP_IN = "drop-in"  # of the tool itself, without the ptxas that it calls
ASK_PTXAS = ("guard", "time", DROP_IN)
# A pass, and what comes before and after them all.
STEP = re.compile(r"ptxopt::(?:text::)?((?:\w+(?=\(ptxopt::(?:Function|Module)&, ptxopt::PassContext&\)))|parse(?=\(std)|print(?=\())")


def instructions(tool, words):
    """Of the tool itself, and of each step with what it calls."""
    with tempfile.NamedTemporaryFile(prefix="ptxopt-callgrind-") as counts:
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts.name}", tool, *map(str, words)],
                              capture_output=True, text=True, env=ENVIRONMENT)
        found = re.search(r"Collected : (\d+)", done.stderr)
        if done.returncode != 0 or not found:
            sys.exit(f"{tool} {words}: status {done.returncode}\n{done.stderr[:2000]}")
        shown = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", counts.name], capture_output=True,
                               text=True).stdout
    steps = {}
    for line in shown.splitlines():
        if name := STEP.search(line):
            steps[name[1]] = max(steps.get(name[1], 0), int(line.split()[0].replace(",", "")))
    return int(found[1]), steps


def version_of_ptxas():
    """Empty where there is none."""
    if not shutil.which("ptxas"):
        return ""
    found = re.search(r"V\d+\.\d+\.\d+", subprocess.run(["ptxas", "--version"], capture_output=True, text=True).stdout)
    return found[0] if found else ""


def count_all(tool, files, asks_ptxas):
    """By input, and by step over all inputs of -O2."""
    counts, steps = {}, {}

    def optimized(path):
        count, of_steps = instructions(tool, [path, "-O2", "-o", "/dev/null"])
        for name, n in of_steps.items():
            steps[name] = steps.get(name, 0) + n
        return count

    with tempfile.TemporaryDirectory(prefix="ptxopt-instructions-") as folder:
        path = Path(folder) / "made.ptx"
        for name, make in MADE.items():
            path.write_text(make())
            counts[name] = optimized(path)
            if name == "many kernels":
                counts["reprint"], _ = instructions(tool, [path, "-O0", "--reprint", "-o", "/dev/null"])
        if asks_ptxas:
            counts[DROP_IN], _ = instructions(tool + "-ptxas", ["-arch=sm_80", "-o", Path(folder) / "out.cubin", SAMPLES / "kernels" / "attention.ptx"])
    for file in files:
        counts[file.stem] = optimized(file)
    for name, words in COMMANDS.items():
        if asks_ptxas or name not in ASK_PTXAS:
            counts[name], _ = instructions(tool, words)
    return counts, steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--before", help="the tool to compare with, instead of the counts of the commit before")
    parser.add_argument("--most", type=float, default=2, help="percent that may come")
    parser.add_argument("--compiler", default="", help="what the tool is compiled by, and how")
    parser.add_argument("--update", action="store_true", help="write the counts to instructions.json")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: there is no valgrind")
        return SKIPPED
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"compiler": "", "ptxas": "", "instructions": {}, "steps": {}}
    ptxas = version_of_ptxas()
    if not options.before and not options.update and kept["compiler"] != options.compiler:
        print(f"skipped: the counts are of '{kept['compiler']}', this is '{options.compiler}'")
        return SKIPPED
    files = sorted((ROOT / "samples" / "kernels").glob("*.ptx")) + options.files
    asks_ptxas = ptxas != "" and (options.update or options.before or ptxas == kept["ptxas"])
    if not asks_ptxas:
        print(f"{', '.join(ASK_PTXAS)}: left out: the counts are with ptxas {kept['ptxas']}, here it is {ptxas or 'missing'}")
    after, steps = count_all(os.path.abspath(options.tool), files, asks_ptxas)
    if options.update:
        if not asks_ptxas:
            sys.exit("there is no ptxas to count with")
        KEPT.write_text(json.dumps({"compiler": options.compiler, "ptxas": ptxas, "instructions": after, "steps": steps}, indent=2) + "\n")
        return 0
    before, steps_before = count_all(os.path.abspath(options.before), files, asks_ptxas) if options.before else \
        (kept["instructions"], kept["steps"])
    rows, bad = [], []
    for name, count in after.items():
        if name not in before:
            bad.append(f"{name}: there is no count of before")
            continue
        own, owned, room = (count, before[name], LOADING) if name == START else \
            (count - after[START], before[name] - before[START], 0)
        more = 100 * (own / owned - 1)
        rows.append([name, f"{before[name] / 1e6:.2f}", f"{count / 1e6:.2f}", f"{more:+.2f}%"])
        if own - owned > owned * options.most / 100 + room:
            bad.append(f"{name}: {more:.2f}% more, {options.most:g}% allowed")
    table(["input", "before, millions", "after", "change"], rows)
    grown = [(steps[name] - steps_before.get(name, 0), name) for name in steps]
    for more, name in sorted(grown, reverse=True):
        if more > NOTABLE * sum(after.values()):
            print(f"{name}: {steps_before.get(name, 0) / 1e6:.2f} -> {steps[name] / 1e6:.2f} millions")
    for line in bad:
        print("over the bound: " + line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
