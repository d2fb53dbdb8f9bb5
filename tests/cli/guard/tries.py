#!/usr/bin/env python3
"""The guard tries functions that got worse again, without passes that may be to blame.

  tests/cli/guard/tries.py --tool PATH

Between ptxopt and the real ptxas stands a script: a kernel with a mark in it that has lost its dead instruction gets two
stores more, and one with the mark `any` also where its division is another one. So dce does harm to the first, and dce and divide
to the second, whatever ptxas makes of them. One with the mark `loop` gets slow
arithmetic into its second loop where that has no division. Skipped (77) without ptxas.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
from toolkit import find_ptxas  # noqa: E402

FAILURES, CHECKS = [], 0
PASSES = "--passes=divide,dce"  # in this order they are suspected
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
FAKE = r"""#!{python} -IS
import os, re, sys
args = sys.argv[1:]
at = next((i for i, a in enumerate(args) if a.endswith(".ptx")), None)
if at is not None:
    text = open(args[at]).read()
    open({log!r}, "a").write(text + "\0")
    def marked(match):
        body = match[0]
        dead = "mov.u32 %r8, 7;" not in body
        if match[1] == "loop":
            second = body.split("$SECOND:")[1].split("bra $SECOND")[0]
            slow = 64 * "mul.lo.u32 %r3, %r3, %r3; xor.b32 %r3, %r3, %r4; "
            return body if "div.u64" in second else body.replace("// SECOND", slow)
        if dead or (match[1] == "any" and "div.u64" not in body):
            body = body.replace("ret;", "st.global.u32 [%rd1+64], %r3; st.global.u32 [%rd1+128], %r3; ret;")
        return body
    text = re.sub(r"// mark (\w+)\n.*?\n}}\n", marked, text, flags=re.S)
    open(args[at], "w").write(text)
os.execv({real!r}, [{real!r}, *args])
"""


def check(holds, message):
    global CHECKS
    CHECKS += 1
    if not holds:
        FAILURES.append(message)


def kernel(name, mark="", more="", division=True):
    """A kernel with a division of which `divide` makes fewer instructions, and a dead instruction."""
    comment = f"// mark {mark}\n" if mark else ""
    divides = "cvt.u64.u32 %rd2, %r3; div.u64 %rd2, %rd2, 10; cvt.u32.u64 %r3, %rd2;" if division else ""
    return f"""
.visible .entry {name}(.param .u64 p) {{
  .reg .b32 %r<9>;
  .reg .b64 %rd<3>;
  {comment}
  mov.u32 %r8, 7;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r3, [%rd1];
  {divides}
  {more}
  st.global.u32 [%rd1+4], %r3;
  ret;
}}
"""


def loops(name, mark=""):
    """A kernel with two loops, of which each has such a division."""
    def loop(label):
        return f"""
  mov.u32 %r4, 0;
${label}:
  .pragma "nounroll";
  ld.volatile.global.u32 %r3, [%rd1];
  cvt.u64.u32 %rd2, %r3; div.u64 %rd2, %rd2, 10; cvt.u32.u64 %r3, %rd2;
  // {label}
  st.volatile.global.u32 [%rd1+4], %r3;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, %r5;
  @%p1 bra ${label};
"""
    return f"""
.visible .entry {name}(.param .u64 p, .param .u32 n) {{
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<3>;
  // mark {mark}
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r5, [n];
  {loop("FIRST")}{loop("SECOND")}
  ret;
}}
"""


FUNCTION = """
.func (.reg .u32 r) f(.reg .u32 a) {
  .reg .b32 %r<9>;
  mov.u32 %r7, 7;
  mul.lo.u32 r, a, a;
  ret;
}
"""
CALL = "call.uni (%r3), f, (%r3);"


class Bench:
    def __init__(self, tool, folder, real):
        self.tool, self.folder, self.real = tool, folder, real
        self.log, self.fake = folder / "log", folder / "ptxas"
        self.fake.write_text(FAKE.format(python=sys.executable, log=str(self.log), real=real))
        self.fake.chmod(0o755)

    def optimize(self, text, *arguments, passes=PASSES, env=None):
        """The output, the guard's report, standard error, the texts that were assembled."""
        source, out, report = (self.folder / name for name in ("in.ptx", "out.ptx", "report.json"))
        self.log.unlink(missing_ok=True)
        source.write_text(HEAD + text)
        done = subprocess.run([self.tool, source, "-o", out, "--report", report, passes, "--guard=ptxas", "-v", "--ptxas", self.fake, *arguments],
                              capture_output=True, text=True, timeout=120, env={**os.environ, "PTXOPT_CACHE_DIR": "", **(env or {})})
        check(done.returncode == 0, f"{arguments}: {done.stderr}")
        texts = self.log.read_text().split("\0")[:-1] if self.log.exists() else []
        return out.read_text(), json.loads(report.read_text())["guard"], done.stderr, texts


def body(output, name):
    return re.search(rf"\.entry {name}\(.*?\n}}\n", output, re.S)[0]


def retried(guard):
    return {f["name"]: f["without"] for f in guard.get("retried", [])}


def kept(guard):
    return {f["name"]: f["reason"] for f in guard["kept"]}


def is_divided(output, name):
    return "div.u64" not in body(output, name)


def has_dead(output, name):
    return "mov.u32 %r8, 7;" in body(output, name)


def test_one(bench):
    text = kernel("a", "dead")
    output, guard, messages, texts = bench.optimize(text)
    check(is_divided(output, "a") and has_dead(output, "a"), f"without dce it is better: {output}")
    check(retried(guard) == {"a": ["dce"]} and not kept(guard), f"the report: {guard}")
    row = guard["retried"][0]
    check(re.fullmatch(r"cycles .*\d -> \d.*", f"{row['reason']} {row['detail']}") and "->" in row["refused"], f"by what: {row}")
    check(re.search(r"in\.ptx: a: kept without dce: cycles \S+ \d+ -> \d+", messages), f"what is said: {messages}")
    check(len(texts) == 3 and ".entry a(" in texts[2] and ".entry a$try1(" in texts[2], f"twice, and once for all tries: {texts}")
    alone, _, _, _ = bench.optimize(text, passes="--passes=divide")
    check(output == alone, f"the text is that of the other pass: {output}")
    after = {f["name"]: f for f in guard["after"]}["a"]
    plain = bench.optimize(text, "--guard-tries=3")
    check(plain[0] == output and {f["name"]: f for f in plain[1]["after"]}["a"] == after, "it is the same the next time, and 3 tries are usual")
    before = {f["name"]: f for f in guard["before"]}["a"]
    check(after["instructions"] < before["instructions"], f"the figures are those of the output: {before} {after}")


def test_few(bench):
    text = kernel("a", "dead")
    for tries in ("0", "1"):  # the first leaves out divide
        output, guard, messages, texts = bench.optimize(text, f"--guard-tries={tries}")
        check(output == HEAD + text, f"{tries} tries: the input: {output}")
        check(kept(guard) == {"a": "cycles"} and "retried" not in guard and "kept without" not in messages, f"{tries} tries: {guard}")
        check(len(texts) == 2 + int(tries), f"{tries} tries: {len(texts)}")
    output, _, _, _ = bench.optimize(text, env={"PTXOPT_GUARD_TRIES": "0"})
    check(output == HEAD + text, "the variable")
    output, _, _, _ = bench.optimize(text, "--guard-tries=2", env={"PTXOPT_GUARD_TRIES": "0"})
    check(output != HEAD + text, "the option counts before it")
    for words, env, said in ((["--guard-tries=9"], {}, "--guard-tries"), (["--guard-tries=x"], {}, "--guard-tries"), (["--guard-tries=-1"], {}, "--guard-tries"),
                             ([], {"PTXOPT_GUARD_TRIES": "9"}, "PTXOPT_GUARD_TRIES")):
        done = subprocess.run([bench.tool, bench.folder / "in.ptx", "-o", "-", *words], capture_output=True, text=True, env={**os.environ, **env})
        check(done.returncode == 2 and said in done.stderr, f"{words} {env}: {done.stderr}")


def test_none_helps(bench):
    for text in (kernel("a", "any"), kernel("a", "dead", division=False)):
        output, guard, messages, _ = bench.optimize(text)
        check(output == HEAD + text and kept(guard) == {"a": "cycles"} and "retried" not in guard, f"no try helps: {messages}")
        check(guard["after"] == guard["before"], "the figures are those of the input")


def test_loop(bench):
    """A pass is kept from the loop that lost, and the other one keeps its gain. Where that helps nothing, there is the input."""
    output, guard, messages, texts = bench.optimize(loops("a", "loop"), passes="--passes=divide")
    first, second = output.split("$SECOND:")
    check("div.u64" not in first and "div.u64" in second, f"the first loop has no division: {output}")
    row = guard["retried"][0] if guard.get("retried") else {}
    check(row.get("declined") == ["divide@$SECOND"] and not row["without"] and not row["knobs"] and not kept(guard), f"the report: {guard.get('retried')} {guard['kept']}")
    check("a: kept without divide in the loop at $SECOND: cycles" in messages, f"what is said: {messages}")
    check(len(texts) == 3, f"one try: {len(texts)}")
    output, guard, _, _ = bench.optimize(loops("a", "loop"), "--decline=divide@$FIRST", passes="--passes=divide")
    check(output == HEAD + loops("a", "loop") and "retried" not in guard and kept(guard) == {"a": "cycles"}, f"nothing is left to gain: {guard}")


def test_several(bench):
    """Of several kernels those that were refused are tried, and the others are not assembled again."""
    others = kernel("b", more=20 * "add.u32 %r3, %r3, %r3;\n  ") + kernel("c", "any") + kernel("d", "dead")
    output, guard, messages, texts = bench.optimize(kernel("a", "dead") + others)
    check(retried(guard) == {"a": ["dce"], "d": ["dce"]} and kept(guard) == {"c": "cycles"}, f"each its own: {guard['kept']} {messages}")
    check([is_divided(output, k) for k in "abcd"] == [True, True, False, True], "the division")
    check([has_dead(output, k) for k in "abcd"] == [True, False, True, True], "the dead instruction")
    tried = re.findall(r"\.entry (\S+)\(", texts[2])
    check(len(texts) == 3 and tried == ["a", "c", "d", "a$try1", "c$try1", "d$try1"], f"what is better is not tried: {tried}")
    after = {f["name"]: f["instructions"] for f in guard["after"]}
    _, whole, _, _ = bench.optimize(output[len(HEAD):], passes="--passes=rename-webs")
    again = {f["name"]: f["instructions"] for f in whole["before"]} if "before" in whole else after
    check(again == after, f"the figures are those of the output: {after} {again}")


def test_calls(bench):
    """A kernel is tried with the function that it calls; not where another one has that in it, too."""
    output, guard, messages, _ = bench.optimize(FUNCTION + kernel("a", "dead", CALL))
    check(retried(guard) == {"a": ["dce"]} and "mov.u32 %r7, 7;" in output and is_divided(output, "a"), f"with what it calls: {messages}")
    output, guard, messages, _ = bench.optimize(FUNCTION + kernel("a", "dead", CALL) + kernel("b", "", CALL))
    check(not retried(guard) and kept(guard) == {"a": "cycles", "f": "called-by"}, f"others have it in them: {guard['kept']} {messages}")
    check(not is_divided(output, "a") and is_divided(output, "b"), "the other one is as it was")


def test_cache(bench, folder):
    text = kernel("a", "dead") + kernel("b")
    env = {"PTXOPT_CACHE_DIR": str(folder / "cache")}
    first = bench.optimize(text, env=env)
    second = bench.optimize(text, env=env)
    check(first[0] == second[0] and first[1] == second[1], "the same again")
    check(len(first[3]) == 3 and not second[3], f"with answers of the cache: {len(first[3])} {len(second[3])}")


def main():
    for name in ("PTXOPT_GUARD", "PTXOPT_GUARD_TRIES", "PTXOPT_GUARD_RULE"):
        os.environ.pop(name, None)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    args = parser.parse_args()
    real = find_ptxas()
    if not real:
        print("tries: no ptxas: skipped")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench = Bench(os.path.abspath(args.tool), folder, real)
        test_one(bench)
        test_few(bench)
        test_none_helps(bench)
        test_loop(bench)
        test_several(bench)
        test_calls(bench)
        test_cache(bench, folder)
    for failure in FAILURES:
        print(failure)
    print(f"tries: {CHECKS} checks, {len(FAILURES)} failed")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
