"""The hook for Triton 3.2 to 3.9: each kernel's PTX is optimized before Triton's own ptxas assembles it.

    import ptxopt.triton
    ptxopt.triton.install()

or `python -m ptxopt triton script.py`, or PTXOPT_HOOKS=triton in the environment. Triton may be imported before or after.

Where Triton has a hook for its stages (3.6 and newer) this is one, and calls the one that was there before; else it wraps
CUDABackend.add_stages. Either way the stage `ptx` gets a step more, so that `kernel.asm["ptx"]` is what ptxas gets. The
guard asks the ptxas that Triton calls, with the options that Triton has for this kernel; what that ptxas made of the result is
what Triton's stage `cubin` gets, which then calls none (_triton_ptxas.py). CUDABackend.hash, which is part of the key of
Triton's cache and of Inductor's, names the version and the options of ptxopt.
"""
from __future__ import annotations

import os
import sys
from typing import Any, Callable, Dict, Optional

from . import _hooks
from ._hooks import Stats
from ._triton_ptxas import Made, Subprocess
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


def _patch(backends: Any) -> None:
    global _undo
    triton = sys.modules.get("triton")
    if not _wanted or not _hooks.knows("Triton", triton, LEAST, MOST):
        return
    backend: Any = getattr(getattr(backends, "backends", {}).get("nvidia"), "compiler", None)
    if not all(name in getattr(backend, "__dict__", {}) for name in ("add_stages", "hash")):
        _hooks.say_once("Triton has no backend for NVIDIA with add_stages and hash: nothing is optimized")
        return
    names = backend.add_stages.__globals__  # of its module, which is not among sys.modules before 3.4
    calls = Subprocess(names) if "subprocess" in names else None
    runtime = getattr(names.get("knobs"), "runtime", None)
    undo_stages = _use_knob(calls, runtime) if hasattr(runtime, "add_stages_inspection_hook") else _wrap(calls, backend)
    original_hash = backend.__dict__["hash"]

    def hash_with_us(self: Any) -> str:
        return f"{original_hash(self)}-{_key}"

    backend.hash = hash_with_us

    def undo() -> None:
        undo_stages()
        if calls is not None:
            calls.undo()
        if backend.__dict__.get("hash") is hash_with_us:
            backend.hash = original_hash

    _undo = undo


def _use_knob(calls: Optional[Subprocess], runtime: Any) -> Callable[[], None]:
    """By Triton's own hook, which is also called without arguments, for a key and a hash."""
    previous = runtime.add_stages_inspection_hook

    def hook(self: Any = None, stages: Optional[Dict[str, Any]] = None, options: Any = None, language: Any = None,
             capability: Any = None) -> Any:
        if stages is None:
            key, digest = previous() if previous is not None else ("", "")
            return (key + _key, digest + _key) if _wanted else (key, digest)
        kernel = _Kernel(stages, calls)
        if previous is not None:
            previous(self, stages, options, language, capability)
        kernel.add_to(stages)

    runtime.add_stages_inspection_hook = hook

    def undo() -> None:
        if runtime.add_stages_inspection_hook is hook:
            runtime.add_stages_inspection_hook = previous
    return undo


def _wrap(calls: Optional[Subprocess], backend: Any) -> Callable[[], None]:
    original = backend.__dict__["add_stages"]

    def add_stages(self: Any, stages: Dict[str, Any], *rest: Any, **named: Any) -> None:
        original(self, stages, *rest, **named)
        _Kernel(stages, calls).add_to(stages)

    backend.add_stages = add_stages

    def undo() -> None:
        if backend.__dict__.get("add_stages") is add_stages:
            backend.add_stages = original
    return undo


class _Kernel:
    """The stages of a kernel: a step more for the one that makes PTX; the one that calls ptxas need not, where the guard did."""

    def __init__(self, stages: Dict[str, Any], calls: Optional[Subprocess]):
        """`stages` as Triton has them: others may put their own around them later."""
        self._make_cubin: Any = stages.get("cubin")
        self._calls = calls if self._make_cubin is not None else None
        self._made: Optional[Made] = None
        if self._calls is not None and _wanted:
            stages["cubin"] = self._take_or_make_cubin

    def add_to(self, stages: Dict[str, Any]) -> None:
        make_ptx = stages.get("ptx")
        if make_ptx is None or not _wanted:
            return

        def make_better_ptx(source: Any, metadata: Any) -> Any:
            self._made = None
            ptx = make_ptx(source, metadata)
            return self._better(ptx, metadata) if _wanted and isinstance(ptx, str) else ptx

        stages["ptx"] = make_better_ptx

    def _better(self, ptx: str, metadata: Any) -> str:
        name = str(metadata.get("name", "<kernel>"))
        call = self._calls.command_of(self._make_cubin, ptx, metadata) if self._calls is not None else None
        if call is None:
            return _hooks.optimized("triton", ptx, name=name)
        if os.path.exists(os.path.join(os.path.dirname(call.ptxas), "libptxopt_emulation.so")):
            # `ptxopt emulate` has Triton call what hands PTX on. The guard needs a real ptxas.
            return _hooks.optimized("triton", ptx, name=name, arch=call.arch, ptxas_options=call.options)
        if os.path.basename(os.path.realpath(call.ptxas)).startswith("ptxopt"):
            _hooks.say_once(f"Triton's ptxas is {call.ptxas}, which optimizes by itself: the hook does nothing")
            return ptx
        result = _hooks.result_of("triton", ptx, name=name, ptxas=call.ptxas, arch=call.arch, ptxas_options=call.options,
                                  wants_cubin=True)
        if result is None:
            return ptx
        if result.cubin is not None:
            self._made = Made(call, result.ptx, result.cubin, result.ptxas_messages)
        return result.ptx

    def _take_or_make_cubin(self, source: Any, metadata: Any) -> Any:
        if self._made is None or self._calls is None:
            return self._make_cubin(source, metadata)
        return self._calls.answering(self._make_cubin, self._made, source, metadata)
