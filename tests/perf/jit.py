#!/usr/bin/env python3
"""What the drop-in ptxas with an empty cache costs a JIT: CPU and wall time of calls for one kernel each, next to plain ptxas.

  tests/perf/jit.py --tool PATH [--before OTHER/ptxopt] [--ptxas PROGRAM ...] [--repetitions N] [--tries N] [--by-file] FILE.ptx ...

Each file is assembled as Triton calls ptxas (-lineinfo -v) for its own target, by the first --ptxas that takes it: plain, by
the drop-in with the guard and as many tries (1: what the hooks have), and by that without the guard; --before: by the drop-in
of another build, too. The calls take turns, and the least time of each counts, for the wall and for the CPU by itself. Ratios are those of the sums over files, and the
geometric means. On a busy machine only those of CPU time say much.
"""
import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def run(command, environment):
    """CPU and wall seconds; nothing where it fails."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return (usage.ru_utime + usage.ru_stime, time.perf_counter() - start) if process.returncode == 0 else None


def drop_in_of(tool):
    return Path(tool).resolve().with_name("ptxopt-ptxas")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--before")
    parser.add_argument("--ptxas", action="append")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--tries", type=int, default=1)
    parser.add_argument("--by-file", action="store_true")
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args()
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith("PTXOPT_") and name not in ("PTXAS", "GLIBC_TUNABLES")}
    ways = {"plain": (None, {}), "guard": (drop_in_of(args.tool), {}), "no guard": (drop_in_of(args.tool), {"PTXOPT_GUARD": "off"})}
    if args.before:
        ways["guard before"] = (drop_in_of(args.before), {})
    least = {way: {} for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        calls = {}
        for path in args.files:
            arch = re.search(r"^\s*\.target\s+(sm_\w+)", path.read_text(), re.M)[1]
            tail = ["-lineinfo", "-v", f"--gpu-name={arch}", str(path), "-o", f"{folder}/out.cubin"]
            ptxas = next((p for p in args.ptxas or ["ptxas"] if run([p, *tail], clean)), None)
            if ptxas is None:
                print(f"no ptxas takes {path}", file=sys.stderr)
                continue
            calls[path] = ptxas, tail
        for _ in range(args.repetitions):
            for path, (ptxas, tail) in calls.items():
                for way, (program, more) in ways.items():
                    environment = {**clean, **more, "PTXOPT_PTXAS": ptxas, "PTXOPT_CACHE_DIR": "",
                                   "PTXOPT_GUARD_TRIES": str(args.tries)} if program else clean
                    times = run([program or ptxas, *tail], environment)
                    if times is None:
                        return f"{way}: fails for {path}"
                    least[way][path] = tuple(map(min, times, least[way].get(path, times)))
    print(f"{len(calls)} files, the least of {args.repetitions}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if args.by_file:
        for path in calls:
            print(path.name.ljust(44), "  ".join(f"{way} {1e3 * least[way][path][0]:.0f}" for way in ways), "ms of CPU")
    for way, times in least.items():
        row = [way.ljust(12)]
        for which, name in enumerate(("CPU", "wall")):
            ratios = [t[which] / least["plain"][path][which] for path, t in times.items()]
            total, plain = (sum(t[which] for t in some.values()) for some in (times, least["plain"]))
            row.append(f"{name} {total:.2f} s, x{total / plain:.2f}, mean x{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
        print("  ".join(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
