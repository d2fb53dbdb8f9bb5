#!/usr/bin/env python3
"""Counts the instructions that the tool executes, and fails where they are more than before.

    tests/perf/instructions.py --tool build/ci/ptxopt [--before PTXOPT] [--most PERCENT] [FILE.ptx ...]
    tests/perf/instructions.py --tool build/ci/ptxopt --compiler NAME --update

Unlike times, counts (`valgrind --tool=callgrind`) are the same in each run. The inputs are made here: many kernels as nvcc
prints them, one large kernel, loops with copies for phis, values that interfere, loops over arrays, accesses of shared
memory; and the kernels of samples/. Each is optimized with -O2, and the first is also reprinted with -O0. The last row is a
file of three lines: what starting takes. FILE adds files.

Without --before the counts are compared with those of the commit before, in tests/perf/instructions.json, which a commit
that changes them updates by --update. They hold for one compiler: with another one than --compiler NAME says there, or
without valgrind, the job is skipped (exit code 77). Exit code 1: an input takes more than --most percent (2) more. What starting
takes differs by machine, and is taken off the other inputs; it may itself be 60,000 instructions more besides.
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

os.environ["PTXOPT_GUARD"] = "off"  # the passes are measured, not ptxas

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = Path(__file__).resolve().parent / "instructions.json"
SKIPPED = 77
START = "start"
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


def instructions(tool, path, options):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", tool, str(path), *options, "-o",
                           "/dev/null"], capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"{tool} {path}: status {done.returncode}\n{done.stderr[:2000]}")
    return int(found[1])


def count_all(tool, files):
    counts = {}
    with tempfile.TemporaryDirectory(prefix="ptxopt-instructions-") as folder:
        path = Path(folder) / "made.ptx"
        for name, make in MADE.items():
            path.write_text(make())
            counts[name] = instructions(tool, path, ["-O2"])
            if name == "many kernels":
                counts["reprint"] = instructions(tool, path, ["-O0", "--reprint"])
    for file in files:
        counts[file.stem] = instructions(tool, file, ["-O2"])
    return counts


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
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"compiler": "", "instructions": {}}
    if not options.before and not options.update and kept["compiler"] != options.compiler:
        print(f"skipped: the counts are of '{kept['compiler']}', this is '{options.compiler}'")
        return SKIPPED
    files = sorted((ROOT / "samples" / "kernels").glob("*.ptx")) + options.files
    after = count_all(os.path.abspath(options.tool), files)
    if options.update:
        KEPT.write_text(json.dumps({"compiler": options.compiler, "instructions": after}, indent=2) + "\n")
        return 0
    before = count_all(os.path.abspath(options.before), files) if options.before else kept["instructions"]
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
    for line in bad:
        print("over the bound: " + line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
