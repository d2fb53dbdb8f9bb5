#!/usr/bin/env python3
"""Shows that two builds of ptxopt do the same: for a change that is to change nothing.

  tests/identity.py --before PTXOPT --after PTXOPT [-j N] [--every N] [--renamed OLD=NEW ...] [--dropped NAME ...]
                    [--pass PASS ...] [files]

Default files: all .ptx of the repository, broken ones too. For each, both tools run with -O2, -O1, --reprint, the report,
each dump, remarks of loops, and each --pass alone. Standard output, standard error, the report (without times and
the version) and the exit code must be the same, byte for byte. --renamed says which words (passes, knobs) the new build
spells otherwise; it is applied to what both print. --dropped names steps and knobs of the report that only one build has. --every takes every N-th file.

Prints what differs, and a line with the numbers; exit code 1 when something does.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ["PTXOPT_GUARD"] = "off"  # the passes are compared, not the guard

ROOT = Path(__file__).resolve().parent.parent
DUMPS = "cfg,dom,loops,slots,liveness,intervals,ranges,scev,footprints,pressure,occupancy"
VARYING = {"version", "revision", "seconds"}
SECONDS = 120


def commands(passes):
    yield ["-O2"]
    yield ["-O1"]
    yield ["-O0", "--reprint"]
    yield ["-O2", "--verify-each", "--verify-analyses"]
    yield ["-O2", "-v", "-Wall", "-Rpass=.*", "-Rpass-missed=.*"]
    yield ["-O0", f"--dump={DUMPS}"]
    yield ["-O2", "--report=%t"]
    for name in passes:
        yield [f"--passes={name}", "--verify-each", "--verify-analyses"]


def without(value, dropped):
    """A report without what varies and what is named in `dropped`."""
    if isinstance(value, dict):
        return {key: without(item, dropped) for key, item in value.items()
                if key not in VARYING and not key.endswith("Seconds") and key not in dropped}
    if isinstance(value, list):
        return [without(item, dropped) for item in value
                if not (isinstance(item, dict) and dropped & {item.get("pass"), item.get("name")})]
    return value


def run(tool, options, path, dropped):
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        options = [o.replace("%t", str(report)) for o in options]
        try:
            output = [] if any(o.startswith("--dump") for o in options) else ["-o", "-"]  # both would be standard output
            done = subprocess.run([tool, str(path), *output, *options], capture_output=True, timeout=SECONDS, cwd=ROOT)
        except subprocess.TimeoutExpired:
            return "timeout", b"", b"", b""
        text = b""
        if report.exists():
            text = json.dumps(without(json.loads(report.read_bytes()), dropped)).encode()
        return done.returncode, done.stdout, done.stderr.replace(str(report).encode(), b"%t"), text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True)
    parser.add_argument("--after", required=True)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--renamed", action="append", default=[], metavar="OLD=NEW")
    parser.add_argument("--dropped", action="append", default=[], metavar="NAME")
    parser.add_argument("--pass", dest="passes", action="append", default=[])
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    renamed = [tuple(part.encode() for part in pair.split("=")) for pair in arguments.renamed]
    pattern = re.compile(rb"(?<![\w-])(" + b"|".join(re.escape(old) for old, _ in renamed) + rb")(?![\w-])")

    def spelled(output):
        return pattern.sub(lambda m: dict(renamed)[m[1]], output) if renamed else output

    files = arguments.files or subprocess.run(["git", "ls-files", "*.ptx"], cwd=ROOT, capture_output=True, text=True,
                                              check=True).stdout.split()
    jobs = [(path, options) for path in files[::arguments.every] for options in commands(arguments.passes)]

    def compare(job):
        path, options = job
        before, after = (run(tool, options, path, set(arguments.dropped)) for tool in (arguments.before, arguments.after))
        if after[0] == 2:
            return f"{path}: {' '.join(options)}: refused: {after[2].decode(errors='replace').strip()}"
        if before[0] == after[0] and all(spelled(a) == spelled(b) for a, b in zip(before[1:], after[1:])):
            return None
        parts = ["exit code", "output", "messages", "report"]
        differs = [part for part, a, b in zip(parts, before, after)
                   if (a != b if part == "exit code" else spelled(a) != spelled(b))]
        return f"{path}: {' '.join(options)}: {', '.join(differs)}"

    different = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for line in pool.map(compare, jobs):
            if line:
                different += 1
                print("DIFFERENT", line)
    print(f"{len(jobs) - different} passed, {different} failed")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
