#!/usr/bin/env python3
"""OpenCL kernels, run by `ptxopt run` on clang's PTX and by another OpenCL implementation on the CPU: equal bit for bit.

  tests/semantics/exec/opencl/run.py --tool PTXOPT [--filter REGEX] [-j N] [--keep FOLDER] [--verbose]
  tests/semantics/exec/opencl/run.py --reference-only      without ptxopt: clang's PTX assembles, the CPU's results are stable

Needs clang-19 with its NVPTX target, and an OpenCL implementation for the CPU with its headers (Debian's pocl-opencl-icd
and ocl-icd-opencl-dev); says what is missing and skips otherwise.

Each line `//@ NAME GLOBAL LOCAL ARGUMENT...` in kernels/*.cl (`//@@` goes on with it) is a launch: global and local sizes
as 64x4x1, and arguments
  in:TYPE:COUNT[:KIND]      a buffer that is read; KIND as inputs.py says (any)
  out:TYPE:COUNT[:holes3]   a buffer that is written, which begins as bytes 0xa5; holes3: every fourth element is padding
  inout:TYPE:COUNT:KIND     a buffer that is read and written
  TYPE=VALUE                a scalar
`for T in A B, N in 2 3: LINE` repeats a line with $T and $N replaced; $C(T) is the signed integer type as wide as T.

All buffers are compared after the launch. NaNs in a buffer of floats count as equal whatever their payload: OpenCL leaves
it open. Each kernel is compiled with -O0 and with -O2.
"""
import argparse
import concurrent.futures
import itertools
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import inputs

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "lib"))
from compilers import OPENCL_FLAGS  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

HERE = Path(__file__).resolve().parent
LEVELS = ("-O0", "-O2")
SECONDS = 300
PTX_TYPES = {"char": "s8", "uchar": "u8", "short": "s16", "ushort": "u16", "int": "s32", "uint": "u32", "long": "s64",
             "ulong": "u64", "half": "u16", "float": "f32", "double": "f64"}
SAME_WIDTH = {8: "char", 16: "short", 32: "int", 64: "long"}
FLAGS = [*OPENCL_FLAGS, "-march=sm_80"]


class Buffer:
    def __init__(self, position, text):
        parts = text.split(":")
        self.name, self.role, self.type = f"b{position}", parts[0], parts[1]
        self.count = eval(parts[2], {"__builtins__": {}})  # pylint: disable=eval-used  # a product of our own files
        self.kind = parts[3] if len(parts) > 3 else "any"
        self.position = position

    def size(self):
        return self.count * inputs.bits_of(self.type) // 8

    def initial(self, seed):
        if self.role == "out":
            return b"\xa5" * self.size()
        return inputs.pack(self.type, inputs.contents(self.type, self.count, self.kind, self.position, seed))

    def differences(self, wanted, got):
        """(index, wanted, got) where two contents differ."""
        if wanted == got:
            return []
        holes = self.kind == "holes3"
        pairs = zip(inputs.unpack(self.type, wanted), inputs.unpack(self.type, got))
        unequal = [(i, a, b) for i, (a, b) in enumerate(pairs) if a != b and not (holes and i % 4 == 3)]
        return [(i, a, b) for i, a, b in unequal if not (inputs.is_nan(self.type, a) and inputs.is_nan(self.type, b))]


class Scalar:
    def __init__(self, text):
        self.type, self.value = text.split("=")

    def hexadecimal(self):
        if self.type in inputs.FLOATS:
            return struct.pack("<" + inputs.FLOATS[self.type][0], float(self.value)).hex()
        width = inputs.bits_of(self.type)
        return inputs.pack(self.type, [int(self.value) & ((1 << width) - 1)]).hex()


class Kernel:
    def __init__(self, line):
        words = line.split()
        self.name = words[0]
        self.sizes = [[int(x) for x in word.split("x")] + [1] * (2 - word.count("x")) for word in words[1:3]]
        self.arguments = [Scalar(word) if "=" in word else Buffer(i, word) for i, word in enumerate(words[3:])]
        self.buffers = [a for a in self.arguments if isinstance(a, Buffer)]


def kernels_of(path):
    """The launches of a file of kernels."""
    lines = []
    for line in re.sub(r"\n//@@ ", " ", path.read_text()).splitlines():
        if not line.startswith("//@ "):
            continue
        line = line[4:]
        repeated = re.fullmatch(r"for (.*?): (.*)", line)
        if not repeated:
            lines.append(line)
            continue
        variables = [part.strip().split(" in ") for part in repeated[1].split(",")]
        for values in itertools.product(*(words.split() for _, words in variables)):
            text = repeated[2]
            for (name, _), value in zip(variables, values):
                text = text.replace(f"${{{name}}}", value).replace(f"${name}", value)
            lines.append(text)
    lines = [re.sub(r"\$C\((\w+)\)", lambda m: SAME_WIDTH[inputs.bits_of(m[1])], line) for line in lines]
    return [Kernel(line) for line in lines]


def command(arguments, **options):
    words = [str(a) for a in arguments]
    return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False, **options)


def complaint(run):
    """A failed command's first line that tells of an error, or its first at all."""
    lines = [line for line in (run.stderr + run.stdout).splitlines() if line.strip()]
    return next((line for line in lines if "error" in line), lines[0] if lines else f"status {run.returncode}")


class File:
    """A file of kernels with its folder of inputs and results."""

    def __init__(self, path, chosen, folder):
        self.path, self.folder = path, folder / path.stem
        self.kernels = [k for k in kernels_of(path) if chosen.search(f"{path.stem}.{k.name}")]
        self.folder.mkdir(parents=True, exist_ok=True)

    def place(self, kernel, buffer, what):
        return self.folder / f"{kernel.name}.{buffer.name}.{what}"

    def write_inputs(self):
        for kernel in self.kernels:
            for buffer in kernel.buffers:
                self.place(kernel, buffer, "in").write_bytes(buffer.initial(f"{self.path.stem}.{kernel.name}"))

    def reference(self, host, what, environment):
        """Runs the kernels on the CPU; the results are the files *.WHAT. What went wrong, or nothing."""
        lines = []
        for kernel in self.kernels:
            lines.append(f"kernel {kernel.name}")
            lines += [word + " " + " ".join(map(str, size)) for word, size in zip(("global", "local"), kernel.sizes)]
            for a in kernel.arguments:
                if isinstance(a, Scalar):
                    lines.append(f"value {a.hexadecimal()}")
                else:
                    lines.append(f"buffer {a.size()} {self.place(kernel, a, 'in')} {self.place(kernel, a, what)}")
            lines.append("end")
        manifest = self.folder / "manifest"
        manifest.write_text("\n".join(lines) + "\n")
        run = command([host, self.path, manifest], env=environment)
        return None if run.returncode == 0 else complaint(run)

    def ptx(self, level):
        return self.folder / f"{self.path.stem}{level}.ptx"

    def compile(self, clang, level):
        # clang 19 makes a ld.v4.u32 of 16 bytes at an odd address, which its SLP vectorizer joins. The flag counts only
        # behind the level.
        run = command([clang, *FLAGS, level, "-fno-slp-vectorize", "-S", self.path, "-o", self.ptx(level)])
        return None if run.returncode == 0 else complaint(run)

    def run(self, tool, kernel, level):
        """Runs one kernel by the tool. What went wrong, or nothing."""
        grid = [size // group for size, group in zip(*kernel.sizes)]
        line = [tool, "run", self.ptx(level), "--kernel", kernel.name, "--grid", ",".join(map(str, grid)),
                "--block", ",".join(map(str, kernel.sizes[1]))]
        for a in kernel.arguments:
            if isinstance(a, Scalar):
                line += ["--arg", f"{PTX_TYPES[a.type]}:{a.value}"]
            else:
                line += ["--arg", f"{a.name}=buf:{PTX_TYPES[a.type]}:{a.count}:@{self.place(kernel, a, 'in')}"]
        for b in kernel.buffers:
            line += ["--dump", f"{b.name}={self.place(kernel, b, level)}"]
        try:
            run = command(line)
        except subprocess.TimeoutExpired:
            return f"runs for more than {SECONDS} s"
        return None if run.returncode == 0 else complaint(run)

    def compare(self, kernel, level):
        """Where results differ, in words; empty where they are equal."""
        for b in kernel.buffers:
            wanted, got = (self.place(kernel, b, what) for what in ("cpu", level))
            if not got.exists() or got.stat().st_size != wanted.stat().st_size:
                return f"the tool wrote no {b.size()} bytes of {b.name}"
            different = b.differences(wanted.read_bytes(), got.read_bytes())
            if different:
                index, a, c = different[0]
                return (f"{len(different)} of {b.count} in {b.name}: [{index}] is {inputs.shown(b.type, c)}, "
                        f"on the CPU {inputs.shown(b.type, a)}")
        return ""

    def trivial(self, kernel):
        """Whether a kernel's results on the CPU prove nothing: it wrote nothing, or left a buffer as it was."""
        for b in kernel.buffers:
            before, after = (self.place(kernel, b, what).read_bytes() for what in ("in", "cpu"))
            if b.role == "in" and before != after:
                return f"{b.name} is read only and was changed"
            if b.role != "in" and (before == after or len(set(inputs.unpack(b.type, after))) < 2):
                return f"nothing is to be seen in {b.name}"
        return ""

    def unstable(self, kernel):
        for b in kernel.buffers:
            if b.differences(self.place(kernel, b, "cpu").read_bytes(), self.place(kernel, b, "again").read_bytes()):
                return f"{b.name} differs between two runs on the CPU"
        return ""


def build_host(folder):
    """The program that runs kernels on the CPU: its path, or what is missing."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if not compiler:
        return None, "no C++ compiler"
    host = folder / "host"
    run = command([compiler, "-std=c++20", "-O1", HERE / "host.cpp", "-o", host, "-lOpenCL"])
    if run.returncode != 0:
        return None, "OpenCL's headers or loader are missing (ocl-icd-opencl-dev)"
    return host, None


def check_file(file, args, host, clang, pool):
    """Rows (kernel, level, what is wrong) of a file; equal kernels have an empty third field."""
    file.write_inputs()
    environment = dict(os.environ, POCL_CACHE_DIR=str(file.folder / "cache"))
    runs = [pool.submit(file.reference, host, "cpu", environment)]
    runs += [pool.submit(file.compile, clang, level) for level in LEVELS]
    broken = next((wrong for wrong in (run.result() for run in runs) if wrong), None)
    if not broken and args.reference_only:
        broken = file.reference(host, "again", dict(environment, POCL_MAX_PTHREAD_COUNT="1"))
        ptxas = shutil.which("ptxas")
        for level in LEVELS if ptxas else ():
            run = command([ptxas, "-O1", "-arch=sm_80", file.ptx(level), "-o", file.folder / "cubin"])
            broken = broken or (complaint(run) if run.returncode else None)
    if broken:
        return [(kernel, "", broken) for kernel in file.kernels]
    rows = [(kernel, "cpu", file.trivial(kernel)) for kernel in file.kernels]
    if args.reference_only:
        return [(kernel, what, wrong or file.unstable(kernel)) for kernel, what, wrong in rows]
    pairs = [(kernel, level) for kernel in file.kernels for level in LEVELS]
    done = pool.map(lambda pair: file.run(args.tool, *pair) or file.compare(*pair), pairs)
    return [row for row in rows if row[2]] + [(kernel, level, wrong) for (kernel, level), wrong in zip(pairs, done)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=os.path.abspath)
    parser.add_argument("--reference-only", action="store_true")
    parser.add_argument("--filter", type=re.compile, default=re.compile(""), help="of FILE.KERNEL")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=Path, help="leave inputs, PTX and results in this folder")
    parser.add_argument("--verbose", action="store_true", help="a line for each kernel, not each file")
    args = parser.parse_args()
    if not args.tool and not args.reference_only:
        parser.error("--tool or --reference-only")
    clang = shutil.which("clang-19") or shutil.which("clang")
    if not clang:
        print("opencl: skipped: there is no clang-19")
        return 0
    os.environ["PATH"] += os.pathsep + "/usr/local/cuda/bin"
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        folder = (args.keep or Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        host, missing = build_host(folder)
        if host:
            empty = folder / "empty"
            empty.write_text("")
            probe = command([host, empty, empty])
            missing = complaint(probe) if probe.returncode == 3 else None
        if missing:
            print(f"opencl: skipped: {missing}")
            return 0
        files = [File(path, args.filter, folder) for path in sorted((HERE / "kernels").glob("*.cl"))]
        files = [file for file in files if file.kernels]
        passed = failed = 0
        for file in files:
            rows = check_file(file, args, host, clang, pool)
            bad = [row for row in rows if row[2]]
            passed, failed = passed + len(rows) - len(bad), failed + len(bad)
            equal = len(rows) - len(bad)
            print(f"{file.path.stem:<14} {len(file.kernels):4} kernels {equal:5} equal {len(bad):4} different")
            for kernel, level, wrong in rows if args.verbose else bad:
                print(f"  {kernel.name + ' ' + level:<34} {wrong or 'ok'}")
            sys.stdout.flush()
    kinds = "checked on the CPU" if args.reference_only else "compared, each at -O0 and -O2"
    print(f"opencl: {sum(len(f.kernels) for f in files)} kernels {kinds}: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
