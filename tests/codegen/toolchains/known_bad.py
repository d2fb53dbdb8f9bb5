#!/usr/bin/env python3
"""What src/measure/ptxas/known_bad.def says of a ptxas, tried on that ptxas.

  tests/codegen/toolchains/known_bad.py [--toolchains FOLDER] [--list]

Each row that is `Tried` has an input, tests/inputs/known_bad/NAME.ptx. Its first lines name a text that stands in it, and another
(`// instead: OLD => NEW`): of the fault the machine code of both is the same, or differs (`// fault: same`), otherwise the opposite. For
each ptxas the fault has to be there where the row's releases say so, and nowhere else. Where a row has another form that ptxopt writes
(`// other form: OLD => NEW`, src/measure/ptxas/avoid_bad.h), it is nowhere in that. Without --toolchains the ptxas is the
installed one. Exit 1, with names, where a row is wrong; 77 without a ptxas.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/lib"))
from machine_code import read_sections  # noqa: E402
from toolchains import below, toolchain  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

ROW = re.compile(r'^PTXOPT_KNOWN_BAD\("([^"]+)", "([^"]*)", "([^"]*)", "[^"]*", \w+, \w+, (\w+),', re.M)
INPUTS = ROOT / "tests/inputs/known_bad"


def release(text):
    numbers = [int(n) for n in text.split(".")] if text else []
    return tuple(numbers + [0] * (3 - len(numbers)))


def tried():
    rows = ROW.findall((ROOT / "src/measure/ptxas/known_bad.def").read_text(encoding="utf-8"))
    return {name: (release(bad), release(good) if good else (999,)) for name, bad, good, evidence in rows if evidence == "Tried"}


def said(text, word):
    return re.search(rf"^// {word}: (.*)$", text, re.M)[1]


def code(ptxas, text, folder):
    """The machine code of the kernel; None where this ptxas does not take the text."""
    (folder / "k.ptx").write_text(text, encoding="utf-8")
    arch = re.search(r"^\.target (\w+)", text, re.M)[1]
    done = subprocess.run([ptxas, f"-arch={arch}", "k.ptx", "-o", "k.cubin"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        said_no = re.search(r"Unsupported \.version|is not defined for option|cannot be compiled to", done.stdout + done.stderr)
        return None if said_no else sys.exit(f"{ptxas} refuses {arch}: {done.stderr.strip()}")
    return read_sections((folder / "k.cubin").read_bytes())[".text.k"]


def is_faulty(ptxas, text, folder, in_other_form=False):
    """None where this ptxas does not take the text."""
    head, body = text[:text.index(".version")], text[text.index(".version"):]
    old, new = said(head, "instead").split(" => ")
    if in_other_form:
        this, that = said(head, "other form").split(" => ")
        assert body.count(this) == 1, this
        body = body.replace(this, that)
    assert body.count(old) == 1, old
    codes = [code(ptxas, body, folder), code(ptxas, body.replace(old, new), folder)]
    return None if None in codes else (codes[0] == codes[1]) == (said(head, "fault") == "same")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--toolchains", metavar="FOLDER", help="take every ptxas below it")
    parser.add_argument("--list", action="store_true", help="say what each ptxas does")
    args = parser.parse_args()
    rows, inputs = tried(), {path.stem: path.read_text(encoding="utf-8") for path in sorted(INPUTS.glob("*.ptx"))}
    wrong = [f"{name}: a row that was tried has no input, or an input no such row" for name in sorted(rows.keys() ^ inputs.keys())]
    chosen = below(args.toolchains) if args.toolchains else [toolchain(p) for p in [find_ptxas()] if p]
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for ptxas in filter(None, chosen):
            for name in sorted(rows.keys() & inputs.keys()):
                faulty = is_faulty(ptxas.path, inputs[name], Path(folder))
                if "// other form: " in inputs[name] and is_faulty(ptxas.path, inputs[name], Path(folder), True):
                    wrong.append(f"{name}: ptxas {ptxas.build} is bad in the other form too")
                bad, good = rows[name]
                if args.list:
                    print(f"{ptxas.build} {name}: {'not taken' if faulty is None else 'bad' if faulty else 'good'}")
                compared += faulty is not None
                if faulty is not None and faulty != (bad <= release(ptxas.build) < good):
                    wrong.append(f"{name}: ptxas {ptxas.build} is {'bad' if faulty else 'good'}, but the row says otherwise")
    print("\n".join(wrong) if wrong else f"{compared} rows of {len(chosen)} ptxas are as known_bad.def says")
    if wrong:
        return 1
    return 0 if compared else 77


if __name__ == "__main__":
    sys.exit(main())
