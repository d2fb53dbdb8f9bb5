"""The hook for CuTe DSL 4 (nvidia-cutlass-dsl): the PTX of what cute.compile and @cute.jit compile is optimized.

    import ptxopt.cutedsl
    ptxopt.cutedsl.install()

CuTe DSL compiles in a library, from MLIR to machine code, which is a constant of the module that Compiler.compile leaves.
The hook has the library write the PTX too (its option dump-ptx-path), optimizes that, has a ptxas assemble it with the
options of the pipeline, and replaces the constant. That ptxas is at least as new as the library's, whose code may be better than
that of an older one. The files of CUTE_DSL_KEEP=ptx,cubin are what is loaded. A module with
several binaries, and relocatable code, are not optimized. CuTe DSL's caches have the version and the options of ptxopt in
their key.
"""
from __future__ import annotations

import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Callable, List, Optional, Tuple

from . import _hooks
from ._assemble import machine_code
from ._client import Client
from ._hooks import Stats
from ._programs import program_path
from ._toolchains import environment

LEAST, MOST = (4, 8), (4, 8)
_COMPILER, _DSL = "cutlass.base_dsl.compiler", "cutlass.base_dsl.dsl"
_FATBIN = b"\x50\xed\x55\xba"  # with which the machine code begins
_client = Client()


def install(*, table: Optional[bool] = None, **options: Any) -> None:
    """Installs the hook; `options` are those of ptxopt.optimize. `table`: print what changed when the process ends."""
    _client.install({_COMPILER: _patch_compiler, _DSL: _patch_key}, options, table)


def uninstall() -> None:
    """Leaves CuTe DSL as it was."""
    _client.uninstall()


def stats() -> Stats:
    return _hooks.stats("cutedsl")


def _knows() -> bool:
    return _client.wanted and _hooks.knows("CuTe DSL", sys.modules.get("cutlass"), LEAST, MOST)


def _patch_compiler(module: Any) -> None:
    compiler = getattr(module, "Compiler", None)
    if not _knows():
        return
    if not hasattr(compiler, "compile"):
        _hooks.say_once("CuTe DSL has no Compiler.compile: nothing is optimized")
        return
    _client.patches.wrap(compiler, "compile", _compile)


def _patch_key(module: Any) -> None:
    dsl = getattr(module, "BaseDSL", None)
    if _knows() and hasattr(dsl, "get_module_hash"):
        def with_key(original: Callable[..., str]) -> Callable[..., str]:
            def get_module_hash(self: Any, *arguments: Any, **named: Any) -> str:
                return f"{original(self, *arguments, **named)}-{_client.key}"
            return get_module_hash
        _client.patches.wrap(dsl, "get_module_hash", with_key)


def _compile(original: Callable[..., Any]) -> Callable[..., Any]:
    def compile(self: Any, module: Any, pipeline: str, *rest: Any, **named: Any) -> Any:
        if not pipeline.endswith("})") or "cute-to-nvvm{" not in pipeline:  # what is not ours to change
            return original(self, module, pipeline, *rest, **named)
        kept = _path_of(pipeline, "dump-ptx-path")
        folder = tempfile.mkdtemp(prefix="ptxopt-cutedsl-")
        try:
            stem = kept or os.path.join(folder, "kernel")
            before = {path: os.stat(path).st_mtime_ns for path in _files(stem, "ptx")}
            changed = pipeline if kept else f"{pipeline[:-2]} dump-ptx-path='{stem}'}})"
            compiled = original(self, module, changed, *rest, **named)
            written = [path for path in _files(stem, "ptx") if before.get(path) != os.stat(path).st_mtime_ns]
            if written:
                try:
                    _optimize(compiled, pipeline, written)
                except Exception as error:  # whatever it is, CuTe DSL goes on without us
                    _hooks.say_once(f"CuTe DSL: not optimized: {error}")
            return compiled
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return compile


def _optimize(module: Any, pipeline: str, written: List[str]) -> None:
    """Replaces the machine code of a compiled module, where it is that of one text of PTX."""
    binaries = [(op, code) for op, code in map(_constant, module.body.operations) if code.startswith(_FATBIN)]
    options = _ptxas_options(pipeline)
    if len(written) != 1 or len(binaries) != 1 or options is None:
        _hooks.say_once("CuTe DSL makes several binaries of a function, or relocatable code, which is not optimized")
        return
    with open(written[0], "rb") as file:
        ptx = file.read().rstrip(b"\0")
    theirs = _release(ptx[:1000])
    if theirs and theirs > (_release_here() or (0, 0)):
        _hooks.say_once("CuTe DSL's ptxas is that of CUDA %d.%d, and none so new is found: not optimized; "
                        "pip install -U nvidia-cuda-nvcc" % theirs)
        return
    result = _hooks.result_of("cutedsl", ptx, name=os.path.basename(written[0]), ptxas_options=options, wants_cubin=True)
    if result is None or not result.changed:
        return
    cubin = machine_code("CuTe DSL", result, options)
    if cubin is None:
        return
    _replace(binaries[0][0], cubin)
    for name, text in (("dump-ptx-path", result.ptx), ("dump-cubin-path", cubin)):  # what the program asked for
        for path in _files(_path_of(pipeline, name), name.split("-")[1]):
            if os.path.basename(path).rsplit(".", 1)[0] == os.path.basename(written[0]).rsplit(".", 1)[0]:
                with open(path, "wb") as out:
                    out.write(text)


def _release(text: bytes) -> Optional[Tuple[int, int]]:
    """The CUDA release that a text of NVIDIA's programs names."""
    found = re.search(rb"release (\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else None


def _release_here() -> Optional[Tuple[int, int]]:
    """That of the ptxas which assembles."""
    done = subprocess.run([program_path("ptxopt-ptxas"), "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment())
    return _release(done.stdout)


def _constant(operation: Any) -> Tuple[Any, bytes]:
    """An operation and its bytes, which only constants have."""
    op = operation.operation
    value = op.attributes["value"] if op.name == "llvm.mlir.global" and "value" in op.attributes else None
    return op, getattr(value, "value_bytes", b"")


def _replace(op: Any, code: bytes) -> None:
    """The driver takes a cubin where it takes a file of several."""
    ir = sys.modules["cutlass._mlir.ir"]
    with op.context, op.location:
        op.attributes["value"] = ir.StringAttr.get(code)
        op.attributes["global_type"] = ir.TypeAttr.get(ir.Type.parse(f"!llvm.array<{len(code)} x i8>"))


def _path_of(pipeline: str, option: str) -> str:
    found = re.search(rf"{option}='([^']*)'", pipeline)
    return found[1] if found else ""


def _files(stem: str, ending: str) -> List[str]:
    """STEM.sm_90a.ENDING, as CuTe DSL names them."""
    return glob.glob(f"{glob.escape(stem)}.*.{ending}") if stem else []


def _ptxas_options(pipeline: str) -> Optional[List[str]]:
    """As the library calls ptxas; None for relocatable code."""
    if re.search(r"\brdc(=true)?[ }]", pipeline):
        return None
    options = shlex.split(_path_of(pipeline, "ptx-options"))
    level = re.search(r"\bopt-level=(\d)", pipeline)
    if level and level[1] != "3":
        options.append(f"-O{level[1]}")
    if re.search(r"\bpreserve-line-info(=true)?[ }]", pipeline):
        options.append("-lineinfo")
    return options
