#!/usr/bin/env python3
"""Fuzzes the optimizer: random kernels, random pipelines with random knobs, and the interpreter to judge.

  fuzz.py --tool PTXOPT --generator GEN --seeds A..B [-j N] [--keep DIR] [--ptxas-every K]
  fuzz.py --tool PTXOPT --generator GEN --seconds N [--first SEED] [...]      as many seeds as there is time for
  fuzz.py --tool PTXOPT --generator GEN --self-test [PLANT...]                finds and shrinks planted bugs
  fuzz.py --tool PTXOPT --replay DIR/case.json [FILE.ptx]                     a stored case again, or another file like it

What must hold is said in checks.py. What fails is shrunk by `ptxopt reduce` and stored below --keep, with the line that
shows it again. ptxas (from $PTXAS, the PATH or /usr/local/cuda/bin) assembles the output of every K-th case. With
--extra-every K only every K-th case goes through the checks of the printer and of threads: of the others the output is
compared and assembled, which takes less than half the time. --shard I/N takes every N-th seed from the I-th on.
Exit codes: 0 nothing failed, 1 something did, 2 usage, or a tool or generator that cannot be used.
"""
import argparse
import collections
import concurrent.futures
import itertools
import os
import re
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import selftest
from case import Case, Lists, ToolError, draw, generate
from checks import Checker
from judge import still_fails
from shrink import replay_line, shrink

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "lib"))
from toolkit import find_ptxas  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard


MOST_DROPPED = 0.02  # of the inputs


@dataclass
class Outcome:
    case: Case
    failure: object
    changed: bool  # whether the pipeline changed anything
    inputs: int
    dropped: int  # of the inputs, which say nothing
    slowest: float
    stored: str = ""


def run_case(args, lists, seed, scratch):
    case = draw(seed, lists)
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        folder = Path(name)
        source = folder / f"{seed}.ptx"
        generate(case, args.generator, source)
        checker = Checker(args.tool, case, source, folder, args.ptxas)
        failure = checker.first_failure(args.ptxas_every > 0 and seed % args.ptxas_every == 0, seed % args.extra_every == 0)
        changed = checker.output.exists() and checker.output.read_bytes() != source.read_bytes()
        outcome = Outcome(case, failure, changed, checker.inputs, checker.dropped, checker.slowest)
        if failure and not args.no_shrink:
            kept = args.keep / str(seed)
            left, message = shrink(args.tool, case, source, failure, kept, ptxas=args.ptxas)
            outcome.stored = f"  {message}\n  stored in {kept}; again:\n  {replay_line(args.tool, kept.resolve())}"
    return outcome


def fuzz(args):
    lists = Lists.ask(args.tool)
    if args.seconds is not None:
        seeds = itertools.count(args.first)
        print(f"seeds from {args.first} on, for {args.seconds} s", flush=True)
    else:
        seeds = iter(args.seeds)
    if args.shard:
        seeds = itertools.islice(seeds, args.shard[0] - 1, None, args.shard[1])
    began, shown = time.monotonic(), time.monotonic()
    outcomes, failures = [], 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        running = set()
        while True:
            in_time = args.seconds is None or time.monotonic() - began < args.seconds
            while in_time and len(running) < 2 * args.jobs and (seed := next(seeds, None)) is not None:
                running.add(pool.submit(run_case, args, lists, seed, scratch))
            if not running:
                break
            done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                outcome = future.result()
                outcomes.append(outcome)
                if outcome.failure:
                    failures += 1
                    print(f"seed {outcome.case.seed}: {outcome.failure.kind}\n  {outcome.failure.command}\n  "
                          + outcome.failure.detail.strip().replace("\n", "\n  ")[:2000] + "\n" + outcome.stored, flush=True)
            if time.monotonic() - shown > 30:
                shown = time.monotonic()
                print(f"... {len(outcomes)} cases, {failures} failures", flush=True)
    summarize(outcomes, time.monotonic() - began, args)
    # Inputs that say nothing are seen by no net: they are few, and only where registers are read that nothing wrote.
    dropped, inputs = sum(o.dropped for o in outcomes), sum(o.inputs for o in outcomes)
    if dropped > MOST_DROPPED * (dropped + inputs):
        print(f"{dropped} of {dropped + inputs} inputs say nothing, more than {MOST_DROPPED:.0%}")
        return 1
    return 1 if failures or not outcomes else 0


def summarize(outcomes, seconds, args):
    kinds = collections.Counter(o.failure.kind for o in outcomes if o.failure)
    for kind, n in kinds.most_common():
        print(f"{n:5} {kind}")
    if not args.ptxas:
        print("no ptxas: its part is left out")
    if outcomes:
        slowest = max(outcomes, key=lambda o: o.slowest)
        print(f"the slowest comparison: {slowest.slowest:.1f} s, seed {slowest.case.seed}")
    print(f"{len(outcomes)} cases ({60 * len(outcomes) / max(seconds, 1e-9):.0f} a minute), {sum(o.changed for o in outcomes)} that the pipeline changed, "
          f"{sum(o.inputs for o in outcomes)} inputs compared, {sum(o.dropped for o in outcomes)} dropped, "
          f"{sum(': not compared: ' in kind for kind in kinds.elements())} kernels not compared, {seconds:.0f} s: {sum(kinds.values())} failures")


def replay(args):
    """Whether a stored case still fails: any failure is shown; with --still, the exit code says whether it is that one."""
    case = Case.load(args.replay)
    source = args.file or next((p for name in ("small.ptx", "input.ptx") if (p := args.replay.parent / name).exists()), None)
    if source is None:
        raise ToolError(f"no kernel beside {args.replay}")
    if args.still:
        return 0 if still_fails(args.tool, case, args.still, args.ptxas, source) else 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy = folder / "input.ptx"
        shutil.copyfile(source, copy)
        checker = Checker(args.tool, case, copy, folder, args.ptxas)
        failure = checker.first_failure(True)
        if failure is None:
            print("nothing fails")
            return 0
        # The commands must work when this folder is gone.
        shown = failure.command.replace(str(copy), str(source)).replace(f"{folder}/", "/tmp/")
        print(f"{failure.kind}\n{failure.detail.rstrip()}\n{shown}")
        return 1


def seed_range(text):
    match = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    if not match or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError("not A..B")
    return range(int(match[1]), int(match[2]) + 1)


def shard(text):
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError("not I/N")
    return int(match[1]), int(match[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--generator", type=lambda p: Path(p).resolve())
    parser.add_argument("--seeds", type=seed_range, metavar="A..B")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--first", type=int, default=int(time.time()), help="the first seed of --seconds; else from the clock")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--ptxas-every", type=int, default=8, metavar="K", help="0: never")
    parser.add_argument("--extra-every", type=int, default=1, metavar="K")
    parser.add_argument("--shard", type=shard, metavar="I/N")
    parser.add_argument("--no-shrink", action="store_true", help="failures are shown, not shrunk and stored")
    parser.add_argument("--no-ptxas", action="store_true")
    parser.add_argument("--self-test", nargs="*", metavar="PLANT")
    parser.add_argument("--replay", type=Path, metavar="case.json")
    parser.add_argument("--still", metavar="KIND", help="with --replay: exit 0 if it fails in that way, 1 if not")
    parser.add_argument("file", nargs="?", type=Path)
    args = parser.parse_args()
    args.ptxas = None if args.no_ptxas else find_ptxas()
    try:
        if args.replay:
            return replay(args)
        if not args.generator:
            parser.error("--generator is missing")
        if args.self_test is not None:
            return selftest.run(args)
        if (args.seeds is None) == (args.seconds is None):
            parser.error("either --seeds or --seconds")
        return fuzz(args)
    except ToolError as error:
        print(f"fuzz.py: error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
