"""The hook for Triton 3.2 to 3.9: each kernel's PTX is optimized before Triton's own ptxas assembles it.

    import ptxopt.triton
    ptxopt.triton.install()

or `python -m ptxopt triton script.py`, or PTXOPT_HOOKS=triton in the environment. Triton may be imported before or after.

Where Triton has a hook for its stages (3.6 and newer) this is one, and calls the one that was there before; else it wraps
CUDABackend.add_stages. Either way the stage `ptx` gets a step more, so that `kernel.asm["ptx"]` is what ptxas gets. The
guard asks the ptxas that Triton calls. CUDABackend.hash, which is part of the key of Triton's cache and of Inductor's,
names the version and the options of ptxopt.
"""
from __future__ import annotations

import os
import sys
from typing import Any, Callable, Dict, Optional

from . import _hooks
from ._hooks import Stats
from ._watch import forget, when_imported

LEAST, MOST = (3, 2), (3, 9)
_BACKENDS = "triton.backends"
_undo: Optional[Callable[[], None]] = None
_wanted = False
_key = ""


def install(*, table: Optional[bool] = None, **options: Any) -> None:
    """Installs the hook; `options` are those of ptxopt.optimize. `table`: print what changed when the process ends."""
    global _wanted, _key
    _hooks.set_options(options, table)
    _key = _hooks.key()
    _wanted = True
    if _undo is None:
        when_imported(_BACKENDS, _patch)


def uninstall() -> None:
    """Leaves Triton as it was."""
    global _wanted, _undo
    _wanted = False
    forget(_BACKENDS)
    if _undo is not None:
        _undo()
        _undo = None


def stats() -> Stats:
    """What became of each kernel that Triton compiled in this process. Those that its cache had are not in it."""
    return _hooks.stats("triton")


class _Module:
    """The module of Triton's backend. Before 3.4 it is not among sys.modules, but its functions know it."""

    def __init__(self, backend: Any):
        self._names = backend.add_stages.__globals__

    def __getattr__(self, name: str) -> Any:
        try:
            return self._names[name]
        except KeyError:
            raise AttributeError(name) from None


def _patch(backends: Any) -> None:
    global _undo
    triton = sys.modules.get("triton")
    if not _wanted or not _hooks.knows("Triton", triton, LEAST, MOST):
        return
    backend: Any = getattr(getattr(backends, "backends", {}).get("nvidia"), "compiler", None)
    if not all(name in getattr(backend, "__dict__", {}) for name in ("add_stages", "hash")):
        _hooks.say_once("Triton has no backend for NVIDIA with add_stages and hash: nothing is optimized")
        return
    module = _Module(backend)
    runtime = getattr(getattr(module, "knobs", None), "runtime", None)
    undo_stages = _use_knob(module, runtime) if hasattr(runtime, "add_stages_inspection_hook") else _wrap(module, backend)
    original_hash = backend.__dict__["hash"]

    def hash_with_us(self: Any) -> str:
        return f"{original_hash(self)}-{_key}"

    backend.hash = hash_with_us

    def undo() -> None:
        undo_stages()
        if backend.__dict__.get("hash") is hash_with_us:
            backend.hash = original_hash

    _undo = undo


def _use_knob(module: Any, runtime: Any) -> Callable[[], None]:
    """By Triton's own hook, which is also called without arguments, for a key and a hash."""
    previous = runtime.add_stages_inspection_hook

    def hook(self: Any = None, stages: Optional[Dict[str, Any]] = None, options: Any = None, language: Any = None,
             capability: Any = None) -> Any:
        if stages is None:
            key, digest = previous() if previous is not None else ("", "")
            return (key + _key, digest + _key) if _wanted else (key, digest)
        if previous is not None:
            previous(self, stages, options, language, capability)
        _add_to(stages, self, module)

    runtime.add_stages_inspection_hook = hook

    def undo() -> None:
        if runtime.add_stages_inspection_hook is hook:
            runtime.add_stages_inspection_hook = previous
    return undo


def _wrap(module: Any, backend: Any) -> Callable[[], None]:
    original = backend.__dict__["add_stages"]

    def add_stages(self: Any, stages: Dict[str, Any], *rest: Any, **named: Any) -> None:
        original(self, stages, *rest, **named)
        _add_to(stages, self, module)

    backend.add_stages = add_stages

    def undo() -> None:
        if backend.__dict__.get("add_stages") is add_stages:
            backend.add_stages = original
    return undo


def _add_to(stages: Dict[str, Any], backend: Any, module: Any) -> None:
    """A step more for the stage that makes PTX."""
    make_ptx = stages.get("ptx")
    if make_ptx is None or not _wanted:
        return

    def make_better_ptx(source: Any, metadata: Any) -> Any:
        ptx = make_ptx(source, metadata)
        if not _wanted or not isinstance(ptx, str) or _is_unoptimized(module):
            return ptx
        ptxas = _ptxas_of(module, backend)
        if ptxas is not None and os.path.basename(os.path.realpath(ptxas)).startswith("ptxopt"):
            _hooks.say_once(f"Triton's ptxas is {ptxas}, which optimizes by itself: the hook does nothing")
            return ptx
        return _hooks.optimized("triton", ptx, ptxas=ptxas, name=str(metadata.get("name", "<kernel>")))

    stages["ptx"] = make_better_ptx


def _is_unoptimized(module: Any) -> bool:
    """Whether ptxas is told to compile for a debugger."""
    nvidia = getattr(getattr(module, "knobs", None), "nvidia", None)
    if nvidia is not None:
        return bool(getattr(nvidia, "disable_ptxas_opt", False))
    return os.environ.get("DISABLE_PTXAS_OPT", "0").lower() in ("1", "true", "on", "y", "yes")


def _ptxas_of(module: Any, backend: Any) -> Optional[str]:
    """The ptxas that Triton calls for this GPU: its function has changed its parameters and its result over time."""
    arch = backend.target.arch
    calls: Any = []
    if hasattr(module, "get_ptxas"):
        calls = [lambda: module.get_ptxas(arch), lambda: module.get_ptxas()]
    elif hasattr(module, "_path_to_binary"):
        calls = [lambda: module._path_to_binary("ptxas")]
    for call in calls:
        try:
            found = call()
        except TypeError:
            continue
        except Exception:
            return None
        path = found[0] if isinstance(found, tuple) else getattr(found, "path", None)
        return path if isinstance(path, str) else None
    return None
