"""PTX of the kernels of tests/codegen/loops, as nvcc and clang make it."""
from dataclasses import dataclass
from pathlib import Path

from compilers import CUDA_HEADER, Compilation, cuda_by_clang, digest, find, read, version

KERNELS = Path(__file__).resolve().parents[1] / "codegen" / "loops" / "kernels"
PRODUCERS = ["nvcc", "clang", "clang-no-lsr"]
# What a compiler makes PTX for; for another architecture it is the newest of these before that. ptxopt and ptxas get the
# architecture itself.
COMPILED_FOR = {"clang": [75, 80, 86, 89, 90], "nvcc": [75, 80, 86, 89, 90, 100, 103, 110, 120, 121]}


@dataclass
class Producer:
    """nvcc -O3, or clang -O2 without its unrolling, with LLVM's loop strength reduction or without it."""
    name: str
    compiler: str  # nvcc or clang
    path: str  # None where there is none
    key: str  # what its output depends on beyond the source and the command

    def compilation(self, source, arch, compiled_for=None):
        """`compiled_for`: the architectures to choose from."""
        number = int(arch.removeprefix("sm_"))
        lower = f"sm_{max(n for n in (compiled_for or COMPILED_FOR)[self.compiler] if n <= number)}"
        if self.compiler == "nvcc":
            command = [self.path, f"-arch={lower}", "-O3", "-w", "-ptx"]
        else:
            command = cuda_by_clang(self.path, lower, "-O2", "-fno-unroll-loops")
            command += ["-mllvm", "-disable-lsr"] if self.name == "clang-no-lsr" else []
        return Compilation(f"{Path(source).stem}.{self.name}.{arch}", str(source), [*command, str(source), "-o"], self.key)


def compilers():
    return {"nvcc": find("NVCC", "nvcc"), "clang": find("CLANG", "clang-19", "clang")}


def producers(names, tools):
    """Those whose compiler is here."""
    keys = {name: version(path) + (digest(read(CUDA_HEADER)) if name == "clang" else "") for name, path in tools.items()}
    all_of_them = [Producer(name, name.partition("-")[0], tools[name.partition("-")[0]], keys[name.partition("-")[0]]) for name in names]
    return [producer for producer in all_of_them if producer.path]
