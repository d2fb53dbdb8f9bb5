#!/usr/bin/env python3
"""The interpreter against ptxas on constants, where both evaluate text: what shares no belief with it.

  constants.py --tool PTXOPT --seeds A..B [-j N]

For each seed a kernel is drawn whose results are constants: expressions, literals of other types than the operand's,
registers with a constant added, vector registers as parameters, what goes through local memory and parameters. The
interpreter gives their values. In a second form the kernel compares them with its results,
    xor.b64 t, result, VALUE;  or.b64 sum, sum, t;  ...  st.global.u64 [out], sum;
which ptxas -O3 folds: it must make the machine code of `st.global.u64 [out], 0`, byte for byte. It must do so, too, of
what the optimizer makes of that form. No machine code is decoded. Where it differs, each result is looked at alone.
ptxas folds nothing through calls: in their place it gets the same instructions without one, and of what the optimizer
makes only kernels without calls are compared, those where it inlined all.
Exit codes: 0 all agree, 1 one does not, 2 usage, 77 there is no ptxas.
"""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "lib"))
os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

from toolkit import find_ptxas  # noqa: E402

ITEMS = 24
HEADER = ".version 7.8\n.target sm_80\n.address_size 64\n"
PIPELINES = (["-O2"], ["--passes=inline-calls,sroa"], ["-O2", "--reprint"])


@dataclass
class Item:
    text: str
    folded: str = ""  # without calls, if there are


class Items:
    """Draws pieces of text that leave a constant in %v, of 64 bits."""

    def __init__(self, rnd):
        self.rnd, self.functions = rnd, []

    def number(self):
        r = self.rnd
        return r.choice([str(r.randint(0, 9)), f"{r.randint(0, 40)}U", f"0x{r.getrandbits(r.randint(1, 64)):x}", f"-{r.randint(1, 20)}",
                         f"0{r.randint(1, 99):o}", str(r.choice([2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1])), f"0b{r.randint(0, 31):b}"])

    def expression(self, depth):
        r = self.rnd
        if depth == 0 or r.random() < 0.15:
            return self.number()
        part = lambda: self.expression(depth - 1)  # noqa: E731
        number = lambda least, most: f"{r.randint(least, most)}{r.choice(['', 'U'])}"  # noqa: E731
        kind = r.randint(0, 9)
        if kind == 0:
            return f"~{r.choice([str(r.randint(0, 99)), '(' + part() + ')'])}"
        if kind == 1:
            return f"{r.choice('-!')}({part()})"
        if kind == 2:
            return f"(({part()}) {r.choice('/%')} {number(1, 30)})"
        if kind == 3:
            return f"(({part()}) {r.choice(['<<', '>>'])} {number(0, 63)})"
        if kind == 4:
            return f"(({part()}) {r.choice(['<', '<=', '>', '>=', '==', '!='])} ({part()}))"
        if kind == 5:
            return f"(({part()}) ? ({part()}) : ({part()}))"
        if kind == 6:
            return f"({r.choice(['.u64', '.s64'])})({part()})"
        return f"({part()}) {r.choice(['+', '-', '*', '&', '|', '^'])} ({part()})"

    def literal(self):
        return self.rnd.choice(["0f3F800000", "0f40490FDB", "0fBF000001", "0d4008000000000000", "0d3FB999999999999A",
                                "0dC059000000000000", "2.5", "0.1", "-0.75", "16777217.0"])

    def addend(self):
        r = self.rnd
        return r.choice([f"+ {r.randint(1, 99)}", f"+ -{r.randint(1, 99)}", f"+ {r.randint(1, 9)} + {r.randint(1, 9)}",
                         f"+ ({self.expression(1)})"])

    def draw(self):
        r = self.rnd
        kind = r.choice(["moved", "moved", "float_literal", "sum", "sum", "stored", "stored_literal", "parameter", "vector", "compared",
                         "shifted"])
        item = getattr(self, kind)()
        return item if isinstance(item, Item) else Item(item)

    def moved(self):
        form, widen = self.rnd.choice([("u64", None), ("s64", None), ("b64", None), ("u32", "u32"), ("s32", "s32"), ("b32", "u32")])
        if widen is None:
            return f"mov.{form} %v, {self.expression(3)};"
        return f".reg .b32 %x; mov.{form} %x, {self.expression(3)}; cvt.u64.{widen} %v, %x;".replace("cvt.u64.s32", "cvt.s64.s32")

    def float_literal(self):
        if self.rnd.random() < 0.5:
            return f".reg .f64 %x; mov.f64 %x, {self.literal()}; mov.b64 %v, %x;"
        return f".reg .f32 %x; .reg .b32 %y; mov.f32 %x, {self.literal()}; mov.b32 %y, %x; cvt.u64.u32 %v, %y;"

    def sum(self):
        r = self.rnd
        kind = r.randint(0, 4)
        if kind == 0:
            return f".reg .b64 %x; mov.u64 %x, {r.getrandbits(40)}; mov.{r.choice(['u64', 'b64', 's64'])} %v, %x {self.addend()};"
        if kind == 1:
            return (f".reg .b64 %x; mov.u64 %x, {r.getrandbits(40)}; {r.choice(['add.s64', 'sub.u64', 'and.b64', 'xor.b64', 'mul.lo.u64'])} "
                    f"%v, %x {self.addend()}, {r.choice(['%x', '7', '%x ' + self.addend()])};")
        if kind == 2:
            return (f".reg .b32 %x; mov.u32 %x, {r.getrandbits(32)}; {r.choice(['mul.wide.u32 %v, %x A, 3', 'mul.wide.s32 %v, 5, %x A', 'cvt.u64.u32 %v, %x A', 'cvt.s64.s32 %v, %x A', 'mad.wide.u32 %v, %x, %x A, %v0'])};"
                    .replace(" A", " " + self.addend()).replace("%v0", "1000"))
        if kind == 3:
            return (f".reg .b32 %x; .reg .b32 %y; mov.u32 %x, {r.getrandbits(32)}; "
                    f"{r.choice(['add.u32', 'sub.s32', 'mul.lo.u32', 'or.b32', 'min.s32', 'shl.b32', 'shr.u32', 'mul.hi.u32'])} %y, %x {self.addend()}, {r.randint(1, 31)}; cvt.u64.u32 %v, %y;")
        return (f".reg .b16 %x; .reg .b16 %y; mov.u16 %x, {r.getrandbits(15)}; {r.choice(['mov.u16 %y, %x A', 'add.u16 %y, %x A, 3'])}; cvt.u64.u16 %v, %y;"
                .replace(" A", f" + {r.randint(1, 99)}"))

    # Slots of 32 bits: others ptxas keeps in memory.
    def stored(self):
        r = self.rnd
        name, before, what = f"slot{r.getrandbits(40):x}", "", self.expression(2)
        if r.random() < 0.5:
            before, what = f".reg .b32 %x; mov.u32 %x, {r.getrandbits(31)}; ", f"%x {self.addend()}"
        return (f".local .align 8 .b8 {name}[8]; .reg .b32 %y; {before}st.local.{r.choice(['u32', 'b32', 's32'])} [{name}], {what}; "
                f"ld.local.u32 %y, [{name}]; cvt.u64.u32 %v, %y;")

    def stored_literal(self):
        name = f"slot{self.rnd.getrandbits(40):x}"
        return (f".local .align 8 .b8 {name}[8]; .reg .b32 %x; st.local.f32 [{name}], {self.literal()}; ld.local.u32 %x, [{name}]; "
                "cvt.u64.u32 %v, %x;")

    def parameter(self):
        r = self.rnd
        n = len(self.functions)
        form, literal = r.choice([("b32", False), ("b64", False), ("u32", False), ("f32", True), ("f64", True)])
        width = int(form[1:])
        more = "mov.b64 %y, %x" if width == 64 else "cvt.u64.u32 %y, %x"
        self.functions.append(f".func (.param .b64 r) take{n}(.param .{form} x)\n{{\n .reg .b{width} %x; .reg .b64 %y;\n ld.param.b{width} %x, [x];\n"
                              f" {more};\n add.u64 %y, %y, 3;\n st.param.b64 [r], %y;\n ret;\n}}\n")
        before, what = "", self.literal() if literal else self.expression(2)
        if not literal and r.random() < 0.4:
            before, what = f".reg .b{width} %x; mov.u{width} %x, {r.getrandbits(width - 1)}; ", f"%x {self.addend()}"
        text = (f"{before}.param .{form} given; .param .b64 got; st.param.{form} [given], {what}; call (got), take{n}, (given); "
                "ld.param.b64 %v, [got];")
        folded = f"{before}.reg .{form} %g; .reg .b{width} %h; .reg .b64 %y; mov.{form} %g, {what}; mov.b{width} %h, %g; {more}; add.u64 %v, %y, 3;"
        return Item(text, folded.replace("%y, %x;", "%y, %h;"))

    def vector(self):
        r = self.rnd
        n = len(self.functions)
        lanes, form = r.choice([(2, "u32"), (4, "u32"), (2, "b32"), (4, "s32"), (2, "u64")])
        wide = form == "u64"
        names = "xyzw"[:lanes]
        chain = ""
        for name in names:
            chain += (f" mov.b64 %y, IN.{name};" if wide else f" cvt.u64.u32 %y, IN.{name};") + f" mad.lo.u64 OUT, OUT, {r.randint(3, 99)}, %y;\n"
        self.functions.append(f".func (.reg .b64 r) fold{n}(.reg .v{lanes} .{form} in)\n{{\n .reg .b64 %y; mov.u64 r, 1;\n"
                              + chain.replace("IN", "in").replace("OUT", "r") + " ret;\n}\n")
        values = [str(r.getrandbits(20)) for _ in names]
        start = f".reg .v{lanes} .{form} %q; mov.v{lanes}.{form} %q, {{{', '.join(values)}}};"
        folded = "".join(f".reg .{form} %q{name}; mov.{form} %q{name}, {value}; " for name, value in zip(names, values))
        return Item(f"{start} call (%v), fold{n}, (%q);",
                    f"{folded} .reg .b64 %y; mov.u64 %v, 1; " + chain.replace("IN.", "%q").replace("OUT", "%v").replace("\n", " "))

    def compared(self):
        r = self.rnd
        form = r.choice(["u64", "s64", "u32", "s32"])
        width = form[1:]
        return (f".reg .pred %p; .reg .b{width} %x; mov.u{width} %x, {r.getrandbits(int(width) - 1)}; "
                f"setp.{r.choice(['lt', 'ge', 'eq', 'ne'])}.{form} %p, %x {self.addend()}, {self.expression(2)}; selp.b64 %v, 1, {self.expression(1)}, %p;")

    def shifted(self):
        r = self.rnd
        return f".reg .b64 %x; mov.u64 %x, {self.expression(2)}; {r.choice(['shl.b64', 'shr.u64', 'shr.s64'])} %v, %x, {r.randint(0, 63)};"


def kernel(functions, body):
    return (HEADER + "".join(functions) + ".visible .entry k(.param .u64 out)\n{\n .reg .b64 %out; .reg .b64 %sum; .reg .b64 %t;\n"
            f" ld.param.u64 %out, [out];\n mov.u64 %sum, 0;\n{body} ret;\n}}\n")


def printing(functions, items):
    body = "".join(f" {{ .reg .b64 %v; {item.text} st.global.u64 [%out+{8 * i}], %v; }}\n" for i, item in enumerate(items))
    return kernel(functions, body)


def comparing(functions, items, values, folded):
    body = ""
    for item, value in zip(items, values):
        text = item.folded if folded and item.folded else item.text
        body += f" {{ .reg .b64 %v; {text} xor.b64 %t, %v, 0x{value:x}; or.b64 %sum, %sum, %t; }}\n"
    return kernel([] if folded else functions, body + " st.global.u64 [%out], %sum;\n")


class Seed:
    def __init__(self, args, seed, folder):
        self.args, self.folder = args, folder
        rnd = random.Random(seed)
        self.pipeline = rnd.choice(PIPELINES)
        self.drawn = Items(rnd)
        self.items = [self.drawn.draw() for _ in range(ITEMS)]

    def run(self, command):
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", timeout=120)

    def code(self, text):
        """The machine code of the kernel, or None with what ptxas says."""
        source, cubin = self.folder / "code.ptx", self.folder / "code.cubin"
        source.write_text(text)
        done = self.run([self.args.ptxas, "-O3", "-arch=sm_80", source, "-o", cubin])
        if done.returncode != 0:
            return None, done.stderr.strip()
        return section(cubin.read_bytes(), b".text.k"), ""

    def values(self, items):
        source = self.folder / "run.ptx"
        source.write_text(printing(self.drawn.functions, items))
        done = self.run([self.args.tool, "run", source, "--kernel", "k", "--grid", "1", "--block", "1", "--arg", f"out=buf:u64:{len(items)}:zero",
                         "--dump", f"out={self.folder / 'out'}"])
        if done.returncode != 0:
            return None, done.stderr.strip()
        data = (self.folder / "out").read_bytes()
        return [int.from_bytes(data[8 * i:8 * i + 8], "little") for i in range(len(items))], ""

    def optimized(self, text):
        source, output = self.folder / "in.ptx", self.folder / "out.ptx"
        source.write_text(text)
        done = self.run([self.args.tool, source, "-o", output, *self.pipeline])
        return (output.read_text(), "") if done.returncode == 0 else (None, done.stderr.strip())

    def wrong(self, items, reference):
        """Why these items are wrong, or "" where they are right."""
        values, why = self.values(items)
        if values is None:
            return f"the interpreter: {why}"
        code, why = self.code(comparing([], items, values, True))
        if code is None:
            return f"ptxas refuses the input: {why}"
        if code != reference:
            return f"ptxas does not agree with {' '.join(f'0x{v:x}' for v in values)}"
        # Those with calls apart: one that stays hides what is around it.
        for calls in (False, True):
            some = [(item, value) for item, value in zip(items, values) if bool(item.folded) == calls]
            if some and (why := self.wrong_optimized(*zip(*some), reference)):
                return why
        return ""

    def wrong_optimized(self, items, values, reference):
        other, why = self.optimized(comparing(self.drawn.functions, items, values, False))
        if other is None:
            return f"{' '.join(self.pipeline)}: {why}"
        if re.search(r"\bcall\b", other[other.index(".entry"):]):
            return ""
        code, why = self.code(other)
        if code is None:
            return f"ptxas refuses what {' '.join(self.pipeline)} makes: {why}"
        return "" if code == reference else f"{' '.join(self.pipeline)} changes what it computes"

    def check(self):
        reference = self.args.reference
        if not self.wrong(self.items, reference):
            return []
        found = [f"{why}: {item.text}" for item in self.items if (why := self.wrong([item], reference))]
        return found or [f"together: {self.wrong(self.items, reference)}"]


def section(elf, name):
    """The bytes of an ELF section."""
    number = lambda at, size: int.from_bytes(elf[at:at + size], "little")  # noqa: E731
    headers, size, count, names = number(40, 8), number(58, 2), number(60, 2), number(62, 2)
    strings = number(headers + names * size + 24, 8)
    for i in range(count):
        at = headers + i * size
        start = strings + number(at, 4)
        if elf[start:elf.index(b"\0", start)] == name:
            return elf[number(at + 24, 8):][:number(at + 32, 8)]
    raise ValueError(f"no section {name}")


def one(args, seed):
    with tempfile.TemporaryDirectory() as name:
        return seed, Seed(args, seed, Path(name)).check()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--seeds", default="1..200")
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--stop", action="store_true", help="at the first that disagrees")
    args = parser.parse_args()
    args.ptxas = find_ptxas()
    if not args.ptxas:
        print("constants: left out, there is no ptxas")
        return 77
    match = re.fullmatch(r"(\d+)\.\.(\d+)", args.seeds)
    if not match:
        parser.error("--seeds is not A..B")
    seeds = range(int(match[1]), int(match[2]) + 1)
    with tempfile.TemporaryDirectory() as name:
        args.reference, why = Seed(args, 0, Path(name)).code(kernel([], " st.global.u64 [%out], %sum;\n"))
    if args.reference is None:
        sys.exit(f"ptxas: {why}")
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        asked = [pool.submit(one, args, seed) for seed in seeds]
        for future in asked:
            seed, problems = future.result()
            for problem in problems:
                print(f"seed {seed}: {problem}", flush=True)
            wrong += bool(problems)
            if wrong and args.stop:
                pool.shutdown(cancel_futures=True)
                break
    print(f"constants: {len(seeds)} kernels of {ITEMS} results: {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
