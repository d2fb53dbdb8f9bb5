#!/usr/bin/env python3
"""ptxopt tune: never worse than the input, the same whenever it is made again, and safe whatever ptxas does.

  tests/cli/tune/run.py --tool PTXOPT [-j N]            the tests
  tests/cli/tune/run.py --tool PTXOPT --table [--arch ARCH] [PTX...]
                                                    what is gained, on the kernels of samples/ and tests/codegen/loops, or on the files named,
                                                    and how often each variant is chosen

Kernels: those of samples/, tests/inputs/hazards and, where there is nvcc, two files of tests/codegen/loops; with --table all of these files.
Without ptxas the script says so and ends with status 77.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parents[1] / "lib"))
import guard_rule  # noqa: E402
import machine_code  # noqa: E402
from checking import Failure, check  # noqa: E402
from compilers import find  # noqa: E402

LIMIT = 300  # seconds
NO_PTXAS = 77
LEAST_KERNELS = 30
NO_CACHE = {"PTXOPT_CACHE_DIR": ""}

SHARED_FUNCTION = """.version 7.0
.target sm_80
.address_size 64
.func (.param .b32 result) twice(.param .b32 value)
{
	.reg .b32 %r<3>;
	ld.param.b32 %r1, [value];
	add.s32 %r2, %r1, %r1;
	st.param.b32 [result], %r2;
	ret;
}
"""
CALLER = """.visible .entry NAME(.param .u64 p)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	ld.u32 %r1, [%rd1];
	{
	.param .b32 in;
	st.param.b32 [in], %r1;
	.param .b32 out;
	call.uni (out), twice, (in);
	ld.param.b32 %r2, [out];
	}
	st.u32 [%rd1], %r2;
	ret;
}
"""

WARPS = ("--objective", "warps")  # by which gemm.ptx has a better variant


class Tuned:
    """One run of the tool, with all that it wrote."""

    def __init__(self, tool, path, folder, *arguments, code=0, environment=None, name="t"):
        self.ptx, self.json, self.saved = (folder / f"{name}.{end}" for end in ("ptx", "json", "saved"))
        outputs = [] if "--apply" in arguments else ["--report", self.json, "--save", self.saved]
        run = subprocess.run([tool, "tune", path, "-o", self.ptx, *outputs, *arguments], capture_output=True, text=True,
                             errors="replace", timeout=LIMIT, env={**os.environ, **(environment or {})})
        self.message = run.stderr
        check(run.returncode == code, f"{path}: tune {' '.join(map(str, arguments))}: status {run.returncode}, not {code}:", run.stderr)
        if code != 0:
            check(not any(p.exists() for p in (self.ptx, self.json, self.saved)), f"{path}: it failed and wrote something")

    def text(self):
        return self.ptx.read_bytes()

    def report(self):
        return json.loads(self.json.read_text())


def is_worse(before, after, objective):
    """By the rule that goes with an objective."""
    rule = guard_rule.RULES["time" if objective == "time" else "warps"]
    return rule(before, after) > 0


def order(figures):
    """Smaller is better: the guard's order by warps."""
    return figures["spill-stores"] + figures["spill-loads"], -figures["warps"], figures["instructions"]


def measured(path, arch):
    """kernel -> figures, as whole programs have them: relocatable code differs."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "a.cubin"
        run = subprocess.run([machine_code.find_ptxas(), "-v", f"-arch={arch}", path, "-o", cubin], capture_output=True, text=True)
        check(run.returncode == 0, path, "is refused by ptxas:", run.stderr)
        return machine_code.stats(machine_code.Assembled(machine_code.read_sections(cubin.read_bytes()), run.stderr))


def has_calls(text):
    return b"call" in text


# ---------------------------------------------------------------- the tests

def check_report(path, report):
    """It is whole: each candidate has a verdict, what was chosen is one of them, and no kernel is worse."""
    kernels = 0
    for f in report["functions"]:
        chosen = [c for c in f["candidates"] if c["result"] == "measured" and "rejected" not in c]
        if "before" not in f:
            continue
        kernels += f["kind"] == "entry"
        check(len(chosen) == 1 and chosen[0]["variant"] == f["variant"] and chosen[0]["options"] == f["options"],
              path, f["name"], "has several that are chosen, or none:", [c["variant"] for c in chosen])
        check(f["candidates"][0]["variant"] == "input" and f["candidates"][0]["measures"] == f["before"], path, f["name"],
              "does not begin with the input")
        check(not is_worse(f["before"], f["after"], report["objective"]), path, f["name"], "is worse:", f["before"], f["after"])
        check(chosen[0]["measures"] == f["after"], path, f["name"], "was chosen for other figures than it has")
        best = order(f["after"])
        for c in f["candidates"]:
            if c["result"] == "measured" and c.get("rejected") == "not-better" and report["objective"] == "warps":
                check(order(c["measures"]) >= best, path, f["name"], f"{c['variant']} is better than {f['variant']}")
            check(c["result"] in ("measured", "same-text", "no-limit", "not-in-code"), path, f["name"], c)
    return kernels


def check_figures(path, out, report):
    """What the report says is what ptxas says of the files, asked by another program."""
    for side, file in (("before", path), ("after", out)):
        if has_calls(Path(path).read_bytes()):
            continue  # what it calls may be somewhere else
        figures = measured(file, report["architecture"])
        for f in report["functions"]:
            if side in f and f["name"] in figures:
                real = figures[f["name"]]
                mine = {"registers": f[side]["registers"], "spill_stores": f[side]["spill-stores"],
                        "spill_loads": f[side]["spill-loads"], "instructions": f[side]["instructions"], "stack": f[side]["stack"]}
                check(all(real[key] == value for key, value in mine.items()), file, f["name"], side, "is", real, "and not", mine)


def check_file(tool, path, work):
    """All that must hold for any file; the number of its kernels."""
    folder = Path(tempfile.mkdtemp(dir=work))
    one = Tuned(tool, path, folder, "-j", "1", "-q", name="one")
    two = Tuned(tool, path, folder, "-j", "2", "-q", name="two")
    for a, b in ((one.ptx, two.ptx), (one.json, two.json), (one.saved, two.saved)):
        check(a.read_bytes() == b.read_bytes(), path, "-j 1 and -j 2 differ in", a.suffix)
    report = one.report()
    kernels = check_report(path, report)
    check_figures(path, one.ptx, report)
    applied = Tuned(tool, path, folder, "--apply", one.saved, "-j", "2", environment={"PTXOPT_PTXAS": "none"}, name="applied")
    check(applied.text() == one.text(), path, "--apply makes another text")
    return kernels


def counted_ptxas(folder, action, after):
    """A ptxas that does `action` in the runs behind the first so many, --version not counted; its path."""
    path = folder / f"ptxas-{action.split()[0].strip('/')}-{after}"
    count = folder / (path.name + ".count")
    path.write_text(f"""#!/bin/bash
if [ "$1" != --version ]; then
  exec 9>>{count}; flock 9; echo x >&9
  n=$(wc -l < {count}); flock -u 9; exec 9>&-
  if [ $n -gt {after} ]; then {action}; fi
fi
exec {machine_code.find_ptxas()} "$@"
""")
    path.chmod(0o755)
    return path


def check_bad_ptxas(tool, work):
    """One that fails, hangs, crashes or writes garbage from some run on: what comes out is not worse, or nothing does."""
    folder = Path(tempfile.mkdtemp(dir=work))
    path = ROOT / "samples" / "kernels" / "attention.ptx"
    good = Tuned(tool, path, folder, "-q", name="good", environment=NO_CACHE)
    check(good.text() != path.read_bytes(), "nothing is gained on", path)
    out_option = 'while [ $# -gt 1 ]; do [ "$1" = -o ] && echo garbage > "$2"; shift; done; exit 0'
    for action in ("exit 1", "kill -9 $$", "sleep 100", "exit 0", out_option, "echo 'ptxas fatal : error' >&2; exit 255"):
        hangs = action.startswith("sleep")
        for after in (1,) if hangs else (0, 1, 2, 4):
            ptxas = counted_ptxas(folder, action, after)
            limit = ["--timeout", "5", "-j", "8"] if hangs else []  # a busy machine takes its time for good runs, too
            if after == 0:
                Tuned(tool, path, folder, "-q", "--ptxas", ptxas, *limit, code=2, name=f"bad-{ptxas.name}", environment=NO_CACHE)
                ptxas.with_name(ptxas.name + ".count").unlink()
                continue
            bad = Tuned(tool, path, folder, "-q", "--ptxas", ptxas, *limit, name=f"bad-{ptxas.name}", environment=NO_CACHE)
            ptxas.with_name(ptxas.name + ".count").unlink()
            for f in bad.report()["functions"]:
                check(not is_worse(f["before"], f["after"], "time"), action, after, f["name"], "is worse")
                failed = [c for c in f["candidates"] if c["result"] == "failed"]
                check(failed or "trouble" in bad.report(), action, after, "does not show in the report")
                check(all(c["detail"] for c in failed), action, after, "has no reason")
            if after == 1:
                check(bad.text() == path.read_bytes(), action, "only the input was measured, and something else came out")
    # It takes everything but the whole: then nothing is changed, and a warning says why.
    runs = good.report()["runs"]
    ptxas = counted_ptxas(folder, "exit 1", 1 + runs)
    bad = Tuned(tool, path, folder, "--ptxas", ptxas, name="whole", environment=NO_CACHE)
    check(bad.text() == path.read_bytes() and "nothing was tuned" in bad.message, "the last run fails:", bad.message)


def check_budget(tool, work):
    folder = Path(tempfile.mkdtemp(dir=work))
    path = ROOT / "samples" / "kernels" / "gemm.ptx"
    none = Tuned(tool, path, folder, "--budget", "0", name="none")
    check(none.text() == path.read_bytes(), "a budget of 0 changes the text")
    states = {c["result"] for f in none.report()["functions"] for c in f["candidates"][1:]}
    check(states <= {"not-tried", "no-limit", "same-text"} and "not-tried" in states, "a budget of 0:", states)
    enough = Tuned(tool, path, folder, "--budget", "1000", "-q", *WARPS, name="enough")
    free = Tuned(tool, path, folder, "-q", *WARPS, name="free")
    check(enough.text() == free.text() != path.read_bytes(), "a budget that is enough changes what comes out")
    # What runs when the time is up is stopped.
    slow = counted_ptxas(folder, "sleep 60", 1)
    cut = Tuned(tool, path, folder, "--budget", "1", "--ptxas", slow, "-q", name="cut")
    check(cut.text() == path.read_bytes() and cut.report()["not-tried"] > 0, "a run beyond the budget is waited for")


def check_apply(tool, work):
    """A choice for another file, by another ptxopt, or that is no choice."""
    folder = Path(tempfile.mkdtemp(dir=work))
    gemm, spmv = (ROOT / "samples" / "kernels" / name for name in ("gemm.ptx", "spmv.ptx"))
    good = Tuned(tool, gemm, folder, "-q", *WARPS, name="good")
    wrong = Tuned(tool, spmv, folder, "--apply", good.saved, code=2, name="wrong")
    check("made for another text" in wrong.message, wrong.message)
    stale = Tuned(tool, spmv, folder, "--apply", good.saved, "--apply-stale", name="stale")
    check(stale.text() == spmv.read_bytes() and "there is no function gemm" in stale.message, stale.message)
    # The same kernel with a comment behind it takes the choice.
    longer = folder / "longer.ptx"
    longer.write_bytes(gemm.read_bytes() + b"// more\n")
    stale = Tuned(tool, longer, folder, "--apply", good.saved, "--apply-stale", name="longer-tuned")
    check(stale.text() == good.text() + b"// more\n", "--apply-stale makes something else")

    choice = json.loads(good.saved.read_text())
    def broken(name, change, code, word):
        copy = json.loads(json.dumps(choice))
        path = folder / f"{name}.choice"
        path.write_text(change(copy) or json.dumps(copy))
        run = Tuned(tool, gemm, folder, "--apply", path, code=code, name=name)
        check(word in run.message, name, run.message)
    recipe = lambda c: c["functions"][0]["options"]  # noqa: E731
    broken("not-json", lambda c: "{", 2, "not-json.choice")
    broken("other-json", lambda c: "{}", 2, "not a file that ptxopt tune --save wrote")
    broken("array", lambda c: "[1]", 2, "not a file that ptxopt tune --save wrote")
    broken("format", lambda c: c.update(format=99), 2, "format 99")
    broken("no-input", lambda c: c.pop("input") and None, 2, "no-input.choice")
    broken("output", lambda c: c.update(output="0"), 1, "makes another text")
    broken("pass", lambda c: recipe(c).update(passes=["no-such-pass"]), 2, "no-such-pass")
    broken("knob", lambda c: recipe(c).update(knobs={"no-such-knob": 1}), 2, "no-such-knob")
    broken("knob-value", lambda c: recipe(c).update(knobs={"lsr-selection": "best"}), 2, "lsr-selection")
    broken("knob-range", lambda c: recipe(c).update(knobs={"split-registers": 9999}), 2, "split-registers")
    broken("limit", lambda c: recipe(c).update(maxnreg=0), 2, "maxnreg")
    broken("more", lambda c: recipe(c).update(other=1), 2, "'other' is not known")
    broken("arch", lambda c: c.update(architecture="sm_80; rm"), 2, "architecture")
    Tuned(tool, gemm, folder, "--apply", good.saved, "--arch", "sm_90", code=2, name="other-arch")
    Tuned(tool, gemm, folder, "--apply", good.saved, "--budget", "1", code=2, name="budget")
    Tuned(tool, gemm, folder, "--apply", folder / "none", code=2, name="none")


def check_units(tool, work):
    """Kernels that share a function are one unit and get no limits; a limit that is there stays the only one."""
    folder = Path(tempfile.mkdtemp(dir=work))
    path = folder / "shared.ptx"
    path.write_text(SHARED_FUNCTION + CALLER.replace("NAME", "first") + CALLER.replace("NAME", "second"))
    functions = Tuned(tool, path, folder, "-q", name="shared").report()["functions"]
    check([f["name"] for f in functions] == ["twice", "first", "second"], functions)
    check(len({f["unit"] for f in functions}) == 1, "a shared function does not join its callers")
    for f in functions[1:]:
        limits = [c for c in f["candidates"] if c["variant"].startswith("maxnreg")]
        check(limits and all(c["result"] == "no-limit" and c["detail"] == "calls" for c in limits), limits)
    check(all(f["options"] == functions[0]["options"] for f in functions), "one unit got several recipes")

    attention = (ROOT / "samples" / "kernels" / "attention.ptx").read_text()
    limited = folder / "limited.ptx"
    limited.write_text(re.sub(r"\n\{", "\n.maxnreg 96\n{", attention, count=1))
    run = Tuned(tool, limited, folder, "-q", name="limited")
    check(run.ptx.read_text().count(".maxnreg") == 1, "a second .maxnreg")
    details = {c.get("detail") for f in run.report()["functions"] for c in f["candidates"] if c["variant"].startswith("maxnreg")}
    check(details == {"has-limit"}, details)

    debug = folder / "debug.ptx"
    debug.write_text(re.sub(r"(\.target \w+)", r"\1, debug", attention, count=1))
    run = Tuned(tool, debug, folder, name="debugged")
    check(run.text() == debug.read_bytes() and "compiled for debugging" in run.message, run.message)


def mean_cycles(figures):
    return math.prod(figures["cycles"]["whole"]) ** (1 / 3)


def check_objectives(tool, work):
    """Each objective has the best figures by its own order, and none is worse than the input."""
    folder = Path(tempfile.mkdtemp(dir=work))
    key = {"time": mean_cycles, "warps": order, "sass": lambda f: f["instructions"], "inner": lambda f: f["inner"], "regs": lambda f: f["registers"]}
    for name in ("gemm", "attention", "spmv"):
        path = ROOT / "samples" / "kernels" / f"{name}.ptx"
        results = {}
        for objective in key:
            report = Tuned(tool, path, folder, "-q", "--objective", objective, name=f"{name}-{objective}").report()
            for f in report["functions"]:
                check(not is_worse(f["before"], f["after"], objective), name, objective, "is worse")
                results.setdefault(f["name"], {})[objective] = f["after"]
        for kernel, found in results.items():
            check(all(mean_cycles(found["time"]) <= 1.005 * mean_cycles(f) for f in found.values()
                      if not is_worse(found["time"], f, "time")), kernel, "another objective has less time:", found)
            # Limits depend on what was chosen before them: only kernels without are comparable in all of these.
            for objective in ("sass", "inner", "regs"):
                check(key[objective](found[objective]) <= key[objective](found["warps"]) or
                      found["warps"]["warps"] > found[objective]["warps"], kernel, objective, found)
    Tuned(tool, path, folder, "--objective", "speed", code=2, name="speed")


def check_usage(tool, work):
    folder = Path(tempfile.mkdtemp(dir=work))
    path = ROOT / "samples" / "saxpy.ptx"
    check("there is no ptxas" in Tuned(tool, path, folder, code=2, environment={"PTXOPT_PTXAS": "none"}, name="none").message,
          "no ptxas is not said")
    bad = folder / "bad.ptx"
    bad.write_text("no PTX\n")
    Tuned(tool, bad, folder, code=3, name="bad-tuned")
    Tuned(tool, folder / "missing.ptx", folder, code=2, name="missing-tuned")
    Tuned(tool, path, folder, "--arch", "sm_1", code=2, name="arch")
    refused = folder / "refused.ptx"
    refused.write_text(path.read_text().replace("fma.rn.f32", "fmaq.rn.f32"))
    check("fmaq" in Tuned(tool, refused, folder, code=2, name="refused-tuned").message, "what ptxas says is not shown")
    empty = folder / "empty.ptx"
    empty.write_text(".version 7.0\n.target sm_80\n.address_size 64\n")
    check(Tuned(tool, empty, folder, name="empty-tuned").text() == empty.read_bytes(), "a module without functions is changed")
    table = Tuned(tool, ROOT / "samples" / "kernels" / "gemm.ptx", folder, *WARPS, name="gemm").message
    check(re.search(r"gemm\s+\d+ -> \d+\s+\d+ -> \d+", table) and "1 kernels for sm_80: 1 better" in table, table)


def check_computes_the_same(tool, work):
    folder = Path(tempfile.mkdtemp(dir=work))
    for name in ("gemm", "spmv", "softmax"):
        path = ROOT / "samples" / "kernels" / f"{name}.ptx"
        run = Tuned(tool, path, folder, "-q", "--verify", name=name)
        check("could not be verified" not in run.message, run.message)


# ---------------------------------------------------------------- the files

def own_files():
    return sorted([*(ROOT / "samples").glob("*.ptx"), *(ROOT / "samples" / "kernels").glob("*.ptx")])


def hazards():
    """Those that ptxas takes."""
    return [path for path in sorted((HERE.parents[1] / "inputs" / "hazards").glob("*.ptx")) if takes(path)]


def takes(path):
    try:
        machine_code.assemble(str(path))
        return True
    except machine_code.AssemblyError:
        return False


def loops(work, names, arch):
    """The kernels of tests/codegen/loops as nvcc makes them; none without nvcc."""
    nvcc = find("NVCC", "nvcc")
    if not nvcc:
        return []
    made = []
    for name in names:
        path = work / f"{name}-{arch}.ptx"
        run = subprocess.run([nvcc, "-O3", f"-arch={arch}", "-ptx", HERE.parents[1] / "codegen" / "loops" / "kernels" / f"{name}.cu", "-o", path],
                             capture_output=True, text=True, timeout=LIMIT)
        if run.returncode == 0:
            made.append(path)
        else:
            print(f"nvcc does not compile {name}.cu: {run.stderr.strip()[:200]}")
    return made


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 1


def table_row(tool, name, files, work, jobs, options, chosen):
    folder = Path(tempfile.mkdtemp(dir=work))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        reports = list(pool.map(lambda i: Tuned(tool, files[i], folder, "-q", *options, name=str(i)).report(), range(len(files))))
    for f in (f for r in reports for f in r["functions"] if f["kind"] == "entry"):
        chosen.update({c["variant"]: c["variant"] == f["variant"] for c in f["candidates"]})
    rows = [(f["before"], f["after"]) for r in reports for f in r["functions"] if f["kind"] == "entry" and "before" in f]
    signs = [guard_rule.by_time(before, after) for before, after in rows]
    check(max(signs) <= 0, f"{sum(sign > 0 for sign in signs)} kernels are worse")
    # Cycles of the whole where they are of the same work.
    timed = [(b["cycles"]["whole"], a["cycles"]["whole"]) for b, a in rows
             if b["cycles"] and a["cycles"] and guard_rule.by_cycles(b["cycles"], a["cycles"], b["stack"] == a["stack"])[1]]
    lifted = sum(any(y <= .95 * x for x, y in zip(*pair)) and not any(guard_rule.is_longer(x, y) for x, y in zip(*pair)) for pair in timed)
    cycles = [f"{geometric_mean([a[s] / b[s] for b, a in timed]):.3f}" for s in range(len(guard_rule.SCENARIOS))]
    ratio = lambda key: f"{geometric_mean([a[key] / b[key] for b, a in rows if a[key] and b[key]]):.3f}"  # noqa: E731
    return [name, len(rows), sum(sign < 0 for sign in signs), lifted, ", ".join(cycles), ratio("instructions"), ratio("inner"),
            sum(a["warps"] > b["warps"] for b, a in rows)]


HEADS = ["kernels of", "kernels", "better", "5% faster in a scenario", "cycles of the whole: L1, L2, DRAM", "instructions", "innermost loops",
         "more resident warps"]


def print_table(tool, files, work, jobs, options):
    groups = [("named", files)] if files else [
        ("samples", own_files()),
        *((f"tests/codegen/loops, nvcc, {arch}", loops(work, sorted(p.stem for p in (HERE.parents[1] / "codegen" / "loops" / "kernels").glob("*.cu")), arch))
          for arch in ("sm_80", "sm_90"))]
    print("| " + " | ".join(HEADS) + " |\n|" + "---|" * len(HEADS))
    chosen = collections.Counter()
    for name, some in groups:
        if some:
            print("| " + " | ".join(map(str, table_row(tool, name, some, work, jobs, options, chosen))) + " |", flush=True)
    print("\nchosen: " + ", ".join(f"{variant} {times}" for variant, times in chosen.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--arch", help="with --table, the architecture; else that of each file")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    if not machine_code.find_ptxas():
        print("skipped: no ptxas")
        return NO_PTXAS
    tool = os.path.abspath(args.tool)
    # What real ptxas runs answer may come from a cache, but from one of this run alone.
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        os.environ["PTXOPT_CACHE_DIR"] = str(work / "cache")
        os.environ["PTXOPT_PTXAS"] = machine_code.find_ptxas()
        if args.table:
            print_table(tool, [Path(f) for f in args.files], work, args.jobs, [f"--arch={args.arch}"] if args.arch else [])
            return 0
        failures, kernels = [], 0
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            files = [*own_files(), *hazards(), *loops(work, ["dense", "sparse"], "sm_80")]
            jobs = {pool.submit(check_file, tool, path, work): path.name for path in files}
            tests = (check_bad_ptxas, check_budget, check_apply, check_units, check_objectives, check_usage, check_computes_the_same)
            jobs.update({pool.submit(test, tool, work): test.__name__ for test in tests})
            for job in concurrent.futures.as_completed(jobs):
                try:
                    kernels += job.result() or 0
                except (Failure, subprocess.SubprocessError, OSError, KeyError, ValueError) as error:
                    failures.append(f"{jobs[job]}: {type(error).__name__}: {error}")
    print("\n".join(failures) or f"{kernels} kernels, none of them worse; the other {len(tests)} tests hold")
    if kernels < LEAST_KERNELS:
        print(f"only {kernels} kernels were looked at, fewer than {LEAST_KERNELS}")
        return 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
