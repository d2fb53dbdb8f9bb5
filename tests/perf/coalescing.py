#!/usr/bin/env python3
"""How long the coalescing passes take, and what they save ptxas.

    tests/perf/coalescing.py --tool build/release/ptxopt --inserter build/release/tests/codegen/coalescing/insert_copies
                              [--most INSTRUCTIONS] [--shape NAME] [--best N] [--check] [--no-ptxas]

First table: CPU nanoseconds an instruction of each pass, analyses included, on one function of 1,000 to 1,000,000
instructions (about; a factor of ten a step), what they come to in all, and how many moves they leave: a pass that gives up
is fast, too. The shapes:

    kernel       as nvcc prints one: values written once, short blocks
    copies       the same with a copy after every definition
    phis         loops whose variables go through copies at the latch and the header, as front ends leave phis
    chain        one block, in which one value is handed from register to register
    interfering  300 values live from the first instruction to the last, copied to one another and changed in between:
                 few of the copies can go, and each has long ranges on both sides

--check: exit 1 when the passes together take more than 2,000 ns an instruction anywhere, or when ten times the
instructions take more than ten times the time, times what n log n allows, times 1.6 for noise and caches.

Second table: CPU seconds of `ptxas -O3` on a kernel of 10,000 instructions, on the same with ten copies a definition, and
on what the passes make of that; and how many times the first the other two are.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

from measure import function, measure, table

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

HEADER = '.version 8.0\n.target sm_80\n.address_size 64\n\n\t.file	1 "synthetic.cu"\n'
PASSES = ["cssa-coalesce", "register-coalescer", "cross-type-coalescer", "split-live-ranges", "split-high-pressure"]
SIZES = [1_000, 10_000, 100_000, 1_000_000]
BOUND = 2000  # nanoseconds an instruction
NOISE = 1.6
SMALLEST = 10_000  # below, the clock's steps and the fixed costs of a run are all that is seen


def wrap(body, registers, wide=2):
    return (HEADER + ".visible .entry k(\n\t.param .u64 p,\n\t.param .u32 n\n)\n{\n\t.reg .pred %p<2>;\n"
            f"\t.reg .b32 %r<{registers}>;\n\t.reg .b64 %rd<{wide}>;\n\tld.param.u64 %rd1, [p];\n\tld.param.u32 %r0, [n];\n"
            + "\n".join("\t" + line if not line.endswith(":") else line for line in body) + "\n\tret;\n}\n")


def kernel(n):
    return HEADER + function(0, max(1, n // 14))


def phis(n):
    """Loops one after the other, four variables each; a variable is copied on the way in, around and out."""
    body, next_register, size = [], 5, 0
    values = [1, 2, 3, 4]
    body += [f"add.s32 %r{v}, %r0, {v};" for v in values]
    label = 0
    while size < n:
        carried = list(range(next_register, next_register + 4))
        inner = list(range(next_register + 4, next_register + 8))
        sums = list(range(next_register + 8, next_register + 12))
        next_register += 12
        loop = [f"mov.b32 %r{c}, %r{v};" for c, v in zip(carried, values)]
        loop.append(f"L{label}:")
        loop += [f"mov.b32 %r{i}, %r{c};" for i, c in zip(inner, carried)]
        loop += [f"mad.lo.s32 %r{s}, %r{i}, %r0, %r{inner[(k + 1) % 4]};" for k, (s, i) in enumerate(zip(sums, inner))]
        loop += [f"mov.b32 %r{c}, %r{s};" for c, s in zip(carried, sums)]
        loop += [f"setp.lt.s32 %p1, %r{carried[0]}, %r0;", f"@%p1 bra L{label};"]
        values = carried
        label += 1
        size += len(loop)
        body += loop
    body += [f"st.global.u32 [%rd1+{4 * k}], %r{v};" for k, v in enumerate(values)]
    return wrap(body, next_register)


def chain(n):
    body = ["add.s32 %r1, %r0, 1;"] + [f"mov.b32 %r{k + 1}, %r{k};" for k in range(1, n)]
    return wrap([*body, f"st.global.u32 [%rd1], %r{n};"], n + 2)


def interfering(n):
    values = min(300, n // 4)
    body = [f"ld.global.u32 %r{v + 1}, [%rd1+{4 * v}];" for v in range(values)]
    k = 0
    while len(body) < n - values:
        a, b = 1 + k * 7 % values, 1 + (k * 13 + 5) % values
        if a != b:
            body += [f"mov.b32 %r{a}, %r{b};", f"add.s32 %r{b}, %r{b}, {k % 100 + 1};"]
        k += 1
        if k % 50 == 0:
            body += [f"setp.lt.s32 %p1, %r{a}, %r0;", f"@%p1 bra L{k};", f"xor.b32 %r{a}, %r{a}, {k};", f"L{k}:"]
    body += [f"st.global.u32 [%rd1+{4 * v}], %r{v + 1};" for v in range(values)]
    return wrap(body, values + 2)


SHAPES = {"kernel": kernel, "copies": kernel, "phis": phis, "chain": chain, "interfering": interfering}


def run(*command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stderr[:2000]}")
    return result.stdout + result.stderr


def pass_times(tool, path, passes, best):
    """CPU seconds by pass: the best of some runs each."""
    times = {}
    for _ in range(best):
        report = run(tool, path, "-o", "/dev/null", "--passes=" + ",".join(passes), "--time-report")
        for name in passes:
            found = re.search(rf"^{re.escape(name)}\s+([\d.]+) ms", report, re.M)
            if not found:
                sys.exit(f"--time-report does not name {name}:\n{report}")
            times[name] = min(times.get(name, math.inf), float(found[1]) / 1000)
    return times


def time_passes(options, passes, folder):
    rows, bad = [], []
    for shape, make in SHAPES.items():
        if options.shape and shape != options.shape:
            continue
        before = None
        for size in SIZES:
            if size > options.most:
                break
            path = os.path.join(folder, "function.ptx")
            with open(path, "w") as file:
                file.write(make(size // 2 if shape == "copies" else size))
            if shape == "copies":
                inserted = os.path.join(folder, "inserted.ptx")
                run(options.inserter, path, "-o", inserted, "--mode=definitions")
                path = inserted
            count = json.loads(run(options.inserter, path, "--count"))
            n = count["instructions"]
            times = pass_times(options.tool, path, passes, options.best if size < 1_000_000 else 1)
            total = sum(times.values())
            each = total / n * 1e9
            growth = ""
            if before:
                allowed = n / before[0] * math.log(n) / math.log(before[0])
                ratio = total / before[1] if before[1] else 0.0
                growth = f"{ratio / (n / before[0]):.2f}"
                if ratio > allowed * NOISE and before[0] >= SMALLEST // 2:
                    bad.append(f"{shape}: {n} instructions take {ratio:.1f} times the time of {before[0]}, {allowed:.1f} allowed")
            if each > BOUND and n >= SMALLEST // 2:
                bad.append(f"{shape}: {each:.0f} ns an instruction at {n} instructions, {BOUND} allowed")
            result = os.path.join(folder, "result.ptx")
            run(options.tool, path, "-o", result, "--passes=" + ",".join(passes))
            left = json.loads(run(options.inserter, result, "--count"))["moves"]
            rows.append([shape, n, count["moves"], left, *(f"{times[p] / n * 1e9:.0f}" for p in passes), f"{each:.0f}", growth])
            before = n, total
    table(["shape", "instructions", "moves", "left", *passes, "ns in all", "growth"], rows)
    return bad


def time_ptxas(options, passes, folder):
    original, bloated, clean = (os.path.join(folder, name) for name in ("original.ptx", "bloated.ptx", "clean.ptx"))
    with open(original, "w") as file:
        file.write(HEADER + function(0, 700))
    run(options.inserter, original, "-o", bloated, "--mode=definitions", "--times=10")
    run(options.tool, bloated, "-o", clean, "--passes=" + ",".join(["dce", *passes, "dce"]))
    rows, first = [], None
    for name, path in (("original", original), ("ten copies a definition", bloated), ("after the passes", clean)):
        taken = measure(["ptxas", "-O3", "-arch=sm_80", path, "-o", "/dev/null"], options.best)
        if taken is None:
            sys.exit(f"ptxas refuses the {name} kernel")
        first = first or taken[0]
        n = json.loads(run(options.inserter, path, "--count"))["instructions"]
        rows.append([name, n, os.path.getsize(path), f"{taken[0]:.2f}", f"{taken[0] / first:.2f}"])
    print()
    table(["input of ptxas", "instructions", "bytes", "CPU s", "ratio"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--inserter", required=True)
    parser.add_argument("--passes", help="default: those of coalescing and splitting that the tool has")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="sizes up to this")
    parser.add_argument("--shape", choices=list(SHAPES))
    parser.add_argument("--best", type=int, default=3, help="take the best of N runs")
    parser.add_argument("--check", action="store_true", help="exit 1 when a bound fails")
    parser.add_argument("--no-ptxas", action="store_true", help="leave out the second table")
    options = parser.parse_args()
    options.tool, options.inserter = os.path.abspath(options.tool), os.path.abspath(options.inserter)
    known = run(options.tool, "--list-passes").split()
    passes = options.passes.split(",") if options.passes else [p for p in PASSES if p in known]
    if not passes:
        sys.exit("coalescing: this ptxopt has none of " + ", ".join(PASSES))
    with tempfile.TemporaryDirectory(prefix="ptxopt-bench-") as folder:
        bad = time_passes(options, passes, folder)
        if not options.no_ptxas and not options.shape:
            time_ptxas(options, passes, folder)
    for line in bad:
        print("over the bound: " + line)
    return 1 if bad and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
