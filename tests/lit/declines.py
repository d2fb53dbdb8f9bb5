#!/usr/bin/env python3
"""A loop that a pass is kept from by --decline keeps its text.

  tests/lit/declines.py --tool PATH

For each pass that --decline takes: the inputs of the text tests of it and of lsr that it changes, with the first command's knobs. Each label of a
loop is declined by itself; for passes that only take loops also all labels, which must leave the whole text as it is. A pass that changes
none of its inputs, or leaves no loop alone, fails.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from run import HERE, SECONDS, BadTest, split

os.environ["PTXOPT_GUARD"] = "off"

LABEL = re.compile(r"^([\w$%]+):", re.MULTILINE)
CHOSEN = ("--passes", "--skip-pass", "-O", "--decline")  # a command's own choice of passes


def passes():
    """(name, what a label names for it)"""
    table = (HERE.parents[1] / "src/optimize/passes/manager/passes.def").read_text(encoding="utf-8")
    return re.findall(r'^PTXOPT_PASS\(\w+, "([\w-]+)", .*, (Loops|Blocks), needs', table, re.M)


class Input:
    def __init__(self, tool, path, folder):
        self.tool, self.source, self.facts = tool, folder / "input.ptx", []
        commands, text, _, _ = split(path.read_bytes())
        self.source.write_bytes(text)
        self.text = text.decode("latin-1")
        self.options = [w for w in commands[0].split() if w.startswith("--") and "=" in w and "%" not in w and not w.startswith(CHOSEN)
                        and not w.startswith(("--print", "--dump", "--report", "--log", "--stats"))]

    def run(self, *words):
        """Exit code and output."""
        ran = subprocess.run([self.tool, self.source, "-o", "-", *words], capture_output=True, timeout=SECONDS)
        return ran.returncode, ran.stdout

    def with_pass(self, name, *words):
        return self.run(f"--passes={name}", *self.options, *words)

    def loops(self):
        """The labels with which loops begin."""
        return [label for label in dict.fromkeys(LABEL.findall(self.text)) if self.run("--passes=lsr", f"--decline=lsr@{label}")[0] == 0]


def body(text, label):
    """The lines of a loop, from its label to the last branch back."""
    lines = text.splitlines()
    first = lines.index(f"{label}:")
    last = max((n for n, line in enumerate(lines) if n > first and re.search(rf"\bbra\S*\s+{re.escape(label)};", line)), default=first)
    return lines[first:last + 1]


def is_alone(lines, labels):
    return sum(line.rstrip(":") in labels for line in lines) == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool = parser.parse_args().tool
    wrong, lines = 0, []
    for name, unit in passes():
        tried = changed = single = 0
        for path in sorted(p for folder in {name, "lsr"} for p in (HERE / folder).glob("*.ptx")):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    text = Input(tool, path, Path(folder))
                except BadTest:
                    continue
                code, plain = text.with_pass(name)
                same = text.run("-O0")[1]
                if code != 0 or plain == same:
                    continue
                changed += 1
                labels = text.loops()
                tried += len(labels)
                code, declined = text.with_pass(name, *(f"--decline={name}@{label}" for label in labels))
                if code != 0 or (unit == "Loops" and declined != same):
                    wrong += 1
                    print(f"{name}: {path.name}: changed although {', '.join(labels) or 'no label'} is declined")
                for label in labels:
                    before = body(same.decode("latin-1"), label) if text.text.count(f"\n{label}:") == 1 else []
                    if not is_alone(before, labels):
                        continue
                    after = text.with_pass(name, f"--decline={name}@{label}")[1].decode("latin-1")
                    single += 1
                    if body(after, label) != before:
                        wrong += 1
                        print(f"{name}: {path.name}: the loop {label} changed although it is declined")
        lines.append(f"{name} {tried} loops of {changed} inputs, {single} by themselves")
        wrong += changed == 0 or tried == 0
    print(f"declines: {', '.join(lines)}, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
