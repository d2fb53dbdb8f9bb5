#!/usr/bin/env python3
"""Triton, Numba and JAX, from PyPI, through the drop-in ptxas: the samples, for a named target, without a GPU.

  tests/cli/wrapper/frameworks.py --tool PATH

The packages go into virtual environments (tests/lib/framework_packages.py). The reports of the drop-in ptxas show that it
was called and what it did; the cubins that are left must have the kernels. Skipped (77) where the packages cannot be had, or
without ptxas.
"""
import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import common  # noqa: E402
from common import SAMPLES, environment, run  # noqa: E402
from framework_packages import PACKAGES, python_with  # noqa: E402

# XLA starts no program unless the libraries that it has linked in are forbidden.
XLA_FLAGS = "--xla_gpu_enable_libnvptxcompiler=false --xla_gpu_enable_libnvjitlink=false"


def reports_of(checks, sample, command, ptxas, folder, **more):
    """Runs a sample; the reports that the drop-in ptxas wrote."""
    reports = folder / f"{sample}.reports"
    result = run(command, env=environment(ptxas, f"--report={reports}/", **more), cwd=folder)
    if not checks.equal(result.returncode, 0, f"{sample}: exit code"):
        print(result.stderr.decode(errors="replace")[-3000:])
        return []
    written = sorted(reports.iterdir()) if reports.exists() else []
    checks.check(written, f"{sample}: PTX went through the drop-in ptxas")
    print(f"{sample}: {result.stdout.decode().strip()}; {', '.join(path.name for path in written)}")
    return [json.loads(path.read_text()) for path in written]


# Triton's own ptxas by the GPU that is compiled for.
TRITON = {"80": "ptxas", "90": "ptxas-blackwell", "100": "ptxas-blackwell", "120": "ptxas-blackwell"}


def triton(checks, python, drop_in, folder):
    """Triton with its default settings: each of its two ptxas is called where it would be without us, and what its cache
    has of a time before us does not hide us."""
    log, cubin = folder / "log", folder / "triton.cubin"
    told = {"TRITON_PTXAS_PATH": drop_in, "TRITON_PTXAS_BLACKWELL_PATH": f"{drop_in}-blackwell", "PTXOPT_LOG": log}
    for capability, name in TRITON.items():
        for what, more, calls in (("without us", {}, 0), ("first", told, 1), ("again", told, 0),
                                  ("other options", {**told, "PTXOPT_OPTIONS": "-O1"}, 1)):
            log.unlink(missing_ok=True)
            result = run([python, SAMPLES / "frameworks" / "triton_add.py", cubin, capability],
                         env=environment(TRITON_CACHE_DIR=folder / "triton", **more), cwd=folder)
            if not checks.equal(result.returncode, 0, f"Triton, sm_{capability}, {what}: exit code"):
                print(result.stderr.decode(errors="replace")[-3000:])
            records = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
            checks.equal(len(records), calls, f"Triton, sm_{capability}, {what}: calls")
            checks.check("scale_rows" in common.kernels(cubin), f"Triton, sm_{capability}, {what}: the kernel is in the cubin")
            for record in records:
                real = Path(record["ptxas"])
                checks.equal((record["client"], record["why"], real.name, real.parts[-5:-2]),
                             ("triton", "Triton's own", name, ("triton", "backends", "nvidia")), f"Triton, sm_{capability}: the real ptxas")
                checks.equal(record["changed"], 1, f"Triton, sm_{capability}, {what}: optimized")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool = str(Path(parser.parse_args().tool).resolve())
    ptxas = common.real_ptxas()
    if not ptxas:
        print("frameworks: skipped: there is no ptxas")
        return common.SKIPPED
    pythons = {}
    for name in PACKAGES:
        pythons[name], why = python_with(name)
        if not pythons[name]:
            print(f"frameworks: skipped: {', '.join(PACKAGES[name])} cannot be had: {why}")
            return common.SKIPPED
    checks = common.Checks("frameworks")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        drop_in = common.drop_in_of(tool)
        triton(checks, pythons["frameworks"], drop_in, folder)
        for sample, kernel in (("numba_axpy.py", "axpy"),):
            cubin = folder / f"{sample}.cubin"
            written = reports_of(checks, sample, [pythons["frameworks"], SAMPLES / "frameworks" / sample, cubin], ptxas, folder, PTXOPT=tool)
            if not written:
                continue
            checks.check([k for k in common.kernels(cubin) if kernel in k], f"{sample}: the kernel is in the cubin", str(common.kernels(cubin)))
            checks.equal(len(written), 1, f"{sample}: one PTX went through the drop-in ptxas")
            for report in written:
                checks.check(any(kernel in f["name"] for f in report["functions"]), f"{sample}: the kernel is in the report",
                             str(report["functions"])[:300])
        common.link_as(drop_in, folder / "cuda" / "bin")
        (folder / "cuda" / "nvvm").symlink_to(Path(ptxas).resolve().parent.parent / "nvvm")
        written = reports_of(checks, "jax_softmax.py", [pythons["jax"], SAMPLES / "frameworks" / "jax_softmax.py"], ptxas, folder,
                             XLA_FLAGS=XLA_FLAGS, CUDA_ROOT=folder / "cuda")
        checks.check(any(f["name"] for report in written for f in report["functions"]),
                     "jax_softmax.py: XLA's kernels are in the reports", str(written)[:300])
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
