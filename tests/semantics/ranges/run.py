#!/usr/bin/env python3
"""Value ranges hold what the interpreter computes: every integer operation that the analysis follows, on numbers at the ends.

  run.py --tool PTXOPT [--kernels N] [--operations N] [--seed S]

A kernel is a row of operations chosen at random (by a fixed seed), each of its own registers, which hold numbers, or of
literals, which may be wider than the operand; the results are stored. `ptxopt --dump=ranges` says what each result may be,
`ptxopt run` what it is. Since all operands are known most ranges are one number. A kernel of which less than nine tenths are
known fails too: then the test has come to compare nothing.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("PTXOPT_GUARD", "off")

NUMBERS = [0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128, 200, 255, 256, 257, 258, 260, 32767, 32768, 65535,
           65536, 65537, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1, 2**32, 2**32 + 1, 2**63 - 1, 2**63, 2**64 - 1]
PREDICATE = 1  # the width that stands for one


def operations():
    """(opcode, width of the result's register, widths of the sources)"""
    rows = []
    for w in (16, 32, 64):
        for s in "us":
            rows += [(f"{o}.{s}{w}", w, [w, w]) for o in ("add", "sub", "mul.lo", "mul.hi", "min", "max", "div", "rem")]
            rows += [(f"mad.{part}.{s}{w}", w, [w, w, w]) for part in ("lo", "hi")] + [(f"shr.{s}{w}", w, [w, 32])]
            if w < 64:
                rows += [(f"mul.wide.{s}{w}", 2 * w, [w, w]), (f"mad.wide.{s}{w}", 2 * w, [w, w, 2 * w])]
            if w > 16:
                rows += [(f"bfe.{s}{w}", w, [w, 32, 32])] * 4
        rows += [(f"{o}.b{w}", w, [w, w]) for o in ("and", "or", "xor")] + [(f"shl.b{w}", w, [w, 32])]
        rows += [(f"{o}.{t}{w}", w, [w]) for o, t in (("not", "b"), ("cnot", "b"), ("neg", "s"), ("abs", "s"))]
        if w > 16:
            rows += [(f"{o}.b{w}", 32, [w]) for o in ("popc", "clz")]
    types = [f"{s}{w}" for w in (8, 16, 32, 64) for s in "us"]
    for to in types:
        for of in types:
            rows += [(f"cvt.{to}.{of}", d, [s]) for d in (16, 32, 64) for s in (16, 32, 64)
                     if d >= int(to[1:]) and s >= int(of[1:])]
    return rows + [("set.lt.u32.u32", 32, [32, 32]), ("set.ge.s32.s64", 32, [64, 64]), ("slct.u32.s32", 32, [32, 32, 32]),
                   ("slct.u64.s32", 64, [64, 64, 32]), ("selp.b32", 32, [32, 32, PREDICATE])]


def number(rand):
    return rand.choice(NUMBERS) if rand.random() < 0.8 else rand.getrandbits(rand.choice([4, 8, 16, 32, 33, 64]))


def kernel(rand, rows, count):
    """The text, and of each result its width and the lines that make it."""
    declared, body, results = [], [], []
    for r in range(count):
        opcode, width, widths = rand.choice(rows)
        lines, operands = [], []
        for k, w in enumerate(widths):
            value = number(rand)
            if opcode.startswith(("div", "rem")) and k == 1 and value % 2**w == 0:
                value = 3
            if w == PREDICATE:
                operands.append("%p")
            elif operands and not opcode.startswith("bfe") and rand.random() < 0.3:
                operands.append(str(value - 2**64 if value >= 2**63 and rand.random() < 0.5 else value))
            else:
                operands.append(f"%s{r}_{k}")
                declared.append(f".reg .b{w} {operands[-1]};")
                lines.append(f"mov.b{w} {operands[-1]}, {value};")
        declared.append(f".reg .b{width} %res{r};")
        lines.append(f"{opcode} %res{r}, {', '.join(operands)};")
        body += lines + [f"st.global.b{width} [%P+{8 * r}], %res{r};"]
        results.append((width, " ".join(lines)))
    text = [".version 8.5", ".target sm_80", ".address_size 64", ".visible .entry k(.param .u64 p)", "{", ".reg .b64 %P;",
            ".reg .pred %p;", *declared, "ld.param.u64 %P, [p];", "setp.eq.u32 %p, 1, 1;", *body, "ret;", "}", ""]
    return "\n".join(text), results


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


RANGE = re.compile(r"^\s*%res(\d+):0 \d+:(?: \[(\d+), (\d+)\])?(?: signed \[(-?\d+), (-?\d+)\])? ", re.M)


def check(tool, text, results, folder):
    path = Path(folder, "k.ptx")
    path.write_text(text)
    dumped = run([tool, "run", str(path), "--kernel", "k", "--grid", "1", "--block", "1", "--arg",
                  f"o=buf:u64:{len(results)}:zero", "--dump", "o"])
    values = [int(v, 0) for line in re.findall(r"^\s+\[\d+\]\s+(.*)", dumped, re.M) for v in line.split()]
    failed = known = 0
    for found in RANGE.finditer(run([tool, str(path), "--dump=ranges"])):
        width, lines = results[int(found[1])]
        value = values[int(found[1])] % 2**width
        known += 1
        within = found[2] is None or int(found[2]) <= value <= int(found[3])
        signed = value - 2**width if value >= 2**(width - 1) else value
        within &= found[4] is None or int(found[4]) <= signed <= int(found[5])
        if not within:
            failed += 1
            print(f"{lines}\n  is {value}, and not within {found[0].strip()}")
    return known, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--kernels", type=int, default=20)
    parser.add_argument("--operations", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rows = operations()
    known = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for k in range(args.kernels):
            text, results = kernel(random.Random(f"{args.seed} {k}"), rows, args.operations)
            k, f = check(args.tool, text, results, folder)
            known, failed = known + k, failed + f
    everything = args.kernels * args.operations
    print(f"{everything} results, {known} with a range, {failed} outside")
    return 1 if failed or 10 * known < 9 * everything else 0


if __name__ == "__main__":
    sys.exit(main())
