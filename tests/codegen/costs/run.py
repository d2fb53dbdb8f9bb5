#!/usr/bin/env python3
"""Measures src/core/target/costs.def: what 64-bit integer arithmetic costs in machine instructions, by architecture.

  tests/codegen/costs/run.py --tool PTXOPT [--ptxas PTXAS] [--archs sm_80,sm_120] [--list] [--markdown] [--update]

forms.py writes a loop for each form. ptxas assembles them for each architecture, `ptxopt baseline` counts the instructions of
each loop, and what is beyond the rest of the loop is the cost of the form. A cost of the table is the mean of several forms,
rounded: ptxas makes more of one pointer than of another.

Without an option the script compares with the table, for the architectures that the ptxas takes, and fails (exit 1) where a
cost differs. --list shows every form, --markdown the same for a page, --update rewrites the rows of the table. The table is
that of the newest ptxas. Without ptxas the script says so and ends with status 77.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parents[1] / "lib"))
from forms import families  # noqa: E402
from tables import table  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

TABLE = ROOT / "src/core/target/costs.def"
HEAD = ".version 8.5\n.target sm_75\n.address_size 64\n"
LIMIT = 300  # seconds


def both(form, arrays=(1, 2)):
    """Of a pointer of the thread's own and of one that all threads share."""
    return [f"{own}pointer + {form} x{n}" for own in ("own ", "") for n in arrays]


# name -> the forms that it is the mean of
COSTS = {
    "step64": both("constant"),
    "carryStep64": both("constant in 32-bit halves"),
    "registerStep64": both("parameter") + both("register"),
    "productStep64": both("unit product") + both("product"),
    "add64": ["add.s64", "add.s64 constant", "add.s64 parameter", "sub.s64", "neg.s64"],
    "multiply64": ["mul.lo.s64"],
    "compare64": ["setp.s64"],
    "minimum64": ["min.s64"],
    "logic64": ["and.b64", "shr.u64"],
    "wideProduct": ["mul.wide", "mul.wide, add", "mul.wide by 1, add"],
    "multiplyAddWide": ["mad.wide"],
    "carryTest32": ["carry of 32 bits"],
    "carryTest64": ["carry of 64 bits"],
    "emptyEntry": ["entered by a branch x1", "entered by a branch x2"],
}


def rows_of_table():
    """(names, {architecture: costs}) of costs.def."""
    text = TABLE.read_text()
    names = re.findall(r"^TARGET_COST\((\w+),", text, re.M)
    rows = {int(m[1]): [float(x) for x in m[2].split(",")] for m in re.finditer(r"^TARGET_COSTS\((\d+), ([\d., ]+)\)", text, re.M)}
    return names, rows


def takes(ptxas, arch):
    """Whether the ptxas makes code for it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.ptx")
        Path(path).write_text(HEAD)
        return subprocess.run([ptxas, f"-arch={arch}", path, "-o", os.path.join(folder, "a.cubin")], capture_output=True).returncode == 0


def measure(args, forms, arch):
    """name -> what the form costs in each iteration, for one array."""
    with tempfile.TemporaryDirectory() as folder:
        path, figures = os.path.join(folder, "forms.ptx"), os.path.join(folder, "forms.json")
        kernels = {f"k{n}": name for n, name in enumerate(forms)}
        Path(path).write_text(HEAD + "".join(f".visible .entry {kernel}{forms[name].text}" for kernel, name in kernels.items()))
        result = subprocess.run([args.tool, "baseline", path, "-o", figures, "--arch", arch, "--ptxas", args.ptxas],
                                capture_output=True, text=True, timeout=LIMIT)
        if result.returncode:
            sys.exit(f"costs: {arch}: {result.stderr.strip()}")
        rows = json.loads(Path(figures).read_text())["units"][0]["functions"]
    inner = {kernels[row["name"]]: row["inner"] for row in rows}
    return {name: (inner[name] - (inner[f.compared] if f.compared else 0) - f.rest) / f.arrays for name, f in forms.items()}


def costs_of(found):
    return [math.floor(sum(found[form] for form in forms) / len(forms) + 0.5) for forms in COSTS.values()]


def update(measured):
    text = TABLE.read_text()
    for arch, found in measured.items():
        number = arch.removeprefix("sm_")
        row = f"TARGET_COSTS({number}, {', '.join(str(p) for p in costs_of(found))})"
        text, known = re.subn(rf"^TARGET_COSTS\({number}, .*$", row, text, flags=re.M)
        if not known:
            sys.exit(f"costs: {TABLE.name} has no row of {arch}")
    TABLE.write_text(text)


def compare(measured):
    """The number of costs that the table has otherwise."""
    names, rows = rows_of_table()
    bad = 0
    for arch, found in measured.items():
        for name, there, cost in zip(names, rows[int(arch.removeprefix("sm_"))], costs_of(found)):
            if there != cost:
                bad += 1
                print(f"FAILED {arch}: {name} is {cost}, the table has {there:g}")
    return bad


def show(measured, as_markdown):
    shown = [[name, *(f"{found[name]:.3g}" for found in measured.values())] for name in families()]
    if not as_markdown:
        return table(["form", *measured], shown)
    print("| form | " + " | ".join(a.removeprefix("sm_") for a in measured) + " |\n|" + "---|" * (len(measured) + 1))
    for row in shown:
        print("| " + " | ".join(row) + " |")


def main():
    names, rows = rows_of_table()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "build/release/ptxopt"), help="default: build/release/ptxopt")
    parser.add_argument("--ptxas", default=find_ptxas(), help="default: $PTXAS, or that of the PATH")
    parser.add_argument("--archs", default=",".join(f"sm_{n}" for n in rows))
    parser.add_argument("--list", action="store_true", help="show every form")
    parser.add_argument("--markdown", action="store_true", help="show every form, for a page")
    parser.add_argument("--update", action="store_true", help="rewrite the table")
    args = parser.parse_args()
    if not args.ptxas:
        print("skipped: costs need ptxas")
        return 77
    if names != list(COSTS):
        sys.exit("costs: the names of costs.def and of this script differ")
    forms = families()
    measured = {arch: measure(args, forms, arch) for arch in args.archs.split(",") if takes(args.ptxas, arch)}
    if args.list or args.markdown:
        show(measured, args.markdown)
    if args.update:
        update(measured)
    bad = compare(measured)
    print(f"costs: {len(measured)} architectures of {len(rows)}, {len(forms)} forms, {bad} costs differ")
    return 1 if bad or not measured else 0


if __name__ == "__main__":
    sys.exit(main())
