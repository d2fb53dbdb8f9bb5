#!/usr/bin/env python3
"""How fast the tool is on real files, beside ptxas.

    tests/perf/parse.py --tool build/release/ptxopt [--ptxas] [--best N] [FILE.ptx ...]

For each file, or a made one of 10 MB: its size; CPU seconds for `-O0 --reprint` (parse, and print from the internal
representation), `-O0` (parse, and copy) and `-O2`; MB a second and the peak memory for a byte of input of each; with
--ptxas the CPU seconds of `ptxas -O3` and how many times those of `-O2` they are. Then the time to start: the CPU time
of a file of three lines, and its instructions if valgrind is there.
"""
import argparse
import os
import re
import shutil
import subprocess
import tempfile

from measure import measure, ptx, table

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

MODES = (("-O0", "--reprint"), ("-O0",), ("-O2",))


def instructions(tool, path):
    if not shutil.which("valgrind"):
        return None
    result = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", tool, path, "-O0", "-o",
                             "/dev/null"], capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", result.stderr)
    return int(found[1]) if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--ptxas", nargs="?", const="ptxas", help="compare with this one (default: the one in PATH)")
    parser.add_argument("--best", type=int, default=3, help="take the best of N runs")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)

    with tempfile.TemporaryDirectory(prefix="ptxopt-bench-") as folder:
        paths = options.files
        if not paths:
            paths = [os.path.join(folder, "synthetic.ptx")]
            with open(paths[0], "w") as f:
                f.write(ptx(10_000_000))

        header = ["file", "MB"]
        for mode in MODES:
            header += [" ".join(mode) + " s", "MB/s", "B/B"]
        header += ["ptxas s", "ratio"] if options.ptxas else []
        rows = []
        for path in paths:
            size = os.path.getsize(path)
            row = [os.path.basename(path)[:40], f"{size / 1e6:.2f}"]
            last = None
            for mode in MODES:
                last = measure([tool, path, *mode, "-o", "/dev/null"], options.best)
                row += [f"{last[0]:.3f}", f"{size / 1e6 / max(last[0], 1e-3):.0f}", f"{last[1] / size:.1f}"] if last else ["failed"] * 3
            if options.ptxas:
                with open(path, errors="replace") as f:
                    target = re.search(r"^\s*\.target\s+(\w+)", f.read(100_000), re.M)
                theirs = measure([options.ptxas, "-O3", f"-arch={target[1] if target else 'sm_80'}", path, "-o",
                                  os.path.join(folder, "out.cubin")])
                row += [f"{theirs[0]:.1f}", f"{theirs[0] / last[0]:.0f}"] if theirs and last else ["failed", "-"]
            rows.append(row)
        table(header, rows)

        short = os.path.join(folder, "short.ptx")
        with open(short, "w") as f:
            f.write(".version 8.0\n.target sm_80\n.address_size 64\n")
        seconds, memory = measure([tool, short, "-O0", "-o", "/dev/null"], 20)
        count = instructions(tool, short)
        print(f"\nstart-up: {seconds * 1e3:.1f} ms of CPU time, {memory / 1e6:.1f} MB" +
              (f", {count / 1e6:.1f} million instructions" if count else ""))


if __name__ == "__main__":
    main()
