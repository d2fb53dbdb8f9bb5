#!/usr/bin/env python3
"""The text of --reprint depends on the program alone: not on blanks, line breaks or comments of the input.

  layout.py --tool PTXOPT [--sample N] [FILE.ptx ...]

Each file (by default those of inputs/opcodes/, inputs/hazards/ and inputs/syntax/accepted/) is written anew with other white space and
comments between the same tokens, in three ways with fixed seeds. All must print the same.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "lib"))
import sample  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

FOLDERS = ["inputs/opcodes", "inputs/hazards", "inputs/syntax/accepted"]
PIECE = re.compile(rb'"[^"]*"|//[^\n]*|/\*.*?\*/|\s+|[^\s"/]+|/', re.S)
TRIVIA = [b" ", b"\x1a", b"\n", b"\t", b"\r\n", b" /* { ; \" */ ", b" // } @p bra L;\n", b"\n\n  \f"]
LINE_MARK = re.compile(rb'#\s*(line\s*)?\d+[\s\x1a]')  # `# 12 "a.h"` ends with its line: such files are left out


def relaid(text, chance):
    pieces = PIECE.findall(text)
    return b"".join(chance.choice(TRIVIA) if p.isspace() or p[:2] in (b"//", b"/*") else p for p in pieces)


def reprint(tool, path):
    run = subprocess.run([tool, "-O0", "--reprint", str(path), "-o", "-"], capture_output=True)
    return run.stdout if run.returncode == 0 else b"status %d: " % run.returncode + run.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    sample.add_option(parser)
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    files = args.files or sorted(f for folder in FOLDERS for f in (HERE / folder).glob("*.ptx"))
    files = sample.sampled(files, args.sample, lambda f: f.stem)
    checked, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "relaid.ptx"
        for path in files:
            text = path.read_bytes()
            if LINE_MARK.search(text):
                continue
            wanted = reprint(args.tool, path)
            for seed in range(3):
                other.write_bytes(relaid(text, random.Random(seed)))
                checked += 1
                if reprint(args.tool, other) != wanted:
                    wrong += 1
                    print(f"{path.name}: another layout (seed {seed}) prints differently")
    print(f"layout: {checked - wrong} passed, {wrong} failed")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
