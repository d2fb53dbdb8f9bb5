"""What both tests of samples/cluster need: a folder of PTX, and comparing folders of results."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
from toolkit import find_ptxas, real_ptxas  # noqa: E402, F401

ROOT = Path(__file__).resolve().parents[3]
CLUSTER = ROOT / "samples" / "cluster"
EXTRA = {"build.ninja", ".ninja_log", ".ninja_deps"}
NO_PTXAS = 77


def make_input(folder):
    """PTX in a tree, with names that shells and Ninja must be told about, a file that is no PTX, and one that ptxas refuses."""
    kernels = sorted((ROOT / "samples" / "kernels").glob("*.ptx"))
    assert len(kernels) >= 8, "there are no sample kernels"
    for i, path in enumerate(kernels):
        to = folder / ("" if i % 2 else "sub") / path.name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)
    saxpy = ROOT / "samples" / "saxpy.ptx"
    shutil.copy(saxpy, folder / "sub" / "a b$c:d'e.ptx")
    shutil.copy(saxpy, folder / "gemm.ptx.ptx")
    (folder / "bad.ptx").write_text("this is no PTX\n")
    (folder / "refused.ptx").write_text(saxpy.read_text().replace("\tadd.", "\taddq.", 1).replace("\tmad.", "\tmadq.", 1))
    (folder / "notes.txt").write_text("not to be looked at\n")
    return sorted(path.relative_to(folder) for path in folder.rglob("*.ptx"))


def script(name, *arguments, python=sys.executable, code=0, environment=None, wait=True):
    command = [python, str(CLUSTER / name), *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, **(environment or {})})
    return finished(process, code) if wait else process


def finished(process, code=0):
    out, err = process.communicate(timeout=500)
    assert process.returncode == code, f"{process.args}: status {process.returncode}, not {code}\n{out}{err}"
    return out + err


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name not in EXTRA}


def assert_same(a, b):
    left, right = contents(a), contents(b)
    assert left.keys() == right.keys(), f"{a} and {b}: {sorted(left.keys() ^ right.keys())} in one only"
    different = [name for name in left if left[name] != right[name]]
    assert not different, f"{a} and {b} differ in {different}"
