"""python -m ptxopt ...: the command line of ptxopt, and, for the name of a framework, a script under its hook.

    python -m ptxopt kernel.ptx -o better.ptx
    python -m ptxopt triton script.py ARGUMENTS...
    python -m ptxopt jax -m package.module ARGUMENTS...
"""
from __future__ import annotations

import os
import runpy
import sys
from typing import List

from ._errors import Error
from ._programs import become


def run_script(client: str, arguments: List[str]) -> int:
    """A script, or -m and a module, or -c and code, as Python would run it, under a hook."""
    from ._hooks import install
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"usage: python -m ptxopt {client} SCRIPT.py | -m MODULE | -c CODE [ARGUMENTS...]\n"
              "Runs it with the hook installed, here and in the Python processes that it starts (docs/python.md).")
        return 0 if arguments else 2
    install(client, children=True)
    if arguments[0] in ("-m", "-c"):
        if len(arguments) < 2:
            print(f"ptxopt: error: {arguments[0]} without its value", file=sys.stderr)
            return 2
        sys.path[0] = os.getcwd() if arguments[0] == "-m" else ""
        sys.argv = [arguments[0], *arguments[2:]]
        if arguments[0] == "-m":
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        else:
            exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
        return 0
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")
    return 0


def main(arguments: List[str]) -> int:
    from ._hooks import CLIENTS
    try:
        if arguments and arguments[0] in CLIENTS:
            return run_script(arguments[0], arguments[1:])
        become("ptxopt", arguments)
    except Error as error:
        print(f"ptxopt: error: {error.message}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
