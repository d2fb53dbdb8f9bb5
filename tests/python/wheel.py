#!/usr/bin/env python3
"""The wheel: its tag, size and content, what it needs of the system, and that it works in a fresh environment of each Python.

  tests/python/wheel.py --tool PTXOPT [--wheel FILE] [--python PROGRAM ...]

Without --wheel it is made by python/make_wheel.sh, which compiles everything: ten minutes. --python names interpreters to
try it with; by default this one. Skipped (77) where scikit-build-core or auditwheel cannot be had.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from package import ROOT

from checking import Counted  # noqa: E402

MOST_BYTES = 8_000_000
NEWEST_GLIBC = (2, 27)
SYSTEM = {"libpthread.so.0", "libm.so.6", "libgcc_s.so.1", "libdl.so.2", "libc.so.6", "ld-linux-x86-64.so.2"}
EXPORTED = r"^ptxopt_\w+$"


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)


def content(t, wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        names = set(archive.namelist())
    t.check(re.fullmatch(r"ptxopt-[\d.]+-py3-none-manylinux_2_\d+_x86_64\.whl", wheel.name), f"it is called {wheel.name}")
    t.check(wheel.stat().st_size < MOST_BYTES, f"{wheel.stat().st_size} bytes")
    wanted = {"ptxopt/libptxopt.so", "ptxopt/libptxopt_jit.so", "ptxopt/bin/ptxopt", "ptxopt/bin/ptxopt-ptxas", "ptxopt/py.typed", "ptxopt_hooks.pth",
              "ptxopt/triton.py", "ptxopt/licenses/libelf-dev.txt"}
    t.check(wanted <= names, f"it lacks {sorted(wanted - names)}")
    for name in ("ptxopt/libptxopt.so", "ptxopt/libptxopt_jit.so", "ptxopt/bin/ptxopt", "ptxopt/bin/ptxopt-ptxas"):
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", folder / name).stdout))
        t.check(needed <= SYSTEM | {"libptxopt.so"}, f"{name} needs {sorted(needed)}")
        symbols = run("objdump", "-T", folder / name).stdout
        asked = {tuple(map(int, v.split("."))) for v in re.findall(r"\bGLIBC_([\d.]+)", symbols)}
        t.check(asked and max(asked)[:2] <= NEWEST_GLIBC, f"{name} needs glibc {max(asked, default=None)}")
    defined = re.findall(r" [TDBR] (\w+)", run("nm", "-D", "--defined-only", folder / "ptxopt/libptxopt.so").stdout)
    t.check(defined and all(re.match(EXPORTED, name) for name in defined), f"it exports {defined}")


def installed(t, wheel, python, version):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = run(python, "-m", "venv", folder / "venv")
        pip = run(folder / "venv/bin/python", "-m", "pip", "install", "-q", "--no-index", wheel)
        t.check(made.returncode == 0 and pip.returncode == 0, f"{python}: {made.stderr}{pip.stderr}")
        alone = {n: v for n, v in os.environ.items() if not n.startswith(("PTXOPT", "PYTHON"))}
        works = run(folder / "venv/bin/python", ROOT / "tests/python/installed.py", "--version", version, "--ptx", ROOT / "samples/saxpy.ptx",
                    env=alone, cwd=folder)
        t.check(works.returncode == 0, f"{python}: {works.stderr[-1500:]}")
        print(works.stdout.strip())
        hooked = run(folder / "venv/bin/python", "-c", "import sys; print('ptxopt.triton' in sys.modules, 'triton' in sys.modules)",
                     env={**alone, "PTXOPT_HOOKS": "triton"})
        t.check(hooked.stdout.strip() == "True False", f"{python}: $PTXOPT_HOOKS: {hooked}")
        by_name = run(folder / "venv/bin/ptxopt", "--version", env=alone)
        t.check(by_name.stdout.strip() == version, f"{python}: ptxopt --version: {by_name}")
        run(folder / "venv/bin/python", "-m", "pip", "uninstall", "-q", "-y", "ptxopt")
        t.check(not list(folder.rglob("*ptxopt*")), f"{python}: uninstalling leaves {list(folder.rglob('*ptxopt*'))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=os.path.abspath)
    parser.add_argument("--wheel", type=lambda p: Path(p).resolve())
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    args = parser.parse_args()
    t = Counted("wheel")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = args.wheel
        if wheel is None:
            made = run(ROOT / "python/make_wheel.sh", folder / "dist")
            if made.returncode != 0:
                print(f"wheel: skipped: {made.stderr.strip().splitlines()[-1:]}" if "pip" in made.stderr else made.stderr[-3000:])
                return 77 if "No matching distribution" in made.stderr else 1
            wheel = next((folder / "dist").glob("*.whl"))
        content(t, wheel, folder / "unpacked")
        for program in (folder / "unpacked/ptxopt/bin").iterdir():
            program.chmod(0o755)  # zipfile leaves this out
        version = run(folder / "unpacked/ptxopt/bin/ptxopt", "--version").stdout.strip()
        t.check(args.wheel or version == run(args.tool, "--version").stdout.strip(), f"the version is {version}")
        for python in args.python:
            installed(t, wheel, python, version)
    print(f"wheel: {t.checks - t.wrong} passed, {t.wrong} failed")
    return 1 if t.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
