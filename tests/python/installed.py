#!/usr/bin/env python3
"""An installed ptxopt does what it should, with Python alone: for the environments that packages are tried in.

  PYTHON tests/python/installed.py --version "ptxopt 0.1.0 (git ...)" --ptx samples/saxpy.ptx
"""
import argparse
import array
import resource
import subprocess
import sys
import time

import ptxopt


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True)
    parser.add_argument("--ptx", required=True)
    args = parser.parse_args()
    with open(args.ptx, encoding="utf-8") as file:
        text = file.read()
    assert ptxopt.version_line() == args.version, (ptxopt.version_line(), args.version)
    by_program = subprocess.run([sys.executable, "-m", "ptxopt", "--version"], stdout=subprocess.PIPE, check=True).stdout
    assert by_program.decode().strip() == args.version, by_program
    result = ptxopt.optimize(text, arch="sm_90", guard="off")
    assert ptxopt.verify(text, result.ptx, trials=4), "verify"
    try:
        ptxopt.optimize(text.replace("ret;", "ret oops;"), file="k.ptx")
        raise AssertionError("PTX that is none is accepted")
    except ptxopt.InvalidPtx as error:
        assert (error.file, error.line, error.column) == ("k.ptx", 57, 6) and error.caret.endswith("^"), error
    x, y = array.array("f", range(40)), array.array("f", [1] * 40)
    ptxopt.run(text, [40, 2.0, x, y], grid=2, block=32)
    assert list(y) == [2 * v + 1 for v in x], y
    for _ in range(100):
        ptxopt.optimize(text, guard="off")
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    for _ in range(1000):
        ptxopt.optimize(text, guard="off")
    spent = time.process_time() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 1024, grown
    print(f"installed: Python {sys.version.split()[0]}, {spent:.2f} ms of CPU a call, {grown} KiB more after 1000 calls")


if __name__ == "__main__":
    main()
