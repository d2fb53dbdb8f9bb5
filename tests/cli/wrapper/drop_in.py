#!/usr/bin/env python3
"""The drop-in ptxas against ptxas: exit codes, messages and files to the letter, for the ways to call it.

  tests/cli/wrapper/drop_in.py --tool PATH

Each call is made twice, in two folders with the same files. The cubins are compared too: with -O1, only what ptxas does
not see changes in the PTX. Another ptxas, a script that notes how it was called, shows what the real one gets.
Skipped (77) without ptxas.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import common
from common import SAMPLES, environment, run

WARNS = """.version 6.3
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
 .reg .b32 r, s; .reg .b64 d;
 mov.b32 s, 4; // not used
 ld.param.u64 d,[p];
 mov.b32 r, 1;
 shfl.down.b32 r,r,1,31;
 st.global.u32 [d],r;
 ret;
}
"""

# What is called: arguments, and the standard input if any. In each folder: a.ptx and b.ptx for sm_80, "d d/x y.ptx",
# w.ptx with something to warn of, bad.ptx, empty.ptx, and options files.
CALLS = [
    "a.ptx -arch=sm_80", "a.ptx -arch sm_80 -o out.cubin", "a.ptx --gpu-name=sm_90 --output-file=out.cubin",
    "--gpu-name sm_86 --output-file out.cubin a.ptx", "-arch=sm_80 -m64 -v -O3 a.ptx -o out.cubin",
    "-arch=sm_80 -m 64 --machine=64 --verbose --opt-level 2 a.ptx", "-arch=sm_80 -O1 a.ptx", "-arch=sm_80 -O0 a.ptx",
    "-arch=sm_80 -O a.ptx", "-arch=sm_80 -O=3 a.ptx", "-arch=sm_80 -O 3 a.ptx", "-arch=sm_80 -g a.ptx",
    "-arch=sm_80 -c a.ptx", "-arch=sm_80 -ewp a.ptx", "-arch=sm_80 -e saxpy a.ptx", "-arch=sm_80 -e=nothing a.ptx",
    "-arch=sm_80 -maxrregcount 16 a.ptx", "-arch=sm_80 -maxrregcount32 a.ptx", "-arch=sm_80 -regUsageLevel=3 a.ptx",
    "-arch=sm_80 -fmad false a.ptx", "-arch=sm_80 -pic true a.ptx", "-arch=sm_80 -w -Werror -warn-spills a.ptx",
    "-arch=sm_80 -dlcm cg -dscm=wt a.ptx", "-arch=sm_80 -astoolspatch a.ptx", "-arch=sm_80 -sanitize memcheck a.ptx",
    "-arch=sm_80 -split-compile 2 a.ptx", "-arch=sm_80 -Ofc max a.ptx", "-arch=sm_80 -no-bb-merge a.ptx",
    "-arch=sm_80 -arch=sm_90 a.ptx", "-arch=compute_80 a.ptx -v", "-arch=lto_80 a.ptx", "a.ptx", "a.ptx -arch",
    "-arch=nothing a.ptx", "-arch=sm_75 a.ptx", "-arch=sm_80 a.ptx b.ptx -o out.cubin", "-arch=sm_80 a.ptx a.ptx",
    "-arch=sm_80 -bogus a.ptx", "--bogus=1 -arch=sm_80 a.ptx", "-arch=sm_80 nothing.ptx", "-arch=sm_80 .",
    "-arch=sm_80 a.ptx nothing.ptx", "-arch=sm_80 a.ptx -o nothing/out.cubin", "-arch=sm_80 bad.ptx",
    "-arch=sm_80 empty.ptx", "-arch=sm_80 a.ptx bad.ptx", "-arch=sm_80 'd d/x y.ptx' -o 'd d/o u t'", "--version", "-V",
    "--help", "-h", "--list-version", "", "a.ptx --version", "-arch=sm_75 w.ptx -o out.cubin", "-arch=sm_75 w.ptx -w",
    "-arch=sm_75 w.ptx -Werror", "-v -arch=sm_75 w.ptx -maxrregcount=16", "w.ptx", "-optf of.txt", "--options-file=of.txt -v",
    "-optf of.txt,of2.txt", "-optf nothing.txt a.ptx", "-optf round.txt a.ptx", "-optf blank.txt",
    ("-arch=sm_80 - -o out.cubin", "a.ptx"), ("-arch=sm_80 /dev/stdin -o out.cubin", "a.ptx"), ("-arch=sm_75 -", "w.ptx"),
    ("-arch=sm_80 -", "bad.ptx"), ("-arch=sm_80 - a.ptx", "b.ptx"), ("-arch=sm_80 a.ptx", "b.ptx"),
]


def prepare(folder):
    folder.mkdir()
    shutil.copy(SAMPLES / "saxpy.ptx", folder / "a.ptx")
    shutil.copy(SAMPLES / "softmax.ptx", folder / "b.ptx")
    (folder / "d d").mkdir()
    shutil.copy(SAMPLES / "histogram.ptx", folder / "d d" / "x y.ptx")
    (folder / "w.ptx").write_text(WARNS)
    (folder / "bad.ptx").write_text((SAMPLES / "saxpy.ptx").read_text().replace("mul.wide.s32", "mul.wide.s99"))
    (folder / "empty.ptx").write_text("")
    (folder / "of.txt").write_text("-arch=sm_80\n  b.ptx -o \"out.cubin\"")
    (folder / "of2.txt").write_text("-v -w")
    (folder / "round.txt").write_text("-optf round2.txt")
    (folder / "round2.txt").write_text("-v")
    (folder / "blank.txt").write_text("-arch=sm_80 d\\ d/x\\ y.ptx -o \"d d/out\"")


def made(folder):
    """The files, but for the PTX that was there."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def words_of(call):
    return [word.strip("'") for word in re.findall(r"'[^']*'|\S+", call)]


def without_names(text):
    """ptxas names its copy of standard input by the number of the process."""
    return re.sub(rb"tmpxft_\w+-\d+_stdin", b"stdin", common.without_times(text))


def to_the_letter(checks, drop_in, ptxas, folder):
    for number, call in enumerate(CALLS):
        call, source = call if isinstance(call, tuple) else (call, None)
        results = []
        for program, options in ((ptxas, None), (drop_in, "-O1"), (drop_in, "-O2")):
            place = folder / str(number) / f"{len(results)}"
            place.parent.mkdir(exist_ok=True)
            prepare(place)
            data = (place / source).read_bytes() if source else b""
            result = run([program, *words_of(call)], cwd=place, input=data, env=environment(ptxas, options, TMPDIR=folder))
            results.append((result.returncode, without_names(result.stdout), without_names(result.stderr), made(place)))
        plain = results[0]
        for (code, out, err, files), level in zip(results[1:], ("-O1", "-O2")):
            what = f"ptxas {call} at {level}"
            checks.equal(code, plain[0], what + ": exit code")
            checks.equal(out, plain[1], what + ": standard output")
            checks.equal(err if level == "-O1" else figures_gone(err), plain[2] if level == "-O1" else figures_gone(plain[2]),
                         what + ": standard error")
            checks.equal(sorted(files), sorted(plain[3]), what + ": files")
            if level == "-O1" and "-lineinfo" not in call:
                different = [name for name in files if files[name] != plain[3].get(name)]
                checks.equal(different, [], what + ": bytes of files")
    checks.equal([p.name for p in folder.glob("ptxopt-*")], [], "temporary folders left behind")


def figures_gone(text):
    return re.sub(rb"\d+", b"N", text)


RECORDER = """#!/bin/sh
for word; do printf '%s\\n' "$word" >> {log}; case "$word" in *.ptx) cat "$word" >> {text};; esac; done
exec {real} "$@"
"""


def what_ptxas_gets(checks, tool, drop_in, ptxas, folder):
    folder.mkdir()
    log, text = folder / "log", folder / "text"
    recorder = common.script(folder / "recorder", RECORDER.format(log=log, text=text, real=ptxas))
    kernel = SAMPLES / "kernels" / "softmax.ptx"

    def call(arguments, options=None, **keywords):
        for file in (log, text):
            file.unlink(missing_ok=True)
        result = run([drop_in, *arguments], env=environment(recorder, options), cwd=folder, **keywords)
        return result, log.read_text().splitlines() if log.exists() else [], text.read_bytes() if text.exists() else b""

    arguments = ["-arch=sm_90", "-v", str(kernel), "-lineinfo", "-o", "out.cubin"]
    result, words, got = call(arguments)
    checks.equal(result.returncode, 0, "recorder: exit code")
    checks.equal([w if not w.endswith(".ptx") else Path(w).name for w in words],
                 [w if not w.endswith(".ptx") else Path(w).name for w in arguments], "the same arguments but for the path")
    wanted = common.optimized(tool, kernel, "sm_90", "--tidy=0")
    checks.check(wanted != kernel.read_bytes() and got == wanted, "ptxas gets what the tool makes for the architecture")
    checks.check(b"softmax" in result.stderr and b"ptxopt" not in result.stderr, "messages of ptxas alone", result.stderr)

    for options, expected in (("-O0", kernel.read_bytes()), ("-O1", common.optimized(tool, kernel, "sm_90", "-O1")),
                              ("--passes=dce", common.optimized(tool, kernel, "sm_90", "--passes=dce")),
                              ("--skip-pass lsr --lsr-loop-level=1",
                               common.optimized(tool, kernel, "sm_90", "--skip-pass=lsr", "--tidy=0")),
                              ("--tidy=1", common.optimized(tool, kernel, "sm_90"))):
        checks.equal(call(arguments, options)[2], expected, f"PTXOPT_OPTIONS={options}")
    for mistake in ("--bogus", "--stats", "--verify", "'quote", "-O7", "--passes=nothing", "--guard=maybe", "positional"):
        result, words, got = call(arguments, mistake)
        checks.equal((result.returncode, got), (0, kernel.read_bytes()), f"PTXOPT_OPTIONS={mistake}: the PTX as it was")
        warnings = [line for line in result.stderr.splitlines() if line.startswith(b"ptxopt: warning: ")]
        checks.equal(len(warnings), 1, f"PTXOPT_OPTIONS={mistake}: one warning")
        if mistake in ("--stats", "--verify"):
            checks.check(f"PTXOPT_OPTIONS: {mistake} is for ptxopt IN -o OUT, and does not apply here; instead: ".encode() in warnings[0],
                         f"PTXOPT_OPTIONS={mistake}: what to do", warnings[0])
    result = call(arguments, "-v")[0]
    checks.check(b"ptxopt: " in result.stderr and b"instructions -> " in result.stderr, "-v says what is done", result.stderr)

    for untouched in ("-g", "-O0", "--device-debug", "--opt-level=0", "-astoolspatch", "-sanitize=memcheck"):
        checks.equal(call([*arguments, untouched])[2], kernel.read_bytes(), f"{untouched}: left alone")

    # Options files are taken apart, as the input in one has to be another.
    (folder / "options").write_text(f'-arch=sm_90 "{kernel}" -o out.cubin')
    result, words, got = call(["-optf", "options", "-v"])
    checks.equal((result.returncode, got), (0, wanted), "an input in an options file")

    # A report of one input, and of each in a folder; the PTX beside its input.
    checks.equal(call(arguments, "--report=r.json")[0].stderr.count(b"ptxopt"), 0, "--report=FILE")
    weak = folder / "weak.ptx"
    weak.write_text(".version 8.0\n.target sm_80\n.address_size 64\n.weak .func f() { membar.gl; ret; }\n"
                    ".visible .entry k() { call.uni f, (); ret; }\n")
    for more, stays in (([], False), (["-c"], True), (["--compile-only"], True)):
        got = call(["-arch=sm_80", *more, str(weak), "-o", "out.cubin"])[2]
        checks.check((b"call" in got) == stays and b"membar" in got, f"{more}: a weak function may be another one after linking", got)

    checks.check((folder / "r.json").read_text().startswith("{"), "--report=FILE: a report")
    copy = folder / "tmpxft_0000abcd_00000000-6_copy.ptx"
    shutil.copy(kernel, copy)
    call(["-arch=sm_90", str(copy), "-o", "out.cubin"], "--report=reports/ --keep-ptx")
    checks.check([p for p in (folder / "reports").iterdir() if re.fullmatch(r"copy\.sm_90\.\w{8}\.json", p.name)],
                 "--report=FOLDER/: named by input, architecture and text", str(list((folder / "reports").iterdir())))
    checks.equal(copy.with_suffix(".ptxopt.ptx").read_bytes(), common.optimized(tool, kernel, "sm_90"), "--keep-ptx: tidy")


def tidy_or_not(checks, tool, ptxas, folder):
    """The drop-in drops changes that only tidy: ptxas makes the same of it, byte for byte."""
    folder.mkdir()
    paths = [*SAMPLES.glob("*.ptx"), *(SAMPLES / "kernels").glob("*.ptx")]
    checks.check(len(paths) > 5, "there are samples", str(paths))
    for path in paths:
        cubins = []
        for options in (None, "--tidy=1"):
            out = folder / "k.cubin"
            result = run([common.drop_in_of(tool), path, "-arch=sm_80", "-o", out], env=environment(ptxas, options))
            checks.equal(result.returncode, 0, f"{path.name} {options}")
            cubins.append(out.read_bytes())
        checks.check(cubins[0] == cubins[1], f"{path.name}: other machine code without tidying")


def facts_of_launches(checks, drop_in, ptxas, folder):
    """--facts speaks of all files of a build: kernels of others are not wrong, and what is wrong leaves the PTX as it is."""
    folder.mkdir()
    kernel, facts = folder / "k.ptx", folder / "facts.json"
    shutil.copy(SAMPLES / "saxpy.ptx", kernel)
    facts.write_text('{"version": 1, "kernels": [{"kernel": "saxpy", "block": [64, 1, 1]}, {"kernel": "other", "block": [32]}]}')

    def call(words):
        result = run([drop_in, kernel, "-arch=sm_80", "-o", folder / "k.cubin"], env=environment(ptxas, words + " -v --guard=off --keep-ptx"))
        kept = kernel.with_suffix(".ptxopt.ptx")
        text = kept.read_text() if kept.exists() else None
        kept.unlink(missing_ok=True)
        return result.returncode, result.stderr.decode(), text
    code, said, text = call(f"--facts {facts}")
    checks.check(code == 0 and text is not None and "%ntid" in kernel.read_text() and "%ntid" not in text, "--facts: the block is 64", said)
    checks.check(f"no kernel of {kernel} matches 'other' [facts-of-others]" in said, "--facts: kernels of other files", said)
    profile = folder / "app.profile"
    profile.write_text('{"format": "ptxopt-profile", "version": 1, "unit": "instructions", "kernels": [{"kernel": "saxpy", "digest": "0", '
                       '"parameters": [4, 4, 8, 8], "launches": 1, "time": 1, "loops": [], "classes": []}, {"kernel": "other", "digest": "0", '
                       '"parameters": [], "launches": 1, "time": 1, "loops": [], "classes": []}]}')
    code, said, text = call(f"--profile-use {profile}")
    checks.check(code == 0 and f"{profile} says of 1 kernel; 1 more that it has are not in the text: other [profile]" in said, "--profile-use", said)
    profile.write_text("{}")
    code, said, text = call(f"--profile-use {profile}")
    checks.check(code == 0 and text is None and "left as it is" in said and "not a profile" in said, "--profile-use with no profile", said)
    for content, word in (('{"version": 2}', "version"), ("", "empty"), (None, "cannot read")):
        facts.unlink() if content is None else facts.write_text(content)
        code, said, text = call(f"--facts {facts}")
        checks.check(code == 0 and text is None and "left as it is" in said and word in said, f"--facts with {content!r}", said)


def ways_in(checks, tool, ptxas, folder):
    """Names, subcommand, pipes and strings: all the same cubin."""
    folder.mkdir()
    kernel = SAMPLES / "kernels" / "softmax.ptx"
    text = kernel.read_bytes()
    ways = {
        "as": ([tool, "as"], kernel, b""),
        "ptxas": ([common.link_as(tool, folder / "1")], kernel, b""),
        "ptxopt-ptxas": ([common.drop_in_of(tool)], kernel, b""),
        "-": ([tool, "as"], "-", text),
        "/dev/stdin": ([tool, "as"], "/dev/stdin", text),
        "-ias": ([tool, "as", "-ias"], text.decode(), b""),
        "--input-as-string=": ([tool, "as"], "--input-as-string=" + text.decode(), b""),
    }
    cubins = {}
    for way, (program, source, data) in ways.items():
        out = folder / f"{len(cubins)}.cubin"
        result = run([*program, source, "-arch=sm_80", "-o", out], env=environment(ptxas), input=data)
        checks.equal((result.returncode, result.stderr), (0, b""), f"by {way}")
        cubins[way] = out.read_bytes() if out.exists() else b""
    fifo, out = folder / "pipe", folder / "fifo.cubin"
    os.mkfifo(fifo)
    with subprocess.Popen(["sh", "-c", f"cat '{kernel}' > '{fifo}'"]):
        result = run([tool, "as", fifo, "-arch=sm_80", "-o", out], env=environment(ptxas))
    checks.equal((result.returncode, result.stderr), (0, b""), "by a named pipe")
    cubins["pipe"] = out.read_bytes()
    checks.check(cubins["as"] and len(set(cubins.values())) == 1, "one cubin by all ways", str({k: len(v) for k, v in cubins.items()}))
    checks.equal(common.kernels(folder / "0.cubin"), ["softmax"], "the kernel is in it")
    both = subprocess.run([tool, "as", "w.ptx", "-arch=sm_75", "-v"], cwd=prepared(folder / "one"), env=environment(ptxas),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    checks.check(both.stdout.count(b"w.ptx, line 10; warning") == 2, "both streams in one file", both.stdout)


def prepared(folder):
    prepare(folder)
    return folder


COUNTER = """#!/bin/sh
for word; do case $word in *.ptx) echo "$*" >> {log};; esac; done
exec {real} "$@"
"""


def assembled_once(checks, drop_in, ptxas, folder):
    """What the guard has assembled is the cubin: the real ptxas runs once for the input and once for the result."""
    folder.mkdir()
    log = folder / "log"
    counter = common.script(folder / "counter", COUNTER.format(log=log, real=ptxas))
    prepare(folder / "files")
    kernel = SAMPLES / "kernels" / "softmax.ptx"
    # The input; the runs of a first call and of a second one, which finds the figures in the cache.
    cases = [(["-v", str(kernel)], 2, 1), ([str(kernel)], 2, 1), (["-lineinfo", "-v", str(kernel)], 2, 1), (["-c", str(kernel)], 2, 1),
             (["--opt-level=2", str(kernel)], 2, 1),
             # Not for these: several inputs, standard input, an output that is no file.
             ([str(kernel), str(SAMPLES / "histogram.ptx")], None, None), (["-o", "/dev/null", str(kernel)], 3, 1)]
    for number, (words, first, second) in enumerate(cases):
        out = folder / f"{number}.cubin"
        words = ["-arch=sm_90", *words] + ([] if "-o" in words else ["-o", str(out)])
        # By the rule that keeps nothing of this kernel, so that the guard's cubin is that of the third call.
        guarded = {"PTXOPT_GUARD": "ptxas", "PTXOPT_GUARD_RULE": "warps", "PTXOPT_CACHE_DIR": folder / f"cache{number}"}
        cubins, streams = [], []
        for expected, more in ((first, guarded), (second, guarded), (1, {})):
            log.unlink(missing_ok=True)
            out.unlink(missing_ok=True)
            result = run([drop_in, *words], env=environment(counter, **more), cwd=folder)
            if first is not None:
                checks.equal(result.returncode, 0, f"{words}: exit code")
                checks.equal(len(log.read_text().splitlines()), expected, f"{words}: runs of ptxas")
            streams.append((without_names(result.stdout), without_names(result.stderr)))
            cubins.append(out.read_bytes() if out.exists() else b"")
        checks.check(streams[0] == streams[1] == streams[2], f"{words}: streams", str(streams))
        if out.exists():
            checks.check(cubins[0] == cubins[1] == cubins[2] and "softmax" in common.kernels(out), f"{words}: cubins")
    # Without -o, and where it cannot be written: as ptxas does it.
    guarded = environment(counter, PTXOPT_GUARD="ptxas", PTXOPT_CACHE_DIR=folder / "cache")
    run([drop_in, "-arch=sm_90", str(kernel)], env=guarded, cwd=folder)
    checks.check((folder / "elf.o").exists(), "without -o: elf.o")
    result = run([drop_in, "-arch=sm_80", str(kernel), "-o", "nothing/out"], env=guarded, cwd=folder)
    plain = run([ptxas, "-arch=sm_80", str(kernel), "-o", "nothing/out"], cwd=folder)
    checks.equal((result.returncode, (folder / "nothing").exists()), (plain.returncode, False), "an output in no folder")
    # ptxas says that an option is given twice, which the guard's call does not have.
    twice = ["-arch", "sm_80", "-arch", "sm_90", str(kernel), "-o", "out"]
    results = [run([program, *twice], env={**guarded, "PTXOPT_CACHE_DIR": str(folder / "twice")}, cwd=folder) for program in (ptxas, drop_in)]
    checks.equal((results[1].stdout, results[1].stderr), (results[0].stdout, results[0].stderr), "two architectures")
    checks.check(b"gpu-name" in results[0].stderr + results[0].stdout, "ptxas warns of two architectures")
    # Warnings name the input, by its lines.
    results = [run([program, "-arch=sm_75", "w.ptx", "-o", "out"], env=guarded, cwd=folder / "files") for program in (ptxas, drop_in)]
    checks.equal((results[1].stdout, results[1].stderr), (results[0].stdout, results[0].stderr), "warnings under the guard")


FOLDED = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
 .reg .b32 %r<3>; .reg .b64 %d<5>;
 ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
 add.s64 %d4, %d3, 256; ld.global.u32 %r2, [%d3]; st.global.u32 [%d4], %r2; ret;
}
"""


def nothing_to_ask(checks, tool, drop_in, ptxas, folder):
    """What changes no machine code is not done: ptxas runs once, on the PTX as it was given, in our place."""
    folder.mkdir()
    log, text, source = folder / "log", folder / "text", folder / "folded.ptx"
    source.write_text(FOLDED)
    checks.check(common.optimized(tool, source, "sm_80") != FOLDED.encode(), "the tool folds a constant into an address")
    recorder = common.script(folder / "recorder", RECORDER.format(log=log, text=text, real=ptxas))
    environ = environment(recorder, PTXOPT_GUARD="ptxas") | {"PTXOPT_CACHE_DIR": ""}
    words = ["-arch=sm_80", str(source), "-o", str(folder / "out.cubin")]
    result = run([drop_in, *words], env=environ)
    checks.equal((result.returncode, log.read_text().splitlines()), (0, words), "the only call of ptxas")
    checks.equal(text.read_text(), FOLDED, "what it gets")


def large_pages(checks, drop_in, ptxas, folder):
    """Every ptxas gets GLIBC_TUNABLES, unless the user has some; the cubins are those that ptxas makes without."""
    folder.mkdir()
    log, kernel = folder / "log", SAMPLES / "kernels" / "softmax.ptx"
    noting = common.script(folder / "noting", f'#!/bin/sh\necho "${{GLIBC_TUNABLES-unset}}" >> {log}\nexec {ptxas} "$@"\n')
    for guard, calls in (("off", 1), ("ptxas", 2)):
        cubins = []
        for users, expected in ((None, "glibc.malloc.hugetlb=1:"), ("glibc.malloc.perturb=0", "glibc.malloc.perturb=0")):
            log.unlink(missing_ok=True)
            environ = environment(noting, PTXOPT_GUARD=guard, PTXOPT_GUARD_RULE="warps") | {"PTXOPT_CACHE_DIR": ""}
            environ.pop("GLIBC_TUNABLES", None)
            if users is not None:
                environ["GLIBC_TUNABLES"] = users
            result = run([drop_in, "-arch=sm_90", "-v", str(kernel), "-o", str(folder / "out")], env=environ)
            seen = log.read_text().splitlines()
            checks.check(result.returncode == 0 and len(seen) == calls and all(line.startswith(expected) for line in seen),
                         f"guard {guard}, GLIBC_TUNABLES {users}", f"{result.stderr} {seen}")
            cubins.append((folder / "out").read_bytes())
            log.unlink()
            done = run(["sh", "-c", f"ulimit -v 4000000; exec {drop_in} -arch=sm_90 {kernel} -o {folder / 'out'}"], env=environ)
            checks.equal((done.returncode, set(log.read_text().split())), (0, {users or "unset"}), f"guard {guard}: a limit of memory")
        checks.check(cubins[0] == cubins[1], f"guard {guard}: the same cubin by large pages")


def table_of_options(checks, ptxas):
    """Every option of `ptxas --help` is in the table, and takes a value there if it takes one."""
    rows = re.findall(r'^PTXAS_OPTION\("([^"]+)", "([^"]+)", (\w+), (\w+)\)',
                      (common.ROOT / "src" / "commands" / "wrapper" / "ptxas_options.def").read_text(), re.M)
    table = {("--" + long, "-" + short): follows for long, short, follows, _ in rows}
    listed = re.findall(r"^(--[\w-]+).*?\((-[\w-]+)\)", run([ptxas, "--help"]).stdout.decode(), re.M)
    checks.check(len(listed) > 50, "options in ptxas --help")
    for pair in listed:
        if not checks.check(pair in table, f"{pair[0]} ({pair[1]}) is in ptxas_options.def"):
            continue
        for name in pair:
            asks = b"argument expected after" in run([ptxas, name]).stderr
            joined = name.startswith("--") or table[pair] != "Level"
            checks.equal(table[pair] != "Flag" and joined, asks, f"{name}: whether a value follows")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool = str(Path(parser.parse_args().tool).resolve())
    ptxas = common.real_ptxas()
    if not ptxas:
        print("drop_in: skipped: there is no ptxas")
        return common.SKIPPED
    checks = common.Checks("drop_in")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        drop_in = common.link_as(tool, folder / "bin")
        (folder / "letter").mkdir()
        to_the_letter(checks, drop_in, ptxas, folder / "letter")
        what_ptxas_gets(checks, tool, drop_in, ptxas, folder / "gets")
        tidy_or_not(checks, tool, ptxas, folder / "tidy")
        facts_of_launches(checks, drop_in, ptxas, folder / "facts")
        ways_in(checks, tool, ptxas, folder / "ways")
        assembled_once(checks, drop_in, ptxas, folder / "once")
        nothing_to_ask(checks, tool, drop_in, ptxas, folder / "nothing")
        large_pages(checks, drop_in, ptxas, folder / "pages")
        table_of_options(checks, ptxas)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
