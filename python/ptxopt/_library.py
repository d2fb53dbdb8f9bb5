"""libptxopt.so, by ctypes, which releases the GIL during each call (include/ptxopt/ptxopt_c.h).

In a source checkout, where the library does not lie next to this file, $PTXOPT_LIBRARY names it.
"""
from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Dict, List, Tuple

from ._errors import Error

ABI = 1
FOLDER = os.path.dirname(os.path.abspath(__file__))


def _path() -> str:
    own = os.path.join(FOLDER, "libptxopt.so")
    return own if os.path.exists(own) else os.environ.get("PTXOPT_LIBRARY", own)


def _load() -> ctypes.CDLL:
    path = _path()
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"{path} cannot be loaded: {error}. A source checkout needs a build, and $PTXOPT_LIBRARY "
                          f"with the path of its libptxopt.so") from None
    text, result = ctypes.c_char_p, ctypes.c_void_p
    for name, returns, takes in (
            ("ptxopt_abi", ctypes.c_int, []), ("ptxopt_version", text, []), ("ptxopt_version_line", text, []),
            ("ptxopt_describe", text, []), ("ptxopt_optimize", result, [text, ctypes.c_size_t, text]),
            ("ptxopt_status", ctypes.c_int, [result]), ("ptxopt_error", text, [result]), ("ptxopt_details", text, [result]),
            ("ptxopt_output", ctypes.c_void_p, [result, ctypes.POINTER(ctypes.c_size_t)]),
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


def _described() -> Dict[str, List[Dict[str, Any]]]:
    return json.loads(_library.ptxopt_describe())


def passes() -> List[Dict[str, Any]]:
    """All passes: name, level from which they run, summary. Those above level 2 run on request."""
    return _described()["passes"]


def knobs() -> List[Dict[str, Any]]:
    """All knobs: name, default, least, most, values, summary."""
    return _described()["knobs"]


def call(text: bytes, options: bytes) -> Tuple[int, bytes, str, bytes]:
    """One call of ptxopt_optimize: status, output, error, details as JSON."""
    result = _library.ptxopt_optimize(text, len(text), options)
    if not result:
        raise Error("ptxopt_optimize returned nothing")
    try:
        size = ctypes.c_size_t()
        at = _library.ptxopt_output(result, ctypes.byref(size))
        output = ctypes.string_at(at, size.value) if size.value else b""
        error = _library.ptxopt_error(result).decode("utf-8", "replace")
        return _library.ptxopt_status(result), output, error, _library.ptxopt_details(result)
    finally:
        _library.ptxopt_free(result)
