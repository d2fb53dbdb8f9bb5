"""The hook for CuPy 13 and 14: the PTX that NVRTC makes of a RawModule, a RawKernel or one of CuPy's own kernels is optimized.

    import ptxopt.cupy
    ptxopt.cupy.install()

CuPy asks NVRTC for a cubin unless $CUPY_COMPILE_WITH_PTX is 1; this hook has it ask for PTX, which the driver assembles.
What the program loads from a file of its own (RawModule(path=...)) does not pass through here. CuPy's cache keeps what was
compiled with other versions or options of ptxopt apart.
"""
from __future__ import annotations

import sys
from typing import Any, Callable, Optional

from . import _hooks
from ._client import Client, Named
from ._hooks import Stats

LEAST, MOST = (13, 0), (14, 99)
_COMPILER = "cupy.cuda.compiler"
_client = Client()


def install(*, table: Optional[bool] = None, **options: Any) -> None:
    """Installs the hook; `options` are those of ptxopt.optimize. `table`: print what changed when the process ends."""
    _client.install({_COMPILER: _patch}, options, table)


def uninstall() -> None:
    """Leaves CuPy as it was."""
    _client.uninstall()


def stats() -> Stats:
    return _hooks.stats("cupy")


def _version() -> str:
    found = sys.modules.get("cupy._version") or sys.modules.get("cupy")
    return getattr(found, "__version__", "")


def _patch(compiler: Any) -> None:
    if not _client.wanted or not _hooks.knows("CuPy", Named(_version()), LEAST, MOST):
        return
    program = getattr(compiler, "_NVRTCProgram", None)
    if not hasattr(program, "compile") or not hasattr(compiler, "_use_ptx") or not hasattr(compiler, "_get_cupy_cache_key"):
        _hooks.say_once("CuPy's compiler is not as it was: nothing is optimized")
        return
    _client.patches.set(compiler, "_use_ptx", True)
    _client.patches.wrap(program, "compile", _compile)
    _client.patches.wrap(compiler, "_get_cupy_cache_key", lambda original: lambda: f"{original()}-{_client.key}")


def _compile(original: Callable[..., Any]) -> Callable[..., Any]:
    def compile(self: Any, options: Any = (), *rest: Any, **named: Any) -> Any:
        made, mapping = original(self, options, *rest, **named)
        if self.method != "ptx" or any(o in ("-G", "--device-debug") for o in options):
            return made, mapping
        ptx = made.rstrip(b"\0") if isinstance(made, bytes) else made
        better = _hooks.optimized("cupy", ptx, name=str(self.name))
        return (made if better == ptx else better), mapping
    return compile
