"""What ptxopt raises: an exception for each exit code of the program."""
from __future__ import annotations

import re
from typing import Optional


class Error(Exception):
    """Whatever goes wrong in ptxopt. `message` is what the program prints."""

    def __init__(self, message: str):
        super().__init__(message)
        self.message = message


class UsageError(Error, ValueError):
    """Options that make no sense, a file that cannot be read, or a program that is not there."""


class CheckFailed(Error):
    """A check that was asked for did not hold."""


class ExecutionError(CheckFailed):
    """A kernel failed in the interpreter: an access out of bounds, a race, a barrier that not all threads reach."""


class InternalError(Error):
    """A bug in ptxopt."""


class InvalidPtx(Error, ValueError):
    """The text is not PTX: `file`, `line` and `column` (from 1), `reason`, and `caret`, the line of the text with a caret
    under the place. str() is all of this, as compilers print it."""

    _PLACE = re.compile(r"(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): error: (?P<reason>[^\n]*)\n?(?P<caret>.*)", re.S)

    def __init__(self, message: str):
        super().__init__(message.rstrip("\n"))
        match = self._PLACE.match(message)
        self.file: str = match["file"] if match else ""
        self.line: Optional[int] = int(match["line"]) if match else None
        self.column: Optional[int] = int(match["column"]) if match else None
        self.reason: str = match["reason"] if match else message
        self.caret: str = match["caret"].rstrip("\n") if match else ""


_BY_STATUS = {1: CheckFailed, 2: UsageError, 3: InvalidPtx, 4: InternalError}


def error_of(status: int, message: str) -> Error:
    """The exception of an exit code, with its message."""
    message = message.rstrip("\n") or f"ptxopt ended with exit code {status}"
    return _BY_STATUS.get(status, InternalError)(message)
