#!/usr/bin/env python3
"""The modes of the splitting passes that change the machine code: split-remat and spill-to-shared.

  tests/codegen/split/run.py --tool build/release/ptxopt [-j N] [PTX...]

  samples   each kernel of samples/, or of the files named, computes the same (`ptxopt verify`) after each mode, and where
            there is a ptxas none takes more registers or spills more; what changed is printed
  press     a kernel made here, in which many loaded values wait behind a loop that needs registers of its own: with
            spill-to-shared it computes the same, and ptxas must give it at least 15% fewer registers than before
  machine   in their default mode, split-high-pressure and split-live-ranges leave the machine code of the made kernel
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import machine_code  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

MODES = {
    "split-remat": ["--passes=split-live-ranges,split-high-pressure,dce", "--split-remat=1"],
    "spill-to-shared": ["--passes=split-high-pressure", "--spill-to-shared=1"],
    "both": ["--passes=split-live-ranges,split-high-pressure,dce", "--split-remat=1", "--spill-to-shared=1"],
    # As far as it goes, whether it pays or not.
    "forced": ["--passes=split-high-pressure", "--spill-to-shared=1", "--split-remat=1", "--split-registers=16"],
}
COPIES = ["--passes=split-live-ranges,split-high-pressure"]
PRESSED = [(64, 24, 128, 64), (40, 32, 256, 40), (32, 60, 64, 32), (64, 24, 128, 8)]  # waiting values, busy ones, threads, in a block
SECONDS = 300


def press(waiting, busy, threads, group, arch):
    """Values are loaded, a loop works on others, and then the first are used; `group` values in a basic block each time."""
    def blocks(name, instructions):
        for i, instruction in enumerate(instructions):
            if i and i % group == 0:
                yield f"@%p0 bra END;\n{name}{i}:"
            yield instruction
    lines = [".version 8.0", f".target {arch}", ".address_size 64",
             ".visible .entry press(.param .u64 in, .param .u64 out, .param .u32 iterations)", f".maxntid {threads}, 1, 1", "{",
             ".reg .pred %p<2>;", ".reg .b32 %r<4>;", f".reg .f32 %v<{waiting}>;", f".reg .f32 %a<{busy}>;",
             ".reg .f32 %x, %s;", ".reg .b64 %rd<5>;", "ld.param.u64 %rd1, [in];", "ld.param.u64 %rd2, [out];",
             "ld.param.u32 %r1, [iterations];", "and.b32 %r1, %r1, 15;", "mov.u32 %r2, %tid.x;", "mul.wide.u32 %rd3, %r2, 4;",
             "add.s64 %rd1, %rd1, %rd3;", "add.s64 %rd2, %rd2, %rd3;"]
    lines += ["setp.eq.u32 %p0, %r1, 77;"]
    lines += blocks("IN", [f"ld.global.f32 %v{i}, [%rd1+{4 * i * threads}];" for i in range(waiting)])
    lines += [f"mov.f32 %a{i}, 0f{0x3F800000 + 0x10000 * i:08X};" for i in range(busy)]
    lines += ["mov.u32 %r3, 0;", "LOOP:", '.pragma "nounroll";', "ld.global.f32 %x, [%rd1];"]
    lines += [f"fma.rn.f32 %a{i}, %a{(i + 1) % busy}, %x, %a{i};" for i in range(busy)]
    lines += ["add.s64 %rd1, %rd1, 4;", "add.u32 %r3, %r3, 1;", "setp.lt.u32 %p1, %r3, %r1;", "@%p1 bra LOOP;",
              "mov.f32 %s, 0f00000000;"]
    lines += [f"add.f32 %s, %s, %a{i};" for i in range(busy)]
    lines += blocks("OUT", [f"fma.rn.f32 %s, %s, %v{i}, %v{i};" for i in range(waiting)])
    lines += ["st.global.f32 [%rd2], %s;", "END:", "ret;", "}"]
    return "\n".join(lines) + "\n"


class Checker:
    def __init__(self, tool, folder):
        self.tool, self.folder, self.failures, self.checks = tool, folder, [], 0
        self.with_ptxas = machine_code.find_ptxas() is not None

    def expect(self, holds, words):
        self.checks += 1
        if not holds:
            self.failures.append(words)

    def optimize(self, source, name, arguments):
        output = self.folder / name
        run = subprocess.run([self.tool, source, "-o", output, "-v", "--verify-each", "--verify-analyses", *arguments],
                             capture_output=True, text=True, timeout=SECONDS)
        self.expect(run.returncode == 0, f"{name}: status {run.returncode}: {run.stderr.strip()[-200:]}")
        expected = re.findall(r"(\d+) before, (\d+) after \(estimates\)", run.stderr)
        return output, expected

    def verify(self, a, b, what):
        run = subprocess.run([self.tool, "verify", a, b], capture_output=True, text=True, timeout=SECONDS)
        self.expect(run.returncode == 0, f"{what}: verify ends with status {run.returncode}: {run.stdout.strip()[-300:]}")

    def stats(self, path):
        return machine_code.stats(machine_code.assemble(str(path)))

    def sample(self, path, mode):
        what = f"{path.parent.name}/{path.stem} {mode}"
        output, expected = self.optimize(path, f"{path.parent.name}.{path.stem}.{mode}.ptx", MODES[mode])
        if not output.exists() or output.read_bytes() == path.read_bytes():
            return
        self.verify(path, output, what)
        if not self.with_ptxas:
            return
        before, after = self.stats(path), self.stats(output)
        for name, row in before.items():
            new = after[name]
            keys = ("registers", "spill_stores", "spill_loads", "instructions", "shared")
            changed = [f"{k} {row[k]} -> {new[k]}" for k in keys if row[k] != new[k]]
            if changed:
                said = "; expected " + " -> ".join(expected[0]) if expected else ""
                print(f"{what}: {name}: {', '.join(changed)}{said}")
            if mode != "forced":
                worse = new["registers"] > row["registers"] or new["spill_stores"] > row["spill_stores"]
                self.expect(not worse, f"{what}: {name} is worse")

    def press(self, waiting, busy, threads, group, arch):
        what = f"press {waiting} + {busy} values, {threads} threads, {group} in a block, {arch}"
        source = self.folder / f"press.{waiting}.{busy}.{threads}.{group}.{arch}.ptx"
        source.write_text(press(waiting, busy, threads, group, arch))
        output, expected = self.optimize(source, source.name + ".demoted", MODES["spill-to-shared"])
        self.expect(len(expected) == 1, f"{what}: nothing was demoted")
        self.verify(source, output, what)
        copied, _ = self.optimize(source, source.name + ".copied", COPIES)
        self.expect("mov.b32 %f32_0" in copied.read_text(), f"{what}: nothing was copied")
        if not self.with_ptxas or not expected:
            return
        before, after = self.stats(source)["press"]["registers"], self.stats(output)["press"]["registers"]
        print(f"{what}: registers {before} -> {after} by ptxas, {' -> '.join(expected[0])} expected")
        self.expect(after <= before * 0.85, f"{what}: {before} registers before, {after} after")
        bad = machine_code.differing(*(machine_code.fingerprint(machine_code.assemble(str(p))) for p in (source, copied)))
        self.expect(not bad, f"{what}: copies change {', '.join(bad)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=os.path.abspath)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    files = args.files or sorted((ROOT / "samples").glob("**/*.ptx"))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        checker = Checker(args.tool, Path(folder))
        if not checker.with_ptxas:
            print("no ptxas: registers and machine code were not compared")
        jobs = [pool.submit(checker.sample, path, mode) for path in files for mode in MODES]
        if not args.files:
            jobs += [pool.submit(checker.press, *row, arch) for row in PRESSED for arch in ("sm_80", "sm_90a")]
        for job in jobs:
            job.result()
    for failure in checker.failures:
        print(failure)
    print(f"split: {checker.checks - len(checker.failures)} passed, {len(checker.failures)} failed")
    return 1 if checker.failures or not checker.checks else 0


if __name__ == "__main__":
    sys.exit(main())
