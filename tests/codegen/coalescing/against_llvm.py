#!/usr/bin/env python3
"""Compares ptxopt's coalescing with LLVM's.

  tests/codegen/coalescing/against_llvm.py --tool PTXOPT --counter INSERT_COPIES [--passes LIST] [--work build/coalescing]

CUDA and OpenCL sources become LLVM IR by clang -O1 and -O2, and each .ll becomes PTX by llc -O2 twice: with LLVM's register
coalescer and without (-join-liveintervals=1 and =0; the NVPTX backend honours it, which is checked: off must leave more).
ptxopt's passes run on the second. Compared are moves from register to register:

  off    without LLVM's coalescer
  on     with it
  ours   what our passes leave of `off`, with join-critical-edges: no more than `on`, file by file
  on+    what our passes leave of `on`, for comparison

Without llc the script says so and ends with status 77. Exit 1 when ours leaves more in all, or more than MOST_MORE in one file:
LLVM knows of a register that one way leaves undefined that it may hold anything there, and we do not assume that.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1]
ROOT = TESTS.parent
sys.path.insert(0, str(TESTS / "lib"))
from tables import table  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

MOST_MORE = 3
PASSES = "dce,cssa-coalesce,register-coalescer,cross-type-coalescer,dce"
LLC = ["llc-19", "llc"]
CLANG = ["clang-19", "clang"]
CUDA = ["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-fdeclspec", "--cuda-gpu-arch=sm_80"]
OPENCL = ["-x", "cl", "-target", "nvptx64-nvidia-cuda", "-march=sm_80", "-nogpulib"]


def find(names):
    return next((path for name in names if (path := shutil.which(name))), None)


def run(*command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", timeout=300)
    if result.returncode != 0:
        sys.exit(f"against_llvm: {' '.join(map(str, command))}\n{result.stderr[:2000]}")
    return result.stdout


def sources():
    """(name, file, flags for clang; none for what is LLVM IR already)"""
    for path in sorted((ROOT / "samples" / "kernels").glob("*.cu")):
        yield path.stem, path, [*CUDA, "-include", TESTS / "lib" / "cuda_for_clang.h"]
    for path in sorted((TESTS / "codegen" / "corpus" / "kernels" / "clang").glob("*.cu")):
        yield path.stem, path, CUDA
    for path in sorted((TESTS / "codegen" / "corpus" / "kernels" / "opencl").glob("*.cl")):
        yield path.stem + ".cl", path, [*OPENCL, "-cl-std=CL2.0"]
    for path in sorted((TESTS / "semantics" / "exec" / "opencl" / "kernels").glob("*.cl")):
        yield path.stem + ".cl", path, [*OPENCL, "-cl-std=CL1.2", "-cl-no-stdinc", "-include", TESTS / "semantics/exec/opencl/nvptx.h"]
    for path in sorted((TESTS / "codegen" / "corpus" / "kernels" / "llvm").glob("*.ll")):
        yield path.stem + ".ll", path, None


class Comparison:
    def __init__(self, args, clang, llc, folder):
        self.args, self.clang, self.llc, self.folder = args, clang, llc, folder

    def intermediate(self, path, flags, level):
        if flags is None:
            return path
        out = os.path.join(self.folder, "a.ll")
        run(self.clang, *flags, level, "-Xclang", "-target-feature", "-Xclang", "+ptx83", "-w", "-S", "-emit-llvm", path, "-o", out)
        return out

    def moves(self, path):
        return json.loads(run(self.args.counter, path, "--count"))["moves"]

    def optimized(self, path):
        out = path + ".opt"
        run(self.args.tool, path, "-o", out, "--passes=" + self.args.passes, "--verify-each", "--join-critical-edges=1")
        return self.moves(out)

    def row(self, name, path, flags, level):
        ir = self.intermediate(path, flags, level)
        ptx = [os.path.join(self.folder, f"{join}.ptx") for join in (0, 1)]
        for join, out in enumerate(ptx):
            run(self.llc, "-O2", "-march=nvptx64", "-mcpu=sm_80", "-mattr=+ptx83", f"-join-liveintervals={join}", ir, "-o", out)
        return [name, level[1:] if flags else "", *map(self.moves, ptx), *map(self.optimized, ptx)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "build/release/ptxopt"))
    parser.add_argument("--counter", default=str(ROOT / "build/release/tests/codegen/coalescing/insert_copies"))
    parser.add_argument("--passes", default=PASSES, help=f"default: {PASSES}")
    args = parser.parse_args()
    clang, llc = find(CLANG), find(LLC)
    if not clang or not llc:
        print("skipped: there is no clang or no llc")
        return 77
    known = run(args.tool, "--list-passes").split()
    if missing := [p for p in args.passes.split(",") if p not in known]:
        sys.exit(f"against_llvm: this ptxopt has no pass {', '.join(missing)}")
    rows, worse, bad = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(args, clang, llc, folder)
        for name, path, flags in sources():
            for level in ("-O1", "-O2") if flags else ("-O2",):
                name_, level_, off, on, ours, both = comparison.row(name, path, flags, level)
                worse += ours > on
                bad += ours > on + MOST_MORE
                rows.append([name_, level_, off, on, ours, both, "worse" if ours > on else "fewer" if ours < on else "equal"])
    totals = [sum(row[k] for row in rows) for k in range(2, 6)]
    rows.append(["all", "", *totals, "worse" if totals[2] > totals[1] else "fewer" if totals[2] < totals[1] else "equal"])
    table(["file", "clang -O", "off", "on", "ours", "on+", "ours against on"], rows)
    if totals[0] <= totals[1]:
        sys.exit("against_llvm: llc leaves as many moves with its coalescer as without: the flag does nothing")
    print(f"against LLVM: {len(rows) - 1} files, {worse} with more moves than LLVM leaves")
    return 1 if bad or totals[2] > totals[1] else 0


if __name__ == "__main__":
    sys.exit(main())
