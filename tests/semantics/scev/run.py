#!/usr/bin/env python3
"""Runs ptxopt_scev_check on kernels of the generator, on loops that are hard to count, and on the files of the tests.

  tests/semantics/scev/run.py --check PTXOPT_SCEV_CHECK --generator GENERATE_KERNEL [--kernels N] [--loops N] [--seed N]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Runs that compare less than this have lost what they are there for.
LEAST_RECURRENCES = 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--kernels", type=int, default=60)
    parser.add_argument("--loops", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    least = ["--least-recurrences", str(LEAST_RECURRENCES)]
    with tempfile.TemporaryDirectory() as folder:
        for features in ("loops=300,pointers=200", ""):
            command = [arguments.generator, "--seed", str(arguments.seed), "--count", str(arguments.kernels), "--out",
                       f"{folder}/{'loops' if features else 'all'}"]
            subprocess.run(command + (["--features", features] if features else []), check=True)
        made = sorted(map(str, pathlib.Path(folder).rglob("*.ptx")))
        files = sorted(map(str, [*(ROOT / "tests/inputs/hazards").glob("*.ptx"), *(ROOT / "samples").rglob("*.ptx")]))
        commands = {
            "generated kernels": [*made, "--trials", "1", "--steps", "3000", *least],
            "hazards and samples": [*files, "--trials", "2", "--steps", "3000", *least],
            "loops": ["--random", str(arguments.loops), "--first-seed", str(arguments.seed), "--trials", "1", "--steps", "700",
                      *least],
        }
        failed = False
        for name, options in commands.items():
            done = subprocess.run([arguments.check, *options], capture_output=True, text=True, errors="replace")
            print(f"{name}: {done.stdout}{done.stderr}", end="")
            failed |= done.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
