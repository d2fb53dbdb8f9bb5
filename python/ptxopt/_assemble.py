"""Machine code of optimized PTX, for clients that take no PTX any more where their hook acts."""
from __future__ import annotations

import os
import subprocess
import tempfile
from typing import Any, Optional, Sequence

from . import _hooks
from ._optimize import Result
from ._programs import program_path
from ._toolchains import environment


def machine_code(client: str, result: Result[Any], ptxas_options: Sequence[str]) -> Optional[bytes]:
    """What ptxas makes of the result: the guard's cubin, otherwise by a call. None, which is said once, where it makes none."""
    if result.cubin is not None:
        return result.cubin
    ptx = result.ptx if isinstance(result.ptx, bytes) else result.ptx.encode("utf-8", "surrogateescape")
    with tempfile.TemporaryDirectory(prefix="ptxopt-") as folder:
        source, out = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
        with open(source, "wb") as file:
            file.write(ptx)
        # The drop-in finds a ptxas that takes the text; the text is what it is to be.
        done = subprocess.run([program_path("ptxopt-ptxas"), *ptxas_options, f"-arch={result.arch}", source, "-o", out],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**environment(), "PTXOPT_OPTIONS": "-O0 --guard=off"})
        if done.returncode != 0 or not os.path.exists(out):
            said = done.stdout.decode("utf-8", "replace").strip().splitlines()
            _hooks.say_once(f"{client}: not optimized, since ptxas makes no machine code: {said[0] if said else done.returncode}")
            return None
        with open(out, "rb") as made:
            return made.read()
