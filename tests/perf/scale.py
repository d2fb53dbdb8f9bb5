#!/usr/bin/env python3
"""Time and memory against the size of the input, which should be straight lines.

    tests/perf/scale.py --tool build/release/ptxopt [--most MB] [--mode=-O2] [--single]

Made PTX of 1, 10, 100 and 500 MB in functions of realistic size; with --single instead one function of 1 to 50 MB.
"""
import argparse
import os
import tempfile

from measure import blocks_for, measure, ptx, table

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--most", type=float, default=500, help="MB")
    parser.add_argument("--mode", action="append", help="options of the tool; may be repeated")
    parser.add_argument("--single", action="store_true", help="one function")
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    modes = options.mode or ["-O0 --reprint", "-O0", "-O2"]

    header = ["MB"]
    for mode in modes:
        header += [f"{mode} s", "MB/s", "MB of memory", "B/B"]
    rows = []
    with tempfile.TemporaryDirectory(prefix="ptxopt-scale-") as folder:
        path = os.path.join(folder, "scale.ptx")
        for megabytes in (1, 5, 10, 20, 50) if options.single else (1, 10, 100, 500):
            if megabytes > options.most:
                break
            text = ptx(1, blocks_for(megabytes * 1_000_000)) if options.single else ptx(megabytes * 1_000_000)
            with open(path, "w") as f:
                f.write(text)
            size = len(text)
            del text
            row = [f"{size / 1e6:.1f}"]
            for mode in modes:
                result = measure([tool, path, *mode.split(), "-o", "/dev/null"], 2 if megabytes < 100 else 1)
                row += ([f"{result[0]:.2f}", f"{size / 1e6 / result[0]:.0f}", f"{result[1] / 1e6:.0f}", f"{result[1] / size:.1f}"]
                        if result else ["failed", "-", "-", "-"])
            rows.append(row)
    table(header, rows)


if __name__ == "__main__":
    main()
