#!/usr/bin/env python3
"""Do the rows of src/core/ir/signatures.def say what ptxas takes?

  types.py --tool PTXOPT [--ptxas P] [-v] [OPCODE ...]

Each row is tried with each type, in each operand with a register of each type, and with an operand too many and too few. ptxopt
check and ptxas say of each line whether it is right. Exit 1 where ptxopt says that a line is wrong which ptxas takes; the last line
says how many ptxas refuses and ptxopt finds. Exit 77 without ptxas.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "lib"))
from toolkit import find_ptxas, newest_ptx  # noqa: E402

DEF = ROOT / "src/core/ir/signatures.def"
REGISTERS = "pred b8 u8 s8 b16 u16 s16 f16 b32 u32 s32 f16x2 f32 b64 u64 s64 f64".split()
TYPES = "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64 pred u16x2 f32x2".split()
BITS = {"pred": "pred", "8": "b16", "16": "b16", "32": "b32", "64": "b64"}
# Words that a form needs besides its types, by operation: before the types.
WORDS = {"Setp": ["lt"], "Fma": ["rn"], "Cvta": ["global"], "Shfl": ["sync.bfly"], "Ld": ["global", "shared", ""],
         "St": ["global", "local"], "Cvt": ["", "rn", "rni"], "Div": ["", "rn"], "Rcp": ["rn", "approx"],
         "Sqrt": ["rn", "approx"], "Rsqrt": ["approx"], "Sin": ["approx"], "Cos": ["approx"], "Lg2": ["approx"],
         "Ex2": ["approx"], "Tanh": ["approx"], "Mad": ["rn"], "Testp": ["finite"]}


def bits(type_):
    if type_ == "pred":
        return "pred"
    scale = int(type_[-1]) if re.search(r"x\d$", type_) else 1
    return str(int(re.search(r"\d+", type_)[0]) * scale)


def fitting(letter, first, last):
    """a register that should do, by letter"""
    if letter in "tT":
        return "%" + BITS.get(bits(first), "b64") + "_1"
    if letter in "sS":
        return "%" + BITS.get(bits(last), "b64") + "_2"
    return {"w": "%b32_3" if bits(first) == "16" else "%b64_3", "u": "%b32_3", "p": "%pred_1", "a": "[%b64_2]", "x": "%b32_2"}[letter]


def lines_of(op, half, words, operands):
    letters = re.sub(r"[\[\]]", "", operands)
    least = len(letters) if "[" not in operands else operands.index("[")
    base = op.lower()
    seconds = [None] if words == 1 else TYPES
    for word in WORDS.get(op, [""]):
        for first in TYPES:
            for second in seconds:
                name = ".".join(p for p in [base, half.lower(), word, first, second] if p)
                last = second or first
                good = [fitting(c, first, last) for c in letters]
                yield name, good[:least]
                if words == 2 and first not in ("u32", "f16", "s8", "f64", "u64", "f32", "s16"):
                    continue
                for at in range(least):
                    for register in REGISTERS:
                        other = f"%{register}_0"
                        changed = list(good[:least])
                        changed[at] = f"[{other}]" if letters[at] == "a" else other
                        yield name, changed
                yield name, good[:least - 1]
                yield name, good + [good[-1]]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("opcodes", nargs="*")
    ap.add_argument("--tool", required=True)
    ap.add_argument("--ptxas")
    ap.add_argument("-v", action="store_true")
    a = ap.parse_args()
    ptxas = a.ptxas or find_ptxas()
    if not ptxas:
        print("types: no ptxas found, nothing was compared (set PTXAS)")
        return 77
    listed = subprocess.run([ptxas, "--help"], capture_output=True, text=True).stdout
    target = "100" if "'compute_100'" in listed else "90"
    text = DEF.read_text()
    rows = re.findall(r'^PTX_SIGNATURE(_OF_HALF)?\((\w+), (?:(\w+), )?(\d), "([^"]*)", "([^"]*)"\)', text, re.M)
    declared = [f".reg .{t} %{t}_<4>;" for t in REGISTERS]
    wrong, refused, found, tried = [], 0, 0, 0
    for _, op, half, words, _, operands in rows:
        if a.opcodes and op.lower() not in a.opcodes:
            continue
        body = [f"{name} {', '.join(args)};" for name, args in lines_of(op, half, int(words), operands)]
        source = [".version {}.{}".format(*newest_ptx(ptxas)), f".target sm_{target}", ".address_size 64", ".entry k() {", *declared, *body, "ret; }"]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "k.ptx"
            file.write_text("\n".join(source) + "\n")
            r = subprocess.run([ptxas, f"-arch=compute_{target}", str(file), "-o", "/dev/null"], capture_output=True, text=True)
            theirs = {int(n) for n in re.findall(r", line (\d+); (?:error|fatal)", r.stderr + r.stdout)}
            r = subprocess.run([a.tool, "check", "--format", "json", str(file)], capture_output=True, text=True)
            mine = {f["line"]: f for f in json.loads(r.stdout)["files"][0]["findings"] if f["severity"] == "error"}
        tried += len(body)
        refused += len(theirs)
        found += len(theirs & mine.keys())
        wrong += [f"ptxas takes {source[n - 1]} {mine[n]['message']}" for n in sorted(mine.keys() - theirs)]
        if a.v:
            for n in sorted(theirs - mine.keys()):
                print(f"not found: {source[n - 1]}")
    print(*wrong[:60], sep="\n", end="\n" if wrong else "")
    print(f"types: {tried} lines, ptxas refuses {refused}, of which ptxopt check finds {found} "
          f"({100 * found / max(refused, 1):.1f} %); {len(wrong)} wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
