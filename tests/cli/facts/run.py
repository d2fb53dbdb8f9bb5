#!/usr/bin/env python3
"""Facts on launches, --facts and //ptxopt:facts: what becomes of the code, what the interpreter and verify make of them, and
what is refused.

  tests/cli/facts/run.py --tool PATH
"""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/lib"))
import command_tests  # noqa: E402

# out[i] = n * blockDim.x + small + part, if i < n.
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n, .param .s16 small, .param .b32 both, .param .f32 real,
                  .param .align 4 .b8 bytes[8], .param .u64 large)
{COMMENT{
  .reg .pred %p;
  .reg .b16 %h<3>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  ld.param.s16 %r2, [small];
  ld.param.u16 %h1, [both+2];
  cvt.u32.u16 %r3, %h1;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %ctaid.x;
  mov.u32 %r6, %tid.x;
  mad.lo.s32 %r7, %r5, %r4, %r6;
  mad.lo.s32 %r8, %r1, %r4, %r2;
  add.u32 %r9, %r8, %r3;
  mov.u32 %r10, %tid.y;
  add.u32 %r9, %r9, %r10;
  setp.ge.s32 %p, %r7, 32;
  @%p ret;
  mul.wide.s32 %rd2, %r7, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r9;
  ret;
}
"""
PLAIN = KERNEL.replace("{COMMENT{", "{")
LAUNCH = ["--grid", "1", "--block", "32", "--dump", "o", "--arg", "o=buf:u32:32:zero", "u32:7", "s16:-3", "b32:0x50001", "f32:1",
          "bytes:0000000000000000", "u64:9"]


def facts(**kernel):
    return {"version": 1, "kernels": [{"kernel": "k", **kernel}]}


# y[i] = x[i] + x[i] as it is after y[i] is written.
MEMORY = """.version 8.0
.target sm_80
.address_size 64
.visible .entry m(.param .u64 x, .param .u64 y)
{COMMENT{
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r2, [%rd4];
  st.global.u32 [%rd5], %r2;
  ld.global.u32 %r3, [%rd4];
  add.u32 %r4, %r2, %r3;
  st.global.u32 [%rd5], %r4;
  ret;
}
"""

# Sums every s-th of the numbers up to n.
LOOP = """.version 8.0
.target sm_80
.address_size 64
.visible .entry l(.param .u64 x, .param .u64 y, .param .u32 n, .param .u32 s)
{COMMENT{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r2, [s];
  mov.u32 %r3, 0;
  mov.u32 %r4, 0;
L:
  mul.wide.s32 %rd3, %r3, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r5, [%rd4];
  add.u32 %r4, %r4, %r5;
  add.s32 %r3, %r3, %r2;
  setp.lt.s32 %p, %r3, %r1;
  @%p bra L;
  st.global.u32 [%rd2], %r4;
  ret;
}
"""

# What is said, and a part of the message.
REFUSED = [
    ("{", "parse error"),
    ([], "facts.json is not an object"),
    ({"version": 2, "kernels": []}, "the version is not 1"),
    ({"version": 1}, "kernels is not a list"),
    ({"version": 1, "kernels": [], "more": 1}, "'more', which nothing is known of; it takes version, kernels"),
    ({"version": 1, "kernels": [{"block": [1]}]}, "a kernel without a name"),
    ({"version": 1, "kernels": [{"kernel": "j*"}]}, "no kernel matches 'j*'"),
    (facts(iterations=0), "k: iterations is 0: 1 to 4294967295"),
    (facts(iterations=2**32), "iterations is 4294967296"),
    (facts(iterations={"least": 3}), "iterations"),
    (facts(loops={"L": 5}), "k: loops is not a list"),
    (facts(loops=[{"label": "L"}]), "an entry has a label and iterations"),
    (facts(loops=[{"label": "L", "iterations": 5}]), "k: loops: there is no label 'L'"),
    (facts(loops=[{"label": "L", "iterations": 5, "hot": 1}]), "'hot', which nothing is known of"),
    ({"version": 1, "kernels": [{"kernel": "k", "iterations": 5}, {"kernel": "*", "iterations": 6}]}, "iterations is 5 by one fact, and 6 by another"),
    (facts(block=[0]), "k: block.x has no value that all facts allow"),
    (facts(block=[2000]), "block.x has no value"),
    (facts(block=[64, 32]), "at least 2048 threads, 1024 is most"),
    (facts(block=[1, 1, 1, 1]), "is not a list of up to three numbers"),
    (facts(block=[{"least": 1, "size": 2}]), "block.x has 'size'"),
    (facts(block=[1.5]), "block.x is 1.5, no whole number"),
    (facts(grid=[{"least": 5, "most": 7, "multiple": 4}]), "grid.x has no value"),
    (facts(grid=[1, 70000]), "grid.y has no value"),
    (facts(parameters=[{"value": 1}]), "an index or a name"),
    (facts(parameters=[{"index": 1, "name": "n", "value": 1}]), "an index or a name"),
    (facts(parameters=[{"index": 7, "value": 1}]), "no parameter 7; they have the numbers 0 to 6"),
    (facts(parameters=[{"name": "m", "value": 1}]), "no parameter 'm'"),
    (facts(parameters=[{"index": 1}]), "parameter 1 (n): nothing is said of it"),
    (facts(parameters=[{"index": 4, "value": 1}]), "parameter 4 (real) is not an integer"),
    (facts(parameters=[{"index": 5, "value": 1}]), "parameter 5 (bytes) is not an integer"),
    (facts(parameters=[{"index": 1, "value": 1, "most": 2}]), "a value, and a range"),
    (facts(parameters=[{"index": 1, "multiple": 0}]), "a multiple of 0"),
    (facts(parameters=[{"index": 1, "most": 9}]), "needs the least value, too"),
    (facts(parameters=[{"index": 2, "value": 40000}]), "no value that all facts allow"),
    (facts(parameters=[{"index": 1, "value": 2**33}]), "no value that all facts allow"),
    (facts(parameters=[{"index": 6, "value": 2**63}]), "more than 9223372036854775807"),
    (facts(parameters=[{"index": 6, "least": 2**63 - 1}]), "parameter 6 (large) is 9223372036854775807 or more"),
    (facts(parameters=[{"index": 6, "least": 2**63 - 2, "multiple": 1024}]), "no value"),
    (facts(parameters=[{"index": 6, "least": 2**63 - 2, "multiple": 2**63 - 1}]), "9223372036854775807 or more"),
    (facts(parameters=[{"index": 6, "least": -2**63 + 1, "most": -2**63 + 1, "multiple": 2**62}]), "no value"),
    ('{"version": 1, "kernels": [{"kernel": "k", "block": [64], "block": [32]}]}', "an object has 'block' twice"),
    ('{"version": 1, "kernels": [{"kernel": "k", "block": [' + "[" * 500000 + "]" * 500000 + "]}]}", "deeper than 8 levels"),
    ('{"version": 1, "kernels": [{"kernel": "k", "block": [1e999]}]}', "facts.json: "),
    (facts(parameters=[{"index": 1, "value": 1}, {"name": "n", "value": 2}]), "parameter 1 (n) has no value"),
    (facts(parameters=[{"index": 1, "least": -5, "most": 5}, {"index": 1, "least": 2**31}]), "no value"),
    (facts(parameters=[{"index": 1, "least": 2**31}, {"index": 1, "least": -5}]), "a sign by one fact, and none by another"),
    (facts(parameters=[{"index": 0, "align": 12}]), "aligned by 12, no power of two"),
    (facts(parameters=[{"index": 0, "align": 0}]), "aligned by 0"),
    (facts(parameters=[{"index": 0, "align": 16, "value": 8}]), "no value that all facts allow"),
    (facts(parameters=[{"index": 1, "align": 16}]), "parameter 1 (n) is not an address: these have 64 bits"),
    (facts(parameters=[{"index": 1, "noalias": True}]), "is not an address"),
    (facts(parameters=[{"index": 0, "noalias": 1}]), "noalias, is 1, neither true nor false"),
    (facts(parameters=[{"index": 0, "bytes": 0}]), "leads to 0 bytes"),
    (facts(parameters=[{"index": 0, "bytes": 8}, {"name": "out", "bytes": 16}]), "8 bytes by one fact, and to 16 by another"),
    (facts(parameters=[{"index": 0, "restrict": True}]), "has 'restrict', which nothing is known of"),
]


class Facts(command_tests.CommandTests):
    PARTS = ("constants", "executed", "ranges", "comments", "no_comments", "large",
             "specialized", "checked", "assertions", "memory", "iterations", "refused")

    def __init__(self, folder, tool):
        super().__init__("facts", tool, folder)
        self.write("k.ptx", PLAIN)

    def optimized(self, said, *words, file="k.ptx"):
        """The code, and what was said."""
        (self.folder / "facts.json").write_text(said if isinstance(said, str) else json.dumps(said))
        done = self.run(file, "-o", "-", "--facts", "facts.json", "--guard=off", *words)
        return done.stdout, done

    def constants(self):
        code, done = self.optimized(facts(block=[32, 1], parameters=[{"index": 1, "value": 7}, {"name": "small", "value": -3}]),
                                    "--passes=apply-facts")
        self.check(done.returncode == 0, done.stderr)
        for line in ("mov.b32 %r1, 7;", "mov.b32 %r2, -3;", "mov.b32 %r4, 32;", "mov.b32 %r10, 0;"):
            self.check(line in code, line, code)
        for line in ("[both+2]", "%ctaid.x", "%tid.x"):  # a part of a parameter, and what has no one value
            self.check(line in code, line, code)
        code, _ = self.optimized(facts(parameters=[{"index": 3, "value": 7}, {"index": 6, "least": 0, "most": 5}]),
                                 "--passes=apply-facts")
        self.check(code == PLAIN, "a part of a parameter", code)
        # A guarded load; a pragma that belongs to a load goes with it.
        load = "  ld.param.u32 %r1, [n];\n"
        guarded = load.replace("ld", "@!%p ld")
        text = PLAIN.replace(load, f'  setp.ne.u64 %p, %rd1, 0;\n  .pragma "used_bytes_mask 3";\n{load}{guarded}')
        (self.folder / "u.ptx").write_text(text)
        code, done = self.optimized(facts(parameters=[{"index": 1, "value": 7}]), "--passes=apply-facts", file="u.ptx")
        self.check("@!%p mov.b32 %r1, 7;" in code and "pragma" not in code, code, done.stderr)

    def executed(self):
        """The same results with and without, in a launch that keeps to the facts."""
        before = self.run("run", "k.ptx", *LAUNCH).stdout
        self.check("226" in before, before)  # 7 * 32 - 3 + 5
        said = facts(block=[32, 1, 1], grid=[{"most": 4}],
                     parameters=[{"index": 1, "value": 7}, {"index": 2, "value": -3}, {"index": 6, "multiple": 3, "least": 0}])
        code, done = self.optimized(said)
        (self.folder / "o.ptx").write_text(code)
        self.check("ntid" not in code and "[n]" not in code, code)
        self.check(self.run("run", "o.ptx", *LAUNCH).stdout == before, "another result")
        self.check(self.run("run", "k.ptx", "--facts", "facts.json", *LAUNCH).stdout == before, "facts that hold")
        for change, broken in ((("--block", "32"), ("--block", "64")), (("u32:7",), ("u32:8",)), (("s16:-3",), ("s16:3",)),
                               (("u64:9",), ("u64:10",)), (("--grid", "1"), ("--grid", "5"))):
            words = " ".join(LAUNCH).replace(" ".join(change), " ".join(broken)).split()
            done = self.run("run", "k.ptx", "--facts", "facts.json", *words)
            self.check(done.returncode == 2 and "by the facts" in done.stderr, broken, done.returncode, done.stderr)
        # verify keeps to them, and finds what they change.
        done = self.run("verify", "k.ptx", "o.ptx", "--facts", "facts.json")
        self.check(done.returncode == 0 and "equal" in done.stdout, done.stdout, done.stderr)
        self.check(self.run("verify", "k.ptx", "o.ptx").returncode == 1, "verify does not see constants")
        wrong = facts(block=[32, 1, 1], parameters=[{"index": 1, "value": 8}, {"index": 2, "value": -3}])
        (self.folder / "wrong.json").write_text(json.dumps(wrong))
        self.check(self.run("verify", "k.ptx", "o.ptx", "--facts", "wrong.json").returncode == 1, "verify with another value")
        _, done = self.optimized(said, "--verify")
        self.check(done.returncode == 0, "--verify", done.stderr)

    def ranges(self):
        """A limit of a parameter and of the sizes is known of values."""
        said = facts(block=[{"most": 128}], grid=[{"least": 2, "most": 10}],
                     parameters=[{"index": 1, "least": 1, "most": 100}, {"index": 2, "least": -8, "multiple": 4, "most": 9}])
        (self.folder / "facts.json").write_text(json.dumps(said))
        shown = self.run("k.ptx", "--facts", "facts.json", "--dump=ranges").stdout
        for register, text in (("%r1", r"\[1, 100\]"), ("%r2", r"signed \[-8, 8\]"), ("%r4", r"\[1, 128\]"), ("%r5", r"\[0, 9\]"),
                               ("%r6", r"\[0, 127\]"), ("%r7", r"\[0, 1279\]")):
            self.check(re.search(rf"{register}\b[^\n]*{text}", shown), register, text, shown)

    def comments(self):
        said = '{\n//ptxopt:facts {"parameters": [{"name": "n", "value": 7}]}\n//ptxopt:facts {"block": [32, 1, 1]}'
        (self.folder / "c.ptx").write_text(KERNEL.replace("{COMMENT{", said))
        done = self.run("c.ptx", "-o", "-", "--passes=apply-facts", "--guard=off")
        self.check("mov.b32 %r1, 7;" in done.stdout and "mov.b32 %r4, 32;" in done.stdout, done.stdout, done.stderr)
        done = self.run("run", "c.ptx", *LAUNCH)
        self.check(done.returncode == 0 and "226" in done.stdout, done.stderr)
        done = self.run("run", "c.ptx", *" ".join(LAUNCH).replace("u32:7", "u32:9").split())
        self.check(done.returncode == 2 and "parameter 1 (n) is 9, and by the facts 7" in done.stderr, done.stderr)
        (self.folder / "c.ptx").write_text(KERNEL.replace("{COMMENT{", "{\n//ptxopt:facts {block: 3}"))
        done = self.run("c.ptx", "-o", "-")
        self.check(done.returncode == 2 and re.match(r"c\.ptx:\d+:\d+: k: .*parse error", done.stderr.split("error: ")[-1] if
                                                     done.stderr.startswith("ptxopt") else done.stderr), done.stderr)

    def large(self):
        """A grid that no interpreter gets through ends."""
        (self.folder / "facts.json").write_text(json.dumps(facts(grid=[2**31 - 1])))
        done = self.run("verify", "k.ptx", "k.ptx", "--facts", "facts.json", "--max-steps", "1000")
        self.check(done.returncode == 2 and "step-limit" in done.stdout, done.stdout, done.stderr)

    def no_comments(self):
        """What looks like facts in strings, in block comments and after another //, and longer words."""
        said = '//ptxopt:facts {"block": [32]}'
        for text, counts in ((said, True), (said.replace(" {", "{"), True), (said + "\r", True), ("  " + said, True),
                             ("// " + said, False), ("//" + said, False), (f"/* {said} */", False), (f"/*\n{said}\n*/", False),
                             (f'.pragma "\n{said[:15]}{{}}\n";', False), ("//ptxopt:factsoid {}", False), ("// ptxopt:facts {}", False)):
            (self.folder / "c.ptx").write_text(KERNEL.replace("{COMMENT{", "{\n" + text), newline="")
            done = self.run("c.ptx", "-o", "-", "--passes=apply-facts", "--guard=off")
            self.check(done.returncode == 0 and ("mov.b32 %r4, 32;" in done.stdout) == counts, text, done.stderr)

    def specialized(self):
        """The general kernel stays, for launches that the facts do not cover."""
        said = facts(block=[32, 1, 1], parameters=[{"index": 1, "value": 7}, {"index": 2, "least": -4, "multiple": 3, "most": -1}])
        code, done = self.optimized(said, "--specialize", "_32", "--verify")
        self.check(done.returncode == 0 and "'k' has a copy for its facts, 'k_32'" in done.stderr, done.stderr)
        general, copy = code.split(".entry k_32(")
        self.check("%ntid.x" in general and "[n]" in general and "%ntid.x" not in copy and "[n]" not in copy, code)
        (self.folder / "s.ptx").write_text(code)
        for kernel, words, result in (("k", LAUNCH, 0), ("k_32", LAUNCH, 0), ("k", ["--grid", "1", "--block", "64", *LAUNCH[4:]], 0),
                                      ("k_32", ["--grid", "1", "--block", "64", *LAUNCH[4:]], 2)):
            done = self.run("run", "s.ptx", "--kernel", kernel, *words)
            self.check(done.returncode == result, kernel, words, done.stderr)
            if words is LAUNCH:
                self.check("226" in done.stdout, done.stdout)
        # Facts of comments go to the copy, too.
        comment = KERNEL.replace("{COMMENT{", '{ //ptxopt:facts {"grid": [1]}')
        (self.folder / "c.ptx").write_text(comment)
        code, done = self.optimized(said, "--specialize", "_32", file="c.ptx")
        general, copy = code.split(".entry k_32(")
        self.check("//ptxopt:facts" not in general and copy.count("//ptxopt:facts") == 1 and "%ctaid" not in copy, code)
        for suffix, message in (("", "no kernel has facts"), ("-x", "cannot end a name"), ("", "")):
            done = self.run("k.ptx", "-o", "-", "--specialize", suffix or "_s", *(["--facts", "facts.json"] if suffix else []))
            self.check(done.returncode == 2 and message in done.stderr, suffix, done.stderr)
        (self.folder / "t.ptx").write_text(PLAIN + PLAIN[PLAIN.index(".visible"):].replace("k(", "k_32("))
        _, done = self.optimized(said, "--specialize", "_32", file="t.ptx")
        self.check(done.returncode == 2 and "would be 'k_32', which is there" in done.stderr, done.stderr)

        # The name may stand after anything; what a kernel keeps beyond a launch it keeps once.
        for part, result in (("/* .entry k */ .entry", 0), (".entry .attribute(.unified(1, 2))", 0)):
            (self.folder / "t.ptx").write_text(PLAIN.replace(".entry", part))
            code, done = self.optimized(said, "--specialize", "_32", file="t.ptx")
            self.check(done.returncode == 0 and " k_32(" in code, part, done.stderr)
        (self.folder / "t.ptx").write_text(PLAIN.replace("  .reg .pred", "  .global .u32 count;\n  .reg .pred"))
        _, done = self.optimized(said, "--specialize", "_32", file="t.ptx")
        self.check(done.returncode == 2 and "'k' has a variable that lasts longer than a launch" in done.stderr, done.stderr)

    def checked(self):
        """Code that checks: silent where facts hold, an assertion with the fact where they do not."""
        said = facts(block=[32, {"most": 2}], grid=[{"most": 4}],
                     parameters=[{"index": 1, "value": 7}, {"index": 2, "least": -9, "most": 9, "multiple": 3},
                                 {"name": "large", "least": 3, "multiple": 3}])
        code, done = self.optimized(said, "--facts-check")
        self.check(done.returncode == 0, done.stderr)
        (self.folder / "f.ptx").write_text(code)
        done = self.run("run", "f.ptx", *LAUNCH)
        self.check(done.returncode == 0 and "226" in done.stdout, done.stdout, done.stderr)
        for change, broken, fact in ((("--block", "32"), ("--block", "64"), "block.x == 32"),
                                     (("--block", "32"), ("--block", "32,4"), "block.y >= 1 && block.y <= 2"),
                                     (("--grid", "1"), ("--grid", "5"), "grid.x >= 1 && grid.x <= 4"),
                                     (("u32:7",), ("u32:8",), "n == 7"),
                                     (("s16:-3",), ("s16:-4",), "small >= -9 && small <= 9 && small % 3 == 0"),
                                     (("s16:-3",), ("s16:12",), "small >= -9"),
                                     (("u64:9",), ("u64:0",), "large >= 3"), (("u64:9",), ("u64:10",), "large % 3 == 0")):
            words = " ".join(LAUNCH).replace(" ".join(change), " ".join(broken)).split()
            done = self.run("run", "f.ptx", *words)
            self.check(done.returncode == 1 and "assertion" in done.stderr and fact in done.stderr, broken, done.stderr)
        if ptxas := shutil.which("ptxas"):
            done = subprocess.run([ptxas, "-arch=sm_80", "f.ptx", "-o", "f.cubin"], capture_output=True, text=True, cwd=self.folder)
            self.check(done.returncode == 0, done.stderr)

    def memory(self):
        """Facts on the memory that parameters lead to: what becomes of loads, and which launches break one."""
        def said(**words):
            return json.dumps({"version": 1, "kernels": [{"kernel": "m", "parameters": [{"name": "x", **words}]}]})
        plain = MEMORY.replace("{COMMENT{", "{")
        (self.folder / "m.ptx").write_text(plain)
        launch = ["--grid", "1", "--block", "32", "--dump", "y", "--arg", "x=buf:u32:64:iota", "y=buf:u32:64:zero"]
        before = self.run("run", "m.ptx", *launch)
        self.check(before.returncode == 0, before.stderr)
        for words, loads in (({"noalias": True}, 2), ({"readonly": True}, 2), ({"align": 16, "bytes": 256, "noalias": False}, 0)):
            code, done = self.optimized(said(**words), "--verify", file="m.ptx")
            self.check(done.returncode == 0 and code.count("ld.global.nc.u32") == loads, words, code, done.stderr)
            (self.folder / "mo.ptx").write_text(code)
            self.check(self.run("run", "mo.ptx", *launch).stdout == before.stdout, words, "another result")
            done = self.run("run", "m.ptx", "--facts", "facts.json", *launch)
            self.check(done.returncode == 0 and done.stdout == before.stdout, words, done.stderr)
            # The comment of a copy says it again.
            code, done = self.optimized(said(**words), "--specialize", "_s", file="m.ptx")
            line = next(line for line in code.splitlines() if line.startswith("//ptxopt:facts"))
            again = json.loads(line.removeprefix("//ptxopt:facts "))["parameters"][0]
            for word, value in words.items():
                self.check(again.get("multiple" if word == "align" else word, False) == value, word, line)
        # Both parameters lead to one array; x leads to memory that is written; x is not aligned.
        alike = ["--grid", "1", "--block", "32", "--arg", "x=buf:u32:64:iota", "x"]
        for words, message in (({"noalias": True}, "leads to memory of parameter 1 (y), and by the facts it has no alias"),
                               ({"readonly": True, "bytes": 128}, "is written, and by the facts nothing writes it")):
            (self.folder / "facts.json").write_text(said(**words))
            done = self.run("run", "m.ptx", "--facts", "facts.json", *alike)
            self.check(done.returncode != 0 and message in done.stderr, words, done.returncode, done.stderr)
        for words, result in (({"noalias": True, "bytes": 128}, 0), ({"noalias": True, "bytes": 132}, 2), ({"align": 512}, 0),
                              ({"readonly": True, "bytes": 128}, 0), ({"readonly": True, "bytes": 132}, 2)):
            (self.folder / "facts.json").write_text(said(**words))
            done = self.run("run", "m.ptx", "--facts", "facts.json", *alike[:-1], "x+128")
            self.check(done.returncode == result, words, done.returncode, done.stderr)
        for words, fact in (({"noalias": True}, "x and y lead to other memory"), ({"align": 4096 * 4096 * 4096}, "x % 68719476736 == 0")):
            code, done = self.optimized(said(**words), "--facts-check", file="m.ptx")
            (self.folder / "mc.ptx").write_text(code)
            done = self.run("run", "mc.ptx", *alike)
            self.check(done.returncode == 1 and "assertion" in done.stderr and fact in done.stderr, words, done.stderr)
            if "noalias" in words:
                done = self.run("run", "mc.ptx", *launch)
                self.check(done.returncode == 0 and done.stdout == before.stdout, "checks of what holds", done.stderr)
                if ptxas := shutil.which("ptxas"):
                    done = subprocess.run([ptxas, "-arch=sm_80", "mc.ptx", "-o", "mc.cubin"], capture_output=True, text=True, cwd=self.folder)
                    self.check(done.returncode == 0, done.stderr)

        # Facts in comments do not take the checks away again.
        (self.folder / "c.ptx").write_text(KERNEL.replace("{COMMENT{", '{\n//ptxopt:facts {"block": [32]}'))
        self.run("c.ptx", "-o", "f.ptx", "--facts-check", "--guard=off")
        self.run("f.ptx", "-o", "g.ptx", "--guard=off")
        done = self.run("run", "g.ptx", *" ".join(LAUNCH).replace("--block 32", "--block 64").split())
        self.check(done.returncode == 1 and "block.x == 32" in done.stderr, done.stderr)

    def assertions(self):
        """Beside the module's own __assertfail, and names that the code might take."""
        said = facts(block=[32])
        five = "(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e)"
        names = KERNEL.replace("{COMMENT{", "{\n$ptxopt_holds_0:").replace("[8], .param .u64 large", "[8], .param .u64 p0")
        for text, message in ((PLAIN, ""), (names, ""), (PLAIN + f".extern .func __assertfail{five} .noreturn;\n", ""),
                              (PLAIN.replace(".visible", f".extern .func __assertfail{five};\n.visible"), ""),
                              (PLAIN + ".extern .func __assertfail(.param .b64 a);\n", "is not CUDA's"),
                              (PLAIN + f".visible .func __assertfail{five} {{ ret; }}\n", "is not CUDA's"),
                              (PLAIN + ".global .u32 __assertfail;\n", "is not CUDA's"),
                              (PLAIN.replace("address_size 64", "address_size 32"), "addresses have 64 bits")):
            (self.folder / "a.ptx").write_text(text)
            code, done = self.optimized(said, "--facts-check", "-O0", file="a.ptx")
            self.check(message in done.stderr and done.returncode == (2 if message else 0), message, done.stderr)
            (self.folder / "f.ptx").write_text(code)
            if not message and (ptxas := shutil.which("ptxas")):
                done = subprocess.run([ptxas, "-arch=sm_80", "-c", "f.ptx", "-o", "f.cubin"], capture_output=True, text=True,
                                      cwd=self.folder)
                self.check(done.returncode == 0, text, done.stderr)

    def iterations(self):
        """Where loops iterate often, -O2 unrolls those whose step is a register; it is no promise."""
        plain = LOOP.replace("{COMMENT{", "{")
        launch = ["--grid", "1", "--block", "1", "--dump", "y", "--arg", "x=buf:u32:64:iota", "y=buf:u32:1:zero", "u32:64"]
        for said, loads in (("{", 1), ('{\n//ptxopt:facts {"iterations": 16}', 5), ('{\n//ptxopt:facts {"iterations": 15}', 1),
                            ('{\n//ptxopt:facts {"loops": [{"label": "L", "iterations": 16}]}', 5),
                            ('{\n//ptxopt:facts {"iterations": 1, "loops": [{"label": "L", "iterations": 16}]}', 5),
                            ('{\n//ptxopt:facts {"iterations": 16, "loops": [{"label": "L", "iterations": 15}]}', 1)):
            (self.folder / "l.ptx").write_text(LOOP.replace("{COMMENT{", said))
            done = self.run("l.ptx", "-o", "lo.ptx", "--guard=off")
            code = (self.folder / "lo.ptx").read_text()
            self.check(done.returncode == 0 and len(re.findall(r"ld\.global", code)) == loads, said, done.stderr, code)
            for step, total in (("1", sum(range(64))), ("3", sum(range(0, 64, 3))), ("64", 0)):
                done = self.run("run", "lo.ptx", *launch, f"u32:{step}")
                self.check(str(total) in done.stdout, said, step, done.stdout, done.stderr)
        (self.folder / "l.ptx").write_text(plain)
        said = {"version": 1, "kernels": [{"kernel": "l", "iterations": 100}]}
        code, done = self.optimized(said, "--specialize", "_many", file="l.ptx")
        general, copy = code.split(".entry l_many(")
        self.check(general.count("ld.global") == 1 and copy.count("ld.global") == 5 and '"iterations":100' in copy, code)
        # The comment outlives its loop, which nothing reaches.
        dead = plain.replace("{\n", '{\n//ptxopt:facts {"loops": [{"label": "L", "iterations": 100}]}\n', 1).replace("L:", "  ret;\nL:")
        (self.folder / "d.ptx").write_text(dead)
        once, twice = self.run("d.ptx", "-o", "d1.ptx", "--guard=off"), self.run("d1.ptx", "-o", "d2.ptx", "--guard=off")
        left = (self.folder / "d1.ptx").read_text()
        self.check(once.returncode == twice.returncode == 0 and "\nL:" not in left and "ptxopt:facts" in left, left, once.stderr, twice.stderr)
        for iterations, ok in ((0, False), (7, False), (100, True)):
            loops = {"version": 1, "kernels": [{"kernel": "l", "loops": [{"label": "L", "iterations": 100}, {"label": "L", "iterations": iterations}]}]}
            code, done = self.optimized(loops, "--specialize", "_many", file="l.ptx")
            self.check((done.returncode == 0) == ok and ('"loops":[{"iterations":100,"label":"L"}]' in code) == ok, done.stderr, code)
        code, done = self.optimized(said, "--facts-check", "-O0", file="l.ptx")
        self.check(done.returncode == 0 and "__assertfail" not in code, code, done.stderr)

    def refused(self):
        for said, message in REFUSED:
            code, done = self.optimized(said)
            self.check(done.returncode == 2 and message in done.stderr and not code, message, done.returncode, done.stderr)
        for words in (["k.ptx", "--facts", "none.json"], ["--in-place", "k.ptx", "--facts", "facts.json"],
                      ["k.ptx", "--facts", "-"], ["verify", "k.ptx", "k.ptx", "--facts", "none.json"],
                      ["run", "k.ptx", "--facts", "none.json", *LAUNCH]):
            self.check(self.run(*words).returncode == 2, words)
        # A kernel states its block.
        (self.folder / "r.ptx").write_text(PLAIN.replace(".param .u64 large)", ".param .u64 large)\n.reqntid 64, 1, 1"))
        _, done = self.optimized(facts(block=[32]), file="r.ptx")
        self.check(done.returncode == 2 and "block.x has no value" in done.stderr, done.stderr)
        self.check((self.folder / "k.ptx").read_text() == PLAIN, "the input changed")


if __name__ == "__main__":
    sys.exit(command_tests.main(__doc__, Facts))
