"""python -m ptxopt ...: the command line of ptxopt, and, for the name of a framework, a script under its hook.

    python -m ptxopt kernel.ptx -o better.ptx
    python -m ptxopt triton script.py ARGUMENTS...
    python -m ptxopt jax -m package.module ARGUMENTS...
"""
from __future__ import annotations

import difflib
import os
import runpy
import sys
from types import TracebackType
from typing import Callable, List, Optional

from ._errors import Error, UsageError
from ._programs import become


def _usage(client: str) -> str:
    return (f"usage: python -m ptxopt {client} SCRIPT.py | -m MODULE | -c CODE [ARGUMENTS...]\n"
            "Runs it with the hook installed, here and in the Python processes that it starts (docs/python.md).")


def _program(arguments: List[str]) -> Callable[[], object]:
    """What Python itself would do with these arguments; sys.argv and sys.path are as it would set them."""
    first = arguments[0]
    if first in ("-m", "-c"):
        if len(arguments) < 2:
            raise UsageError(f"{first} without its value")
        sys.path[0] = os.getcwd() if first == "-m" else ""
        sys.argv = [first, *arguments[2:]]
        if first == "-m":
            return lambda: runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return lambda: exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
    if first.startswith("-"):
        raise UsageError(f"{first} stands before the script: Python's options go before -m ptxopt, ptxopt's into $PTXOPT_HOOK_OPTIONS")
    if not os.path.exists(first):
        raise UsageError(f"cannot open '{first}': there is no such file")
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(first))
    return lambda: runpy.run_path(first, run_name="__main__")


def _of_the_script(traceback: Optional[TracebackType]) -> Optional[TracebackType]:
    """Without the frames of this module and of runpy that stand before the script's."""
    while traceback is not None and (traceback.tb_frame.f_code.co_filename == __file__
                                     or traceback.tb_frame.f_globals.get("__name__") == "runpy"):
        traceback = traceback.tb_next
    return traceback


def run_script(client: str, arguments: List[str]) -> int:
    """A script, or -m and a module, or -c and code, as Python would run it, under a hook."""
    from . import _hooks
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_usage(client), file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    program = _program(arguments)
    _hooks.install(client, children=True)
    _hooks.expect_kernels(client)
    try:
        program()
    except Exception as error:
        error.__traceback__ = _of_the_script(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def main(arguments: List[str]) -> int:
    from ._hooks import CLIENTS
    try:
        first = arguments[0] if arguments else "--help"
        if first in CLIENTS:
            return run_script(first, arguments[1:])
        if first in ("-h", "--help"):
            print("python -m ptxopt CLIENT SCRIPT [ARGUMENTS...] optimizes what a script compiles (docs/python.md). CLIENT is one of\n"
                  f"{', '.join(CLIENTS)}.\n\nAll else is the command line of ptxopt:\n")
        elif not os.path.exists(first) and (meant := difflib.get_close_matches(first, CLIENTS, 1)):
            raise UsageError(f"'{first}' is not a client, a command or a file; is {meant[0]} meant?")
        become("ptxopt", arguments)
    except Error as error:
        print(f"ptxopt: error: {error.message}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
