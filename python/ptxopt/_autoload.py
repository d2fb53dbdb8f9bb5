"""Installs the hooks that $PTXOPT_HOOKS names, "triton,numba", "all" or "none", when Python starts: ptxopt_hooks.pth imports
this module where the variable is set. A mistake in it is a warning, and Python starts all the same."""
import os
import sys


def load() -> None:
    try:
        from ._hooks import CLIENTS, install
        names = [name.strip() for name in os.environ.get("PTXOPT_HOOKS", "").split(",")]
        for name in CLIENTS if "all" in names else names:
            if name not in ("", "none"):
                install(name)
    except Exception as error:
        print(f"ptxopt: warning: PTXOPT_HOOKS: {error}", file=sys.stderr)


load()
