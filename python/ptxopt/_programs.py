"""The programs of this package: ptxopt and ptxopt-ptxas, in the folder bin of it.

The names on the PATH are small Python programs that become these, since the folder of packages is not known to a program
on the PATH. Give the real path, `ptxopt.program_path("ptxopt-ptxas")`, to a build that calls it often.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import List, NoReturn, Optional, Sequence

from ._errors import UsageError
from ._library import FOLDER
from ._toolchains import environment

NAMES = ("ptxopt", "ptxopt-ptxas")


def program_path(name: str = "ptxopt") -> str:
    """The path of "ptxopt" or "ptxopt-ptxas". In a source checkout $PTXOPT names the first, and the other is its neighbour."""
    if name not in NAMES:
        raise UsageError(f"there is no program {name}; there are {', '.join(NAMES)}")
    own = os.path.join(FOLDER, "bin", name)
    if os.path.exists(own):
        return own
    named = os.environ.get("PTXOPT")
    if not named:
        raise UsageError(f"{own} is not there; in a source checkout $PTXOPT names the program")
    path = os.path.abspath(named)
    path = path if name == "ptxopt" else os.path.join(os.path.dirname(path), name)
    if shutil.which(path) is None:
        raise UsageError(f"$PTXOPT is '{named}', and {path} is not a program")
    return path


def run_program(arguments: Sequence[str], cwd: "os.PathLike[str]") -> "subprocess.CompletedProcess[bytes]":
    """Runs `ptxopt ARGUMENTS...` in a folder, to its end."""
    return subprocess.run([program_path(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment(), cwd=cwd)


def become(name: str, arguments: Sequence[str], called: Optional[str] = None) -> NoReturn:
    """Goes on as the program, with the same process."""
    sys.stdout.flush()
    sys.stderr.flush()
    program = program_path(name)
    os.execve(program, [called or program, *arguments], environment())


def _arguments() -> List[str]:
    return sys.argv[1:]


def ptxopt() -> None:
    if os.path.basename(sys.argv[0]).startswith("ptxas"):  # by a link, as ptxas
        ptxopt_ptxas()
    from .__main__ import main
    sys.exit(main(_arguments()))


def ptxopt_ptxas() -> None:
    become("ptxopt-ptxas", _arguments(), called=os.path.abspath(sys.argv[0]))


def ptxopt_ptxas_blackwell() -> None:
    """Its name says that it stands for Triton's second ptxas."""
    become("ptxopt-ptxas", _arguments(), called=os.path.abspath(sys.argv[0]))
