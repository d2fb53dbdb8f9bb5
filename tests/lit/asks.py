#!/usr/bin/env python3
"""Every pass has a text test, and every analysis that its row in passes.def names is asked for in one.

  tests/lit/asks.py --tool PATH [--self-test]

A text test of a pass is one whose RUN line has the pass in its --passes. That a pass asks for no other analysis is what --verify-analyses checks. The commands of the tests in the pass's folder are run with
--log-level=trace, which says what each pass asks for, until all is found; the tests of other folders come after them.

--self-test sees that a pass without a test, and an analysis that is not asked for, are found.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from run import HERE, SECONDS, BadTest, split

os.environ["PTXOPT_GUARD"] = "off"

SOURCES = HERE.parent.parent / "src"
RUNS = re.compile(r"^// RUN: .*?--passes[= ](\S+)", re.MULTILINE)
ASKED = re.compile(r"^ptxopt: trace: .*: ([\w-]+)(?:@\d+)?: asked for (.*)$", re.MULTILINE)


def declared():
    """The analyses by pass."""
    analyses = (SOURCES / "optimize/analysis/manager/analyses.def").read_text(encoding="utf-8")
    words = dict(re.findall(r'^PTXOPT_ANALYSIS\((\w+), .*, "([^"]+)", ', analyses, re.MULTILINE))
    passes = (SOURCES / "optimize/passes/manager/passes.def").read_text(encoding="utf-8")
    rows = re.findall(r'^PTXOPT_PASS\(\w+, "([\w-]+)", \w+, asks\(([^)]*)\)', passes, re.MULTILINE)
    return {name: {words[w.strip()] for w in ids.split(",") if w.strip()} for name, ids in rows}


def listed(tool):
    """The names of the passes."""
    run = subprocess.run([tool, "--list-passes"], capture_output=True, text=True, check=True, timeout=SECONDS)
    return [line.split()[0] for line in run.stdout.splitlines()]


def untested(names, folder=HERE):
    """The passes that no RUN line has in its --passes."""
    left = set(names)
    for path in folder.glob("*/*.ptx"):
        for chosen in RUNS.findall(path.read_text(encoding="utf-8", errors="replace")):
            left -= {name.split("@")[0] for name in chosen.split(",")}
    return sorted(left)


def asked_by(tool, path, passes):
    """What each pass asks for in the commands of a text test."""
    try:
        commands, text, _, _ = split(path.read_bytes())
    except BadTest:
        return
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "input.ptx"
        source.write_bytes(text)
        for command in [*commands, *(f"ptxopt %s --passes={p}" for p in passes)]:
            words = [w.replace("%s", str(source)) for w in command.split()[1:] if "%t" not in w and w not in ("-o", "-", "<")]
            run = subprocess.run([tool, *words, "-o", os.devnull, "--log-level=trace"], capture_output=True, text=True,
                                 errors="replace", timeout=SECONDS)
            for found, names in ASKED.findall(run.stderr):
                yield found, set(names.split(", "))


def missing(tool, expected, folder=HERE):
    """The analyses of `expected`, by pass, that no test asks for."""
    left = {name: set(names) for name, names in expected.items() if names}
    for name in sorted(left):
        for path in sorted(folder.glob("*/*.ptx"), key=lambda p: (p.parent.name != name, p)):
            if not left[name]:
                break
            for found, names in asked_by(tool, path, [name]):
                if found in left:
                    left[found] -= names
    return {name: names for name, names in left.items() if names}


SELF_TEST = """// RUN: ptxopt %s -o - --passes=dce
.version 8.5
.target sm_80
.address_size 64
.entry k() { ret; }
"""


def self_test(tool):
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "dce").mkdir()
        (Path(name) / "dce" / "test.ptx").write_text(SELF_TEST)
        found = missing(tool, {"dce": {"needed liveness", "loops"}}, Path(name))
        without = untested(["dce", "lsr"], Path(name))
    if found != {"dce": {"loops"}}:
        yield f"missing are {found}"
    if without != ["lsr"]:
        yield f"without a test are {without}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the ptxopt to ask")
    parser.add_argument("--self-test", action="store_true", help="see that what is missing is found")
    args = parser.parse_args()
    tool = os.path.abspath(args.tool)
    if args.self_test:
        failures = list(self_test(tool))
    else:
        failures = [f"{name}: no text test in which it asks for {', '.join(sorted(names))}"
                    for name, names in sorted(missing(tool, declared()).items())]
        failures += [f"{name}: no text test whose RUN line has it in --passes" for name in untested(listed(tool))]
    for failure in failures:
        print(failure)
    print(f"asks: {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
