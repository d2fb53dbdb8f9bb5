#!/usr/bin/env python3
"""Triton and Numba, from PyPI, through the drop-in ptxas: the samples, for a named target, without a GPU.

  tests/shim/frameworks.py --tool PATH

The packages go into a virtual environment under $PTXOPT_TEST_CACHE, else ~/.cache/ptxopt-tests: about 1.8 GB, kept for the
next time. The reports of the drop-in ptxas show that it was called and what it did; the cubins must have the kernels.
Skipped (77) where the packages cannot be had, or without ptxas.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import common
from common import SAMPLES, environment, run

PACKAGES = ["triton==3.9.0", "numba-cuda[cu13]==0.30.4", "nvidia-nvvm==13.0.*", "setuptools"]
MOST_SECONDS = 1200


def python_with_packages():
    """The interpreter of the environment; None, with the reason, where that cannot be made."""
    folder = Path(os.environ.get("PTXOPT_TEST_CACHE", Path.home() / ".cache" / "ptxopt-tests")) / "frameworks"
    python, done = folder / "bin" / "python", folder / "packages.json"
    if done.exists() and json.loads(done.read_text()) == PACKAGES:
        return str(python), ""
    try:
        venv.create(folder, with_pip=True, clear=True)
        result = run([python, "-m", "pip", "install", "-q", *PACKAGES], timeout=MOST_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        return None, str(error)
    if result.returncode != 0:
        return None, result.stderr.decode(errors="replace").strip().splitlines()[-1]
    done.write_text(json.dumps(PACKAGES))
    return str(python), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool = str(Path(parser.parse_args().tool).resolve())
    ptxas = common.real_ptxas()
    if not ptxas:
        print("frameworks: skipped: there is no ptxas")
        return common.SKIPPED
    python, why = python_with_packages()
    if not python:
        print(f"frameworks: skipped: Triton and Numba cannot be had: {why}")
        return common.SKIPPED
    checks = common.Checks("frameworks")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shim = common.link_as(tool, folder / "bin", "ptxopt-ptxas")
        for sample, kernel in (("triton_add.py", "scale_rows"), ("numba_axpy.py", "axpy")):
            cubin, reports = folder / f"{sample}.cubin", folder / f"{sample}.reports"
            env = environment(ptxas, f"--report={reports}/", TRITON_PTXAS_PATH=shim, TRITON_CACHE_DIR=folder / "triton", PTXOPT=tool)
            result = run([python, SAMPLES / "frameworks" / sample, cubin], env=env, cwd=folder)
            if not checks.equal(result.returncode, 0, f"{sample}: exit code"):
                print(result.stderr.decode(errors="replace")[-3000:])
                continue
            checks.check([k for k in common.kernels(cubin) if kernel in k], f"{sample}: the kernel is in the cubin", str(common.kernels(cubin)))
            written = sorted(reports.iterdir()) if reports.exists() else []
            checks.check(len(written) == 1, f"{sample}: one PTX went through the drop-in ptxas", str(written))
            for path in written:
                report = json.loads(path.read_text())
                checks.check(any(kernel in f["name"] for f in report["functions"]), f"{sample}: the kernel is in the report",
                             str(report["functions"])[:300])
                print(f"{sample}: {result.stdout.decode().strip()}; {path.name}")
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
