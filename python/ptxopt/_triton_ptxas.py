"""How Triton calls ptxas for a kernel, and the answer to that call.

Triton's stage `cubin` writes a file, makes a command and hands it to subprocess.run(). The options depend on the release, on
knobs and on the kernel (-lineinfo, --fmad=false, --regAllocOptLevel=2, what `ptx_options` has). None of this is told again
here: the stage is run as far as its call (`command_of`), and the guard asks ptxas with what stands there.

Later the stage runs for the result. If it calls the same ptxas with the same options for the very text that the guard
assembled, the call is answered with what the guard's run made (`answering`): the cubin goes where -o says, the messages into
Triton's log. Whatever differs, ptxas runs.

What is replaced is the name `subprocess` in the module of Triton's backend. Calls of other threads, and all others, go to the
real one.
"""
from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from subprocess import CompletedProcess
from typing import Any, Callable, Dict, List, Optional, Sequence

_NAME = "subprocess"


@dataclass(frozen=True)
class Call:
    """How ptxas is called, without the files."""
    ptxas: str
    options: Sequence[str]
    arch: str


@dataclass(frozen=True)
class Made:
    """What a call made of a text."""
    call: Call
    ptx: str
    cubin: bytes
    messages: str


@dataclass(frozen=True)
class _Command:
    call: Call
    source: str
    output: str


def _read(words: Any) -> Optional[_Command]:
    """Of `ptxas OPTIONS --gpu-name=ARCH SOURCE -o OUTPUT`, which is how Triton 3.2 to 3.9 call it."""
    name = "--gpu-name="
    if not isinstance(words, list) or len(words) < 5 or not all(isinstance(w, str) for w in words):
        return None
    ptxas, *options, arch, source, dash_o, output = words
    if dash_o != "-o" or not arch.startswith(name):
        return None
    return _Command(Call(ptxas, options, arch[len(name):]), source, output)


class _Asked(Exception):
    """Leaves the stage where it calls ptxas."""


class Subprocess:
    """In the place of the module `subprocess` among the names of a module."""

    def __init__(self, names: Dict[str, Any]):
        self._names, self._real = names, names[_NAME]
        self._local = threading.local()
        names[_NAME] = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def run(self, *arguments: Any, **named: Any) -> Any:
        answer = getattr(self._local, "answer", None)
        if answer is not None and arguments:
            command = _read(arguments[0])
            answered = None if command is None else answer(command, named.get("stderr"))
            if answered:
                return CompletedProcess(arguments[0], 0)
        return self._real.run(*arguments, **named)

    def undo(self) -> None:
        if self._names.get(_NAME) is self:
            self._names[_NAME] = self._real

    def command_of(self, make_cubin: Any, ptx: str, metadata: Any) -> Optional[Call]:
        """The call of ptxas that the stage makes. Nothing where the stage is not Triton's, or makes none that is known."""
        if getattr(make_cubin, "__globals__", None) is not self._names:
            return None
        calls: List[Call] = []

        def ask(command: _Command, log: Any) -> bool:
            calls.append(command.call)
            for path in (command.source, getattr(log, "name", None)):  # the stage leaves them where ptxas fails
                if isinstance(path, str) and os.path.exists(path):
                    os.remove(path)
            raise _Asked

        try:
            self._answer(ask, make_cubin, ptx, dict(metadata))
        except Exception:  # _Asked; what else is wrong Triton says when the stage runs
            pass
        return calls[0] if calls else None

    def answering(self, make_cubin: Callable[[Any, Any], Any], made: Made, source: Any, metadata: Any) -> Any:
        """What the stage makes, by this answer where it is one to its call."""
        def answer(command: _Command, log: Any) -> bool:
            if command.call != made.call:
                return False
            try:
                with open(command.source, "rb") as text:
                    if text.read() != made.ptx.encode():
                        return False
                with open(command.output, "wb") as cubin:
                    cubin.write(made.cubin)
                if log is not None:
                    os.write(log.fileno(), made.messages.encode())
            except (OSError, AttributeError):
                return False
            return True

        return self._answer(answer, make_cubin, source, metadata)

    def _answer(self, answer: Callable[[_Command, Any], bool], make_cubin: Callable[[Any, Any], Any], *arguments: Any) -> Any:
        self._local.answer = answer
        try:
            return make_cubin(*arguments)
        finally:
            self._local.answer = None
