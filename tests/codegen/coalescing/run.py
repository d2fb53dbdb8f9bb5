#!/usr/bin/env python3
"""Puts copies into PTX that change nothing and sees how many of them the coalescing passes leave.

  tests/codegen/coalescing/run.py --tool PTXOPT --inserter INSERT_COPIES [--quick] [--only GLOB] [--configuration GLOB] [-j N]
                          [--passes LIST] [--work build/coalescing]

Inputs: samples/kernels, tests/inputs/hazards, and what tests/codegen/corpus compiles with clang and llc; without --quick also what it
compiles with nvcc. Seeds are fixed. For each input and each way of inserting (CONFIGURATIONS):

  left           (copies in the result - copies in the baseline's result) / copies inserted: at most 3%
  instructions   of the result, against the baseline's result: at most 1% more
  bytes          likewise
  machine code   of the result: that of the baseline, for every architecture (--quick: the input's own), or that of the
                 text with the copies in it: some of these change what ptxas makes (copies around loops). Of a share
                 of the results (most_near of the configuration, 6% unless it says otherwise) it may be neither, but then
                 with no more instructions, registers, stack and spills than the worse of the two

The baseline is the input itself; where inserting splits critical edges, the input with the same edges split and no
copies there, so that branches do not count. (Its machine code is nearly always that of the input; not where a loop has
the pragma "nounroll" and its back edge is split.) The first three bounds hold for the sum over all inputs of one configuration,
and for each input alone with a slack of a few instructions and bytes, because 1% of a small file is nothing; but for
those of KEEPS_COPIES, where copies have to stay. Prints a table; exit 1 when a bound fails. What fails stays in WORK/failed.
"""
import argparse
import concurrent.futures
import fnmatch
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parents[1] / "lib"), str(HERE.parent / "corpus")]
import machine_code  # noqa: E402
from tables import table  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


corpus = load("corpus_run", HERE.parent / "corpus" / "run.py")

PASSES = "dce,cssa-coalesce,register-coalescer,cross-type-coalescer,dce"
ARCHITECTURES = ["sm_75", "sm_80", "sm_90a"]
SAME = "--types=mov,declared,cvt,cvta"  # these leave ptxas's code as it is; packing and widening do not


@dataclass
class Configuration:
    arguments: list  # of insert_copies
    quick: bool = False  # part of --quick
    flags: list = field(default_factory=list)  # of ptxopt
    compares_code: bool = True
    most_growth: float = 0.01
    # The share of what is compared that may have other machine code that is no worse; near what was seen with --quick
    # or, for those that are not part of it, without.
    most_near: float = 0.06
    bounds_inputs: bool = True  # also each input by itself


CONFIGURATIONS = {
    "definitions": Configuration(["--mode=definitions"], True),
    "definitions, ten each": Configuration(["--mode=definitions", "--times=10", "--seed=2"], most_near=0.15),
    # 64-bit values that went through .s64 registers stay copies.
    "definitions, other types": Configuration(["--mode=definitions", SAME, "--seed=3"], True, most_growth=0.05),
    # ptxas counts the instructions of a loop before it folds packs, so its code may change.
    "definitions, packed": Configuration(["--mode=definitions", "--types=pack", "--seed=4"], True, ["--join-packs=1"],
                                         False),
    # ptxas takes a register that is written under a guard for another than its copy, so its code may change.
    "definitions under guards": Configuration(["--mode=definitions", "--guarded", "--seed=15"], True,
                                              ["--join-guarded-definitions=1"], False),
    "uses": Configuration(["--mode=uses", "--seed=5"], True),
    "uses, other types": Configuration(["--mode=uses", SAME, "--times=2", "--seed=6"], most_near=0.09),
    "edges": Configuration(["--mode=edges", "--seed=7"], True),
    "edges, none split": Configuration(["--mode=edges", "--no-split", "--seed=8"]),
    "edges, other types": Configuration(["--mode=edges", SAME, "--density=0.5", "--seed=9"], most_near=0.45),
    "phis and rotations": Configuration(["--mode=parallel", "--seed=10"], True, most_near=0.15),
    "the same, none split": Configuration(["--mode=parallel", "--no-split", "--density=0.6", "--seed=11"], most_near=0.09),
    "everything, sparse": Configuration(["--mode=mixed", "--density=0.1", "--seed=12"], most_near=0.08),
    "everything": Configuration(["--mode=mixed", "--density=0.7", "--seed=13"], True),
    # 64-bit copies into phis that convert an address or the declared type stay: ptxas makes other code without them.
    "everything, other types": Configuration(["--mode=mixed", "--density=0.5", SAME, "--seed=14"], True, most_growth=0.04,
                                             most_near=0.3, bounds_inputs=False),
}
MOST_LEFT = 0.03
SLACK_COPIES, SLACK_INSTRUCTIONS, SLACK_BYTES = 2, 3, 300  # of one input
# Inputs in which copies have to stay: bounds on copies, instructions and bytes are not asked of each of these alone.
KEEPS_COPIES = {
    "hazards/n1_stored_numbers": "narrow stores of the bits of numbers: without the copy ptxas may convert (src/core/ir/stored_numbers.h)",
}
# Left out: a narrow store of what may be a number keeps every pass away.
UNTOUCHED = {"n2_converted_numbers", "e5_early_numbers"}
LIMIT = 300  # seconds


@dataclass
class Setup:
    tool: str
    inserter: str
    work: str
    passes: str
    architectures: list
    code: object  # corpus.Settings, for the cache of machine code


@dataclass
class Outcome:
    inserted: int = 0
    left: int = 0
    instructions: tuple = (0, 0)  # of the baseline's result and of the result
    sizes: tuple = (0, 0)
    compared: int = 0
    near: int = 0  # of them with machine code that is not the same, but no worse than one of those it may be
    other: list = field(default_factory=list)  # architectures with other machine code
    problem: str = ""


def run(*command):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", timeout=LIMIT)
    if result.returncode != 0:
        raise RuntimeError(f"{os.path.basename(command[0])}: status {result.returncode}: {corpus.first_line(result.stderr)}")
    return result.stdout


def architectures_of(path, wanted):
    """Those that can run the file's .target; [] stands for the file's own alone."""
    own = machine_code.read_target(path)
    if not wanted or own[-1] in "af":
        return [own]
    return [arch for arch in wanted if corpus.number(arch[3:]) >= corpus.number(own[3:])] or [own]


def check(setup, path, configuration, folder):
    inserted, frame = os.path.join(folder, "inserted.ptx"), os.path.join(folder, "frame.ptx")
    before, after = os.path.join(folder, "before.ptx"), os.path.join(folder, "after.ptx")
    outcome = Outcome()
    report = json.loads(run(setup.inserter, path, "-o", inserted, *configuration.arguments))
    outcome.inserted = report["copies"]
    if outcome.inserted == 0:
        return outcome
    if report["labels"]:
        run(setup.inserter, path, "-o", frame, "--frame", *configuration.arguments)
    run(setup.tool, frame if report["labels"] else path, "-o", before, "--passes=" + setup.passes, *configuration.flags)
    run(setup.tool, inserted, "-o", after, "--passes=" + setup.passes, "--verify-each", *configuration.flags)
    counts = [json.loads(run(setup.inserter, "--count", p)) for p in (before, after)]
    outcome.left = counts[1]["copies"] - counts[0]["copies"]
    outcome.instructions = counts[0]["instructions"], counts[1]["instructions"]
    outcome.sizes = os.path.getsize(before), os.path.getsize(after)
    if setup.code.ptxas and configuration.compares_code:
        for arch in architectures_of(path, setup.architectures):
            allowed = [corpus.machine_code_of(p, arch, setup.code) for p in (frame if report["labels"] else path, inserted)]
            outcome.compared += 1
            if any(machine_code.same(code, corpus.machine_code_of(after, arch, setup.code)) for code in allowed):
                continue
            result = machine_code.assemble(after, arch)
            if is_no_worse([machine_code.assemble(p, arch) for p in (frame if report["labels"] else path, inserted)], result):
                outcome.near += 1
            else:
                outcome.other.append(arch)
    return outcome


def is_no_worse(codes, result):
    """Whether no function has more of anything that counts than in the worst of the codes."""
    allowed = [machine_code.stats(code) for code in codes]
    return all(all(count <= max(a.get(name, {}).get(key, 0) for a in allowed) for key, count in row.items())
               for name, row in machine_code.stats(result).items())


def safe_check(setup, name, path, configuration):
    with tempfile.TemporaryDirectory(dir=setup.work) as folder:
        try:
            outcome = check(setup, path, CONFIGURATIONS[configuration], folder)
        except (RuntimeError, machine_code.AssemblyError, subprocess.TimeoutExpired) as error:
            outcome = Outcome(problem=str(error))
        if failures(name, outcome, CONFIGURATIONS[configuration]):
            target = os.path.join(setup.work, "failed", f"{name}-{configuration}".replace("/", "-").replace(" ", "_").replace(",", ""))
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(folder, target)
            shutil.copy(path, os.path.join(target, "input.ptx"))
    return outcome


def failures(name, outcome, configuration):
    """What is wrong with the result of one input, in words."""
    found = [outcome.problem] if outcome.problem else []
    if not configuration.bounds_inputs:
        return found
    if name not in KEEPS_COPIES:
        found += excesses(outcome, configuration)
    if outcome.other:
        found.append("other machine code for " + ", ".join(outcome.other))
    return found


def excesses(outcome, configuration):
    found = []
    if outcome.left > MOST_LEFT * outcome.inserted + SLACK_COPIES:
        found.append(f"{outcome.left} of {outcome.inserted} copies left")
    for what, (before, after), slack in (("instructions", outcome.instructions, SLACK_INSTRUCTIONS), ("bytes", outcome.sizes, SLACK_BYTES)):
        if after - before > configuration.most_growth * before + slack:
            found.append(f"{after} {what}, {before} without the copies")
    return found


def growth(pair):
    return (pair[1] - pair[0]) / pair[0] if pair[0] else 0.0


def summarise(outcomes):
    total = Outcome()
    for o in outcomes:
        total.inserted += o.inserted
        total.left += o.left
        total.instructions = tuple(a + b for a, b in zip(total.instructions, o.instructions))
        total.sizes = tuple(a + b for a, b in zip(total.sizes, o.sizes))
        total.compared += o.compared
        total.near += o.near
        total.other += o.other
    return total


def inputs(setup, quick):
    """(name, path) of every input that ptxas takes."""
    paths = [(f"samples/{p.stem}", str(p)) for p in sorted((ROOT / "samples" / "kernels").glob("*.ptx"))]
    hazards = sorted((HERE.parents[1] / "inputs" / "hazards").glob("*.ptx"))
    paths += [(f"hazards/{p.stem}", str(p)) for p in hazards if p.stem not in UNTOUCHED]
    for item in corpus.all_items(setup.code.work, quick=True):
        if item.kind or (quick and item.command and "nvcc" in os.path.basename(item.command[0])):
            continue
        try:
            paths.append((item.name, corpus.compiled(item, setup.code.work)))
        except corpus.Skip as reason:
            print(f"skipped {item.name}: {reason}")
    taken = []
    for name, path in paths:
        try:
            if setup.code.ptxas:
                corpus.machine_code_of(path, machine_code.read_target(path), setup.code)
            if not machine_code.is_debug(path):
                taken.append((name, path))
        except machine_code.AssemblyError:
            pass  # kernels of tests/inputs/hazards that only ptxopt takes
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "build/release/ptxopt"))
    parser.add_argument("--inserter", default=str(ROOT / "build/release/tests/codegen/coalescing/insert_copies"))
    parser.add_argument("--work", default=str(ROOT / "build/coalescing"), help="folder for what is compiled and kept")
    parser.add_argument("--passes", default=PASSES, help=f"default: {PASSES}")
    parser.add_argument("--only", metavar="GLOB", default="*", help="only inputs of these names")
    parser.add_argument("--configuration", metavar="GLOB", default="*", help="only these ways of inserting")
    parser.add_argument("--quick", action="store_true", help="fewer inputs and configurations, one architecture each")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    work = os.path.abspath(args.work)
    corpus.prepare(work)
    shutil.rmtree(os.path.join(work, "failed"), ignore_errors=True)
    tool = os.path.abspath(args.tool)
    known = run(tool, "--list-passes")
    missing = [p for p in args.passes.split(",") if p not in known.split()]
    if missing:
        sys.exit(f"coalescing: this ptxopt has no pass {', '.join(missing)}")
    code = corpus.Settings(tool, work, corpus.version(machine_code.find_ptxas()))
    if not code.ptxas:
        print("no ptxas: the comparison of machine code was skipped")
    setup = Setup(tool, os.path.abspath(args.inserter), work, args.passes, [] if args.quick else ARCHITECTURES, code)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        chosen = [(n, p) for n, p in inputs(setup, args.quick) if fnmatch.fnmatch(n, args.only)]
        configurations = [name for name, c in CONFIGURATIONS.items()
                          if (c.quick or not args.quick) and fnmatch.fnmatch(name, args.configuration)]
        jobs = {c: [pool.submit(safe_check, setup, n, p, c) for n, p in chosen] for c in configurations}
        rows, bad = [], 0
        for c, futures in jobs.items():
            outcomes = [f.result() for f in futures]
            for (name, _), outcome in zip(chosen, outcomes):
                for failure in failures(name, outcome, CONFIGURATIONS[c]):
                    bad += 1
                    print(f"FAILED {c}: {name}: {failure}", flush=True)
            t = summarise(outcomes)
            share = t.left / t.inserted if t.inserted else 1.0
            over = share > MOST_LEFT or max(growth(t.instructions), growth(t.sizes)) > CONFIGURATIONS[c].most_growth \
                or t.near > CONFIGURATIONS[c].most_near * t.compared
            bad += over
            rows.append([c, sum(o.inserted > 0 for o in outcomes), t.inserted, t.left, f"{share:.2%}", f"{growth(t.instructions):+.2%}",
                         f"{growth(t.sizes):+.2%}", f"{t.compared - t.near - len(t.other)}/{t.compared}", t.near,
                         "FAILED" if over else "ok"])
    table(["inserted", "inputs", "copies", "left", "share", "instructions", "bytes", "same code", "no worse", "in all"], rows)
    print(f"coalescing: {len(chosen)} inputs, {len(rows)} configurations, {bad} failures")
    return 1 if bad or not rows or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
