#!/usr/bin/env python3
"""What a build pays for ptxopt: its CPU time and that of ptxas on the result, beside ptxas on the input.

    tests/perf/together.py --tool build/release/ptxopt [--ptxas PTXAS] [--best N] [--every N] SOURCE ...

A source is a file or a folder of .ptx files, a row each. For each file, in turns, the least of N runs of four commands, start
included and without the guard: `ptxas -O3` of the input; `ptxopt -O2`; `ptxas -O3` of its output; and `ptxopt-ptxas -O3` of the
input, which is the drop-in next to the tool. `two commands` is what the second and the third take, `drop-in` what the last takes
with the ptxas that it calls, both divided by what the first takes: 1.00 costs nothing. Sums are over the files of a source, then
of a size. --every N takes each N-th file of a folder. Files that ptxas refuses are counted and left out. The files for which the
drop-in is above 1.06 are listed, where they are of more than 20 kB. The programs are copied first, as an installation does. A
linker writes a file out of order, its pages in memory may lie apart, and the program takes up to a tenth longer (ext4 of Linux 6.18).
"""
import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

from measure import measure, table

os.environ["PTXOPT_GUARD"] = "off"
SIZES = ((0, "below 20 kB"), (20_000, "20 to 100 kB"), (100_000, "above 100 kB"))
WORST = 1.06


def target_of(path):
    found = re.search(r"^\s*\.target\s+(\w+)", path.read_text(errors="replace")[:100_000], re.M)
    return found[1] if found else "sm_80"


def seconds(tool, ptxas, path, best, folder):
    """CPU seconds of ptxas on the input, of ptxopt, of ptxas on the output, and of the drop-in; None where one of them fails."""
    result, cubin = Path(folder) / "result.ptx", Path(folder) / "out.cubin"
    options = ["-O3", f"-arch={target_of(path)}", "-o", str(cubin)]
    commands = ([ptxas, *options, str(path)], [tool, str(path), "-O2", "-o", str(result)], [ptxas, *options, str(result)],
                [tool + "-ptxas", *options, str(path)])
    least = [None] * len(commands)
    for _ in range(best):
        for k, command in enumerate(commands):
            found = measure(command)
            if found is None:
                return None
            least[k] = found[0] if least[k] is None else min(least[k], found[0])
    return least


def row(name, files):
    before, ours, after, both = (sum(times[k] for _, times in files) for k in range(4))
    return [name, str(len(files)), f"{sum(path.stat().st_size for path, _ in files) / 1e6:.1f}", f"{before:.2f}", f"{ours / before:.1%}",
            f"{after / before:.3f}", f"{(ours + after) / before:.3f}", f"{both / before:.3f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--best", type=int, default=3)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("sources", nargs="+", type=Path)
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    if not os.access(tool + "-ptxas", os.X_OK):
        sys.exit(f"{tool}-ptxas is not there: the target ptxopt_drop_in makes it")
    os.environ["PTXOPT_PTXAS"] = shutil.which(options.ptxas) or sys.exit(f"there is no {options.ptxas}")

    rows, every, refused = [], [], 0
    with tempfile.TemporaryDirectory(prefix="ptxopt-together-") as folder:
        for name in (tool, tool + "-ptxas"):
            shutil.copy(name, folder)
        tool = os.path.join(folder, os.path.basename(tool))
        for source in options.sources:
            paths = sorted(source.rglob("*.ptx"))[::options.every] if source.is_dir() else [source]
            timed = [(path, seconds(tool, options.ptxas, path, options.best, folder)) for path in paths]
            refused += sum(times is None for _, times in timed)
            if files := [(path, times) for path, times in timed if times]:
                rows.append(row(source.name, files))
                every += files
    for place, (least, name) in enumerate(SIZES):
        most = SIZES[place + 1][0] if place + 1 < len(SIZES) else float("inf")
        if files := [(path, times) for path, times in every if least <= path.stat().st_size < most]:
            rows.append(row(name, files))
    if every:
        table(["source or size", "files", "MB", "ptxas s", "ptxopt", "ptxas after / before", "two commands", "drop-in"], [*rows, row("all", every)])
    ratios = sorted(((t[3] / t[0], path) for path, t in every if path.stat().st_size >= SIZES[1][0]), reverse=True)
    print(f"\n{refused} files left out, which ptxas or ptxopt refuses; {sum(r > WORST for r, _ in ratios)} of {len(ratios)} above {WORST}"
          + "".join(f"\n  {ratio:.3f} {path.name}" for ratio, path in ratios[:10] if ratio > WORST))


if __name__ == "__main__":
    main()
