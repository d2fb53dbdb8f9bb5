#!/usr/bin/env python3
"""samples/profile, as its page says: built, profiled without a GPU, built again with the profile by CMake or by nvcc, compared.

  tests/cli/profile/sample.py --tool PATH

Launches of other sizes and blocks are equal to the program as it was. Skipped (77) without nvcc.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "samples" / "profile"
SKIPPED = 77
BETTER = {"multiply", "multiplyTransposed", "square"}  # these keep sums in memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool = str(Path(parser.parse_args().tool).resolve())
    nvcc = shutil.which("nvcc") or (shutil.which("/usr/local/cuda/bin/nvcc"))
    if not nvcc or not shutil.which("cmake"):
        print("profile, sample: skipped: there is no nvcc, or no cmake")
        return SKIPPED
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, "PTXOPT_GUARD": "auto", "PTXOPT_CACHE_DIR": "", "PTXOPT_NVCC": nvcc, "CUDACXX": nvcc}
        environment.pop("PTXOPT_OPTIONS", None)

        def run(what, command, **more):
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=folder, env={**environment, **more})
            if done.returncode != 0:
                failures.append(f"{what}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
            return done

        def build(what, to, *options):
            run(f"{what}: configure", ["cmake", "-S", SAMPLE, "-B", to, f"-DPTXOPT={tool}", *options])
            run(what, ["cmake", "--build", to])
            return folder / to / "linear"
        profile = folder / "linear.profile"
        plain = build("plain", "plain")
        seen = run("emulate", [tool, "emulate", "--profile-facts", profile, plain])
        if "right" not in seen.stdout:
            failures.append(f"emulate: {seen.stdout}")
        better = build("with the profile", "better", f"-DPROFILE={profile}")
        diff = run("diff", [tool, "diff", plain, better, "--format", "json"])
        if diff.returncode == 0:
            changes = {f["demangled"].split("(")[0]: f["change"] for f in json.loads(diff.stdout)["functions"]}
            if {k for k, change in changes.items() if change == "better"} != BETTER or "worse" in changes.values():
                failures.append(f"what became better: {changes}")
        for sizes in ([], ["50", "33", "32"], ["7", "130", "96"], ["1", "1", "1"]):
            same = run(f"compare {sizes}", [tool, "emulate", "--compare", f"--optimize=--profile-use {profile}", plain, *sizes])
            if "5 launches compared, equal" not in same.stderr or "right" not in same.stdout:
                failures.append(f"compare {sizes}: {same.stdout}{same.stderr}")
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"profile, sample: {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
