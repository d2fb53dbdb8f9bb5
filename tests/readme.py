#!/usr/bin/env python3
"""The README says what the tool says.

  tests/readme.py --tool PATH [--update] [--readme FILE]

Its tables of passes and of knobs, between `<!-- passes -->` and `<!-- /passes -->`, and `knobs` likewise, are made of
`ptxopt --list-passes` and `--list-knobs`, that of opcodes which cannot be executed, `not-executable`, is what
`ptxopt run --list-opcodes --format markdown` prints. --update writes them; without it a difference is a failure. Its first
block of commands names samples/run.sh and tests/run.sh, and both are there.
"""
import argparse
import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = ("samples/run.sh", "tests/run.sh")


def listed(tool, option, pattern):
    """The rows that the tool lists, taken apart by `pattern`."""
    output = subprocess.run([tool, option], capture_output=True, text=True, check=True, timeout=60).stdout
    matches = [(line, re.fullmatch(pattern, line)) for line in output.splitlines()]
    bad = [line for line, match in matches if not match]
    if bad or not matches:
        raise SystemExit(f"readme.py: {option} prints what is no row of a table: {bad[:1]}")
    return [match.groups() for _, match in matches]


def table(head, rows):
    lines = ["| " + " | ".join(cells) + " |" for cells in rows]
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *lines])


def escape(text):
    return text.replace("|", r"\|")


def tables(tool):
    passes = listed(tool, "--list-passes", r"(\S+)\s+(-O\d|on request)\s+(\S.*)")
    knobs = listed(tool, "--list-knobs", r"(\S+)\s+(\S+) in (\S+)\s+(\S.*)")
    opcodes = subprocess.run([tool, "run", "--list-opcodes", "--format", "markdown"], capture_output=True, text=True,
                             check=True, timeout=60).stdout
    return {
        "not-executable": opcodes.rstrip("\n"),
        "passes": table(("pass", "from", "what it does"),
                        [(f"`{name}`", level, escape(what)) for name, level, what in passes]),
        "knobs": table(("knob", "default", "range", "what it sets"),
                       [(f"`--{name}`", default, escape(values.replace("..", " to ").replace("|", ", ")), escape(what))
                        for name, default, values, what in knobs]),
    }


def first_block(text):
    """The lines of the first code block, fenced or indented."""
    block = []
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            if fenced:
                break
            fenced = True
        elif fenced or line.startswith("    "):
            block.append(line)
        elif block:
            break
    return block


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the ptxopt to ask")
    parser.add_argument("--update", action="store_true", help="write the tables")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    args = parser.parse_args()
    old = args.readme.read_text(encoding="utf-8")
    text, failures = old, []
    for name, wanted in tables(os.path.abspath(args.tool)).items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
            failures.append(f"{args.readme.name} needs one `{begin}` and, behind it, one `{end}`")
            continue
        head, rest = text.split(begin)
        text = f"{head}{begin}\n{wanted}\n{end}{rest.split(end)[1]}"
    if text != old and args.update:
        args.readme.write_text(text, encoding="utf-8")
    elif text != old:
        diff = difflib.unified_diff(old.splitlines(), text.splitlines(), args.readme.name, "what the tool lists", lineterm="", n=1)
        failures.append("\n".join(diff) + "\nthe tables are not those of the tool: run tests/readme.py --update")
    block = first_block(text)
    for command in COMMANDS:
        if not any(command in line.split() for line in block):
            failures.append(f"the first block of commands in {args.readme.name} does not name {command}")
        if not (ROOT / command).exists():
            failures.append(f"{command} does not exist")
    for failure in failures:
        print(failure)
    print(f"readme: {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
