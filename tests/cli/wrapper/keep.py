#!/usr/bin/env python3
"""The sample that builds a program of optimized `nvcc -keep` files: the machine code of `ptxopt nvcc`, and a program that works.

  tests/cli/wrapper/keep.py --tool PATH

samples/nvcc-keep, relocatable device code of three sources, is built for one architecture and for two with embedded PTX.
Each cubin must have the bytes of that of `ptxopt nvcc`, some PTX must have changed, embedded PTX too, and the program must
end well under `ptxopt emulate`.
The nvcc is $NVCC or that of the PATH. Skipped (77) without one.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "samples/nvcc-keep"
SOURCES = ["main.cu", "smooth.cu", "weights.cu"]
OPTIONS = ["-O3", "-rdc=true", "-cudart", "shared"]  # the stub of the runtime takes the place of a shared one only
BUILDS = {
    "one": ["-arch=sm_80"],
    "two": ["-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=[sm_90,compute_90]"],
}


class Failed(Exception):
    pass


def run(command, environment):
    done = subprocess.run([str(c) for c in command], cwd=SAMPLE, env=environment, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}{done.stdout}")
    return done.stdout + done.stderr


def by_name(folder, suffix):
    return {path.name: path.read_bytes() for path in sorted(folder.glob(f"*{suffix}"))}


def check(tool, nvcc, architectures, folder):
    environment = {**os.environ, "NVCC": nvcc, "PTXOPT_NVCC": nvcc, "PTXOPT": str(tool), "PTXOPT_GUARD": "auto"}
    script, nvcc_way, plain = folder / "script", folder / "nvcc" / "keep", folder / "plain"
    for made in (nvcc_way, plain):
        made.mkdir(parents=True)
    run(["./build.sh", script, *OPTIONS, *architectures, *SOURCES], environment)
    # With -keep it would also tidy the text that it keeps.
    run([tool, "nvcc", *OPTIONS, *architectures, "-keep", "--keep-dir", nvcc_way, *SOURCES, "-o", nvcc_way.parent / "program"],
        {**environment, "PTXOPT_OPTIONS": "--tidy=0"})
    run([nvcc, *OPTIONS, *architectures, "-keep", "--keep-dir", plain, *SOURCES, "-o", plain / "program"], environment)

    cubins, expected, before = (by_name(f, ".cubin") for f in (script / "keep", nvcc_way, plain))
    if len(cubins) < 4 or cubins.keys() != expected.keys():
        raise Failed(f"the cubins are {sorted(cubins)}, not {sorted(expected)}")
    if different := [name for name in cubins if cubins[name] != expected[name]]:
        raise Failed(f"cubins that differ from those of ptxopt nvcc: {different}")
    texts, original = by_name(script / "keep", ".ptx"), by_name(plain, ".ptx")
    if not [name for name in texts if texts[name] != original[name]] or cubins == before:
        raise Failed("nothing was optimized")
    said = run([tool, "emulate", script / "program"], environment)
    if "smoothed: 5000 elements are right" not in said:
        raise Failed(f"the program says: {said}")
    return len(cubins)


def refused(tool, nvcc, folder):
    """nvcc's plan would remove the file `o` for a folder `o ut`: names that a shell would read otherwise are refused."""
    environment = {**os.environ, "NVCC": nvcc, "PTXOPT": str(tool)}
    (folder / "o").write_text("mine")
    for name in ("o ut", "o'ut", "o$HOME", "o\nut", "-o", "o[t]", ""):
        done = subprocess.run([SAMPLE / "build.sh", name, *[SAMPLE / s for s in SOURCES]], cwd=folder, env=environment,
                              capture_output=True, text=True, timeout=600)
        if done.returncode != 2 or os.listdir(folder) != ["o"]:
            raise Failed(f"the folder {name!r}: exit code {done.returncode}, {os.listdir(folder)}\n{done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=Path)
    tool = parser.parse_args().tool.resolve()
    os.environ["PATH"] += os.pathsep + "/usr/local/cuda/bin"
    nvcc = shutil.which(os.environ.get("NVCC", "nvcc"))
    if not nvcc:
        print("skipped: there is no nvcc")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            (Path(folder) / "names").mkdir()
            refused(tool, nvcc, Path(folder) / "names")
        except Failed as e:
            failed += 1
            print(f"names: {e}")
        for name, architectures in BUILDS.items():
            try:
                print(f"{name}: {check(tool, nvcc, architectures, Path(folder) / name)} cubins are the same")
            except Failed as e:
                failed += 1
                print(f"{name}: {e}")
    print(f"{len(BUILDS) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
