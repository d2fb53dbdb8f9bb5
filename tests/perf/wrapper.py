#!/usr/bin/env python3
"""What the drop-in ptxas costs in a build: CPU time of `make -j2` over 200 PTX files, against plain ptxas.

  tests/perf/wrapper.py --tool PATH [--repetitions N] [--guard] [--by-call] [--keep FOLDER]

The PTX is that of nvcc from the CUDA files of the tests and samples, for sm_75; each is assembled for several
architectures until there are 200 calls. Plain and drop-in builds take turns; user and system time of make's children
count. --guard: also with the guard, first with an empty cache and then with what that left. --by-call: no make; every
call plain and drop-in in turn, and the least CPU time of each call counts, which a noisy machine disturbs less; it also
tells what of the difference is ours and what is ptxas's own, on the PTX that we leave. Needs nvcc, ptxas, make.
"""
import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from toolkit import real_ptxas  # noqa: E402

SOURCES = ["samples/*.cu", "samples/kernels/*.cu", "tests/codegen/loops/kernels/*.cu", "tests/codegen/corpus/kernels/*.cu"]
ARCHITECTURES = ["sm_80", "sm_90", "sm_86", "sm_75", "sm_89", "sm_100", "sm_120"]
CALLS = 200


def compile_all(folder):
    """PTX files for sm_75, of the sources that nvcc takes for it."""
    def compiled(source):
        out = folder / (source.stem + "-" + source.parent.name + ".ptx")
        if not out.exists():
            subprocess.run(["nvcc", "-ptx", "-arch=compute_75", "-std=c++17", str(source), "-o", str(out)], capture_output=True)
        return out
    sources = [path for pattern in SOURCES for path in sorted(ROOT.glob(pattern))]
    with ThreadPoolExecutor(2) as pool:
        return [path for path in pool.map(compiled, sources) if path.exists()]


def calls_of(files, folder):
    """(input, architecture) of files that ptxas takes, one architecture after the other until there are enough."""
    fine = [f for f in files if subprocess.run(["ptxas", "-arch=sm_75", f, "-o", folder / "x"], capture_output=True).returncode == 0]
    return [(f, arch) for arch in ARCHITECTURES for f in fine][:CALLS], fine


def makefile(calls, folder):
    lines = ["all: " + " ".join(f"{i}.cubin" for i in range(len(calls)))]
    for i, (path, arch) in enumerate(calls):
        lines += [f"{i}.cubin:", f"\t@$(PTXAS) -arch={arch} -m64 {path} -o $@"]
    (folder / "Makefile").write_text("\n".join(lines) + "\n")


def build(folder, ptxas, environment):
    for old in folder.glob("*.cubin"):
        old.unlink()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["make", "-s", "-j2", f"PTXAS={ptxas}"], cwd=folder, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def cpu_of(command, environment=None):
    """CPU seconds of a command that must succeed."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime


def by_call(calls, ptxas, drop_in, folder, plain, off, repetitions):
    """Prints the sums over the calls of their least times: plain, drop-in, and ptxas on what the drop-in leaves."""
    least = [[float("inf")] * len(calls) for _ in range(3)]
    outputs = []
    tool = drop_in.with_name("ptxopt")
    for i, (path, arch) in enumerate(calls):
        outputs.append(folder / f"{i}.ptx")
        subprocess.run([tool, "--arch", arch, path, "-o", outputs[-1]], check=True, env=off)
    for _ in range(repetitions):
        for i, (path, arch) in enumerate(calls):
            rest = [f"-arch={arch}", "-m64", path, "-o", folder / "x"]
            commands = ([ptxas, *rest], [drop_in, *rest], [ptxas, *rest[:2], outputs[i], *rest[3:]])
            for row, command, environment in zip(least, commands, (plain, off, plain)):
                row[i] = min(row[i], cpu_of(command, environment))
    before, after, left = map(sum, least)
    print(f"sums of the least of {repetitions}: plain {before:.2f} s, drop-in {after:.2f} s: {100 * (after / before - 1):+.1f}%; "
          f"ours {100 * (after - left) / before:+.1f}%, ptxas on the optimized PTX {100 * (left / before - 1):+.1f}%; "
          f"{1e3 * (after - left) / len(calls):.1f} ms of ours a call")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--guard", action="store_true")
    parser.add_argument("--by-call", action="store_true")
    parser.add_argument("--keep", type=Path, help="where the PTX is kept for another run")
    args = parser.parse_args()
    os.environ["PATH"] += ":/usr/local/cuda/bin"
    ptxas = real_ptxas()
    plain = {k: v for k, v in os.environ.items() if not k.startswith("PTXOPT_")}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = args.keep or folder / "ptx"
        kept.mkdir(parents=True, exist_ok=True)
        calls, files = calls_of(compile_all(kept), folder)
        makefile(calls, folder)
        drop_in = folder / "bin" / "ptxas"
        drop_in.parent.mkdir()
        # Copies: a build meanwhile may replace the tool.
        shutil.copy2(Path(args.tool).resolve().with_name("ptxopt-ptxas"), drop_in)
        shutil.copy2(args.tool, drop_in.with_name("ptxopt"))
        off = dict(plain, PTXOPT_PTXAS=ptxas, PTXOPT_GUARD="off")
        size = sum(f.stat().st_size for f, _ in calls)
        print(f"{len(calls)} calls, {len(files)} files, {size / 1e6:.1f} MB of PTX")
        if args.by_call:
            by_call(calls, ptxas, drop_in, folder, plain, off, args.repetitions)
            return 0
        rows = []
        for repetition in range(args.repetitions):
            row = [build(folder, ptxas, plain), build(folder, drop_in, off)]
            rows.append(row)
            print(f"{repetition + 1}: plain {row[0]:.2f} s, drop-in {row[1]:.2f} s of CPU: {100 * (row[1] / row[0] - 1):+.1f}%", flush=True)
        best = [min(column) for column in zip(*rows)]
        print(f"overhead: median {100 * (statistics.median(b / a for a, b in rows) - 1):.1f}%, of the best builds "
              f"{100 * (best[1] / best[0] - 1):.1f}%; {1e3 * (best[1] - best[0]) / len(calls):.1f} ms a call")
        if args.guard:
            guarded = dict(off, PTXOPT_GUARD="ptxas", PTXOPT_CACHE_DIR=str(folder / "cache"))
            for what in ("empty cache", "from the cache"):
                seconds = build(folder, drop_in, guarded)
                print(f"with the guard, {what}: {seconds:.2f} s of CPU: {100 * (seconds / best[0] - 1):+.1f}%")
    return 0


if __name__ == "__main__":
    sys.exit(main())
