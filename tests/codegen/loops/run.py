#!/usr/bin/env python3
"""What ptxopt's loop strength reduction makes of loops, in machine code: a benchmark with bounds.

  tests/codegen/loops/run.py [--tool PTXOPT] [--options '-O2 --form-shifted-products=off'] [--archs sm_75,sm_80,sm_90]
                     [--producers nvcc,clang,clang-no-lsr] [--only GLOB] [--list] [--json FILE] [--check] [--verify]
                     [--selections median,cheapest,sass] [--unroll] [--unrolling] [--quick] [--work build/loops] [-j N]

The kernels are those of kernels/, each for several types of index. Each producer makes PTX of them for each architecture:
  nvcc           nvcc -O3
  clang          clang -O2 without its unrolling, with LLVM's loop strength reduction
  clang-no-lsr   the same without it (-mllvm -disable-lsr)
ptxopt runs on that PTX with --options, by default without shifted-products, which takes more instructions for less time;
"before" is the PTX as it came, or what --baseline-options make of it. ptxas assembles both, with the pragma "nounroll" in every loop, unless --unroll is given. Compared are of each kernel
  inner          machine instructions of the innermost loops
  total          machine instructions
  warps          that a multiprocessor holds by registers alone
  spills         bytes of spill stores and loads
The tables show geometric means of after / before, and how many kernels are better, equal and worse, then where each way
ends beside clang's default. `better` and `worse` go by inner, and by total where inner is the same.

--check fails (exit 1, with names) when a bound of BOUNDS does not hold, and says which aims are not reached yet.
--unrolling takes the pragma off every loop before ptxopt, lets ptxas unroll, and fails where a kernel has fewer than LEAST_ACCESSES
of its loads and stores after: ptxas has unrolled less. With --options '--passes=lsr,dce' and the like it looks at single passes.
--verify runs `ptxopt verify` on before and after, too, and fails where they are not equal.
--selections runs once for each --lsr-selection and prints the tables side by side.
Without ptxas or any compiler the script says so and ends with status 77. What was compiled stays in the work folder, and
the texts that were compared under WORK/before and WORK/after.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parents[1] / "lib"))
import machine_code  # noqa: E402
from code_figures import mean_ratio, measured  # noqa: E402
from compilers import Compilation, Skip, compiled, first_line, prepare, read, run, stem, version, write  # noqa: E402
from loop_kernels import KERNELS, PRODUCERS, compilers, producers  # noqa: E402
from tables import table  # noqa: E402
from nounroll import backward_branches, with_unrolling, without_unrolling  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

ARCHITECTURES = ["sm_75", "sm_80", "sm_90"]
SELECTIONS = ["median", "cheapest", "sass"]
TOOL_LIMIT, VERIFY_LIMIT = 120, 1200  # seconds
QUICK_ARCHITECTURE = "sm_80"
LEAST_ACCESSES = 0.7  # of a kernel's; some go where they are widened, or where a value is known


@dataclass
class Bound:
    producer: str
    group: str  # of GROUPS
    metric: str  # inner or total: the geometric mean of after / before; else how many kernels are so
    most: float
    aim: float = None  # what is wanted and not reached yet; none: `most` is


# For each architecture. What is behind `most` was seen: it must not get worse.
BOUNDS = [
    Bound("clang", "all", "inner", 0.90),
    Bound("clang", "all", "total", 0.975, aim=0.90),
    Bound("clang", "64-bit index", "inner", 0.85),
    Bound("clang", "all", "fewer warps", 0),
    Bound("clang-no-lsr", "all", "fewer warps", 1, aim=0),
    # Without the guard, by instructions. Of these, steps by carry make three longer that take less time on the FMA unit.
    Bound("nvcc", "all", "worse", 7, aim=0),
    Bound("nvcc", "all", "fewer warps", 1, aim=0),
    *(Bound(producer, "all", "more spills", 0) for producer in ("nvcc", "clang", "clang-no-lsr")),
]
GROUPS = {
    "all": lambda name: True,
    "64-bit index": lambda name: name.endswith(("_i64", "_u64")),
    "32-bit index": lambda name: not name.endswith(("_i64", "_u64")),
}


@dataclass
class Case:
    """One file of kernels by one producer for one architecture."""
    producer: str
    arch: str
    item: Compilation
    before: dict = field(default_factory=dict)  # kernel -> what machine_code.loop_stats says
    after: dict = field(default_factory=dict)
    texts: tuple = ()  # paths of the PTX before and after
    problem: str = ""

    def name(self):
        return f"{stem(self.item.source)} {self.producer} {self.arch}"


@dataclass
class Setup:
    tool: str
    options: list
    baseline_options: list  # None: the input as it is
    work: str
    unroll: bool  # ptxas may
    strips: bool  # no loop says that it may not
    ptxas: str  # version text


# ---------------------------------------------------------------- producing and measuring

def cases(args, tools):
    """(case, ...) of what can be compiled here."""
    sources = sorted(Path(args.kernels).glob("*.cu"))
    made = producers(args.producers.split(","), tools)
    return [Case(producer.name, arch, producer.compilation(source, arch))
            for arch in args.archs.split(",") for producer in made for source in sources]


def transformed(setup, source, folder, name, arch, options):
    """The path of what ptxopt makes of a file; with options None, of the file as it is. Unrolling is asked off in both."""
    output = os.path.join(setup.work, folder, name + ".ptx")
    if options is None:
        text = read(source).decode()
        text = with_unrolling(text) if setup.strips else text
    else:
        result = run([setup.tool, source, "-o", output, "--arch", arch, *options], TOOL_LIMIT)
        if result.returncode:
            raise Skip(f"ptxopt ends with status {result.returncode}: {first_line(result.stderr)}")
        text = read(output).decode()
    write(output, (text if setup.unroll else without_unrolling(text)).encode())
    return output


def compare(case, setup):
    """Fills in the case. What it cannot do becomes its problem."""
    try:
        source = transformed(setup, compiled(case.item, setup.work), "input", case.item.name, case.arch, None)
        before = source if setup.baseline_options is None else \
            transformed(setup, source, "before", case.item.name, case.arch, setup.baseline_options)
        after = transformed(setup, source, "after", case.item.name, case.arch, setup.options)
        case.before, case.after = (measured(path, case.arch, setup.work, setup.ptxas) for path in (before, after))
        case.texts = before, after
    except Skip as reason:
        case.problem = str(reason)
    except machine_code.AssemblyError as error:
        case.problem = f"ptxas refuses it: {first_line(str(error))}"
    else:
        if case.before.keys() != case.after.keys():
            case.problem = "other kernels after than before"
    return case


@dataclass
class Verdict:
    kernel: str
    verdict: str
    detail: str
    executed: set = field(default_factory=set)  # lines of before


def verified(case, setup, trials):
    """A verdict on each kernel: run before and after on the same inputs."""
    command = [setup.tool, "verify", *case.texts, "--format", "json", "--coverage", "--trials", str(trials), "-j", "1"]
    result = run(command, VERIFY_LIMIT)
    try:
        return [Verdict(row["kernel"], row["verdict"], row["detail"], set(row["executed"])) for row in json.loads(result.stdout)]
    except (json.JSONDecodeError, KeyError):
        return [Verdict(kernel, "failed", first_line(result.stderr)) for kernel in case.before]


# ---------------------------------------------------------------- the figures

@dataclass
class Summary:
    kernels: int = 0
    ratios: dict = field(default_factory=dict)  # inner, total -> geometric mean
    better: list = field(default_factory=list)
    worse: list = field(default_factory=list)
    fewer_warps: list = field(default_factory=list)
    more_spills: list = field(default_factory=list)

    def equal(self):
        return self.kernels - len(self.better) - len(self.worse)


def size(row):
    return row["inner"], row["instructions"]


def summarise(rows):
    """rows: (name, before, after)"""
    result = Summary(len(rows))
    for metric, key in (("inner", "inner"), ("total", "instructions")):
        result.ratios[metric] = mean_ratio([(before[key], after[key]) for _, before, after in rows])
    for name, before, after in rows:
        if size(after) != size(before):
            (result.worse if size(after) > size(before) else result.better).append(name)
        if after["warps"] < before["warps"]:
            result.fewer_warps.append(name)
        if after["spills"] > before["spills"]:
            result.more_spills.append(name)
    return result


def rows_of(done, producer, arch, group, only="*"):
    return [(kernel, case.before[kernel], case.after[kernel]) for case in done
            if case.producer == producer and case.arch == arch and not case.problem
            for kernel in case.before if GROUPS[group](kernel) and fnmatch.fnmatch(kernel, only)]


def ratio(value):
    return f"{value:.3f}"


def print_summaries(summaries):
    rows = [[producer, arch, group, s.kernels, ratio(s.ratios["inner"]), ratio(s.ratios["total"]), len(s.better), s.equal(),
             len(s.worse), len(s.fewer_warps), len(s.more_spills)] for (producer, arch, group), s in summaries.items()]
    table(["producer", "arch", "kernels", "", "inner x", "total x", "better", "equal", "worse", "fewer warps", "more spills"], rows)


def print_beside_clang(done, archs, only):
    """Each way beside clang's default; the last column: in how many kernels inner is no more than in clang's better setting."""
    rows = []
    for arch in archs:
        kernels = {producer: {name: (before, after) for name, before, after in rows_of(done, producer, arch, "all", only)}
                   for producer in PRODUCERS}
        common = sorted(kernels["clang"].keys() & kernels["clang-no-lsr"].keys())
        if not common:
            continue
        default = {name: kernels["clang"][name][0] for name in common}
        best = {name: min((kernels[p][name][0] for p in ("clang", "clang-no-lsr")), key=size) for name in common}
        ways = {"better of clang's two": best}
        for producer in PRODUCERS:
            if common and all(name in kernels[producer] for name in common):
                ways[producer] = {name: kernels[producer][name][0] for name in common}
                ways[producer + ", ptxopt"] = {name: kernels[producer][name][1] for name in common}
        for way in [w for p in PRODUCERS for w in (p, p + ", ptxopt") if w in ways] + ["better of clang's two"]:
            figures = ways[way]
            sums = [sum(figures[n][k] for n in common) / max(1, sum(default[n][k] for n in common)) for k in ("inner", "instructions")]
            means = [mean_ratio([(default[n][k], figures[n][k]) for n in common]) for k in ("inner", "instructions")]
            wide = [n for n in common if GROUPS["64-bit index"](n)]
            inner_wide = mean_ratio([(default[n]["inner"], figures[n]["inner"]) for n in wide])
            good = sum(figures[n]["inner"] <= best[n]["inner"] for n in common)
            rows.append([way, arch, len(common), *map(ratio, means), *map(ratio, sums), ratio(inner_wide), f"{good / len(common):.0%}"])
    if rows:
        print("\nbeside clang's default (1.000); mean: geometric, of kernels; sum: of all instructions")
        table(["way", "arch", "kernels", "inner mean", "total mean", "inner sum", "total sum", "inner mean, 64-bit index",
               "inner no more than the better of clang's two"], rows)


def unrolled_less(done, only):
    """Which kernels have too few of their loads and stores after, in words."""
    return [f"{name} {case.producer} {case.arch}: {before['accesses']} -> {case.after[name]['accesses']} loads and stores, "
            f"{before['loops']} -> {case.after[name]['loops']} innermost loops"
            for case in done if not case.problem for name, before in case.before.items()
            if fnmatch.fnmatch(name, only) and case.after[name]["accesses"] < LEAST_ACCESSES * before["accesses"]]


def print_kernels(done, only):
    """Every kernel, worst first."""
    rows = []
    for case in done:
        for name in case.before if not case.problem else ():
            before, after = case.before[name], case.after[name]
            if fnmatch.fnmatch(name, only):
                rows.append([name, case.producer, case.arch, *(f"{before[k]} -> {after[k]}" for k in
                             ("inner", "instructions", "registers", "warps", "spills")),
                             ratio(after["inner"] / before["inner"]) if before["inner"] else "-"])
    rows.sort(key=lambda row: (-float(row[-1].replace("-", "0")), row))
    table(["kernel", "producer", "arch", "inner", "total", "registers", "warps", "spills", "inner x"], rows)


def violations(summaries):
    """What does not hold, in words, with the names. Says which aims are not reached."""
    found = []
    for (producer, arch, group), s in summaries.items():
        for bound in BOUNDS:
            if (bound.producer, bound.group) != (producer, group) or not s.kernels:
                continue
            names = {"worse": s.worse, "fewer warps": s.fewer_warps, "more spills": s.more_spills}.get(bound.metric, [])
            value = s.ratios.get(bound.metric, len(names))
            said = f"{producer} {arch} {group}: {bound.metric} {value:.3g}, at most {bound.most:g}"
            said += ": " + " ".join(names) if names else ""
            if value > bound.most:
                found.append(said)
            elif bound.aim is not None and value > bound.aim:
                print(f"not reached yet: {said}; the aim is {bound.aim:g}")
    return found


def as_json(done, summaries):
    return {
        "kernels": [{"kernel": name, "file": stem(case.item.source), "producer": case.producer, "arch": case.arch,
                     "before": case.before[name], "after": case.after[name]}
                    for case in done if not case.problem for name in case.before],
        "summaries": [{"producer": p, "arch": a, "group": g, "kernels": s.kernels, **s.ratios, "better": s.better,
                       "worse": s.worse, "fewer_warps": s.fewer_warps, "more_spills": s.more_spills}
                      for (p, a, g), s in summaries.items()],
        "problems": {case.name(): case.problem for case in done if case.problem},
    }


# ---------------------------------------------------------------- runs

def verify_all(pool, done, setup, trials):
    """The number of kernels that are not equal; declines are counted and shown, and how many loops iterated."""
    verdicts, taken, loops, bad = {}, 0, 0, 0
    futures = [(case, pool.submit(verified, case, setup, trials)) for case in done if not case.problem]
    for case, future in futures:
        executed = set()
        for row in future.result():
            verdicts[row.verdict] = verdicts.get(row.verdict, 0) + 1
            executed |= row.executed
            if row.verdict != "equal":
                bad += row.verdict in ("different", "failed")
                print(f"verify: {row.verdict}: {case.name()}: {row.kernel}: {row.detail}", flush=True)
        lines = backward_branches(read(case.texts[0]).decode().split("\n"))
        loops += len(lines)
        taken += sum(line + 1 in executed for line in lines)
    print("verify: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
          + f"; {taken} of {loops} branches backwards were taken")
    return bad


def run_once(pool, args, setup, tools):
    """(cases, summaries) of one set of options."""
    work = cases(args, tools)
    done = list(pool.map(lambda case: compare(case, setup), work))
    for case in done:
        if case.problem:
            print(f"FAILED {case.name()}: {case.problem}", flush=True)
    summaries = {}
    for producer in args.producers.split(","):
        for arch in args.archs.split(","):
            for group in GROUPS:
                rows = rows_of(done, producer, arch, group, args.only)
                if rows:
                    summaries[producer, arch, group] = summarise(rows)
    return done, summaries


def compare_selections(pool, args, setup, tools):
    wanted = args.selections.split(",")
    knobs = subprocess.run([setup.tool, "--list-knobs"], capture_output=True, text=True).stdout
    if "lsr-selection" not in knobs:
        sys.exit("loops: this ptxopt has no knob lsr-selection")
    columns = {}
    for selection in wanted:
        setup.options = [*shlex.split(args.options), "--lsr-selection=" + selection]
        done, columns[selection] = run_once(pool, args, setup, tools)
        if any(case.problem for case in done):
            return 1
    rows = []
    for key in columns[wanted[0]]:
        figures = [columns[s][key] for s in wanted]
        rows.append([*key, figures[0].kernels, *(f"{s.ratios['inner']:.3f} {s.ratios['total']:.3f}" for s in figures),
                     *(f"{len(s.better)}/{len(s.worse)}" for s in figures)])
    table(["producer", "arch", "kernels", "", *(f"{s}: inner total" for s in wanted), *(f"{s}: better/worse" for s in wanted)], rows)
    return 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "build/release/ptxopt"), help="default: build/release/ptxopt")
    parser.add_argument("--options", default="-O2 --form-shifted-products=off", help="of ptxopt, in one word; default: %(default)s")
    parser.add_argument("--baseline-options", metavar="OPTIONS", help="what `before` goes through; default: nothing")
    parser.add_argument("--kernels", default=str(KERNELS), help="a folder with other .cu files")
    parser.add_argument("--archs", default=",".join(ARCHITECTURES))
    parser.add_argument("--producers", default=",".join(PRODUCERS))
    parser.add_argument("--only", metavar="GLOB", default="*", help="only kernels of these names")
    parser.add_argument("--unroll", action="store_true", help="leave unrolling to ptxas")
    parser.add_argument("--unrolling", action="store_true", help="fail where ptxas unrolls less after than before")
    parser.add_argument("--list", action="store_true", help="show every kernel, worst first")
    parser.add_argument("--json", metavar="FILE", help="write everything there")
    parser.add_argument("--check", action="store_true", help="hold the results against the bounds")
    parser.add_argument("--verify", action="store_true", help="run before and after with the interpreter and compare")
    parser.add_argument("--trials", type=int, default=6, help="of --verify; default: 6")
    parser.add_argument("--selections", metavar="NAME,...", help="compare these ways to select: " + ", ".join(SELECTIONS))
    parser.add_argument("--quick", action="store_true", help=f"only {QUICK_ARCHITECTURE}")
    parser.add_argument("--work", default=str(ROOT / "build/loops"), help="folder for what is compiled and kept")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    if args.quick:
        args.archs = QUICK_ARCHITECTURE
    if unknown := set(args.producers.split(",")) - set(PRODUCERS):
        parser.error(f"there is no producer {', '.join(sorted(unknown))}")
    return args


def main():
    args = parse_arguments()
    tools = compilers()
    ptxas = machine_code.find_ptxas()
    for name, path in {**tools, "ptxas": ptxas}.items():
        if not path:
            print(f"loops: there is no {name}")
    if not ptxas or not any(tools.values()):
        print("skipped: loops need ptxas and nvcc or clang")
        return 77
    work = os.path.abspath(args.work)
    prepare(work)
    for folder in ("input", "before", "after"):
        os.makedirs(os.path.join(work, folder), exist_ok=True)
    baseline = None if args.baseline_options is None else shlex.split(args.baseline_options)
    setup = Setup(os.path.abspath(args.tool), shlex.split(args.options), baseline, work, args.unroll or args.unrolling, args.unrolling,
                  version(ptxas))
    if not os.path.exists(setup.tool):
        sys.exit(f"loops: no {setup.tool}; build it or say where it is with --tool")
    os.nice(5)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        if args.selections:
            return compare_selections(pool, args, setup, tools)
        done, summaries = run_once(pool, args, setup, tools)
        if args.list:
            print_kernels(done, args.only)
        bad = [case.name() for case in done if case.problem]
        if args.unrolling:
            less = unrolled_less(done, args.only)
            print(*("FAILED " + kernel for kernel in less), sep="\n", end="\n" if less else "")
            print(f"unrolling: {sum(s.kernels for key, s in summaries.items() if key[2] == 'all')} kernels, {len(less)} unrolled less")
            bad += less
        else:
            print_summaries(summaries)
            print_beside_clang(done, args.archs.split(","), args.only)
        if args.check:
            for violation in violations(summaries):
                bad.append(violation)
                print("FAILED " + violation)
        if args.json:
            write(os.path.abspath(args.json), json.dumps(as_json(done, summaries), indent=1).encode())
        if args.verify and (count := verify_all(pool, done, setup, args.trials)):
            bad.append(f"{count} kernels not equal")
    if not summaries:
        print("loops: nothing ran")
    return 1 if bad or not summaries else 0


if __name__ == "__main__":
    sys.exit(main())
