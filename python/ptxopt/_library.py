"""libptxopt.so, by ctypes, which releases the GIL during each call (include/ptxopt/ptxopt_c.h).

In a source checkout, where the library does not lie next to this file, $PTXOPT_LIBRARY names it.
"""
from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Dict, List, NamedTuple

from ._errors import Error
from ._log import Messages, logger

ABI = 4
FOLDER = os.path.dirname(os.path.abspath(__file__))


def _path() -> str:
    own = os.path.join(FOLDER, "libptxopt.so")
    return own if os.path.exists(own) else os.environ.get("PTXOPT_LIBRARY") or own


def _load() -> ctypes.CDLL:
    path = _path()
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"{path} cannot be loaded: {error}. A source checkout needs a build, and $PTXOPT_LIBRARY "
                          f"with the path of its libptxopt.so") from None
    if not hasattr(library, "ptxopt_abi"):
        raise ImportError(f"{path} is not libptxopt.so")
    text, result = ctypes.c_char_p, ctypes.c_void_p
    for name, returns, takes in (
            ("ptxopt_abi", ctypes.c_int, []), ("ptxopt_version", text, []), ("ptxopt_version_line", text, []),
            ("ptxopt_describe", text, []), ("ptxopt_environment_warnings", text, []), ("ptxopt_optimize", result, [text, ctypes.c_size_t, text]),
            ("ptxopt_status", ctypes.c_int, [result]), ("ptxopt_error", text, [result]), ("ptxopt_details", text, [result]),
            ("ptxopt_output", ctypes.c_void_p, [result, ctypes.POINTER(ctypes.c_size_t)]),
            ("ptxopt_cubin", ctypes.c_void_p, [result, ctypes.POINTER(ctypes.c_size_t)]), ("ptxopt_messages", text, [result]),
            ("ptxopt_free", None, [result])):
        function = getattr(library, name)
        function.restype, function.argtypes = returns, takes
    if library.ptxopt_abi() < ABI:
        raise ImportError(f"{path} is of an older ptxopt")
    return library


_library = _load()
__version__: str = _library.ptxopt_version().decode()


def version_line() -> str:
    """What `ptxopt --version` prints, with the git revision."""
    return _library.ptxopt_version_line().decode()


def _described() -> Dict[str, List[Any]]:
    return json.loads(_library.ptxopt_describe())


_messages = Messages(_library, _described()["log_sources"])


def passes() -> List[Dict[str, Any]]:
    """All passes: name, level from which they run, summary. Those above level 2 run on request."""
    return _described()["passes"]


def knobs() -> List[Dict[str, Any]]:
    """All knobs: name, default, least, most, values, summary."""
    return _described()["knobs"]


_environment = [True]  # whether it has not been looked at yet; pop is atomic


def new_environment_warnings() -> List[str]:
    """What is wrong with $PTXOPT_... variables, for the first caller: it is said once."""
    try:
        _environment.pop()
    except IndexError:
        return []
    return _library.ptxopt_environment_warnings().decode("utf-8", "replace").splitlines()


class Made(NamedTuple):
    """What a call of ptxopt_optimize() returns."""
    status: int
    output: bytes
    error: str
    details: bytes  # JSON
    cubin: bytes
    messages: bytes


def call(text: bytes, options: bytes) -> Made:
    """One call of ptxopt_optimize()."""
    result = None
    for warning in new_environment_warnings():
        logger.getChild("tool").warning("%s", warning)
    try:
        with _messages:
            result = _library.ptxopt_optimize(text, len(text), options)
        if not result:
            raise Error("ptxopt_optimize returned nothing")

        def bytes_of(function: Any) -> bytes:
            size = ctypes.c_size_t()
            at = function(result, ctypes.byref(size))
            return ctypes.string_at(at, size.value) if size.value else b""

        return Made(_library.ptxopt_status(result), bytes_of(_library.ptxopt_output),
                    _library.ptxopt_error(result).decode("utf-8", "replace"), _library.ptxopt_details(result),
                    bytes_of(_library.ptxopt_cubin), _library.ptxopt_messages(result))
    finally:
        _library.ptxopt_free(result)
