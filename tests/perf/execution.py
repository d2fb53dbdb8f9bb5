#!/usr/bin/env python3
"""Thread instructions that the interpreter executes in a second of CPU time, on one core.

    tests/perf/execution.py --tool build/release/ptxopt [--runs N]

Each kernel runs once with --profile, which counts its thread instructions, and then without, in two sizes; the difference of
the CPU times takes start-up and parsing out. The best of N runs counts. Bound: 200 million a second for integer and f32 code.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from measure import measure, table

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
	.reg .pred %p<9>;
	.reg .b32 %r<40>;
	.reg .f32 %f<20>;
	.reg .b64 %rd<9>;
	.shared .align 4 .b8 buffer[4096];
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, 0;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd1, %rd1, %rd2;
	mov.u32 %r10, buffer;
	shl.b32 %r11, %r2, 2;
	add.u32 %r10, %r10, %r11;
	cvt.rn.f32.u32 %f1, %r2;
	mov.f32 %f2, 0f3F7FBE77;
	mov.f32 %f3, 0f3C23D70A;
	mov.u32 %r4, 1;
$LOOP:
"""
TAIL = """
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p1, %r3, %r1;
	@%p1 bra $LOOP;
	st.global.u32 [%rd1], %r2;
	st.global.f32 [%rd1], %f1;
	ret;
}
"""
BODIES = {
    "integer": """	mad.lo.u32 %r4, %r4, 1664525, 1013904223;
	xor.b32 %r5, %r4, %r2;
	shr.u32 %r6, %r5, 7;
	add.u32 %r2, %r2, %r6;
	and.b32 %r7, %r2, 127;
	or.b32 %r4, %r4, %r7;
	lop3.b32 %r8, %r4, %r5, %r6, 0x96;
	sub.u32 %r2, %r8, %r7;
""",
    "f32": """	fma.rn.f32 %f1, %f1, %f2, %f3;
	mul.f32 %f4, %f1, %f2;
	add.f32 %f5, %f4, %f3;
	fma.rn.f32 %f1, %f5, %f2, %f4;
	sub.f32 %f6, %f1, %f5;
	max.f32 %f7, %f6, %f3;
	add.f32 %f1, %f7, %f3;
	mul.f32 %f1, %f1, %f2;
""",
    "branches": """	and.b32 %r5, %r2, 1;
	setp.eq.u32 %p2, %r5, 0;
	@%p2 bra $EVEN;
	mad.lo.u32 %r2, %r2, 3, 1;
	bra $MEET;
$EVEN:
	shr.u32 %r2, %r2, 1;
$MEET:
	add.u32 %r2, %r2, %r3;
""",
    "shared memory": """	st.shared.u32 [%r10], %r2;
	bar.sync 0;
	ld.shared.u32 %r5, [%r10];
	add.u32 %r2, %r5, 1;
	bar.sync 0;
""",
    "global memory": """	ld.global.u32 %r5, [%rd1];
	add.u32 %r2, %r5, %r3;
	st.global.u32 [%rd1], %r2;
""",
}
THREADS = 4 * 256


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    rows = []
    with tempfile.TemporaryDirectory(prefix="ptxopt-execution-") as folder:
        for name, body in BODIES.items():
            path, profile = os.path.join(folder, "k.ptx"), os.path.join(folder, "profile.json")
            with open(path, "w") as f:
                f.write(HEAD + body + TAIL)

            def command(n, *more):
                return [tool, "run", path, "--grid", "4", "--block", "256", "--arg", f"buf:u32:{THREADS}:zero", f"u32:{n}", *more]

            counts = {}
            for n in (10, 20):
                subprocess.run(command(n, f"--profile={profile}"), check=True, stdout=subprocess.DEVNULL)
                with open(profile) as f:
                    counts[n] = json.load(f)["instructions"]["threads"]
            per_turn = (counts[20] - counts[10]) / 10
            small, large = 1000, 41000
            times = [measure(command(n), options.runs) for n in (small, large)]
            if None in times:
                sys.exit(f"{name}: the tool failed")
            rate = per_turn * (large - small) / (times[1][0] - times[0][0])
            rows.append([name, f"{per_turn / THREADS:.1f}", f"{rate / 1e6:.0f}"])
    table(["kernel", "instructions a turn and thread", "M thread instructions/s"], rows)



if __name__ == "__main__":
    main()
