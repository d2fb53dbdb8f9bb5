#!/usr/bin/env python3
"""Checks that insert_copies changes nothing: random kernels compute the same with the copies in them.

  tests/codegen/coalescing/check_inserter.py --tool PTXOPT --inserter INSERT_COPIES --generator GENERATE_KERNEL [--count N] [--seed S]
                                     [-j N] [--work FOLDER]

For each of N kernels of tests/semantics/fuzz/kernels and each of WAYS: `ptxopt verify` finds the kernel and the one with copies equal
on its launch, both run to their ends, and ptxas takes the result (without ptxas that is left out). The same seed must give
the same text. A wrong way of copying, planted by hand into each result, must be found in most of the kernels: else the check
checks nothing. Exit 1 on a failure; the files stay in the work folder.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parents[1] / "lib"), str(HERE.parents[1] / "semantics" / "fuzz" / "execution")]
import machine_code  # noqa: E402
from case import Case  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

WAYS = {
    "definitions": ["--mode=definitions", "--guarded"],
    "uses": ["--mode=uses", "--types=all"],
    "edges": ["--mode=edges", "--types=all"],
    "parallel": ["--mode=parallel"],
    "mixed": ["--mode=mixed", "--guarded", "--density=0.4", "--types=all", "--times=2"],
}
LAUNCH = ["--trials", "2", "--max-steps", "100000000", "--format", "json"]


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace")


def verdict(args, case, first, second):
    """"equal", "different" or why it is neither."""
    text = first.read_text()
    launch = case.launch[:case.launch.index("--trials")]
    values = [f"--set={n}={v}" for n, v in case.scalars.items() if re.search(r"\[\s*%s\b" % re.escape(n), text)]
    done = run(args.tool, "verify", first, second, *launch, *values, *LAUNCH)
    try:
        found = json.loads(done.stdout)
    except json.JSONDecodeError:
        return f"status {done.returncode}: {done.stderr[:200]}"
    if any("step-limit" in str(v["detail"]) for v in found):
        return "too long"
    worst = next((v for v in found if v["verdict"] != "equal"), None)
    return "equal" if worst is None else worst["verdict"] if worst["verdict"] == "different" else str(worst["detail"])[:200]


def plant(path, out):
    """Makes a move between two blocks or behind a definition take another register of its type."""
    lines = path.read_text().split("\n")
    moves = [(i, m) for i, line in enumerate(lines) if (m := re.fullmatch(r"\t(mov\.b32) (%\w+), (%b32_\d+);", line))]
    for (i, one), (j, other) in zip(moves, moves[1:]):
        if one[3] != other[3]:
            lines[i] = f"\tmov.b32 {one[2]}, {other[3]};"
    out.write_text("\n".join(lines))
    return bool(moves)


def check(args, seed, work):
    """(failures in words, copies inserted, whether the planted fault was found; None where there was none)"""
    source = work / f"{seed}.ptx"
    made = run(args.generator, "--seed", seed, "--size", "40")
    source.write_text(made.stdout)
    case = Case(seed, [], [])
    case.read_launch(made.stdout)
    if verdict(args, case, source, source) != "equal":
        return [], 0, None  # needs more than verify gives it
    failures, copies, found = [], 0, None
    for way, arguments in WAYS.items():
        out, again = work / f"{seed}-{way}.ptx", work / f"{seed}-again.ptx"
        done = run(args.inserter, source, "-o", out, "--seed", seed, *arguments)
        if done.returncode != 0:
            failures.append(f"{seed} {way}: {done.stderr[:300]}")
            continue
        copies += json.loads(done.stdout)["copies"]
        run(args.inserter, source, "-o", again, "--seed", seed, *arguments)
        if out.read_bytes() != again.read_bytes():
            failures.append(f"{seed} {way}: another text the second time")
        result = verdict(args, case, source, out)
        if result not in ("equal", "too long"):
            failures.append(f"{seed} {way}: {result}")
        try:
            if machine_code.find_ptxas():
                machine_code.assemble(str(out), opt=0)
        except machine_code.AssemblyError as error:
            failures.append(f"{seed} {way}: ptxas refuses it: {str(error)[:300]}")
        if way == "definitions" and plant(out, again):
            found = verdict(args, case, source, again) != "equal"
        if not failures:
            out.unlink()
        again.unlink(missing_ok=True)
    return failures, copies, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    build = ROOT / "build/release"
    parser.add_argument("--tool", default=build / "ptxopt")
    parser.add_argument("--inserter", default=build / "tests/codegen/coalescing/insert_copies")
    parser.add_argument("--generator", default=build / "tests/semantics/fuzz/kernels/generate_kernel")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, default=ROOT / "build/coalescing/inserter")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    for old in args.work.glob("*.ptx"):
        old.unlink()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda s: check(args, s, args.work), range(args.seed, args.seed + args.count)))
    failures = [f for found, _, _ in results for f in found]
    compared = sum(copies > 0 for _, copies, _ in results)
    planted = [found for _, _, found in results if found is not None]
    for failure in failures:
        print(failure)
    print(f"insert_copies: {compared} of {args.count} kernels compared, {sum(c for _, c, _ in results)} copies, "
          f"{len(failures)} failures; planted faults found in {sum(planted)} of {len(planted)} kernels")
    if compared < args.count // 2 or sum(planted) * 2 < len(planted) or not planted:
        print("insert_copies: too little was compared for the check to mean anything")
        return 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
