#!/usr/bin/env python3
"""ptxopt link: what becomes of names by linkage, of heads and of places; what does not fit together; that the result runs,
and that ptxas takes it.

  tests/cli/link/run.py --tool PATH
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/lib"))
import command_tests  # noqa: E402

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

# Each calls the other; both have a variable `own`, a function `add` and a weak `offset`; `table` holds functions.
FIRST = """.version 8.0
.target sm_80, debug
.address_size 64
.file 1 "first.cu"
.extern .func (.param .b32 r) both(.param .b32 a);
.extern .func (.param .b32 r) unknown(.param .b32 a);
.extern .shared .align 4 .b8 open[];
.extern .global .align 8 .b8 table[16];
.extern .const .align 4 .f32 unused;
.global .align 4 .u32 own = 1;
.common .global .align 4 .b8 scratch[8];
.weak .func (.param .b32 r) offset(.param .b32 a) {
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [a];
  add.u32 %r2, %r1, 1000;
  st.param.b32 [r], %r2;
  ret;
}
.func (.param .b32 r) add(.param .b32 a) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [a];
  ld.global.u32 %r2, [own];
  add.u32 %r3, %r1, %r2;
  st.param.b32 [r], %r3;
  ret;
}
.visible .entry run(.param .u64 out) {
  .reg .b64 %rd<6>;
  .reg .b32 %r<9>;
  .loc 1 10 2
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 5;
  { .param .b32 p; .param .b32 q;
    st.param.b32 [p], %r1;
    .loc 1 11 3, function_name $name, inlined_at 1 10 2
    call (q), add, (p);
    ld.param.b32 %r2, [q]; }
  { .param .b32 p; .param .b32 q;
    st.param.b32 [p], %r2;
    call (q), both, (p);
    ld.param.b32 %r3, [q]; }
  { .param .b32 p; .param .b32 q;
    st.param.b32 [p], %r3;
    call (q), offset, (p);
    ld.param.b32 %r4, [q]; }
  ld.global.u64 %rd2, [table+8];
  { .param .b32 p; .param .b32 q;
    st.param.b32 [p], %r4;
    prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (q), %rd2, (p), prototype;
    ld.param.b32 %r5, [q]; }
  st.global.u32 [%rd1], %r5;
  ret;
}
.section .debug_str { $name: .b8 97, 0 }
"""
SECOND = """.version 8.3
.target sm_90
.address_size 64
.file 1 "second.cu"
.visible .func (.param .b32 r) both(.param .b32 a);
.func (.param .b32 r) add(.param .b32 a);
.extern .shared .align 16 .b8 open[];
.visible .global .align 8 .u64 table[2] = {both, add};
.global .align 4 .u32 own = 20;
.common .global .align 4 .b8 scratch[32];
.visible .func (.param .b32 r) offset(.param .b32 a) {
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [a];
  add.u32 %r2, %r1, 3000;
  st.param.b32 [r], %r2;
  ret;
}
.func (.param .b32 r) add(.param .b32 a) {
  .reg .b32 %r<4>;
  .loc 1 7 1
  ld.param.b32 %r1, [a];
  ld.global.u32 %r2, [own];
  add.u32 %r3, %r1, %r2;
  st.param.b32 [r], %r3;
  ret;
}
.visible .func (.param .b32 r) both(.param .b32 a) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [a];
  mul.lo.u32 %r2, %r1, 100;
  st.param.b32 [r], %r2;
  ret;
}
"""

# Two texts and what is said of them; each begins with HEAD unless it has one.
REFUSED = [
    (".visible .func f() { ret; }", ".visible .func f() { ret; }", "b.ptx:4:1: error: 'f' is defined in a.ptx, too"),
    (".visible .global .u32 x;", ".visible .func x() { ret; }", "'x' is a function here, and a variable in a.ptx"),
    (".visible .global .u32 x;", ".extern .global .u64 x;", "'x' has 8 bytes here, and 4 in a.ptx"),
    (".version 8.0\n.target sm_80\n.address_size 32\n", "", "b.ptx: error: addresses of 64 bits, and of 32 in other files"),
    (".version 8.0\n.target sm_80, texmode_independent\n.address_size 64\n", "", "b.ptx: error: .target has other modes"),
    ("", ".visible .global .u32 x, y;", "b.ptx:4:1: error: one declaration of several names"),
    ("", ".reg .b32 %r<4>;", "b.ptx: error: registers outside of functions"),
    ("", ".visible .func f( { ret; }", "b.ptx:4:19: error:"),
]


class Link(command_tests.CommandTests):
    PARTS = ("fits", "own_names", "order", "single", "refused", "usage")

    def __init__(self, folder, tool):
        super().__init__("link", tool, folder)

    def link(self, *texts):
        names = []
        for name, text in zip("abc", texts):
            (self.folder / f"{name}.ptx").write_text(text)
            names.append(f"{name}.ptx")
        (self.folder / "out.ptx").unlink(missing_ok=True)
        done = self.run("link", *names, "-o", "out.ptx")
        out = self.folder / "out.ptx"
        return done, out.read_text() if out.exists() else None

    def result_of(self, text):
        (self.folder / "out.ptx").write_text(text)
        done = self.run("run", "out.ptx", "--kernel", "run", "--grid", "1", "--block", "1", "--arg", "out=buf:u32:1:zero",
                        "--dump", "out")
        return done.stdout + done.stderr

    def fits(self):
        done, text = self.link(FIRST, SECOND)
        self.check(done.returncode == 0 and text, done.stderr)
        # (5 + 1) * 100, 3000 of the strong definition, 20 of the other `own`.
        for order in ((FIRST, SECOND), (SECOND, FIRST)):
            done, text = self.link(*order)
            self.check("3620" in self.result_of(text), order[0][:20], self.result_of(text))
            self.check(text.startswith(".version 8.3\n.target sm_90\n.address_size 64\n"), text[:80])
            self.check(len(re.findall(r"^\.weak", text, re.M)) == 0, "a weak function beside a strong one", text)
            self.check(re.findall(r"open\[\]|\.align 16 \.b8 open", text) == [".align 16 .b8 open"], "open", text)
            self.check(re.findall(r"scratch\[\d+\]", text) == ["scratch[32]"], "scratch", text)
            self.check(".extern .func (.param .b32 r) unknown" in text and ".extern .const .align 4 .f32 unused" in text,
                       "what nobody defines", text)
            self.check(not re.search(r"\.extern [^;]*\b(both|table)\b", text), "declarations of what is defined", text)
            self.check(".section" not in text and "debug" not in text and "function_name" not in text, "debug information", text)
            number = {name: re.search(rf'\.file\s+(\d+) "{name}"', text)[1] for name in ("first.cu", "second.cu")}
            self.check(sorted(number.values()) == ["1", "2"], number)
            self.check(f".loc {number['first.cu']} 11 3\n" in text and f".loc {number['second.cu']} 7 1\n" in text, "places", text)
            for level in ("-O0", "-O2"):
                done = self.run("-", "-o", "-", level, "--guard=off", text=text)
                self.check(done.returncode == 0 and "3620" in self.result_of(done.stdout), level, done.stderr)
            if ptxas := shutil.which("ptxas"):
                (self.folder / "out.ptx").write_text(text)
                done = subprocess.run([ptxas, "-arch=sm_90", "-c", "out.ptx", "-o", "out.cubin"], capture_output=True, text=True,
                                      cwd=self.folder)
                self.check(done.returncode == 0, done.stderr)

    def own_names(self):
        """A third text's own names differ from a name that the first two have taken by then."""
        own = HEAD + ".global .u32 own = {};\n.visible .global .u64 {}[1] = {{own}};\n"
        done, text = self.link(own.format(1, "p"), own.format(2, "q") + ".global .u32 own__1;\n", own.format(3, "s"))
        declared = dict(re.findall(r"\.u32 (\S+) = (\d)", text))
        self.check(sorted(declared.values()) == ["1", "2", "3"] and "own__1" not in declared, declared)
        for name, value in (("p", "1"), ("q", "2"), ("s", "3")):
            self.check(declared[re.search(rf"{name}\[1\] = {{(\S+)}}", text)[1]] == value, name, text)
        # A name that others see keeps its spelling.
        done, text = self.link(own.format(1, "p"), HEAD + ".visible .global .u32 own = 7;\n")
        self.check(".visible .global .u32 own = 7;" in text and "{own__1}" in text, text)

    def order(self):
        """A variable whose address is an initial value comes first; ptxas knows no other order."""
        first = HEAD + ".extern .global .align 4 .u32 b;\n.visible .global .align 8 .u64 a[2] = {b, 0};\n"
        second = HEAD + ".visible .global .align 4 .u32 b = 7;\n.global .align 8 .u64 self = self;\n"
        done, text = self.link(first, second)
        self.check(done.returncode == 0 and text.index(" b = 7;") < text.index(" a[2] = {b"), done.stderr, text)
        back = second.replace("b = 7;", "b[2] = {a, 0};").replace("4 .u32 b", "8 .u64 b")
        done, text = self.link(first.replace("4 .u32 b", "8 .u64 b[2]"), HEAD + ".extern .global .align 8 .u64 a[2];\n" + back[len(HEAD):])
        self.check(done.returncode == 3 and "made of its own address" in done.stderr and text is None, done.stderr)

    def single(self):
        done, text = self.link(FIRST)
        self.check(done.returncode == 0 and ".weak .func" in text and ".extern .func (.param .b32 r) both" in text, text)

    def refused(self):
        for first, second, said in REFUSED:
            texts = [t if t.startswith(".version") else HEAD + t + "\n" for t in (first, second)]
            done, text = self.link(*texts)
            self.check(done.returncode == 3 and said in done.stderr and text is None, said, done.returncode, done.stderr)

    def usage(self):
        for words in (["link"], ["link", "a.ptx"], ["link", "none.ptx", "-o", "x.ptx"], ["link", "-", "-", "-o", "x.ptx"],
                      ["link", "a.ptx", "-o", "none/x.ptx"]):
            self.check(self.run(*words, text="").returncode == 2, words)
        done = self.run("link", "-", "-o", "-", text=HEAD + ".visible .global .u32 x;\n")
        self.check(done.returncode == 0 and ".visible .global .u32 x;" in done.stdout, done.stderr)


if __name__ == "__main__":
    sys.exit(command_tests.main(__doc__, Link))
