#!/usr/bin/env python3
"""`ptxopt nvcc`, and `ptxopt as` under nvcc and clang: the same kernels, no kernel worse, programs that link and start.

  tests/cli/wrapper/builds.py --tool PATH [--samples] [--sample N] [-j N]

Each build is made by plain nvcc and by ptxopt nvcc, in two folders of the same name in two places: exit code, streams and
the names of files have to be equal, and so the kernels of all cubins in them; a log of the drop-in ptxas shows what went
through it. --samples: all the CUDA files of samples/ instead, under the guard: no kernel may be worse by its rule.
Skipped (77) without nvcc.
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import common
import sample  # noqa: E402
from common import HERE, SAMPLES, environment, machine_code, run  # noqa: E402

ARCHS = "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]"
# What is built: the arguments, by lines that run one after the other; how many PTX files go through the drop-in ptxas
# changed. In each folder: k.cu and "a b/it's.cu", which are the same.
BUILDS = [
    ("-c k.cu -o k.o", 1), ("-cubin k.cu -arch=sm_80 -o k.cubin", 1), ("-cubin k.cu -arch=sm_90 -O1 -Xptxas -v -DNO_MAIN", 1),
    (f"{ARCHS} -c k.cu -o k.o", 2), (f"{ARCHS} -t2 -c k.cu -o k.o", 2), (f"{ARCHS} -fatbin k.cu -o k.fatbin", 2),
    ("-arch=sm_80 k.cu -o program\n!program", 1), (f"{ARCHS} k.cu -o program\n!program", 2),
    ("-rdc=true -DRDC -c k.cu -o k.o -arch=sm_80\n-rdc=true -DSECOND -c k.cu -o l.o -arch=sm_80\n"
     "-dlink k.o l.o -o d.o -arch=sm_80\n-arch=sm_80 k.o l.o d.o -o program\n!program", 1),
    ("-dc -DRDC k.cu -o k.o\n-dc -DSECOND k.cu -o l.o\nk.o l.o -o program\n!program", 1),
    ("-dlto -DRDC -dc k.cu -o k.o -arch=sm_80\n-dlto -DSECOND -dc k.cu -o l.o -arch=sm_80\n"
     "-dlto -arch=sm_80 k.o l.o -o linked", 0),
    ("-keep -cubin k.cu -arch=sm_80", 1), ("-keep -keep-dir kept -c k.cu -arch=sm_80", 1), ("--save-temps -c k.cu", 1),
    ("-G -c k.cu -o k.o", 0), ("-G -g k.cu -o program\n!program", 0), ("-lineinfo -c k.cu -arch=sm_80", 1),
    ("-ptx k.cu -arch=sm_80", 0), ("-E k.cu", 0), ("-M k.cu", 0), ("-MD -c k.cu -arch=sm_80", 1), ("-cuda k.cu", 1),
    ("-Xptxas -O0 -c k.cu", 0), ("-arch=compute_80 -c k.cu", 0), ("-lib k.cu -o libk.a -arch=sm_80", 1),
    ("-shared -Xcompiler -fPIC k.cu -o libk.so -arch=sm_80", 1), ("-c 'a b/it'\"'\"'s.cu' -o 'a b/o u t.o' -arch=sm_80", 1),
    ("-objtemp -c k.cu -o 'a b/k.o'", 1), ("-c nothing.cu", 0), ("-c k.cu -arch=sm_1", 0), ("--bogus k.cu", 0), ("", 0),
    ("-c -DBROKEN=( k.cu -include broken.h", 0), ("--version", 0), ("-c k.cu --dryrun --keep", None), ("-optf options.txt", 1),
    ("-c k.cu -Xptxas --bogus", 1), ("-c k.cu -Xptxas -maxrregcount=32,-v", 1), ("-x cu -c k.txt -o k.o -arch=sm_80", 1),
    ("-run k.cu -arch=sm_80", 1), ("-cubin k.ptx -arch=sm_80", 1), ("-c k.cu 'a b/it'\"'\"'s.cu' -arch=sm_80", 2),
]


def prepare(folder):
    (folder / "a b").mkdir(parents=True)
    (folder / "kept").mkdir()
    for path in ("k.cu", "k.txt", "a b/it's.cu"):
        shutil.copy(HERE / "kernels.cu", folder / path)
    (folder / "broken.h").write_text("int broken(;\n")
    (folder / "options.txt").write_text("-arch=sm_80 -c k.cu -o k.o")
    shutil.copy(SAMPLES / "histogram.ptx", folder / "k.ptx")


def cubins_in(path):
    """The cubins in a file: itself, or the 64-bit ELF files for NVIDIA's machine (190) that are embedded uncompressed."""
    data = path.read_bytes()
    for match in re.finditer(rb"\x7fELF\x02", data):
        if data[match.start() + 18:match.start() + 20] == b"\xbe\0":
            yield machine_code.read_sections(data[match.start():])


def kernels_in(path):
    return sorted(name for sections in cubins_in(path) for name in sections if name.startswith(".text."))


LOGGER = """#!/bin/sh
# The real ptxas, with a note of the inputs that came by way of a temporary folder of ptxopt.
for word; do case $word in */ptxopt-*/*) echo "$word" >> "$PTXAS_LOG";; esac; done
exec {ptxas} "$@"
"""


# Some kernels here are too small for more than tidying, which the drop-in drops by itself. A function whose calls are
# replaced is one that ptxas drops and does not tell of.
OPTIONS = "--tidy=1 --skip-pass=inline-calls"


class Builds:
    def __init__(self, tool, nvcc, ptxas, folder, jobs, one_of):
        self.chosen = sample.sampled(BUILDS, one_of, lambda build: build[0])
        self.tool, self.nvcc, self.ptxas, self.folder, self.jobs = tool, nvcc, ptxas, folder, jobs
        self.checks = common.Checks("builds")
        # A tool that is given no nvcc takes that of the PATH, and nvcc names its headers as it was called.
        self.path = f"{Path(nvcc).parent}:{os.environ['PATH']}"
        self.log = folder / "log"
        self.logger = common.script(folder / "logger", LOGGER.format(ptxas=ptxas))

    def build(self, lines, place, launcher, log):
        """(exit codes, streams) of the lines; `launcher`: what stands before them."""
        prepare(place)
        results = []
        for line in lines.split("\n"):
            # Uncompressed, so that the cubins can be looked at.
            words = [place / line[1:]] if line.startswith("!") else [*launcher, *shlex.split(line), *(["-no-compress"] if line else [])]
            if "--version" in line:
                words.remove("-no-compress")
            result = run(words, cwd=place, env=environment(self.logger, OPTIONS, PTXAS_LOG=log, TMPDIR=self.folder / "tmp",
                                                                                PATH=self.path))
            text = result.stdout + result.stderr
            results.append((result.returncode, text))
        return results

    def compare(self, number, lines, expected):
        log = self.folder / f"log{number}"
        what = "nvcc " + lines.replace("\n", "; ")
        # The same path in both, one after the other: it is in some outputs.
        place, outcomes = self.folder / f"build{number}", []
        for launcher in ([self.nvcc], [self.tool, "nvcc"] if number % 2 else [self.tool, "nvcc", self.nvcc]):
            shutil.rmtree(place, ignore_errors=True)
            results = self.build(lines, place, launcher, log)
            files = sorted(p.relative_to(place) for p in place.rglob("*") if p.is_file())
            outcomes.append((results, files, {p: kernels_in(place / p) for p in files}, {p: (place / p).read_bytes() for p in files}))
        (plain, files, kernels, _), (ours, our_files, our_kernels, our_bytes) = outcomes
        self.checks.equal([code for code, _ in ours], [code for code, _ in plain], what + ": exit codes")
        for (_, a), (_, b) in zip(plain, ours):
            if "-dlto" in lines:
                self.checks.equal(b.count(b"ptxopt: remark: -dlto: "), 1, what + ": one remark")
                b = re.sub(rb"ptxopt: remark: -dlto.*\n", b"", b)
            if "-ptx" in lines.split():
                self.checks.equal(b.count(b"ptxopt: remark: -ptx: 'k.ptx' is nvcc's PTX, not optimized"), 1, what + ": one remark")
                b = re.sub(rb"ptxopt: remark: -ptx.*\n", b"", b)
            if "--dryrun" not in lines:
                self.checks.equal(comparable(b), comparable(a), what + ": streams")
        kept = [p for p in our_files if p.name.endswith(".ptxopt.ptx")]
        self.checks.equal([p for p in our_files if p not in kept], files, what + ": files")
        self.checks.equal(len(kept), 1 if re.search("-keep|--save-temps", lines) and "--dryrun" not in lines else 0, what + ": PTX that is kept")
        for path in kept:
            before = our_bytes[path.with_name(path.name.replace(".ptxopt.ptx", ".ptx"))]
            self.checks.check(our_bytes[path] != before and b".entry rows" in our_bytes[path], what + f": {path} is optimized PTX")
        self.checks.equal({p: k for p, k in our_kernels.items() if p not in kept}, kernels, what + ": kernels")
        if expected is not None:
            went = log.read_text().splitlines() if log.exists() else []
            self.checks.equal(len(set(went)), expected, what + ": PTX files that were optimized")
        return outcomes

    def all(self):
        (self.folder / "tmp").mkdir()
        with ThreadPoolExecutor(self.jobs) as pool:
            outcomes = list(pool.map(self.compare, range(len(self.chosen)), *zip(*self.chosen)))
        for (lines, _), (_, (ours, *_)) in zip(self.chosen, outcomes):
            if "program" in lines:
                self.checks.check(ours[-1][0] == 0 and re.fullmatch(rb"\d+\n", ours[-1][1]), f"nvcc {lines!r}: the program starts")
        self.checks.equal([p for p in (self.folder / "tmp").iterdir() if p.name.startswith("ptxopt-")], [], "temporary folders")
        self.names()
        self.parallel()
        self.cmake()
        self.under_nvcc_and_clang()
        self.other_toolkit()

    def names(self):
        """-v names the sources, not nvcc's temporary files, and says which facts and profile were read."""
        place = self.folder / "names"
        prepare(place)
        shutil.copy(place / "k.cu", place / "k.other.cu")
        (place / "facts.json").write_text('{"version": 1, "kernels": [{"kernel": "*", "block": [64]}]}')
        env = environment(self.ptxas, OPTIONS + f" -v --facts {place}/facts.json", TMPDIR=self.folder / "tmp")
        result = run([self.tool, "nvcc", *shlex.split(ARCHS), "-c", "k.cu", "k.other.cu", "a b/it's.cu"], cwd=place, env=env)
        said = result.stderr.decode()
        self.checks.equal((result.returncode, "tmpxft" in said), (0, False), "names: " + said)
        for source in ("k.cu", "k.other.cu", "a b/it's.cu"):
            for arch in ("sm_80", "sm_90"):
                self.checks.equal(len(re.findall(rf"^ptxopt: PTX of {source}: \d+ functions, .* for {arch}$", said, re.M)), 1,
                                  f"names: {source} for {arch}: {said}")
            self.checks.check(f"PTX of {source}: {place}/facts.json says of " in said, f"names: facts of {source}: {said}")
        # Two sources of one name: which one is not known.
        shutil.copy(place / "k.cu", place / "a b" / "k.cu")
        result = run([self.tool, "nvcc", "-c", "k.cu", "a b/k.cu", "-arch=sm_80"], cwd=place, env=env)
        self.checks.check(b"_k.ptx: " in result.stderr and b"PTX of" not in result.stderr, f"two of one name: {result.stderr}")

    def parallel(self):
        """Builds at the same time, of the same file in the same folder, do not get in each other's way."""
        place = self.folder / "parallel"
        prepare(place)
        archs = ["sm_75", "sm_80", "sm_86", "sm_90"]
        processes = [subprocess.Popen([self.tool, "nvcc", "-cubin", "k.cu", f"-arch={arch}", "-o", f"{arch}.cubin"], cwd=place,
                                      env=environment(self.ptxas)) for arch in archs]
        self.checks.equal([p.wait() for p in processes], [0] * len(archs), "parallel builds: exit codes")
        for arch in archs:
            alone = self.folder / f"alone-{arch}.cubin"
            run([self.tool, "nvcc", "-cubin", "k.cu", f"-arch={arch}", "-o", alone], cwd=place, env=environment(self.ptxas))
            self.checks.equal((place / f"{arch}.cubin").read_bytes(), alone.read_bytes(), f"parallel builds: {arch} as if alone")
        (place / "Makefile").write_text("all: $(foreach i,1 2 3 4,o$(i).o)\no%.o: k.cu\n\t+$(NVCC) -c k.cu -o $@ -arch=sm_80 --jobserver\n")
        if shutil.which("make"):
            result = run(["make", "-j3", f"NVCC={self.tool} nvcc"], cwd=place, env=environment(self.ptxas))
            self.checks.equal(result.returncode, 0, f"make -j3: {result.stderr}")

    def cmake(self):
        """The sample, with ptxopt as the launcher; and as the compiler itself, by a script."""
        if not shutil.which("cmake"):
            print("builds: no cmake, so no CMake project")
            return
        wrapper = common.script(self.folder / "bin" / "nvcc", f'#!/bin/sh\nexec "{self.tool}" nvcc "{self.nvcc}" "$@"\n')
        for name, settings in (("launcher", [f"-DCMAKE_CUDA_COMPILER={self.nvcc}", f"-DPTXOPT={self.tool}"]),
                               ("compiler", [f"-DCMAKE_CUDA_COMPILER={wrapper}", "-DPTXOPT=PTXOPT-NOTFOUND"])):
            self.log.unlink(missing_ok=True)
            build, env = self.folder / f"cmake {name}", environment(self.logger, OPTIONS, PTXAS_LOG=self.log)
            for command in (["cmake", "-S", SAMPLES / "cmake", "-B", build, "-DCMAKE_CUDA_ARCHITECTURES=80", *settings],
                            ["cmake", "--build", build, "-j2"]):
                result = run(command, env=env)
                if not self.checks.check(result.returncode == 0, f"CMake, {name}", (result.stdout + result.stderr).decode()[-2000:]):
                    return
            text = self.log.read_text() if self.log.exists() else ""
            self.checks.check("saxpy" in text, f"CMake, {name}: its PTX was optimized", text)
            self.checks.equal(run([build / "saxpy"]).returncode, 0, f"CMake, {name}: the program starts")

    def under_nvcc_and_clang(self):
        """The drop-in ptxas in a toolkit's place under nvcc, and under clang."""
        place = self.folder / "clang"
        prepare(place)
        drop_in = common.drop_in_of(self.tool)
        clang = next((c for c in map(shutil.which, ("clang++-19", "clang++")) if c), None)
        if not clang:
            return print("builds: no clang, so nothing is built with it")
        header = HERE.parents[1] / "lib" / "cuda_for_clang.h"
        for path in sorted((SAMPLES / "kernels").glob("*.cu"))[:4]:
            self.log.unlink(missing_ok=True)
            outs = []
            for ptxas in (self.ptxas, drop_in):
                out = place / f"{len(outs)}.cubin"
                command = [clang, "-x", "cuda", "-O2", "-nocudainc", "-nocudalib", "--cuda-device-only", "--cuda-gpu-arch=sm_80",
                           "-Wno-unknown-cuda-version", "-include", header, "--cuda-path=/usr/local/cuda", f"--ptxas-path={ptxas}",
                           "-c", path, "-o", out]
                result = run(command, env=environment(self.logger, OPTIONS, PTXAS_LOG=self.log), cwd=place)
                outs.append((result.returncode, common.kernels(out) if out.exists() else result.stderr))
            self.checks.equal(outs[1], outs[0], f"clang {path.name}: the same kernels")
            self.checks.check(outs[0][0] == 0, f"clang {path.name} compiles", str(outs[0]))
            self.checks.check(self.log.exists(), f"clang {path.name}: its PTX was optimized")

    def other_toolkit(self):
        """An nvcc that does something else in another folder is called as it is, with a warning."""
        place = self.folder / "other"
        prepare(place)
        # A script with a flag of its own: the nvcc behind it does not know of that.
        wrapper = common.script(place / "bin" / "nvcc", f'#!/bin/sh\nexec "{self.nvcc}" -DNO_MAIN "$@"\n')
        result = run([self.tool, "nvcc", wrapper, "-c", "k.cu", "-o", "k.o"], cwd=place, env=environment(self.ptxas))
        self.checks.equal((result.returncode, result.stderr.count(b"ptxopt: warning: ")), (0, 1), "a script that adds a flag")
        symbols = run(["nm", place / "k.o"]).stdout if shutil.which("nm") else b""
        self.checks.check(b" T main" not in symbols, "a script that adds a flag: it counts")
        fake = common.script(place / "fake" / "nvcc", "#!/bin/sh\necho out; echo err >&2; exit 5\n")
        result = run([self.tool, "nvcc", fake, "-c", "k.cu"], cwd=place, env=environment(self.ptxas))
        self.checks.equal((result.returncode, result.stdout, result.stderr), (5, b"out\n", b"err\n"), "an nvcc that fails")
        result = run([self.tool, "nvcc", "-c", "k.cu"], cwd=place, env=environment(self.ptxas, PTXOPT_NVCC=fake))
        self.checks.equal(result.returncode, 5, "PTXOPT_NVCC")

    def samples(self):
        """Every CUDA file of samples/, under the guard."""
        cache = self.folder / "cache"
        order = ("spills", "warps", "instructions")
        # Those of nvcc-keep are one program of relocatable code, which keep.py builds.
        for path in sorted(p for p in SAMPLES.rglob("*.cu") if p.parent.name != "nvcc-keep"):
            for arch in ("sm_80", "sm_90"):
                rows = []
                for launcher in ([self.nvcc], [self.tool, "nvcc"]):
                    out = self.folder / "a.cubin"
                    out.unlink(missing_ok=True)
                    result = run([*launcher, "-cubin", path, f"-arch={arch}", "-Xptxas", "-v", "-o", out],
                                 env=environment(self.ptxas, PTXOPT_GUARD="ptxas", PTXOPT_GUARD_RULE="warps", PTXOPT_CACHE_DIR=cache))
                    if not self.checks.equal(result.returncode, 0, f"{path.name}, {arch}: exit code"):
                        break
                    built = machine_code.Assembled(machine_code.read_sections(out.read_bytes()), result.stderr.decode())
                    rows.append(machine_code.loop_stats(built, arch))
                if len(rows) < 2:
                    continue
                self.checks.equal(sorted(rows[1]), sorted(rows[0]), f"{path.name}, {arch}: kernels")
                for name, before in rows[0].items():
                    after = rows[1][name]
                    for row in (before, after):
                        row["spills"] = row["spill_stores"] + row["spill_loads"]
                    key = lambda row: (row["spills"], -row["warps"], row["instructions"])
                    self.checks.check(key(after) <= key(before), f"{path.name}, {arch}, {name}: not worse",
                                      f"{ {k: (before[k], after[k]) for k in order} }")


def comparable(text):
    """Streams without what differs from run to run."""
    text = common.without_times(re.sub(rb"tmpxft_\w+?-", b"tmpxft-", text))
    return re.sub(rb"\d+ bytes (spill|cmem)|Used \d+ registers|\d+ bytes (gmem|stack)|, \d+ bytes cumulative[^\n]*", b"", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--samples", action="store_true")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    sample.add_option(parser)
    args = parser.parse_args()
    ptxas = common.real_ptxas()
    nvcc = next((c for c in (os.environ.get("NVCC"), "/usr/local/cuda/bin/nvcc", shutil.which("nvcc")) if c and os.path.exists(c)), None)
    if not nvcc or not ptxas:
        print("builds: skipped: there is no nvcc")
        return common.SKIPPED
    with tempfile.TemporaryDirectory() as name:
        builds = Builds(str(Path(args.tool).resolve()), nvcc, ptxas, Path(name), args.jobs, args.sample)
        builds.samples() if args.samples else builds.all()
    return builds.checks.end()


if __name__ == "__main__":
    sys.exit(main())
