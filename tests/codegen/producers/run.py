#!/usr/bin/env python3
"""What the passes make of the PTX of each compiler, in machine code: tables, and bounds.

  tests/codegen/producers/run.py [--tool PTXOPT] [--producers NAME,...] [--arch sm_80] [--guard both|off|ptxas]
                         [--passes NAME,...] [--sets own,samples,loops] [--unroll] [--markdown] [--list] [--json FILE]
                         [--check] [--verify] [--quick] [--work build/producers] [-j N]

producers.py says what makes PTX of which kernels; what is not installed is named and skipped. newest-clang-O2 and -O0 are the
clang-N of the greatest N in $PATH, if it is newer than the clang that the bounds are of; each release is printed. Each -O2 pass that is not for
cleaning up runs alone (with dce behind it), then all of -O2; without the guard and with it. Every loop has the pragma
"nounroll" before anything runs, so that both sides and the guard see loops that ptxas leaves as they are; --unroll leaves
unrolling to ptxas. ptxas assembles whole programs where it can. Compared are of each function
  SASS       machine instructions
  inner      those of the innermost loops
  registers, warps that a multiprocessor holds by registers alone, bytes of spills, and whether it has a stack frame
The tables show geometric means of after / before over functions of 8 instructions or more, and how many are better or worse by
the guard's rule `warps`: spills, then warps, then machine instructions; without the guard / with it where these differ. The second
table is about the functions that have what a pass looks for, of all producers together: where it alone changed something.

--check fails (exit 1, with names) when the guarded results break a bound of BOUNDS or a function is worse, and says which aims
are not reached. --verify runs before and after all of -O2 with the interpreter, too. --list names what is worse without the
guard, and where the guard took back smaller innermost loops. Without ptxas or any producer the script says so and ends with
status 77. --install gets the packages of those that come from PyPI first (tests/lib/framework_packages.py says how large they are).
"""
import argparse
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass

import producers  # first: it makes tests/lib known
from producers import NEWEST, PACKAGED, ROOT, SETS, SOURCES, Missing
import machine_code
from code_figures import measured
from compilers import Skip, compiled, digest, first_line, prepare, read, run, version, write
from framework_packages import packages_of, python_with
from nounroll import without_unrolling
from summary import HEADINGS, PATTERNS, Outcome, cells, counted, has, short, summarise

TOOL_LIMIT, VERIFY_LIMIT = 600, 1200  # seconds
TRIALS = 3  # of --verify
CLEAN_UPS = {"local-dce", "dce", "cssa-coalesce", "register-coalescer", "cross-type-coalescer"}
TOGETHER = "-O2"


@dataclass
class Bound:
    """Of guarded results on sm_80, ptxas kept from unrolling; for own kernels and for those with the samples."""
    of: str  # a producer or a pattern
    variant: str
    metric: str  # total or inner: the geometric mean of after / before; frames: how many functions keep a stack frame
    most: float  # what was seen, and a little
    aim: float = None  # what is wanted and not reached; none: `most` is


BOUNDS = [
    Bound("nvcc", TOGETHER, "total", 0.975),
    Bound("nvcc", TOGETHER, "inner", 0.925),
    Bound("clang-O2", TOGETHER, "total", 0.975),
    Bound("clang-O2", TOGETHER, "inner", 0.930),
    Bound("clang-O0", TOGETHER, "total", 0.455),
    Bound("clang-O0", TOGETHER, "inner", 0.565),
    Bound("clang-O0", TOGETHER, "frames", 4),
    Bound("slices", TOGETHER, "total", 0.820),
    Bound("slices", TOGETHER, "inner", 0.905),
    Bound("opencl-O2", TOGETHER, "total", 0.950),
    Bound("opencl-O2", TOGETHER, "inner", 0.920),
    Bound("opencl-O0", TOGETHER, "total", 0.290),
    Bound("opencl-O0", TOGETHER, "inner", 0.520),
    Bound("opencl-O0", TOGETHER, "frames", 1),
    Bound("openacc", TOGETHER, "total", 0.910, aim=0.85),
    Bound("openacc", TOGETHER, "inner", 0.810),
    Bound("openmp", TOGETHER, "total", 0.965, aim=0.85),
    Bound("openmp", TOGETHER, "inner", 0.920),
    Bound("numba", TOGETHER, "total", 0.995),
    Bound("triton", TOGETHER, "total", 0.950),
    Bound("triton", TOGETHER, "inner", 0.915),
    Bound("slang", TOGETHER, "total", 0.995),
    Bound("mojo", TOGETHER, "total", 0.995),
    Bound("tilelang", TOGETHER, "total", 1.000),
    Bound("wide products", "wide-multiply", "total", 0.975),
    Bound("invariant divisions", "divide", "inner", 0.860),
    Bound("local slots", TOGETHER, "total", 0.400),
    Bound("local slots", TOGETHER, "frames", 3),
]
CHECKED_ARCHITECTURE = "sm_80"


@dataclass
class Setup:
    tool: str
    arch: str
    work: str
    ptxas: str  # version text
    unroll: bool


# ---------------------------------------------------------------- running

def passes_of(tool):
    """The -O2 passes that are to change machine code, in the tool's order."""
    listed = subprocess.run([tool, "--list-passes"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines() if len(line.split()) > 1 and line.split()[1] == "-O2"]
    return [name for name in names if name not in CLEAN_UPS]


def prepared(item, setup):
    """The path of the item's PTX as everything begins with it."""
    source = compiled(item.compilation, setup.work)
    text = read(source)
    if not setup.unroll:
        text = without_unrolling(text.decode()).encode()
    path = os.path.join(setup.work, "before", digest(text) + ".ptx")
    if not os.path.exists(path):
        write(path, text)
    return path


def optimized(path, variant, guard, setup, *more):
    """(path of the result, report)"""
    options = ["-O2" if variant == TOGETHER else f"--passes={variant},dce", *more]
    stem = os.path.join(setup.work, "after", f"{digest(path, *options, guard, setup.arch)}")
    command = [setup.tool, path, "-o", stem + ".ptx", "--report", stem + ".json", f"--arch={setup.arch}", f"--guard={guard}", "--guard-rule=warps",
               "-j", "1", *options]
    result = run(command, TOOL_LIMIT)
    if result.returncode:
        raise Skip(f"{shlex.join(command)} ends with status {result.returncode}: {first_line(result.stderr)}")
    return stem + ".ptx", json.loads(read(stem + ".json"))


def outcomes(item, variant, guard, setup):
    """An Outcome for each function, or the Skip that says why not."""
    try:
        before = prepared(item, setup)
        after, report = optimized(before, variant, guard, setup)
        figures = [measured(path, setup.arch, setup.work, setup.ptxas, whole=True) for path in (before, after)]
    except Skip as reason:
        return reason
    except machine_code.AssemblyError as error:
        return Skip(f"ptxas refuses it: {first_line(str(error))}")
    # ptxas names functions without code of their own, which are in that of kernels, only where something calls them.
    gone = figures[0].keys() - figures[1].keys()
    if any(figures[0][name]["instructions"] for name in gone) or figures[1].keys() - figures[0].keys():
        return Skip("other functions after than before")
    counters = {f["name"]: step.get("counters", {}) for f in report["functions"] for step in f.get("passes", [])
                if step["name"].split("@")[0] == variant and step["changed"]}
    kept = {row["name"]: f"{row['reason']} {row.get('detail', '')}".rstrip() for row in report.get("guard", {}).get("kept", [])}
    return [Outcome(item.producer, item.compilation.name, name, row, figures[1][name], counters.get(name), kept.get(name, ""))
            for name, row in figures[0].items() if name in figures[1]]


def verified(item, setup, trials):
    """kernel -> (verdict, detail) of what all of -O2 makes of an item."""
    before = prepared(item, setup)
    after, _ = optimized(before, TOGETHER, "off", setup)
    command = [setup.tool, "verify", before, after, "--format", "json", "--nan", "any", "--trials", str(trials), "-j", "1"]
    result = run(command, VERIFY_LIMIT)
    try:
        return {row["kernel"]: (row["verdict"], row["detail"]) for row in json.loads(result.stdout)}
    except json.JSONDecodeError:
        return {"all": ("failed", first_line(result.stderr))}


def verify_all(pool, setup, items):
    """What is not equal, in words; how many are, and what cannot be compared, is said."""
    counts, bad = {}, []
    for item, future in [(item, pool.submit(verified, item, setup, TRIALS)) for item in items]:
        for kernel, (verdict, detail) in future.result().items():
            counts[verdict] = counts.get(verdict, 0) + 1
            if verdict in ("different", "failed"):
                bad.append(f"verify: {item.name()}: {kernel}: {verdict}: {detail}")
            elif verdict != "equal":
                print(f"verify: {item.name()}: {short(kernel)}: {verdict}: {detail}")
    print("verify: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return bad


# ---------------------------------------------------------------- showing

def show(headings, rows, markdown):
    """Columns of words, or a table in Markdown."""
    rows = [[str(cell) for cell in row] for row in rows]
    if markdown:
        for row in (headings, ["---"] * len(headings), *rows):
            print("| " + " | ".join(row) + " |")
        print()
        return
    widths = [max(len(row[i]) for row in (headings, *rows)) for i in range(len(headings))]
    for row in (headings, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    print()


def show_table(title, names, variants, guards, summaries, markdown):
    rows, nothing = [], []
    for of in names:
        for variant in variants:
            found = [summaries[of, variant, guard] for guard in guards if (of, variant, guard) in summaries]
            if any(s.changed for s in found):
                rows.append([of, variant, *cells(found)])
            elif found:
                nothing.append(f"{of} {variant}")
    if rows:
        show([title, "passes", *HEADINGS], rows, markdown)
    if nothing:
        print("nothing changed: " + ", ".join(nothing) + "\n")


def pattern_outcomes(done, name, variant, guard):
    """The outcomes of a variant in the functions in which the pattern was found, by what the pass did alone and unguarded."""
    wanted_pass, wanted = PATTERNS[name]
    having = {o.key() for o in done.get((wanted_pass, "off"), []) if has(o.counters, wanted)}
    return [o for o in done.get((variant, guard), []) if o.key() in having]


def summaries_of(done):
    """(producer or pattern, variant, guard) -> Summary"""
    result = {}
    for (variant, guard), rows in done.items():
        for producer in SOURCES:
            if mine := [o for o in rows if o.producer == producer]:
                result[producer, variant, guard] = summarise(mine)
        for name, (wanted_pass, _) in PATTERNS.items():
            if variant in (wanted_pass, TOGETHER) and counted(mine := pattern_outcomes(done, name, variant, guard)):
                result[name, variant, guard] = summarise(mine)
    return result


FIGURES = ("spills", "registers", "warps", "instructions", "inner", "stack")


def show_lists(done):
    guarded = {(variant, o.key()): o for (variant, guard), rows in done.items() if guard == "ptxas" for o in rows}
    for (variant, guard), rows in done.items():
        for o in counted(rows):
            what = f"{variant}, guard {guard}: {o.name()}: " + ", ".join(
                f"{key} {o.before[key]} -> {o.after[key]}" for key in FIGURES if o.before[key] != o.after[key])
            if o.sign() > 0:
                print("worse: " + what)
            other = guarded.get((variant, o.key()))
            if guard == "off" and other and other.kept and o.after["inner"] < min(o.before["inner"], other.after["inner"]):
                print(f"taken back ({other.kept}): {what}")


def violations(done, summaries):
    """What does not hold, in words. Says which aims are not reached."""
    found = [f"{variant} makes {o.name()} worse: {o.before} -> {o.after}" for (variant, guard), rows in done.items()
             if guard == "ptxas" for o in rows if o.sign() > 0]
    for bound in BOUNDS:
        summary = summaries.get((bound.of, bound.variant, "ptxas"))
        if not summary:
            continue
        value = len(summary.frames_left) if bound.metric == "frames" else getattr(summary, bound.metric)
        said = f"{bound.of}, {bound.variant}: {bound.metric} {value:.3f}, at most {bound.most:g}"
        if value > bound.most:
            found.append(said)
        elif bound.aim is not None and value > bound.aim:
            print(f"not reached: {said}; the aim is {bound.aim:g}")
    return found


def as_json(done, summaries):
    return {"functions": [{"variant": v, "guard": g, **vars(o)} for (v, g), rows in done.items() for o in rows],
            "summaries": [{"of": of, "variant": v, "guard": g, **vars(s)} for (of, v, g), s in summaries.items()]}


def compilers_of(items):
    """producer -> the release of its compiler, or its packages"""
    said = {}
    for item in items:
        lines = item.compilation.compiler.splitlines()
        releases = [line for line in lines if "release" in line]  # nvcc's first line has none
        said[item.producer] = " ".join(packages_of(PACKAGED[item.producer])) if item.producer in PACKAGED else (releases or lines)[0]
    return said


# ---------------------------------------------------------------- the command line

def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "build/release/ptxopt"), help="default: build/release/ptxopt")
    parser.add_argument("--producers", default=",".join(SOURCES), help="default: all of " + ", ".join(SOURCES))
    parser.add_argument("--sets", default="own,samples", help="of kernels: " + ", ".join(SETS) + "; default: own,samples")
    parser.add_argument("--arch", default="sm_80")
    parser.add_argument("--guard", choices=["both", "off", "ptxas"], default="both", help="default: both")
    parser.add_argument("--passes", help=f"these, each alone; {TOGETHER}: all together; default: what -O2 has, each and together")
    parser.add_argument("--unroll", action="store_true", help="leave unrolling to ptxas")
    parser.add_argument("--markdown", action="store_true", help="print the tables in Markdown")
    parser.add_argument("--list", action="store_true", help="name what is worse, and what the guard took back")
    parser.add_argument("--json", metavar="FILE", help="write everything there")
    parser.add_argument("--check", action="store_true", help="hold the guarded results against the bounds")
    parser.add_argument("--verify", action="store_true", help="run before and after with the interpreter and compare")
    parser.add_argument("--quick", action="store_true", help=f"only own kernels and bounded passes, no {' or '.join([*NEWEST, *PACKAGED])}")
    parser.add_argument("--install", action="store_true", help="install the packages of " + " and ".join(PACKAGED))
    parser.add_argument("--work", default=str(ROOT / "build/producers"), help="folder for what is compiled and kept")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    if args.quick:
        args.passes, args.guard, args.sets = ",".join(dict.fromkeys(bound.variant for bound in BOUNDS)), "both", "own"
        args.producers = ",".join(name for name in args.producers.split(",") if name not in PACKAGED and name not in NEWEST)
    for given, known in ((args.producers, SOURCES), (args.sets, SETS)):
        if unknown := set(given.split(",")) - set(known):
            parser.error(f"unknown: {', '.join(sorted(unknown))}")
    seen = args.arch == CHECKED_ARCHITECTURE and not args.unroll and "loops" not in args.sets and args.guard == "both"
    if args.check and not seen:
        parser.error(f"--check is for {CHECKED_ARCHITECTURE}, own kernels and samples, both guards, without --unroll")
    return args


def run_all(pool, setup, variants, guards, items):
    """((variant, guard) -> outcomes, failures in words)"""
    done, failed = {}, set()
    futures = {(variant, guard): [(item, pool.submit(outcomes, item, variant, guard, setup)) for item in items]
               for guard in guards for variant in variants}
    for key, waiting in futures.items():
        done[key] = []
        for item, future in waiting:
            result = future.result()
            if isinstance(result, Skip):
                failed.add(f"{item.name()}: {result}")
            else:
                done[key] += result
    return done, sorted(failed)


def main():
    args = parse_arguments()
    ptxas = machine_code.find_ptxas()
    if not ptxas:
        print("skipped: producers need ptxas")
        return 77
    setup = Setup(os.path.abspath(args.tool), args.arch, os.path.abspath(args.work), version(ptxas), args.unroll)
    if not os.path.exists(setup.tool):
        sys.exit(f"producers: no {setup.tool}; build it or say where it is with --tool")
    prepare(setup.work)
    for folder in ("before", "after"):
        os.makedirs(os.path.join(setup.work, folder), exist_ok=True)
    os.environ.setdefault("PTXOPT_CACHE_DIR", os.path.join(setup.work, "cache"))
    os.environ.setdefault("TRITON_CACHE_DIR", os.path.join(setup.work, "triton"))
    os.environ["PTXOPT_PTXAS"] = ptxas
    for environment in dict.fromkeys(PACKAGED[name] for name in args.producers.split(",") if args.install and name in PACKAGED):
        python, why = python_with(environment)
        if not python:
            print(f"the packages of {environment} cannot be had: {why}")
    items = []
    for producer in args.producers.split(","):
        try:
            items += producers.items(producer, args.arch, args.sets.split(","))
        except Missing as what:
            print(f"skipped: {producer}: {what}")
    if not items:
        print("skipped: producers: none of them is here")
        return 77
    variants = args.passes.split(",") if args.passes else [*passes_of(setup.tool), TOGETHER]
    guards = ["off", "ptxas"] if args.guard == "both" else [args.guard]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        done, failed = run_all(pool, setup, variants, guards, items)
        summaries = summaries_of(done)
        bad = failed + (violations(done, summaries) if args.check else [])
        bad += verify_all(pool, setup, items) if args.verify else []
    for producer, compiler in compilers_of(items).items():
        print(f"{producer}: {compiler}")
    print(f"{args.arch}, guard: " + " / ".join(guards))
    for title, names in (("producer", SOURCES), ("functions with", PATTERNS)):
        show_table(title, names, variants, guards, summaries, args.markdown)
    if args.list:
        show_lists(done)
    if args.json:
        write(os.path.abspath(args.json), json.dumps(as_json(done, summaries), indent=1).encode())
    for what in bad:
        print("FAILED " + what)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
