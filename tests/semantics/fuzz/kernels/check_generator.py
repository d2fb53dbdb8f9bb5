#!/usr/bin/env python3
"""Checks generate_kernel: what it writes is accepted, defined, reproducible, and of every kind it promises.

  check_generator.py --tool PTXOPT --generator BIN [--count N] [--seed S] [-j JOBS] [--table]

A third of the seeds each for sm_75, sm_80 and sm_90: no register is read that some path has not written
(definite.py, of the same kernel without odd names); `ptxopt -O0 --reprint --verify-each` is silent; ptxas, where there is one, accepts the kernel. All
seeds together must show every feature of FEATURES and every opcode of the generator's operation table. Exit 1 when
one of this fails.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "lib"))
import definite  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

ARCHITECTURES = ("sm_75", "sm_80", "sm_90")

# Name, and what shows it in the text. All must occur in 150 seeds.
FEATURES = {
    "launch line": r"^// launch: grid=\d+,\d+,\d+ block=\d+,\d+,\d+ dynamic_shared=\d+$",
    "arguments line": r"^// arguments: out=buf:b8:\d+:zero in=buf:u32:\d+:random( [nab]=u32:\d+){3} f=f32:\S+$",
    "block of 1": r"block=1,1,1",
    "block of 31": r"block=31,1,1",
    "block of 33": r"block=33,1,1",
    "block of 128": r"block=128,1,1",
    "block of 2 dimensions": r"block=8,4,1",
    "block of 3 dimensions": r"block=2,3,11",
    "several blocks": r"grid=3,1,1",
    "grid of 2 dimensions": r"grid=2,2,1",
    "maxntid": r"^\.maxntid",
    "reqntid": r"^\.reqntid",
    "registers .b16": r"\.reg \.b16",
    "registers .u16": r"\.reg \.u16",
    "registers .s16": r"\.reg \.s16",
    "registers .f16": r"\.reg \.f16",
    "registers .u32": r"\.reg \.u32",
    "registers .s32": r"\.reg \.s32",
    "registers .f32": r"\.reg \.f32",
    "registers .u64": r"\.reg \.u64",
    "registers .s64": r"\.reg \.s64",
    "registers .f64": r"\.reg \.f64",
    "register lists": r"\.reg \.b32 %r1, %r2",
    "f32 in .b32": r"\b(add|mul|fma)\.r[nzmp]\S*\.f32 %r\d",
    "f64 in .b64": r"\.f64 %rd\d",
    "f16 in .b16": r"\.f16 %rs\d",
    "redeclared names": r"\{\n(  \.reg .*\n)*  \.reg \.\w+ %[a-z]+\d+;",
    "names of nested scopes": r"\.reg \.\w+ %[a-z]+x\d;",
    "pointers in initializers": r"generic\(apart_(const|global)\d\)",
    "isspacep of them": r"isspacep\.(global|const) apart_pred_\d",
    "equal sources of several types": r"cvt\.[su](8|16)\.[su]32 apart_b16_\d(?s:.*)cvt\.[su](8|16)\.[su]32 apart_b(32|64)_\d",
    "guard": r"@%\S+ (add|sub|mul|cvt|mov|and)",
    "negated guard": r"@!%\S+ (add|sub|mul|cvt|mov|and)",
    "guarded load": r"@!?%\S+ ld",
    "guarded store": r"@!?%\S+ st",
    "guarded ret": r"@!?%\S+ ret;",
    "guarded exit": r"@!?%\S+ exit;",
    "guarded red": r"@!?%\S+ (red|atom)\.",
    "uniform branch": r"bra\.uni",
    "irreducible": r"^\$L\d+_irreducible:",
    "brx.idx": r"brx\.idx %",
    "brx.idx.uni": r"brx\.idx\.uni",
    "down counting": r"add\.[su](16|32|64) (%\S+), \2, -\d",
    "counter of 16 bits": r"add\.[su]16 (%\S+), \1, \d+;\n  setp",
    "counter of 64 bits": r"add\.[su]64 (%\S+), \1, \d+;\n  setp",
    "loop test ne": r"setp\.ne\.[subw]\d+ [^\n]*\n  @%\S+ bra",
    "loop test lt.u": r"setp\.lt\.u32[^\n]*\n  @%\S+ bra",
    "loop test lt.s": r"setp\.lt\.s32[^\n]*\n  @%\S+ bra",
    "loop test gt": r"setp\.gt\.[su]\d+[^\n]*\n  @!?%\S+ bra",
    "pointer compare": r"setp\.(ne|lo)\.u64 %\S+, %\S+, %\S+;\n  @%\S+ bra",
    "swap": r"mov\.\w+ (%\S+), (%\S+);\n  mov\.\w+ \2, (%\S+);\n  mov\.\w+ \3, \1;",
    "static shared": r"static_memory\[\d+\]",
    "dynamic shared": r"\.extern \.shared",
    "bar.sync": r"\bbar\.sync 0;",
    "named barrier": r"\bbar\.sync [1-9]",
    "barrier with count": r"\bbar\.sync \d+, \d+",
    "barrier.sync": r"barrier\.sync 0",
    "barrier.sync.aligned": r"barrier\.sync\.aligned",
    "bar.red.popc": r"bar\.red\.popc",
    "bar.red": r"bar\.red\.(and|or)\.pred",
    "ld.v2": r"ld\S*\.v2",
    "ld.v4": r"ld\S*\.v4",
    "st.v2": r"st\S*\.v2",
    "st.v4": r"st\S*\.v4",
    "v4 of bytes": r"\.v4\.[us]8",
    "v2.b64": r"\.v2\.\w64",
    "ld.global.nc": r"ld\.global\.nc",
    "volatile": r"\.volatile\.",
    "ld.const": r"ld\.const",
    "global table": r"^\.global \.align 16 \.u32 table",
    "u8 to 32 bits": r"ld\S*\.u8 %r",
    "s8": r"ld\S*\.s8",
    "b8": r"ld\S*\.b8",
    "u16 to 64 bits": r"ld\S*\.u16 %rd",
    "u32 to 64 bits": r"ld\S*\.u32 %rd",
    "generic load": r"\bld\.[usbf]\d+",
    "generic store": r"\bst\.[usbf]\d+",
    "cvta.global": r"cvta\.global",
    "cvta.shared": r"cvta\.shared",
    "cvta.local": r"cvta\.local",
    "ld.local": r"ld\.local",
    "st.local": r"st\.local",
    "depot by name": r"\[__local_depot0",
    "shared by name": r"\[(static|dynamic)_memory",
    "negative displacement": r"\[%\S+\+-\d+\]",
    "shared pointers of 32 bits": r"\[%[rus]\d+(\+\d+)?\]",
    "mad.lo.s64 address": r"mad\.lo\.s64",
    "mad.wide address": r"mad\.wide\.[us]32",
    "add.cc": r"\badd\.cc",
    "addc.cc": r"addc\.cc",
    "addc": r"addc\.[us]",
    "sub.cc": r"sub\.cc",
    "subc": r"subc\.",
    "mad.cc": r"mad\.\w+\.cc",
    "madc.hi.cc": r"madc\.hi\.cc",
    "carry of 64 bits": r"add\.cc\.[us]64",
    "wrap near 2^31": r"add\.\w+ %\S+, %\S+, 0x7fffffff",
    "wrap near 2^32": r"add\.\w+ %\S+, %\S+, 0xfffffff",
    "call": r"\bcall ",
    "call.uni": r"call\.uni",
    "no result": r"call\S* \w+, \(param",
    "array result": r"\]\) device_\d",
    "array argument": r"\.b8 param\d\[16\]",
    "recursion": r"setp\.eq\.u32 [^\n]*, 0;\n[^\n]*bra[^\n]*\n  add\.s32 [^\n]*, -1;\n(.*\n)*?.*call",
    "call through a pointer": r"\.callprototype",
    "guarded ret of a function": r"@!?%\S+ st\.param[^\n]*\n  @!?%\S+ ret",
    "pack 2x32": r"mov\.b64 %\S+, \{%\S+, %\S+\};",
    "pack 2x16": r"mov\.b32 %\S+, \{",
    "pack 4x16": r"mov\.b64 %\S+, \{%\S+, %\S+, %\S+, %\S+\};",
    "unpack 2x32": r"mov\.b64 \{%\S+, %\S+\}",
    "unpack 4x16": r"mov\.b64 \{%\S+, %\S+, %\S+, %\S+\}",
    "f16x2": r"\.f16x2",
    "p|q": r"setp\S+ %\w+\|%\w+",
    "setp with a predicate": r"setp\.\w+\.(and|or|xor)\.",
    "shfl.idx": r"shfl\.sync\.idx",
    "shfl.up": r"shfl\.sync\.up",
    "shfl.down": r"shfl\.sync\.down",
    "shfl.bfly": r"shfl\.sync\.bfly",
    "shfl with a predicate": r"shfl\.\S+ %\w+\|",
    "vote.ballot": r"vote\.sync\.ballot",
    "vote": r"vote\.sync\.(all|any|uni)",
    "match.any": r"match\.any",
    "match.all": r"match\.all",
    "redux": r"redux\.sync",
    "activemask": r"activemask",
    "red.global": r"\bred\S*\.global",
    "red.shared": r"\bred\S*\.shared",
    "atom.shared": r"atom\S*\.shared",
    "atom.cas": r"atom\S*\.cas",
    "atom.exch": r"atom\S*\.exch",
    "atom.inc or dec": r"atom\S*\.(inc|dec)",
    "generic atom": r"\batom(\.relaxed\.gpu|\.acq_rel\.cta)?\.(add|min|max|and|or|xor|exch|inc|dec|cas)\.",
    "%laneid": r"%laneid",
    "%ctaid": r"%ctaid",
    "%tid.z": r"%tid\.z",
    "division by a variable": r"div\.[us]32 %\S+, %\S+, %",
    "bits in .f64": r"\b(and|or|xor|shl|shr|not|selp)\.b64 %fd\d",
    "bits in .f32": r"\b(and|or|xor|shl|shr|not|selp)\.b32 %f\d",
    "bits in .f16x2": r"\b(and|or|xor|shl|shr|not|selp)\.b32 %hh\d",
    "pack into .f64": r"mov\.b64 %fd\d+, \{",
    "constant expression": r"\b(mov|add|st)\S* [^\n]*, \(.* [<>=!&|^%/?]+ ",
    "complement": r", ~\d",
    "register and constant": r", %\w+ \+ -?\d+;",
    "register and expression": r", %\w+ \+ \(",
    "0d literal in f32": r"st\S*\.f32 \[[^\n]*, 0d",
    "decimal literal": r"\.f(32|64) [^\n]*, -?\d+\.\d",
    "0f literal in f64": r"\.f64 [^\n]*, 0f",
    "kept address": r"st\S*\.[ubs]64 \[kept\d+_holder\], %rd",
    "kept address in .f64": r"ld\S*\.f64 %fd\d+, \[kept\d+_holder\]",
    "kept address in .f32": r"ld\S*\.[bf]32 %f\d+, \[kept\d+_holder\+4\]",
    "kept address as a vector": r"ld\S*\.v2\.b32 \{%r\d+, %r\d+\}, \[kept\d+_holder\]",
    "kept addresses": r"ld\S*\.v2\.b64 \{[^\n]*\[kept\d+_holder\]",
    "kept address under a guard": r"@!?%p\d+ ld\.local\.[ubs]64 %\S+, \[kept\d+_holder\]",
    "section of one lane": r"@%p\d+ bra [^\n]*\n(  (ld|add)\S* %gap[^\n]*\n)+\S+:\n  bar",
    "sections in a row": r"(?s)%gap.*ld\.global\.\w+ %gap\d+, \[%rd",
    "stragglers": r"bar\.warp\.sync %",
    "function table": r"\.u64 (calls|ops)\d+\[\d\] = \{device_",
    "call through a table": r"ld\.(const|global)\.u64 %\S+, \[(calls|ops)\d",
    "vector parameter": r"^\.func \([^)]*\) vector_\d+\([^)]*\.reg \.v[24]",
    "vector result": r"^\.func \(\.reg \.v[24]",
    "st.param of an expression": r"st\.param\S* \[[^\n]*, ([(~]|%\w+ \+|\d+ [-+*])",
    "predicates named %r": r"setp\S* %r\d",
    "registers without a percent sign": r"add\.u32 [a-z]\d*,",
    "functions named %f": r"^\.func [^\n]*%(fn|call)\d",
    "division by a number": r"div\.[us]32 %\S+, %\S+, -?\d",
}


def expected_opcodes(folder):
    """The stems of the operation table: what stands before the first dot of a pattern, alternatives spelled out."""
    stems = set()
    table = (folder / "operation_table.cpp").read_text()
    for first, name, rest in re.findall(r'^    \{"(?:\{([^}]*)\}|([a-z0-9]+))(.*)', table, re.M):
        if "true}" not in rest:
            stems |= {text.split(".")[0] for text in (first or name).split("|")}
    return stems


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def check(path, plain, arch, tool, ptxas, folder):
    """What is wrong with the kernel at `path`."""
    problems = []
    for function in definite.functions(plain.read_text()):
        problems += [f"may be read before it is written: {m}" for m in definite.undefined_reads(function)]
    reprinted = folder / (path.name + ".out")
    code, text = run([tool, "-O0", "--reprint", "--verify-each", "--warn-unknown", path, "-o", reprinted])
    if code != 0 or text:
        problems.append(f"ptxopt: {text}")
    reprinted.unlink(missing_ok=True)
    if ptxas:
        code, text = run([ptxas, "-O0", f"-arch={arch}", path, "-o", reprinted])
        if code != 0:
            problems.append(f"ptxas: {text}")
        reprinted.unlink(missing_ok=True)
    return [f"{path.name} ({arch}): {p}" for p in problems]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="show how many kernels have each feature and opcode")
    args = parser.parse_args()
    ptxas = find_ptxas()
    if not ptxas:
        print("no ptxas: its part is left out")

    failures, texts = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kernels = []
        for i, arch in enumerate(ARCHITECTURES):
            count = (args.count + len(ARCHITECTURES) - 1 - i) // len(ARCHITECTURES)
            first = args.seed + i * args.count
            command = [args.generator, "--seed", str(first), "--count", str(count), "--arch", arch]
            for out in (folder / arch, folder / "again"):
                code, text = run(command + ["--out", out])
                if code != 0:
                    sys.exit(f"the generator failed: {text}")
            run([*command, "--plain-names", "--out", folder / f"{arch}-plain"])
            for path in sorted((folder / arch).iterdir()):
                if path.read_bytes() != (folder / "again" / path.name).read_bytes():
                    failures.append(f"{path.name}: another text at the second time")
                kernels.append((path, folder / f"{arch}-plain" / path.name, arch))
                texts.append(path.read_text())
        with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
            for problems in pool.map(lambda k: check(*k, args.tool, ptxas, folder), kernels):
                failures += problems

    features = {name: sum(bool(re.search(p, t, re.M)) for t in texts) for name, p in FEATURES.items()}
    opcodes = collections.Counter()
    for text in texts:
        opcodes.update(set(re.findall(r"^  (?:@!?%\w+ )?([a-z]\w*)[. ;]", text, re.M)))
    wanted = expected_opcodes(Path(__file__).resolve().parent)
    failures += [f"no kernel has: {name}" for name, n in features.items() if n == 0]
    failures += [f"no kernel has the opcode: {stem}" for stem in sorted(wanted) if opcodes[stem] == 0]
    if args.table:
        for title, table in (("feature", features), ("opcode", opcodes)):
            print(f"{title:40} kernels of {len(texts)}")
            for name, n in sorted(table.items(), key=lambda x: x[1]):
                print(f"  {name:38} {n}")
    for failure in failures[:40]:
        print(failure)
    lines = sum(t.count("\n") for t in texts)
    print(f"{len(texts)} kernels, {lines} lines, {len(features)} features, {len(opcodes)} opcodes: "
          f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
