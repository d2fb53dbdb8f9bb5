#!/usr/bin/env python3
"""The guard: a kernel that gets worse keeps its text, with the device functions it calls.

  tests/guard/run.py --tool PATH

Between ptxopt and the real ptxas stands a script that alters the text which ptxas gets: a kernel with a mark in it whose
dead instruction is gone, or that of a function which it calls, gets two stores more. So each kernel's fate is known
apart from what ptxas makes of our passes. Skipped (77) without ptxas.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FAILURES, CHECKS = [], 0

# Each function: what stands in it, and what is added if the dead `mov` is gone from the text that ptxas gets.
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
WORSE = "st.global.u32 [%rd1+64], %r3; st.global.u32 [%rd1+128], %r3;"


def kernel(name, calls="", marked=False):
    """A kernel with one dead instruction; `marked` ones are assembled with more stores when that is gone."""
    mark = f"// mark {name}\n  " if marked else ""
    return f"""
.visible .entry {name}(.param .u64 p) {{
  .reg .b32 %r<9>;
  .reg .b64 %rd<3>;
  mov.u32 %r8, 7;  // dead in {name}
  {mark}ld.param.u64 %rd1, [p];
  ld.global.u32 %r3, [%rd1];
  {calls}
  st.global.u32 [%rd1+4], %r3;
  ret;
}}
"""


def function(name, calls=""):
    return f"""
.func (.reg .u32 r) {name}(.reg .u32 a) {{
  .reg .b32 %r<9>;
  mov.u32 %r8, 7;  // dead in {name}
  {calls}
  mul.lo.u32 r, a, a;
  ret;
}}
"""


def call(name):
    return f"call.uni (%r3), {name}, (%r3);"


# Stands between ptxopt and ptxas. A kernel with a mark whose dead instruction is gone gets two stores more.
FAKE = r"""#!/usr/bin/env python3
import re, subprocess, sys
args = sys.argv[1:]
at = next((i for i, a in enumerate(args) if a.endswith(".ptx")), None)
if at is not None:
    text = open(args[at]).read()
    with open({log!r}, "a") as log:
        log.write(args[at] + "\n")
    for name in re.findall(r"// mark (\w+)", text):
        watched = {watch!r}.get(name, name)
        if f"dead in {{watched}}\n" not in text or not re.search(r"mov\.u32 %r8, 7;[^\n]*dead in " + watched, text):
            text = text.replace(f"// mark {{name}}\n", f"// mark {{name}}\n", 1)
            head, tail = text.split(f"// mark {{name}}\n", 1)
            tail = tail.replace("ret;", {worse!r} + " ret;", 1)
            text = head + tail
    if {refuse!r} and "mov.u32 %r8" not in text:
        print("ptxas: error: no", file=sys.stderr)
        sys.exit(1)
    open(args[at], "w").write(text)
sys.exit(subprocess.run([{real!r}, *args]).returncode)
"""


def check(holds, message):
    global CHECKS
    CHECKS += 1
    if not holds:
        FAILURES.append(message)


def run(tool, *arguments, env=None):
    environment = {**os.environ, "PTXOPT_CACHE_DIR": "", **(env or {})}
    return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=120)


class Bench:
    def __init__(self, tool, folder, real):
        self.tool, self.folder, self.real = tool, folder, real
        self.log = folder / "log"

    def fake(self, watch=None, refuse=False):
        script = self.folder / "fake ptxas"
        script.write_text(FAKE.format(log=str(self.log), watch=watch or {}, worse=WORSE, refuse=refuse, real=self.real))
        script.chmod(0o755)
        return script

    def optimize(self, text, *arguments, watch=None, refuse=False, env=None):
        """(exit code, output, report, standard error, how often ptxas ran)"""
        source, out, report = (self.folder / name for name in ("in.ptx", "out.ptx", "report.json"))
        for old in (out, report, self.log):
            old.unlink(missing_ok=True)
        source.write_text(HEAD + text)
        done = run(self.tool, source, "-o", out, "--report", report, "--passes=live-dead", "--guard=ptxas", "-v",
                   "--ptxas", self.fake(watch, refuse), *arguments, env=env)
        runs = len(self.log.read_text().splitlines()) if self.log.exists() else 0
        output = out.read_text() if out.exists() else None
        return done.returncode, output, json.loads(report.read_text()) if report.exists() else None, done.stderr, runs


def changed(output, names):
    """Which of these functions lost their dead instruction."""
    return sorted(name for name in names if f"mov.u32 %r8, 7;  // dead in {name}" not in output)


def kept(report):
    return {f["name"]: f["reason"] for f in report["guard"]["kept"]}


def test_kernels(bench):
    names = ["a", "b", "c"]
    text = kernel("a") + kernel("b", marked=True) + kernel("c")
    code, output, report, messages, runs = bench.optimize(text)
    check(code == 0 and changed(output, names) == ["a", "c"], f"one of three: {code} {messages}")
    check(kept(report) == {"b": "sass"}, f"why it was kept: {kept(report)}")
    check("b: kept as it was: sass" in messages, f"what is said: {messages}")
    check(runs == 2, f"kernels that share nothing are not compared again: {runs} runs")
    figures = {side: {f["name"]: f["instructions"] for f in report["guard"][side]} for side in ("before", "after")}
    check(figures["before"] == figures["after"], f"the figures are those of the output: {figures}")
    # Nothing is worse.
    code, output, report, messages, runs = bench.optimize(kernel("a") + kernel("b"))
    check(changed(output, ["a", "b"]) == ["a", "b"] and kept(report) == {} and runs == 2, f"nothing worse: {messages}")
    # Nothing to do: ptxas is not asked.
    _, output, report, _, runs = bench.optimize(kernel("a").replace("mov.u32 %r8, 7;", ""))
    check(runs == 0 and not report["guard"]["asked"], "a text without changes is not compared")


def test_calls(bench):
    """`b` is worse by what was done to the function that it calls; `a` calls that too."""
    text = function("leaf") + function("middle", "call.uni (r), leaf, (a);") + kernel("a", call("leaf")) + \
        kernel("b", call("middle"), marked=True) + kernel("c")
    code, output, report, messages, runs = bench.optimize(text, watch={"b": "leaf"})
    check(changed(output, ["a", "b", "c", "leaf", "middle"]) == ["a", "c"], f"callees are kept: {messages}")
    check(kept(report) == {"b": "sass", "leaf": "called-by", "middle": "called-by"}, f"why: {kept(report)}")
    check(runs == 3, f"`a` shares what was kept and is compared again: {runs} runs")
    # Keeping `leaf` for `b` makes `a` worse only then: everything ends as it was.
    text = function("leaf") + kernel("a", call("leaf"), marked=True) + kernel("b", call("leaf"), marked=True)
    _, output, report, messages, _ = bench.optimize(text, watch={"a": "a", "b": "leaf"})
    check(changed(output, ["a", "b", "leaf"]) == [], f"both are kept: {messages}")


def test_trouble(bench, folder):
    text = kernel("a")
    code, output, report, messages, _ = bench.optimize(text, refuse=True)
    check(code == 0 and output == HEAD + text, f"ptxas refuses what we made: {code} {messages}")
    check("warning: ptxas refuses the optimized text" in messages and kept(report) == {"a": "refused"}, f"said so: {messages}")
    broken = kernel("a").replace("ret;", "add.u32 %r1, %rd1, 1; ret;")
    code, output, report, messages, _ = bench.optimize(broken)
    check(code == 0 and changed(output, ["a"]) == ["a"] and "not compared with the input" in messages,
          f"an input that ptxas refuses: {code} {messages}")
    hangs = folder / "hangs"
    hangs.write_text("#!/bin/sh\nexec sleep 60\n")
    hangs.chmod(0o755)
    for program, words in ((hangs, "no answer within"), ("/bin/true", "no cubin"), ("/nothing", "could not be started")):
        code, output, _, messages, _ = bench.optimize(text, "--ptxas", program, "--ptxas-timeout", "0.5")
        check(code == 0 and changed(output, ["a"]) == ["a"] and words in messages, f"{program}: {code} {messages}")


def test_choice(bench, folder):
    """When it is on, off, or cannot be had."""
    source = folder / "choice.ptx"
    source.write_text(HEAD + kernel("b", marked=True))
    fake = str(bench.fake())

    def is_kept(*arguments, **env):
        env = {"PTXOPT_PTXAS": fake, "PTXOPT_GUARD": "", **env}
        done = run(bench.tool, source, "-o", "-", *arguments, env=env)
        check(done.returncode == 0, f"{arguments}: {done.stderr}")
        return "mov.u32 %r8" in done.stdout

    check(is_kept(), "on by default at -O2")
    check(not is_kept("-O1"), "off at -O1")
    check(not is_kept("--passes=live-dead"), "off for named passes")
    check(not is_kept("--guard=off"), "--guard=off")
    check(not is_kept(PTXOPT_GUARD="off"), "$PTXOPT_GUARD")
    check(is_kept("--guard=ptxas", "-O1"), "--guard=ptxas")
    check(not is_kept(PTXOPT_PTXAS="none"), "no ptxas")
    check(not is_kept("--guard=estimate"), "nothing is worse by the estimate")
    done = run(bench.tool, source, "-o", "-", "--guard=ptxas", env={"PTXOPT_PTXAS": "none"})
    check(done.returncode == 2 and "there is no ptxas" in done.stderr, f"a guard without ptxas: {done.stderr}")
    done = run(bench.tool, source, "-o", "-", "--guard=maybe")
    check(done.returncode == 2, "a mode that is none")


def test_cache(bench, folder):
    cache = str(folder / "cache")
    env = {"PTXOPT_CACHE_DIR": cache}
    text = kernel("a") + kernel("b", marked=True)
    first = bench.optimize(text, env=env)
    second = bench.optimize(text, env=env)
    check(first[4] == 2 and second[4] == 2, "a ptxas that was written anew is another one")
    source, out = folder / "in.ptx", folder / "again.ptx"
    bench.log.unlink()
    done = run(bench.tool, source, "-o", out, "--passes=live-dead", "--guard=ptxas", "--ptxas", folder / "fake ptxas", env=env)
    check(done.returncode == 0 and not bench.log.exists(), "the second time nobody is asked")
    check(out.read_text() == second[1], "... and the result is the same")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    args = parser.parse_args()
    real = os.environ.get("PTXAS") or shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
    if not real:
        print("guard: no ptxas: skipped")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench = Bench(os.path.abspath(args.tool), folder, real)
        test_kernels(bench)
        test_calls(bench)
        test_trouble(bench, folder)
        test_choice(bench, folder)
        test_cache(bench, folder)
    for failure in FAILURES:
        print(failure)
    print(f"guard: {CHECKS} checks, {len(FAILURES)} failed")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
