#!/usr/bin/env python3
"""Makes the folder of the GPU bench that is carried to a machine with a GPU.

  tests/gpu/pack.py --tool PTXOPT --archs sm_80,sm_90 -o FOLDER [--only GLOB] [--guarded] [--options '-O2'] [--compiler clang] [--ptx-only]

For each architecture: nvcc -O3, or clang, makes PTX of kernels/*.cu, ptxopt optimizes it without the guard, ptxas makes cubins of both.
With --guarded a third variant is what ptxopt makes with the guard. The folder has these, the PTX, the scripts that run
there, and manifest.json, which says all about them: launches, whether the machine code of a kernel changed, what the tool
models where it does, which programs made it.

Exit codes: 0 made, 1 a program failed, 2 usage, 77 no nvcc, ptxas or clang.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "lib"))
import machine_code  # noqa: E402
import model  # noqa: E402
import probes  # noqa: E402
import step_kernel  # noqa: E402
import streams  # noqa: E402
from cases import BOTTLENECKS, CASES  # noqa: E402
from compilers import cuda_by_clang, find  # noqa: E402
from run import FORMAT  # noqa: E402
from toolkit import real_ptxas  # noqa: E402

CARRIED = ("architecture.py", "arguments.py", "bench.py", "compare.py", "contents.py", "device_memory.py", "driver.py", "fit.py", "job.py",
           "rank.py", "report.py", "run.py", "README.md")
LIMIT = 300  # seconds for one program
NO_PROGRAM = 77
FILL, MEMORY = "fill.cu", "probe_memory.cu"


class Failure(Exception):
    """A program failed; str() is which, and what it said."""


def number(architecture):
    return int(re.sub(r"\D", "", architecture))


def call(command, environment=None):
    ran = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", timeout=LIMIT,
                         env={**os.environ, **(environment or {})})
    if ran.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: {(ran.stderr + ran.stdout).strip()[:600]}")
    return ran.stdout


class Packer:
    def __init__(self, options, nvcc, ptxas, clang):
        self.options, self.nvcc, self.ptxas, self.clang = options, nvcc, ptxas, clang
        self.folder = Path(options.output)
        self.flags = options.options.split()

    def assemble(self, ptx, architecture):
        """The cubin beside a PTX file, or None where none is wanted."""
        if self.options.ptx_only:
            return None
        cubin = ptx.with_suffix(".cubin")
        call([self.ptxas, "-O3", f"-arch={architecture}", ptx, "-o", cubin])
        return cubin

    def named(self, path):
        return path.relative_to(self.folder).as_posix() if path else None

    def variant(self, ptx, architecture):
        return {"ptx": self.named(ptx), "cubin": self.named(self.assemble(ptx, architecture))}

    def compile(self, name, architecture, ptx):
        if self.options.compiler == "clang" and name not in (FILL, MEMORY):
            call([*cuda_by_clang(self.clang, architecture, "-O3"), HERE / "kernels" / name, "-o", ptx])
        else:
            call([self.nvcc, f"-arch={architecture}", "-O3", "-w", "-ptx", HERE / "kernels" / name, "-o", ptx])

    def source(self, name, architecture):
        """The variants of one file of kernels; None: clang, which has no headers of CUDA here, does not take it."""
        folder = self.folder / "images" / architecture
        folder.mkdir(parents=True, exist_ok=True)
        before, after, guarded = (folder / f"{Path(name).stem}.{variant}.ptx" for variant in ("before", "after", "after-guarded"))
        try:
            self.compile(name, architecture, before)
        except Failure:
            if self.options.compiler == "nvcc" or name in (FILL, MEMORY):
                raise
            print(f"{architecture}: clang does not take {name}")
            return None
        variants = {"before": self.variant(before, architecture)}
        if name not in (FILL, MEMORY):
            call([self.options.tool, before, "-o", after, *self.flags], {"PTXOPT_GUARD": "off"})
            variants["after"] = self.variant(after, architecture)
            if self.options.guarded:
                call([self.options.tool, before, "-o", guarded, *self.flags, "--guard=ptxas", "--ptxas", self.ptxas])
                variants["after-guarded"] = self.variant(guarded, architecture)
        return variants

    def code(self, image):
        """kernel -> its machine code."""
        sections = machine_code.read_sections((self.folder / image["cubin"]).read_bytes())
        return {name[len(".text."):]: text for name, text in sections.items() if name.startswith(".text.")}

    # ---- probes ----

    def probe(self, probe, name, architecture, isa, more):
        folder = self.folder / "probes" / architecture
        folder.mkdir(parents=True, exist_ok=True)
        ptx = folder / (re.sub(r"\W+", "-", name) + ".ptx")
        ptx.write_text(probe.text(architecture, isa), encoding="utf-8")
        row = {"name": name, "kinds": probe.kinds, "lengths": probe.lengths, "inputs": step_kernel.INPUTS,
               "times": step_kernel.TIMES, **more}
        try:
            row.update(self.variant(ptx, architecture))
        except Failure as error:
            return {**row, "note": "ptxas refuses it: " + next((line for line in str(error).splitlines() if "error" in line), str(error))}
        if row["cubin"]:
            found = self.step_of(self.code(row), *probe.lengths)
            row["machine_step"] = found
            for opcode, kinds in probes.OTHER_UNITS.items():
                if opcode in found:
                    row["kinds"] = kinds.get(probe.kinds, probe.kinds)
            if abs(sum(found.values()) - probe.instructions) > 0.1:
                row["note"] = f"a step is {sum(found.values()):.2f} machine instructions instead of {probe.instructions}"
        return row

    @staticmethod
    def step_of(code, shorter, longer):
        """Opcode -> how many of it a step has."""
        def opcodes(text):
            words = [int.from_bytes(text[at:at + 2], "little") for at in range(0, len(text), 16)]
            return collections.Counter(w & 0xFFF for w in words if w >> 12 & 15 != machine_code.NEVER and w & 0xFFF != machine_code.NOP)
        short, long = (opcodes(code[f"probe_{length}"]) for length in (shorter, longer))
        steps = longer - shorter
        return {f"0x{op:03x}": round((long[op] - short[op]) / steps, 3) for op in long if abs(long[op] - short[op]) * 10 > steps}

    def all_probes(self, architecture, images):
        isa = re.search(r"^\.version\s+(\S+)", (self.folder / images[FILL]["before"]["ptx"]).read_text(encoding="utf-8"), re.M)[1]
        rows = [self.probe(p, p.name, architecture, isa, {}) for p in probes.PROBES if p.least <= number(architecture)]
        rows += [self.probe(s, f"stream {s.name}", architecture, isa, {"threads": s.threads, "instructions": s.instructions})
                 for s in streams.STREAMS if s.least <= number(architecture) and fnmatch.fnmatch(s.name, self.options.streams)]
        image = images[MEMORY]["before"]
        return rows + [{"name": f"{name}-{place.lower()}", "kinds": f"{kind}:{place}", **image}
                       for name, kind in (("chase", "GlobalLoad"), ("bytes", "Bytes")) for place in ("L2", "Dram")]

    # ---- all of it ----

    def pack(self):
        options, chosen = self.options, [c for c in CASES if fnmatch.fnmatch(c.name, self.options.only)]
        if not chosen:
            raise Failure(f"no kernel is named '{options.only}'")
        architectures = options.archs.split(",")
        files = {a: sorted({c.file for c in chosen if c.least <= number(a)}) + [FILL, MEMORY] for a in architectures}
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            made = {(a, f): pool.submit(self.source, f, a) for a in architectures for f in files[a]}
            images = {a: {f: made[a, f].result() for f in files[a] if made[a, f].result()} for a in architectures}
        chosen = [c for c in chosen if any(c.file in images[a] for a in architectures)]
        if not chosen:
            raise Failure("no kernel is left")
        rows = [self.case(c, architectures, images) for c in chosen]
        manifest = {"format": FORMAT, "made_by": self.programs(), "options": options.options, "architectures": architectures,
                    "bottlenecks": BOTTLENECKS, "images": images, "cases": rows,
                    "latencies": {a: model.latencies(a) for a in architectures}, "uses": {a: model.uses(a) for a in architectures},
                    "probes": {a: [] if options.no_probes else self.all_probes(a, images[a]) for a in architectures}}
        (self.folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        for name in CARRIED:
            shutil.copy(HERE / name, self.folder / name)
        return manifest

    def case(self, case, architectures, images):
        row = {"name": case.name, "bottleneck": case.bottleneck, "file": case.file, "small": case.launches("small"),
               "real": case.launches("real"), "changed": {}}
        for architecture in architectures:
            variants = images[architecture].get(case.file)
            if not variants:
                continue
            if variants["before"]["cubin"]:
                codes = [self.code(image)[case.name] for image in variants.values()]
                row["changed"][architecture] = any(code != codes[0] for code in codes)
            if self.has_model():
                figures = {name: model.modelled(self.options.tool, self.folder / image["ptx"], row["small"], architecture)
                           for name, image in variants.items()}
                row.setdefault("model", {})[architecture] = {name: f for name, f in figures.items() if f}
        return row

    def has_model(self):
        if not hasattr(self, "models"):
            self.models = model.has_time(self.options.tool)
        return self.models

    def programs(self):
        ptxas = re.search(r"V([\d.]+)", call([self.ptxas, "--version"])) if self.ptxas else None
        return {"ptxopt": call([self.options.tool, "--version"]).strip(), "ptxas": ptxas[1] if ptxas else None,
                "nvcc": re.search(r"V([\d.]+)", call([self.nvcc, "--version"]))[1],
                "compiler": self.options.compiler if self.options.compiler == "nvcc" else call([self.clang, "--version"]).splitlines()[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="ptxopt")
    parser.add_argument("--archs", default="sm_80", metavar="sm_XX,...")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER")
    parser.add_argument("--only", default="*", metavar="GLOB", help="kernels of these names")
    parser.add_argument("--guarded", action="store_true", help="a third variant, made with the guard")
    parser.add_argument("--options", default="-O2", help="of ptxopt [-O2]")
    parser.add_argument("--ptx-only", action="store_true", help="no cubins: the driver compiles")
    parser.add_argument("--no-probes", action="store_true", help="nothing for --fit")
    parser.add_argument("--streams", default="*", metavar="GLOB", help="of the streams for --fit, those of these names")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--compiler", choices=("nvcc", "clang"), default="nvcc", help="what makes PTX; clang, without CUDA's headers, of most files")
    options = parser.parse_args()
    if not all(re.fullmatch(r"sm_\d+[af]?", a) for a in options.archs.split(",")) or options.jobs < 1 or not shutil.which(options.tool):
        parser.error("--archs are names as sm_90, --jobs is one or more, and --tool is a program")
    clang = find("CLANG", "clang-19", "clang")
    nvcc, ptxas = find("NVCC", "nvcc"), None if options.ptx_only else real_ptxas()
    if options.guarded and options.ptx_only:
        parser.error("--guarded needs ptxas, and --ptx-only does without")
    if not nvcc or not (ptxas or options.ptx_only) or not clang and options.compiler == "clang":
        print("pack.py: there is no nvcc, no ptxas, or no clang")
        return NO_PROGRAM
    try:
        manifest = Packer(options, nvcc, ptxas, clang).pack()
    except Failure as error:
        print(f"pack.py: {error}", file=sys.stderr)
        return 1
    for architecture in manifest["architectures"]:
        changed = [c["name"] for c in manifest["cases"] if c["changed"].get(architecture)]
        said = f", of which ptxopt changes the machine code of {len(changed)}" if not options.ptx_only else ""
        here = [c for c in manifest["cases"] if c["file"] in manifest["images"][architecture]]
        print(f"{architecture}: {len(here)} kernels{said}; {len(manifest['probes'][architecture])} probes")
        for probe in manifest["probes"][architecture]:
            if probe.get("note"):
                print(f"  probe {probe['name']}: {probe['note']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
