"""The hook for Warp 1.16 to 1.19: the PTX that NVRTC writes for a module is optimized before Warp loads it.

    import ptxopt.warp
    ptxopt.warp.install()

Warp writes PTX or a cubin; this hook has it write PTX (warp.config.cuda_output) where the program has not chosen, since a
cubin is past optimizing. compile_aot_module for an architecture does not ask warp.config: the hook has it write PTX too
where use_ptx is None. load_aot_module looks for PTX first. The hash of a module, which names its folder in Warp's cache, has the version and the options
of ptxopt.
"""
from __future__ import annotations

import os
import sys
from typing import Any, Callable, Optional

from . import _hooks
from ._client import Client, Named
from ._hooks import Stats

LEAST, MOST = (1, 16), (1, 19)
_CONTEXT = "warp._src.context"
_client = Client()


def install(*, table: Optional[bool] = None, **options: Any) -> None:
    """Installs the hook; `options` are those of ptxopt.optimize. `table`: print what changed when the process ends."""
    _client.install({_CONTEXT: _patch}, options, table)


def uninstall() -> None:
    """Leaves Warp as it was."""
    _client.uninstall()


def stats() -> Stats:
    return _hooks.stats("warp")


def _patch(context: Any) -> None:
    config = sys.modules.get("warp.config")
    build = sys.modules.get("warp._src.build")
    if not _client.wanted or not _hooks.knows("Warp", Named(getattr(config, "version", "")), LEAST, MOST):
        return
    hasher = getattr(context, "ModuleHasher", None)
    if not hasattr(build, "build_cuda") or hasher is None:
        _hooks.say_once("Warp has no build_cuda or no ModuleHasher: nothing is optimized")
        return
    _client.patches.wrap(build, "build_cuda", _build_cuda)
    _client.patches.wrap(hasher, "__init__", _hash_with_us)
    if getattr(config, "cuda_output", "") is None:
        _client.patches.set(config, "cuda_output", "ptx")
    module = getattr(context, "Module", None)
    if hasattr(module, "_get_compile_output_name"):
        _client.patches.wrap(module, "_get_compile_output_name", lambda original: _output_name(original, config))


def _output_name(original: Callable[..., str], config: Any) -> Callable[..., str]:
    """Its ending says what Warp compiles to."""
    def _get_compile_output_name(self: Any, device: Any, output_arch: Any = None, arch_suffix: str = "", use_ptx: Optional[bool] = None,
                                 *rest: Any, **named: Any) -> str:
        if use_ptx is None and device is None:
            use_ptx = True if config.cuda_output == "ptx" else None
        return original(self, device, output_arch, arch_suffix, use_ptx, *rest, **named)
    return _get_compile_output_name


def _build_cuda(original: Callable[..., Any]) -> Callable[..., Any]:
    def build_cuda(cu_path: str, arch: int, output_path: str, *rest: Any, **named: Any) -> Any:
        returned = original(cu_path, arch, output_path, *rest, **named)
        if named.get("config") == "debug":
            return returned
        if not output_path.endswith(".ptx"):
            _hooks.say_once("Warp writes a cubin, which is not optimized; cuda_output = 'ptx', of warp.config and of the module, and "
                            "use_ptx=True of compile_aot_module change that")
            return returned
        with open(output_path, "rb") as file:
            ptx = file.read()
        better = _hooks.optimized("warp", ptx.rstrip(b"\0"), name=os.path.basename(output_path))
        if better != ptx.rstrip(b"\0"):
            with open(output_path, "wb") as file:
                file.write(better)
        return returned
    return build_cuda


def _hash_with_us(original: Callable[..., None]) -> Callable[..., None]:
    def __init__(self: Any, kernels: Any, options: Any, *rest: Any, **named: Any) -> None:
        original(self, kernels, {**options, "ptxopt": _client.key}, *rest, **named)
    return __init__
