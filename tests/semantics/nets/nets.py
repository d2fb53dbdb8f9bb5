#!/usr/bin/env python3
"""Puts bugs that were there back, one at a time, and sees that the nets find each: the fuzzer, the constants and the stored numbers.

  nets.py --tool PTXOPT --generator GEN --build BUILD [-j N] [--sample I/N] [NAME ...]

patches/NAME.patch brings a bug back; what it was is said at its head. The tool is built with it beside BUILD
(broken_tool.py), and has to be found out:
  fuzz       by one of the first 2,000 kernels of the fuzzer, drawn as fuzz.py draws them. The search begins at the
             kernel that found it last (bugs.json), goes on to the last and then from the first, so that the result is
             the same and comes soon. Checked is what fuzz.py checks of what the passes make of a kernel, where it is
             not what the sound tool makes of it; ptxas must be there for what it refuses.
  constants  by ../fuzz/constants, kernels of constants that ptxas folds: where the interpreter itself is wrong
  numbers    by stored_numbers.py, one of its first 20 seeds: what ptxas stores where a store is narrower than its register
The sound tool must pass the same kernel. Exit codes: 0 all found, 1 one is not or a patch no longer applies, 2 usage, 77
nothing to do it with.

--sample I/N takes every N-th bug from the I-th on. All of them take about a minute on two cores:
  tests/semantics/nets/nets.py --tool build/release/ptxopt --generator build/release/tests/semantics/fuzz/kernels/generate_kernel
                     --build build/release
--learn writes bugs.json anew.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "fuzz" / "execution"), str(HERE.parents[1] / "lib")]
os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

from broken_tool import NetError, broken_tool  # noqa: E402
from case import Lists, ToolError, draw, generate  # noqa: E402
from checks import Checker  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

MOST_KERNELS = 2000
CONSTANTS = HERE.parent / "fuzz" / "constants" / "constants.py"
MOST_NUMBERS = 20


@dataclass
class Found:
    name: str
    ok: bool
    text: str
    seed: int = 0


def first_failure(args, tool, lists, seed, folder):
    """(what fails of a kernel, what fails with the sound tool)."""
    case = draw(seed, lists)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        source = Path(name) / "input.ptx"
        generate(case, args.generator, source)
        broken, sound = (Checker(one, case, source, Path(name) / side, args.ptxas) for one, side in ((tool, "broken"), (args.tool, "sound")))
        for one in (broken, sound):
            one.folder.mkdir()
        # Where both tools write the same, all that is checked of it is the same, too.
        if not broken.exit() and not sound.exit() and broken.output.read_bytes() == sound.output.read_bytes():
            return None, None
        failure = broken.first_failure(True, extra=False)
        return failure, sound.first_failure(True, extra=False) if failure else None


def by_fuzzer(args, tool, entry, lists):
    """(seed, kernels tried, failure) of the first kernel that finds it."""
    begin = entry.get("seed", 1)
    seeds = [*range(begin, MOST_KERNELS + 1), *range(1, begin)]
    with tempfile.TemporaryDirectory() as folder:
        for n, seed in enumerate(seeds[:args.most]):
            failure, sound = first_failure(args, tool, lists, seed, folder)
            if sound is not None:
                raise NetError(f"the sound tool fails, too, at seed {seed}: {sound.kind}")
            if failure is not None:
                return seed, n + 1, failure
    return None


def by_constants(args, tool, entry):
    """(seed, a result that ptxas folds to another value than the broken tool)."""
    def disagreement(one, seeds):
        done = subprocess.run([sys.executable, CONSTANTS, "--tool", one, "--seeds", seeds, "--stop", "-j", "1"], capture_output=True,
                              text=True, errors="replace")
        if done.returncode not in (0, 1):
            raise NetError(f"{CONSTANTS}: {done.stdout}{done.stderr}")
        return re.search(r"^seed (\d+): (.*)", done.stdout, re.M) if done.returncode == 1 else None

    begin = entry.get("seed", 1)
    for seeds in (f"{begin}..{MOST_KERNELS}", f"1..{begin - 1}"):
        if seeds != "1..0" and (found := disagreement(tool, seeds)):
            if sound := disagreement(args.tool, f"{found[1]}..{found[1]}"):
                raise NetError(f"the sound tool fails, too: {sound[0]}")
            return int(found[1]), found[2]
    return None


def by_numbers(args, tool, entry):
    """(seed, what is stored otherwise)."""
    def difference(one, seed):
        dump = args.build / "tests" / "codegen" / "sass" / "dump_sass"
        command = [sys.executable, HERE / "stored_numbers.py", "--tool", one, "--dump", dump, "--seeds", str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        if done.returncode not in (0, 1):
            raise NetError(f"stored_numbers.py: {done.stdout}{done.stderr}")
        return next((line for line in done.stdout.splitlines() if line.startswith("seed ")), None)

    begin = entry.get("seed", 1)
    for seed in [*range(begin, MOST_NUMBERS + 1), *range(1, begin)]:
        if found := difference(tool, seed):
            if sound := difference(args.tool, seed):
                raise NetError(f"the sound tool fails, too: {sound}")
            return seed, found
    return None


def look(args, name, entry, lists):
    began = time.monotonic()
    try:
        tool = broken_tool(args.build, HERE / "patches" / f"{name}.patch", args.build / "nets" / name)
        built = time.monotonic() - began
        net = entry["net"]
        if net == "fuzz":
            found = by_fuzzer(args, tool, entry, lists)
            seed = found[0] if found else 0
            text = f"seed {found[0]}, kernel {found[1]} of this search: {found[2].kind}" if found else ""
        else:
            found = (by_constants if net == "constants" else by_numbers)(args, tool, entry)
            seed, text = found or (0, "")
            text = f"seed {seed}: {text[:160]}"
    except (NetError, ToolError, OSError) as error:
        return Found(name, False, f"{name}: {error}")
    seconds = f"{built:.0f} s to build, {time.monotonic() - began - built:.0f} s to find"
    if not found:
        return Found(name, False, f"{name}: not found by {net} ({seconds})")
    return Found(name, True, f"{name}: {net}: {text} ({seconds})", seed)


def sample(text):
    at, _, of = text.partition("/")
    return int(at), int(of)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--generator", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--build", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--sample", type=sample, metavar="I/N")
    parser.add_argument("--most", type=int, default=MOST_KERNELS, help="kernels for each")
    parser.add_argument("--learn", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    args.ptxas = find_ptxas()
    bugs = json.loads((HERE / "bugs.json").read_text())
    if unknown := [n for n in args.names if n not in bugs]:
        parser.error(f"no such bug: {unknown[0]}; there are {' '.join(bugs)}")
    if without := {p.stem for p in (HERE / "patches").glob("*.patch")} ^ set(bugs):
        print(f"bugs.json and patches/ do not agree: {' '.join(sorted(without))}")
        return 1
    if not args.ptxas:
        print("nets: left out, there is no ptxas")
        return 77
    names = args.names or list(bugs)
    if args.sample:
        names = names[args.sample[0] - 1::args.sample[1]]
    began, lists, good = time.monotonic(), Lists.ask(args.tool), 0
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for found in pool.map(lambda n: look(args, n, bugs[n], lists), names):
            print(("" if found.ok else "FAILED ") + found.text, flush=True)
            good += found.ok
            if found.seed:
                bugs[found.name]["seed"] = found.seed
    if args.learn:
        (HERE / "bugs.json").write_text(json.dumps(bugs, indent=1) + "\n")
    print(f"nets: {good} of {len(names)} bugs found, {time.monotonic() - began:.0f} s")
    return 0 if good == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
