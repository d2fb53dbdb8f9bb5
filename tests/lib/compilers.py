"""Compiles kernels to PTX and keeps the PTX: runs tools, finds them, and names files by the hash of what they came from.

The PTX is kept in $PTXOPT_KEPT, which tests of one build share, or else in the test's own work folder.
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

COMPILE_LIMIT = 300  # seconds
HERE = Path(__file__).resolve().parent
CUDA_HEADER = HERE / "cuda_for_clang.h"  # part of what cuda_by_clang compiles
OPENCL_HEADER = HERE.parent / "semantics" / "exec" / "opencl" / "nvptx.h"
# OpenCL C by clang, without a library; what follows is the level and the source.
OPENCL_FLAGS = ["-x", "cl", "-cl-std=CL1.2", "-target", "nvptx64-nvidia-cuda", "-nogpulib", "-cl-no-stdinc",
                "-cl-fp32-correctly-rounded-divide-sqrt", "-ffp-contract=off", "-Wall", "-Wno-unused-function", "-Werror",
                "-include", str(OPENCL_HEADER)]


@dataclass
class Compilation:
    """One PTX file to be: a source and how to compile it, or a file that is PTX already."""
    name: str
    source: str
    command: list = None  # without the output, which comes last
    compiler: str = ""  # version text, part of the cache key


class Skip(Exception):
    """This item cannot be checked here; str() is why."""


def find(variable, *names):
    """The path of a program: the one that the variable names, by a path or a name; otherwise the first of these in $PATH, or CUDA's."""
    given = os.environ.get(variable, "none")
    if given not in ("", "none"):
        return shutil.which(given) or sys.exit(f"{variable} is '{given}': there is no such program")
    return next(filter(None, (*map(shutil.which, names), shutil.which(f"/usr/local/cuda/bin/{names[0]}"))), None)


def newest(name):
    """The path of the program NAME-N of the greatest N in $PATH, and N; None and 0 where there is none."""
    found = [(int(path.name.removeprefix(name + "-")), str(path)) for folder in os.get_exec_path() for path in Path(folder).glob(name + "-*")
             if path.name.removeprefix(name + "-").isdigit()]
    number, path = max(found, default=(0, None))
    return path, number


def cuda_by_clang(clang, arch, *options):
    """The command, without source and output, that makes PTX of CUDA without CUDA's headers."""
    return [clang, "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "-fdeclspec", "-include", str(CUDA_HEADER),
            f"--cuda-gpu-arch={arch}", "-Xclang", "-target-feature", "-Xclang", "+ptx83", "-w", "-S", *options]


def version(tool):
    return subprocess.run([tool, "--version"], capture_output=True, text=True).stdout if tool else ""


def run(command, limit, cwd=None):
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit, cwd=cwd)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", f"took more than {limit} s")


def digest(*parts):
    hashed = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        hashed.update(b"%d:" % len(data) + data)
    return hashed.hexdigest()[:24]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line or "fatal" in line), lines[0] if lines else "no message")[:200]


def included(source):
    """The source with the headers of ours that it includes."""
    text = read(source)
    beside = [os.path.join(os.path.dirname(source), name.decode()) for name in re.findall(rb'#include "([^"]+)"', text)]
    return text + b"".join(read(path) for path in beside)


def compiled(item, work):
    """Path of the item's PTX, compiled unless the work folder has it. A refusal is remembered too."""
    if not item.command:
        return item.source
    key = digest(included(item.source), " ".join(item.command), item.compiler)
    path = os.path.join(ptx_folder(work), f"{item.name}-{key}.ptx")
    if not os.path.exists(path) and not os.path.exists(path + ".refused"):
        with tempfile.TemporaryDirectory(dir=work) as folder:
            result = run([*item.command, os.path.join(folder, "a.ptx")], COMPILE_LIMIT, folder)
            if result.returncode == 0:
                os.replace(os.path.join(folder, "a.ptx"), path)
            else:
                write(path + ".refused", first_line(result.stderr).encode())
    if os.path.exists(path + ".refused"):
        raise Skip("the compiler refuses it: " + read(path + ".refused").decode())
    return path


def ptx_folder(work):
    return os.path.join(os.environ.get("PTXOPT_KEPT", work), "ptx")


def write(path, data):
    """Write in one step, so that a run beside this one never reads half a file."""
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), delete=False) as file:
        file.write(data)
    os.replace(file.name, path)


def prepare(work):
    """Makes the folders for what is kept."""
    for folder in (ptx_folder(work), os.path.join(work, "code")):
        os.makedirs(folder, exist_ok=True)


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]
