#!/usr/bin/env python3
"""Time and memory against the size of the input, which should be straight lines.

    tests/perf/scale.py --tool build/release/ptxopt [--most MB] [--mode=-O2] [--single | --files FILE.ptx ...] [--check BYTES]

Made PTX of 1, 10, 100 and 500 MB in functions of realistic size; with --single instead one function of 1 to 50 MB. With --files a
module of 20 MB of the kernels of these files, each as often as that takes, under other names. --check fails where the largest module
takes more bytes of memory for a byte of input.
"""
import argparse
import itertools
import os
import re
import tempfile
from pathlib import Path

from measure import blocks_for, measure, ptx, table

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

HEADER = re.compile(r"\A.*?\.address_size\s+64\s*?\n", re.S)
NAMED = re.compile(r"(?:\.entry|\.func(?:\s*\([^)]*\))?|\.(?:global|const|shared)\b[^;{=]*?\.[bsuf]\d+)\s+([A-Za-z_$][\w$]*)")
MADE = re.compile(r"\$L_[\w$]+|\$str[\w$]*|__unnamed_\d+")


def joined(paths, size):
    """A module of about `size` bytes: what follows the header of each file, again and again, with names that differ."""
    texts = [Path(path).read_text() for path in paths]
    parts, done = [HEADER.match(texts[0])[0]], 0
    for number, text in enumerate(itertools.cycle(texts)):
        body = HEADER.sub("", text, count=1)
        names = "|".join(map(re.escape, sorted({*NAMED.findall(body), *MADE.findall(body)}, key=len, reverse=True)))
        if names:
            body = re.sub(rf"(?<![\w$.%])(?:{names})(?![\w$])", lambda name: f"{name[0]}_{number}", body)
        parts.append(body)
        done += len(body)
        if done >= size:
            return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--most", type=float, default=500, help="MB")
    parser.add_argument("--mode", action="append", help="options of the tool; may be repeated")
    parser.add_argument("--single", action="store_true", help="one function")
    parser.add_argument("--files", nargs="+", help="PTX of one .version and .target")
    parser.add_argument("--check", type=float, help="bytes a byte")
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    modes = options.mode or ["-O0 --reprint", "-O0", "-O2"]

    header = ["MB"]
    for mode in modes:
        header += [f"{mode} s", "MB/s", "MB of memory", "B/B"]
    rows = []
    with tempfile.TemporaryDirectory(prefix="ptxopt-scale-") as folder:
        path = os.path.join(folder, "scale.ptx")
        for megabytes in (20,) if options.files else (1, 5, 10, 20, 50) if options.single else (1, 10, 100, 500):
            if megabytes > options.most:
                break
            if options.files:
                text = joined(options.files, megabytes * 1_000_000)
            else:
                text = ptx(1, blocks_for(megabytes * 1_000_000)) if options.single else ptx(megabytes * 1_000_000)
            with open(path, "w") as f:
                f.write(text)
            size = len(text)
            del text
            row, most = [f"{size / 1e6:.1f}"], 0
            for mode in modes:
                result = measure([tool, path, *mode.split(), "-o", "/dev/null"], 2 if megabytes < 100 else 1)
                most = max(most, result[1] / size if result else float("inf"))
                row += ([f"{result[0]:.2f}", f"{size / 1e6 / result[0]:.0f}", f"{result[1] / 1e6:.0f}", f"{result[1] / size:.2f}"]
                        if result else ["failed", "-", "-", "-"])
            rows.append(row)
    table(header, rows)
    if options.check and most > options.check:
        raise SystemExit(f"more than {options.check} bytes of memory for a byte of input")


if __name__ == "__main__":
    main()
