#!/usr/bin/env python3
"""ptxopt reduce from the outside: real reductions with real commands.

  tests/cli/reduce/run.py --tool PATH [names]

Inputs are the sample and hazard kernels and, where there is an nvcc, a compiled one of the corpus; tests that need ptxas
are left out, with a message, where there is none. $NVCC and $PTXAS name others than those of the PATH.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
from checking import Failure, Skipped, check  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
NVCC, PTXAS = shutil.which(os.environ.get("NVCC", "nvcc")), find_ptxas()

# A shfl between a label and a branch back to it.
SHFL_IN_LOOP = r"""
import re, sys
text = open(sys.argv[1]).read()
for m in re.finditer(r"^(\S+):$", text, re.M):
    back = re.search(r"\bbra(\.uni)? " + re.escape(m[1]) + ";", text[m.end():])
    if back and "shfl.sync" in text[m.end():m.end() + back.start()]:
        sys.exit(0)
sys.exit(1)
"""

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def big_kernel():
    """A module with helpers, variables, loops, and one loop that has a shfl in it."""
    out = [HEAD]
    for f in range(12):
        out.append(f".global .align 4 .b32 table{f}[64];\n.func (.reg .b32 %r0) helper{f}(.reg .b32 %r1)\n{{\n"
                   f"\tmul.lo.s32 %r0, %r1, {f + 3};\n\tret;\n}}\n")
    for k in range(6):
        out.append(f".visible .entry kernel_with_a_long_name_{k}(.param .u64 out, .param .u32 n)\n.maxntid 128, 1, 1\n{{\n"
                   "\t.reg .pred %p<9>;\n\t.reg .b32 %r<200>;\n\t.reg .b64 %rd<9>;\n\t.shared .align 4 .b32 tile[256];\n"
                   "\tld.param.u64 %rd1, [out];\n\tld.param.u32 %r1, [n];\n\tmov.u32 %r2, %tid.x;\n\tmov.u32 %r3, 0;\n")
        for i in range(20):
            r = 10 + 5 * i
            out.append(f"LOOP{i}:\n\tadd.s32 %r{r}, %r2, {i};\n\txor.b32 %r{r + 1}, %r{r}, %r3;\n"
                       f"\tcall (%r{r + 2}), helper{(k + i) % 12}, (%r{r + 1});\n\tadd.s32 %r3, %r3, %r{r + 2};\n")
            if k == 4 and i == 13:
                out.append(f"\tshfl.sync.down.b32 %r{r + 3}, %r3, 1, 31, -1;\n\tadd.s32 %r3, %r3, %r{r + 3};\n")
            out.append(f"\tsetp.lt.s32 %p1, %r3, {1000 + i};\n\t@%p1 bra LOOP{i};\n")
        out.append("\tst.global.u32 [%rd1+4], %r3;\n\tret;\n}\n")
    return "".join(out)


class Tests:
    def __init__(self, tool, folder):
        self.tool, self.folder = str(Path(tool).resolve()), folder
        self.out = folder / "out.ptx"
        (folder / "in.ptx").write_text(big_kernel())
        (folder / "loop.py").write_text(SHFL_IN_LOOP)
        self.loop = [sys.executable, "-I", "-S", str(folder / "loop.py")]

    def reduce(self, source, command, *options, status=0, out=None):
        out = out or self.out
        run = subprocess.run([self.tool, "reduce", str(source), "-o", str(out), *options, "--", *command],
                             capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        check(run.returncode == status, f"exit status {run.returncode} instead of {status}:\n{run.stderr}")
        return run

    def figures(self, run):
        m = re.search(r"(\d+) -> (\d+) bytes, (\d+) -> (\d+) instructions; (\d+) tests", run.stderr)
        check(m, f"no summary in {run.stderr!r}")
        return [int(n) for n in m.groups()]

    def source(self):
        return self.folder / "in.ptx"

    def check_reprinted(self, path):
        run = subprocess.run([self.tool, "-O0", "--reprint", str(path), "-o", "-"], capture_output=True)
        check(run.returncode == 0, f"the result is no PTX: {run.stderr}")
        check(run.stdout == path.read_bytes(), "the result is not in the form of --reprint")

    # ---- reductions ----

    def test_one_instruction(self):
        run = self.reduce(self.source(), ["grep", "-q", "shfl.sync"])
        text = self.out.read_text()
        before, after, _, instructions, tests = self.figures(run)
        check(instructions == 1 and "shfl.sync" in text, f"{instructions} instructions are left")
        check(after == len(text) and after < 260 < 10000 < before, f"{before} -> {after} bytes")
        check(tests < 100, f"{tests} tests")
        check("kernel_with_a_long_name_4(" in text and "helper" not in text and "table" not in text, text)
        self.check_reprinted(self.out)

    def test_shfl_in_a_loop(self):
        run = self.reduce(self.source(), [*self.loop, "{}"])
        text = self.out.read_text()
        check(self.figures(run)[3] == 2, text)
        check(re.search(r"L0:\n\tshfl.sync.*;\n\tbra L0;\n", text), text)

    def test_interface(self):
        self.reduce(self.source(), self.loop, "--interface")
        check(".entry k0()" in self.out.read_text(), self.out.read_text())

    def test_one_kernel(self):
        run = self.reduce(self.source(), ["grep", "-q", "xor.b32"], "--kernel", "kernel_with_a_long_name_2")
        check("name_2(" in self.out.read_text() and self.figures(run)[3] == 1, self.out.read_text())
        run = self.reduce(self.source(), ["true"], "--kernel", "nobody", status=2)
        check("no kernel 'nobody'" in run.stderr, run.stderr)

    def test_hazards(self):
        for path in sorted((ROOT / "tests/inputs/hazards").glob("*.ptx")):
            opcodes = sorted(set(re.findall(r"^\s*(?:@!?\S+\s+)?([a-z]\w*\.[\w.:]+)", path.read_text(), re.M)))
            if not opcodes:
                continue
            wanted = opcodes[len(opcodes) // 2]
            run = self.reduce(path, ["grep", "-qwF", wanted])
            text = self.out.read_text()
            check(wanted in text and self.figures(run)[3] <= 2, f"{path.name}, {wanted}:\n{text}")
            self.check_reprinted(self.out)

    def test_ptxas(self):
        if not PTXAS:
            raise Skipped("no ptxas")
        script = f"grep -q shfl.sync.down {{}} && grep -q helper9 {{}} && {PTXAS} -arch=sm_80 {{}} -o {{}}.cubin"
        run = self.reduce(self.source(), ["sh", "-c", script], "-j", "2")
        text = self.out.read_text()
        check(self.figures(run)[3] <= 2 and len(text) < 400, text)
        check("helper9" in text and "shfl.sync.down" in text, text)
        assembled = subprocess.run([PTXAS, "-arch=sm_80", str(self.out), "-o", os.devnull], capture_output=True)
        check(assembled.returncode == 0, f"ptxas: {assembled.stderr}")

    def test_machine_code(self):
        """A property of what ptxas makes of it: a stack frame."""
        if not PTXAS or not NVCC:
            raise Skipped("no nvcc and ptxas")
        source = self.folder / "math.ptx"
        subprocess.run([NVCC, "-ptx", "-arch=sm_80", "-std=c++17", str(ROOT / "tests/codegen/corpus/kernels/math.cu"), "-o", str(source)],
                       check=True, capture_output=True)
        script = f"{PTXAS} -v -arch=sm_80 {{}} -o {{}}.cubin 2>&1 | grep -q '[1-9][0-9]* bytes stack frame'"
        run = self.reduce(source, ["sh", "-c", script], "-j", "2")
        before, after = self.figures(run)[:2]
        check(before > 50000 and after < 300, f"{before} -> {after} bytes")

    # ---- the search ----

    def test_jobs(self):
        texts, counts = set(), set()
        for jobs in (1, 2, 5):
            run = self.reduce(self.source(), self.loop, "-j", str(jobs))
            texts.add(self.out.read_text())
            counts.add(tuple(self.figures(run)))
        check(len(texts) == 1 and len(counts) == 1, f"different results: {counts}")

    def test_max_tests(self):
        for jobs in (1, 3):
            run = self.reduce(self.source(), self.loop, "--max-tests", "10", "-j", str(jobs))
            check("stopped by --max-tests" in run.stderr, run.stderr)
            check(self.figures(run)[4] <= 12, run.stderr)  # with those of the input itself
            check(subprocess.run([*self.loop, str(self.out)]).returncode == 0, "the result is not interesting")

    def test_no_text_is_tested_twice(self):
        log = self.folder / "log"
        log.write_text("")
        self.reduce(self.source(), ["sh", "-c", f"md5sum < $1 >> {log}; grep -q shfl $1", "sh"])
        sums = log.read_text().split("\n")[2:]  # the input and its reprint may be one
        check(len(sums) > 10 and len(sums) == len(set(sums)), "a text was tested twice")

    def test_names_of_files(self):
        """{} inside an argument, several times; none: the last argument; blanks in the name."""
        source = self.folder / "a b.ptx"
        source.write_text(big_kernel())
        for command in (["sh", "-c", 'grep -q shfl "{}" && test "{}" = "$0"', "{}"], ["grep", "-q", "shfl"],
                        ["sh", "-c", 'case "$1" in */"a b.ptx") grep -q shfl "$1";; *) exit 1;; esac', "sh"]):
            check(self.figures(self.reduce(source, command))[3] == 1, str(command))

    def test_standard_streams(self):
        run = subprocess.run([self.tool, "reduce", "-", "-o", "-", "--", "grep", "-q", "shfl"], input=big_kernel(), text=True,
                             capture_output=True, timeout=300)
        check(run.returncode == 0 and run.stdout.startswith(".version") and len(run.stdout) < 260, run.stdout)

    # ---- time limits and ends ----

    def test_timeout(self):
        slow = ["sh", "-c", "grep -q shfl.sync $1 || { echo $$ >> " + str(self.folder / "pids") + "; sleep 100; touch " + str(self.folder / "late") + "; }", "sh"]
        self.reduce(self.source(), slow, "--timeout", "2", "--max-tests", "6", "-j", "2")
        check(not (self.folder / "late").exists(), "the time limit does not hold")
        check("shfl.sync" in self.out.read_text(), "a killed test counts as interesting")
        pids = (self.folder / "pids").read_text().split()
        check(pids, "no test was killed")
        for pid in pids:
            stat = Path(f"/proc/{pid}/stat")
            state = stat.read_text().split()[2] if stat.exists() else "gone"
            check(state in ("gone", "Z"), f"process {pid} is still there, {state}")

    def test_timeout_interesting(self):
        run = self.reduce(self.source(), ["sh", "-c", "grep -q shfl.sync $1 && sleep 1000; exit 1", "sh"], "--timeout", "1.5",
                          "--timeout-interesting", "--max-tests", "8")
        check("shfl.sync" in self.out.read_text() and self.figures(run)[1] < 30000, self.out.read_text())
        self.reduce(self.source(), self.loop, "--timeout-interesting", status=2)

    def test_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            marker = self.folder / "count"
            marker.write_text("")
            script = f"echo >> {marker}; if [ $(wc -l < {marker}) -gt 15 ]; then sleep 1000; fi; grep -q shfl.sync $1"
            run = subprocess.Popen([self.tool, "reduce", str(self.source()), "-o", str(self.out), "-j", "2", "--", "sh", "-c",
                                    script, "sh"], stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, "TMPDIR": str(self.folder / "tmp")},
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            deadline = time.monotonic() + 60
            while len(marker.read_text()) < 16 and time.monotonic() < deadline:
                time.sleep(0.02)
            run.send_signal(number)
            _, errors = run.communicate(timeout=20)
            check(run.returncode == -number, f"exit status {run.returncode}: {errors}")
            check("stopped" in errors, errors)
            check(not list((self.folder / "tmp").iterdir()), "temporary files are left")
            check("shfl.sync" in self.out.read_text() and self.out.stat().st_size < self.source().stat().st_size / 2,
                  f"{self.out.stat().st_size} bytes")
            self.check_reprinted(self.out)

    # ---- errors ----

    def test_errors_leave_the_output(self):
        self.out.write_text("before")
        bad = self.folder / "bad.ptx"
        bad.write_text("not PTX")
        source, true = self.source(), ["true"]
        for path, command, options, status, message in (
                (source, ["false"], [], 2, "is not interesting: exit status 1"),
                (source, ["sh", "-c", "echo hello; kill -9 $$"], [], 2, "signal 9"),
                (source, ["sh", "-c", "sleep 1000"], ["--timeout", "0.2"], 2, "no result within"),
                (source, ["/nowhere/command"], [], 2, "error: cannot start '/nowhere/command': No such file or directory\n"),
                (source, ["grep -q shfl"], [], 2, "cannot start 'grep -q shfl': No such file or directory; give each word"),
                (source, [], [], 2, "no command"),
                (source, true, ["--no-such"], 2, "--no-such"),
                (source, true, ["--timeout", "-1"], 2, "--timeout"),
                (source, true, ["--max-tests", "0"], 2, "--max-tests"),
                (source, true, ["extra"], 2, "extra"),
                (bad, true, [], 3, "bad.ptx:1:1: error:"),
                (self.folder / "none.ptx", true, [], 2, "none.ptx")):
            run = self.reduce(path, command, *options, status=status)
            check(message in run.stderr, f"no '{message}' in {run.stderr!r}")
            check(self.out.read_text() == "before", f"{command}: the output was written")
        run = self.reduce(source, true, out=source, status=2)
        check("one file" in run.stderr and source.read_text() == big_kernel(), run.stderr)
        self.reduce(source, true, out=self.folder / "no/folder/out.ptx", status=2)

    def test_layout_that_matters(self):
        """What only the layout or a comment shows is not there after reprinting: an error, not a wrong result."""
        source = self.folder / "comment.ptx"
        source.write_text(big_kernel() + "// here\n")
        self.out.write_text("before")
        run = self.reduce(source, ["grep", "-q", "here"], status=2)
        check("as --reprint prints it" in run.stderr and self.out.read_text() == "before", run.stderr)

    def test_help(self):
        run = subprocess.run([self.tool, "reduce", "--help"], capture_output=True, text=True)
        check(run.returncode == 0 and "--timeout-interesting" in run.stdout, run.stdout)
        run = subprocess.run([self.tool, "--help"], capture_output=True, text=True)
        check(run.returncode == 0 and re.search(r"^  reduce +\w", run.stdout, re.M), run.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    names = args.names or [name[5:] for name in dir(Tests) if name.startswith("test_")]
    passed, failed, skipped = 0, 0, 0
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "tmp").mkdir()
            try:
                getattr(Tests(args.tool, Path(folder)), "test_" + name)()
                passed += 1
            except Skipped as why:
                skipped += 1
                print(f"{name}: left out: {why}")
            except Failure as why:
                failed += 1
                print(f"{name}: {why}")
    print(f"reduce: {passed} passed, {failed} failed, {skipped} left out")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
