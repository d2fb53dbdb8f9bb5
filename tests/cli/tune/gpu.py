#!/usr/bin/env python3
"""`ptxopt tune --measure gpu` on the stub of the driver, whose time is the number of interpreted instructions.

  tests/cli/tune/gpu.py --tool PTXOPT --stub LIBRARY --altering LIBRARY

A kernel divides by the same in each iteration, which the passes move out of the loop. A second driver alters texts
(altering_driver.cpp): variants that leave other bytes, or fail, are not chosen. What is missing on a machine has a name.
Without ptxas the script ends with status 77.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/lib"))
from checking import Failure, check  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

NOTHING = 77
HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"
KERNEL = """
.visible .entry NAME(.param .u64 x, .param .u64 y, .param .u32 n, .param .u32 m)
{
	.reg .pred %p;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.u32 %r1, [n];
	ld.param.u32 %r2, [m];
	mov.u32 %r3, %tid.x;
	mul.wide.u32 %rd3, %r3, 4;
	add.u64 %rd1, %rd1, %rd3;
	add.u64 %rd2, %rd2, %rd3;
	ld.global.u32 %r7, [%rd1];
	cvt.u64.u32 %rd4, %r7;
	cvt.u64.u32 %rd5, %r2;
	or.b64 %rd5, %rd5, 0x100000000;
	mov.u32 %r4, 0;
LOOP:
	div.u64 %rd6, %rd4, %rd5;
	div.u64 %rd7, %rd5, %rd6;
	div.u64 %rd8, %rd7, %rd6;
	div.u64 %rd6, %rd8, %rd7;
	cvt.u32.u64 %r5, %rd6;
	add.u32 %r6, %r5, %r4;
	st.global.u32 [%rd2], %r6;
	add.u64 %rd2, %rd2, 128;
	add.u32 %r4, %r4, 1;
	setp.lt.u32 %p, %r4, %r1;
	@%p bra LOOP;
	ret;
}
"""
LAUNCH = ("--grid", "1", "--block", "32", "--arg", "x=buf:u32:32:random", "y=buf:u32:1024:zero", "u32:32", "u32:7", "--load", "ptx",
          "--seconds", "0.05")
# Stores go elsewhere where the first element of x is small, which is so on the second input alone.
WHERE_SMALL = """.reg .b32 %q; .reg .b64 %x, %a; .reg .pred %s;
	ld.param.u64 %x, [x];
	ld.global.u32 %q, [%x];
	setp.lt.u32 %s, %q, 16;
	selp.b64 %x, 4, 0, %s;
	add.u64 %a, %rd2, %x;
	st.global.u32 [%a],"""
# What it leaves depends on a variable that it changes; another holds the address of the first, and nothing uses a third.
UNUSED = ".global .align 4 .u32 unused = 7;\n"
COUNTING = HEAD + UNUSED + ".global .align 4 .u32 total = 5;\n.global .align 8 .u64 where = total;\n" + KERNEL.replace(
    "st.global.u32 [%rd2], %r6;", "ld.global.u32 %r8, [total];\n\tadd.u32 %r6, %r6, %r8;\n\tst.global.u32 [%rd2], %r6;").replace(
        "\tret;", "\tst.global.u32 [total], %r1;\n\tret;").replace("NAME", "k")


class Test:
    def __init__(self, tool, library, altering, folder):
        self.tool, self.library, self.altering, self.folder = *(os.path.abspath(path) for path in (tool, library, altering)), Path(folder)

    def tune(self, name, *words, code=0, **variables):
        """What it said, and its report; the output is NAME.out."""
        path = self.folder / f"{name}.ptx"
        out, report, saved = (self.folder / f"{name}.{end}" for end in ("out", "json", "saved"))
        for old in (out, report, saved):
            old.unlink(missing_ok=True)
        emulation = json.dumps({"countsTime": True, "stepLimit": 200_000_000})
        changed = {"PTXOPT_EMULATION": emulation, "PTXOPT_GPU_DRIVER": self.library, "PTXOPT_CACHE_DIR": "", **variables}
        done = subprocess.run([self.tool, "tune", path, "-o", out, "--measure", "gpu", "--report", report, "--save", saved, *words],
                              capture_output=True, text=True, timeout=300, env={**os.environ, **changed})
        check(done.returncode == code, name, *words, f"status {done.returncode}, not {code}:", done.stderr)
        check(code == 0 or not out.exists(), name, "failed and wrote something")
        return done.stderr, json.loads(report.read_text()) if code == 0 else None

    def write(self, name, *kernels):
        (self.folder / f"{name}.ptx").write_text(HEAD + "".join(KERNEL.replace("NAME", k) for k in kernels))

    def candidates(self, report, kernel):
        function = next(f for f in report["functions"] if f["name"] == kernel)
        return function, {c["variant"]: c for c in function["candidates"]}

    def chosen(self):
        self.write("two", "a", "b")
        said, report = self.tune("two", "--kernel", "b", *LAUNCH)
        function, candidates = self.candidates(report, "b")
        timed = {name: c["device"] for name, c in candidates.items() if "device" in c}
        check(timed and all("ratio" in d for d in timed.values()), "variants of other code are timed:", timed)
        best = min(timed, key=lambda name: timed[name]["ratio"])
        check(timed[best]["verdict"] == "faster" and timed[best]["ratio"] < 0.95, "the division leaves the loop:", timed)
        check(function["variant"] == best and "rejected" not in candidates[best], "the fastest is chosen:", function["variant"], timed)
        check(all(c.get("rejected") for name, c in candidates.items() if c["result"] == "measured" and name not in (best, "input")),
              "the others are not:", timed)
        check(candidates["input"]["rejected"] == "not-better", "nor the input:", candidates["input"]["rejected"])
        check(f"{best} " in said and "faster, chosen" in said, said)
        text = (self.folder / "two.out").read_text()
        check(KERNEL.replace("NAME", "a").strip() in text, "the other kernel stays as it is")
        check(KERNEL.replace("NAME", "b").strip() not in text, "the kernel does not")
        again = self.folder / "again.out"
        done = subprocess.run([self.tool, "tune", self.folder / "two.ptx", "-o", again, "--apply", self.folder / "two.saved"], timeout=100)
        check(done.returncode == 0 and again.read_text() == text, "--apply makes the same text, without a GPU")
        # A file of one kernel needs no name. Of its cubins the stub makes nothing.
        self.write("one", "k")
        said, _ = self.tune("one", *LAUNCH)
        check("k on the interpreter of ptxopt" in said, said)
        cubins = [word for word in LAUNCH if word not in ("--load", "ptx")]
        said, _ = self.tune("one", *cubins, code=2)
        check("--measure gpu: " in said and "input" in said, "an image that the driver does not take:", said)

    def recorded(self):
        """Variants are chosen by recorded launches: of two sizes, and of another kernel, which does not count."""
        self.write("two", "a", "b")
        run = [self.tool, "run", "two.ptx", "--buffer", "x=buf:u32:32:random", "--buffer", "y=buf:u32:1024:zero"]
        for kernel, iterations in (("b", 32), ("a", 32), ("b", 4)):
            run += ["--kernel", kernel, "--grid", "1", "--block", "32", "--arg", "x", "y", f"u32:{iterations}", "u32:7"]
        done = subprocess.run([*run, "--record", "r.zip"], capture_output=True, text=True, timeout=100, cwd=self.folder)
        check(done.returncode == 0, done.stderr)
        records = ("--records", self.folder / "r.zip", "--load", "ptx", "--seconds", "0.02")
        said, report = self.tune("two", "--kernel", "b", *records)
        function, candidates = self.candidates(report, "b")
        timed = {name: c["device"] for name, c in candidates.items() if "device" in c}
        check(timed and all("ratio" in d for d in timed.values()), "variants of other code are timed:", timed)
        best = min(timed, key=lambda name: timed[name]["ratio"])
        check(function["variant"] == best and timed[best]["verdict"] == "faster" and timed[best]["ratio"] < 0.95, "the fastest is chosen:", timed)
        check("b on the interpreter of ptxopt" in said and "faster, chosen" in said, said)
        check(KERNEL.replace("NAME", "a").strip() in (self.folder / "two.out").read_text(), "the other kernel stays as it is")
        few, report = self.tune("two", "--kernel", "b", *records, "--launch", "3")
        one = {name: c["device"]["ratio"] for name, c in self.candidates(report, "b")[1].items() if "device" in c}
        check(one[best] != timed[best]["ratio"], "a launch of fewer iterations gains less:", one, timed)
        # The input leaves other bytes than the record, which is no matter; a kernel that fails is.
        fails = (self.folder / "two.ptx").read_text().replace("st.global.u32 [%rd2],", "st.global.u32 [%rd3],")
        (self.folder / "fails.ptx").write_text(fails)
        for words, message in ((("two", "--kernel", "b", *records, "--grid", "1"), "--grid is of a launch; --records has launches"),
                               (("two", "--kernel", "b", "--launch", "1", "--grid", "1", "--block", "1"), "--launch needs --records"),
                               (("two", *records), "the file has 2 kernels"), (("two", "--kernel", "b", *records, "--launch", "2"), "no such launches of 'b'"),
                               (("two", "--kernel", "b", "--records", "none.zip"), "none.zip"),
                               (("fails", "--kernel", "b", *records), "launch 1: the input fails on the GPU: input: cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS")):
            said, _ = self.tune(*words, code=2)
            check(message in said, words, "is said to be wrong:", said)
        said, _ = self.tune("two", "--kernel", "b", *records, code=2, PTXOPT_GPU_DRIVER="/nowhere/libcuda.so")
        check("there is no CUDA driver" in said, said)

    def wrong_variants(self):
        self.write("one", "k")
        for new, reason, detail in (("st.global.u32 [%rd2+4],", "different", "variant: input 0: byte "), (WHERE_SMALL, "different", "variant: input 1: byte "),
                                    ("st.global.u32 [%rd2+524288], 7; st.global.u32 [%rd2],", "different", "variant: input 0: it writes at 0x"),
                                    ("st.global.u32 [%rd3],", "failed", "variant: input 0: cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS"),
                                    ("} %%% {", "failed", "variant: cuModuleLoadData: ")):
            _, report = self.tune("one", *LAUNCH, PTXOPT_GPU_DRIVER=self.altering, TUNE_TEST_OLD="st.global.u32 [%rd2],", TUNE_TEST_NEW=new)
            function, candidates = self.candidates(report, "k")
            timed = [c for c in candidates.values() if "device" in c]
            check(timed and all(c["rejected"] == reason and detail in c["device"]["detail"] for c in timed), reason, timed)
            check(function["variant"] == "input", reason, "is not chosen")
            check((self.folder / "one.out").read_text() == (self.folder / "one.ptx").read_text(), "the input is what is left")
        # A difference that the input shows, too, when it runs once more.
        _, report = self.tune("one", *LAUNCH, "--inputs", "1", PTXOPT_GPU_DRIVER=self.altering, TUNE_TEST_OLD="%%%", TUNE_TEST_NEW="", TUNE_TEST_RACE="1")
        timed = [c for c in self.candidates(report, "k")[1].values() if "device" in c]
        check(timed and all(c["rejected"] == "failed" and "two runs differ: byte 0 of 'x'" in c["device"]["detail"] for c in timed), timed)
        # On one input alone nothing is wrong with what goes wrong on the second.
        said, _ = self.tune("one", *LAUNCH, "--inputs", "1", PTXOPT_GPU_DRIVER=self.altering, TUNE_TEST_OLD="st.global.u32 [%rd2],",
                            TUNE_TEST_NEW=WHERE_SMALL)
        check("different" not in said, said)

    def variables(self):
        """Variables of the module begin anew in each run, but for those that hold addresses, and may be arguments."""
        (self.folder / "counting.ptx").write_text(COUNTING)
        said, _ = self.tune("counting", *LAUNCH)
        check("faster, chosen" in said, said)
        nowhere = {"PTXOPT_GPU_DRIVER": self.altering, "TUNE_TEST_OLD": UNUSED, "TUNE_TEST_NEW": "", "TUNE_TEST_ELSEWHERE": "1"}
        said, _ = self.tune("counting", *LAUNCH, **nowhere)
        check("faster, chosen" in said, "memory lies where the driver puts it, and ptxas left out a variable:", said)
        total = [word.replace("x=buf:u32:32:random", "total") for word in LAUNCH]
        total[total.index("--block") + 1] = "1"
        said, _ = self.tune("counting", *total)
        check("faster, chosen" in said, said)
        where = [word.replace("total", "where") for word in total]
        said, _ = self.tune("counting", *where, code=2)
        check("the variable 'where' holds addresses and cannot be an argument" in said, said)

    def missing(self):
        self.write("one", "k")
        self.write("two", "a", "b")
        cases = [
            (("one", *LAUNCH), {"PTXOPT_GPU_DRIVER": "/nowhere/libcuda.so"}, "there is no CUDA driver"),
            (("one", *LAUNCH), {"PTXOPT_EMULATION": json.dumps({"devices": 0})}, "the CUDA driver has no device"),
            (("two", *LAUNCH), {}, "the file has 2 kernels"), (("two", *LAUNCH, "--kernel", "c"), {}, "no kernel 'c'"),
            (("one", "--grid", "1"), {}, "needs --grid and --block"),
            (("one", "--grid", "0", "--block", "1"), {}, "--grid"),
            (("one", "--grid", "1", "--block", "32", "--arg", "u32:1", "--load", "ptx"), {}, "the launch makes no sense: 'k' has 4 parameters, 1 argument was given"),
            (("one", *LAUNCH[:5], "x=buf:u32:32:random", "y=buf:u32:32:zero", "u32:32", "u32:7", "--load", "ptx"), {}, "input: input 0: it writes at 0x"),
            (("one", "--grid", "1", "--block", "32", "--arg", "u64:0", "u64:0", "u32:1", "u32:1", "--load", "ptx"), {}, "the input fails on the GPU"),
        ]
        for words, variables, message in cases:
            said, _ = self.tune(*words, code=2, **variables)
            check(message in said, words, "is said to be wrong:", said)
        done = subprocess.run([self.tool, "tune", self.folder / "one.ptx", "--block", "3"], capture_output=True, text=True, timeout=60)
        check(done.returncode == 2 and "--block needs --measure gpu" in done.stderr, done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--stub", required=True)
    parser.add_argument("--altering", required=True)
    options = parser.parse_args()
    if not find_ptxas():
        print("skipped: tune needs ptxas")
        return NOTHING
    with tempfile.TemporaryDirectory() as folder:
        test = Test(options.tool, options.stub, options.altering, folder)
        try:
            test.chosen()
            test.recorded()
            test.wrong_variants()
            test.variables()
            test.missing()
        except Failure as failure:
            print(f"FAILED: {failure}")
            return 1
    print("tune --measure gpu: as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
