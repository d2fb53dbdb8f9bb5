#!/usr/bin/env python3
"""What mkdocs makes the site of: the pages, and the files that they link to, as they lie in the tree.

  cmake/site/stage.py FOLDER     # writes FOLDER/pages and FOLDER/mkdocs.yml

The menu has the four kinds of docs/README.md. The pages are written for CommonMark; Python-Markdown wants a blank line before a list,
and four blanks before what belongs to an item.
"""
import json
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("docs", "samples")
SINGLE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "tests/README.md", "tests/inputs/syntax/README.md")
ITEM = re.compile(r"( *)([-*]|\d+\.)( +)(?=\S)")
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
OUTSIDE = re.compile(r"[a-z]+:")


def code_lines(lines):
    """For each line whether it stands in a fenced block."""
    inside = False
    for line in lines:
        fence = line.lstrip().startswith("```")
        yield inside or fence
        inside ^= fence


def for_python_markdown(text):
    lines, result = text.splitlines(), []
    items = []  # the columns at which the text of each enclosing item begins
    previous = ""
    for line, in_code in zip(lines, code_lines(lines)):
        indent = len(line) - len(line.lstrip())
        if line.strip() and not (previous.strip() and not ITEM.match(line)):  # no continuation of a paragraph
            while items and indent < items[-1]:
                items.pop()
        item = None if in_code or (indent >= 4 and not items) else ITEM.match(line)
        if item:
            while items and indent < items[-1]:
                items.pop()
            if previous.strip() and not ITEM.match(previous) and not items and not previous.startswith(" "):
                result.append("")
        outer = items[-1] if items else 0
        result.append("    " * len(items) + line[min(outer, indent):] if line.strip() else "")
        if item:
            items.append(len(item[0]))
        previous = line
    return "\n".join(result) + "\n"


def linked(page, text):
    """The files that a page links to."""
    prose = "\n".join(line for line, in_code in zip(text.splitlines(), code_lines(text.splitlines())) if not in_code)
    for target, _ in LINK.findall(re.sub(r"`[^`]*`", "", prose)):
        if not OUTSIDE.match(target) and (file := (page.parent / target).resolve()).is_file():
            yield file


def menu():
    """The kinds of pages, as the index has them: [{kind: [page, ...]}, ...]"""
    kinds = []
    for heading, body in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", (ROOT / "docs/README.md").read_text(encoding="utf-8"), re.M | re.S):
        pages = [(ROOT / "docs" / target).resolve().relative_to(ROOT).as_posix() for target, _ in LINK.findall(body) if target.endswith(".md")]
        kinds.append({heading: list(dict.fromkeys(pages))})
    return [{"ptxopt": "README.md"}, {"All pages": "docs/README.md"}, *kinds]


def main():
    to = Path(sys.argv[1])
    pages = to / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    waiting = [ROOT / name for name in SINGLE] + [p for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*.md"))]
    seen = set()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        copy = pages / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix != ".md":
            shutil.copyfile(file, copy)
            continue
        text = file.read_text(encoding="utf-8")
        copy.write_text(for_python_markdown(text), encoding="utf-8")
        waiting += linked(file, text)
    shutil.copyfile(ROOT / "cmake/site/site.css", pages / "site.css")
    config = (ROOT / "cmake/site/mkdocs.yml").read_text(encoding="utf-8")
    (to / "mkdocs.yml").write_text(f"{config}\nnav:\n" + "".join(f"  - {json.dumps(kind)}: {json.dumps(pages)}\n" for entry in menu() for kind, pages in entry.items()), encoding="utf-8")


if __name__ == "__main__":
    main()
