#!/usr/bin/env python3
"""`ptxopt nvcc` with plans of nvcc (--dryrun) of several versions: a script stands in for nvcc, so that none is needed.

  tests/cli/wrapper/nvcc_plans.py --tool PATH

The script takes its own folder for the toolkit, as nvcc does, reads the PATH of nvcc.profile there, says what it would do
and does it. nvcc 13.5 also says CUDA_ROOT=, the folder above its own, which is another one in the folder of links that
ptxopt makes. A variable that ptxopt does not know and that names such a folder makes it step aside, with a warning.
"""
import argparse
import sys
import tempfile
from pathlib import Path

import common
from choose import KERNEL, NEW, fake
from common import environment, run

NVCC = """#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
root=${here%/bin}
PATH=$(sed -n 's/^PATH += *//p' "$here/nvcc.profile" | tail -n 1)$here:$PATH
export PATH
dry=
for word; do case $word in --dryrun) dry=1;; *.ptx) input=$word;; esac; done
if [ -n "$dry" ]; then
  printf '#$ %s\\n' EXTRA "_HERE_=$here" "_THERE_=$here" "TOP=$here/.." "PATH=$PATH" "ptxas -arch=sm_80 \\"$input\\" -o out.cubin" >&2
else
  ptxas -arch=sm_80 "$input" -o out.cubin
fi
"""
# By version: what the plan says in addition, and whether ptxopt works with it.
PLANS = {"13.0": ("_SPACE_= ", True), "13.5": ("CUDA_ROOT=$root", True), "unknown": ("OTHER_ROOT=$root", False)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool = str(Path(parser.parse_args().tool).resolve())
    checks = common.Checks("nvcc_plans")
    with tempfile.TemporaryDirectory() as name:
        for version, (extra, works) in PLANS.items():
            folder = Path(name).resolve() / version
            nvcc = common.script(folder / "toolkit" / "bin" / "nvcc", NVCC.replace("EXTRA", f'"{extra}"'))
            ptxas = fake(folder / "toolkit" / "bin" / "ptxas", NEW)
            Path(nvcc).with_name("nvcc.profile").write_text("TOP = $(_HERE_)/..\n")
            source = folder / "k.ptx"
            source.write_text(KERNEL.format("8.0"))
            env = environment(options="-O1", PTXOPT_CONFIG="/dev/null", PTXOPT_LOG=folder / "log", TMPDIR=folder)
            result = run([tool, "nvcc", nvcc, "-cubin", source], env=env, cwd=folder)
            checks.equal((result.returncode, result.stdout), (0, b""), f"nvcc {version}: exit code")
            checks.equal(result.stderr.count(b"ptxopt: warning: the plan of nvcc is another one"), 0 if works else 1, f"nvcc {version}: warnings")
            lines = (folder / "out.cubin").read_text().splitlines()
            checks.equal(lines[0], ptxas, f"nvcc {version}: its own ptxas is called")
            checks.equal("12345" not in "".join(lines), works, f"nvcc {version}: optimized")
            checks.equal((folder / "log").exists(), works, f"nvcc {version}: a call in the log")
            checks.equal(list(folder.glob("ptxopt-*")), [], f"nvcc {version}: temporary folders")
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
