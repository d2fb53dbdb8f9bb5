#!/usr/bin/env python3
"""Analyses and passes ask what an opcode is, not how it is spelled.

  tests/sources.py [--self-test]

No file of FOLDERS reads the spelling of an opcode (READS): its operation and its fields are decoded once
(src/ir/opcode_fields.h). ALLOWED has the files that may, how often, and what for.

--self-test plants each kind of reading, in memory, and fails if one is not found.
"""
import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["src/analysis", "src/passes", "src/api", "src/guard", "src/dump"]
ALLOWED = {
    "src/analysis/addresses/address_facts.cpp": (1, "the text of a declaration"),
    "src/api/remarks.cpp": (1, "a message"),
    "src/passes/coalescing/check.cpp": (1, "a message"),
}

COMMENT = re.compile(r"//[^\n]*")
ROWS = (ROOT / "src/ir/opcodes.def").read_text(encoding="utf-8")
BASES = "|".join(sorted(set(re.findall(r'^PTX_OPCODE\w*\(\w+, "(\w+)', ROWS, re.M))))
READS = [re.compile(pattern) for pattern in (
    r"\brow\s*->\s*(?:key|base)\b",  # the row's words
    r"\btext\((?![^;{}]*?[dD]eclaration)[^;{}]*?\.text\)",  # module.text(form.text); a declaration has a text, too
    r"\bnames\[[^;{}\]]*(?:\[[^\]]*\])?\.text\]",
    r"\bstring_view opcode\b",
    rf'(?<!\.space\) )[=!]= "(?:{BASES})(?:\.[^"]*)?"',
    rf'\bstarts_with\("(?:{BASES})[."]',
)]
PLANTED = ['form.row->key == wanted', 'form.row->base()', 'm.text(m.form(f[id]).text)', 'module_.text(form.text)',
           'names[opcodes[o].text]', 'bool isSum(std::string_view opcode)', 'text(id) == "add.s64"', 'x != "mov"',
           'text(id).starts_with("mul.wide.")']
INNOCENT = ['// row->key', 'module.text(form.space) == "tex"', 'module.text(declaration.text)',
            'text.starts_with(".file")', 'name == "%tid.x"', 'form.op == Op::Mov']


def readings(text):
    """The numbers of the lines that read a spelling."""
    text = COMMENT.sub("", text)
    return sorted({text.count("\n", 0, m.start()) + 1 for pattern in READS for m in pattern.finditer(text)})


def check():
    wrong, files = [], 0
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h", ".def"):
                continue
            files += 1
            name = path.relative_to(ROOT).as_posix()
            lines = readings(path.read_text(encoding="utf-8"))
            allowed = ALLOWED.get(name, (0, ""))[0]
            if len(lines) != allowed:
                where = f"in lines {', '.join(map(str, lines))}" if lines else "nowhere"
                wrong.append(f"{name}: reads the spelling of opcodes {where}; allowed: {allowed}")
    return files, wrong


def self_test():
    missed = [f"not found: {text}" for text in PLANTED if not readings(text)]
    return len(PLANTED) + len(INNOCENT), missed + [f"found wrongly: {text}" for text in INNOCENT if readings(text)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", help="not needed; every test takes it")
    parser.add_argument("--self-test", action="store_true")
    checked, wrong = self_test() if parser.parse_args().self_test else check()
    for line in wrong:
        print(line)
    print(f"sources: {checked} checked, {len(wrong)} wrong")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
