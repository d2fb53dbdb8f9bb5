"""The kernels of ../slang:  slang_kernels.py KERNEL CAPABILITY OUT.ptx  compiles one, without a GPU; --list names them.

slangc calls NVRTC, which is that of the toolkit.
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "slang" / "kernels.slang"


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(re.findall(r"^void (\w+)", SOURCE.read_text(), re.M)))
        return
    name, capability, out = sys.argv[1:]
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    libraries = Path(nvcc).resolve().parents[1] / "lib64"
    slangc = Path(importlib.util.find_spec("slangtorch").origin).parent / "bin" / "slangc"
    version = "_".join(("cuda_sm", capability[:-1], capability[-1]))
    subprocess.run([slangc, SOURCE, "-target", "ptx", "-entry", name, "-stage", "compute", "-capability", version, "-o", out], check=True,
                   env={**os.environ, "LD_LIBRARY_PATH": f"{libraries}:{os.environ.get('LD_LIBRARY_PATH', '')}"})
    text = Path(out).read_bytes()
    Path(out).write_bytes(text.rstrip(b"\0"))  # which ptxas does not take


main()
