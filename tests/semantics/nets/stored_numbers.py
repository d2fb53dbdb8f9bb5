#!/usr/bin/env python3
"""What ptxas stores where a store is narrower than its register, before and after optimizing: the low bits, or a converted number.

  stored_numbers.py --tool PTXOPT --dump DUMP_SASS [--seeds A..B] [--ptxas PTXAS ...] [--toolchains FOLDER] [--keep FOLDER]

ptxas decides by what stands around the store (src/core/ir/stored_numbers.h), another version otherwise. Each seed makes kernels of
one such store each: a value made as a number or as bits, in a register of one class or another; then what ends a block of
ptxas, and what passes remove or put there; then the store. Each pipeline's result is assembled, and a second time with every
narrow store of a register behind a mov of its bits, which stores the low bits for every ptxas. The conversions that this
saves are the store's: they must be as many for each narrow store, with each ptxas, as before the pipeline.
A kernel of which some ptxas converts must come out of every pipeline byte for byte.
Without --ptxas: the ptxas that is installed, and that of PyPI where tests have it already; with one alone this is said.
Exit codes: 0 the same everywhere, 1 not, 2 usage, 77 there is no ptxas.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

from framework_packages import python_with  # noqa: E402
from toolchains import below, toolchain  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

KERNELS = 40  # of a seed
HEADER = """.version 7.8
.target sm_90
.address_size 64
.global .surfref surface;
.func (.param .b32 r) increased(.param .b32 a)
{
	.reg .b32 %r<3>;
	ld.param.b32 %r1, [a];
	add.u32 %r1, %r1, 1;
	st.param.b32 [r], %r1;
	ret;
}
.func taken(.param .b8 a)
{
	.reg .b16 %h1;
	.reg .b64 %rd1;
	ld.param.b8 %h1, [a];
	mov.u64 %rd1, 64;
	st.volatile.global.u8 [%rd1], %h1;
	ret;
}
"""
# A function that stores its argument's byte, which a caller may take in.
STORES = """.func stored{n}(.param .b64 to, .param .b32 a)
{{
	.reg .b32 %r<3>;
	.reg .f32 %f<3>;
	.reg .b64 %rd1;
	ld.param.b64 %rd1, [to];
	ld.param.b32 %r1, [a];
	mov.b32 %f1, %r1;
	{make}
	st.global.u8 [%rd1], %r2;
	ret;
}}
"""
KERNEL = """.visible .entry {name}(.param .u64 out, .param .u32 n, .param .f32 x, .param .f64 y, .param .u64 in)
{{
	//ptxopt:facts {{"iterations":100}}
	.local .align 4 .b8 frame[8];
	.shared .align 4 .b32 tile[4];
	.reg .pred %p<9>;
	.reg .b16 %h<12>;
	.reg .b32 %r<40>;
	.reg .f32 %f<20>;
	.reg .b64 %rd<20>;
	.reg .f64 %fd<9>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	ld.param.f32 %f1, [x];
	ld.param.f64 %fd1, [y];
	ld.param.u64 %rd2, [in];
	ld.global.f32 %f2, [%rd2+8];
	ld.global.v2.u16 {{%h2, %h3}}, [%rd2+12];
	setp.gt.u32 %p1, %r1, 3;
	mov.u32 %r6, 0;
	st.local.u32 [frame], 5;
	st.shared.u32 [tile], %r1;
{body}
	ret;
}}
"""
# How the stored register comes to its value: (class, text).
MAKERS = [
    ("r", "add.rn.f32 %r7, %f1, 0f3F800000;"), ("r", "ld.global.f32 %r7, [%rd2];"), ("r", "mov.f32 %r7, 0f41280000;"),
    ("r", "selp.f32 %r7, %f1, 0f3F800000, %p1;"), ("r", "cvt.rn.f32.u32 %r7, %r1;"), ("r", "neg.f32 %r7, %f1;"),
    ("r", "rcp.rn.f32 %r7, %f1;"), ("r", "sin.approx.f32 %r7, %f1;"), ("r", "add.f32 %r7, %f1, %f1;\n@%p1 add.f32 %r7, %r7, %f1;"),
    ("rd", "add.rn.f64 %rd7, %fd1, %fd1;"), ("rd", "add.s64 %rd7, %rd2, 5;"), ("h", "cvt.rn.f16.f32 %h7, %f1;"),
    ("f", "add.rn.f32 %f7, %f1, 0f3F800000;"), ("f", "xor.b32 %f7, %r1, 77;"), ("fd", "add.rn.f64 %fd7, %fd1, %fd1;"),
    # The bits of a number.
    ("r", "add.rn.f32 %f7, %f1, 0f3F800000;\nmov.b32 %r7, %f7;"), ("r", "ld.global.f32 %f7, [%rd2];\nmov.b32 %r7, %f7;"),
    ("r", "add.rn.f64 %fd7, %fd1, %fd1;\nmov.b64 {%r7, %r8}, %fd7;"), ("rd", "add.rn.f64 %fd7, %fd1, %fd1;\nmov.b64 %rd7, %fd7;"),
    ("r", "st.local.f32 [frame+4], %f1;\nld.local.b32 %r7, [frame+4];"), ("r", "st.shared.f32 [tile+4], %f1;\nld.shared.b32 %r7, [tile+4];"),
    ("r", "mov.b32 %r7, %f1;\n@%p1 bra J{n};\nadd.rn.f32 %f7, %f1, 0f3F800000;\nmov.b32 %r7, %f7;\nJ{n}:"),
    ("r", "add.rn.f32 %r7, %f1, 0f3F800000;\n@%p1 bra J{n};\nadd.rn.f32 %r7, %f1, 0f40000000;\nJ{n}:"),
    ("r", "mul.lo.u32 %r7, %r1, 77;"), ("r", "cvt.rn.f16x2.f32 %r7, %f1, %f2;"), ("r", "fma.rn.bf16x2 %r7, %r1, %r1, %r1;"),
    ("r", "cvt.rn.tf32.f32 %r7, %f1;"), ("r", "cvt.rz.relu.tf32.f32 %r7, %f1;"), ("r", "cvt.rna.tf32.f32 %r7, %f1;"),
]
# What may stand between, and what uses its result.
ENDERS = [
    ("", ""), ("bar.sync 0;", ""), ("L{n}:", ""), ("add.u32 %r9, %r1, 1;", "%r9"),
    ("{{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r1; call (q), increased, (p); ld.param.b32 %r9, [q]; }}", "%r9"),
    ("div.u64 %rd9, %rd2, 7;", "%rd9"), ("div.u32 %r9, %r1, 7;", "%r9"), ("div.u32 %r9, %r1, %r6;", ""), ("rem.u16 %h9, %h2, %h3;", ""),
    ("rem.u32 %r9, %r1, 24;", "%r9"), ("div.rn.f32 %f9, %f1, 0f40000000;", "%f9"), ("div.approx.f32 %f9, %f1, %f2;", "%f9"),
    ("sqrt.rn.f32 %f9, %f1;", "%f9"), ("rcp.rn.f32 %f9, %f1;", "%f9"), ("shfl.sync.idx.b32 %r9, %r1, 0, 31, -1;", "%r9"),
    ("vote.sync.any.pred %p3, %p1, -1;\nselp.u32 %r9, 1, 0, %p3;", "%r9"), ("activemask.b32 %r9;", "%r9"), ("mov.u32 %r9, %clock;", ""),
    ("@%p1 ld.shared.u32 %r9, [tile];", "%r9"), ("@%p1 ld.global.u32 %r9, [%rd2+4];", ""), ("@%p1 st.local.u32 [frame], %r1;", "local"),
    ("@%p1 st.global.u32 [%rd1+16], %r1;\n@%p1 st.global.u32 [%rd1+20], %r1;", ""),
]
STORES_OF = {
    "r": ["st.global.u8 [%rd1], %r7;", "st.global.b16 [%rd1], %r7;", "st.global.v2.u8 [%rd1], {{%r7, %r7}};", "st.shared.u8 [tile+8], %r7;",
          "{{ .param .b8 z; st.param.b8 [z], %r7; call taken, (z); }}", "sust.b.1d.b8.clamp [surface, {{%r1}}], {{%r7}};",
          "@%p1 st.global.u8 [%rd1], %r7;", "{{ .param .b64 t; .param .b32 v; st.param.b64 [t], %rd1; st.param.b32 [v], %r7; call stored{n}, (t, v); }}"],
    "rd": ["st.global.u32 [%rd1], %rd7;", "st.global.f32 [%rd1], %rd7;", "st.global.v2.f32 [%rd1], {{%rd7, %rd7}};", "st.global.u16 [%rd1], %rd7;"],
    "h": ["st.global.u8 [%rd1], %h7;"], "f": ["st.global.b8 [%rd1], %f7;", "st.global.b16 [%rd1], %f7;"], "fd": ["st.global.b32 [%rd1], %fd7;"],
}
CLASSES = {"r": "b32", "rd": "b64", "h": "b16", "f": "f32", "fd": "f64"}
PIPELINES = [["-O2"], ["-O1"], ["--passes=dce"], ["--passes=inline-calls,sroa,dce"], ["--passes=divide"], ["--passes=licm-slow-ops"],
             ["--passes=sroa,rename-webs,register-coalescer"], ["--passes=local-cse,schedule-loads"], ["--passes=runtime-unroll"],
             ["--passes=uniformize-broadcasts"], ["--passes=widen-accesses", "--widen-accesses-everywhere=1"],
             ["--passes=rename-webs,cross-type-coalescer,register-coalescer,cssa-coalesce"], ["--passes=version-loops,split-live-ranges"]]
CONVERSIONS = {"F2I", "F2IP", "I2F", "I2FP", "F2F", "F2FP"}
WIDTHS = {"b8": 8, "u8": 8, "s8": 8, "b16": 16, "u16": 16, "s16": 16, "b32": 32, "u32": 32, "s32": 32, "f32": 32}
NARROW = re.compile(r"(@!?%\w+\s+)?\b(st\.[\w.:]*?|sust\.b\.1d)\.([busf]\d+)(\.clamp)?\s+(\[[^\]]*\]),\s*(\{[^}]*\}|%\w+)\s*;")
REGISTERS = re.compile(r"\.reg\s+\.(\w+)\s+([^;]*);")
FUNCTION = re.compile(r"^(?:\.visible \.entry|\.func(?: \([^)]*\))?) (\w+)\(.*?^\}\n?", re.M | re.S)


class Failure(Exception):
    pass


def made(seed):
    """The text of a seed's kernels."""
    rnd = random.Random(seed)
    functions = ""
    for n in range(KERNELS):
        kind, maker = rnd.choice(MAKERS)
        enders = rnd.sample(ENDERS, rnd.choice((1, 1, 2)))
        store = rnd.choice(STORES_OF[kind])
        uses = {"local": "ld.local.u32 %r20, [frame];\nst.global.u32 [%rd1+24], %r20;"}
        after = [uses.get(u) or f"st.global.b{64 if 'rd' in u else 32} [%rd1+{32 + 8 * k}], {u};" for k, (_, u) in enumerate(enders) if u]
        between = [text.replace("{n}", f"{n}_{k}") if text.endswith(":") else text for k, (text, _) in enumerate(enders)]
        lines = [maker.replace("{n}", str(n)), *(b.replace("{{", "{").replace("}}", "}") for b in between),
                 store.replace("{n}", str(n)).replace("{{", "{").replace("}}", "}"), *after]
        if rnd.random() < 0.3:  # in a loop
            if rnd.random() < 0.3 and "J" not in lines[0]:
                lines = [*lines[1:], lines[0]]  # of the iteration before
            lines = [f"O{n}:", *lines, "add.s64 %rd1, %rd1, 1;", "add.u32 %r6, %r6, 1;", "setp.lt.u32 %p2, %r6, %r1;", f"@%p2 bra O{n};"]
        body = "\n".join("\t" + line for line in "\n".join(lines).splitlines())
        if "stored" in store:
            functions += STORES.format(n=n, make=rnd.choice(("mov.b32 %r2, %f1;", "add.rn.f32 %r2, %f1, 0f3F800000;")))
        functions += KERNEL.format(name=f"k{n}", body=body)
    return HEADER + functions


def with_bits(text):
    """The text with each narrow store of a register behind a mov of its bits, and its kernels and functions named otherwise."""
    count = 0

    def of_function(match):
        nonlocal count
        declared, ranges = {}, []
        for kind, names in REGISTERS.findall(match[0]):
            for name in (n.strip() for n in names.split(",")):
                of = re.fullmatch(r"(%[\w$]+)<(\d+)>", name)
                (ranges.append((of[1], kind)) if of else declared.update({name: kind}))

        def type_of(name):
            return declared.get(name) or next(kind for prefix, kind in ranges if re.fullmatch(re.escape(prefix) + r"\d+", name))

        def store(found):
            nonlocal count
            guard, opcode, kind, clamp, address, values = found.groups()
            before = ""
            for name in dict.fromkeys(re.findall(r"%\w+", values)):
                width = int(re.sub(r"\D", "", type_of(name)))
                if width <= WIDTHS.get(kind, 64):
                    continue
                count += 1
                before += f".reg .b{width} %bits{count};\nmov.b{width} %bits{count}, {name};\n"
                values = re.sub(re.escape(name) + r"\b", f"%bits{count}", values)
            return f"{before}{guard or ''}{opcode}.{kind}{clamp or ''} {address}, {values};"

        return NARROW.sub(store, match[0])

    bodies = [of_function(m) for m in FUNCTION.finditer(text)]
    return re.sub(r"\b(k\d+|stored\d+|increased|taken)\b(?=\s*[(,])", r"\1_bits", "\n".join(bodies))


class Net:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.converts, self.compared = Counter(), 0

    def run(self, command):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace")
        if done.returncode:
            raise Failure(f"{' '.join(str(c) for c in command)}: {done.stderr.strip()[:600]}")
        return done.stdout

    def counts(self, ptxas, text):
        """kernel -> (conversions of its narrow store, narrow stores of a byte or two)."""
        source, cubin = self.folder / "both.ptx", self.folder / "both.cubin"
        source.write_text(text + with_bits(text))
        self.run([ptxas, "-arch=sm_90", source, "-o", cubin])
        conversions, narrow, name = Counter(), Counter(), ""
        for line in self.run([self.args.dump, cubin]).splitlines():
            words = line.split()
            if words[0] == "function":
                name = words[1]
            elif words[0] != "loop":
                conversions[name] += words[3] in CONVERSIONS
                narrow[name] += words[3] in ("STG", "STS", "SUST", "STL") and words[7] in ("1", "2")
        names = [n for n in {*conversions, *narrow} if not n.endswith("_bits")]
        return {n: (conversions[n] - conversions[n + "_bits"], narrow[n]) for n in names}

    def seed(self, seed):
        text = made(seed)
        source, result = self.folder / "in.ptx", self.folder / "out.ptx"
        source.write_text(text)
        if self.args.keep:
            (self.args.keep / f"{seed}.ptx").write_text(text)
        functions = {m[1]: m[0] for m in FUNCTION.finditer(text)}
        before = {t.build: self.counts(t.path, text) for t in self.args.chains}
        # Where ptxas takes in what a kernel calls, the store is not the kernel's, which may change.
        converting = {k for of in before.values() for k, (n, _) in of.items() if n > 0 and "call stored" not in functions[k]}
        converting |= {name for name in functions if "add.rn.f32 %r2," in functions[name]}
        for build, of in before.items():
            self.converts[build] += sum(n > 0 for n, _ in of.values())
        rnd = random.Random(seed)
        for pipeline in [PIPELINES[0], PIPELINES[1], *rnd.sample(PIPELINES[2:], self.args.pipelines)]:
            said = f"seed {seed}, {' '.join(pipeline)}"
            self.run([self.args.tool, source, "-o", result, *pipeline])
            after = {m[1]: m[0] for m in FUNCTION.finditer(result.read_text())}
            changed = [n for n in after if n.startswith("k") and after[n] != functions[n]]
            if not changed:
                continue
            kept = "".join(after[n] for n in after if n in changed or not n.startswith("k"))
            self.compared += len(changed)
            for t in self.args.chains:
                now = self.counts(t.path, HEADER[:HEADER.index(".func")] + kept)
                for name in changed:
                    (was, stores), (is_, copies) = before[t.build][name], now[name]
                    if (was > 0) != (is_ > 0) or (was > 0 and was * copies != is_ * stores):
                        raise Failure(f"{said}: ptxas {t.build} converts {was} times in {name} before, {is_} times after\n"
                                      f"{functions[name]}{after[name]}")
            for name in sorted(converting):
                if after[name] != functions[name]:
                    raise Failure(f"{said}: {name} is changed, though ptxas may convert a number that it stores\n{functions[name]}{after[name]}")


def seeds(text):
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def chains(args):
    if args.toolchains:
        return below(args.toolchains)
    paths = args.ptxas or [find_ptxas()]
    if not args.ptxas:
        for name in ("ptxas", "cuda-tools"):
            python, _ = python_with(name, install=False)
            paths += sorted(Path(python).parents[1].glob("lib/python*/site-packages/nvidia/cu13/bin/ptxas")) if python else []
    found = [toolchain(p) for p in paths if p]
    return list({t.build: t for t in found if t}.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--dump", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--seeds", type=seeds, default=seeds("1..5"), metavar="A..B")
    parser.add_argument("--pipelines", type=int, default=2, help="drawn for each seed, besides -O1 and -O2; default: 2")
    parser.add_argument("--ptxas", nargs="+", metavar="PTXAS")
    parser.add_argument("--toolchains", metavar="FOLDER", help="every ptxas below it")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write each seed's kernels to it")
    args = parser.parse_args()
    args.chains = chains(args)
    if not args.chains:
        print("stored numbers: left out, there is no ptxas")
        return 77
    if len(args.chains) == 1:
        print(f"stored numbers: only ptxas {args.chains[0].build} is there; what another one makes of them is not looked at")
    with tempfile.TemporaryDirectory() as folder:
        net = Net(args, Path(folder))
        try:
            for seed in args.seeds:
                net.seed(seed)
        except Failure as failure:
            print(failure)
            return 1
    told = ", ".join(f"{n} convert with ptxas {build}" for build, n in net.converts.items())
    print(f"stored numbers: {len(args.seeds) * KERNELS} kernels: {told}; {net.compared} changed and compared")
    # What finds nothing to convert, or nothing that changes, tells nothing.
    return 0 if net.compared and all(net.converts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
