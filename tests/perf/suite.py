#!/usr/bin/env python3
"""CPU seconds of the tests of a build, to find what makes the suite slow.

  tests/perf/suite.py [--build BUILD] [-j N] [ARGUMENT OF CTEST ...]

Runs each test that ctest would run with these arguments (-L, -R, -LE ...), N at a time, but one by one where tests share
a lock, and prints a table: CPU seconds of the test and all its processes, seconds by the clock, result. CPU seconds grow by a
few tenths where other processes share the caches, clock seconds by much more. Exit code 1 when a test fails.
"""
import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def tests(build, arguments):
    listed = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1", *arguments], capture_output=True, text=True, check=True)
    for test in json.loads(listed.stdout)["tests"]:
        if "command" in test:
            yield test["name"], test["command"], {p["name"]: p["value"] for p in test["properties"]}


def run(test):
    """(CPU seconds, clock seconds, result, name)"""
    name, command, properties = test
    environment = dict(os.environ, **dict(text.split("=", 1) for text in properties.get("ENVIRONMENT", [])))
    start = time.monotonic()
    process = subprocess.Popen(command, cwd=properties["WORKING_DIRECTORY"], env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    code = process.returncode = os.waitstatus_to_exitcode(status)
    skipped = code != 0 and code == properties.get("SKIP_RETURN_CODE")
    return used.ru_utime + used.ru_stime, time.monotonic() - start, "skipped" if skipped else "passed" if code == 0 else "failed", name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/ci")
    parser.add_argument("-j", type=int, default=1)
    options, rest = parser.parse_known_args()
    together, alone = [], []
    for test in tests(options.build, rest):
        (alone if "RESOURCE_LOCK" in test[2] or "FIXTURES_REQUIRED" in test[2] or "FIXTURES_SETUP" in test[2] else together).append(test)
    together.sort(key=lambda test: -test[2].get("COST", 0))
    with ThreadPoolExecutor(options.j) as pool:
        rows = list(pool.map(run, together))
    rows += map(run, alone)
    print("|   CPU s | clock s | result  | test |\n|--------:|--------:|---------|------|")
    for cpu, clock, result, name in sorted(rows, reverse=True):
        print(f"| {cpu:7.1f} | {clock:7.1f} | {result:7} | {name} |")
    print(f"| {sum(row[0] for row in rows):7.1f} | {sum(row[1] for row in rows):7.1f} |         | {len(rows)} tests |")
    return any(row[2] == "failed" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
