#!/usr/bin/env python3
"""The guard takes what comes of a profile only where that is better than what is made without the profile.

  tests/cli/guard/profile.py --tool PATH

`sums` keeps sums in memory: its body for the profile's launches is much better. `norm` adds squares of a column; with what is known of its
launches, the code for all others is slower than that of -O2. `plain` is not in the profile. tune takes a profile, too. Skipped (77)
without ptxas.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
from toolkit import find_ptxas  # noqa: E402

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
NORM = """.visible .entry norm(.param .u32 n, .param .u64 a, .param .u64 r, .param .u32 k) {
  .reg .pred %p<7>;
  .reg .f32 %f<26>;
  .reg .b32 %r<30>;
  .reg .b64 %rd<14>;
  ld.param.u32 %r11, [n];
  ld.param.u64 %rd6, [a];
  ld.param.u64 %rd5, [r];
  ld.param.u32 %r12, [k];
  cvta.to.global.u64 %rd1, %rd6;
  mov.u32 %r13, %ntid.x;
  mov.u32 %r14, %ctaid.x;
  mul.lo.s32 %r15, %r14, %r13;
  mov.u32 %r16, %tid.x;
  neg.s32 %r17, %r16;
  setp.ne.s32 %p1, %r15, %r17;
  @%p1 bra Done;
  setp.lt.s32 %p2, %r11, 1;
  mov.f32 %f25, 0f00000000;
  @%p2 bra Write;
  add.s32 %r19, %r11, -1;
  and.b32 %r29, %r11, 3;
  setp.lt.u32 %p3, %r19, 3;
  mov.f32 %f25, 0f00000000;
  mov.u32 %r28, 0;
  @%p3 bra Rest;
  add.s32 %r26, %r12, 384;
  sub.s32 %r3, %r29, %r11;
  mov.f32 %f25, 0f00000000;
  mov.u32 %r28, 0;
Four:
  add.s32 %r21, %r26, -384;
  mul.wide.s32 %rd7, %r21, 4;
  add.s64 %rd8, %rd1, %rd7;
  ld.global.f32 %f12, [%rd8];
  fma.rn.f32 %f13, %f12, %f12, %f25;
  ld.global.f32 %f14, [%rd8+512];
  fma.rn.f32 %f15, %f14, %f14, %f13;
  ld.global.f32 %f16, [%rd8+1024];
  fma.rn.f32 %f17, %f16, %f16, %f15;
  ld.global.f32 %f18, [%rd8+1536];
  fma.rn.f32 %f25, %f18, %f18, %f17;
  add.s32 %r26, %r26, 512;
  add.s32 %r28, %r28, 4;
  add.s32 %r22, %r3, %r28;
  setp.ne.s32 %p4, %r22, 0;
  @%p4 bra Four;
Rest:
  setp.eq.s32 %p5, %r29, 0;
  @%p5 bra Write;
  shl.b32 %r23, %r28, 7;
  add.s32 %r24, %r12, %r23;
  mul.wide.s32 %rd9, %r24, 4;
  add.s64 %rd13, %rd1, %rd9;
One:
  .pragma "nounroll";
  ld.global.f32 %f19, [%rd13];
  fma.rn.f32 %f25, %f19, %f19, %f25;
  add.s64 %rd13, %rd13, 512;
  add.s32 %r29, %r29, -1;
  setp.ne.s32 %p6, %r29, 0;
  @%p6 bra One;
Write:
  mul.lo.s32 %r25, %r12, 129;
  cvta.to.global.u64 %rd10, %rd5;
  mul.wide.s32 %rd11, %r25, 4;
  add.s64 %rd12, %rd10, %rd11;
  sqrt.rn.f32 %f20, %f25;
  st.global.f32 [%rd12], %f20;
Done:
  ret;
}
"""
# The same, but the sum is kept in memory, and threads have columns of their own.
SUMS = NORM.replace("norm", "sums").replace("  setp.ne.s32 %p1, %r15, %r17;\n  @%p1 bra Done;\n", """  add.s32 %r12, %r15, %r16;
  cvta.to.global.u64 %rd10, %rd5;
  mul.wide.s32 %rd11, %r12, 4;
  add.s64 %rd12, %rd10, %rd11;
""")
SUMS = re.sub(r"(  fma.rn.f32 (%f\d+), .*\n)", r"\1  st.global.f32 [%rd12], \2;\n", SUMS)
SUMS = SUMS[:SUMS.index("Write:")] + "Write:\n  ret;\n}\n"
PLAIN = SUMS.replace("sums", "plain")


def exactly(parameter, value):
    return {"parameter": parameter, "offset": 0, "bytes": 4, "value": value}


def aligned(parameter):
    return {"parameter": parameter, "offset": 0, "bytes": 8, "align": 256}


def seen(name, sizes, loops, parts):
    launch = {"launches": 9, "time": 90, "block": [256, 1, 1], "grid": [{"value": 1}] * 3, "written": [], "overlapping": [], "parts": parts}
    return {"kernel": name, "digest": "0", "parameters": sizes, "launches": 9, "time": 90, "classes": [launch],
            "loops": [{"label": label, "index": 0, "entries": entries, "iterations": iterations} for label, entries, iterations in loops]}


def profile_of(kernels):
    return json.dumps({"format": "ptxopt-profile", "version": 1, "unit": "instructions", "kernels": kernels})


LAUNCHED = ([4, 8, 8, 4], [("Four", 8, 256), ("One", 0, 0)],
            [exactly(0, 128), aligned(1), aligned(2), {"parameter": 3, "offset": 0, "bytes": 4, "least": 0, "most": 127}])
SEEN_SUMS, SEEN_NORM = seen("sums", *LAUNCHED), seen("norm", *LAUNCHED)


def kernel_in(text, name):
    return re.search(rf"\.visible \.entry {name}\(.*?\n}}\n", text, re.S).group()


class Test:
    def __init__(self, tool, ptxas, folder):
        self.tool, self.folder, self.wrong = tool, folder, []
        # Counts how often ptxas assembles something.
        self.calls = folder / "calls"
        self.ptxas = folder / "ptxas"
        self.ptxas.write_text(f'#!/bin/sh\ncase "$*" in *-arch*) echo "$*" >> {shlex.quote(str(self.calls))};; esac\nexec {shlex.quote(ptxas)} "$@"\n')
        self.ptxas.chmod(0o755)

    def check(self, holds, *what):
        if not holds:
            self.wrong.append(" ".join(map(str, what)))

    def optimized(self, text, *options):
        """The output, what the guard says, and the calls of ptxas."""
        (self.folder / "in.ptx").write_text(HEAD + text)
        self.calls.write_text("")
        words = [self.tool, "in.ptx", "-o", "out.ptx", "--guard=ptxas", "--report=out.json", f"--ptxas={self.ptxas}", "-v", *options]
        done = subprocess.run(words, cwd=self.folder, env={**os.environ, "PTXOPT_CACHE_DIR": ""}, capture_output=True, text=True)
        self.check(done.returncode == 0, options, done.stderr)
        report = json.loads((self.folder / "out.json").read_text())["guard"]
        return (self.folder / "out.ptx").read_text(), report, self.calls.read_text().splitlines(), done.stderr

    def run(self):
        text = SUMS + NORM + PLAIN
        (self.folder / "p.json").write_text(profile_of([SEEN_SUMS, SEEN_NORM]))
        without, _, calls_without, _ = self.optimized(text)
        with_it, report, calls, said = self.optimized(text, "--profile-use", "p.json")
        refused = {f["name"]: f for f in report.get("without_profile", [])}
        self.check(list(refused) == ["norm"], "norm has what is made without the profile:", refused)
        self.check("norm: kept without the profile: " in said, said)
        self.check(kernel_in(with_it, "norm") == kernel_in(without, "norm"), "which is that of -O2")
        self.check("bra.uni made_L" in kernel_in(with_it, "sums"), "sums has a body for the launches of the profile")
        self.check("_of_Four:" in kernel_in(with_it, "sums"), "whose loops say which loop of the input they are copies of")
        self.check(kernel_in(with_it, "plain") == kernel_in(without, "plain"), "plain is not in the profile")
        self.check({f["name"] for f in report["before"]} == {f["name"] for f in report["after"]} >= {"sums", "norm"}, "figures of both", report)
        # The input and two results; and the times of two by the profile's iterations.
        self.check(len(calls) <= len(calls_without) + 6, "ptxas runs", len(calls_without), len(calls))

        # A profile that changes no kernel costs no run of ptxas, and gives the same.
        (self.folder / "none.json").write_text(profile_of([seen("other", [4], [], [exactly(0, 1)])]))
        other, report, calls, _ = self.optimized(text, "--profile-use", "none.json")
        self.check(other == without and "without_profile" not in report, "a profile of other kernels changes nothing")
        self.check(len(calls) == len(calls_without), "and costs nothing:", len(calls_without), len(calls))
        # A file of which all is refused is that of -O2.
        alone, _, _, _ = self.optimized(NORM)
        kept, _, _, _ = self.optimized(NORM, "--profile-use", "p.json")
        self.check(alone == kept, "norm by itself")

    def tune(self, code, *words, says=""):
        done = subprocess.run([self.tool, "tune", "in.ptx", "-q", *words], cwd=self.folder, env={**os.environ, "PTXOPT_CACHE_DIR": ""},
                              capture_output=True, text=True)
        self.check(done.returncode == code and says in done.stderr, "tune", *words, done.returncode, done.stderr)
        return done.stdout

    def tuned(self):
        """tune has the profile in each variant, and --apply wants the same one."""
        (self.folder / "in.ptx").write_text(HEAD + SUMS)
        for name, time in (("p.json", 90), ("other.json", 91)):
            (self.folder / name).write_text(profile_of([{**SEEN_SUMS, "time": time}]))
        search = [f"--ptxas={self.ptxas}", "--save"]
        plain = self.tune(0, *search, "plain.json")
        tuned = self.tune(0, *search, "tuned.json", "--profile-use", "p.json")
        self.check("bra.uni made_L" in tuned and "made_L" not in plain, "tune: a body by the profile, and by it alone")
        self.check(self.tune(0, "--apply", "tuned.json", "--profile-use", "p.json") == tuned, "--apply makes another text")
        self.tune(2, "--apply", "tuned.json", says="tuned.json was made with a profile: --profile-use names it")
        self.tune(2, "--apply", "tuned.json", "--profile-use", "other.json", says="was made with another profile than 'other.json'")
        self.tune(2, "--apply", "plain.json", "--profile-use", "p.json", says="plain.json was made without a profile")
        self.tune(0, "--apply", "tuned.json", "--apply-stale", says="was made with a profile")
        self.tune(2, *search, "none.json", "--profile-use", "in.ptx", says="in.ptx is not a profile")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool, ptxas = os.path.abspath(parser.parse_args().tool), find_ptxas()
    if not ptxas:
        print("skipped: there is no ptxas")
        return 77
    with tempfile.TemporaryDirectory() as name:
        test = Test(tool, ptxas, Path(name))
        test.run()
        test.tuned()
    for line in test.wrong:
        print("wrong:", line)
    print(f"guard, profiles: {len(test.wrong)} wrong")
    return 1 if test.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
