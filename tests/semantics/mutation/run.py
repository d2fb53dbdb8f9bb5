#!/usr/bin/env python3
"""Does `ptxopt verify` notice? Changes one instruction of real kernels at a time and asks it.

  run.py [--tool build/release/ptxopt] [--work build/mutation] [--count N] [--seed S] [--only GLOB] [--class NAME] [-j N]

The kernels: samples/, tests/inputs/hazards/, and the CUDA, OpenCL C and C++ files of tests/codegen/corpus/kernels compiled by nvcc and
clang where they are installed. mutants.py has the operators. A mutant counts when

  - ptxas accepts it and makes other machine code of it,
  - the changed instruction is executed by the earlier inputs of `ptxopt verify` (a guard: reached); verify --coverage says so,
  - the original's own result is determined: no race, and the same whatever lies where nothing was written.
    Mutants of a kernel that verify calls not determined are reported apart,
  - it is not a removed barrier, whose effect may need another order of the threads. These are reported apart.

Of those that count some do nothing else on any input: mul.wide.s32 for mul.wide.u32 of what is never negative, or a move of
0 for that of the address of a variable that lies there. Those that `verify` misses and whose instruction computed, on each
of its inputs, what the original's did (verify --coverage compares them, line by line) are "not infected". Of the infected,
`verify` has to find 95%; --least-reached bounds the share of all that count, which docs/verify.md
gives. Drawn are a file, in turn, any of its instructions, any class of mutants that it has, and one of those; until N that count are drawn. Which, depends on N, the seed and the kernels, not on -j.
A verdict "different" where the machine code is the same is reported too, a false alarm; unless the mutant fails in the
interpreter: what is undefined (a lane that is not in the mask that it gives) may well become the same machine code.

What was missed is printed, and kept under WORK/missed. Without ptxas nothing can be said; this is status 0 with a message.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "lib")]
import machine_code  # noqa: E402
import mutants  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

# The goal is 0.95; what is reached today is in docs/verify.md. The test guards what there is.
GOAL = 0.95
LIMIT = 900  # seconds for one command
# Of the corpus: what compiles in a few seconds. (Name of the source, for nvcc; name and mode, for clang.)
CORPUS = ["algorithms.*", "arithmetic.*", "atomics.*", "calls.*", "control.*", "half.*", "inline_asm.*", "math.*", "memory.*",
          "precision.*", "warp.*", "clang-programs.*.O0", "clang-programs.*.O2", "opencl-programs.*.O2", "opencl-programs.*.O0"]
# How many draws each group gets of an iteration.
SHARES = {"samples": 4, "corpus": 3, "hazards": 1}


@dataclass
class Base:
    """A file whose kernels are changed."""
    name: str
    group: str
    text: str = ""
    arch: str = ""
    fingerprint: dict = None
    reached: set = field(default_factory=set)  # lines
    executed: set = field(default_factory=set)
    kernels: set = field(default_factory=set)  # that verify can run
    path: str = ""
    mutants: dict = None  # line -> class -> mutants not drawn yet


class Unusable(Exception):
    """This file cannot be mutated; str() is why."""


def run(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", f"took more than {LIMIT} s")


# ---------------------------------------------------------------- kernels

def corpus_module():
    spec = importlib.util.spec_from_file_location("corpus_run", os.path.join(ROOT, "tests", "codegen", "corpus", "run.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["corpus_run"] = module
    spec.loader.exec_module(module)
    return module


def sources(work):
    """(name, group, function that gives the path) of every file."""
    found = []
    for folder, group in (("samples", "samples"), ("samples/kernels", "samples"), ("tests/inputs/hazards", "hazards")):
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith(".ptx"):
                path = os.path.join(ROOT, folder, name)
                found.append((f"{folder}/{name[:-4]}", group, lambda path=path: path))
    corpus = corpus_module()
    corpus.prepare(work)
    for item in corpus.all_items(work, quick=True):
        if item.command and any(fnmatch.fnmatch(item.name, pattern) for pattern in CORPUS):
            def compiled(item=item):
                try:
                    return corpus.compiled(item, work)
                except corpus.Skip as reason:
                    raise Unusable(str(reason)) from None
            found.append((item.name, "corpus", compiled))
    return found


def prepare(tool, work, name, group, path_of):
    base = Base(name, group)
    base.path = os.path.join(work, "base", name.replace("/", "-") + ".ptx")
    reprint = run([tool, path_of(), "-O0", "--reprint", "-o", base.path])
    if reprint.returncode:
        raise Unusable(reprint.stderr.strip())
    with open(base.path, encoding="utf-8") as file:
        base.text = file.read()
    base.arch = machine_code.read_target(base.path)
    try:
        base.fingerprint = machine_code.fingerprint(machine_code.assemble(base.path, base.arch))
    except machine_code.AssemblyError as error:
        raise Unusable(f"ptxas: {error}".split("\n")[0]) from None
    verify = run([tool, "verify", base.path, base.path, "--format", "json", "--coverage"])
    try:
        verdicts = json.loads(verify.stdout)
    except ValueError:
        raise Unusable(verify.stderr.strip()) from None
    for verdict in verdicts:
        if verdict["verdict"] == "different":
            raise SystemExit(f"mutation: {name}: '{verdict['kernel']}' is said to differ from itself:\n{verdict['detail']}")
        if verdict["verdict"] == "equal" and not verdict["undetermined"]:
            base.kernels.add(verdict["kernel"])
            base.reached.update(verdict["reached"])
            base.executed.update(verdict["executed"])
    if not base.kernels:
        raise Unusable("no kernel that verify can run and whose result is determined: " +
                       (verdicts[0]["detail"] or verdicts[0]["undetermined"]).split("\n")[0] if verdicts else "no kernels")
    return base


# ---------------------------------------------------------------- drawing

class Draw:
    """An endless sequence of (base, mutant), without repetition, until all are drawn. Files are prepared when their turn comes."""

    def __init__(self, found, prepare, ahead, seed, only_class):
        """`prepare` takes a source and gives a future of its Base; `ahead`: how many of each group it is called for in advance."""
        self.random = random.Random(seed)
        self.prepare, self.ahead, self.only_class = prepare, ahead, only_class
        self.groups, self.prepared = {}, {}
        self.bases = []
        for source in found:
            self.groups.setdefault(source[1], []).append(source)

    def base_of(self, source):
        """A source's Base, with its mutants at first; none if it is unusable or has none."""
        base = self.prepared[source[0]]
        if isinstance(base, Base):
            return base
        try:
            base = base.result()
        except Unusable as reason:
            print(f"mutation: {source[0]} is left out: {reason}")
            return None
        base.mutants = {}
        for mutant in mutants.enumerate_mutants(base.text):
            if (not mutant.kernel or mutant.kernel in base.kernels) and (not self.only_class or mutant.kind == self.only_class):
                base.mutants.setdefault(mutant.line, {}).setdefault(mutant.kind, []).append(mutant)
        self.prepared[source[0]] = base
        self.bases.append(base)
        return base if base.mutants else None

    def take(self, base):
        """One of a file's mutants, which is then gone."""
        line = self.random.choice(sorted(base.mutants))
        kinds = base.mutants[line]
        kind = self.random.choice(sorted(kinds))
        mutant = kinds[kind].pop(self.random.randrange(len(kinds[kind])))
        if not kinds[kind]:
            del kinds[kind]
        if not kinds:
            del base.mutants[line]
        return mutant

    def next_base(self, group, turn):
        """The Base that is next in a group; none: the group has no more."""
        while sources := self.groups[group]:
            for place in range(turn[group], turn[group] + 1 + min(self.ahead, len(sources) - 1)):
                source = sources[place % len(sources)]
                if source[0] not in self.prepared:
                    self.prepared[source[0]] = self.prepare(source)
            place = turn[group] % len(sources)
            if base := self.base_of(sources[place]):
                turn[group] = place + 1
                return base
            turn[group] = place
            del sources[place]
        return None

    def __iter__(self):
        turn = collections.Counter()
        order = [name for name, share in SHARES.items() for _ in range(share)]
        while any(self.groups.values()):
            for group in order:
                if self.groups.get(group) and (base := self.next_base(group, turn)):
                    mutant = self.take(base)
                    if not base.mutants:
                        turn[group] -= 1
                        del self.groups[group][turn[group]]
                    yield base, mutant


# ---------------------------------------------------------------- one mutant

DETECTED, MISSED, UNREACHED, SAME, REFUSED, FALSE_ALARM, UNDECIDED, UNINFECTED, RACES = (
    "detected", "missed", "not reached", "same code", "refused", "false alarm", "undecided", "not infected", "races")
COUNTED = (DETECTED, MISSED, UNDECIDED, UNINFECTED)


def is_reached(base, mutant):
    return mutant.line in (base.reached if mutant.guard or mutant.kind == "branch" else base.executed)


def missed(tool, base, path, kernel, line):
    """Of a mutant that verify calls equal: has its instruction ever done something else?"""
    verdicts = json.loads(run([tool, "verify", base.path, path, *kernel, "--format", "json", "--coverage"]).stdout)
    changed = set().union(*(verdict["changed"] for verdict in verdicts))
    if line not in changed:
        return UNINFECTED, ""
    said = f"and {len(changed) - 1} more lines compute something else"
    if differing := sum(verdict["undetermined_differences"] for verdict in verdicts):
        said += f"; they differ on {differing} inputs on which the original's result is not determined"
    return MISSED, said


def examine(tool, work, base, mutant):
    """-> (outcome, what verify said)"""
    if not is_reached(base, mutant):
        return UNREACHED, ""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        path = os.path.join(folder, "mutant.ptx")
        with open(path, "w", encoding="utf-8") as file:
            file.write(mutants.apply(base.text, mutant))
        try:
            fingerprint = machine_code.fingerprint(machine_code.assemble(path, base.arch))
        except machine_code.AssemblyError as error:
            return REFUSED, str(error)
        kernel = ["--kernel", mutant.kernel] if mutant.kernel else []
        verify = run([tool, "verify", base.path, path, *kernel, "--format", "json"])
        said = verify.stdout + verify.stderr
        if verify.returncode not in (0, 1, 2) or not verify.stdout:
            raise SystemExit(f"mutation: verify ends with status {verify.returncode} on {base.name}:{mutant.line}: {mutant.new}\n{said}")
        different = verify.returncode == 1
        if machine_code.same(base.fingerprint, fingerprint):
            undefined = "the second file fails: " in said  # the machine code does not care
            return (FALSE_ALARM if different and not undefined else SAME), said
        if different:
            return DETECTED, said
        # A function may be called by kernels that cannot be compared even with themselves.
        open_ones = {verdict["reason"] for verdict in json.loads(verify.stdout)
                     if verdict["kernel"] in base.kernels and verdict["verdict"] != "equal"}
        if "not determined" in open_ones:
            return RACES, said
        return (UNDECIDED, said) if open_ones else missed(tool, base, path, kernel, mutant.line)


def keep(work, base, mutant, outcome, said):
    folder = os.path.join(work, "missed")
    name = f"{base.name.replace('/', '-')}-{mutant.line}-{mutant.kind}"
    with open(os.path.join(folder, name + ".ptx"), "w", encoding="utf-8") as file:
        file.write(mutants.apply(base.text, mutant))
    with open(os.path.join(folder, name + ".txt"), "w", encoding="utf-8") as file:
        file.write(f"{outcome}\n{base.path}:{mutant.line}\n- {mutant.old}\n+ {mutant.new}\n{said}")


# ---------------------------------------------------------------- figures

COLUMNS = [DETECTED, MISSED, UNDECIDED, UNINFECTED, SAME, FALSE_ALARM, UNREACHED, RACES, REFUSED]


def table(title, rows):
    """rows: name -> Counter of outcomes"""
    width = max(len(title), *(len(name) for name in rows)) + 2
    print(f"\n{title:{width}}{'drawn':>8}" + "".join(f"{column:>13}" for column in COLUMNS) + "   share  of infected")
    for name, row in rows.items():
        counted = sum(row[outcome] for outcome in COUNTED)
        share = "  ".join(f"{row[DETECTED] / of:7.1%}" if of else "      -" for of in (counted, counted - row[UNINFECTED]))
        print(f"{name:{width}}{sum(row.values()):8}" + "".join(f"{row[column]:13}" for column in COLUMNS) + f"  {share}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.path.join(ROOT, "build", "release", "ptxopt"))
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "mutation"))
    parser.add_argument("--least", type=float, default=GOAL, help="fail below this share of the infected mutants")
    parser.add_argument("--least-reached", type=float, default=0, help="fail below this share of all that count")
    parser.add_argument("--count", type=int, default=300, help="mutants that count")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="*", help="files whose name fits")
    parser.add_argument("--class", dest="kind", choices=mutants.CLASSES)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    tool, work = os.path.abspath(args.tool), os.path.abspath(args.work)
    if not machine_code.find_ptxas():
        print("mutation: no ptxas: whether a mutant changes the machine code cannot be told; nothing is tested")
        return 0
    shutil.rmtree(os.path.join(work, "missed"), ignore_errors=True)
    for folder in ("base", "missed"):
        os.makedirs(os.path.join(work, folder), exist_ok=True)

    start = time.time()
    by_class = {kind: collections.Counter() for kind in mutants.CLASSES if not args.kind or kind == args.kind}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        found = [source for source in sources(work) if fnmatch.fnmatch(source[0], args.only)]
        counted, lost = 0, []
        drawing = Draw(found, lambda source: pool.submit(prepare, tool, work, *source), args.jobs, args.seed, args.kind)
        draws, ahead, by_file = iter(drawing), collections.deque(), collections.defaultdict(collections.Counter)
        while counted < args.count:
            while len(ahead) < 2 * args.jobs and (drawn := next(draws, None)):
                ahead.append((*drawn, pool.submit(examine, tool, work, *drawn)))
            if not ahead:
                break
            base, mutant, future = ahead.popleft()
            outcome, said = future.result()
            by_class[mutant.kind][outcome] += 1
            if mutant.kind != "barrier":
                by_file[base.name][outcome] += 1
                counted += outcome in COUNTED
            if outcome in (MISSED, UNDECIDED, UNINFECTED, FALSE_ALARM):
                lost.append((base, mutant, outcome, said if outcome == MISSED else ""))
                keep(work, base, mutant, outcome, said)
        pool.shutdown(cancel_futures=True)
        print(f"mutation: {len(drawing.bases)} of {len(found)} files, {sum(len(base.kernels) for base in drawing.bases)} kernels")

    for base, mutant, outcome, said in lost:
        print(f"{outcome}: {base.name}:{mutant.line} ({mutant.kind}): {mutant.old.strip()}  ->  {mutant.new.strip() or 'nothing'}"
              + (f"  [{said}]" if said else ""))
    table("class", {kind: row for kind, row in by_class.items() if row})
    table("file (without barriers)", {name: row for name, row in by_file.items() if row})
    total = sum((row for kind, row in by_class.items() if kind != "barrier"), collections.Counter())
    if not counted:
        print("\nmutation: no mutant that counts was drawn")
        return 1
    infected = counted - total[UNINFECTED]
    share = total[DETECTED] / infected if infected else 1
    barriers = by_class.get("barrier", collections.Counter())
    print(f"\nmutation: {total[DETECTED]} of {counted} mutants with other machine code whose instruction is reached are detected, "
          f"{total[DETECTED] / counted:.1%} (at least {args.least_reached:.0%}); of the {infected} that computed something else on some input {share:.1%} "
          f"(goal: {GOAL:.0%}; here at least {args.least:.0%}); of removed barriers {barriers[DETECTED]} of {sum(barriers[x] for x in COUNTED)} "
          f"({time.time() - start:.0f} s)")
    return 0 if share >= args.least and total[DETECTED] / counted >= args.least_reached else 1


if __name__ == "__main__":
    sys.exit(main())
