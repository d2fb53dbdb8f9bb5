"""What makes PTX here, of which kernels, and how; or why it cannot."""
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parents[1] / "lib"))
from compilers import (CUDA_HEADER, OPENCL_FLAGS, OPENCL_HEADER, Compilation, cuda_by_clang, digest, find,  # noqa: E402
                       newest, read, version)
from framework_packages import packages_of, python_with  # noqa: E402
from gcc_offload import device_compiler  # noqa: E402

KERNELS = HERE / "kernels"
# Producer: the sources of each set. `own` is this folder's, `loops` what tests/codegen/loops has.
CUDA = {"own": (KERNELS / "cuda", "*.cu"), "samples": (ROOT / "samples" / "kernels", "*.cu"),
        "loops": (HERE.parent / "loops" / "kernels", "*.cu")}
SOURCES = {
    "nvcc": CUDA,
    "clang-O2": CUDA,
    "clang-O0": CUDA,
    "newest-clang-O2": CUDA,
    "newest-clang-O0": CUDA,
    "slices": {"own": (KERNELS / "slices", "*.cu")},
    "opencl-O2": {"own": (KERNELS / "opencl", "*.cl")},
    "opencl-O0": {"own": (KERNELS / "opencl", "*.cl")},
    "openacc": {"own": (KERNELS / "openacc", "*.c")},
    "openmp": {"own": (KERNELS / "openmp", "*.c")},
    "numba": {"own": (KERNELS / "python", "numba_kernels.py")},
    **{name: {"own": (KERNELS / "python", f"{name}_kernels.py")} for name in ("triton", "cutedsl", "mojo", "slang", "tilelang")},
}
# What needs packages from a registry, and their environment.
PACKAGED = {"numba": "frameworks", "triton": "frameworks", "cutedsl": "cutedsl", "mojo": "mojo", "slang": "slang", "tilelang": "tilelang"}
# Those without bounds, whose release is whatever is installed; the bounds are of the clang that has a name of its own.
NEWEST = [name for name in SOURCES if name.startswith("newest-")]
BOUNDED_CLANG = ("clang-19", "clang")
SETS = list(CUDA)


class Missing(Exception):
    """The producer is not here; str() is what is missing."""


@dataclass
class Item:
    """One file of PTX by one producer."""
    producer: str
    of: str  # which set
    compilation: Compilation

    def name(self):
        return f"{self.producer}: {self.compilation.name}"


def needed(program, *names):
    path = find(program, *names)
    if not path:
        raise Missing(f"there is no {names[0]}")
    return path


def newest_clang():
    path, number = newest("clang")
    bounded = release(find("CLANG", *BOUNDED_CLANG))
    if number <= bounded:
        raise Missing(f"there is no clang newer than {bounded}")
    return path


def release(clang):
    """The number of a clang's major release; 0 where there is none."""
    said = re.search(r"clang version (\d+)", version(clang))
    return int(said[1]) if said else 0


def of_cuda_by_clang(level, choose=lambda: needed("CLANG", *BOUNDED_CLANG)):
    def commands(source, arch):
        clang = choose()
        yield source.stem, [*cuda_by_clang(clang, arch, level), str(source), "-o"], version(clang) + digest(read(CUDA_HEADER))
    return commands


def of_cuda_by_nvcc(source, arch):
    nvcc = needed("NVCC", "nvcc")
    yield source.stem, [nvcc, f"-arch={arch}", "-O3", "-w", "-ptx", str(source), "-o"], version(nvcc)


def of_opencl(level):
    def commands(source, arch):
        clang = needed("CLANG", *BOUNDED_CLANG)
        headers = digest(*(read(path) for path in sorted(OPENCL_HEADER.parent.glob("*.h"))))
        yield source.stem, [clang, *OPENCL_FLAGS, f"-march={arch}", level, "-S", str(source), "-o"], version(clang) + headers
    return commands


def of_gcc(language):
    def commands(source, arch):
        gcc = needed("GCC", "gcc-12", "gcc")
        if not device_compiler(gcc):
            raise Missing("gcc has no compiler for nvptx (Debian's gcc-12-offload-nvptx)")
        wrapper = HERE / "gcc_offload.py"
        yield source.stem, [sys.executable, str(wrapper), gcc, language, arch, str(source)], version(gcc) + digest(read(wrapper))
    return commands


def of_python(producer):
    """A file for each kernel."""
    def commands(source, arch):
        environment = PACKAGED[producer]
        python, why = python_with(environment, install=False)
        if not python:
            raise Missing(f"its packages: {why}; --install installs them")
        listed = subprocess.run([python, source, "--list"], capture_output=True, text=True)
        if listed.returncode:
            raise Missing(listed.stderr.strip().splitlines()[-1])
        kernels = digest(*(read(path) for path in sorted(KERNELS.glob(f"{producer}/*"))))  # of those in another language
        capability = re.search(r"\d+", arch)[0] if environment == "frameworks" else arch.removeprefix("sm_")
        for name in listed.stdout.split():
            command = [python, str(source), name, capability]
            yield name, command, " ".join(["packages", *packages_of(environment), kernels])
    return commands


COMMANDS = {"nvcc": of_cuda_by_nvcc, "clang-O2": of_cuda_by_clang("-O2"), "clang-O0": of_cuda_by_clang("-O0"),
            "newest-clang-O2": of_cuda_by_clang("-O2", newest_clang), "newest-clang-O0": of_cuda_by_clang("-O0", newest_clang),
            "slices": of_cuda_by_clang("-O2"), "opencl-O2": of_opencl("-O2"), "opencl-O0": of_opencl("-O0"),
            "openacc": of_gcc("openacc"), "openmp": of_gcc("openmp"), **{name: of_python(name) for name in PACKAGED}}


def items(producer, arch, sets):
    """Raises Missing."""
    result = []
    for of, (folder, pattern) in SOURCES[producer].items():
        for source in sorted(folder.glob(pattern)) if of in sets else []:
            for name, command, key in COMMANDS[producer](source, arch):
                result.append(Item(producer, of, Compilation(f"{producer}.{arch}.{name}", str(source), command, key)))
    return result
