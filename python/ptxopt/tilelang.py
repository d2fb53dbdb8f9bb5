"""The hook for TileLang 0.1: nvcc, which compiles what TileLang makes, optimizes the PTX on its way to ptxas.

    import ptxopt.tilelang
    ptxopt.tilelang.install()

TileLang writes CUDA C++ and calls the nvcc that get_nvcc_compiler names, for its back ends tvm_ffi, the default, and cython.
The hook names a program that calls `ptxopt nvcc` with that nvcc; its reports tell what it did. The back end nvrtc compiles
to machine code by itself, which is said once. TileLang's caches have the version and the options of ptxopt in their key.
"""
from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from typing import Any, Callable, Dict, List, Optional

from . import _hooks
from ._client import Client
from ._drop_in import arguments_of, options_text, records_of
from ._hooks import KernelStats, Stats
from ._programs import program_path
from ._toolchains import package_folders

LEAST, MOST = (0, 1), (0, 1)
_client = Client()
_folder = ""
_arguments: List[str] = []


def install(*, table: Optional[bool] = None, **options: Any) -> None:
    """Installs the hook; `options` are level, those of the guard, passes and knobs of ptxopt.optimize."""
    global _arguments, _folder
    _arguments = arguments_of("TileLang", _hooks.with_usual(options))
    if not _folder:
        _folder = tempfile.mkdtemp(prefix="ptxopt-tilelang-")
        _hooks.at_end(lambda: shutil.rmtree(_folder, ignore_errors=True))
    _client.install({"tilelang.contrib.nvcc": _patch_nvcc, "tilelang.jit.adapter.libgen": _patch_nvcc,
                     "tilelang.jit.adapter.nvrtc.libgen": _patch_nvrtc,
                     "tilelang.cache.binary_cache": _patch_binary_cache, "tilelang.cache.kernel_cache": _patch_kernel_cache},
                    options, table)
    _hooks.add_source(_records)


def uninstall() -> None:
    """Leaves TileLang as it was."""
    _client.uninstall()


def stats() -> Stats:
    """What nvcc was called with, a row for each kernel."""
    return _hooks.stats("tilelang")


def _knows() -> bool:
    return _client.wanted and _hooks.knows("TileLang", sys.modules.get("tilelang"), LEAST, MOST)


def _patch_nvcc(module: Any) -> None:
    if not _knows():
        return
    if not hasattr(module, "get_nvcc_compiler"):
        _hooks.say_once(f"TileLang has no get_nvcc_compiler in {module.__name__}: nothing is optimized")
        return
    _client.patches.wrap(module, "get_nvcc_compiler", _nvcc_compiler)


def _nvcc_compiler(original: Callable[[], str]) -> Callable[[], str]:
    def get_nvcc_compiler() -> str:
        real = original()  # ours already, where a module has taken the function of another
        return _our_nvcc(real) if _client.wanted and os.path.dirname(real) != _folder else real
    return get_nvcc_compiler


def _our_nvcc(real: str) -> str:
    """A program that calls `ptxopt nvcc REAL` with the options of the hook."""
    try:
        program = os.path.join(_folder, "nvcc")
        variables = {"PTXOPT_OPTIONS": options_text(_arguments, os.path.join(_folder, "reports")),
                     "PTXOPT_PYTHON_PACKAGES": os.pathsep.join(package_folders())}
        settings = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items() if value)
        text = f'#!/bin/sh\n{settings} exec {shlex.quote(program_path("ptxopt"))} nvcc {shlex.quote(real)} "$@"\n'
        handle, written = tempfile.mkstemp(dir=_folder)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(written, 0o700)
        os.replace(written, program)  # another thread may call it now
        return program
    except Exception as error:  # whatever it is, TileLang goes on without us
        _hooks.say_once(f"TileLang: not optimized: {error}")
        return real


def _patch_nvrtc(module: Any) -> None:
    if _knows() and hasattr(module, "compile_cuda"):
        def saying(original: Callable[..., Any]) -> Callable[..., Any]:
            def compile_cuda(*arguments: Any, **named: Any) -> Any:
                _hooks.say_once("TileLang's back end nvrtc makes machine code by itself, which is not optimized; "
                                "execution_backend='tvm_ffi' changes that")
                return original(*arguments, **named)
            return compile_cuda
        _client.patches.wrap(module, "compile_cuda", saying)


def _patch_binary_cache(module: Any) -> None:
    cache = getattr(module, "BinaryCache", None)
    if _knows() and hasattr(cache, "_finalize_key"):
        original = cache._finalize_key.__func__

        def _finalize_key(cls: Any, key_data: Dict[str, Any]) -> str:
            return original(cls, {**key_data, "ptxopt": _client.key})
        _client.patches.set(cache, "_finalize_key", classmethod(_finalize_key))


def _patch_kernel_cache(module: Any) -> None:
    cache = getattr(module, "KernelCache", None)
    if _knows() and hasattr(cache, "_get_base_key"):
        original = cache._get_base_key

        def _get_base_key() -> Dict[str, Any]:
            return {**original(), "ptxopt": _client.key}
        _client.patches.set(cache, "_get_base_key", staticmethod(_get_base_key))


def _records() -> List[KernelStats]:
    return records_of("tilelang", os.path.join(_folder, "reports")) if _folder else []
