"""What NVIDIA's disassembler says of machine code: instructions, and the graph of blocks.

nvdisasm is $NVDISASM, that of the PATH, or that of /usr/local/cuda/bin; from_packages() gets a newer one, and a ptxas, from PyPI.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
from framework_packages import python_with  # noqa: E402
import operations  # noqa: E402

INSTALLED = "/usr/local/cuda/bin/nvdisasm"
LINE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@(!?)U?P([0-6T])\s+)?([^\s;]+)\s*([^;\n]*?)\s*;", re.M)
TEXT = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+([^;\n]*?)\s*;", re.M)
# What leads somewhere that the instruction itself says.
TARGET = {"BRA": r"(0x[0-9a-f]+)$", "JMP": r"(0x[0-9a-f]+)$", "BSSY": r"(0x[0-9a-f]+)$",
          "CALL": r"^(?:!?U?P[0-6T], *)?(0x[0-9a-f]+)$", "WARPSYNC": r"(0x[0-9a-f]+)$"}
NODE = re.compile(r'^"([^"]+)"\n\[label="(.*)"\]$', re.M)
EDGE = re.compile(r'^"([^"]+)":\w+(?::\w+)? -> "([^"]+)"', re.M)
PLACE = re.compile(r"(?:^|\\l|\||>)([0-9a-f]{4,}):\\ ")


class Refused(Exception):
    """nvdisasm could not read it; str() is what it said."""


@dataclass(frozen=True)
class Line:
    """An instruction: `guard` is `-`, or like `@!P0`; `target` in bytes, None for none."""
    guard: str
    mnemonic: str
    target: int
    is_absolute: bool = False  # the target, which then is not from the beginning of the code
    operation: str = None  # what it asks of a machine (operations.py); None for what is not compared
    stall: int = None  # of what src/measure/sass decoded
    write: int = None  # the scoreboard that it sets until its results are written, likewise


def find_nvdisasm():
    return next((p for p in (os.environ.get("NVDISASM"), shutil.which("nvdisasm"), INSTALLED) if p and os.path.exists(p)), None)


def from_packages():
    """-> (nvdisasm, ptxas, ""), or (None, None, why not)."""
    python, why = python_with("cuda-tools")
    if not python:
        return None, None, why
    folder = next(Path(python).parent.parent.glob("lib/python*/site-packages/nvidia/cu13/bin"))
    return str(folder / "nvdisasm"), str(folder / "ptxas"), ""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise Refused(done.stderr.strip()[:300] or f"status {done.returncode}")
    return done.stdout


def raw(program, number, code):
    """The instructions of bytes that are machine code of sm_`number`, in their order; None for one that nvdisasm passes over
    in silence (F2FP of sm_75 with a constant, 13.0 and 13.5)."""
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(code)
        file.flush()
        text = run([program, "-b", f"SM{number}", file.name])
    lines = {int(match[1], 16): parsed(match) for match in LINE.finditer(text)}
    if not lines or max(lines) >= len(code) or any(at % 16 for at in lines):
        raise Refused(f"{len(lines)} lines for {len(code)} bytes")
    return [lines.get(at) for at in range(0, len(code), 16)]


def texts(program, number, code):
    """The text of each instruction, as raw() takes them."""
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(code)
        file.flush()
        text = run([program, "-b", f"SM{number}", file.name])
    lines = dict((int(place, 16), line) for place, line in TEXT.findall(text))
    return [lines.get(at) for at in range(0, len(code), 16)]


def parsed(match):
    _, negated, predicate, opcode, operands = match.groups()
    mnemonic = opcode.split(".")[0]
    guard = f"@{negated}P{predicate}" if predicate else "-"
    leads = mnemonic in TARGET and (mnemonic != "WARPSYNC" or ".COLLECTIVE" in opcode)
    where = re.search(TARGET[mnemonic], operands) if leads else None
    is_absolute = mnemonic == "JMP" or ".ABS" in opcode
    return Line(guard, mnemonic, int(where[1], 16) if where else None, is_absolute, operations.expected(opcode, operands))


def graph(program, cubin, function_sections):
    """section -> {first place of a block: (places of its instructions, first places of the blocks that follow)}.

    `function_sections` maps the name of each function to its section: functions within a kernel's section have graphs of
    their own.
    """
    text = run([program, "-bbcfg", "-poff", cubin])
    result = defaultdict(dict)
    for part in re.split(r'^subgraph "cluster_', text, flags=re.M)[1:]:
        section = function_sections.get(part[:part.index('"')])
        if section is None:
            continue
        places = {name: [int(place, 16) for place in PLACE.findall(label)] for name, label in NODE.findall(part)}
        follows = defaultdict(set)
        for source, target in EDGE.findall(part):
            follows[source].add(target)
        for name, at in places.items():
            if at:
                result[section][at[0]] = (at, [places[to][0] for to in follows[name] if places.get(to)])
    return result
