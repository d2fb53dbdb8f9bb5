#!/usr/bin/env python3
"""Compares dominators, post-dominators, loops, the places of phis and live intervals with LLVM's, on random functions.

    tests/semantics/llvm/compare_intervals.py --dump build/release/tests/ptxopt_dump_analyses [--functions N] [--seed S] [--keep DIR]

Each function is written three times, as PTX, as LLVM IR and as LLVM's machine code in text (MIR, for x86-64), with the same
blocks, edges, reads and writes. LLVM's answers come from `opt`: print<domtree>, print<postdomtree>, print<loops>, and the
phis that mem2reg makes of variables in memory, which is pruned minimal SSA form; and from `llc`: print<live-intervals>,
which is LiveIntervals as its register allocators use it. Of those, everything is compared: in each block, from and to
which slot a register is live, and where the value that it holds begins, which says where phi-defs are, what is live at
the start of each block, and where a value is read last.

Any opt since LLVM 14 will do; without one the script says so and ends with status 77. The intervals need llc of LLVM 19
or later (Debian 12: packages llvm-19 of bookworm-backports or apt.llvm.org); without it they are left out, with a message.
What cannot be compared is left out and counted: post-dominators where a block cannot leave (LLVM chooses other roots),
loops where there is an irreducible region (LLVM knows only natural ones); there, phis that LLVM has removed again
because they only carry one value are no difference.
"""
import argparse
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

OPTS = ["opt-19", "opt"] + [f"opt-{n}" for n in range(21, 13, -1)]
LLCS = ["llc-19"] + [f"llc-{n}" for n in range(25, 19, -1)] + ["llc"]
# Unverified: it would want a register for each web of values.
INTERVALS = ["-passes=print<live-intervals>", "-disable-verify"]
VARIABLES = 4


# How a statement is spelled; a `mod` reads what it writes. MIR: of x86-64.
PTX = {"read": "st.global.b32 [%a], %v{};", "write": "mov.b32 %v{}, %tid.x;", "mod": "@%p mov.b32 %v{}, 7;"}
MIR = {"read": "MOV32mr $noreg, 1, $noreg, 0, $noreg, %{0}", "write": "%{0}:gr32 = MOV32ri 1",
       "mod": "%{0}:gr32 = ADD32ri %{0}, 1, implicit-def dead $eflags"}


def make(rng):
    """Successors and statements (('read' | 'write' | 'mod', variable)) by block; nothing leads to block 0."""
    n = rng.randint(2, 14)
    wild = rng.random() < 0.3
    successors, code = [], []
    for b in range(n):
        def target():
            if wild:
                return rng.randint(1, n - 1)
            return min(n - 1, max(1, b + rng.choice([-3, -1, 1, 1, 1, 2, 3])))
        kind = rng.random()
        if b == n - 1 or kind < 0.08:
            out = []
        elif kind < 0.4:
            out = [b + 1] if rng.random() < 0.5 else [target()]
        elif kind < 0.8:
            out = [target(), b + 1]
        else:
            out = [target() for _ in range(rng.randint(2, 4))]
        successors.append(list(dict.fromkeys(out)))
        code.append([(rng.choice(["read", "read", "read", "write", "write", "mod"]), rng.randrange(VARIABLES)) for _ in range(rng.randint(0, 3))])
    return successors, code


def to_ptx(name, successors, code):
    tables, body = [], []
    for b, (out, statements) in enumerate(zip(successors, code)):
        body += [f"B{b}:", "bar.sync 0;"]  # without an instruction two labels would share a block
        if b == 0:
            body += [f"mov.b32 %v{v}, {v};" for v in range(VARIABLES)]
        body += [PTX[what].format(v) for what, v in statements]
        if not out:
            body.append("ret;")
        elif len(out) == 1:
            body.append("" if out[0] == b + 1 else f"bra B{out[0]};")
        elif len(out) == 2 and out[1] == b + 1:
            body.append(f"@%p bra B{out[0]};")
        else:
            tables.append(f"T{b}: .branchtargets {', '.join(f'B{s}' for s in out)};")
            body.append(f"brx.idx %i, T{b};")
    registers = f".reg .pred %p; .reg .b32 %i; .reg .b64 %a; .reg .b32 %v<{VARIABLES}>;"
    # The tables stand behind the last block, where nothing comes.
    return "\n".join([f".entry {name}()", "{", body[0], registers, *body[1:], *tables, "}", ""])


def to_ir(name, successors, code):
    out_lines = [f"define void @{name}(i32 %i) {{"]
    temporary = 0
    for b, (out, statements) in enumerate(zip(successors, code)):
        out_lines.append(f"B{b}:")
        if b == 0:
            out_lines += [f"  %v{v} = alloca i32" for v in range(VARIABLES)]
        todo = [("write", v) for v in range(VARIABLES)] if b == 0 else []
        for what, v in todo + statements:
            temporary += 1
            if what != "write":
                out_lines += [f"  %t{temporary} = load i32, ptr %v{v}", f"  call void @use(i32 %t{temporary})"]
            if what != "read":
                out_lines += [f"  %w{temporary} = call i32 @get()", f"  store i32 %w{temporary}, ptr %v{v}"]
        if not out:
            out_lines.append("  ret void")
        elif len(out) == 1:
            out_lines.append(f"  br label %B{out[0]}")
        else:
            cases = " ".join(f"i32 {k}, label %B{s}" for k, s in enumerate(out[1:]))
            out_lines.append(f"  switch i32 %i, label %B{out[0]} [ {cases} ]")
    return "\n".join(out_lines + ["}", ""])


def reachable_blocks(successors):
    seen, work = {0}, [0]
    while work:
        new = set(successors[work.pop()]) - seen
        seen |= new
        work += new
    return sorted(seen)


def to_mir(name, successors, code):
    """Without unreachable blocks, which llc would refuse to look at."""
    lines = ["---", f"name: {name}", "tracksRegLiveness: true", "registers:"]
    lines += [f"  - {{ id: {v}, class: gr32 }}" for v in range(VARIABLES)] + ["body: |"]
    for b in reachable_blocks(successors):
        out = successors[b]
        lines.append(f"  bb.{b}:")
        lines += [f"    successors: {', '.join(f'%bb.{s}' for s in out)}"] if out else []
        lines.append("    NOOP")  # as bar.sync
        statements = ([("write", v) for v in range(VARIABLES)] if b == 0 else []) + code[b]
        lines += ["    " + MIR[what].format(v) for what, v in statements]
        lines += [f"    JCC_1 %bb.{s}, 4, implicit undef $eflags" for s in out[:-1]]
        lines.append(f"    JMP_1 %bb.{out[-1]}" if out else "    RET64")
    return "\n".join(lines + ["...", ""])


class Answer:
    def __init__(self):
        self.live = set()
        self.dom, self.pdom, self.phis = {}, {}, collections.Counter()
        self.loops, self.irreducible = set(), False


def ours(text):
    answers = {}
    for line in text.splitlines():
        kind, *rest = line.split()
        if kind == "function":
            answer = answers[rest[0]] = Answer()
        elif kind in ("dom", "pdom"):
            getattr(answer, kind)[rest[0]] = rest[1]
        elif kind == "loop":
            answer.irreducible = answer.irreducible or rest[1] == "irreducible"
            answer.loops.add((int(rest[0]), rest[2], frozenset(rest[2:])))
        elif kind == "phi":
            answer.phis[(rest[0].lstrip("%"), rest[1])] += 1
        elif kind == "live" and rest[0].startswith("%v"):
            answer.live.add((rest[0].lstrip("%"), *rest[1:]))
    return answers


def tree(lines):
    """Parents by block, of a tree that opt printed."""
    parents, path = {}, []
    for line in lines:
        found = re.match(r"\s*\[(\d+)\] (?:%(\w+)| <<exit node>>)", line)
        if not found:
            continue
        level, block = int(found[1]), found[2]
        path[level - 1:] = [block]
        if block:
            parents[block] = next((x for x in (path[level - 2:level - 1] if level > 1 else []) if x), "-")
    return parents


def llvms(opt, path, names):
    def run(passes, *more):
        result = subprocess.run([opt, f"-passes={passes}", path, *more], capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{opt} failed:\n{result.stderr}")
        return result
    answers = {name: Answer() for name in names}
    for passes, key in (("print<domtree>", "dom"), ("print<postdomtree>", "pdom")):
        lines, name = collections.defaultdict(list), None
        for line in run(passes, "-disable-output").stderr.splitlines():
            if found := re.search(r"for function: (\w+)", line):
                name = found[1]
            elif name:
                lines[name].append(line)
        for name in names:
            setattr(answers[name], key, tree(lines[name]))
    for line in run("print<loops>", "-disable-output").stderr.splitlines():
        if found := re.search(r"[Ff]or function '(\w+)'", line):
            answer = answers[found[1]]
        elif found := re.match(r"\s*Loop at depth (\d+) containing: (.*)", line):
            blocks = re.findall(r"%(\w+)", found[2])
            header = re.search(r"%(\w+)<header>", found[2])[1]
            answer.loops.add((int(found[1]), header, frozenset(blocks)))
    for line in run("mem2reg", "-S", "-o", "-").stdout.splitlines():
        if found := re.match(r"define void @(\w+)", line):
            answer = answers[found[1]]
        elif found := re.match(r"(B\d+):", line):
            block = found[1]
        elif found := re.match(r"\s+%(v\d+)\.\d+ = phi ", line):
            answer.phis[(found[1], block)] += 1
    return answers


def find_llc():
    """An llc that can print live intervals."""
    for name in filter(shutil.which, LLCS):
        command = [name, "-mtriple=x86_64", *INTERVALS, "-x=mir", "-o", os.devnull, "-"]
        result = subprocess.run(command, input=to_mir("f", [[]], [[]]), capture_output=True, text=True)
        if result.returncode == 0 and "INTERVALS" in result.stderr:
            return name
    return None


class Numbering:
    """The numbers that llc gave to the blocks and instructions of a function, as places in them."""

    def __init__(self, successors, code):
        self.blocks, self.starts, self.instructions = iter(reachable_blocks(successors)), [], {}
        self.written = {f"B{b}.{n}.r": v for b, block in enumerate(code)
                        for n, (_, v) in enumerate(([("write", v) for v in range(VARIABLES)] if b == 0 else []) + block, 1)}

    def line(self, line):
        if found := re.match(r"(\d+)B\tbb\.\d+", line):
            self.starts.append((int(found[1]), f"B{next(self.blocks)}"))
            self.count = 0
        elif found := re.match(r"(\d+)B\t  \S", line):
            self.instructions[int(found[1])] = f"{self.count}"
            self.count += 1

    def place(self, slot):
        return f"{self.instructions[int(slot[:-1])]}.{slot[-1]}"

    def block(self, slot):
        return [name for start, name in self.starts if start <= int(slot[:-1])][-1]

    def pieces(self, text):
        """(register, block, from, to, value), as ptxopt_dump_analyses has them. LLVM gave each web of values a register of
        its own; which variable it was is seen from where it is written."""
        values = {}
        for number, slot, phi in re.findall(r"(\d+)@(\d+[Berd])(-phi)?", text):
            values[number] = f"{self.block(slot)}.{'phi' if phi else self.place(slot)}"
        register = f"v{next(self.written[place] for place in values.values() if not place.endswith('phi'))}"
        for begin, end, number in re.findall(r"\[(\d+[Berd]),(\d+[Berd]):(\d+)\)", text):
            for k, (start, name) in enumerate(self.starts):
                stop = self.starts[k + 1][0] if k + 1 < len(self.starts) else 1 << 60
                if int(begin[:-1]) < stop and int(end[:-1]) > start:
                    from_ = "in" if int(begin[:-1]) <= start else self.place(begin)
                    to = "out" if int(end[:-1]) >= stop or end[-1] == "B" else self.place(end)
                    yield register, name, from_, to, values[number]


def add_intervals(llc, path, functions, answers):
    command = [llc, "-mtriple=x86_64", *INTERVALS, "-o", os.devnull, path]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{llc} failed:\n{result.stderr[-2000:]}")
    for part in result.stderr.split("Live intervals for machine function: ")[1:]:
        name, text = part.split(":", 1)
        numbering, intervals = Numbering(*functions[name]), []
        for line in text.splitlines():
            numbering.line(line)
            if found := re.match(r"%\d+ (.*)  weight:", line):
                intervals.append(found[1])
        for segments in intervals:
            answers[name].live.update(numbering.pieces(segments))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", required=True)
    parser.add_argument("--functions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="a folder for the three files")
    options = parser.parse_args()
    opt = next((o for o in OPTS if shutil.which(o)), None)
    if opt is None:
        print("no opt of LLVM here: nothing compared")
        sys.exit(77)
    llc = find_llc()
    if llc is None:
        print("no llc of LLVM 19 or later here: live intervals are not compared")

    rng = random.Random(options.seed)
    functions = {f"f{n}": make(rng) for n in range(options.functions)}
    with tempfile.TemporaryDirectory(prefix="ptxopt-llvm-") as folder:
        folder = options.keep or folder
        ptx, ir = os.path.join(folder, "functions.ptx"), os.path.join(folder, "functions.ll")
        with open(ptx, "w") as file:
            file.write(".version 9.0\n.target sm_90a\n.address_size 64\n")
            file.write("".join(to_ptx(name, *f) for name, f in functions.items()))
        with open(ir, "w") as file:
            file.write("declare i32 @get()\ndeclare void @use(i32)\n")
            file.write("".join(to_ir(name, *f) for name, f in functions.items()))
        dumped = subprocess.run([options.dump, ptx], capture_output=True, text=True)
        if dumped.returncode != 0:
            sys.exit(dumped.stderr)
        mine, theirs = ours(dumped.stdout), llvms(opt, ir, functions)
        if llc is not None:
            mir = os.path.join(folder, "functions.mir")
            with open(mir, "w") as file:
                file.write("".join(to_mir(name, *f) for name, f in functions.items()))
            add_intervals(llc, mir, functions, theirs)

    count, wrong = collections.Counter(), []
    for name, (successors, _) in functions.items():
        a, b = mine[name], theirs[name]
        count["blocks"] += len(b.dom)
        if a.dom != b.dom:
            wrong.append((name, "dominators", a.dom, b.dom))
        reachable = set(b.dom)
        leaving = {f"B{x}" for x in range(len(successors)) if not successors[x]}
        for _ in successors:
            leaving |= {f"B{x}" for x, out in enumerate(successors) if any(f"B{s}" in leaving for s in out)}
        if reachable <= leaving:
            count["post-dominator trees"] += 1
            theirs_reachable = {x: p for x, p in b.pdom.items() if x in reachable}
            # An unreachable block may stand between; LLVM keeps those that lead to an exit in this tree.
            if a.pdom != theirs_reachable:
                wrong.append((name, "post-dominators", a.pdom, theirs_reachable))
        else:
            count["post-dominator trees left out"] += 1
        if a.irreducible:
            count["functions with irreducible regions"] += 1
        else:
            count["loops"] += len(b.loops)
            if a.loops != b.loops:
                wrong.append((name, "loops", a.loops, b.loops))
        count["phis"] += sum(b.phis.values())
        phis = {p: n for p, n in a.phis.items() if p[1] in reachable}
        missing, more = set(b.phis) - set(phis), set(phis) - set(b.phis)
        count["phis that LLVM removed again"] += len(more)
        if missing or (more and not a.irreducible) or any(n != 1 for n in phis.values()):
            wrong.append((name, "phis", sorted(phis), sorted(b.phis)))
        if llc is not None:
            count["pieces of live intervals"] += len(b.live)
            if a.live != b.live:
                wrong.append((name, "live intervals", sorted(a.live - b.live), sorted(b.live - a.live)))
    for name, what, a, b in wrong[:5]:
        print(f"{what} of {name} differ\n  ours   {a}\n  LLVM's {b}\n{to_ptx(name, *functions[name])}")
    print(f"{opt}, {llc}: {len(functions)} functions, " + ", ".join(f"{n} {what}" for what, n in count.items()) + f", {len(wrong)} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
