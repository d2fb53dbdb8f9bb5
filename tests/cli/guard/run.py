#!/usr/bin/env python3
"""The guard: a kernel that gets worse keeps its text, with the device functions it calls.

  tests/cli/guard/run.py --tool PATH

Between ptxopt and the real ptxas stands a script that alters the text which ptxas gets: a kernel with a mark in it whose
dead instruction is gone, or that of a function which it calls, gets two stores more. So each kernel's fate is known
apart from what ptxas makes of our passes. Skipped (77) without ptxas.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
from toolkit import find_ptxas  # noqa: E402

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
FAKE = r"""#!{python} -IS
import os, re, sys
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
    for name in re.findall(r"// note (\w+)", text):
        if not re.search(r"mov\.u32 %r8, 7;[^\n]*dead in " + name, text):
            head, tail = text.split(f"// note {{name}}\n", 1)
            text = head + tail.replace("[%rd1+4]", "[%rd1+8]", 1)  # other code of the same figures
            print(f"ptxas info    : (C7510) Potential Performance Loss: serialized in the function '{{name}}' in line 7", file=sys.stderr)
    if {refuse!r} and "mov.u32 %r8" not in text:
        print("ptxas: error: no", file=sys.stderr)
        sys.exit(1)
    open(args[at], "w").write(text)
os.execv({real!r}, [{real!r}, *args])
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
        script.write_text(FAKE.format(python=sys.executable, log=str(self.log), watch=watch or {}, worse=WORSE, refuse=refuse, real=self.real))
        script.chmod(0o755)
        return script

    def optimize(self, text, *arguments, watch=None, refuse=False, env=None):
        """(exit code, output, report, standard error, how often ptxas ran)"""
        source, out, report = (self.folder / name for name in ("in.ptx", "out.ptx", "report.json"))
        for old in (out, report, self.log):
            old.unlink(missing_ok=True)
        source.write_text(HEAD + text)
        done = run(self.tool, source, "-o", out, "--report", report, "--passes=dce", "--guard=ptxas", "-v",
                   "--ptxas", self.fake(watch, refuse), *arguments, env=env)
        runs = len(self.log.read_text().splitlines()) if self.log.exists() else 0
        output = out.read_text() if out.exists() else None
        return done.returncode, output, json.loads(report.read_text()) if report.exists() else None, done.stderr, runs


def changed(output, names):
    """Which of these functions lost their dead instruction."""
    return sorted(name for name in names if f"mov.u32 %r8, 7;  // dead in {name}" not in output)


def kept(report):
    return {f["name"]: f["reason"] for f in report["guard"]["kept"]}


def test_notes(bench):
    """A kernel that ptxas has a note on since it changed."""
    text = kernel("a") + kernel("b", marked=True).replace("// mark", "// note") + kernel("c")
    code, output, report, messages, _ = bench.optimize(text)
    check(code == 0 and changed(output, ["a", "b", "c"]) == ["a", "c"] and kept(report) == {"b": "notes"}, f"notes: {report} {messages}")
    check("b: kept as it was: notes new C7510 (wgmma is serialized: its pipeline crosses a call)" in messages, f"notes: {messages}")
    with tempfile.TemporaryDirectory() as cache:  # kernels by themselves, and from the cache
        for _ in range(2):
            report = bench.optimize(text, env={"PTXOPT_CACHE_DIR": cache})[2]
            check(kept(report) == {"b": "notes"}, f"notes of the cache: {report}")


def test_kernels(bench):
    names = ["a", "b", "c"]
    text = kernel("a") + kernel("b", marked=True) + kernel("c")
    code, output, report, messages, runs = bench.optimize(text)
    check(code == 0 and changed(output, names) == ["a", "c"], f"one of three: {code} {messages}")
    check(kept(report) == {"b": "cycles"}, f"why it was kept: {kept(report)}")
    check(re.search(r"b: kept as it was: cycles L1 \d+ -> \d+ ", messages), f"what is said: {messages}")
    check(runs == 2, f"kernels that share nothing are not compared again: {runs} runs")
    figures = {side: {f["name"]: f["instructions"] for f in report["guard"][side]} for side in ("before", "after")}
    check(figures["before"] == figures["after"], f"the figures are those of the output: {figures}")
    # By the other rule.
    for more in ({"env": {"PTXOPT_GUARD_RULE": "warps"}}, {}):
        _, output, report, messages, _ = bench.optimize(text, *([] if more else ["--guard-rule=warps"]), **more)
        check(changed(output, names) == ["a", "c"] and kept(report) == {"b": "sass"}, f"by warps and instructions: {messages}")
        check("b: kept as it was: sass" in messages, f"what is said: {messages}")
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
    check(kept(report) == {"b": "cycles", "leaf": "called-by", "middle": "called-by"}, f"why: {kept(report)}")
    check(runs == 3, f"`a` shares what was kept and is compared again: {runs} runs")
    # Keeping `leaf` for `b` makes `a` worse only then: everything ends as it was.
    text = function("leaf") + kernel("a", call("leaf"), marked=True) + kernel("b", call("leaf"), marked=True)
    _, output, report, messages, _ = bench.optimize(text, watch={"a": "a", "b": "leaf"})
    check(changed(output, ["a", "b", "leaf"]) == [], f"both are kept: {messages}")


def test_trouble(bench):
    text = kernel("a")
    code, output, report, messages, _ = bench.optimize(text, refuse=True)
    check(code == 0 and output == HEAD + text, f"ptxas refuses what we made: {code} {messages}")
    check("warning: ptxas refuses the optimized text" in messages and kept(report) == {"a": "refused"}, f"said so: {messages}")


# Stands between ptxopt and ptxas and goes wrong in one of these ways, always or with what the passes made.
FAULTY = r"""#!/bin/bash
real={real!r} way={way!r}
for a; do [[ $a = *.ptx ]] && in=$a; [[ $last = -o ]] && out=$a; last=$a; done
[[ {only} = 1 && -n $in ]] && grep -q 'mov.u32 %r8' "$in" && exec "$real" "$@"
case $way in
  fails) echo "ptxas fatal: no" >&2; exit 255;;
  hangs) exec sleep 60;;
  killed) kill -9 $$;;
  nothing) exit 0;;
  empty) : > "$out"; exit 0;;
  garbage) echo garbage > "$out"; exit 0;;
  silent) exec "$real" "$@" > /dev/null 2>&1;;
  other) sed 's/%r3/%r4/g; s/[.]entry \w*/&_other/' "$in" > "$in.other.ptx"
         for a; do shift; [[ $a = $in ]] && a=$in.other.ptx; set -- "$@" "$a"; done; exec "$real" "$@";;
esac
"""

# Of this the default pipeline makes another code.
DIVISION = "ld.global.u32 %r3, [%rd1]; cvt.u64.u32 %rd2, %r3; div.u64 %rd2, %rd2, 10; cvt.u32.u64 %r3, %rd2;"

# What is said of each.
WAYS = {"fails": "no", "hangs": "no result within", "killed": "signal 9", "nothing": "no cubin", "empty": "no cubin",
        "garbage": "no cubin", "silent": "no figures of a", "other": "no figures of a"}


def faulty(bench, folder, way, only=False):
    script = folder / f"faulty {way}{' only' * only}"
    script.write_text(FAULTY.format(real=bench.real, way=way, only=int(only)))
    script.chmod(0o755)
    return script


def plain(tool, text, out, *arguments, env=None):
    """The exit code, what is in `out` after it was written to before, and standard error."""
    source = out.with_name("plain.ptx")
    source.write_text(HEAD + text)
    out.write_text("what was there")
    done = run(tool, source, "-o", out, *arguments, env=env)
    return done.returncode, out.read_text(), done.stderr


def test_no_verdict(bench, folder):
    """Where ptxas cannot judge the input: --guard=ptxas fails and writes nothing, the default keeps the input."""
    text, out = kernel("a", marked=True), folder / "out.ptx"
    text = text.replace("ld.global.u32 %r3, [%rd1];", DIVISION)
    broken = text.replace("ret;", "add.u32 %r1, %rd1, 1; ret;")
    missing, locked = folder / "missing", folder / "locked"
    locked.write_text("#!/bin/sh\n")
    cases = [(text, faulty(bench, folder, way), words) for way, words in WAYS.items()]
    for program, words in ((missing, "there is no such file"), (locked, "not executable"), (folder, "it is a folder")):
        for guard in ("auto", "ptxas", "off"):
            code, output, messages = plain(bench.tool, text, out, f"--guard={guard}", "--ptxas", program)
            check(code == 2 and output == "what was there" and f"--ptxas is '{program}'" in messages and words in messages,
                  f"{program}, --guard={guard}: {code} {messages}")
    # A name without a folder is looked for in PATH alone, as a shell does.
    done = subprocess.run([bench.tool, "-", "-o", "-", "--ptxas", Path(locked).name], input="", capture_output=True, text=True, timeout=60,
                          cwd=Path(locked).parent)
    check(done.returncode == 2 and f"--ptxas is '{Path(locked).name}': there is no such program in PATH" in done.stderr, f"a name: {done.stderr}")
    cases += [(broken, bench.real, "add")]
    for ends in ("\n", "\r\n"):
        given = broken.replace("\n", ends)
        line = (HEAD + broken).splitlines().index(next(x for x in broken.splitlines() if "add.u32 %r1" in x)) + 1
        code, output, messages = plain(bench.tool, given, out, "--ptxas", bench.real)
        check(code == 0 and re.match(rf"[^\n]*plain\.ptx: warning: ptxas refuses the input, which is kept as it was: [^\n]*"
                                     rf"ptxas [^\n]*plain\.ptx, line {line}; error   : Arguments mismatch[^\n]* \[guard\]\n$", messages),
              f"the line that ptxas names, {ends!r}: {code} {messages}")
    for given, program, words in cases:
        some = "figures" in words  # of the file as a whole there is a verdict
        options = ["--ptxas", program, "--ptxas-timeout", "2" if some else "0.5"]
        code, output, messages = plain(bench.tool, given, out, *options)
        check(code == 0 and output == HEAD + given and "warning: " in messages and words in messages,
              f"{program}: the default keeps the input: {code} {messages}")
        code, output, messages = plain(bench.tool, given, out, "--guard=ptxas", *options)
        if some:
            check(code == 0 and output == HEAD + given and words in messages, f"{program}: kept: {code} {messages}")
        else:
            check(code == 1 and output == "what was there" and "error: --guard=ptxas" in messages and words in messages,
                  f"{program}: --guard=ptxas fails: {code} {messages}")
        code, output, messages = plain(bench.tool, given, out, "--guard=ptxas", "--passes=dce", *options)
        check(code == (0 if some else 1), f"{program}: ... with named passes too: {code} {messages}")
        code, output, messages = plain(bench.tool, given, out, "--guard=off", *options)
        check(code == 0 and changed(output, ["a"]) == ["a"] and not messages, f"{program}: --guard=off: {messages}")
    # Goes wrong with the result alone: the input is what is right.
    for way in ("fails", "hangs", "killed", "nothing", "empty", "garbage"):
        for guard in ("auto", "ptxas"):
            code, output, messages = plain(bench.tool, text, out, f"--guard={guard}", "--ptxas", faulty(bench, folder, way, True),
                                           "--ptxas-timeout", "2")
            check(code == 0 and output == HEAD + text and "warning: " in messages, f"{way} with the result: {code} {messages}")
    # From standard input to standard output.
    source = folder / "stdin.ptx"
    source.write_text(HEAD + text)
    for guard, code, wanted in (("ptxas", 1, ""), ("auto", 0, HEAD + text)):
        with source.open() as given:
            done = subprocess.run([bench.tool, "-", "-o", "-", f"--guard={guard}", "--ptxas", faulty(bench, folder, "fails")],
                                  stdin=given, capture_output=True, text=True, timeout=60)
        check((done.returncode, done.stdout) == (code, wanted), f"standard streams, {guard}: {done.returncode} {done.stderr}")
    # Many files, of which one is too new for ptxas.
    for jobs in (1, 4):
        many = folder / f"many{jobs}"
        many.mkdir()
        for i in range(4):
            (many / f"{i}.ptx").write_text(HEAD + text)
        (many / "new.ptx").write_text((HEAD + text).replace(".version 8.0", ".version 99.0"))
        done = run(bench.tool, "--in-place", many, "-j", jobs, "--guard=ptxas", "--ptxas", bench.real)
        check(done.returncode == 1 and "1 failed" in done.stderr and "new.ptx: error: --guard=ptxas" in done.stderr,
              f"in place: {done.returncode} {done.stderr}")
        check(changed((many / "new.ptx").read_text(), ["a"]) == [] and
              all(changed((many / f"{i}.ptx").read_text(), ["a"]) == ["a"] for i in range(4)), "in place: the others are replaced")
        done = run(bench.tool, "--in-place", many, "-j", jobs, "--ptxas", bench.real)
        check(done.returncode == 0 and "new.ptx: warning: ptxas refuses the input, which is kept as it was: " in done.stderr, f"in place, by default: {done.stderr}")


def test_time_report(bench, folder):
    """Rows of the guard, the analyses and the runs of ptxas; without a guard only the analyses."""
    source = folder / "times.ptx"
    source.write_text(HEAD + kernel("a").replace("ld.global.u32 %r3, [%rd1];", DIVISION))
    ms = r" +\d+\.\d{3} ms"
    for guard in ("ptxas", "off"):
        done = run(bench.tool, source, "-o", os.devnull, "--time-report", "--passes=dce", f"--guard={guard}", "--ptxas", bench.real)
        rows = {name: re.search(rf"^{name}{ms}{more}$", done.stderr, re.M) is not None for name, more in
                (("parse", r" +[\d.]+%"), ("dce", r" +[\d.]+%"), ("guard", r" +[\d.]+%" + ms), ("analyses, within these", r" +[\d.]+%"),
                 ("all", r" +[\d.]+%" + ms), ("ptxas, 2 runs", " +" + ms))}
        asked = guard == "ptxas"
        check(done.returncode == 0 and rows == dict.fromkeys(rows, True) | {"guard": asked, "ptxas, 2 runs": asked},
              f"--time-report, {guard}: {rows} {done.stderr}")


def test_some_judged(bench, folder):
    """ptxas has figures of some kernels only: the others are kept, and what they call."""
    hides = folder / "hides"
    # The kernel `b` has another name for ptxas.
    hides.write_text(f"""#!/bin/bash
for a; do [[ $a = *.ptx ]] && sed -i 's/[.]entry b(/.entry hidden(/' "$a"; done
exec {bench.real!r} "$@"
""")
    hides.chmod(0o755)
    names = ["a", "b", "leaf", "own"]
    text = function("leaf") + function("own") + kernel("a", call("own")) + kernel("b", call("leaf"))
    code, output, report, messages, _ = bench.optimize(text, "--ptxas", hides)
    check(code == 0 and changed(output, names) == ["a", "own"], f"`b` cannot be judged: {code} {messages}")
    check(kept(report) == {"b": "not-judged", "leaf": "not-judged"}, f"why: {kept(report)}")
    check("warning: ptxas has no figures of leaf and 1 more" in messages, f"said so: {messages}")
    # Functions that no kernel reaches are asked about as relocatable code.
    text = function("apart").replace(".func", ".visible .func") + kernel("a")
    code, output, report, messages, runs = bench.optimize(text)
    check(code == 0 and changed(output, ["a", "apart"]) == ["a", "apart"] and runs == 4, f"relocatable: {runs} runs, {messages}")
    text = function("apart").replace(".func", ".visible .func")
    code, output, report, messages, _ = bench.optimize(text)
    check(code == 0 and changed(output, ["apart"]) == ["apart"], f"a library: {messages}")
    code, output, report, messages, _ = bench.optimize(text, "--ptxas", faulty(bench, folder, "fails"))
    check(code == 1 and output is None, f"a library that is refused: {code} {messages}")


def test_drop_in(bench, folder):
    """The drop-in ptxas never hands on what the guard could not judge."""
    drop_in, log = folder / "ptxas", folder / "assembled"
    drop_in.unlink(missing_ok=True)
    drop_in.symlink_to(bench.tool)
    text = kernel("a", marked=True).replace("ld.global.u32 %r3, [%rd1];", DIVISION)
    source = folder / "drop_in.ptx"
    source.write_text(HEAD + text)
    for guard in ("", "ptxas"):
        for way in WAYS:
            if way == "hangs":  # it is waited for
                continue
            inner = faulty(bench, folder, way)
            noting = folder / "noting"
            noting.write_text(f"""#!/bin/bash
for a; do [[ $a = *.ptx && -e $a ]] && cat "$a" > {str(log)!r}; [[ $a = {str(folder / "wrapper.cubin")!r} ]] && exit 0; done
exec {str(inner)!r} "$@"
""")
            noting.chmod(0o755)
            log.unlink(missing_ok=True)
            done = subprocess.run([drop_in, "-arch=sm_80", source, "-o", folder / "wrapper.cubin"], capture_output=True, text=True,
                                  timeout=60, env={**os.environ, "PTXOPT_PTXAS": str(noting), "PTXOPT_GUARD": guard,
                                                   "PTXOPT_CACHE_DIR": "", "PTXOPT_OPTIONS": "--tidy=1"})
            check(done.returncode == 0 and log.read_text() == HEAD + text and "ptxopt: warning: " in done.stderr,
                  f"drop-in, {way}: {done.returncode} {done.stderr}")


def test_environment(bench, folder):
    """Variables that name nothing are named, once; what is wrong with them is said."""
    source, drop_in = folder / "plain.ptx", folder / "ptxas"
    source.write_text(HEAD + kernel("a"))
    file, empty = folder / "a file", folder / "empty folder"
    file.write_text("")
    empty.mkdir()
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith("PTXOPT_") and name not in ("PTXAS", "CUDA_HOME", "CUDA_PATH")}
    cases = [("PTXOPT_PTXAS", folder / "nothing", "there is no such file"), ("PTXAS", folder / "nothing", "there is no such file"),
             ("PTXOPT_PTXAS", empty, "it is a folder"), ("PTXAS", file, "it is not executable"),
             ("PTXAS", "no-such-program", "there is no such program in PATH"),
             ("CUDA_HOME", folder / "nothing", "there is no such folder"), ("CUDA_HOME", file, "it is not a folder"),
             ("CUDA_PATH", empty, "there is no bin/ptxas in it")]
    for name, value, words in cases:
        env = {**clean, "PTXOPT_CACHE_DIR": "", "PATH": f"{Path(bench.real).parent}:{clean['PATH']}", name: str(value)}
        warning = f"ptxopt: warning: {name} is '{value}': {words}; "
        for command in ([bench.tool, source, "-o", "/dev/null"], [bench.tool, "--in-place", source], [bench.tool, "diff", source, source],
                        [drop_in, "-arch=sm_80", source, "-o", "/dev/null"], [drop_in, "-g", "-arch=sm_80", source, "-o", "/dev/null"]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)
            check(done.returncode == 0 and done.stderr.count(warning) == 1, f"{command[:2]} with {name}: {done.stderr}")
        for quiet in ([bench.tool, source, "-o", "/dev/null", "--guard=off"], [bench.tool, source, "-o", "/dev/null", "--ptxas", bench.real],
                      [drop_in, "--version"]):
            done = subprocess.run(quiet, capture_output=True, text=True, timeout=60, env=env)
            check(done.returncode == 0 and not done.stderr, f"{quiet} with {name} asks nobody: {done.stderr}")
    right = {**clean, "PTXOPT_CACHE_DIR": "", "PTXAS": str(drop_in), "PTXOPT_PTXAS": "", "CUDA_HOME": "", "CUDA_PATH": "",
             "PATH": f"{Path(bench.real).parent}:{clean['PATH']}"}
    for command in ([bench.tool, source, "-o", "/dev/null"], [drop_in, "-arch=sm_80", source, "-o", "/dev/null"]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=right)
        check(done.returncode == 0 and not done.stderr, f"what leads to us and what is empty is right: {done.stderr}")
    for name, value, words, code in (("PTXOPT_GUARDS", "off", "is PTXOPT_GUARD meant?", 0), ("PTXOPT_CACHE_SIZE", "1 MB", "not a number", 0),
                                     ("PTXOPT_CACHE_DIR", str(file), "it is not a folder", 0), ("PTXOPT_GUARD", "maybe", "PTXOPT_GUARD: ", 2),
                                     ("PTXOPT_MY_OWN", "1", "", 0), ("PTXOPT_NVCC", "/nothing", "", 0)):
        done = subprocess.run([bench.tool, source, "-o", "/dev/null", "--ptxas", bench.real], capture_output=True, text=True, timeout=60,
                              env={**clean, name: value})
        check(done.returncode == code and words in done.stderr and bool(words) == bool(done.stderr), f"{name}={value}: {done.stderr}")
    done = subprocess.run([bench.tool, "nvcc", "x.cu"], capture_output=True, text=True, timeout=60, env={**clean, "PTXOPT_NVCC": "/nothing"})
    check(done.returncode == 2 and "PTXOPT_NVCC is '/nothing': there is no such file" in done.stderr, f"PTXOPT_NVCC: {done.stderr}")


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
    check(not is_kept("--passes=dce"), "off for named passes")
    check(not is_kept("--guard=off"), "--guard=off")
    check(not is_kept(PTXOPT_GUARD="off"), "$PTXOPT_GUARD")
    check(is_kept("--guard=ptxas", "-O1"), "--guard=ptxas")
    check(not is_kept(PTXOPT_PTXAS="none"), "no ptxas")
    done = run(bench.tool, source, "-o", "-", "--guard=ptxas", env={"PTXOPT_PTXAS": "none"})
    check(done.returncode == 2 and "there is no ptxas" in done.stderr, f"a guard without ptxas: {done.stderr}")
    for words, env, where in ((["--guard=estimate"], {}, "--guard: estimate not in {auto,ptxas,off}"),
                              ([], {"PTXOPT_GUARD": "estimate"}, "PTXOPT_GUARD"), (["--guard=maybe"], {}, "--guard: maybe not in")):
        done = run(bench.tool, source, "-o", "-", *words, env={"PTXOPT_GUARD": "", **env})
        check(done.returncode == 2 and where in done.stderr, f"a mode that is none: {done.stderr}")
        check(("ask ptxas" in done.stderr) == ("maybe" not in done.stderr), f"what to ask instead of estimates: {done.stderr}")


def test_temporary(bench, folder):
    """Where no temporary file can be written, there is an error that says so: nothing was compared, and nothing tuned."""
    source, out, missing = folder / "temporary.ptx", folder / "out.ptx", "/proc/nothing"
    source.write_text(HEAD + kernel("a").replace("ld.global.u32 %r3, [%rd1];", DIVISION))
    env = {"PTXAS": bench.real, "TMPDIR": missing}
    for words in ((source, "-o", out), ("--in-place", source), ("tune", source, "-o", out), ("diff", source, source), ("time", source),
                  ("baseline", source, "-o", out), ("report", source, "-o", out), ("reduce", source, "-o", out, "--", "true"),
                  ("emulate", "true"), ("run", source, "--kernel", "a", "--grid", "1", "--block", "1", "--arg", "u64:0", "--record", out)):
        out.unlink(missing_ok=True)
        before = source.read_text()
        done = run(bench.tool, *words, env=env)
        check(done.returncode in ((1, 2) if words[0] == "--in-place" else (2,)) and missing in done.stderr and not out.exists() and
              source.read_text() == before, f"{words[0]}: {done.returncode} {done.stderr}")
    done = run(bench.tool, "as", "-arch=sm_80", source, "-o", out, env=env)
    check(done.returncode == 0 and missing in done.stderr and out.exists(), f"as: {done.returncode} {done.stderr}")
    # An architecture that there is not: what ptxas says, where ptxopt is one.
    plain = subprocess.run([bench.real, "-arch=sm_81", source, "-o", out], capture_output=True, text=True)
    done = run(bench.tool, "as", "-arch=sm_81", source, "-o", out, env={"PTXAS": bench.real})
    check((done.returncode, done.stderr) == (plain.returncode, plain.stderr), f"as -arch=sm_81: {done.stderr}")
    for words in ((source, "-o", out), ("diff", source, source), ("time", source), ("report", source, "-o", out), ("tune", source, "-o", out),
                  ("baseline", source, "-o", out)):
        done = run(bench.tool, *words, "--arch", "sm_81", env={"PTXAS": bench.real})
        check(done.returncode == 2 and "sm_81" in done.stderr, f"{words[0]} --arch sm_81: {done.returncode} {done.stderr}")


def test_cache(bench, folder):
    cache = str(folder / "cache")
    env = {"PTXOPT_CACHE_DIR": cache}
    text = kernel("a") + kernel("b", marked=True)
    first = bench.optimize(text, env=env)
    second = bench.optimize(text, env=env)
    check(first[4] == 2 and second[4] == 2, "a ptxas that was written anew is another one")
    source, out = folder / "in.ptx", folder / "again.ptx"
    bench.log.unlink()
    done = run(bench.tool, source, "-o", out, "--passes=dce", "--guard=ptxas", "--ptxas", folder / "fake ptxas", env=env)
    check(done.returncode == 0 and not bench.log.exists(), "the second time nobody is asked")
    check(out.read_text() == second[1], "... and the result is the same")
    # Whatever becomes of the entries, the result is the same: those that are damaged are made again.
    shutil.rmtree(cache)
    run(bench.tool, source, "-o", out, "--passes=dce", "--guard=ptxas", "--ptxas", folder / "fake ptxas", env=env)
    entries = sorted(path for path in Path(cache).rglob("*") if path.is_file())
    check(len(entries) == 4, f"of each kernel an entry for the input, one for the result: {entries}")
    whole = {path: path.read_bytes() for path in entries}

    def fifo(path):
        path.unlink()
        os.mkfifo(path)

    def in_its_place(path):
        path.unlink()
        path.mkdir()

    damages = {"flipped": lambda p: p.write_bytes(bytes([whole[p][0] ^ 1]) + whole[p][1:]),
               "another figure": lambda p: p.write_bytes(whole[p].replace(b'"instructions":', b'"instructions":1')),
               "cut": lambda p: p.write_bytes(whole[p][:-1]), "empty": lambda p: p.write_bytes(b""),
               "longer": lambda p: p.write_bytes(whole[p] + b" "),
               "without a sum": lambda p: p.write_bytes(whole[p].split(b"\n", 1)[-1]),
               "that of another text": lambda p: p.write_bytes(whole[entries[entries.index(p) - 1]]),
               "a folder": in_its_place, "a pipe": fifo}
    for what, damage in damages.items():
        for path in entries:
            damage(path)
        bench.log.unlink(missing_ok=True)
        done = run(bench.tool, source, "-o", out, "--passes=dce", "--guard=ptxas", "--ptxas", folder / "fake ptxas", env=env)
        asked = len(bench.log.read_text().splitlines()) if bench.log.exists() else 0
        check(done.returncode == 0 and out.read_text() == second[1] and asked == 2, f"{what}: asked {asked} times, {done.stderr}")
        check({path: path.read_bytes() for path in entries} == whole, f"{what}: the entries are as they were")

    # Answers are those of kernels: what stands around them, and in what order, is all the same.
    def asked(text):
        source.write_text(HEAD + text)
        bench.log.unlink(missing_ok=True)
        done = run(bench.tool, source, "-o", out, "--passes=dce", "--guard=ptxas", "--ptxas", folder / "fake ptxas", env=env)
        check(done.returncode == 0, done.stderr)
        return len(bench.log.read_text().splitlines()) if bench.log.exists() else 0, out.read_text()

    runs, output = asked("// of another file\n" + kernel("b", marked=True) + kernel("a"))
    check(runs == 0 and changed(output, "ab") == ["a"], f"kernels that are known: asked {runs} times")
    runs, output = asked(kernel("a") + kernel("c", marked=True) + kernel("b", marked=True))
    check(runs == 2 and changed(output, "abc") == ["a"], f"one is new: asked {runs} times")
    entries = [path for path in Path(cache).rglob("*") if path.is_file()]
    check(len(entries) == 6, f"two entries more: {len(entries)}")
    runs, output = asked(".global .u32 g;\n" + kernel("a") + kernel("b", marked=True))
    check(runs == 2 and changed(output, "ab") == ["a"], f"what stands outside of kernels counts: asked {runs} times")
    runs, output = asked(function("f") + kernel("a", call("f")) + kernel("b", marked=True))
    check(runs == 2, f"another kernel of that name: asked {runs} times")
    runs, output = asked(function("f", "add.u32 a, a, 1;") + kernel("a", call("f")) + kernel("b", marked=True))
    check(runs == 2, f"what it calls is another function: asked {runs} times")
    # ptxas compiles a function otherwise that some kernel calls by its address: no kernel has an answer of its own then.
    shutil.rmtree(cache)
    runs, output = asked(function("f") + ".global .u64 table[1] = {f};\n" + kernel("a", call("f")) + kernel("b"))
    entries = [path for path in Path(cache).rglob("*") if path.is_file()]
    check(runs == 2 and len(entries) == 2, f"a table of functions: asked {runs} times, {len(entries)} entries")
    # For one that calls a function of another file, ptxas compiles all as relocatable code, after it has refused it as a program.
    shutil.rmtree(cache)
    other = ".extern .func (.reg .u32 r) f (.reg .u32 a);\n" + kernel("a", call("f"))
    runs, output = asked(other + kernel("b"))
    check(runs == 4, f"a function of another file: asked {runs} times")
    runs, output = asked(other + kernel("c"))
    check(runs == 4, f"the kernel that calls it is known, and not cut: asked {runs} times")
    count = len([path for path in Path(cache).rglob("*") if path.is_file()])
    runs, output = asked(other.replace(call("f"), "") + kernel("b"))
    count = len([path for path in Path(cache).rglob("*") if path.is_file()]) - count
    check(runs == 2 and count == 4, f"none that calls it, and no relocatable code: asked {runs} times, {count} entries more")


def test_copies(bench, folder):
    """Of a function whose code is part of two kernels, ptxas tells the spills of one copy: of which one is no reason to keep a kernel."""
    live = 30
    code = "".join(f"fma.rn.f32 %f0, %f0, %f1, 0f3F{i:02d}0000; sin.approx.f32 %f{i + 2}, %f0;\n" for i in range(live))
    sums = "".join(f"add.f32 %f0, %f0, %f{i + 2};\n" for i in range(live))
    shared = f""".func (.param .b32 r) f(.param .b32 x) {{
  .reg .f32 %f<{live + 3}>; .reg .pred %p; .reg .b32 %c;
  ld.param.f32 %f1, [x]; mov.f32 %f0, %f1; mov.u32 %c, 0;
L:
  {code}{sums}add.u32 %c, %c, 1; setp.lt.u32 %p, %c, 100;
  @%p bra L;
  st.param.f32 [r], %f0; ret;
}}
"""
    calls = "{ .param .b32 a; .param .b32 b; st.param.f32 [a], %f1; call.uni (b), f, (a); ld.param.f32 %f1, [b]; }\n"

    def caller(name, directives, more):
        return f""".visible .entry {name}(.param .u64 p) {directives} {{
  .reg .f32 %f<3>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p]; ld.global.f32 %f1, [%rd1]; ld.global.u32 %r1, [%rd1+4]; mov.u32 %r3, 5;
  {more}{calls}{calls}st.global.f32 [%rd1], %f1; st.global.u32 [%rd1+4], %r1; ret;
}}
"""

    many = "".join(f"add.u32 %r1, %r1, {i}; xor.b32 %r1, %r1, {5 * i};\n" for i in range(120))
    source, out = folder / "copies.ptx", folder / "copies.out.ptx"
    source.write_text(HEAD + shared + caller("large", "", many) + caller("small", ".maxnreg 32", "div.u32 %r1, %r1, 10;\n"))
    for passes in ("dce", "divide"):  # the second one changes one kernel
        done = run(bench.tool, source, "-o", out, "-v", f"--passes={passes}", "--guard=ptxas", "--ptxas", bench.real,
                   env={"PTXOPT_CACHE_DIR": str(folder / "copies")})
        check(done.returncode == 0 and "kept as it was" not in done.stderr, f"{passes}: {done.stderr}")


def main():
    os.environ.pop("PTXOPT_GUARD", None)  # the tests of other things turn the guard off; here it is what is tested
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    args = parser.parse_args()
    real = find_ptxas()
    if not real:
        print("guard: no ptxas: skipped")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench = Bench(os.path.abspath(args.tool), folder, real)
        test_kernels(bench)
        test_calls(bench)
        test_copies(bench, folder)
        test_trouble(bench)
        test_no_verdict(bench, folder)
        test_some_judged(bench, folder)
        test_time_report(bench, folder)
        test_drop_in(bench, folder)
        test_environment(bench, folder)
        test_choice(bench, folder)
        test_cache(bench, folder)
        test_temporary(bench, folder)
    for failure in FAILURES:
        print(failure)
    print(f"guard: {CHECKS} checks, {len(FAILURES)} failed")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
