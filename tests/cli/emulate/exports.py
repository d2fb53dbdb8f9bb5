"""Every function that a toolkit's libcudart.so has, the stub has too, by the same version; none is there twice."""
import re
import shutil
import subprocess
from pathlib import Path

from checking import Counted

MISSING = Path(__file__).resolve().parents[3] / "src/execute/emulate/runtime/missing.def"


def functions(library):
    """Names with versions: cudaFree@libcudart.so.13."""
    listed = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", str(library)], capture_output=True,
                            text=True, check=True).stdout
    return {m[1] + "@" + m[2] for m in re.finditer(r" [TW] (\w+)@@?(\S+)$", listed, re.M)}


def libraries(nvcc):
    """Those of the toolkit that this nvcc is of."""
    root = Path(nvcc).resolve().parents[1]
    found = {p.resolve() for place in ("lib64", "lib", "targets/x86_64-linux/lib") for p in (root / place).glob("libcudart.so*")}
    return sorted(found)


def test(tool, nvcc):
    tests = Counted("exports")
    if not shutil.which("nm"):
        print("exports: no nm")
        return tests
    ours = functions(Path(tool).resolve().parent / "emulate/libcudart.so.13")
    names = {version: {f.split("@")[0] for f in ours if f.endswith(version)} for version in ("libcudart.so.12", "libcudart.so.13")}
    tests.check(all(len(n) > 300 for n in names.values()), f"there are {[len(n) for n in names.values()]} functions")
    for library in libraries(nvcc):
        missing = sorted(functions(library) - ours)
        tests.check(not missing, f"{library} has {len(missing)} functions that the stub has not: {missing[:8]}")
    listed = re.findall(r"^EMULATE_MISSING\((\w+)\)", MISSING.read_text(), re.M)
    tests.check(listed == sorted(set(listed)), "missing.def is in order, each name once")
    return tests
