#!/usr/bin/env python3
"""The guard where ptxas unrolls a loop otherwise before and after: it compares what both do for the same work.

  tests/cli/guard/unrolled.py --tool PATH

Between ptxopt and the real ptxas stands a script that changes a pragma in the text without its dead instruction, which is
the text after: the loop is unrolled there and not before, or the other way around. An iteration of the unrolled loop costs
more cycles, and the whole, of which eight iterations are assumed, seems to do so, too. The verdicts are those of
tests/lib/guard_rule.py. Skipped (77) without ptxas.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import guard_rule  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

FAILURES, CHECKS = [], 0
UNROLLED, PLAIN = "// as ptxas likes", '.pragma "nounroll";'

# An iteration waits for what it loads; the loads of an unrolled one overlap.
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 from, .param .u64 to, .param .u32 count) .reqntid 32 {{
  .reg .pred %p;
  .reg .b32 %r<9>;
  .reg .f32 %f<9>;
  .reg .b64 %rd<9>;
  .shared .b8 most[49152];
  mov.u32 %r8, 7;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  {count}
  mov.f32 %f1, 0f00000000;
L:
  {pragma}
  ld.global.f32 %f2, [%rd1];
  fma.rn.f32 %f1, %f2, %f1, %f2;
  add.s64 %rd1, %rd1, 128;
  add.s32 %r1, %r1, -1;
  setp.ne.s32 %p, %r1, 0;
  @%p bra L;
  st.global.f32 [%rd2], %f1;
  mov.u64 %rd3, most;
  st.shared.f32 [%rd3], %f1;
  ret;
}}
"""
KNOWN, UNKNOWN = "mov.u32 %r1, 4000;", "ld.param.u32 %r1, [count];"

BETWEEN = """#!/bin/bash
for a; do [[ $a = *.ptx ]] && in=$a; done
[[ -n $in ]] && ! grep -q 'mov.u32 %r8' "$in" && sed -i 's|{old}|{new}|' "$in"
exec {real} "$@"
"""


def check(holds, *message):
    global CHECKS
    CHECKS += 1
    if not holds:
        FAILURES.append(" ".join(map(str, message)))


class Bench:
    def __init__(self, tool, ptxas, folder):
        self.tool, self.ptxas, self.folder = tool, ptxas, folder
        self.environment = {**os.environ, "PTXOPT_CACHE_DIR": ""}

    def run(self, *words):
        return subprocess.run([self.tool, *map(str, words)], capture_output=True, text=True, env=self.environment, cwd=self.folder, timeout=120)

    def figures(self, count, pragma):
        (self.folder / "k.ptx").write_text(KERNEL.format(count=count, pragma=pragma))
        done = self.run("baseline", "k.ptx", "-o", "k.json", "--ptxas", self.ptxas)
        check(done.returncode == 0, "baseline:", done.stderr)
        return json.loads((self.folder / "k.json").read_text())["units"][0]["functions"][0]

    def kept(self, count, before, after):
        """Why the guard keeps the text before."""
        (self.folder / "in.ptx").write_text(KERNEL.format(count=count, pragma=before))
        between = self.folder / "between"
        between.write_text(BETWEEN.format(old=before, new=after, real=self.ptxas))
        between.chmod(0o755)
        done = self.run("in.ptx", "-o", "out.ptx", "--passes=dce", "--guard=ptxas", "--ptxas", between, "--report", "report.json")
        check(done.returncode == 0, done.stderr)
        return [f["detail"] for f in json.loads((self.folder / "report.json").read_text())["guard"]["kept"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    args = parser.parse_args()
    ptxas = find_ptxas()
    if not ptxas:
        print("skipped: the guard needs ptxas")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(str(Path(args.tool).resolve()), ptxas, Path(folder))
        for count, where in ((KNOWN, "in innermost loop 1"), (UNKNOWN, "in innermost loops together")):
            plain, unrolled = (bench.figures(count, pragma) for pragma in (PLAIN, UNROLLED))
            loop, main_loop = (max(f["cycles"]["inner"], key=lambda r: r["work"]["read"]) for f in (plain, unrolled))
            check(guard_rule.iterations_in(main_loop["work"], loop["work"]) >= 4, "several iterations in one:", main_loop, loop)
            check(any(guard_rule.is_longer(a, b) for a, b in zip(loop["cycles"], main_loop["cycles"])), "which takes longer")
            check(all(guard_rule.is_longer(a, b) for a, b in zip(plain["cycles"]["whole"], unrolled["cycles"]["whole"])),
                  "and so does the whole, of eight iterations")
            check(guard_rule.by_time(unrolled, plain) == 1, "but the work takes longer without")
            check(len(unrolled["cycles"]["inner"]) == (1 if count == KNOWN else 2), "one loop, or another for what is left")
            kept = bench.kept(count, UNROLLED, PLAIN)
            check(len(kept) == 1 and kept[0].endswith(where + ", for the same work"), "the guard says so:", kept)
            # The unrolled loop is better, also with another one for what is left.
            better = guard_rule.by_time(plain, unrolled)
            check(better == -1, "verdict:", better)
            kept = bench.kept(count, PLAIN, UNROLLED)
            check(not kept, "the guard says so:", kept)
    print("\n".join(FAILURES))
    print(f"guard, unrolled loops: {CHECKS} checks, {len(FAILURES)} wrong")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
