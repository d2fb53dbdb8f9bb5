"""What the hooks share: optimizing what a client hands over, what became of it, the table at exit, and installing.

A hook never makes its client fail: whatever goes wrong in ptxopt is said once, and the client gets its own PTX.
"""
from __future__ import annotations

import atexit
import hashlib
import importlib
import json
import os
import re
import sys
import tempfile
import threading
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any, AnyStr, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from . import _html
from ._errors import UsageError
from ._library import new_environment_warnings, version_line
from ._log import hooks
from ._optimize import Result, optimize

CLIENTS = ("triton", "numba", "warp", "cupy", "jax", "tilelang", "cutedsl", "torch")  # torch last: it sets variables for children
OPTION_NAMES = ("level", "passes", "skip", "knobs", "guard", "guard_rule", "guard_tries", "ptxas", "ptxas_options", "timeout", "jobs", "arch",
                "facts", "profile")
_FILES = ("facts", "profile")  # what stands there, or the path of a file
_NOTHING = ".version 7.0\n.target sm_80\n.address_size 64\n"
_CALL = ("ptxas", "arch", "ptxas_options")  # how ptxas is called


@dataclass(frozen=True)
class KernelStats:
    """A kernel that went through a hook. Figures are ptxas's where the guard asked one, else None. `kept` says why its
    original text was kept, `trouble` why nothing was optimized."""
    client: str
    kernel: str
    arch: str
    changed: bool
    kept: str = ""
    trouble: str = ""
    seconds: float = 0.0
    before: Optional[Dict[str, Any]] = None
    after: Optional[Dict[str, Any]] = None


@dataclass
class _State:
    options: Dict[str, Any] = field(default_factory=dict)
    records: List[KernelStats] = field(default_factory=list)
    said: Set[str] = field(default_factory=set)
    sources: List[Callable[[], List[KernelStats]]] = field(default_factory=list)
    to_log: List[Tuple[int, Callable[[], List[KernelStats]]]] = field(default_factory=list)
    last: List[Tuple[int, Callable[[], Any]]] = field(default_factory=list)
    prints_table: bool = False
    expected: str = ""  # the client whose kernels this process was started for
    process: int = 0    # that one


_state = _State()
_lock = threading.Lock()


def say_once(text: str) -> None:
    """As a warning of the logger ptxopt.hooks, one time in a process."""
    with _lock:
        if text in _state.said:
            return
        _state.said.add(text)
    hooks.warning("%s", text)


def with_usual(options: Mapping[str, Any]) -> Dict[str, Any]:
    """The options and, where these do not say, those of $PTXOPT_HOOK_OPTIONS, JSON."""
    try:
        usual = json.loads(os.environ.get("PTXOPT_HOOK_OPTIONS") or "{}")
    except ValueError as error:
        raise UsageError(f"PTXOPT_HOOK_OPTIONS is not a JSON object: {error}") from error
    if not isinstance(usual, dict):
        raise UsageError("PTXOPT_HOOK_OPTIONS is not a JSON object")
    return {**usual, **options}


def set_options(options: Mapping[str, Any], table: Optional[bool]) -> None:
    """Options of optimize() for all hooks, OPTION_NAMES; those of $PTXOPT_HOOK_OPTIONS, JSON, are the usual ones. `facts` and
    `profile` may be paths, and may name kernels that a text does not have. What optimize() would not take is a UsageError now."""
    for warning in new_environment_warnings():
        say_once(warning)
    chosen = with_usual(options)
    for name in chosen:
        if name not in OPTION_NAMES:
            raise UsageError(f"there is no option '{name}' of a hook; there are {', '.join(OPTION_NAMES)}")
    for name in _FILES:
        if isinstance(chosen.get(name), (str, os.PathLike)):
            try:
                with open(chosen[name], encoding="utf-8") as file:
                    chosen[name] = json.load(file)
            except (OSError, ValueError) as error:
                raise UsageError(f"{name}: '{chosen[name]}': {error}") from error
    guard = chosen.get("guard", "off")
    optimize(_NOTHING, **{**chosen, "facts_of_several": True, "guard": "off" if guard in ("auto", "ptxas") else guard})
    _state.options = chosen
    if table is None:
        wanted = os.environ.get("PTXOPT_HOOK_TABLE", "1")
        if wanted not in ("", "0", "1"):
            say_once(f"PTXOPT_HOOK_TABLE is 0 or 1, not '{wanted}'")
        table = wanted != "0"
    _state.prints_table = table


def options_json() -> str:
    return json.dumps(_state.options, sort_keys=True, default=str)


def key() -> str:
    """What a cache of results is to be distinguished by: the version and the options of ptxopt, and of the guard."""
    guard = [os.environ.get(name, "") for name in ("PTXOPT_GUARD", "PTXOPT_GUARD_RULE", "PTXOPT_GUARD_TRIES", "PTXOPT_PTXAS", "PTXAS")]
    text = "\n".join([version_line(), options_json(), *guard])
    return "ptxopt-" + hashlib.sha256(text.encode()).hexdigest()[:16]


def optimized(client: str, ptx: AnyStr, **call: Any) -> AnyStr:
    """The PTX to go on with; `call` as of result_of()."""
    result = result_of(client, ptx, **call)
    return ptx if result is None else result.ptx


def result_of(client: str, ptx: AnyStr, *, ptxas: Optional[str] = None, arch: Optional[str] = None,
              ptxas_options: Optional[Sequence[str]] = None, name: str = "<kernel>",
              wants_cubin: bool = False) -> Optional[Result[AnyStr]]:
    """The result, recorded for stats(), or None where there is none. The guard calls `ptxas` as the client itself does, unless
    options of the user or $PTXOPT_PTXAS say otherwise. `wants_cubin`: what that call made, if it is the client's own."""
    options = dict(_state.options)
    is_clients = not any(name in options for name in _CALL)
    if os.environ.get("PTXOPT_PTXAS") or os.environ.get("PTXAS"):
        ptxas, is_clients = None, False
    for option, value in zip(_CALL, (ptxas, arch, ptxas_options)):
        if value is not None:
            options.setdefault(option, value)
    options["cubin"] = wants_cubin and is_clients
    options["facts_of_several"] = True
    # Nobody reads the text on its way to ptxas, as in the drop-in; who wants no more than tidy text gets that.
    if options.get("level", 2) >= 2 and options.get("passes") is None:
        options["knobs"] = {"tidy": 0, **options.get("knobs", {})}
    start = perf_counter()
    try:
        result = optimize(ptx, file=name, **options)
        records = records_of(client, result.report, perf_counter() - start, result.not_optimized)
    except Exception as error:  # whatever it is, the client goes on without us
        say_once(f"{client}: not optimized: {error}")
        _record([KernelStats(client, name, arch or "", False, trouble=(str(error).splitlines() or [""])[0])])
        return None
    _record(records)
    too_new = [found[1] for found in (re.search(r"Unsupported \.version (\d+\.\d+)", k.trouble) for k in records) if found]
    if too_new:
        say_once(f"{client}: no ptxas here takes PTX {too_new[0]}, so kernels stay as they are: pip install -U nvidia-cuda-nvcc")
    return result


def _record(records: List[KernelStats]) -> None:
    with _lock:
        _state.records.extend(records)
    _log(records)


def _log(records: List[KernelStats]) -> None:
    log = os.environ.get("PTXOPT_HOOK_LOG")
    if log:
        lines = "".join(json.dumps({"pid": os.getpid(), **asdict(k)}) + "\n" for k in records)
        try:
            os.makedirs(os.path.dirname(os.path.abspath(log)), exist_ok=True)
            with open(log, "a", encoding="utf-8") as file:
                file.write(lines)  # one write: lines of several processes do not mix
        except OSError as error:
            say_once(f"$PTXOPT_HOOK_LOG: {error}")


def add_source(source: Callable[[], List[KernelStats]], is_logged: bool = False) -> None:
    """Where stats() also finds records. The log gets them when this process ends, unless `is_logged`."""
    if source not in _state.sources:
        _state.sources.append(source)
        if not is_logged:
            _state.to_log.append((os.getpid(), source))


def log_for_children() -> None:
    """The processes that this one starts write their records to a file, which stats() reads."""
    if not os.environ.get("PTXOPT_HOOK_LOG"):
        handle, path = tempfile.mkstemp(prefix="ptxopt-hooks-", suffix=".jsonl")
        os.close(handle)
        os.environ["PTXOPT_HOOK_LOG"] = path
        at_end(lambda: os.unlink(path) if os.path.exists(path) else None)
    add_source(_of_children, is_logged=True)


def _of_children() -> List[KernelStats]:
    log = os.environ.get("PTXOPT_HOOK_LOG", "")
    if not os.path.exists(log):
        return []
    with open(log, encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [KernelStats(**k) for k in found if k.pop("pid") != os.getpid()]


def records_of(client: str, report: Mapping[str, Any], seconds: float = 0.0, trouble: str = "") -> List[KernelStats]:
    """A record for each kernel of a report of ptxopt; of each function where there is no kernel."""
    guard = report.get("guard", {})
    before, after = ({f["name"]: f for f in guard.get(side, ())} for side in ("before", "after"))
    kept = {k["name"]: f"{k['reason']} {k.get('detail', '')}".strip() for k in guard.get("kept", ())}
    functions = [f for f in report["functions"] if f["kind"] == "entry"] or report["functions"]
    return [KernelStats(client, f["name"], report["architecture"], bool(f["changed"]), kept.get(f["name"], ""),
                        trouble or guard.get("trouble", ""), seconds / len(functions), before.get(f["name"]), after.get(f["name"]))
            for f in functions]


class Stats(List[KernelStats]):
    """The kernels that went through a hook; str() is the table that is printed at exit, and a notebook shows it as one."""

    HEAD = ("client", "kernel", "arch", "changed", "registers", "instructions", "spills", "warps", "cycles")

    def rows(self) -> List[Tuple[str, ...]]:
        def changed(k: KernelStats) -> str:
            why = f"{k.kept}: {k.trouble}" if k.kept and k.trouble else k.kept or k.trouble
            return f"no: {why}" if why else "yes" if k.changed else "no"
        return [(k.client, k.kernel, k.arch, changed(k), *_html.steps(k.before, k.after)) for k in self]

    def __str__(self) -> str:
        rows = [self.HEAD, *((client, kernel if len(kernel) <= 40 else kernel[:39] + "\u2026", *rest)
                             for client, kernel, *rest in self.rows())]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.HEAD))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _html.table(self.HEAD, self.rows())

    def as_dicts(self) -> List[Dict[str, Any]]:
        return [asdict(k) for k in self]


def stats(client: Optional[str] = None) -> Stats:
    with _lock:
        records = list(_state.records)
    for source in _state.sources:
        records += source()
    return Stats(k for k in records if client in (None, k.client))


def clear_stats() -> None:
    with _lock:
        _state.records.clear()


def at_end(action: Callable[[], Any]) -> None:
    """When this process ends, after the table; not in its forks."""
    _state.last.append((os.getpid(), action))


def expect_kernels(client: str) -> None:
    """The table at the end of this process says so where the client compiled none."""
    _state.expected, _state.process = client, os.getpid()


def _end() -> None:
    found = stats() if _state.prints_table and sys.stderr is not None else []
    if found:
        print(f"ptxopt: {len(found)} {'kernel' if len(found) == 1 else 'kernels'}\n{found}", file=sys.stderr)
    elif _state.prints_table and sys.stderr is not None and _state.process == os.getpid():
        module = {"cutedsl": "cutlass"}.get(_state.expected, _state.expected)
        print(f"ptxopt: {_state.expected}: " + ("no kernel was compiled; its cache may have had them" if module in sys.modules
                                                else f"the script did not import {module}"), file=sys.stderr)
    for owner, source in _state.to_log:
        if owner == os.getpid():
            _log(source())
    for owner, action in reversed(_state.last):
        if owner == os.getpid():
            action()


atexit.register(_end)


def version_of(module: Any) -> Tuple[int, ...]:
    """(3, 9) of "3.9.0+git"; () where a module has none."""
    parts = []
    for part in str(getattr(module, "__version__", "")).split(".")[:2]:
        digits = "".join(c for c in part if c.isdigit())
        if not digits:
            break
        parts.append(int(digits))
    return tuple(parts)


def knows(client: str, module: Any, least: Tuple[int, int], most: Tuple[int, int]) -> bool:
    """Whether the version of a client is one that its hook is made for; it is said once where it is not."""
    if least <= version_of(module) <= most:
        return True
    say_once(f"{client} {getattr(module, '__version__', 'of no version')} is not known (known are "
             f"{'.'.join(map(str, least))} to {'.'.join(map(str, most))}): nothing is optimized")
    return False


def install(client: str, children: bool = False, **options: Any) -> None:
    """The hook of a client, now if the client is imported, else when it is. `children`: also in the Python processes that
    this one starts, by $PTXOPT_HOOKS."""
    if client not in CLIENTS:
        raise UsageError(f"there is no hook {client}; there are {', '.join(CLIENTS)}")
    if children:
        others = [c for c in os.environ.get("PTXOPT_HOOKS", "").split(",") if c and c != client]
        os.environ["PTXOPT_HOOKS"] = ",".join([*others, client])
        if options:
            absolute = {name: os.path.abspath(value) if name in _FILES and isinstance(value, (str, os.PathLike)) else value
                        for name, value in options.items()}
            os.environ["PTXOPT_HOOK_OPTIONS"] = json.dumps(absolute)
    importlib.import_module(f"ptxopt.{client}").install(**options)
