#!/usr/bin/env python3
"""The files that the report's page is made of (src/commands/report/page/) are well-formed.

  tests/cli/report/lint.py [--tool PATH]

- Each file but page.html stands in page.html, once, and none has `</`, which would end the element that it is in.
- Scripts: Node.js parses each, in strict mode. Where it is not installed, that is skipped.
- Style: braces and comments close, a block has declarations only, and each custom property that is used is set.

--tool is not used.
"""
import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "src/commands/report/page"
FRAME = "page.html"


def check_frame():
    named = re.findall(r"^@([a-z_]+\.[a-z]+)@$", (PAGE / FRAME).read_text(encoding="utf-8"), re.M)
    there = sorted(path.name for path in PAGE.iterdir() if path.name != FRAME)
    if sorted(named) != there:
        yield f"{FRAME} names {sorted(named)}, the folder has {there}"
    for name in there:
        if "</" in (PAGE / name).read_text(encoding="utf-8"):
            yield f"{name} has `</`"


def check_by_node(node, path):
    text = "'use strict'; " + path.read_text(encoding="utf-8")  # no line of its own: messages name the file's lines
    result = subprocess.run([node, "--check", "-"], input=text, capture_output=True, text=True, check=False)
    return result.stderr.strip()


def check_scripts():
    node = shutil.which("node")
    if not node:
        print("report.lint: skipped: no Node.js: the scripts are not parsed here (run.py runs them in Chromium)")
        return
    for path in sorted(PAGE.glob("*.js")):
        if wrong := check_by_node(node, path):
            yield f"{path.name}: {wrong}"


def check_declarations(block):
    for declaration in filter(None, map(str.strip, block.split(";"))):
        if not re.fullmatch(r"-{0,2}[a-z][-a-z]*\s*:\s*[^:{}]+", declaration):
            yield f"`{declaration}` is no declaration"


def check_style(text):
    """Blocks are taken from the inside out, so that those of @media are empty when their turn comes."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    used, given = (set(re.findall(pattern, text)) for pattern in (r"var\((--[-a-z]+)", r"(--[-a-z]+)\s*:"))
    text = re.sub(r'"[^"\n]*"', "s", text)
    while innermost := re.search(r"([^{};]*)\{([^{}]*)\}", text):
        if not innermost[1].strip():
            yield f"a block without a selector: {innermost[2].strip()[:60]}"
        yield from check_declarations(innermost[2])
        text = text[:innermost.start()] + text[innermost.end():]
    if text.strip():
        yield f"stands in no block: {text.strip()[:60]}"
    by_script = set(re.findall(r"setProperty\('(--[-a-z]+)'", "".join(p.read_text(encoding="utf-8") for p in PAGE.glob("*.js"))))
    for name in sorted(used - given - by_script):
        yield f"{name} is used, and never set"


def check_styles():
    for path in sorted(PAGE.glob("*.css")):
        for wrong in check_style(path.read_text(encoding="utf-8")):
            yield f"{path.name}: {wrong}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool")
    parser.parse_args()
    wrong = [*check_frame(), *check_scripts(), *check_styles()]
    for line in wrong:
        print(line)
    print(f"report.lint: {len(list(PAGE.iterdir()))} files, {len(wrong)} errors")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
