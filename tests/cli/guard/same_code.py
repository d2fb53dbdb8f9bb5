#!/usr/bin/env python3
"""Shows that ptxas makes the same machine code of a kernel that only clean-up steps changed, or steps that say so of themselves.

    tests/cli/guard/same_code.py --tool build/release/ptxopt [--archs sm_80,sm_90] [--ptxas PROGRAM] [FILE.ptx ...]

The guard does not ask about such kernels where nobody reads the text (the knob `tidy` is 0): they keep their text
(src/optimize/passes/util/same_code.h). Each file is optimized with `tidy`, and the guard assembles it before and after. Of each
kernel that no other step changed, the digest of the machine code must stay the same. --archs: for these, and each file for
those from its own on; else each for its own. Default files: samples, hazards,
and the text tests of slsr. Skipped (77) without ptxas.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from tables import table  # noqa: E402


USUAL = ("samples", "tests/lit/slsr", "tests/inputs/hazards")


def number(arch):
    return int(re.match(r"sm_(\d+)", arch)[1])


def takes(path, arch):
    """Of architectures with a letter, code is for that one only."""
    target = re.search(rb"^\s*\.target\s+(sm_\d+[a-z]?)", path.read_bytes()[:100_000], re.M)
    if not target:
        return False
    own = target[1].decode()
    return own == arch if own[-1].isalpha() else number(own) <= number(arch)


def kinds_of_steps():
    """By step of the pipeline, its kind (docs/passes.md, which the tool writes)."""
    page = (ROOT / "docs" / "passes.md").read_text()
    return dict(re.findall(r"^\| `([\w@-]+)` \| `-O\d` \| (\w+) \|", page, re.M))


def report_of(tool, path, arch, folder, *more):
    out = folder / "report.json"
    done = subprocess.run([tool, str(path), f"--arch={arch}", "-o", os.devnull, "--report", str(out), *more], capture_output=True)
    return json.loads(out.read_bytes()) if done.returncode == 0 else None


def same_code(guard):
    """By kernel that has code before, whether it has the same after; what the guard kept does not."""
    kept = {f["name"] for f in guard["kept"]}
    after = {f["name"]: f["code"] for f in guard["after"]}
    return {f["name"]: f["name"] not in kept and after.get(f["name"]) == f["code"] for f in guard["before"] if f["kind"] == "entry"}


def same_only(function, kinds):
    """Why ptxas should make the same of it: the steps; empty where another step changed it."""
    steps = [step for step in function["passes"] if step["changed"]]
    noted = [step for step in steps if any(note["name"] == "same-code" for note in step.get("notes", ()))]
    if any(step not in noted and kinds.get(step["name"]) != "Cleanup" for step in steps):
        return ""
    return ", ".join(step["name"] for step in noted) or "clean-up"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--archs", default="")
    parser.add_argument("--ptxas", default="")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    if not (options.ptxas or os.environ.get("PTXAS") or shutil.which("ptxas")):
        print("skipped: there is no ptxas")
        return 77
    kinds = kinds_of_steps()
    counts, bad = {}, []
    with tempfile.TemporaryDirectory(prefix="ptxopt-same-") as name:
        folder = Path(name)
        for path in options.files or [f for place in USUAL for f in sorted((ROOT / place).rglob("*.ptx"))]:
            own = re.search(r"^\s*\.target\s+(sm_\w+)", path.read_text(errors="replace"), re.M)[1]
            for arch in [a for a in options.archs.split(",") if takes(path, a)] if options.archs else [own]:
                report = report_of(tool, path, arch, folder, "--guard=off")
                functions = {f["name"]: same_only(f, kinds) for f in report["functions"] if f["changed"] and f["kind"] == "entry"}
                if not any(functions.values()):
                    continue
                asked = report_of(tool, path, arch, folder, "--guard=ptxas", *([f"--ptxas={options.ptxas}"] if options.ptxas else []))
                if asked is None or "before" not in asked["guard"]:
                    continue
                same = same_code(asked["guard"])
                for function, why in functions.items():
                    if not why or function not in same:
                        continue
                    counted = counts.setdefault(why, [0, 0])
                    counted[0] += 1
                    counted[1] += same[function]
                    if not same[function]:
                        bad.append(f"{path.name} {arch}: {function}: {why}")
    for line in bad:
        print("differs: " + line)
    table(["changed by", "kernels", "same machine code"], [[why, str(n), str(same)] for why, (n, same) in sorted(counts.items())])
    return 1 if bad or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
