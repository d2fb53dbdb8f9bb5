#!/usr/bin/env python3
"""The Python package: optimize and its errors, threads, memory and time of a call, and the objects of the other commands.

  tests/python/api.py --tool PTXOPT

libptxopt.so lies beside the tool. What needs ptxas is left out where there is none.
"""
import argparse
import array
import ast
import ctypes
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import package
from package import ROOT, sample

from checking import Counted  # noqa: E402

CALLS, MOST_KIB = 1000, 1024


def raised(kind, call):
    try:
        call()
    except kind as error:
        return error
    return None


def optimizing(t, ptxopt, tool):
    text = sample("histogram.ptx")
    result = ptxopt.optimize(text, arch="sm_90", guard="off")
    by_tool = subprocess.run([tool, str(ROOT / "samples/histogram.ptx"), "-o", "-", "--guard=off"], capture_output=True, text=True)
    t.check(ptxopt.optimize(text, guard="off").ptx == by_tool.stdout, "the text is not that of the program")
    t.check(result.changed and result.arch == "sm_90" and "histogram" in [f["name"] for f in result.report["functions"]], repr(result))
    t.check(isinstance(ptxopt.optimize(text.encode()).ptx, bytes), "bytes come out as str")
    t.check(ptxopt.optimize(text, level=0).ptx == text, "level 0 changes the text")
    t.check([r for r in result.remarks if r.name == "single-division"], f"remarks: {result.remarks}")
    t.check("<p>" in result._repr_html_() or "<table>" in result._repr_html_(), "no HTML")
    t.check(ptxopt.optimize(text, passes=[]).ptx == text, "no passes change the sample")
    knob = ptxopt.knobs()[0]
    t.check(ptxopt.optimize(text, knobs={knob["name"]: knob["least"]}).ptx, "a knob")
    t.check({"dce", "lsr"} <= {p["name"] for p in ptxopt.passes()}, "passes")
    saxpy, facts = sample("saxpy.ptx"), {"version": 1, "kernels": [{"kernel": "saxpy", "block": [64, 1, 1]}]}
    fixed = ptxopt.optimize(saxpy, facts=facts, guard="off").ptx
    t.check("%ntid" in saxpy and "%ntid" not in fixed, fixed)
    t.check(ptxopt.verify(saxpy, fixed, facts=facts).equal and not ptxopt.verify(saxpy, fixed, block=[32, 1, 1]).equal, "facts")
    more = {**facts, "kernels": [*facts["kernels"], {"kernel": "other", "block": [32]}]}
    t.check(ptxopt.optimize(saxpy, facts=more, facts_of_several=True, guard="off").ptx == fixed, "facts of several texts")
    debug = saxpy.replace(".target sm_80", ".target sm_80, debug") + ".section .debug_str\n{\n .b8 1\n}\n"
    t.check("debug" in debug and not ptxopt.optimize(debug, guard="off").changed, "debug code stays as it is")
    t.check(ptxopt.optimize(debug, guard="off", strip_debug=True).ptx == ptxopt.optimize(saxpy, guard="off").ptx, "strip_debug")
    t.check(ptxopt.optimize(debug, guard="off", strip_debug=True, ptxas_options=["-g"]).ptx == debug, "-g asks for debug information")
    optix = (".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n .reg .b32 %r<3>; .reg .b64 %rd<2>;\n mov.u32 %r2, 5;\n"
             " ld.param.u64 %rd1, [p];\n call (%r1), _optix_get_launch_index_x, ();\n st.global.u32 [%rd1], %r1;\n ret;\n}\n")
    t.check("mov.u32" not in ptxopt.optimize(optix, level=1, externals="optix").ptx and ptxopt.optimize(optix, guard="off").ptx, "externals")
    t.check(ptxopt.optimize(optix, externals="optix").guard.mode == "off", "the guard does not ask what ptxas refuses")
    t.check(raised(ptxopt.InvalidPtx, lambda: ptxopt.optimize(optix, guard="off", externals="none")) is not None, "externals=none")
    t.check(raised(ptxopt.UsageError, lambda: ptxopt.optimize(optix, externals="cuda")) is not None, "other externals")
    # Bytes that are no UTF-8, and zeros, survive.
    odd = b"// \xff\xfe\n" + text.encode()
    t.check(ptxopt.optimize(odd, level=0).ptx == odd, "bytes that are no text")
    t.check(ptxopt.optimize(odd.decode("utf-8", "surrogateescape"), level=0).ptx.encode("utf-8", "surrogateescape") == odd, "surrogates")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout.strip()
    t.check(ptxopt.version_line() == version and ptxopt.__version__ in version, f"{ptxopt.version_line()} and {version}")


def mistakes(t, ptxopt):
    text = sample("saxpy.ptx")
    error = raised(ptxopt.InvalidPtx, lambda: ptxopt.optimize(text.replace("ret;", "ret oops;"), file="k.ptx"))
    t.check(error and (error.file, error.line, error.column, error.reason) == ("k.ptx", 57, 6, "undefined symbol 'oops'"), f"{error!r}")
    t.check(error and error.caret == "\tret oops;\n\t    ^" and str(error).startswith("k.ptx:57:6: error: "), f"{error}")
    for wrong in ({"facts": {"version": 1, "kernels": [{"kernel": "other"}]}}, {"facts": {}}, {"level": 7}, {"passes": ["nope"]}, {"knobs": {"nope": 1}}, {"guard": "nope"}, {"guard": "estimate"}, {"guard_rule": "nope"}, {"guard_tries": 9}, {"guard_tries": -1}, {"arch": "x"},
                  {"jobs": "many"}, {"passes": [1]}, {"level": 1 << 40}, {"level": 1.5}, {"jobs": -1}, {"jobs": 1 << 32}, {"timeout": 0}, {"timeout": math.nan},
                  {"knobs": {"lsr-rp-limit": 1.5}}, {"knobs": {"lsr-rp-limit": 1 << 64}}):
        t.check(raised(ptxopt.UsageError, lambda: ptxopt.optimize(text, **wrong)), f"{wrong} is accepted")
    for wrong, said in (({"level": "2"}, "option 'level' is a number, not '2'"), ({"facts": "f.json"}, "option 'facts' is a dictionary"),
                        ({"knobs": ["a=1"]}, "option 'knobs' is a dictionary"), ({"passes": "dce"}, "option 'passes' is a list of words"),
                        ({"knobs": {"form-carry-steps": "maybe"}}, "it is off or gain or always"),
                        ({"knobs": {"lsr-rp-limit": "many"}}, "it is a number"), ({"ptxas": "/nowhere/ptxas"}, "'/nowhere/ptxas' is not a program"),
                        ({"ptxas": "/"}, "'/' is not a program")):
        t.check(said in str(raised(ptxopt.UsageError, lambda: ptxopt.optimize(text, **wrong))), f"{wrong}: not {said}")
    named, numbered = (ptxopt.optimize(sample("softmax.ptx"), knobs={"lsr-selection": value}, guard="off").ptx for value in ("cheapest", 1))
    t.check(named == numbered, "a value of a knob by its name")
    t.check("read_text() has the text" in str(raised(TypeError, lambda: ptxopt.optimize(ROOT / "samples" / "saxpy.ptx"))), "a path")
    for call in (ptxopt.optimize, ptxopt.time, lambda path: ptxopt.run(path, [])):
        t.check("is the name of a file" in str(raised(ptxopt.UsageError, lambda: call("samples/saxpy.ptx"))), "the name of a file")
    t.check(ptxopt.optimize(text, file=Path("a.ptx"), guard="off").ptx, "a path as the name in messages")
    t.check(repr(ptxopt.InvalidPtx) == "<class 'ptxopt.InvalidPtx'>", "the name of an exception")
    t.check(raised(ptxopt.UsageError, lambda: ptxopt.program_path("sh")), "another program")
    t.check(ptxopt.optimize(text, knobs={"lsr-check-rp": False}, guard="off").ptx, "a knob that is off")
    for limit in (None, math.inf):
        t.check(ptxopt.optimize(text, timeout=limit).ptx == ptxopt.optimize(text).ptx, f"a limit of {limit} seconds")
    t.check("'timeout' cannot be nan" in str(raised(ptxopt.UsageError, lambda: ptxopt.optimize(text, timeout=math.nan))), "no number of seconds")
    from ptxopt import _library
    library, size = _library._library, ctypes.c_size_t(7)
    t.check(library.ptxopt_status(None) == 2 and library.ptxopt_error(None) == b"there is no result", "no result")
    t.check(library.ptxopt_output(None, ctypes.byref(size)) and size.value == 0 and library.ptxopt_details(None) == b"{}", "no result")
    result = library.ptxopt_optimize(None, 5, None)
    t.check(library.ptxopt_status(result) == 2 and library.ptxopt_error(result) == b"there is no text", "no text")
    library.ptxopt_free(result)
    library.ptxopt_free(None)
    t.check(_library.call(text.encode(), b"{")[0] == 2 and _library.call(text.encode(), b'{"nope": 1}')[0] == 2, "options that are none")
    deep = b"[" * 200_000 + b"]" * 200_000
    for name in (b"level", b"facts", b"profile"):  # written into a message, or handed on as text
        t.check(_library.call(text.encode(), b'{"%s": %s}' % (name, deep))[0] == 2, f"options that nest too deeply in {name}")


def ptxas_options(t, ptxopt, folder):
    """The options of the client's ptxas: what makes none is told, what asks for plain code leaves the text, the guard passes the rest."""
    text = sample("histogram.ptx")
    for wrong in ("-g", ["k.ptx"], ["-arch=sm_80"], ["--gpu-name", "sm_80"], ["-o", "k.cubin"], ["--maxrregcount"], ["--unknown", "3"],
                  ["--input-as-string", "k"], [1]):
        t.check(raised(ptxopt.UsageError, lambda: ptxopt.optimize(text, ptxas_options=wrong)), f"ptxas_options={wrong} is accepted")
    for plain, why in (["-g"], "debug code"), (["--opt-level", "0"], "-O0"), (["-O0"], "-O0"):
        left = ptxopt.optimize(text, ptxas_options=plain, guard="ptxas", ptxas="/bin/false")
        t.check((left.ptx, left.not_optimized, left.cubin) == (text, why, None), f"{plain}: {left.not_optimized}")
    fake = Path(folder) / "ptxas"
    fake.write_text(f"#!/bin/sh\necho \"$*\" >> {folder}/calls\nexit 1\n", encoding="utf-8")
    fake.chmod(0o755)
    given = ["-lineinfo", "--fmad=false", "--maxrregcount", "64", "--unknown=3"]
    refused = ptxopt.optimize(text, arch="sm_90", guard="auto", ptxas=str(fake), ptxas_options=given, cubin=True)
    t.check(not refused.guard.asked and refused.changed and refused.not_optimized == "", "$PTXOPT_GUARD is off")
    t.check(raised(ptxopt.CheckFailed, lambda: ptxopt.optimize(text, arch="sm_90", guard="ptxas", ptxas=str(fake), ptxas_options=given)), "no figures")
    calls = (Path(folder) / "calls").read_text(encoding="utf-8").splitlines()
    t.check(len(calls) == 2 and all(call.startswith(" ".join(given) + " -v -arch=sm_90 ") for call in calls), f"{calls}")
    if not (real := a_ptxas()):
        print("api: skipped: what needs ptxas (it is not there)")
        return

    def assembled(**more):
        return ptxopt.optimize(sample("matmul.ptx"), arch="sm_90", guard="ptxas", ptxas=real, **more)

    few = assembled(ptxas_options=["-maxrregcount=24"], cubin=True, file="k.ptx")
    t.check(few.changed and few.guard.after["matmul"]["registers"] <= 24, f"{few.guard.after}")
    t.check(assembled().guard.after["matmul"]["registers"] > 24, "the option has no effect on this kernel")
    out, source = Path(folder) / "k.cubin", Path(folder) / "k.ptx"
    source.write_text(few.ptx, encoding="utf-8")
    by_hand = subprocess.run([real, "-maxrregcount=24", "-v", "-arch=sm_90", str(source), "-o", str(out)], capture_output=True, text=True, check=True)
    verbose = assembled(ptxas_options=["-maxrregcount=24", "-v"], cubin=True, file="k.ptx").cubin
    t.check(verbose == out.read_bytes(), "another cubin than by hand with -v")
    subprocess.run([real, "-maxrregcount=24", "-arch=sm_90", str(source), "-o", str(out)], check=True)
    t.check(few.cubin == out.read_bytes() and "Compiling entry function" in few.ptxas_messages, "another cubin than by hand")
    t.check(sorted(l for l in few.ptxas_messages.splitlines() if "time" not in l) == sorted(l for l in by_hand.stderr.splitlines() if "time" not in l), few.ptxas_messages)
    t.check(assembled(ptxas_options=["-maxrregcount=24"], cubin=True).cubin is None, "a cubin of an answer that was known")
    t.check(assembled(ptxas_options=["-maxrregcount=25"]).cubin is None, "a cubin that was not asked for")


def a_ptxas():
    usual = "/usr/local/cuda/bin/ptxas"
    return os.environ.get("PTXAS") or shutil.which("ptxas") or (usual if os.path.exists(usual) else None)


def cost(t, ptxopt, folder):
    """1,000 calls leave nothing; a call does not hold the GIL; threads optimize side by side."""
    text = sample("saxpy.ptx")
    for _ in range(100):
        ptxopt.optimize(text, guard="off")
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    for _ in range(CALLS):
        ptxopt.optimize(text, guard="off")
    spent = (time.process_time() - start) * 1000 / CALLS
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"api: {spent:.2f} ms of CPU a call, {grown} KiB more after {CALLS} calls")
    t.check(grown < MOST_KIB, f"{grown} KiB more")
    # A ptxas that waits, in another thread's call, for what this one does.
    begun, may_end, waits = (Path(folder) / name for name in ("begun", "may-end", "waiting-ptxas"))
    waits.write_text(f"#!/bin/sh\ntouch '{begun}'\ni=0\n"
                     f"while [ ! -e '{may_end}' ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done\n"
                     f"[ -e '{may_end}' ] && touch '{may_end}-seen'\nexit 1\n", encoding="utf-8")
    waits.chmod(0o755)
    asking = sample("histogram.ptx")
    call = threading.Thread(target=lambda: raised(ptxopt.CheckFailed, lambda: ptxopt.optimize(asking, guard="ptxas", ptxas=str(waits))))
    call.start()
    while call.is_alive() and not begun.exists():
        call.join(0.01)
    may_end.touch()
    call.join()
    t.check(Path(f"{may_end}-seen").exists(), "a call holds the GIL")
    results = []
    threads = [threading.Thread(target=lambda: results.append(ptxopt.optimize(text, guard="off").ptx)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    t.check(len(results) == 4 and len(set(results)) == 1, "threads have several answers")


def running(t, ptxopt):
    text = sample("saxpy.ptx")
    x, y = array.array("f", range(40)), array.array("f", [1] * 40)
    result = ptxopt.run(text, [40, 2.0, x, y], grid=2, block=32, profile=True, check_races=True)
    t.check(list(y) == [2 * v + 1 for v in x] and result.profile["opcodes"], f"saxpy: {list(y)[:4]}")
    ptxopt.run(text, [40, 1.0, y, y], grid=2, block=32)
    t.check(list(y) == [4 * v + 2 for v in x], "the same array twice")
    error = raised(ptxopt.ExecutionError, lambda: ptxopt.run(text, [40, 2.0, x[:39], y], grid=2, block=32))
    t.check(error and "out-of-bounds" in str(error) and str(error).startswith("kernel.ptx:47:2"), f"{error}")
    for wrong in ([40, 2.0, x], [1.5, 2.0, x, y], [1 << 40, 2.0, x, y], [40, "a", x, y], [40, 2.0, memoryview(x)[::2], y],
                  [40, 2.0, memoryview(x)[:20], memoryview(x)[10:]]):
        t.check(raised(ptxopt.UsageError, lambda: ptxopt.run(text, wrong, grid=2, block=32)), f"{wrong[:2]}... is accepted")
    t.check(raised(ptxopt.UsageError, lambda: ptxopt.run(text, [40, 2.0, x, y], kernel="nope")), "a kernel that is not there")
    for wrong in ({"grid": 1.5}, {"block": "x"}):
        t.check(raised(TypeError, lambda: ptxopt.run(text, [40, 2.0, x, y], **wrong)), f"{wrong} is accepted")
    t.check(raised(TypeError, lambda: ptxopt.optimize(5)), "a number is accepted as PTX")
    try:
        import numpy
    except ImportError:
        print("api: skipped: NumPy is not installed")
        return
    x, y = numpy.arange(40, dtype=numpy.float32), numpy.ones(40, numpy.float32)
    ptxopt.run(text, [numpy.uint32(40), numpy.float32(2), x, y], grid=(2, 1), block=32)
    t.check((y == 2 * x + 1).all(), "NumPy")
    ptxopt.run(text, [40, 2.0, x, y], grid=numpy.int64(2), block=(numpy.int32(32), 1))
    t.check((y == 4 * x + 1).all(), "a shape of NumPy's numbers")
    y.flags.writeable = False
    t.check(raised(ptxopt.UsageError, lambda: ptxopt.run(text, [40, 2.0, x, y], grid=2, block=32)), "a read-only array is written")
    ptxopt.run(text, [40, 2.0, y, x], grid=2, block=32)
    t.check((x == 2 * y + numpy.arange(40)).all(), "a read-only array is read")
    # Its bytes are addresses of Python objects, which no kernel may write.
    t.check(raised(ptxopt.UsageError, lambda: ptxopt.run(text, [40, 2.0, x, numpy.array([1, "x"] * 40, object)])), "objects")


def commands(t, ptxopt):
    text = sample("saxpy.ptx")
    wrong = text.replace("fma.rn.f32", "fma.rz.f32")
    t.check(ptxopt.verify(text, text) and not ptxopt.verify(text, wrong, trials=4), "verify")
    t.check(raised(ptxopt.CheckFailed, lambda: ptxopt.verify(text, wrong, trials=4, check=True)), "verify(check=True)")
    t.check(ptxopt.verify(ROOT / "samples" / "saxpy.ptx", text, trials=2).kernels[0].kernel == "saxpy", "verify of a path")
    page = ptxopt.report(text, ptxas=False)
    t.check("saxpy" in page.html and page._repr_html_().startswith("<iframe srcdoc=") and "<html" not in page._repr_html_(), "report")
    error = raised(ptxopt.InvalidPtx, lambda: ptxopt.report(text.replace("ret;", "ret oops;")))
    t.check(error and error.file == "input.ptx", f"{error!r}")
    if not a_ptxas():
        print("api: skipped: what needs ptxas (it is not there)")
        return
    t.check(ptxopt.diff(text, text, limits=["registers<=1"]).verdict == "regression", "a limit that is not kept")
    t.check(ptxopt.diff(text, text, limits=["registers<=255", "spills<=0"]).verdict == "ok", "limits that are kept")
    t.check(raised(ptxopt.UsageError, lambda: ptxopt.diff(text, text, limits="spills<=0")) is not None, "limits are a list")
    diff = ptxopt.diff(text, wrong)
    t.check(diff.verdict == "ok" and [r.name for r in diff.rows] == ["saxpy"] and "<table>" in diff._repr_html_(), repr(diff))
    timing = ptxopt.time(text, arch="sm_80")
    t.check(timing.kernels[0].name == "saxpy" and timing.kernels[0].dram > timing.kernels[0].l1, repr(timing))
    tuned = ptxopt.tune(text)
    t.check(tuned.kernels[0]["name"] == "saxpy" and ".entry saxpy" in tuned.ptx, repr(tuned))
    guarded = ptxopt.optimize(sample("histogram.ptx"), guard="ptxas")
    t.check(guarded.guard.before["histogram"]["registers"] > 0 and "<table>" in guarded._repr_html_(), f"{guarded.guard}")


def toolchains(t, ptxopt):
    """Packages of this Python that bring a ptxas are where it is looked for, in the process and in the program."""
    from ptxopt import _toolchains
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "nvidia/cu13/bin/ptxas"
        own.parent.mkdir(parents=True)
        own.write_text("#!/bin/sh\nexit 1\n")
        own.chmod(0o755)
        sys.path.append(folder)
        try:
            t.check(folder in _toolchains.package_folders(), "the package is not found")
            t.check(_toolchains.environment()["PTXOPT_PYTHON_PACKAGES"].split(":")[-1] == folder, "the program is not told")
        finally:
            sys.path.remove(folder)
        t.check(folder not in _toolchains.package_folders(), "a folder that is gone from sys.path")
        doctor = subprocess.run([ptxopt.program_path(), "doctor"], capture_output=True, text=True,
                                env={**os.environ, "PTXOPT_PYTHON_PACKAGES": folder})
        t.check(str(own) in doctor.stdout, f"the program does not find it: {doctor.stdout}")


def command_line(t, tool):
    def run(*arguments, **options):
        return subprocess.run([sys.executable, "-m", "ptxopt", *map(str, arguments)], capture_output=True, text=True, timeout=100, **options)
    by_tool = subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    t.check(run("--version").stdout == by_tool, "python -m ptxopt --version")
    t.check(run(ROOT / "samples/saxpy.ptx", "-o", "-").stdout.startswith("//"), "python -m ptxopt FILE")
    t.check(run("nope.ptx", "-o", "-").returncode == 2, "the exit code")
    t.check(run("triton").returncode == 2 and "usage" in run("triton").stderr, "python -m ptxopt triton")
    for arguments, said in ((["triton", "none.py"], "cannot open 'none.py'"), (["triton", "--guard=off", "k.py"], "--guard=off stands before the script"),
                            (["tritn", "k.py"], "is triton meant?")):
        mistake = run(*arguments)
        t.check(mistake.returncode == 2 and said in mistake.stderr and "Traceback" not in mistake.stderr, f"{arguments}: {mistake.stderr}")
    t.check("python -m ptxopt CLIENT" in run("--help").stdout and "Usage: ptxopt" in run("--help").stdout, "the help")
    with tempfile.TemporaryDirectory() as folder:
        real, link = Path(folder) / "real", Path(folder) / "ptxas"
        real.write_text("#!/bin/sh\necho real \"$*\"\n", encoding="utf-8")
        link.write_text(f"#!{sys.executable}\nfrom ptxopt._programs import ptxopt\nptxopt()\n", encoding="utf-8")
        for file in (real, link):
            file.chmod(0o755)
        by_link = subprocess.run([str(link), "--version"], capture_output=True, text=True, env={**os.environ, "PTXOPT_PTXAS": str(real)})
        t.check(by_link.stdout.startswith("real --version"), f"ptxopt by the name ptxas: {by_link}")
    here = run("numba", "-c", "import sys, ptxopt.numba; print(sys.argv, ptxopt.numba.stats())", "a")
    t.check(here.stdout.startswith("['-c', 'a'] client"), f"-c: {here.stdout}{here.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=os.path.abspath)
    tool = parser.parse_args().tool
    package.use(tool)
    os.environ["PTXOPT_GUARD"] = "off"
    work = tempfile.TemporaryDirectory()
    os.environ["PTXOPT_CACHE_DIR"] = os.path.join(work.name, "cache")
    import ptxopt
    t = Counted("api")
    for file in (ROOT / "python").rglob("*.py"):
        ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 9))  # the oldest version that the wheel is for
    optimizing(t, ptxopt, tool)
    mistakes(t, ptxopt)
    ptxas_options(t, ptxopt, work.name)
    with tempfile.TemporaryDirectory() as folder:
        cost(t, ptxopt, folder)
    running(t, ptxopt)
    commands(t, ptxopt)
    toolchains(t, ptxopt)
    command_line(t, tool)
    print(f"api: {t.checks - t.wrong} passed, {t.wrong} failed")
    return 1 if t.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
