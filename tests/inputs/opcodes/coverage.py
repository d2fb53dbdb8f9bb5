#!/usr/bin/env python3
"""Does every row of opcodes.def have a line here, and does every line have a row?

  coverage.py [--def FILE] [FILE.ptx ...]       exit 1 when a row has no line, a line has no row or a match is a tie
  coverage.py --tool PTXOPT [-j N] [FILE.ptx]   ptxopt knows every opcode; what it makes of each file is taken by ptxas:
                                                --reprint as the same machine code, rename-webs, dce and -O2 at all
                                                (in code this dense ptxas orders and allocates by what registers and
                                                dead loads are there; tests/codegen/corpus compares code); ptxopt only without ptxas
  coverage.py --assemble [-j N] [FILE.ptx ...]  ptxas takes every file for its .target; skipped, with a message, without ptxas
  coverage.py --tool PTXOPT --newest [-j N]     the same with the newest ptxas of PyPI, which is downloaded; exit 77 without it
  coverage.py --opcodes LIST.tsv                which opcodes of a list (first column) no line spells; never fails

Rows whose summary begins with "fallback:" stand for sub-operations that have no row; they need no line, and a line that
ends in one counts as a line without a row, but for brx, whose every form is brx.idx.
tests/lib/toolkit.py finds ptxas. A file whose .version is newer than ptxas takes is not assembled, and counted.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "lib"))
import machine_code  # noqa: E402
from framework_packages import newest_ptxas  # noqa: E402
from toolkit import find_ptxas, needed_ptx, newest_ptx  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

DEF = HERE.parents[2] / "src" / "core" / "ir" / "opcodes.def"
FLAGS = set("Pure Read Write Side Convergent Async Volatile CarryIn Branch IndirectBranch Return Exit NoReturn Call Ordering".split())
ROW = re.compile(r'^PTX_OPCODE(?:_VARIANT)?\(\w+, "([^"]*)",\s*"([^"]*)",\s*([A-Za-z|]+),\s*"([^"]*)"\)', re.M)
LABEL = re.compile(r"^[A-Za-z_$%][\w$]*\s*:(?!:)\s*")
GUARD = re.compile(r"^@\s*!?\s*[\w$%.]+\s+")
OPCODE = re.compile(r"^[a-z][a-z0-9_]*(?:\.[A-Za-z0-9_]+|::[A-Za-z0-9_]+(?::\d+)?)*(?=[\s;]|$)")


class Row:
    def __init__(self, key, operands, effects, summary):
        self.key, self.operands, self.effects, self.summary = key, operands, effects, summary
        self.base, *self.mods = key.split(".")
        self.fallback = summary.startswith("fallback:")
        self.lines = 0


def read_rows(path):
    text = path.read_text()
    rows = [Row(*m.groups()) for m in ROW.finditer(text)]
    bad = []
    declared = len(re.findall(r"^PTX_OPCODE(?:_VARIANT)?\(", text, re.M))
    if declared != len(rows):
        bad.append(f"{declared - len(rows)} rows do not have the shape of a row")
    for key, n in Counter(r.base + "." + ".".join(sorted(r.mods)) for r in rows).items():
        if n > 1:
            bad.append(f"{key}: {n} rows")
    for r in rows:
        if r.operands != "*" and set(r.operands) - set("dmul"):
            bad.append(f"{r.key}: operands {r.operands!r}")
        unknown = set(r.effects.split("|")) - FLAGS
        if unknown:
            bad.append(f"{r.key}: unknown effects {', '.join(sorted(unknown))}")
    by_base = {}
    for r in rows:
        by_base.setdefault(r.base, []).append(r)
    for base, rs in by_base.items():
        if not any(not r.mods for r in rs):
            bad.append(f"{base}: no row for the bare base")
    return rows, by_base, bad


def match(by_base, opcode):
    """-> (the row or None, other rows that ask for as many modifiers)"""
    base, *mods = opcode.split(".")
    have = set(mods)
    fit = [r for r in by_base.get(base, []) if have.issuperset(r.mods)]
    if not fit:
        return None, []
    most = max(len(r.mods) for r in fit)
    fit = [r for r in fit if len(r.mods) == most]
    return fit[0], fit[1:]


def opcodes(path):
    """Yield (line number, opcode) of every instruction of a PTX file."""
    text = path.read_text()
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    depth = 0
    for number, line in enumerate(text.split("\n"), 1):
        line = re.sub(r'"[^"]*"', '""', line.split("//")[0])
        for piece in re.findall(r"[{}]|[^;{}]*(?:\{[^{};]*\}[^;{}]*)*;|[^;{}]+", line) if depth or "{" in line else []:
            s = piece.strip()
            if s == "{":
                depth += 1
            elif s == "}":
                depth -= 1
            elif depth:
                while m := LABEL.match(s):
                    s = s[m.end():]
                if g := GUARD.match(s):
                    s = s[g.end():]
                if m := OPCODE.match(s):
                    yield number, m.group()


def too_new(ptxas, path):
    return needed_ptx(path.read_text()) > newest_ptx(ptxas)


def assemble(ptxas, path):
    target = re.search(r"^\s*\.target\s+(sm_\w+)", path.read_text(), re.M)
    if not target:
        return path, "no .target"
    with tempfile.TemporaryDirectory() as d:
        r = subprocess.run([ptxas, f"-arch={target[1]}", "-c", str(path), "-o", os.path.join(d, "a.cubin")],
                           capture_output=True, text=True)
    return path, None if r.returncode == 0 else (r.stderr + r.stdout).strip()[:2000]


def check_tool(tool, path, has_ptxas):
    """-> what is wrong with what the tool makes of a file, in lines"""
    wrong = []
    with tempfile.TemporaryDirectory() as d:
        before = machine_code.fingerprint(machine_code.assemble(str(path))) if has_ptxas else None
        for flags, same in ((["-O0", "--reprint"], True), (["--passes=dce"], False), (["--passes=rename-webs"], False),
                            (["-O2"], False)):
            out = os.path.join(d, "out.ptx")
            r = subprocess.run([tool, str(path), "-o", out, "--warn-unknown", "--verify-each", *flags],
                               capture_output=True, text=True)
            if r.returncode or r.stderr:
                wrong.append(f"{path.name}: {' '.join(flags)}: status {r.returncode}\n{r.stderr[:2000]}")
                continue
            if not has_ptxas:
                continue
            try:
                after = machine_code.fingerprint(machine_code.assemble(out, machine_code.read_target(str(path))))
            except machine_code.AssemblyError as e:
                wrong.append(f"{path.name}: {' '.join(flags)}: ptxas refuses the output\n{str(e)[:2000]}")
                continue
            differing = machine_code.differing(before, after)
            if same and differing:
                wrong.append(f"{path.name}: {' '.join(flags)}: other machine code in {', '.join(differing[:4])}")
    return wrong


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("files", nargs="*", type=Path)
    ap.add_argument("--def", dest="table", type=Path, default=DEF)
    ap.add_argument("--assemble", action="store_true")
    ap.add_argument("--tool", metavar="PTXOPT")
    ap.add_argument("--opcodes", type=Path, metavar="LIST.tsv")
    ap.add_argument("-j", type=int, default=1)
    ap.add_argument("--newest", action="store_true")
    ap.add_argument("-v", action="store_true", help="lines per row")
    a = ap.parse_args()
    files = a.files or sorted(HERE.glob("*.ptx"))
    if a.newest:
        ptxas, reason = newest_ptxas()
        if not ptxas:
            print(f"coverage: no newest ptxas: {reason}")
            return 77
        os.environ["PTXAS"] = ptxas
    if a.assemble:
        ptxas = find_ptxas()
        if not ptxas:
            print("coverage: no ptxas found, assembling skipped (set PTXAS)")
            return 0
        failed = 0
        old = [f for f in files if not too_new(ptxas, f)]
        with concurrent.futures.ThreadPoolExecutor(max(a.j, 1)) as pool:
            for path, error in pool.map(lambda f: assemble(ptxas, f), old):
                if error:
                    failed += 1
                    print(f"{path.name}: ptxas refuses\n{error}")
        print(f"coverage: ptxas takes {len(old) - failed} of {len(old)} files, {len(files) - len(old)} are too new for it")
        return 1 if failed else 0

    if a.tool:
        ptxas = find_ptxas()
        if not ptxas:
            print("coverage: no ptxas found, machine code is not compared (set PTXAS)")
        compared = {f for f in files if ptxas and not too_new(ptxas, f)}
        with concurrent.futures.ThreadPoolExecutor(max(a.j, 1)) as pool:
            wrong = [w for ws in pool.map(lambda f: check_tool(a.tool, f, f in compared), files) for w in ws]
        print(*wrong, sep="\n", end="\n" if wrong else "")
        print(f"coverage: {len(files)} files through ptxopt, {len(wrong)} failures; "
              f"machine code of {len(compared)}, {len(files) - len(compared)} without a ptxas that takes them")
        return 1 if wrong else 0

    rows, by_base, bad = read_rows(a.table)
    lines, spelled = 0, set()
    for path in files:
        for number, opcode in opcodes(path):
            lines += 1
            spelled.add(opcode)
            row, ties = match(by_base, opcode)
            if row is None:
                bad.append(f"{path.name}:{number}: {opcode}: no row")
                continue
            row.lines += 1
            if row.fallback:
                bad.append(f"{path.name}:{number}: {opcode}: only the fallback row {row.key}")
            for t in ties:
                bad.append(f"{path.name}:{number}: {opcode}: both {row.key} and {t.key}")
    if a.opcodes:
        wanted = [l.split("\t")[0] for l in a.opcodes.read_text().splitlines()[1:] if l.strip()]
        missing = [o for o in wanted if o not in spelled]
        for o in missing:
            print(o)
        print(f"coverage: {len(wanted) - len(missing)} of {len(wanted)} opcodes are spelled")
        return 0
    bad += [f"{r.key}: no line" for r in rows if not r.lines and not r.fallback]
    if a.v:
        for r in sorted(rows, key=lambda r: r.lines):
            print(f"{r.lines:6} {r.key}{' (fallback)' if r.fallback else ''}")
    for b in bad:
        print(b)
    print(f"coverage: {len(rows)} rows ({sum(r.fallback for r in rows)} fallback), {len(files)} files, {lines} instructions, "
          f"{len(spelled)} different opcodes, {len(bad)} complaints")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
