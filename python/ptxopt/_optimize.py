"""optimize(): PTX in, PTX out, in this process."""
from __future__ import annotations

import json
import math
import os
import shutil
import sys
from dataclasses import dataclass, field
from typing import Any, AnyStr, Dict, Generic, List, Mapping, Optional, Sequence, Union

from . import _html
from ._errors import UsageError, error_of
from ._library import Made, call, knobs as all_knobs
from ._toolchains import package_folders

_NO_LIMIT = sys.float_info.max  # of seconds


@dataclass(frozen=True)
class Remark:
    """Something worth knowing: `name` is one of a fixed set (docs/command-line.md)."""
    name: str
    place: str
    message: str
    pass_: str = ""
    missed: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {self.message} [{self.name}]"


@dataclass(frozen=True)
class Kept:
    """A function whose original text was kept, since it would have got worse: `reason` and `detail` as `-v` prints them."""
    name: str
    reason: str
    detail: str


@dataclass(frozen=True)
class Retried:
    """A function that got worse, and is better than its original text without these passes, with these passes kept from a loop ("lsr@$L__BB0_2"), or
    with these knobs: by `reason` and `detail`. `refused` says what was worse before."""
    name: str
    without: List[str]
    declined: List[str]
    knobs: Dict[str, int]
    reason: str
    detail: str
    refused: str


@dataclass(frozen=True)
class Guard:
    """What the guard did: `mode` is off or ptxas; `before` and `after` have ptxas's figures by function. `without_profile`: functions that have what
    is made without the profile."""
    mode: str = "off"
    asked: bool = False
    ptxas: str = ""
    why: str = ""
    trouble: str = ""
    kept: List[Kept] = field(default_factory=list)
    before: Dict[str, Dict[str, Any]] = field(default_factory=dict)
    after: Dict[str, Dict[str, Any]] = field(default_factory=dict)
    retried: List[Retried] = field(default_factory=list)
    without_profile: List[Kept] = field(default_factory=list)


def _guard_of(found: Dict[str, Any]) -> Guard:
    def by_name(functions: List[Dict[str, Any]]) -> Dict[str, Dict[str, Any]]:
        return {f["name"]: f for f in functions}
    return Guard(found["mode"], found["asked"], found["ptxas"], found["why"], found["trouble"],
                 [Kept(**kept) for kept in found["kept"]],
                 by_name(found.get("before", [])), by_name(found.get("after", [])),
                 [Retried(**retried) for retried in found["retried"]],
                 [Kept(**kept) for kept in found.get("without_profile", [])])


class Result(Generic[AnyStr]):
    """What optimize() returns. str() is the PTX; in a notebook it is a table of what changed."""

    def __init__(self, ptx: AnyStr, source: AnyStr, made: Made):
        self.ptx: AnyStr = ptx
        self.cubin: Optional[bytes] = made.cubin or None
        self.ptxas_messages = made.messages.decode("utf-8", "replace")
        self._source: AnyStr = source
        self._details = made.details
        self._parsed: Optional[Dict[str, Any]] = None

    @property
    def details(self) -> Dict[str, Any]:
        """Everything that is known of the call (ptxopt_details of ptxopt_c.h)."""
        if self._parsed is None:
            self._parsed = json.loads(self._details)
        return self._parsed

    @property
    def remarks(self) -> List[Remark]:
        return [Remark(r["name"], r["place"], r["message"], r["pass"], r["missed"]) for r in self.details["remarks"]]

    @property
    def report(self) -> Dict[str, Any]:
        """What each pass did to each function: the JSON of --report (docs/command-line.md)."""
        return self.details["report"]

    @property
    def guard(self) -> Guard:
        return _guard_of(self.details["guard"])

    @property
    def not_optimized(self) -> str:
        """Why `ptxas_options` say that the text is not to be touched, such as "-O0"; "" where they do not."""
        return self.details["not_optimized"]

    @property
    def changed(self) -> bool:
        return self.ptx != self._source

    @property
    def arch(self) -> str:
        return self.details["architecture"]

    def __str__(self) -> str:
        return self.ptx if isinstance(self.ptx, str) else self.ptx.decode("utf-8", "replace")

    def __repr__(self) -> str:
        d = self.details
        return (f"<ptxopt.Result for {d['architecture']}: {d['functions_changed']} of {d['functions']} functions changed, "
                f"{d['instructions']} -> {d['instructions_after']} instructions>")

    def _repr_html_(self) -> str:
        return _html.result(self)


def check_text(ptx: Any) -> None:
    """PTX is str or what bytes() takes; a path is neither."""
    if not isinstance(ptx, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"ptx is the text, str or bytes, not {type(ptx).__name__}"
                        + ("; its read_text() has the text" if hasattr(ptx, "read_text") else ""))
    if isinstance(ptx, str) and ptx.endswith(".ptx") and "\n" not in ptx:
        raise UsageError(f"{ptx!r} is the name of a file; pathlib.Path({ptx!r}).read_text() has the text")


def _words(name: str, given: Optional[Sequence[str]]) -> Optional[List[str]]:
    if isinstance(given, (str, bytes)):  # list() would make letters of it
        raise UsageError(f"option '{name}' is a list of words, not {given!r}")
    return None if given is None else list(given)


def _mapping(name: str, given: Optional[Mapping[str, Any]]) -> Optional[Dict[str, Any]]:
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(f"option '{name}' is a dictionary, not {given!r}")
    return None if given is None else dict(given)


def _knobs(given: Mapping[str, Any]) -> Dict[str, Any]:
    """By number: a value may also be one of the names that knobs() lists."""
    chosen = _mapping("knobs", given) or {}
    if any(isinstance(value, str) for value in chosen.values()):
        names = {k["name"]: k["values"].split("|") if k["values"] else [] for k in all_knobs()}
        for name, value in chosen.items():
            if isinstance(value, str) and name in names:
                if value not in names[name]:
                    raise UsageError(f"knob '{name}' cannot be {value!r}; it is {' or '.join(names[name]) or 'a number'}")
                chosen[name] = names[name].index(value)
    return chosen


def _program(ptxas: "os.PathLike[str] | str | None") -> Optional[str]:
    """As the guard takes it; what is no program is an error here, as it is on a command line."""
    if ptxas is None:
        return None
    path = os.fspath(ptxas)
    if shutil.which(path) is None and not (os.path.isfile(path) and os.access(path, os.X_OK)):
        raise UsageError(f"option 'ptxas': {path!r} is not a program")
    return path


def options_json(options: Mapping[str, Any]) -> bytes:
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if isinstance(value, float) and not math.isfinite(value):  # JSON has no such numbers
            raise UsageError(f"option '{name}' cannot be {value}")
    return json.dumps(given).encode()


def optimize(ptx: AnyStr, arch: Optional[str] = None, level: int = 2, passes: Optional[Sequence[str]] = None,
             knobs: Mapping[str, Union[int, str]] = {}, guard: str = "auto", ptxas: Optional[str] = None, jobs: int = 1, *,
             skip: Sequence[str] = (), guard_rule: Optional[str] = None, timeout: Optional[float] = 600,
             file: str = "<input>", facts: Optional[Mapping[str, Any]] = None, ptxas_options: Sequence[str] = (),
             cubin: bool = False, guard_tries: Optional[int] = None, decline: Sequence[str] = (), strip_debug: bool = False,
             externals: Optional[str] = None, profile: Optional[Mapping[str, Any]] = None,
             facts_of_several: bool = False) -> Result[AnyStr]:
    """Optimizes PTX text for `arch` ("sm_90"; else what its .target says).

    level     0 parse and print, 1 clean-up, 2 everything that pays
    passes    exactly these, in this order; skip: not these
    decline   loops and blocks that passes do not change: ["lsr@$L__BB0_2"], as of --decline
    knobs     {"name": value}, a number or one of the names of its values; ptxopt.knobs() lists them
    guard     "auto": where a ptxas is found, and at level 2 without `passes`, kernels that would get worse keep their text;
              "ptxas": the same, and an error where nothing can be compared: UsageError where there is no ptxas, CheckFailed
              where it does not take the PTX; "off". "auto" is $PTXOPT_GUARD if that is set
    guard_tries
              how often kernels that would get worse are tried again, without passes that may be to blame, 0 to 8; None:
              $PTXOPT_GUARD_TRIES if that is set, otherwise 1
    ptxas     the program that the guard asks; else as docs/guard-ptxas.md has it, and after these the wheels of this Python. A
              configuration file is not read
    timeout   seconds that one run of ptxas may take; None or math.inf: any
    jobs      threads that work on the functions; 0: one per core
    file      the name in messages
    strip_debug
              drop debug information first (.loc, .file, sections .debug*, `debug` in .target), so that what is compiled for
              debugging is optimized
    externals "optix": functions of OptiX may be called undeclared, and the guard, whose ptxas refuses them, does not ask; "none".
              None: optix where the guard is off
    facts     what holds of all launches, as in docs/facts.md: {"version": 1, "kernels": [...]}; a kernel that is not there is an
              error, unless facts_of_several says that they may name kernels of other texts
    profile   what launches were seen to have, as in docs/profile.md
    ptxas_options
              with which the ptxas that assembles the result is called, ["-maxrregcount=64"]: the guard asks with them. Without
              the architecture, files and -o. Where they ask for code as it was written (-g, -O0), the text is left as it is
    cubin     keep what ptxas makes for the guard: `cubin` of the result is the machine code of its `ptx`, or None where the
              guard did not assemble that text now; `ptxas_messages` is what ptxas wrote then

    str in, str out; bytes in, bytes out. Raises InvalidPtx, UsageError, CheckFailed, InternalError. Releases the GIL."""
    check_text(ptx)
    text = ptx.encode("utf-8", "surrogateescape") if isinstance(ptx, str) else bytes(ptx)
    if guard == "auto":
        guard = os.environ.get("PTXOPT_GUARD") or guard
    if not isinstance(level, int):
        raise UsageError(f"option 'level' is a number, not {level!r}")
    asks = guard == "ptxas" or (guard == "auto" and level >= 2 and passes is None)
    options = options_json({
        "arch": arch, "level": level, "passes": _words("passes", passes), "skip": _words("skip", skip),
        "decline": _words("decline", decline) or None,
        "knobs": _knobs(knobs), "guard": guard, "guard_rule": guard_rule, "guard_tries": guard_tries, "ptxas": _program(ptxas),
        "packages": package_folders() if asks else None, "timeout": _NO_LIMIT if timeout in (None, math.inf) else timeout, "jobs": jobs, "file": os.fspath(file), "report": True,
        "facts": _mapping("facts", facts), "facts_of_several": bool(facts_of_several) or None,
        "profile": _mapping("profile", profile), "ptxas_options": _words("ptxas_options", ptxas_options) or None,
        "cubin": bool(cubin) or None, "strip_debug": bool(strip_debug) or None, "externals": externals})
    made = call(text, options)
    if made.status != 0:
        raise error_of(made.status, made.error)
    output: Any = made.output.decode("utf-8", "surrogateescape") if isinstance(ptx, str) else made.output
    return Result(output, ptx, made)
