#!/usr/bin/env python3
"""record.py and judge.py on two kernels of its own: records are added, replaced, judged, found stale, and computed anew.

  record_check.py --figures .../guard_figures

Exit codes: 0 ok, 1 something is wrong, 77 no ptxas.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "lib"))
from toolkit import find_ptxas  # noqa: E402

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry {name}(.param .u64 p) {{
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [%rd2];
  {rest}
  st.global.u32 [%rd2], %r1;
  ret;
}}
"""
SLOW = "rem.u32 %r1, %r1, 77;"


class Check:
    def __init__(self, figures, folder):
        self.figures, self.folder, self.file, self.wrong = figures, folder, folder / "gpu.jsonl", []
        for name, rest in (("a.ptx", SLOW), ("b.ptx", "add.u32 %r1, %r1, 1;")):
            (folder / name).write_text(KERNEL.format(name="kernel_of_test", rest=rest))

    def run(self, code, script, *words):
        """What the script says; it has to end with this code."""
        ran = subprocess.run([sys.executable, HERE / script, *map(str, words), "--figures", self.figures], capture_output=True, text=True)
        if ran.returncode != code:
            self.wrong.append(f"{script} {words[0]}: exit code {ran.returncode} instead of {code}: {ran.stdout}{ran.stderr}")
        return ran.stdout + ran.stderr

    def equal(self, what, found, wanted):
        if found != wanted:
            self.wrong.append(f"{what}: {found} instead of {wanted}")

    def add(self, code, before, after, **more):
        words = {"arch": "sm_90", "kernel": "of_test", "program": "test", "set": "test", "ratio": "0.97", "gpu": "GPU", "date": "2026-01-01",
                 "revision": "0", "toolchain": "none", **more}
        return self.run(code, "record.py", "add", self.file, "--before", self.folder / before, "--after", self.folder / after,
                        *(word for key, value in words.items() for word in (f"--{key}", value)))

    def records(self):
        return [json.loads(line) for line in self.file.read_text().splitlines()]

    def bench(self):
        image = {"before": {"ptx": "a.ptx"}, "after": {"ptx": "b.ptx"}}
        launch = {"kernel": "kernel_of_test", "grid": [3, 2, 1], "block": [64, 2, 1]}
        (self.folder / "manifest.json").write_text(json.dumps(
            {"images": {"sm_90": {"k.cu": image}}, "cases": [{"name": "kernel_of_test", "file": "k.cu", "real": [launch]}]}))
        ratio = {"median": 1.03, "low": 1.02, "high": 1.04, "verdict": "slower"}
        (self.folder / "results.json").write_text(json.dumps(
            {"architecture": "sm_90", "size": "real", "device": {"name": "GPU"}, "made_by": {"compiler": "nvcc", "nvcc": "1", "ptxas": "2"},
             "cases": [{"name": "kernel_of_test", "times": {"ratios": {"after": ratio}}}, {"name": "failed"}]}))
        self.run(0, "record.py", "bench", self.file, "--results", self.folder / "results.json", "--folder", self.folder, "--set", "bench", "--date",
                 "2026-01-01", "--revision", "0")

    def all(self):
        self.add(0, "a.ptx", "b.ptx")
        self.add(0, "a.ptx", "b.ptx", ratio="same")
        self.equal("a kernel that is there is replaced", [(r["ratio"], r["distinguished"]) for r in self.records()], [(1.0, False)])
        self.add(0, "a.ptx", "b.ptx", ratio="0.9")
        self.add(0, "b.ptx", "a.ptx", ratio="1.4", program="other")
        said = self.add(2, "a.ptx", "a.ptx")
        self.equal("the same code is an error", "the machine code is the same" in said, True)
        self.add(2, "a.ptx", "b.ptx", kernel="missing")
        self.bench()
        self.equal("of the bench", [(r["ratio"], r["blocks"], r["threads"]) for r in self.records() if r["set"] == "bench"], [(1.03, 6, 128)])
        self.equal("by its launch", [(r["launched"]["after"]["threads"], r["launched"]["after"]["warps"]) for r in self.records() if r["launched"]],
                   [(128, 4)])
        self.equal("by launches", sum("kernel_of_test" in line for line in self.run(0, "judge.py", self.file, "--launched", "--list").splitlines()), 1)
        said = self.run(0, "judge.py", self.file, "--list")
        rows = [line for line in said.splitlines() if "kernel_of_test" in line]
        self.equal("kept and refused", [sum(word in row.split() for row in rows) for word in ("kept", "refused")], [2, 1])
        records = self.records()
        for r in records:
            r["after"]["cycles"] = {"model": "00000000"}
        self.file.write_text("".join(json.dumps(r) + "\n" for r in records))
        self.equal("stale figures", "record.py refresh" in self.run(3, "judge.py", self.file), True)
        (self.folder / "empty").mkdir()
        self.run(2, "record.py", "refresh", self.file, self.folder / "empty")
        self.run(0, "record.py", "refresh", self.file, self.folder)
        self.run(0, "judge.py", self.file)
        chosen = self.records()
        chosen[0]["held_out"] = not chosen[0]["held_out"]
        self.file.write_text("".join(json.dumps(r) + "\n" for r in chosen))
        self.run(2, "judge.py", self.file)
        return self.wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figures", required=True)
    options = parser.parse_args()
    if not find_ptxas():
        print("record_check.py: no ptxas")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        wrong = Check(options.figures, Path(folder)).all()
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
