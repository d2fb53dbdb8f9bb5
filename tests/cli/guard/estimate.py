#!/usr/bin/env python3
"""How often the guard by estimates (`--guard=estimate`) is wrong: next to the guard that asks ptxas.

    tests/cli/guard/estimate.py --tool build/release/ptxopt [--archs sm_80,sm_90] [--wrong] FILE.ptx ...

For each architecture: the kernels that -O2 changed in the files of that architecture or an older one; those that ptxas makes
worse code of, which its guard keeps as they were; those that the estimates keep; and where the two differ: kernels that the
estimates miss, and that they keep without need. --wrong names these. Text that ptxas does not take is not counted.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "lib"))
from tables import table  # noqa: E402


def number(arch):
    return int(re.match(r"sm_(\d+)", arch)[1])


def takes(path, arch):
    """Of architectures with a letter, code is for that one only."""
    target = re.search(rb"^\s*\.target\s+(sm_\d+[a-z]?)", path.read_bytes()[:100_000], re.M)
    if not target:
        return False
    own = target[1].decode()
    return own == arch if own[-1].isalpha() else number(own) <= number(arch)


def kept(tool, path, arch, mode):
    """The kernels that were changed, and those that the guard kept; nothing where it has no verdict."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [tool, str(path), "-O2", f"--arch={arch}", f"--guard={mode}", "--report", report.name, "-o", os.devnull]
        if subprocess.run(command, capture_output=True).returncode != 0:
            return None
        guard = json.loads(Path(report.name).read_bytes())["guard"]
    if not guard["asked"] or "before" not in guard or guard.get("trouble"):
        return None
    return {f["name"]: f["reason"] + " " + f.get("detail", "") for f in guard["kept"]}, guard


def compare(job):
    tool, path, arch = job
    by_ptxas = kept(tool, path, arch, "ptxas")
    if by_ptxas is None:
        return None
    by_estimate = kept(tool, path, arch, "estimate")
    if by_estimate is None:
        return None
    worse, guard = by_ptxas
    # What changed has other code, or was kept as it was.
    before = {f["name"]: f for f in guard["before"] if f["kind"] == "entry"}
    after = {f["name"]: f for f in guard["after"] if f["kind"] == "entry"}
    changed = {n for n, f in before.items() if n in worse or n not in after or f["code"] != after[n]["code"]}
    return path, arch, changed, {n: w for n, w in worse.items() if n in before}, by_estimate[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--archs", default="sm_80,sm_90,sm_100")
    parser.add_argument("--wrong", action="store_true", help="name the kernels of which the two differ")
    parser.add_argument("-j", type=int, default=os.cpu_count(), help="files at a time")
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    archs = options.archs.split(",")
    jobs = [(tool, f, a) for a in archs for f in options.files if takes(f, a)]
    with ThreadPoolExecutor(options.j) as pool:
        results = [r for r in pool.map(compare, jobs) if r is not None]
    rows = []
    for arch in archs:
        changed = worse = kept_ones = missed = needless = 0
        for path, its, names, by_ptxas, by_estimate in results:
            if its != arch:
                continue
            changed += len(names)
            worse += len(by_ptxas)
            estimated = {n for n in by_estimate if n in names}
            kept_ones += len(estimated)
            for name in sorted(set(by_ptxas) - estimated):
                missed += 1
                if options.wrong:
                    print(f"{arch} {path.name}: {name}: missed: {by_ptxas[name]}")
            for name in sorted(estimated - set(by_ptxas)):
                needless += 1
                if options.wrong:
                    print(f"{arch} {path.name}: {name}: needless: {by_estimate[name]}")
        share = f"{100 * (missed + needless) / changed:.1f}%" if changed else "-"
        rows.append([arch, str(changed), str(worse), str(kept_ones), str(missed), str(needless), share])
    table(["architecture", "changed kernels", "worse, by ptxas", "kept by estimate", "missed", "kept without need", "wrong"], rows)


if __name__ == "__main__":
    main()
