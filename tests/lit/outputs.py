#!/usr/bin/env python3
"""What -O2 leaves and says of the inputs of all text tests, of the hazards and the samples.

  tests/lit/outputs.py --tool PATH [-j N] [files]

No dead instruction is left: the pass dce alone keeps the output byte for byte. No number of --report is below 0: all that
a report counts are instructions, registers, bytes and the like. Each input is optimized for its own target and for sm_80,
where steps of pointers cost most. What the tool refuses (exit codes 2 and 3) is not looked at.
"""
import argparse
import concurrent.futures
import difflib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
from checking import Counted  # noqa: E402
from run import BadTest, split  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

TESTS = HERE.parent
INPUTS = [HERE, TESTS / "inputs/hazards", TESTS.parent / "samples"]
WAYS = [[], ["--arch", "sm_80"]]
SECONDS = 120
REFUSED = (2, 3)


def negative_numbers(value, path=""):
    """(path, number), ... of what is below 0 in a JSON value."""
    if isinstance(value, dict):
        return [found for key, inner in value.items() for found in negative_numbers(inner, f"{path}.{key}")]
    if isinstance(value, list):
        return [found for index, inner in enumerate(value) for found in negative_numbers(inner, f"{path}[{index}]")]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return [(path, value)] if is_number and value < 0 else []


def text_of(path):
    """The input of a text test, or the file as it is."""
    content = path.read_bytes()
    try:
        return split(content)[1]
    except BadTest:
        return content


def execute(tool, *words):
    return subprocess.run([tool, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=SECONDS)


def problems(tool, path, way):
    """What is wrong, in words; None where the tool refuses the input."""
    with tempfile.TemporaryDirectory() as folder:
        source, output, again, report = (Path(folder, name) for name in ("in.ptx", "out.ptx", "again.ptx", "report.json"))
        source.write_bytes(text_of(path))
        done = execute(tool, source, "-o", output, "-O2", "--report", report, *way)
        if done.returncode in REFUSED:
            return None
        if done.returncode:
            return [f"exit code {done.returncode}: {done.stderr}"]
        found = [f"{number} in the report at {at}" for at, number in negative_numbers(json.loads(report.read_text()))]
        done = execute(tool, output, "-o", again, "--passes=dce")
        if done.returncode:
            return [*found, f"dce on the output: exit code {done.returncode}: {done.stderr}"]
        left, needed = (file.read_text(errors="replace").split("\n") for file in (output, again))
        dead = [line[1:].strip() for line in difflib.unified_diff(left, needed, n=0, lineterm="")
                if line.startswith("-") and not line.startswith("---")]
        return [*found, *(f"left, but dead: {line}" for line in dead)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the ptxopt to test")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", type=Path, help="or folders of them; default: all")
    args = parser.parse_args()
    tool = os.path.abspath(args.tool)
    files = sorted(file for path in args.files or INPUTS for file in (path.rglob("*.ptx") if path.is_dir() else [path]))
    cases = [(file, way) for file in files for way in WAYS]
    counted, refused = Counted("outputs"), 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for (file, way), found in zip(cases, pool.map(lambda case: problems(tool, *case), cases)):
            if found is None:
                refused += 1
            else:
                counted.check(not found, "\n  ".join([" ".join(map(str, [file, *way])), *found]))
    print(f"outputs: {counted.checks} outputs, {counted.wrong} wrong, {refused} inputs refused")
    return 1 if counted.wrong or not counted.checks else 0


if __name__ == "__main__":
    sys.exit(main())
