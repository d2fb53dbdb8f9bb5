#!/usr/bin/env python3
"""How much the model's order of two versions depends on each of its figures.

  tests/codegen/timing/sensitivity.py --tool PTXOPT --order TIMING_ORDER --tables DUMP_TIMING [--archs sm_80,...] [--kernels N]
                                      [--producers nvcc,clang] [--ptxas PTXAS] [--update] [--work build/timing] [-j N]

Two versions of a kernel are what ptxas makes of it before and after -O2 without the guard. Each figure of the model in turn is
taken a fifth smaller and a fifth larger. Counted are the kernels about which the model says something else then: `turned`,
the better version is the other one; `lost`, there was a better one and there is none; `new`, the other way around.
--update writes the table of docs/results/timing-model.md. 77 without ptxas or a compiler.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent / "toolchains"), str(HERE.parents[1] / "lib")]
import inputs  # noqa: E402
from bench import Bench  # noqa: E402
from compilers import prepare, run  # noqa: E402
from loop_kernels import compilers  # noqa: E402
from toolchains import toolchain  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

os.environ["PTXOPT_GUARD"] = "off"
PAGE = ROOT / "docs/results/timing-model.md"
SHOWN = 12  # figures, those that turn or lose most


def figures(tables, arch):
    number = re.search(r"\d+", arch)[0]
    names = []
    for line in run([tables], 60).stdout.splitlines():
        words = line.split()
        if words[1] != number:
            continue
        if words[0] == "use" and words[3] != "Issue":
            names.append(f"use:{words[2]}:{words[3]}")
        elif words[0] == "latency":
            names.append(f"latency:{words[2]}")
        elif words[0] == "memory":
            names += [f"memory-latency:{words[2]}", f"memory-bytes:{words[2]}"]
    return names


def pair(bench, text, arch, folder):
    """Paths of both cubins; None where ptxas refuses."""
    source = bench.stored(inputs.lowered(text, arch, bench.toolchain.newest))
    paths = []
    for path in (source, bench.made(source, "-O2", "--guard=off", "--arch", arch)):
        cubin = os.path.join(folder, f"{Path(path).stem}.{arch}.cubin")
        if not os.path.exists(cubin):
            if run([bench.toolchain.path, f"-arch={arch}", path, "-o", cubin], 300).returncode:
                return None
        paths.append(cubin)
    return " ".join(paths)


def orders(program, names, pairs):
    """[(kernel, figure, sign)]"""
    result = subprocess.run([program, *names], input="\n".join(pairs), capture_output=True, text=True, check=True)
    return [(words[0], words[1], int(words[2])) for words in map(str.split, result.stdout.splitlines())]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--order", required=True)
    parser.add_argument("--tables", required=True)
    parser.add_argument("--archs", default="sm_80,sm_90,sm_120")
    parser.add_argument("--producers", default="nvcc,clang")
    parser.add_argument("--kernels", type=int, default=3, metavar="N", help="one kernel of N")
    parser.add_argument("--ptxas")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--work", default=str(ROOT / "build/timing"))
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    tools, ptxas = compilers(), args.ptxas or find_ptxas()
    if not ptxas or not any(tools.values()):
        print("skipped: sensitivity needs ptxas and nvcc or clang")
        return 77
    work = os.path.abspath(args.work)
    prepare(work)
    folder = os.path.join(work, "cubins")
    os.makedirs(folder, exist_ok=True)
    bench = Bench(args.tool, work, toolchain(ptxas))
    lines = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for arch in args.archs.split(","):
            texts = [text.text for _, text in inputs.kernels(arch, args.producers.split(","), tools, work, args.kernels)]
            pairs = [p for p in pool.map(lambda t: pair(bench, t, arch, folder), texts) if p]
            names = figures(args.tables, arch)
            found = [row for rows in pool.map(lambda p: orders(args.order, names, [p]), pairs) for row in rows]
            base, changes = {}, {}
            for kernel, figure, sign in found:
                if figure == "base":
                    base[kernel] = sign
                    continue
                was = base[kernel]
                kind = "turned" if was * sign < 0 else "lost" if was else "new"
                changes.setdefault(figure, Counter())[kind] += 1
            said = sum(1 for sign in base.values() if sign)
            ranked = sorted(changes.items(), key=lambda item: (-item[1]["turned"], -item[1]["lost"], -item[1]["new"], item[0]))
            turned = sum(c["turned"] for _, c in ranked)
            lines.append(f"sm_{arch[3:]}: {len(base)} kernels whose code changed, {said} with a better version. {len(names)} figures, each "
                         f"0.8 and 1.2 times as large: {len(ranked)} of {2 * len(names)} change something, {turned} verdicts turn.\n")
            lines += ["| figure | turned | lost | new |", "|---|--:|--:|--:|"]
            lines += [f"| {figure} | {c['turned']} | {c['lost']} | {c['new']} |" for figure, c in ranked[:SHOWN]]
            lines.append("")
    text = "\n".join(lines)
    print(text)
    if args.update:
        page = PAGE.read_text(encoding="utf-8")
        page, count = re.subn(r"(<!-- sensitivity -->\n).*?(<!-- /sensitivity -->)", lambda m: f"{m[1]}{text}{m[2]}", page, flags=re.S)
        if count != 1:
            sys.exit(f"sensitivity: {PAGE.name} has no place for the table")
        PAGE.write_text(page, encoding="utf-8")
    return 0 if text else 1


if __name__ == "__main__":
    sys.exit(main())
