"""The PTX that is measured: files of the tests, and the kernels of tests/codegen/loops by nvcc and clang.

Most of it names a newer PTX than old ptxas take, and another architecture. `lowered` writes the newest `.version` that the
ptxas takes and, for a `.target` of a later number, the architecture that is asked for. Nothing else is changed: a ptxas
refuses what its PTX or its architecture does not have, and such a text counts as not taken. Texts of architecture-specific
targets (sm_90a, sm_100f) keep theirs.

Which files are measured for an architecture is fixed by a hash of both names, so that all architectures together see most
files. Which kernels, is the same for all, so that their means can be compared.
"""
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from compilers import compiled, read
from loop_kernels import KERNELS, producers
from nounroll import without_unrolling
from sample import sampled

ROOT = Path(__file__).resolve().parents[3]
FILES = ["tests/inputs/opcodes/*.ptx", "tests/inputs/syntax/accepted/*.ptx", "samples/*.ptx", "samples/kernels/*.ptx"]
# PTX for sm_80 is what sm_86 and sm_89 get, too, and that for sm_90 or 100 all newer ones: it is made for these only.
COMPILED_FOR = {"clang": [75, 80, 90], "nvcc": [75, 80, 90, 100]}
VERSION = re.compile(r"^(\s*\.version\s+)(\d+)\.(\d+)", re.M)
TARGET = re.compile(r"^([^/\n]*\.target\s+)sm_(\d+)([af]?)\b", re.M)
KERNEL = re.compile(r"^\.visible \.entry (\w+)\(.*?^}\n", re.M | re.S)


@dataclass
class Text:
    name: str
    text: str


def suffix(arch):
    return arch[-1] if arch[-1] in "af" else ""


def number(arch):
    return int(re.search(r"\d+", arch)[0])


def target(text):
    """sm_90a; None where it says none."""
    match = TARGET.search(text)
    return f"sm_{match[2]}{match[3]}" if match else None


def files(arch, one_of):
    """Of an architecture-specific one all that name it, else a sample of the others."""
    result = []
    for pattern in FILES:
        for path in sorted(ROOT.glob(pattern)):
            text = path.read_bytes().decode("latin-1")
            own = target(text) or ""
            if own == arch if suffix(arch) else not own.endswith(("a", "f")) and taken(path.stem, arch, one_of):
                result.append(Text(str(path.relative_to(ROOT)), text))
    return result


def taken(name, arch, one_of):
    return zlib.crc32(f"{name} {arch}".encode()) % one_of == 0


def kernels(arch, names, tools, work, one_of, folder=KERNELS):
    """(producer, Text) of each file of kernels, with those of the sample; ptxas is asked not to unroll their loops."""
    for producer in producers(names, tools):
        for source in sorted(folder.glob("*.cu")):
            item = producer.compilation(source, arch, COMPILED_FOR)
            lower = next(word for word in item.command if "sm_" in word).split("=")[1]
            item.name = f"{source.stem}.{producer.name}.{lower}"  # what several architectures share
            text = read(compiled(item, work)).decode("latin-1")
            chosen = set(sampled(KERNEL.findall(text), one_of))
            if chosen:
                text = KERNEL.sub(lambda match: match[0] if match[1] in chosen else "", text)
                yield producer.name, Text(f"{source.stem} by {producer.name}", without_unrolling(text))


def lowered(text, arch, newest):
    """The text for a ptxas and an architecture."""
    def version(match):
        return match[0] if (int(match[2]), int(match[3])) <= newest else "{}{}.{}".format(match[1], *newest)

    def older(match):
        return match[0] if match[3] or int(match[2]) <= number(arch) else match[1] + arch

    text = VERSION.sub(version, text, 1)
    return text if suffix(arch) else TARGET.sub(older, text, 1)
