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
    (".visible .global .u32 x;", ".extern .const .u32 x;", "b.ptx:4:1: error: 'x' is .const here, and .global in a.ptx"),
    (".common .global .align 8 .b8 x[8];", ".common .global .align 4 .b8 x[64];", "'x' is larger in one of the files, and aligned to"),
    (".visible .func g() { ret; }\n.visible .func f();\n.alias f, g;", ".visible .func f() { ret; }",
     "'f' is defined in a.ptx, too"),
    (".global .u32 r5;", ".global .u32 r5;\n.visible .entry k() { .reg .b32 r<8>; mov.u32 r5, 1; ret; }",
     "b.ptx:5:33: error: 'r5' would get another name here, and is one of 'r<8>'"),
    (".visible .global .u32 a0;",
     ".visible .entry k() { .reg .b32 %r; T: .branchtargets a<2>; brx.idx %r, T; a0: ret; a1: ret; }",
     "error: 'a0' would get another name here, and is one of 'a<2>'"),
]

# Own names of two texts that are opcodes, registers in guards and vectors, local variables and labels, too.
WORDS = """.global .u32 p = {0};
.global .u32 v = {0};
.global .u32 kept = {0};
.visible .global .u64 all{0}[3] = {{p, v, kept}};
.func exit() {{ ret; }}
.func ret() {{ ret; }}
.visible .entry run{0}(.param .u64 out) {{
  .reg .pred p;
  .reg .v2 .b32 v;
  .reg .b32 %r<3>;
  .reg .b64 %rd;
  .local .u32 kept;
  ld.param.u64 %rd, [out];
  {{ call exit; }}
  call ret;
  mov.b32 v.x, 5;
  st.local.u32 [kept], v.x;
  ld.local.u32 %r1, [kept];
  setp.eq.u32 p, %r1, 5;
  @p st.global.u32 [%rd], %r1;
  @ ! p bra done;
  st.global.u32 [%rd+4], v.x;
  @p exit;
done: ret;
}}
"""


class Link(command_tests.CommandTests):
    PARTS = ("fits", "own_names", "words", "kernels", "linkages", "targets", "order", "single", "refused", "usage")

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

    def assembled(self, text):
        """What ptxas says against a text: nothing, without a ptxas."""
        if not (ptxas := shutil.which("ptxas")):
            return ""
        (self.folder / "out.ptx").write_text(text)
        return subprocess.run([ptxas, "-arch=sm_90", "-c", "out.ptx", "-o", "out.cubin"], capture_output=True, text=True,
                              cwd=self.folder).stderr

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
            self.check(not self.assembled(text), self.assembled(text))

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

    def words(self):
        """A name that changes is one word in the text, and may also be an opcode or stand in a guard."""
        done, text = self.link(HEAD + WORDS.format(1), HEAD + WORDS.format(2))
        self.check(done.returncode == 0 and not self.assembled(text), done.stderr, self.assembled(text or ""))
        self.check("@p__1 exit;" in text and "call exit__1;" in text, text)
        # A label that is another text's variable.
        done, label = self.link(HEAD + ".visible .global .u32 done;\n", HEAD + WORDS.format(2))
        self.check(done.returncode == 0 and "done__1: ret;" in label and not self.assembled(label), self.assembled(label or ""))
        (self.folder / "out.ptx").write_text(text)
        for kernel in ("run1", "run2"):
            done = self.run("run", "out.ptx", "--kernel", kernel, "--grid", "1", "--block", "1", "--arg", "out=buf:u32:2:zero",
                            "--dump", "out")
            self.check(re.search(r"5,?\s+5", done.stdout), kernel, done.stdout, done.stderr)

    def kernels(self):
        """Kernels that something before them names are declared, without directives: ptxas takes none there."""
        user = ".visible .entry user(.param .u64 out) { .reg .b64 %a, %b; ld.param.u64 %a, [out]; mov.u64 %b, child;" \
               " st.global.u64 [%a], %b; ret; }\n"
        child = ".visible .entry child(.param .u64 a, .param .u32 b) .maxntid 64, 1, 1 .minnctapersm 2 { ret; }\n"
        plain = ".visible .entry none .maxntid 32 { ret; }\n"
        for texts in ((".visible .entry child(.param .u64 a, .param .u32 b);\n" + user + child,),
                      (".extern .entry child(.param .u64 a, .param .u32 b);\n" + user, child),
                      (child + plain + ".visible .global .u64 table[2] = {child, none};\n",)):
            done, text = self.link(*(HEAD + t for t in texts))
            self.check(done.returncode == 0 and not self.assembled(text), texts, self.assembled(text or ""))
        done, text = self.link(HEAD + child + plain)
        self.check(len(re.findall(r"\.entry", text)) == 2, "declarations that nobody needs", text)

    def linkages(self):
        """A name that one declaration of a text makes visible is; aliases are definitions."""
        own = HEAD + ".global .u32 f = 3;\n.visible .global .u64 p = f;\n"
        done, text = self.link(own, HEAD + ".visible .func f();\n.func f() { ret; }\n")
        self.check("{ ret; }" in text and "f__1()" not in text and ".u32 f__1 = 3" in text and not self.assembled(text), text)
        call = HEAD + ".extern .func f();\n.visible .func c() { call f; ret; }\n"
        alias = HEAD + ".visible .func g() { ret; }\n.weak .func f();\n.alias f, g;\n"
        strong = HEAD + ".visible .func f() { ret; }\n"
        for texts, isAlias in (((call, alias), True), ((alias, call), True), ((alias, strong, call), False), ((strong, alias), False)):
            done, text = self.link(*texts)
            self.check(done.returncode == 0 and (".alias f, g;" in text) == isAlias and ".extern" not in text, done.stderr, text)
        # The larger alignment, also where a type has it.
        done, text = self.link(HEAD + ".extern .shared .align 4 .b8 x[];\n", HEAD + ".extern .shared .u64 x[];\n")
        self.check(".extern .shared .u64 x[];" in text, text)

    def targets(self):
        head = ".version 8.8\n.target {}\n.address_size 64\n"
        for first, second, kept in (("sm_100f", "sm_100a", "sm_100a"), ("sm_100a", "sm_100f", "sm_100a"), ("sm_90a", "sm_100", "sm_100"),
                                    ("sm_100", "sm_100f", "sm_100f"), ("sm_80, texmode_unified", "sm_80", "sm_80")):
            done, text = self.link(head.format(first), head.format(second))
            self.check(done.returncode == 0 and f".target {kept}\n" in text, first, second, done.stderr, text)

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
