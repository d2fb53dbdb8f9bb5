#!/usr/bin/env python3
"""ptxopt emulate: CUDA programs that check themselves, run plain, optimized, and both compared; programs that fail.

  tests/cli/emulate/run.py --tool PATH                 all but Thrust, by nvcc -O3
  tests/cli/emulate/run.py --tool PATH --whole         all, also nvcc -G, and clang where it takes the toolkit
  tests/cli/emulate/run.py --tool PATH scan sorts      these programs

77 without nvcc. What the compilers made is kept in $PTXOPT_KEPT.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "lib"))
import exports  # noqa: E402
from checking import Counted  # noqa: E402
from compilers import digest, find, first_line, included, run, version  # noqa: E402

SKIPPED = 77
LIMIT = 120  # seconds
ARCHITECTURE = {"clusters": 90}
PARTS = {"relocatable": ["relocatable/second.cu"]}  # further files of a program
FLAGS = {"virtual_functions": ["--extended-lambda"], "relocatable": ["-rdc=true"]}
COSTLY = {"thrust_algorithms"}  # to compile
# clang has no lambdas of the device without an option of its own, and not every header of the toolkit.
NOT_BY_CLANG = {"cub_primitives", "thrust_algorithms", "thread_groups", "pipelines", "clusters", "grid_sync",
                "relocatable"}
# By nvcc -G optimized all the same: modules of its own, and PTX that is linked, which drops what is for debuggers.
OPTIMIZED_WITH_G = {"driver", "relocatable"}
PROVOKE_ERRORS = {"clusters", "grid_sync", "matrix_product"}  # that launches are refused with
HAVE_NO_LAUNCH = {"queries"}
HAS = {"plain": [], "optimized": ["--optimize"], "compared": ["--compare"]}


class Builder:
    def __init__(self, nvcc, folder):
        self.nvcc, self.folder = nvcc, folder
        self.version = version(nvcc)
        folder.mkdir(parents=True, exist_ok=True)

    def build(self, source, command, compiler):
        """The program, made unless it is there; or what the compiler said."""
        parts = [source.parent / part for part in PARTS.get(source.stem, [])]
        text = b"".join(included(part) for part in [source, *parts])
        program = self.folder / f"{source.stem}-{digest(text, ' '.join(map(str, command)), compiler)}"
        if program.exists():
            return program, ""
        with tempfile.TemporaryDirectory(dir=self.folder) as work:
            done = run([*command, source, *parts, "-o", f"{work}/program"], 400, work)
            if done.returncode != 0:
                return None, first_line(done.stderr + done.stdout)
            os.replace(f"{work}/program", program)
        return program, ""

    def by_nvcc(self, source, *flags, code=None, runtime="shared"):
        number = ARCHITECTURE.get(source.stem, 80)
        code = code or f"compute_{number}"
        return self.build(source, [self.nvcc, "-std=c++17", "-gencode", f"arch=compute_{number},code={code}", "-cudart",
                                   runtime, *FLAGS.get(source.stem, []), *flags], self.version)

    def by_clang(self, clang, source, *options):
        cuda = Path(self.nvcc).resolve().parents[1]
        return self.build(source, [clang, "-x", "cuda", f"--cuda-path={cuda}", "--cuda-gpu-arch=sm_80", "--cuda-include-ptx=all",
                                   "-Wno-unknown-cuda-version", *options, "-std=c++17", "-O2", f"-L{cuda}/lib64", "-lcudart",
                                   "-lstdc++", "-lm"], version(clang))


def emulate(tool, *words):
    environment = {**os.environ, "PTXOPT_CACHE_DIR": ""}
    try:
        return subprocess.run([tool, "emulate", *map(str, words)], capture_output=True, text=True, errors="replace",
                              env=environment, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, -1, "", f"took more than {LIMIT} s")


def check_program(tool, name, program, is_optimized=True):
    """What is wrong, a text each; whether its module is to be changed."""
    wrong, outputs = [], set()
    for how, options in HAS.items():
        allowed = ["--allow-failures"] if name.split()[0] in PROVOKE_ERRORS else []
        done = emulate(tool, *options, *allowed, program)
        said = done.stderr.strip().splitlines()
        has_nothing = how == "compared" and name.split()[0] in HAVE_NO_LAUNCH
        if done.returncode != (2 if has_nothing else 0) or "passed" not in done.stdout.splitlines():
            wrong.append(f"{name}, {how}: exit code {done.returncode}: {' / '.join(said[-4:])}")
        # A program may load several modules.
        modules = re.search(r"; (\d+) of (\d+) modules optimized", done.stderr)
        if how != "plain" and (not modules or int(modules[1]) != (int(modules[2]) if is_optimized else 0)):
            wrong.append(f"{name}, {how}: {said[-1:]}")
        compared = "; no kernel was launched, so nothing was compared" if has_nothing else r"; \d+ launches compared, equal"
        if how == "compared" and not re.search(f"{compared}$", done.stderr, re.M):
            wrong.append(f"{name}: {' / '.join(said)}")
        outputs.add(done.stdout)
    if len(outputs) != 1:
        wrong.append(f"{name}: what is printed differs: {outputs}")
    return wrong


def test_programs(tool, builder, names, whole, jobs):
    tests = Counted("programs")
    sources = sorted((HERE / "programs").glob("*.cu"))
    sources = [s for s in sources if (s.stem in names if names else whole or s.stem not in COSTLY)]
    ways = {"nvcc -O3": lambda s: builder.by_nvcc(s, "-O3")}
    if whole:
        # PTX for debuggers is not optimized; it runs.
        ways["nvcc -G"] = lambda s: builder.by_nvcc(s, "-G")
        for clang in filter(None, (find("CLANG_22", "clang-22"), find("CLANG_19", "clang-19"))):
            ways[Path(clang).name] = lambda s, clang=clang: builder.by_clang(clang, s, "--no-offload-new-driver")
            # From clang 21 on its own linker makes the fat binary, which is in a package of its own.
            if Path(clang).resolve().with_name("clang-linker-wrapper").exists():
                ways[f"{Path(clang).name}, its own linker"] = lambda s, clang=clang: builder.by_clang(clang, s, "--offload-new-driver")

    def one(way, source):
        program, said = ways[way](source)
        if program is None:
            return way, source.stem, f"it does not compile: {said}", []
        return way, source.stem, "", check_program(tool, f"{source.stem} by {way}", program,
                                                   way != "nvcc -G" or source.stem in OPTIMIZED_WITH_G)

    work = [(way, s) for s in sources for way in ways if not (way.startswith("clang") and s.stem in NOT_BY_CLANG)]
    refused = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for way, name, why, wrong in pool.map(lambda w: one(*w), work):
            if why and way.startswith("clang"):
                refused.setdefault(way, []).append(f"{name}: {why}")
                continue
            tests.check(not why and not wrong, "\n  ".join([f"{name} by {way}: {why}" if why else "", *wrong]).strip())
    for way, those in refused.items():
        print(f"{way} refuses {len(those)} programs, the first: {those[0]}")
    return tests


PLACE = r"^module-1\.ptx:\d+:\d+: error: "


def summary(launches, more="", failed=0, refused=0):
    return (f"ptxopt emulate: {launches} in [0-9.]+ s" + (f", {failed} failed" if failed else "") +
            (f", {refused} more refused, which -v explains" if refused else "") + more + "\n")


# The case, options, the exit code, the errors that the program sees, what is said.
FAULTS = [
    ("plain", [], 0, "launch cudaSuccess wait cudaSuccess copy cudaSuccess 7", "^$"),
    ("bounds", [], 1, "launch cudaErrorIllegalAddress wait cudaErrorIllegalAddress",
     PLACE + r"out-of-bounds: write of 4 bytes at .*'device memory' of 256 bytes.*\nst\.global\.u32 .*\n\^\n  in _Z5storePii, "
     r"thread \(0,0,0\) of block \(0,0,0\)"),
    ("bounds", ["--optimize"], 1, "launch cudaErrorIllegalAddress wait cudaErrorIllegalAddress",
     r"^module-1\.optimized\.ptx:\d+:\d+: error: out-of-bounds"),
    ("null", [], 1, "launch cudaErrorIllegalAddress wait cudaErrorIllegalAddress", PLACE + "out-of-bounds"),
    ("misaligned", [], 1, "launch cudaErrorMisalignedAddress wait cudaErrorMisalignedAddress", PLACE + "misaligned"),
    ("assert", [], 1, "launch cudaErrorAssert wait cudaErrorAssert", PLACE + r"assertion: .*faults\.cu:\d+: .*it is not"),
    ("trap", [], 1, "launch cudaErrorLaunchFailure wait cudaErrorLaunchFailure", PLACE + "trap"),
    ("endless", ["--max-steps", "10000"], 1, "launch cudaErrorLaunchTimeout wait cudaErrorLaunchTimeout", "step-limit"),
    ("freed", [], 1, "launch cudaErrorIllegalAddress wait cudaErrorIllegalAddress", PLACE + "out-of-bounds"),
    ("stays", [], 1, "launch cudaErrorIllegalAddress wait cudaErrorIllegalAddress more cudaErrorIllegalAddress "
     "again cudaErrorIllegalAddress reset cudaSuccess last cudaSuccess", PLACE),
    ("twice", [], 0, "free cudaSuccess free cudaErrorInvalidValue", "^$"),
    ("twice", ["-v"], 0, "free cudaSuccess free cudaErrorInvalidValue",
     "cudaFree: cudaErrorInvalidValue: no memory of this kind begins at the address"),
    ("inside", [], 0, "free cudaErrorInvalidValue", "^$"),
    ("copy", [], 0, "copy cudaErrorInvalidValue", "^$"),
    ("symbol", [], 0, "symbol cudaErrorInvalidSymbol", "^$"),
    ("kernel", [], 1, "kernel cudaErrorInvalidDeviceFunction", r"\A" + summary("0 launches", refused=1) + r"\Z"),
    ("heap", [], 0, "limit cudaErrorMemoryAllocation", "the program asks for more memory for malloc in kernels: --heap 100$"),
    ("heap", ["--heap", "100"], 0, "limit cudaSuccess", "^$"),
    ("shape", [], 1, "launch cudaErrorInvalidConfiguration wait cudaSuccess launch cudaErrorInvalidConfiguration wait cudaSuccess "
     "launch cudaErrorLaunchOutOfResources wait cudaSuccess launch cudaErrorInvalidValue wait cudaSuccess "
     "launch cudaSuccess wait cudaSuccess", r"\A" + summary("1 launch", refused=4) + r"\Z"),
    ("shape", ["-v"], 1, "launch cudaErrorInvalidConfiguration wait cudaSuccess launch cudaErrorInvalidConfiguration wait cudaSuccess "
     "launch cudaErrorLaunchOutOfResources wait cudaSuccess launch cudaErrorInvalidValue wait cudaSuccess "
     "launch cudaSuccess wait cudaSuccess", "cudaLaunchKernel: cudaErrorInvalidConfiguration: a grid or block of size 0"),
    ("shape", ["--compare"], 1, "launch cudaErrorInvalidConfiguration wait cudaSuccess launch cudaErrorInvalidConfiguration "
     "wait cudaSuccess launch cudaErrorLaunchOutOfResources wait cudaSuccess launch cudaErrorInvalidValue wait cudaSuccess "
     "launch cudaSuccess wait cudaSuccess", "4 more refused, which -v explains; .*; 1 launches compared, equal$"),
    ("wraps", [], 1, "launch cudaErrorInvalidConfiguration wait cudaSuccess copy cudaErrorInvalidPitchValue "
     "set cudaErrorInvalidValue pitch cudaErrorMemoryAllocation pitch cudaErrorInvalidValue box cudaErrorInvalidValue "
     "error cudaErrorInvalidValue launch cudaSuccess wait cudaSuccess", r"\A" + summary("1 launch", refused=1) + r"\Z"),
    ("cluster", [], 1, "zero cudaErrorInvalidClusterSize huge cudaErrorInvalidClusterSize launch cudaSuccess wait cudaSuccess",
     r"\A" + summary("1 launch", refused=2) + r"\Z"),
    # What a kernel printed before it failed is not lost.
    ("says", [], 1, "said 0 launch cudaErrorLaunchFailure wait cudaErrorLaunchFailure", PLACE + "trap"),
    ("says", ["--compare"], 1, "said 0 launch cudaErrorLaunchFailure wait cudaErrorLaunchFailure", PLACE + "trap"),
    ("shape", ["--allow-failures"], 0, "launch cudaErrorInvalidConfiguration wait cudaSuccess launch cudaErrorInvalidConfiguration "
     "wait cudaSuccess launch cudaErrorLaunchOutOfResources wait cudaSuccess launch cudaErrorInvalidValue wait cudaSuccess "
     "launch cudaSuccess wait cudaSuccess", "^$"),
    ("race", [], 0, "launch cudaSuccess wait cudaSuccess", "^$"),
    ("race", ["--check-races"], 1, "launch cudaErrorLaunchFailure wait cudaErrorLaunchFailure", PLACE + "race: "),
    ("race", ["--check-races", "--compare"], 1, "launch cudaErrorLaunchFailure wait cudaErrorLaunchFailure", PLACE + "race: "),
    ("global race", ["--check-races"], 1, "launch cudaErrorLaunchFailure wait cudaErrorLaunchFailure", PLACE + "race: "),
    ("plain", ["--check-races"], 0, "launch cudaSuccess wait cudaSuccess copy cudaSuccess 7", "^$"),
    ("before", [], 1, "launch cudaErrorIllegalAddress wait cudaErrorIllegalAddress", PLACE +
     "out-of-bounds: read of 4 bytes at .*; 8 bytes before 'device memory' of 4096 bytes at 0x"),
    ("behind", [], 1, "launch cudaErrorIllegalAddress wait cudaErrorIllegalAddress", PLACE +
     "out-of-bounds: read of 4 bytes at .* 4096 bytes after the beginning of 'device memory' of 4096 bytes at 0x"),
    ("before", ["--lenient"], 0, "launch cudaSuccess wait cudaSuccess 5 0 0 0",
     r"\A" + summary("1 launch", "; 1 reads outside of all memory gave zeros") + r"\Z"),
    ("behind", ["--lenient", "--compare"], 0, "launch cudaSuccess wait cudaSuccess 5 0 0 0",
     "1 launches compared, equal; 1 reads outside of all memory gave zeros$"),
    # Inside is what is there.
    ("partly", ["--lenient"], 0, "launch cudaSuccess wait cudaSuccess 1010101 1010101 0 0", "; 1 reads outside"),
    ("atomic", ["--lenient"], 1, "launch cudaErrorIllegalAddress wait cudaErrorIllegalAddress", "out-of-bounds: atomic access"),
    ("bounds", ["--lenient"], 1, "launch cudaErrorIllegalAddress wait cudaErrorIllegalAddress", "out-of-bounds: write"),
    ("after", [], 1, "launch cudaErrorIllegalAddress wait cudaErrorIllegalAddress " * 2, summary("1 launch", failed=1, refused=1)),
    ("missing", [], 0, "first cudaErrorNotSupported second cudaErrorNotSupported",
     r"^ptxopt emulate: the program calls cudaIpcGetMemHandle, which ptxopt does not execute\n"
     r"ptxopt emulate: 0 launches .*; 2 calls of what the emulated libraries do not have$"),
    ("exit", [], 5, "", "^$"),
    ("kill", [], 137, "", r"the program ended by signal 9"),
    ("host", [], 139, "", r"the program ended by signal 11"),
]


def test_faults(tool, builder):
    tests = Counted("faults")
    source = HERE / "faults/faults.cu"
    program, said = builder.by_nvcc(source, "-O3")
    tests.check(program is not None, f"it does not compile: {said}")
    for name, options, code, seen, pattern in FAULTS if program else []:
        done = emulate(tool, *options, program, name)
        tests.check(done.returncode == code, f"{name} {options}: exit code {done.returncode}: {done.stderr}")
        tests.check(done.stdout.split() == seen.split(), f"{name} {options}: it sees {done.stdout.split()}")
        tests.check(re.search(pattern, done.stderr, re.M if pattern != "^$" else 0), f"{name} {options}: {done.stderr}")
    machine, said = builder.by_nvcc(source, "-O3", code="sm_80")
    static, said = builder.by_nvcc(source, "-O3", runtime="static")
    tests.check(machine and static, f"it does not compile: {said}")
    if machine:
        done = emulate(tool, machine, "plain")
        tests.check(done.stdout.split()[:2] == ["launch", "cudaErrorNoKernelImageForDevice"], f"machine code: {done.stdout}")
        tests.check("the program has machine code for sm_80" in done.stderr, f"machine code: {done.stderr}")
    for words, what in (([static or "", "plain"], "nvcc -cudart shared, in CMake with -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared"), (["--no-such-option", "x"], "--no-such-option"),
                        ([], "PROGRAM is required"), (["/no/such/program"], "'/no/such/program' is not a program"),
                        (["--arch", "sm_x", "true"], "is not an architecture"), (["--heap", "99999999999", "true"], "--heap"),
                        (["--record", "/no/such/r.zip", "true"], "/no/such/r.zip"), (["--record", "/", "true"], "a record is a file")):
        done = emulate(tool, *words)
        tests.check(done.returncode == 2 and what in done.stderr, f"{words}: {done.returncode} {done.stderr}")
    return tests


# In place of ptxopt: the constant that a kernel stores, where it stores it, and what is no PTX.
OPTIMIZERS = [
    (r"s/\b7;/8;/", r"launch 1, store\(int\*, int\)<<<\S+, \S+>>>: the optimized PTX writes other values: 0x08 instead of 0x07 at "
     r"byte 12 of 'device memory' of 256 bytes; 1 bytes differ"),
    (r"s/st.global.u32 \[%rd[0-9]*\]/st.global.u32 [123]/", r"the optimized PTX fails: store\(int\*, int\): write of 4 bytes at 0x7b"),
    (r"s/^ret;/print;/", r"module-1\.optimized\.ptx"),
]


def test_differences(tool, builder, folder):
    tests = Counted("differences")
    program, said = builder.by_nvcc(HERE / "faults/faults.cu", "-O3")
    if not program:
        return tests  # said in test_faults
    for number, (edit, pattern) in enumerate(OPTIMIZERS):
        fake = folder / f"fake {number}"
        fake.write_text(f"#!/bin/sh\nsed '{edit}' \"$1\" > \"$3\"\n")
        fake.chmod(0o755)
        settings = {"tool": str(fake), "optimizes": True, "optimize": "", "compare": True}
        environment = {**os.environ, "LD_LIBRARY_PATH": str(Path(tool).parent / "emulate"), "PTXOPT_EMULATION": json.dumps(settings)}
        done = subprocess.run([program, "plain"], capture_output=True, text=True, env=environment, timeout=LIMIT)
        tests.check(re.search(pattern, done.stderr), f"{edit}: {done.stderr}")
        # The program goes on with what the plain PTX made.
        tests.check(number == 2 or done.stdout.endswith("7\n"), f"{edit}: {done.stdout}")
    return tests


def test_options(tool, builder, work):
    tests = Counted("options")
    program, _ = builder.by_nvcc(HERE / "faults/faults.cu", "-O3")
    keep = work / "kept"
    done = emulate(tool, "--keep", keep, "--optimize", "-v", program, "plain")
    tests.check((keep / "module-1.ptx").exists() and (keep / "module-1.optimized.ptx").exists(), f"--keep: {done.stderr}")
    tests.check(re.search(r"launch 1, store\(int\*, int\)<<<\S+, \S+>>>: \d", done.stderr), f"-v: {done.stderr}")
    # What a link in the folder leads to stays, and what cannot be kept is said.
    mine = work / "mine"
    mine.write_text("mine")
    for name in ("module-1.ptx", "module-1.optimized.ptx"):
        (keep / name).unlink()
        (keep / name).symlink_to(mine)
    done = emulate(tool, "--keep", keep, "--optimize", program, "plain")
    tests.check(done.returncode == 0 and mine.read_text() == "mine" and ".entry" in (keep / "module-1.ptx").read_text(), f"--keep: {done.stderr}")
    for name, said in (("module-1.ptx", "module-1.ptx"), ("module-1.optimized.ptx", "module-1.optimized.ptx")):
        (keep / name).unlink()
        (keep / name).mkdir()
        done = emulate(tool, "--keep", keep, "--optimize", program, "plain")
        tests.check(done.returncode == 1 and "cannot write" in done.stderr and said in done.stderr and done.stdout.endswith("7\n"),
                    f"--keep: {done.returncode} {done.stderr}")
        (keep / name).rmdir()
    # Programs that compile kernels with Triton's ptxas get PTX, under another version, and a cache of their own.
    taken = work / "kernel.ptx"
    taken.write_text(".version 8.0\n")
    script = '''"$TRITON_PTXAS_PATH" --version && "$TRITON_PTXAS_BLACKWELL_PATH" -v --gpu-name=sm_90a "$1" -o "$1.cubin" && echo "$TRITON_CACHE_DIR"'''
    done = emulate(tool, "sh", "-c", script, "sh", taken)
    tests.check(done.returncode == 0 and "ptxopt emulate" in done.stdout and "release 13.0" in done.stdout and
                done.stdout.endswith("/ptxopt-emulate\n"), f"ptxas: {done.stdout} {done.stderr}")
    tests.check(Path(f"{taken}.cubin").read_text() == taken.read_text(), "ptxas: it hands on another text")
    done = emulate(tool, "sh", "-c", '"$TRITON_PTXAS_PATH" -v --gpu-name=sm_90a')
    tests.check(done.returncode == 1 and "it takes a file.ptx" in done.stderr, f"ptxas without a file: {done.stderr}")
    done = emulate(tool, "--compare", "true")
    tests.check(done.returncode == 2 and done.stderr.endswith("; no kernel was launched, so nothing was compared\n"), f"--compare: {done.returncode} {done.stderr}")
    for options in (["-j", "1"], ["--arch", "sm_90"], ["--optimize=-O1"], ["--optimize=-O2 --skip-pass lsr"], ["--memory", "1"], ["--"]):
        done = emulate(tool, *options, program, "plain")
        tests.check(done.returncode == 0 and done.stdout.endswith("7\n"), f"{options}: {done.returncode} {done.stderr}")
    # Without the stub, the message says where it is to come from.
    alone = work / "alone"
    alone.mkdir()
    shutil.copy(tool, alone / "ptxopt")
    done = emulate(alone / "ptxopt", program, "plain")
    tests.check(done.returncode == 2 and "it is installed in" in done.stderr, f"no stub: {done.stderr}")
    (alone / "CMakeCache.txt").touch()
    done = emulate(alone / "ptxopt", program, "plain")
    tests.check(done.returncode == 2 and f"cmake --build '{alone}' --target ptxopt_emulation" in done.stderr, f"a build: {done.stderr}")
    done = emulate(tool, "--profile", program, "plain")
    tests.check(done.stdout.endswith("7\n") and re.search(r"^ +1 +\d\.\d{3} +\d+ +\d+ +\d+  store\(int\*, int\)$", done.stderr, re.M),
                f"--profile: {done.stdout} {done.stderr}")
    profile = work / "profile.json"
    done = emulate(tool, "--profile-facts", profile, program, "plain")
    kernels = json.loads(profile.read_text())["kernels"] if done.returncode == 0 else []
    tests.check(done.stdout.endswith("7\n") and [(k["kernel"], k["launches"]) for k in kernels] == [("_Z5storePii", 1)],
                f"--profile-facts: {kernels} {done.stderr}")
    tests.check(bool(kernels) and kernels[0]["classes"][0]["written"] == [0], f"what is written: {kernels}")
    for options in (["--optimize"], ["--compare"], ["--profile"]):
        done = emulate(tool, *options, "--profile-facts", profile, program, "plain")
        tests.check(done.returncode == 2 and "excludes" in done.stderr, f"{options} and --profile-facts: {done.stderr}")
    program_text = work / "program.txt"
    program_text.write_text("no profile")
    done = emulate(tool, "--profile-facts", program_text, program, "plain")
    tests.check(done.returncode == 2 and "is not overwritten" in done.stderr and program_text.read_text() == "no profile",
                f"what is there: {done.stderr}")
    done = emulate(tool, "--optimize=--no-such", program, "plain")
    tests.check(done.returncode == 1 and "is not optimized" in done.stderr and done.stdout.endswith("7\n"), f"wrong options: {done.stderr}")
    return tests


# Programs whose launches are run again, and how many of them a device would refuse: those with textures.
RECORDED = {"textures": 5, "grid_sync": 0, "variables": 0, "streams": 0, "captured_graph": 0, "built_graph": 0}


def test_records(tool, builder, work):
    tests = Counted("records")
    library = Path(tool).parent / "emulate/libcuda.so.1"

    def replay(code, *words):
        done = subprocess.run([tool, "replay", *map(str, words)], capture_output=True, text=True, timeout=LIMIT)
        tests.check(done.returncode == code, f"replay {words}: exit code {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout.splitlines() or [""]

    for name, refused in RECORDED.items():
        program, said = builder.by_nvcc(HERE / f"programs/{name}.cu", "-O3")
        tests.check(program is not None, f"{name} does not compile: {said}")
        record = work / f"{name}.zip"
        if not program or not emulate(tool, "--record", record, "--keep", work / name, program).stdout.endswith("passed\n"):
            tests.check(not program, f"{name} is not recorded")
            continue
        for options in ([], ["--optimize"]):
            last = replay(0, record, *options)[-1]
            tests.check(re.fullmatch(r"(\d+) launches run, \1 equal", last), f"{name} {options}: {last}")
        last = replay(0, "--gpu", record, "--optimize", "--no-time", "--driver", library)[-1]
        found = re.fullmatch(r"(\d+) launches on the interpreter of ptxopt: (\d+) equal(?:, (\d+) refused)?", last)
        tests.check(found and int(found[3] or 0) == refused and int(found[1]) == int(found[2]) + refused, f"{name} --gpu: {last}")
    # What a surface holds is compared, too.
    ptx = (work / "textures/module-1.ptx").read_text()
    at = ptx.index(".entry _Z3add")
    (work / "other.ptx").write_text(ptx[:at] + ptx[at:].replace("add.f32", "sub.f32", 1).replace("add.rn.f32", "sub.rn.f32", 1))
    out = replay(1, work / "textures.zip", "--with", work / "other.ptx")
    tests.check("4 equal, 1 differ" in out[-1] and any("'the array of a texture'" in line for line in out), f"a surface: {out}")
    return tests


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    nvcc = find("NVCC", "nvcc")
    if not nvcc:
        print("skipped: no nvcc")
        return SKIPPED
    tool = os.path.abspath(args.tool)
    with tempfile.TemporaryDirectory() as folder:
        builder = Builder(nvcc, Path(os.environ.get("PTXOPT_KEPT", folder)) / "programs")
        tests = [test_programs(tool, builder, args.names, args.whole, args.jobs)]
        if not args.names:
            tests += [test_faults(tool, builder), test_differences(tool, builder, Path(folder)),
                      test_options(tool, builder, Path(folder)), test_records(tool, builder, Path(folder)), exports.test(tool, nvcc)]
    for t in tests:
        print(f"{t.name}: {t.checks - t.wrong} of {t.checks} checks hold")
    return any(t.wrong for t in tests)


if __name__ == "__main__":
    sys.exit(main())
