"""run(): a kernel in the interpreter, on NumPy arrays, in place, without a GPU."""
from __future__ import annotations

import ctypes
import json
import operator
import re
import struct
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from ._commands import Files, Source, run_checked, text_of
from ._errors import CheckFailed, ExecutionError, UsageError

Shape = Union[int, Sequence[int]]
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_ENTRY = re.compile(r"\.entry\s+([\w$%]+)\s*(?:\((.*?)\))?", re.S)
_TYPE = re.compile(r"\.(u8|s8|b8|u16|s16|b16|f16|u32|s32|b32|f32|u64|s64|b64|f64)\b")
_FLOAT = {"f16": "e", "f32": "f", "f64": "d"}


class RunResult:
    """What run() leaves beside the arrays: `output`, what the kernel printed, and `profile` where it was asked for."""

    def __init__(self, output: str, profile: Optional[Dict[str, Any]]):
        self.output, self.profile = output, profile

    def __repr__(self) -> str:
        return "<ptxopt.RunResult>"


def _parameters(text: str, kernel: Optional[str]) -> List[str]:
    """The types of a kernel's parameters; "" for a structure."""
    entries = _ENTRY.findall(_COMMENT.sub(" ", text))
    chosen = [e for e in entries if kernel in (None, e[0])]
    if len(chosen) != 1:
        raise UsageError(f"kernel= is to be one of {', '.join(e[0] for e in entries)}" if entries else "there is no kernel")
    types = []
    for declared in filter(str.strip, chosen[0][1].split(",")):
        found = _TYPE.search(declared)
        types.append("" if found is None or "[" in declared else found[1])
    return types


def _scalar(value: Any, declared: str, index: int) -> str:
    """An argument of the program: the type that the kernel declares, and the bits."""
    if isinstance(value, (bytes, bytearray)):
        return f"bytes:{bytes(value).hex()}"
    bits = int(declared[1:] or 0) if declared else 0
    if not bits:
        raise UsageError(f"argument {index} is a structure: give its bytes")
    try:
        if declared in _FLOAT:
            packed = struct.pack("<" + _FLOAT[declared], float(value))
        elif isinstance(value, float) or (hasattr(value, "dtype") and getattr(value.dtype, "kind", "") == "f"):
            if hasattr(value, "tobytes"):  # a NumPy number for a parameter that is declared by its bits
                packed = value.tobytes()
            else:
                raise UsageError(f"argument {index} is a float, and the kernel declares .{declared}")
        else:
            number = int(value)
            if not -(1 << (bits - 1)) <= number < 1 << bits:
                raise UsageError(f"argument {index}, {number}, does not fit into .{declared}")
            packed = (number & ((1 << bits) - 1)).to_bytes(bits // 8, "little")
    except (TypeError, struct.error, OverflowError) as error:
        raise UsageError(f"argument {index}, {value!r}, is no .{declared}: {error}") from None
    if len(packed) * 8 != bits:
        raise UsageError(f"argument {index} has {len(packed)} bytes, and the kernel declares .{declared}")
    return f"b{bits}:0x{int.from_bytes(packed, 'little'):0{bits // 4}x}"


def _view(array: Any, index: int) -> memoryview:
    """The bytes of an array, without a copy."""
    if getattr(getattr(array, "dtype", None), "hasobject", False):
        raise UsageError(f"argument {index} is an array of Python objects")
    try:
        view = memoryview(array)
    except (TypeError, ValueError):
        if not hasattr(array, "view"):
            raise UsageError(f"argument {index} is neither a number nor an array") from None
        view = memoryview(array.view("u1"))  # element types that only NumPy knows
    if not view.c_contiguous:
        raise UsageError(f"argument {index} is not contiguous; pass numpy.ascontiguousarray() of it")
    return view.cast("B") if view.nbytes else view


def _is_array(value: Any) -> bool:
    if isinstance(value, (bytes, bytearray, int, float)):
        return False
    return getattr(value, "shape", None) != ()  # a NumPy number has a shape too, of no dimensions


def _place(array: Any, view: memoryview) -> Tuple[int, int]:
    """Its address and size, by which two arguments are known to be one array."""
    interface = getattr(array, "__array_interface__", None)
    if interface:
        return interface["data"][0], view.nbytes
    if view.readonly or not view.nbytes:
        return id(array), 0  # where it lies is not known, and it does not change
    return ctypes.addressof(ctypes.c_char.from_buffer(view)), view.nbytes


def run(ptx: Source, args: Sequence[Any], *, grid: Shape = 1, block: Shape = 1, kernel: Optional[str] = None,
        cluster: Optional[Shape] = None, shared: int = 0, check_races: bool = False, check_uninit: bool = False,
        profile: bool = False, max_steps: Optional[int] = None, jobs: int = 1) -> RunResult:
    """Runs a kernel of `ptx` in the interpreter (docs/run.md). `args` are its arguments in order: arrays, which are
    changed in place, and whose element type is not looked at; numbers, which become what the kernel declares; bytes of
    structures.

    The same array twice is the same memory. ExecutionError where the kernel fails: an access out of bounds; with
    `check_races` a data race; with `check_uninit` a read of what nothing has written."""
    text = text_of(ptx)
    declared = _parameters(text if isinstance(text, str) else text.decode("utf-8", "replace"), kernel)
    if len(declared) != len(args):
        raise UsageError(f"the kernel has {len(declared)} parameters, not {len(args)}")

    def shape(value: Shape) -> str:
        values = value if isinstance(value, Sequence) else [value]
        return ",".join(str(operator.index(v)) for v in values)  # also of a NumPy number

    command = ["run", "--grid", shape(grid), "--block", shape(block), "--jobs", str(jobs)]
    command += ["--kernel", kernel] if kernel else []
    command += ["--cluster", shape(cluster)] if cluster is not None else []
    command += ["--shared", str(shared)] if shared else []
    command += ["--max-steps", str(max_steps)] if max_steps is not None else []
    command += ["--check-races"] * check_races + ["--check-uninit"] * check_uninit
    with Files() as files:
        arguments: List[str] = []
        buffers: Dict[Tuple[int, int], str] = {}
        written: List[Tuple[memoryview, Any]] = []
        read_only: List[Tuple[int, Any]] = []
        for index, (value, kind) in enumerate(zip(args, declared)):
            if not _is_array(value):
                arguments.append(_scalar(value, kind, index))
                continue
            view = _view(value, index)
            place = _place(value, view)
            if place in buffers:
                arguments.append(buffers[place])
                continue
            name, file = f"arg{index}", files.folder / f"arg{index}"
            if any(a < place[0] + place[1] and place[0] < a + size for a, size in buffers):
                raise UsageError(f"argument {index} overlaps another array without being the same")
            buffers[place] = name
            file.write_bytes(view)
            width = view.nbytes // max(len(value), 1) if getattr(value, "ndim", 1) == 1 else 1
            width = width if width in (1, 2, 4, 8) else 1
            arguments.append(f"{name}=buf:b{8 * width}:{view.nbytes // width}:@{file}")
            if view.readonly:
                read_only.append((index, file))
                command += ["--dump", f"{name}={files.folder / f'{name}.out'}"]
            else:
                written.append((view, files.folder / f"{name}.out"))
                command += ["--dump", f"{name}={files.folder / f'{name}.out'}"]
        counted = files.folder / "profile.json"
        command += [f"--profile={counted}"] if profile else []
        command += ["--arg", *arguments] if arguments else []
        try:
            output = run_checked(files, [command[0], files.path(text, "kernel.ptx"), *command[1:]])
        except CheckFailed as error:
            raise ExecutionError(error.message) from None
        for index, file in read_only:
            if file.read_bytes() != file.with_suffix(".out").read_bytes():
                raise UsageError(f"the kernel writes to argument {index}, a read-only array")
        for view, file in written:
            view[:] = file.read_bytes()
        return RunResult(output.decode("utf-8", "replace"), json.loads(counted.read_bytes()) if profile else None)
