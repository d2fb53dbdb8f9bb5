"""Messages of libptxopt.so go to logging.getLogger("ptxopt"), to a child for each source: ptxopt.guard, ptxopt.ptxas, ...

What is asked for follows from the levels of these loggers, which are looked at before each call of the library: where none
takes DEBUG, the library makes no such message. Messages come from threads of the library too, without the GIL, which
ctypes takes for the call. At the end of the interpreter, before it is torn down, the library is told to be silent.

Where logging is not configured, nothing is written, as of any library; but for what hooks say, which goes to standard error.
"""
from __future__ import annotations

import atexit
import ctypes
import logging
import os
import sys
import threading
import time
from typing import Any, List, Sequence

TRACE = 5  # Python has no such level
# By the numbers of ptxopt_c.h; what was asked for is said as INFO.
_LEVELS = (TRACE, logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.INFO)
_OFF = 6
_PATIENCE = 2.0  # seconds, at the end of the interpreter, for handlers that run
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)

logger = logging.getLogger("ptxopt")
hooks = logger.getChild("hooks")


class _Unconfigured(logging.Handler):
    """What logging.lastResort does, with the name of the program: for warnings that no other handler gets."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        at: Any = logging.getLogger(record.name)
        while at is not None:
            if any(handler is not self and not isinstance(handler, logging.NullHandler) for handler in at.handlers):
                return
            at = at.parent if at.propagate else None
        if sys.stderr is not None:
            print(f"ptxopt: {record.getMessage()}", file=sys.stderr)


class _Calls(threading.local):
    """Of a thread: the calls of the library that it is in, and what a handler raised there."""
    depth = 0
    raised: Any = None


class Messages:
    """The callback of the library. `with messages:` is around a call."""

    def __init__(self, library: ctypes.CDLL, sources: Sequence[str]):
        self._loggers = {source.encode(): logger.getChild(source) for source in sources}
        self._all: List[logging.Logger] = [logger, *self._loggers.values()]
        self._calls = _Calls()
        self._callback = _CALLBACK(self._heard)  # for as long as the library may call it
        library.ptxopt_set_log.argtypes = [_CALLBACK, ctypes.c_void_p, ctypes.c_int]
        # With the GIL: it takes no time, and the levels of threads come in their order.
        self._set_level = ctypes.PyDLL(None, handle=library._handle).ptxopt_set_log_level
        library.ptxopt_set_log(self._callback, None, _OFF)
        self._library = library
        self._running: List[None] = []  # one for each handler that runs; append and pop are atomic
        self._ended = False
        os.register_at_fork(after_in_child=self._running.clear)
        atexit.register(self._silence)
        if logging.getLevelName(TRACE) == f"Level {TRACE}":
            logging.addLevelName(TRACE, "TRACE")

    def level(self) -> int:
        """The least level that a logger takes, as the library has it."""
        wanted = min((at.getEffectiveLevel() for at in self._all if not at.disabled), default=logging.CRITICAL + 1)
        least = max(wanted, logging.root.manager.disable + 1)
        return next((number for number, level in enumerate(_LEVELS[:5]) if level >= least), _OFF)

    def _silence(self) -> None:
        """At the end of the interpreter: no call may come to what is torn down. A handler that does not return is given up."""
        self._ended = True
        self._set_level(_OFF)
        deadline = time.monotonic() + _PATIENCE
        while self._running and time.monotonic() < deadline:
            time.sleep(0.01)
        # Without the GIL: it waits for calls that have not come to Python yet, which need it.
        if not self._running:
            self._library.ptxopt_set_log(_CALLBACK(), None, _OFF)

    def __enter__(self) -> None:
        self._set_level(self.level())
        self._calls.depth += 1

    def __exit__(self, *_: Any) -> None:
        """What a handler or Ctrl-C raised inside the call goes on now; C has no exceptions."""
        self._calls.depth -= 1
        raised, self._calls.raised = self._calls.raised, None
        if raised is not None:
            raise raised

    def _heard(self, level: int, source: bytes, text: bytes, _user: Any) -> None:
        if self._calls.raised is not None or self._ended:
            return
        self._running.append(None)
        try:
            to = self._loggers.get(source, logger)
            if to.isEnabledFor(_LEVELS[level]):
                to.log(_LEVELS[level], text.decode("utf-8", "replace"))
        except BaseException as error:
            if not self._calls.depth:
                raise  # in a thread of the library: sys.unraisablehook says it
            self._calls.raised = error
        finally:
            if self._running:  # not in a child that was forked here
                self._running.pop()


logger.addHandler(logging.NullHandler())
hooks.addHandler(_Unconfigured())
