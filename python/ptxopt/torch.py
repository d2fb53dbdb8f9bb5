"""The hook for torch.compile: Inductor compiles its kernels by Triton, whose hook (ptxopt.triton) optimizes them.

    import ptxopt.torch
    ptxopt.torch.install()

Inductor compiles in processes of its own; $PTXOPT_HOOKS installs the hook in these, and $PTXOPT_HOOK_LOG brings what became
of their kernels back to stats(). Inductor's cache gets a folder of its own, named after the version and the options of
ptxopt.
"""
from __future__ import annotations

import getpass
import os
import tempfile
from typing import Any, Dict, Optional

from . import _hooks, triton
from ._hooks import Stats
from ._patch import restore_environment

_before: Optional[Dict[str, Optional[str]]] = None


def install(*, table: Optional[bool] = None, **options: Any) -> None:
    """Installs the hook; `options` are those of ptxopt.optimize. `table`: print what changed when the process ends."""
    global _before
    triton.install(table=table, **options)
    if _before is not None:
        return
    names = ("PTXOPT_HOOKS", "PTXOPT_HOOK_OPTIONS", "PTXOPT_HOOK_LOG", "PTXOPT_HOOK_TABLE", "TORCHINDUCTOR_CACHE_DIR")
    _before = {name: os.environ.get(name) for name in names}
    hooks = [h for h in os.environ.get("PTXOPT_HOOKS", "").split(",") if h and h not in ("triton", "torch")]
    usual = os.path.join(tempfile.gettempdir(), "torchinductor_" + "".join(c if c.isalnum() else "_" for c in getpass.getuser()))
    os.environ["PTXOPT_HOOKS"] = ",".join([*hooks, "triton"])
    os.environ["PTXOPT_HOOK_OPTIONS"] = _hooks.options_json()
    os.environ["PTXOPT_HOOK_TABLE"] = "0"  # this process prints it for all
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(os.environ.get("TORCHINDUCTOR_CACHE_DIR") or usual, _hooks.key())
    _hooks.log_for_children()


def uninstall() -> None:
    """Leaves Triton and the environment as they were."""
    global _before
    triton.uninstall()
    restore_environment(_before or {})
    _before = None


def stats() -> Stats:
    """What became of each kernel, in this process and in Inductor's."""
    return _hooks.stats("triton")
