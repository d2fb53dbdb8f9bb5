#!/usr/bin/env python3
"""The cubin of the drop-in is that of ptxas, byte for byte, whether the guard's answers come from ptxas or from the cache.

  tests/cli/wrapper/cold_warm.py --tool PATH [--ptxas PROGRAM]

Each sample is assembled with an empty cache (cold), again (warm), and by ptxas alone with the same options from the
optimized PTX that --keep-ptx wrote (plain). Skipped (77) without ptxas.
"""
import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import common
from common import SAMPLES, environment, run

# Two of these for each sample, in turn.
OPTIONS = ["-arch=sm_80", "-arch=sm_90 -lineinfo", "-arch sm_120 -O2", "-arch=sm_86 -c", "-arch=sm_100 --maxrregcount=64 -v",
           "--gpu-name=sm_89 -w --fmad=false", "-arch=sm_87 -O3"]


def compare(checks, program, ptxas, sample, options, folder):
    here, there = folder / "here", folder / "there"
    for place in (here, there):
        place.mkdir(parents=True)
    shutil.copy(sample, here / "k.ptx")
    variables = environment(ptxas, "--keep-ptx", PTXOPT_GUARD="ptxas", PTXOPT_CACHE_DIR=folder / "cache", TMPDIR=folder)
    made = {}
    for run_name in ("cold", "warm"):
        result = run([program, *options.split(), "k.ptx", "-o", "k.cubin"], cwd=here, env=variables)
        made[run_name] = (result.returncode, result.stdout, common.without_times(result.stderr), (here / "k.cubin").read_bytes())
        (here / "k.cubin").unlink()
    shutil.copy(here / "k.ptxopt.ptx", there / "k.ptx")
    result = run([ptxas, *options.split(), "k.ptx", "-o", "k.cubin"], cwd=there)
    made["plain"] = (result.returncode, result.stdout, common.without_times(result.stderr), (there / "k.cubin").read_bytes())
    what = f"{sample.name} {options}"
    checks.equal(made["plain"][0], 0, f"{what}: {result.stderr}")
    for run_name in ("cold", "warm"):
        checks.equal(made[run_name][:3], made["plain"][:3], f"{what}: {run_name}: what is said")
        checks.check(made[run_name][3] == made["plain"][3], f"{what}: {run_name}: other bytes than those of ptxas")
    return (here / "k.ptxopt.ptx").read_bytes() != sample.read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--ptxas", default=common.real_ptxas())
    arguments = parser.parse_args()
    if arguments.ptxas is None:
        print("cold_warm: skipped: no ptxas")
        return 77
    program = common.drop_in_of(str(Path(arguments.tool).resolve()))
    checks, changed = common.Checks("cold_warm"), 0
    with tempfile.TemporaryDirectory() as name:
        samples = sorted([*SAMPLES.glob("*.ptx"), *(SAMPLES / "kernels").glob("*.ptx")])
        for number, sample in enumerate(samples):
            for options in {OPTIONS[2 * number % len(OPTIONS)], OPTIONS[(2 * number + 1) % len(OPTIONS)]}:
                changed += compare(checks, program, arguments.ptxas, sample, options, Path(name) / f"{number} {len(options)}")
    checks.check(changed >= 8, f"only {changed} of the samples are optimized")
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
