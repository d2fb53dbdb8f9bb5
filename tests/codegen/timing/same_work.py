#!/usr/bin/env python3
"""How much of the same work the guard sees in kernels of which it is known.

    same_work.py --order timing_order [--ptxas PTXAS] [--archs sm_80,sm_90]
    same_work.py --order timing_order --pairs DIR

Each kernel exists as a loop and unrolled by hand by 2, 4 and 8 and altogether, with a constant or an unknown trip count, with its sum in
memory and in a register, and as two versions of which a check chooses one. `.pragma "nounroll"` keeps ptxas from
unrolling them itself, so that what the comparison has to find is known.

With --pairs instead, a table of what decided over pairs of cubins: DIR/NAME.before.cubin and DIR/NAME.after.cubin.
Exit code: 0, 1 with a wrong figure, 77 without ptxas.
"""

import argparse
import collections
import pathlib
import shutil
import subprocess
import sys
import tempfile

TRIPS = 64

# One iteration, `{o}` bytes into its arrays: what it loads, computes, stores. Registers %f are single precision, %d double, %r integers.
BODIES = {
    "saxpy": ["ld.global.f32 %f1, [%p1+{o}];", "ld.global.f32 %f2, [%p2+{o}];", "fma.rn.f32 %f3, %f1, 0f40000000, %f2;",
              "st.global.f32 [%p3+{o}], %f3;"],
    "sum": ["ld.global.f32 %f1, [%p1+{o}];", "add.rn.f32 %f0, %f0, %f1;"],
    "fold": ["ld.global.u32 %r1, [%p1+{o}];", "xor.b32 %r0, %r0, %r1;", "mul.lo.u32 %r0, %r0, 16777619;"],
    "copy": ["ld.global.u32 %r1, [%p1+{o}];", "add.u32 %r1, %r1, 7;", "st.global.u32 [%p3+{o}], %r1;"],
    "count": ["ld.global.u32 %r1, [%p1+{o}];", "red.global.add.u32 [%p3+{o}], %r1;"],
    "double": ["ld.global.f32 %f1, [%p1+{o}];", "cvt.f64.f32 %d1, %f1;", "fma.rn.f64 %d0, %d0, %d0, %d1;"],
    # The sum is in memory, as a compiler leaves it that cannot tell the arrays apart.
    "in-memory": ["ld.volatile.global.f32 %f0, [%p4];", "ld.global.f32 %f1, [%p1+{o}];", "ld.global.f32 %f2, [%p2+{o}];",
                  "fma.rn.f32 %f0, %f1, %f2, %f0;", "st.volatile.global.f32 [%p4], %f0;"],
    "in-register": ["ld.global.f32 %f1, [%p1+{o}];", "ld.global.f32 %f2, [%p2+{o}];", "fma.rn.f32 %f0, %f1, %f2, %f0;"],
}


class Kernel:
    """The text of one kernel, in pieces."""

    def __init__(self, body):
        self.body, self.lines, self.loops = BODIES[body], [], 0

    def copies(self, count):
        for k in range(count):
            self.lines += [line.format(o=4 * k) for line in self.body]

    def advance(self, count):
        self.lines += [f"add.s64 %p{p}, %p{p}, {4 * count};" for p in (1, 2, 3)]
        self.lines.append(f"add.s32 %i, %i, {count};")

    def loop(self, copies, bound):
        """Of so many copies, while that many iterations are left."""
        name = f"L{self.loops}"
        self.loops += 1
        self.lines += [f"sub.s32 %last, {bound}, {copies};", "setp.gt.s32 %q, %i, %last;", f"@%q bra {name}_end;",
                       f"{name}:", '.pragma "nounroll";']
        self.copies(copies)
        self.advance(copies)
        self.lines += ["setp.le.s32 %q, %i, %last;", f"@%q bra {name};", f"{name}_end:"]

    def text(self, name, arch):
        head = ["ld.param.u64 %p1, [a];", "ld.param.u64 %p2, [b];", "ld.param.u64 %p3, [c];", "ld.param.u64 %p4, [d];",
                "ld.param.u32 %n, [n];", "mov.u32 %i, 0;", "mov.u32 %t, %tid.x;", "mul.wide.u32 %at, %t, 4096;",
                "add.s64 %p1, %p1, %at;", "add.s64 %p2, %p2, %at;", "add.s64 %p3, %p3, %at;", "add.s64 %p4, %p4, %at;",
                "mov.f32 %f0, 0f00000000;", "mov.f64 %d0, 0d0000000000000000;", "mov.u32 %r0, 1;"]
        tail = ["st.global.f32 [%p4], %f0;", "st.global.f64 [%p4+8], %d0;", "st.global.u32 [%p4+16], %r0;", "ret;"]
        return "\n".join([".version 8.7", f".target {arch}", ".address_size 64",
                          f".visible .entry {name}(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 n)", "{",
                          ".reg .f32 %f<4>; .reg .f64 %d<2>; .reg .b32 %r<2>; .reg .b32 %i, %n, %t, %last;",
                          ".reg .b64 %p<5>; .reg .b64 %at; .reg .pred %q;"] + head + self.lines + tail + ["}", ""])


def looped(body, copies, known):
    """A loop of so many copies; for an unknown trip count, one for the iterations that are left."""
    kernel = Kernel(body)
    kernel.loop(copies, TRIPS if known else "%n")
    if not known and copies > 1:
        kernel.loop(1, "%n")
    return kernel


def straight(body):
    kernel = Kernel(body)
    kernel.copies(TRIPS)
    return kernel


def versions(body):
    """One copy, or four where their number divides the trip count."""
    kernel = Kernel(body)
    kernel.lines += ["and.b32 %t, %n, 3;", "setp.ne.s32 %q, %t, 0;", "@%q bra Single;"]
    kernel.loop(4, "%n")
    kernel.lines += ["bra Joined;", "Single:"]
    kernel.loop(1, "%n")
    kernel.lines.append("Joined:")
    return kernel


def cases():
    """Name, the kernel before, the one after, and the kinds and figures that are right."""
    for body in ("saxpy", "sum", "fold", "copy", "count", "double"):
        once = looped(body, 1, True)
        for copies in (2, 4, 8):
            yield f"{body}, {copies} copies", once, looped(body, copies, True), {"iterations"}, [copies]
            yield f"{body}, {copies} copies and the rest", looped(body, 1, False), looped(body, copies, False), {"runs"}, [copies, 1]
        yield f"{body}, 8 copies for 2", looped(body, 2, True), looped(body, 8, True), {"iterations"}, [4]
        yield f"{body}, 2 copies for 8", looped(body, 8, True), looped(body, 2, True), {"iterations"}, [0.25]
        yield f"{body}, altogether", once, straight(body), {"dissolved"}, [TRIPS]
        yield f"{body}, 4 copies altogether", looped(body, 4, True), straight(body), {"dissolved"}, [TRIPS // 4]
        yield f"{body}, a loop again", straight(body), once, {"dissolved"}, [TRIPS]
    for body in ("saxpy", "copy"):
        yield f"{body}, versions", looped(body, 1, False), versions(body), {"runs", "versions"}, [4, 1]
    memory = looped("in-memory", 1, True)
    yield "sum in a register", memory, looped("in-register", 1, True), {"whole"}, []
    for copies in (2, 4, 8):
        yield f"sum in a register, {copies} copies", memory, looped("in-register", copies, True), {"iterations"}, [copies]
        yield (f"sum in a register, {copies} copies both", looped("in-memory", copies, True),
               looped("in-register", copies, True), {"whole"}, [])
    yield "sum in a register, altogether", memory, straight("in-register"), {"dissolved"}, [TRIPS]
    yield "sum in a register, altogether for 8", looped("in-memory", 8, True), straight("in-register"), {"whole"}, []


def works(order, pairs):
    """What `order` says of each pair of cubins: lines of words, without the name of the kernel."""
    given = "".join(f"{a} {b}\n" for a, b in pairs)
    out = subprocess.run([order, "--work"], input=given, text=True, stdout=subprocess.PIPE, check=True).stdout
    return [line.split()[1:] for line in out.splitlines()]


def check(order, ptxas, arch, folder):
    wrong, paths, expected = 0, [], []
    for n, (name, before, after, kinds, figures) in enumerate(cases()):
        for side, kernel in (("before", before), ("after", after)):
            ptx = folder / f"{arch}.{n}.{side}.ptx"
            ptx.write_text(kernel.text(f"k{n}", arch), encoding="utf-8")
            subprocess.run([ptxas, f"-arch={arch}", ptx, "-o", ptx.with_suffix(".cubin")], check=True)
        paths.append((folder / f"{arch}.{n}.before.cubin", folder / f"{arch}.{n}.after.cubin"))
        expected.append((name, kinds, figures))
    found = works(order, paths)
    if len(found) != len(expected):
        sys.exit(f"same_work.py: {len(expected)} pairs, {len(found)} answers: some kernels are the same on both sides")
    for (name, kinds, figures), (_sign, kind, witness, agree, *values) in zip(expected, found):
        values = [float(v) for v in values]
        if kind == "whole":
            values = []
        if kind not in kinds or values != figures:
            wrong += 1
            print(f"{arch}: {name}: {kind} {values} by {witness} ({agree}), not {'/'.join(sorted(kinds))} {figures}")
    print(f"{arch}: {len(expected)} pairs of kernels, {wrong} wrong")
    return wrong


def table(order, folder):
    befores = sorted(folder.glob("*.before.cubin"))
    found = works(order, [(b, b.with_name(b.name.replace(".before.", ".after."))) for b in befores])
    rows = collections.defaultdict(collections.Counter)
    for sign, kind, witness, agree, *_ in found:
        if kind in ("whole", "unknown"):
            witness, agree = "-", "-"
        rows[kind, witness, agree][sign] += 1
    print("| compared | by | agree | kernels | better | worse | alike |\n|---|---|---|--:|--:|--:|--:|")
    for (kind, witness, agree), signs in sorted(rows.items()):
        print(f"| {kind} | {witness} | {agree} | {sum(signs.values())} | {signs['-1']} | {signs['1']} | {signs['0']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--order", required=True)
    parser.add_argument("--ptxas", default=shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas")
    parser.add_argument("--archs", default="sm_80,sm_90,sm_120")
    parser.add_argument("--pairs", type=pathlib.Path)
    options = parser.parse_args()
    if options.pairs:
        table(options.order, options.pairs)
        return
    if not pathlib.Path(options.ptxas).exists():
        print("same_work.py: there is no ptxas")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        wrong = sum(check(options.order, options.ptxas, arch, pathlib.Path(folder)) for arch in options.archs.split(","))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
