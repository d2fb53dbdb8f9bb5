#!/usr/bin/env python3
"""Nothing that ptxopt writes may be refused by ptxas where it took the input: registers of other types than the operations'.

  run.py --tool PTXOPT [--kernels N] [--seed S] [--keep FOLDER]

ptxas takes an .f64 register in most operations of .b64, an .f16x2 one in those of .b32, a .b32 one in those of .u32 and .f32,
wider ones in loads, stores and conversions, and refuses the others. Which ones is asked of it first: every form of operation
below with registers of every class, all in one file. Kernels are then made at random (by a fixed seed) of the forms that it takes: in
loops, under guards, on local, shared and global memory, and in functions that can be inlined. Each kernel is asked for alone: one
that ptxas refuses is left out. Then each pass, and the pipelines, without the guard: ptxas must take the output, and
`ptxopt verify` must find no difference (--no-verify leaves that out).

Exit status 77 where there is no ptxas.
"""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "lib"))
import machine_code  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

ARCH = "sm_80"
HEAD = f".version 8.5\n.target {ARCH}\n.address_size 64\n"
# The name of a class's registers -> its type, and their width.
CLASSES = {"bh": ("b16", 16), "uh": ("u16", 16), "sh": ("s16", 16), "fh": ("f16", 16),
           "br": ("b32", 32), "ur": ("u32", 32), "sr": ("s32", 32), "fr": ("f32", 32), "xr": ("f16x2", 32),
           "bd": ("b64", 64), "ud": ("u64", 64), "sd": ("s64", 64), "fd": ("f64", 64)}
OF_WIDTH = {w: [c for c, (_, width) in CLASSES.items() if width == w] for w in (16, 32, 64)}
EACH = 5  # registers of a class
ARRAYS = 12  # in local memory
WIDTHS = {"b8": 8, "u8": 8, "s8": 8, "b16": 16, "u16": 16, "s16": 16, "f16": 16, "b32": 32, "u32": 32, "s32": 32, "f32": 32,
          "f16x2": 32, "b64": 64, "u64": 64, "s64": 64, "f64": 64}
MEMORY = ["b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"]
CONSTANTS = ["3", "-7", "0x1234", "300", "0x123456789", "10 + 4", "(2 - 5) * 3", "WARP_SZ", "0f3FC00000", "0d4008000000000000",
             "1.5"]
# The pipelines; `verify` makes the inputs itself.
PIPELINES = [["-O2"], ["--passes=sroa,dce"], ["--passes=inline-calls,sroa,dce"],
             ["--passes=local-cse,dce"], ["--passes=register-coalescer"], ["--passes=cross-type-coalescer"],
             ["--passes=cssa-coalesce"], ["--passes=rename-webs,cross-type-coalescer,register-coalescer"],
             ["--passes=split-live-ranges,split-high-pressure", "--split-registers=8"],
             ["--passes=split-live-ranges,split-high-pressure", "--split-registers=8", "--split-remat=1"],
             ["--passes=schedule-pressure"], ["--passes=schedule-loads", "--schedule-loads-everywhere=1"], ["--passes=local-dce,dce"],
             ["--passes=uniformize-broadcasts,dce"], ["--passes=infer-address-space,dce"],
             ["--passes=divide,dce"], ["--passes=licm-slow-ops,dce"], ["--passes=wide-multiply,dce"],
             ["--passes=slsr,dce,lsr,dce"]]


def declarations():
    lines = [f"\t.reg .{t} %{c}<{EACH}>;" for c, (t, _) in CLASSES.items()]
    return "\n".join(lines + ["\t.reg .pred %p<9>;", "\t.reg .b32 %i<9>;", "\t.reg .b64 %a<9>;"])


class Form:
    """An operation: its text with {0}, {1} for registers, and the class of each."""

    def __init__(self, text, classes):
        self.text, self.classes = text, classes

    def line(self, registers):
        return self.text.format(*registers)

    def plain(self):
        return self.line([f"%{c}{k}" for k, c in enumerate(self.classes)])


def wider(width):
    return [c for c, (_, w) in CLASSES.items() if w >= width]


def integers(classes):
    """Without those of floating-point types: ptxas takes `%f1 + 3`, and drops what depends on it."""
    return [c for c in classes if CLASSES[c][0][0] != "f"]


def all_forms():
    forms = []

    def add(text, *sets):
        chosen = [[]]
        for one in sets:
            chosen = [c + [x] for c in chosen for x in one]
        forms.extend(Form(text, c) for c in chosen)

    for t in MEMORY:
        for place in ("global", "local", "shared"):
            where = {"global": "[%a1+{{o}}]", "local": "[mem{{m}}+{{o}}]", "shared": "[tile+{{o}}]"}[place]
            add(f"ld.{place}.{t} {{0}}, {where};", wider(WIDTHS[t]))
            add(f"st.{place}.{t} {where}, {{0}};", wider(WIDTHS[t]))
            add(f"st.{place}.{t} {where}, {{0}} + 3;", integers(wider(WIDTHS[t])))
            for c in CONSTANTS:
                add(f"st.{place}.{t} {where}, {c};")
    for t in ("u8", "b32", "s32", "f32", "b64", "f64", "u16"):  # generic, maybe local
        add(f"ld.{t} {{0}}, [%a3+{{{{o}}}}];", wider(WIDTHS[t]))
        add(f"st.{t} [%a3+{{{{o}}}}], {{0}};", wider(WIDTHS[t]))
    for t, w in WIDTHS.items():
        if w < 16:
            continue
        same = OF_WIDTH[w]
        add(f"mov.{t} {{0}}, {{1}};", same, same)
        add(f"mov.{t} {{0}}, {{1}} + 3;", same, integers(same))
        for c in CONSTANTS:
            add(f"mov.{t} {{0}}, {c};", same)
        add(f"selp.{t} {{0}}, {{1}}, {{2}}, %p1;", same, same, same)
        add(f"setp.ne.{t} %p2, {{0}}, {{1}};", same, same)
        add(f"setp.eq.{t} %p3, {{0}}, 5;", same)
        for op in ("and", "or", "xor"):
            add(f"{op}.{t} {{0}}, {{1}}, 0x55;", same, same)
            add(f"{op}.{t} {{0}}, {{0}}, {{1}};", same, same)
        add(f"not.{t} {{0}}, {{1}};", same, same)
        for op in ("shl", "shr"):
            add(f"{op}.{t} {{0}}, {{1}}, 2;", same, same)
            add(f"{op}.{t} {{0}}, {{0}}, {{1}};", same, ["br", "ur", "fr"])
    for t in ("s16", "u16", "s32", "u32", "s64", "u64"):
        same = OF_WIDTH[WIDTHS[t]]
        add(f"add.{t} {{0}}, {{1}}, 7;", same, same)
        add(f"add.{t} {{0}}, {{1}} + 2, 7;", same, integers(same))
        add(f"mul.lo.{t} {{0}}, {{1}}, 12;", same, same)
        add(f"div.{t} {{0}}, {{1}}, 10;", same, same)
        add(f"rem.{t} {{0}}, {{1}}, 7;", same, same)
        add(f"min.{t} {{0}}, {{0}}, {{1}};", same, same)
        for s in ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"):
            add(f"cvt.{t}.{s} {{0}}, {{1}};", wider(WIDTHS[t]), wider(WIDTHS[s]))
    for t in ("f32", "f64"):
        same = OF_WIDTH[WIDTHS[t]]
        add(f"add.{t} {{0}}, {{0}}, {{1}};", same, same)
        add(f"cvt.rn.{t}.u32 {{0}}, {{1}};" if t == "f32" else f"cvt.{t}.u32 {{0}}, {{1}};", wider(32), OF_WIDTH[32])
        add(f"cvt.rzi.u32.{t} {{0}}, {{1}};", OF_WIDTH[32], same)
    for t in ("s32", "u32"):
        add(f"mul.wide.{t} {{0}}, {{1}}, 4;", OF_WIDTH[64], OF_WIDTH[32])
    for w in (16, 32, 64):
        same = OF_WIDTH[w]
        half = OF_WIDTH.get(w // 2)
        if half:
            add(f"mov.b{w} {{0}}, {{{{{{1}}, {{2}}}}}};", same, half, half)
            add(f"mov.b{w} {{{{{{0}}, {{1}}}}}}, {{2}};", half, half, same)
    add("shfl.sync.idx.b32 {0}, {1}, 3, 31, -1;", OF_WIDTH[32], OF_WIDTH[32])
    add("lop3.b32 {0}, {1}, {0}, 17, 0x96;", OF_WIDTH[32], OF_WIDTH[32])
    add("prmt.b32 {0}, {1}, {0}, 0x5410;", OF_WIDTH[32], OF_WIDTH[32])
    add("bfi.b32 {0}, {1}, {0}, 3, 5;", OF_WIDTH[32], OF_WIDTH[32])
    add("brev.b32 {0}, {1};", OF_WIDTH[32], OF_WIDTH[32])
    add("popc.b64 {0}, {1};", OF_WIDTH[32], OF_WIDTH[64])
    add("shf.l.wrap.b32 {0}, {1}, {0}, 3;", OF_WIDTH[32], OF_WIDTH[32])
    for t in ("b32", "f32", "u32"):
        add(f"ld.global.v2.{t} {{{{{{0}}, {{1}}}}}}, [%a1+{{{{o}}}}];", OF_WIDTH[32], OF_WIDTH[32])
        add(f"ld.local.v2.{t} {{{{{{0}}, {{1}}}}}}, [mem{{{{m}}}}+{{{{o}}}}];", OF_WIDTH[32], OF_WIDTH[32])
        add(f"st.local.v2.{t} [mem{{{{m}}}}+{{{{o}}}}], {{{{{{0}}, {{1}}}}}};", OF_WIDTH[32], OF_WIDTH[32])
    return forms


def refused_lines(text, folder, name):
    """The numbers of the lines that ptxas refuses; None where it says no more than that."""
    path = folder / f"{name}.ptx"
    path.write_text(text)
    run = subprocess.run([machine_code.find_ptxas(), f"-arch={ARCH}", "-O1", str(path), "-o", str(folder / f"{name}.cubin")],
                         capture_output=True, text=True)
    if run.returncode == 0:
        return set()
    return {int(n) for n in re.findall(r"line (\d+);", run.stderr)} or None


def taken_forms(folder):
    """The forms that ptxas takes. One that cannot be parsed hides those after it, so it is asked again without it."""
    forms = all_forms()
    for _ in range(40):
        lines = [HEAD + ".visible .entry k(.param .u64 p)\n{", ".local .align 16 .b8 mem0[64];", ".shared .align 16 .b8 tile[64];",
                 declarations()]
        begin = "\n".join(lines).count("\n") + 2
        text = "\n".join(lines + [f.plain().replace("{o}", "8").replace("{m}", "0") for f in forms] + ["ret;", "}"]) + "\n"
        refused = refused_lines(text, folder, "forms")
        if refused == set():
            return forms
        if refused is None:
            break
        forms = [f for k, f in enumerate(forms) if k + begin not in refused]
    raise SystemExit("ptxas does not say which forms it refuses")


class Kernel:
    def __init__(self, forms, chance):
        self.forms, self.chance = forms, chance
        self.by_kind = {}
        for f in forms:
            words = f.text.split(" ")[0].split(".")
            self.by_kind.setdefault(f"{words[0]} {words[1]}" if words[1] in ("local", "shared") else words[0], []).append(f)

    def register(self, cls):
        return f"%{cls}{self.chance.randrange(EACH)}"

    def operation(self):
        kinds = ["ld local", "st local"] * 5 + ["ld shared", "st shared"] * 3 + ["mov"] * 4 + sorted(self.by_kind)
        form = self.chance.choice(self.by_kind[self.chance.choice(kinds)])
        line = form.line([self.register(c) for c in form.classes])
        width = max([WIDTHS.get(w, 0) // 8 for w in re.split(r"[. ]", line.split(" ")[0])] + [1]) * (2 if ".v2." in line else 1)
        offset = self.chance.choice([o for o in range(0, 32, 1) if o % width == 0])
        guard = "@%p1 " if self.chance.random() < 0.15 and not line.startswith("shfl") else ""
        return f"\t{guard}{line.replace('{o}', str(offset)).replace('{m}', str(self.chance.randrange(ARRAYS)))}"

    def body(self, count):
        return [self.operation() for _ in range(count)]

    def text(self, name, functions):
        c = self.chance
        out = [f".visible .entry {name}(.param .u64 p, .param .u32 n)", "{",
               *(f"\t.local .align 16 .b8 mem{k}[32];" for k in range(ARRAYS)),
               "\t.shared .align 16 .b8 tile[64];", declarations(),
               "\tld.param.u64 %a1, [p];", "\tld.param.u32 %i1, [n];", "\tmov.u32 %i2, %tid.x;",
               "\tmul.wide.u32 %a2, %i2, 512;", "\tadd.s64 %a1, %a1, %a2;", "\tmov.u64 %a3, mem0;", "\tcvta.local.u64 %a3, %a3;"]
        # Nothing is read that was not written.
        out += [f"\tst.local.v2.u64 [mem{k}+{o}], {{%a1, 5}};" for k in range(ARRAYS) for o in range(0, 32, 16)]
        for k in range(0, 64, 16):
            out.append(f"\tst.shared.v4.u32 [tile+{k}], {{7, %i1, 5, 1}};")
        out += [f"\tsetp.gt.u32 %p{k}, %i1, {k};" for k in range(1, 4)]
        for cls, (_, w) in CLASSES.items():
            for k in range(EACH):
                out.append(f"\tld.global.b{w} %{cls}{k}, [%a1+{c.randrange(0, 64, 8)}];")
        out += self.body(c.randrange(20, 40))
        call = c.choice(functions) if c.random() < 0.7 else None
        if call:
            call_name, parameters, result = call
            out.append("\t{")
            for k, (t, form) in enumerate(parameters):
                out += [f"\t.param .{t} q{k};", "\t" + form.replace("PARAM", f"q{k}").replace("{0}", "").strip()]
            out += [f"\t.param .{result[0]} rv;",
                    f"\tcall.uni (rv), {call_name}, ({', '.join(f'q{k}' for k in range(len(parameters)))});",
                    "\t" + result[1].replace("PARAM", "rv"), "\t}"]
        out += ["\tmov.u32 %i3, 0;", "\tmov.u64 %a4, %a1;", "L:"]
        out += self.body(c.randrange(10, 25))
        out += ["\tld.global.u32 %br0, [%a4+64];", "\tadd.s64 %a4, %a4, 4;", "\tadd.u32 %i3, %i3, 1;",
                "\tsetp.lt.u32 %p4, %i3, 3;", "\t@%p4 bra L;"]
        out += self.body(c.randrange(5, 15))
        at = 128
        for cls, (_, w) in CLASSES.items():
            for k in range(EACH):
                out.append(f"\tst.global.b{w} [%a1+{at}], %{cls}{k};")
                at += 8 if w == 64 else 4
        out += ["\tret;", "}"]
        return "\n".join(out) + "\n"


def make_functions(forms, chance):
    """Functions that pass parameters through registers of other types: (name, [(type, store)], (type, load)), text."""
    functions, text = [], []
    stores = [f for f in forms if f.text.startswith("st.local.") and ".v2" not in f.text]
    loads = [f for f in forms if f.text.startswith("ld.local.") and ".v2" not in f.text]

    def as_parameter(f, register):
        t = f.text.split(" ")[0].split(".")[2]
        line = f.line([register] * len(f.classes)).replace(".local.", ".param.").replace("[mem{m}+{o}]", "[PARAM]")
        return ("b" + str(max(WIDTHS[t], 8)) if t[0] != "f" else t), line

    for k in range(4):
        parameters, inside = [], []
        for q in range(2):
            out = chance.choice(stores)
            t, line = as_parameter(out, f"%{out.classes[0]}1" if out.classes else "")
            parameters.append((t, line))
            back = chance.choice([f for f in loads if WIDTHS[f.text.split(" ")[0].split(".")[2]] == WIDTHS[t]])
            inside.append((q, back))
        result = chance.choice([f for f in stores if f.classes and "+ 3" not in f.text])
        t, line = as_parameter(result, f"%{result.classes[0]}0")
        back = chance.choice([f for f in loads if WIDTHS[f.text.split(" ")[0].split(".")[2]] == WIDTHS[t]])
        name = f"f{k}"
        body = [f".func (.param .{t} rv) {name}({', '.join(f'.param .{p[0]} q{q}' for q, p in enumerate(parameters))})", "{",
                declarations()]
        for cls, (_, w) in CLASSES.items():
            body.append(f"\tmov.b{w} %{cls}0, 1;")
        for q, f in inside:
            body.append("\t" + as_parameter(f, f"%{f.classes[0]}0")[1].replace("PARAM", f"q{q}"))
        body += ["\t" + line.replace("PARAM", "rv"), "\tret;", "}"]
        text.append("\n".join(body))
        functions.append((name, parameters, (t, as_parameter(back, f"%{back.classes[0]}2")[1])))
    return functions, "\n".join(text) + "\n"


def check(tool, path, pipeline, folder, verifies):
    out = folder / f"{path.stem}.{abs(hash(tuple(pipeline))) % 10**8}.ptx"
    run = subprocess.run([tool, *pipeline, "--guard=off", "--verify-each", str(path), "-o", str(out)], capture_output=True, text=True)
    what = f"{path.name} {' '.join(pipeline)}"
    if run.returncode != 0:
        return f"{what}: {run.stderr.strip()}"
    ptxas = subprocess.run([machine_code.find_ptxas(), f"-arch={ARCH}", "-O1", str(out), "-o", "/dev/null"], capture_output=True, text=True)
    if ptxas.returncode != 0:
        lines = out.read_text().splitlines()
        said = [f"{m} -> {lines[int(n) - 1].strip()}" for n, m in re.findall(r"line (\d+); (.*)", ptxas.stderr)]
        return f"{what}: ptxas refuses the output: {'; '.join(said[:4]) or ptxas.stderr.strip()}"
    if verifies:
        run = subprocess.run([tool, "verify", "--trials=2", str(path), str(out)], capture_output=True, text=True)
        if "different" in run.stdout:
            return f"{what}: {run.stdout.strip()}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--kernels", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-verify", action="store_true")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    if machine_code.find_ptxas() is None:
        print("skipped: no ptxas")
        return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        forms = taken_forms(folder)
        files, tried = [], 0
        while len(files) < arguments.kernels and tried < 4 * arguments.kernels:
            chance = random.Random(arguments.seed * 100003 + tried)
            tried += 1
            functions, text = make_functions(forms, chance)
            text = HEAD + text + Kernel(forms, chance).text("k", functions)
            if refused_lines(text, folder, f"k{tried}") == set():
                files.append(folder / f"k{tried}.ptx")
        work = [(f, p) for f in files for p in PIPELINES]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            failures = [r for r in pool.map(lambda w: check(arguments.tool, *w, folder, not arguments.no_verify), work) if r]
        for f in failures:
            print(f)
        print(f"{len(forms)} forms, {len(files)} kernels of {tried}, {len(work)} outputs, {len(failures)} failed")
        return 1 if failures or len(files) < arguments.kernels // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
