#!/usr/bin/env python3
"""Shows which source files of the library -O2 executes, for cmake/cold.txt: which of them are compiled to be fast.

    cmake --preset release -B build/lines -D CMAKE_CXX_FLAGS_RELEASE="-O3 -DNDEBUG -g1" && ninja -C build/lines ptxopt_tool
    tests/perf/cold_files.py --tool build/lines/ptxopt FOLDER...

A folder is a source of PTX: a compiler or a project. A file's share is that of the instructions of -O2 in the functions that
the file defines, or in its lines that were inlined elsewhere, whichever is more; the largest of all folders counts. Files of
cold.txt are named from twice --most percent on (0.05), others below --most. What reads ANTLR's headers stays as it is: they
would cost the cold batches more than they save. Files that the tool refuses are counted and left out. Needs valgrind.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure import table

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = re.compile(r"^(f[lien]|cf[li]n?)=\((\d+)\)(?: (.*))?$")


def costs(tool, path):
    """Instructions by file of the function, and by file of the line."""
    environment = dict(os.environ, PTXOPT_GUARD="off")
    with tempfile.NamedTemporaryFile(prefix="ptxopt-callgrind-") as counts:
        command = [tool, path, "-O2", "-j1", "-o", "/dev/null"]
        ran = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts.name}", *command], capture_output=True, env=environment)
        if ran.returncode != 0:
            return None
        names, functions, lines = {}, Counter(), Counter()
        of_function = of_line = ""
        is_call = False
        for text in Path(counts.name).read_text(encoding="utf-8").splitlines():
            name = NAME.match(text)
            if name:
                if name[1] in ("fn", "cfn"):
                    continue
                known = names.setdefault(name[2], name[3]) or ""
                if name[1] == "fl":
                    of_function = known
                if name[1] in ("fl", "fi", "fe"):
                    of_line = known
            elif text.startswith("calls="):
                is_call = True
            elif text[:1].isdigit() or text[:1] in ("+", "-", "*"):
                if not is_call:
                    count = int(text.split()[1])
                    functions[of_function] += count
                    lines[of_line] += count
                is_call = False
    return functions, lines


def shares(tool, folder, jobs):
    """By file, of all instructions of a folder's PTX."""
    files = sorted(str(p) for p in Path(folder).rglob("*.ptx"))
    functions, lines = Counter(), Counter()
    with ThreadPoolExecutor(jobs) as pool:
        found = [cost for cost in pool.map(lambda path: costs(tool, path), files) if cost]
    if not found:
        sys.exit(f"{folder}: there is no PTX that the tool takes")
    for of_functions, of_lines in found:
        functions += of_functions
        lines += of_lines
    print(f"{folder}: {len(found)} files, {len(files) - len(found)} left out")
    return {path: max(functions[path], lines[path]) / functions.total() for path in functions | lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--most", type=float, default=0.05, metavar="PERCENT")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("folders", nargs="+")
    options = parser.parse_args()
    largest = Counter()
    for folder in options.folders:
        largest |= Counter(shares(os.path.abspath(options.tool), folder, options.jobs))
    cold = [line for line in (ROOT / "cmake/cold.txt").read_text().splitlines() if line and not line.startswith("#")]
    rows = []
    source = ROOT / "src"
    for path in [*source.glob("core/**/*.cpp"), *source.glob("optimize/**/*.cpp")]:
        name = str(path.relative_to(source))
        if name.startswith("core/container/"):  # the tools'
            continue
        percent = 100 * largest[str(path)]
        is_cold = name.startswith(tuple(cold))
        if percent >= 2 * options.most if is_cold else percent < options.most:
            rows.append([percent, name, "cold" if is_cold else "hot"])
    table(["file", "percent", "is"], [[name, f"{percent:.3f}", kind] for percent, name, kind in sorted(rows)])


if __name__ == "__main__":
    main()
