#!/usr/bin/env python3
"""The guard judges a kernel by the launches that --facts tells of: where many blocks hide its latency, one warp's alone is not asked.

  tests/cli/guard/launches.py --tool PATH

Three streams are added whose addresses are sums of one counter. Pointers that step by themselves take fewer instructions, and more of them wait
for each other: with the warps of a large grid that is faster. Code is the same with facts and without. Skipped (77) without ptxas.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
from toolkit import find_ptxas  # noqa: E402

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry streams(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 to, .param .u64 count) {
  .reg .pred %p<3>;
  .reg .b32 %r<5>;
  .reg .f32 %f<5>;
  .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [count];
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd2, %r2, %r1;
  mov.u32 %r3, %tid.x;
  cvt.u64.u32 %rd3, %r3;
  add.s64 %rd4, %rd2, %rd3;
  setp.ge.s64 %p1, %rd4, %rd1;
  @%p1 bra Done;
  ld.param.u64 %rd5, [a];
  ld.param.u64 %rd6, [b];
  ld.param.u64 %rd7, [c];
  ld.param.u64 %rd8, [to];
  cvta.to.global.u64 %rd5, %rd5;
  cvta.to.global.u64 %rd6, %rd6;
  cvta.to.global.u64 %rd7, %rd7;
  cvta.to.global.u64 %rd8, %rd8;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %rd9, %r4, %r1;
  shl.b64 %rd10, %rd4, 2;
  shl.b64 %rd11, %rd9, 2;
Loop:
  add.s64 %rd12, %rd5, %rd10;
  ld.global.nc.f32 %f1, [%rd12];
  add.s64 %rd13, %rd6, %rd10;
  ld.global.nc.f32 %f2, [%rd13];
  add.s64 %rd14, %rd7, %rd10;
  ld.global.nc.f32 %f3, [%rd14];
  fma.rn.f32 %f4, %f2, %f3, %f1;
  add.s64 %rd15, %rd8, %rd10;
  st.global.f32 [%rd15], %f4;
  add.s64 %rd10, %rd10, %rd11;
  add.s64 %rd4, %rd4, %rd9;
  setp.lt.s64 %p2, %rd4, %rd1;
  @%p2 bra Loop;
Done:
  ret;
}
"""
# Block, grid, whether the result is refused.
LAUNCHES = [(None, None, True), ("[256]", '[{"least": 1}, 65535]', False), ("[256]", '[{"least": 1}, {"most": 65535}]', True), ("[256]", '[{"least": 1}, 5]', True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool, ptxas = os.path.abspath(parser.parse_args().tool), find_ptxas()
    if not ptxas:
        print("skipped: there is no ptxas")
        return 77
    wrong, results = [], set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in.ptx").write_text(KERNEL)
        for guard in ("off", "ptxas"):
            for block, grid, is_refused in LAUNCHES:
                words = ["--skip-pass=apply-facts", f"--guard={guard}", "--guard-tries=0", "--ptxas", ptxas, "--report", folder / "report.json"]
                if block:
                    (folder / "facts.json").write_text(f'{{"version": 1, "kernels": [{{"kernel": "streams", "block": {block}, "grid": {grid}}}]}}')
                    words += ["--facts", folder / "facts.json"]
                subprocess.run([tool, folder / "in.ptx", "-o", folder / "out.ptx", *words], check=True)
                out = (folder / "out.ptx").read_text()
                if guard == "off":
                    results.add(out)
                    continue
                kept = json.loads((folder / "report.json").read_text())["guard"]["kept"]
                if bool(kept) != is_refused or (out == KERNEL) != is_refused:
                    wrong.append(f"block {block}, grid {grid}: {'refused' if kept else 'accepted'}: {kept}")
    if len(results) != 1:
        wrong.append("without the guard the result depends on the facts: the launches are not all that differs")
    print(*wrong, sep="\n")
    print(f"guard, launches: {len(LAUNCHES)} launches, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
