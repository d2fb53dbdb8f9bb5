#!/usr/bin/env python3
"""Shows that ptxas makes the same of a kernel when others are left out, which the guard relies on (src/measure/cut/cut.h).

    tests/cli/guard/cut.py --tool build/release/ptxopt [FILE.ptx ...]

Each file is assembled four times: whole, without every other kernel, without the rest, and with each kernel that
calls nothing a second time, under another name. Every
figure of each kernel must be the same (`ptxopt baseline`). Default files: those of samples/ with several kernels.
Files without two kernels, and those that ptxas refuses, are left out. Skipped (77) without ptxas.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
ENTRY = re.compile(rb"(?:\.(?:visible|weak)\s+)*\.entry\s+([\w$%]+)")
SKIP = re.compile(rb'//[^\n]*|/\*.*?\*/|"[^"\n]*"|[{}();]', re.S)  # what may hold a brace, and what nests


def kernels_of(text):
    """Names of kernels, and where they begin and end."""
    found, at = [], 0
    while entry := ENTRY.search(text, at):
        depth, at = 0, entry.end()
        for token in SKIP.finditer(text, at):
            at = token.end()
            if token[0] == b";" and depth == 0:
                break
            if token[0] == b"{":
                depth += 1
            if token[0] == b"}":
                depth -= 1
                if depth == 0:
                    found.append((entry[1].decode(), entry.start(), at))
                    break
    return found


def without(text, all_kernels, parity):
    parts, at = [], 0
    for k, (_, begin, end) in enumerate(all_kernels):
        if k % 2 == parity:
            parts.append(text[at:begin])
            at = end
    return b"".join([*parts, text[at:]])


def twice(text, all_kernels):
    """With the names that the copies have."""
    parts, names = [text, b"\n"], {}
    for name, begin, end in all_kernels:
        kernel = text[begin:end]
        if not re.search(rb"\bcall\b", kernel):
            names[name] = f"{name}$try1"
            parts += [re.sub(rb"(\.entry\s+[\w$%]+)", rb"\1$try1", kernel, count=1), b"\n"]
    return b"".join(parts), names


def figures(tool, text, folder):
    path, out = folder / "in.ptx", folder / "out.json"
    path.write_bytes(text)
    done = subprocess.run([tool, "baseline", str(path), "-o", str(out)], capture_output=True, text=True)
    if done.returncode != 0:
        return None
    return {f["name"]: f for unit in json.loads(out.read_text())["units"] for f in unit["functions"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    if not (os.environ.get("PTXAS") or shutil.which("ptxas")):
        print("skipped: there is no ptxas")
        return 77
    files = kernels = left_out = 0
    bad = []
    with tempfile.TemporaryDirectory(prefix="ptxopt-cut-") as folder:
        for path in options.files or sorted((ROOT / "samples").rglob("*.ptx")):
            text = path.read_bytes()
            all_kernels = kernels_of(text)
            if len(all_kernels) < 2:
                continue
            whole = figures(tool, text, Path(folder))
            if whole is None:
                left_out += 1
                continue
            files += 1
            for parity in (0, 1):
                cut = figures(tool, without(text, all_kernels, parity), Path(folder))
                for k, (name, _, _) in enumerate(all_kernels):
                    if k % 2 == parity or name not in whole:
                        continue
                    kernels += 1
                    if cut is None or cut.get(name) != whole[name]:
                        bad.append(f"{path.name}: {name}: {whole[name]} is {cut and cut.get(name)}")
            text, names = twice(text, all_kernels)
            both = figures(tool, text, Path(folder)) or {}
            for name, copy in names.items():
                kernels += 1
                if {**both.get(copy, {}), "name": name} != whole.get(name, {"name": name}):
                    bad.append(f"{path.name}: {name}: {whole.get(name)} is {both.get(copy)} under another name")
    for line in bad:
        print("differs: " + line)
    print(f"cut: {files} files, {kernels} kernels, {len(bad)} with other figures; {left_out} files that ptxas refuses")
    return 1 if bad or kernels == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
