#!/usr/bin/env python3
"""ptxas of many releases, and every architecture that each makes code for: do they take what ptxopt writes, and does it pay?

  tests/codegen/toolchains/run.py [--tool PTXOPT] [--toolchains FOLDER | --download [all|12.8,13.5]] [--archs sm_80,sm_120]
                                  [--update] [--list] [--files N] [--kernels N] [--work build/toolchains] [-j N]

Without --toolchains and --download the ptxas is the installed one. --toolchains takes every ptxas below a folder, --download
the packages of PyPI (tests/lib/toolchains.py), one for each release of CUDA 12 and 13. For each ptxas and architecture:

  taken      files that ptxas takes; inputs.py says which they are, and what is changed in them for older ptxas
  ours       of those, whose result of -O2 without the guard it takes
  identical  of those, whose reprint becomes the same machine code
  inner      instructions of the innermost loops of kernels, after / before -O2 without the guard: geometric mean, by compiler
  whole      all instructions of these kernels
  worse      kernels that are worse by the guard's rule, without the guard and with it

Exit 1, with names, unless `ours` and `identical` are all that are taken and no kernel is worse with the guard, and for an
architecture of which nothing was compared; 77 without a ptxas or a compiler. --update writes the tables of docs/results/toolchains.md. What was measured is kept in the work folder: a
second run asks ptxas only about texts that changed. --files and --kernels: one file, one kernel of N, always the same ones.
"""
import argparse
import os
import resource
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lib")]
import page  # noqa: E402
from bench import Bench  # noqa: E402
from compilers import prepare  # noqa: E402
from inputs import files, suffix  # noqa: E402
from loop_kernels import compilers  # noqa: E402
from measure import measure, new_pool  # noqa: E402
from toolchains import RELEASES, Unavailable, below, downloaded, order_of, toolchain  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # asked for where it is measured

OLDEST = 75
LEFT_OUT = ["sm_87", "sm_88"]  # their code is that of sm_86, as far as was seen
PAGE = ROOT / "docs/results/toolchains.md"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "build/release/ptxopt"), help="default: build/release/ptxopt")
    parser.add_argument("--toolchains", metavar="FOLDER", help="take every ptxas below it")
    parser.add_argument("--download", metavar="RELEASE,...", nargs="?", const="all", help="get these from PyPI; default: all")
    parser.add_argument("--archs", metavar="sm_XX,...", help="default: all from sm_75 on, but for sm_87 and sm_88")
    parser.add_argument("--producers", default="nvcc,clang", help="of the kernels; default: nvcc,clang")
    parser.add_argument("--files", type=int, default=20, metavar="N", help="one file of N; default: 20")
    parser.add_argument("--kernels", type=int, default=3, metavar="N", help="one kernel of N; default: 3")
    parser.add_argument("--update", action="store_true", help="write the tables of docs/results/toolchains.md")
    parser.add_argument("--list", action="store_true", help="name the kernels that are worse without the guard")
    parser.add_argument("--work", default=str(ROOT / "build/toolchains"), help="folder for what is kept")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    args.producers = args.producers.split(",")
    args.tools = compilers()
    return args


def chosen(args):
    if args.download:
        return below(downloaded(list(RELEASES) if args.download == "all" else args.download.split(",")))
    if args.toolchains:
        return below(args.toolchains)
    installed = find_ptxas() and toolchain(find_ptxas())
    return [installed] if installed else []


def architectures(args, found):
    """Of the architecture-specific ones those that there are files for."""
    usual = [arch for arch in found.architectures if order_of(arch)[0] >= OLDEST and arch not in LEFT_OUT
             and (not suffix(arch) or files(arch, args.files))]
    wanted = args.archs.split(",") if args.archs else usual
    return [arch for arch in wanted if arch in found.architectures]


def main():
    args = parse_arguments()
    try:
        found = chosen(args)
    except Unavailable as reason:
        print(f"skipped: {reason}")
        return 77
    if not found or not any(args.tools.values()):
        print("skipped: toolchains need ptxas and nvcc or clang")
        return 77
    if not os.path.exists(args.tool):
        sys.exit(f"toolchains: no {args.tool}; build it or say where it is with --tool")
    work = os.path.abspath(args.work)
    prepare(work)
    results, bad = {}, 0
    with new_pool(args.jobs) as pool:
        for one in found:
            bench = Bench(args.tool, work, one)
            for arch in architectures(args, one):
                result = results[one.build, arch] = measure(bench, arch, args, pool)
                print(page.line(one, arch, result), flush=True)
                for problem in result.failures():
                    bad += 1
                    print(f"FAILED {one.build} {arch}: {problem}", flush=True)
                for name in result.worse if args.list else ():
                    print(f"  worse: {name}")
            if args.update:
                page.update(PAGE, found, results)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"toolchains: {len(found)} ptxas, {len(results)} pairs with an architecture, {bad} failures; "
          f"{used.ru_utime + used.ru_stime:.0f} s of CPU time in ptxas, ptxopt and compilers")
    return 1 if bad or not results else 0


if __name__ == "__main__":
    sys.exit(main())
