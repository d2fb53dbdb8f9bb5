#!/usr/bin/env python3
"""Loops over arrays that do and do not overlap, run before and after version-loops.

  overlaps.py --tool PTXOPT --seeds A..B [-j N] [--keep DIR] [--options '--passes=...']
  overlaps.py --tool PTXOPT --seeds A..B --bodies
  overlaps.py --print SEED

A seed gives a kernel with a loop of one block that loads and stores through one to three pointers: at addresses that do not vary,
by indices of 32 and 64 bits, signed and unsigned, scaled and negative, by pointers that move by constants and by a parameter;
1 to 8 bytes and vectors, narrow loads, guards, values that are stored again. Loops count up and down, by ones and more and by a
register, test <, <=, >, >=, != before and after the step, and iterate once or more often. Some stand in a loop whose counter
moves their arrays and where they begin.

All pointers are into one buffer, which `ptxopt run` is given: the arrays of a kernel overlap in part, wholly, in one byte, begin
where another one ends, or lie apart, also in launches of one iteration. What is left in the buffer and in the registers must be
the same before and after. `ptxopt verify` gives each parameter memory of its own, so it would see none of that.

That a check is needed is tested, too: of versioned kernels a copy is made whose checks never lead to the old loop. Over all seeds
its results must differ in some launches, or nothing was tested; and in some launches the versioned kernel must access memory
less often than the kernel itself, or the fast loop is never taken. Status 1 where any of that fails.

--bodies: the kernel is made by -O2 with the profile of its first launch, which gives it bodies for such launches, the test of aliases
among what chooses them; the other launches are off the profile. The copy always takes the first body, and instead of fewer accesses
some launches must load by ld.global.nc.
"""
import argparse
import concurrent.futures
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("PTXOPT_GUARD", "off")  # the pass is tested, not the guard

PASSES = "--passes=version-loops"
BODIES = "-O2 --version-kernel-growth=1000 --version-module-growth=1000 --version-gain=0"
WORDS, MIDDLE, LAUNCHES = 4096, 8192, 16
# Access type: bytes, letter of the registers.
TYPES = {"u8": (1, "c"), "s8": (1, "c"), "u16": (2, "h"), "u32": (4, "r"), "b32": (4, "r"), "f32": (4, "f"),
         "b64": (8, "l"), "f64": (8, "g")}
STEP_OF_VALUE = {
    "r": "mad.lo.u32 %r{0}, %r{1}, 3, 1", "f": "add.f32 %f{0}, %f{1}, 0f3FC00000", "l": "add.s64 %l{0}, %l{1}, 77",
    "g": "add.f64 %g{0}, %g{1}, 0d3FF8000000000000", "h": "add.u16 %h{0}, %h{1}, 7", "c": "mad.lo.u16 %c{0}, %c{1}, 3, 1"}
STARTS = [f"mov.{t} %{r}{n}, {v}" for r, t, values in (
    ("r", "u32", (11, 22, 33)), ("f", "f32", ("0f3F800000", "0f40000000", "0f40400000")), ("l", "u64", (111, 222, 333)),
    ("g", "f64", ("0d3FF0000000000000",) * 3), ("h", "u16", (1, 2, 3)), ("c", "u16", (1, 2, 3)))
    for n, v in enumerate(values, 1)]
ENDS = [("u32", "%r1"), ("u32", "%r2"), ("u32", "%r3"), ("f32", "%f1"), ("f32", "%f2"), ("f32", "%f3"), ("b64", "%l1"),
        ("b64", "%l2"), ("b64", "%l3"), ("f64", "%g1"), ("f64", "%g2"), ("f64", "%g3"), ("u16", "%h1"), ("u16", "%h2"),
        ("u16", "%h3"), ("u16", "%c1"), ("u16", "%c2"), ("u16", "%c3"), ("u32", "%sum"), ("b64", "%k"), ("u32", "%i")]


class Kernel:
    """The text, and what launches of it are given."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        pick = self.random.choice
        self.pointers = self.random.randint(1, 3)
        self.is_wide = self.chance(40)
        self.sign = pick("su")
        self.relation = pick(["lt", "lt", "le", "gt", "ge", "ne"])
        self.down = self.relation in ("gt", "ge") or (self.relation == "ne" and self.chance(40))
        self.size = pick([1, 1, 1, 2, 3, 4])
        self.has_register_step = not self.down and self.chance(30)
        self.tests_late = self.chance(80)
        self.step = -self.size if self.down else self.size
        self.start = pick([0, 0, 1, 5, -7]) if self.sign == "s" else 100 if self.down else pick([0, 3, 100])
        types = list(TYPES) if self.chance(20) else [pick(list(TYPES)) if self.chance(50) else pick(["u32", "f32", "u8"])]
        self.unit = max(TYPES[t][0] for t in types)  # addresses are multiples of it, as they must be
        self.stride = self.unit * pick([0, 1, 1, 1, 2, -1, 3])
        kinds = ["fixed", "fixed", "index", "index", "index", "pointer", "stride"]
        self.places = [(self.random.randrange(self.pointers), pick(kinds), self.unit * pick([1, 1, 1, 1, 2, -1, 3]))
                       for _ in range(self.random.randint(1, 4))]
        if self.pointers > 1 and self.chance(50):  # one thing that stays, and one that goes on
            self.places = [(0, "fixed", 0), (1, pick(kinds[2:]), self.unit * pick([1, 1, -1]))]
        self.body = []
        for number in range(self.random.randint(2, 7)):
            self.access(number, pick(types))
        for number, (_, kind, scale) in enumerate(self.places):
            if kind == "pointer":
                self.body.append(f"add.s64 %q{number}, %q{number}, {scale * self.step}")
            if kind == "stride":
                self.body.append(f"add.s64 %q{number}, %q{number}, %stride")
        self.guard = f"setp.eq.s64 %pg, %step, {pick([self.step, 9])}"
        self.is_nest = self.chance(30)
        self.shifts = [self.unit * pick([0, 1, 1, 2, -1]) for _ in range(self.pointers)]
        self.starts_later = not self.down and self.relation != "ne" and self.chance(40)
        self.text = self.write()

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def address(self, number, place):
        pointer, kind, scale = self.places[place]
        if kind == "fixed":
            return f"%b{pointer}"
        if kind != "index":
            return f"%q{place}"
        at = f"%a{number}"
        sign = "s" if scale < 0 else self.sign
        if self.is_wide:
            self.body.append(f"mul.lo.s64 {at}, %k, {scale}")
        elif scale % 4 == 0 and self.chance(40):
            self.body += [f"mul.lo.s32 %m, %i, {scale // 4}", f"mul.wide.{sign}32 {at}, %m, 4"]
        else:
            self.body.append(f"mul.wide.{sign}32 {at}, %i, {scale}")
        self.body.append(f"add.s64 {at}, {at}, %b{pointer}")
        return at

    def access(self, number, type_name):
        pick, digit = self.random.choice, lambda: self.random.randint(1, 3)
        at = self.address(number, self.random.randrange(len(self.places)))
        size, letter = TYPES[type_name]
        offset = self.unit * pick([0, 0, 0, 0, 0, 1, 1, -1, 4]) + (size * pick([1, -1]) if self.chance(30) else 0)
        guard = pick(["@%pg ", "@%pg ", "@!%pg "]) if self.chance(12) else ""
        is_store = number != 0 and self.chance(50)
        value, form = f"%{letter}{digit()}", type_name
        if type_name == "u32" and self.unit == 8 and offset % 8 == 0 and self.chance(8):
            value, form = "{%r1, %r2}", "v2.u32"
        where = f"[{at}+{offset}]"
        self.body.append(f"{guard}st.global.{form} {where}, {value}" if is_store
                         else f"{guard}ld.global.{form} {value}, {where}")
        if self.chance(70):
            self.body.append(STEP_OF_VALUE[letter].format(digit(), digit()))
        if self.chance(30):
            self.body.append(f"mad.lo.u32 %sum, %sum, 5, %r{digit()}")
        if self.chance(10):
            self.body.append("mov.b32 %f1, %r1")

    def write(self):
        width = 64 if self.is_wide else 32
        counter, limit = ("%k", "%limit") if self.is_wide else ("%i", "%limit32")
        step = ("%step" if self.is_wide else "%step32") if self.has_register_step else self.step
        is_inverted = self.chance(20)
        opposite = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "ne": "eq"}
        relation = opposite[self.relation] if is_inverted else self.relation
        tail = [f"add.{self.sign}{width} {counter}, {counter}, {step}",
                f"setp.{relation}.{self.sign}{width} %p1, {counter}, {limit}"]
        lines = [f"ld.param.u64 %b{n}, [p{n}]" for n in range(self.pointers)]
        lines += [f"cvta.to.global.u64 %b{n}, %b{n}" for n in range(self.pointers)]
        lines += [f"ld.param.u64 %{name}, [{name}_in]" for name in ("o", "k", "limit", "step", "stride")]
        lines += ["cvt.u32.u64 %i, %k", "cvt.u32.u64 %limit32, %limit", "cvt.u32.u64 %step32, %step", "mov.u32 %sum, 1"]
        lines += STARTS + [self.guard]
        enter = [f"mov.b64 %q{n}, %b{p}" for n, (p, _, _) in enumerate(self.places)]
        leave = []
        if self.is_nest:
            lines += [f"mov.b64 %z{n}, %b{n}" for n in range(self.pointers)]
            lines += ["mov.b64 %k0, %k", "mov.u32 %i0, %i", "mov.u32 %n, %tid.x"]
            moves = []
            for n, shift in enumerate(self.shifts):
                moves += [f"mul.wide.s32 %t, %n, {shift}", f"add.s64 %b{n}, %z{n}, %t"]
            first = ["add.s32 %i, %i0, %n", "cvt.s64.s32 %t, %n", "add.s64 %k, %k0, %t"]
            enter = moves + (first if self.starts_later else ["mov.u32 %i, %i0", "mov.b64 %k, %k0"]) + enter
            leave = ["add.s32 %n, %n, 1", "setp.lt.s32 %p2, %n, 3", "@%p2 bra N"]
        ends, offset = [], 0
        for type_name, register in sorted(ENDS, key=lambda e: -TYPES[e[0]][0]):
            ends.append(f"st.global.{type_name} [%o+{offset}], {register}")
            offset += TYPES[type_name][0]
        loop = self.body + (tail if self.tests_late else tail[::-1]) + [f"@{'!' if is_inverted else ''}%p1 bra L"]
        parameters = [f"p{n}" for n in range(self.pointers)] + [f"{n}_in" for n in ("o", "k", "limit", "step", "stride")]
        return "\n".join([
            ".version 8.0", ".target sm_80", ".address_size 64",
            f".visible .entry k({', '.join('.param .u64 ' + p for p in parameters)})", "{",
            "  .reg .pred %p<4>, %pg;", "  .reg .b32 %r<8>, %i, %i0, %n, %step32, %limit32, %m, %sum;", "  .reg .f32 %f<8>;",
            "  .reg .b64 %l<8>, %b<4>, %q<4>, %z<4>, %a<8>, %k, %k0, %t, %step, %limit, %stride, %o;", "  .reg .f64 %g<8>;",
            "  .reg .b16 %h<8>;", "  .reg .u16 %c<8>;", *[f"  {x};" for x in lines],
            *(["N:"] if self.is_nest else []), *[f"  {x};" for x in enter], "L:",
            *[f"  {x};" for x in loop + leave + ends], "  ret;", "}", ""])

    def launch(self, number):
        """Arguments: where the arrays begin, and how often the loop iterates."""
        iterations = self.random.choice([1, 1, 2, 3, 5, 8, 13, 20])
        end = self.start + self.step * (iterations - 1 + self.tests_late)
        slack = self.random.randrange(self.size)
        limit = {"lt": end - slack, "le": end - 1 - slack, "gt": end + slack, "ge": end + 1 + slack, "ne": end}
        pick = self.random.choice
        way = pick(["near", "edge", "edge", "apart"])
        starts = []
        for other in range(self.pointers):
            by = {"near": self.random.randint(-24, 24), "apart": pick([-1, 1]) * pick([0, 1, 2, 8, 9, 20, 128, 256]),
                  # Where the last iteration of another one comes to, and next to it.
                  "edge": other and pick([-1, 0, 0, 1]) + pick([-1, 1]) * self.size * (iterations - pick([0, 1]))}[way]
            if way == "edge" and other and self.chance(70):
                by -= self.start
            starts.append(MIDDLE + by * self.unit)
        last = limit[self.relation]
        if self.sign == "u":
            last = max(last, 0)
        return [*(f"M{number}+{s}" for s in starts), f"O{number}", f"s64:{self.start}", f"s64:{last}",
                f"s64:{self.step}", f"s64:{self.stride}"]


def contents(path):
    numbers = random.Random(1)
    path.write_bytes(b"".join(struct.pack("<I", numbers.choice([numbers.getrandbits(30), numbers.randrange(100)]))
                              for _ in range(WORDS)))


def without_checks(text):
    """What a pass would make whose checks always hold: none of their branches is left."""
    return re.sub(r"^\s*@!?%pred_\d+ bra L;\n", "", text, flags=re.MULTILINE)


def first_body_alone(text):
    return re.sub(r"@%pred_\d+ (bra\.uni made_+L\d+)", r"\1", text, count=1)


def run(tool, path, memory, launches):
    """(exit status, what memory holds, accesses, those of them that are ld.global.nc)"""
    profile = path.with_suffix(".json")
    line = [tool, "run", path, "--max-steps", "100000", f"--profile={profile}"]
    for n in range(len(launches)):
        line += ["--buffer", f"M{n}=buf:u32:{WORDS}:@{memory}", "--buffer", f"O{n}=buf:u32:40:zero"]
    for launch in launches:
        line += ["--kernel", "k", "--grid", "1", "--block", "1", "--arg", *launch]
    line += [f"--dump={letter}{n}" for n in range(len(launches)) for letter in "MO"]
    done = subprocess.run([str(x) for x in line], capture_output=True, text=True, timeout=300)
    if done.returncode:
        return done.returncode, done.stderr, 0, 0
    opcodes = json.loads(profile.read_text())["opcodes"]
    return (0, done.stdout, *(sum(n["threads"] for o, n in opcodes.items() if o.startswith(starts))
                              for starts in (("ld.global", "st.global"), "ld.global.nc")))


def profile_of_first(tool, path, memory, launch, profile):
    subprocess.run([str(x) for x in (tool, "run", path, "--max-steps", "100000", "--buffer", f"M0=buf:u32:{WORDS}:@{memory}", "--buffer",
                                     "O0=buf:u32:40:zero", "--kernel", "k", "--grid", "1", "--block", "1", "--arg", *launch,
                                     "--profile-facts", profile)], capture_output=True, check=True, timeout=300)


def test(tool, seed, options, keep, bodies):
    """(what went wrong, versioned, differs without checks, accesses less; of bodies: some by .nc)"""
    kernel = Kernel(seed)
    with tempfile.TemporaryDirectory() as folder:
        before, after, broken = (Path(folder, n + ".ptx") for n in ("before", "after", "broken"))
        before.write_text(kernel.text)
        memory = Path(folder, "memory")
        contents(memory)
        launches = [kernel.launch(n) for n in range(LAUNCHES)]
        if bodies:
            profile_of_first(tool, before, memory, launches[0], Path(folder, "seen"))
            options = f"{BODIES} --profile-use {folder}/seen"
        done = subprocess.run([tool, before, "-o", after, *options.split(), "--verify-each"], capture_output=True, text=True)
        if done.returncode:
            return f"seed {seed}: {done.stderr}", False, False, False
        text = after.read_text()
        if text == kernel.text or (bodies and "bra.uni made_" not in text):
            return None, False, False, False
        old, new = run(tool, before, memory, launches), run(tool, after, memory, launches)
        wrong = None
        if old[0] or old[:2] != new[:2]:
            wrong = f"seed {seed}: " + (old[1] if old[0] else "not equal")
            if keep:
                Path(keep).mkdir(parents=True, exist_ok=True)
                Path(keep, f"{seed}.ptx").write_text(kernel.text)
        broken.write_text(first_body_alone(text) if bodies else without_checks(text))
        differs = broken.read_text() != text and run(tool, broken, memory, launches)[1] != old[1]
        return wrong, True, differs, new[3] > 0 if bodies else new[2] < old[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="ptxopt")
    parser.add_argument("--seeds", default="1..100")
    parser.add_argument("-j", type=int, default=os.cpu_count(), dest="jobs")
    parser.add_argument("--keep")
    parser.add_argument("--options", default=PASSES)
    parser.add_argument("--bodies", action="store_true")
    parser.add_argument("--print", type=int, metavar="SEED")
    args = parser.parse_args()
    if args.print is not None:
        print(Kernel(args.print).text)
        return 0
    first, last = map(int, args.seeds.split(".."))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda s: test(args.tool, s, args.options, args.keep, args.bodies), range(first, last + 1)))
    problems = [r[0] for r in results if r[0]]
    versioned, differ, less = (sum(r[k] for r in results) for k in (1, 2, 3))
    print(*problems, sep="\n", end="\n" if problems else "")
    gain = "loads by .nc" if args.bodies else "accesses memory less often"
    print(f"{len(results)} kernels, {versioned} versioned; {differ} need their checks, {less} with the gain ({gain}); {len(problems)} wrong")
    for words, number in (("no kernel needs its checks", differ), (f"no kernel {gain}", less)):
        if number == 0:
            problems.append(words)
            print(words)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
