"""verify, diff, tune, time and report: the program ptxopt, run on files, with its JSON as objects.

Each takes PTX text, or the path of a file where it is a pathlib.Path. `data` of each result is the program's JSON, whose
schemas are in schemas/ and docs/.
"""
from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _html
from ._errors import CheckFailed, Error, UsageError, error_of
from ._optimize import check_text
from ._programs import run_program

Source = Union[str, bytes, "os.PathLike[str]"]


def text_of(source: Source) -> Union[str, bytes]:
    """A text itself, or what a path has. A str that is the name of a file is a UsageError."""
    if isinstance(source, os.PathLike):
        return Path(source).read_bytes()
    check_text(source)
    return source


class Files:
    """Texts as files, in a folder that is there inside a with statement, and that the program runs in."""

    def __enter__(self) -> "Files":
        self._folder = tempfile.TemporaryDirectory(prefix="ptxopt-")
        self.folder = Path(self._folder.name)
        return self

    def __exit__(self, *_: Any) -> None:
        self._folder.cleanup()

    def path(self, source: Source, name: str) -> str:
        if isinstance(source, os.PathLike):
            return os.path.abspath(source)
        text = text_of(source)
        file = self.folder / name
        file.write_bytes(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text))
        return name


def run_checked(files: Files, arguments: Sequence[str], accepted: Sequence[int] = (0,)) -> bytes:
    """Standard output of the program; an exception where its exit code is another."""
    done = run_program(list(arguments), cwd=files.folder)
    if done.returncode not in accepted:
        text = done.stderr.decode("utf-8", "replace") or done.stdout.decode("utf-8", "replace")
        raise error_of(done.returncode if done.returncode > 0 else 4, text)
    return done.stdout


def _options(**options: Any) -> List[str]:
    """--name=value of those that are not None; flags where the value is True; lists joined by commas."""
    arguments = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            arguments.append(option)
        else:
            joined = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
            if name == "ptxas" and os.sep in joined:
                joined = os.path.abspath(joined)
            arguments.append(f"{option}={joined}")
    return arguments


@dataclass(frozen=True)
class Comparison:
    """The verdict on a kernel: equal, different, or why it could not be compared. `detail` has the input that shows it."""
    kernel: str
    verdict: str
    inputs: int
    detail: str


class Verification:
    """What verify() found. True where all kernels are equal."""

    def __init__(self, data: List[Dict[str, Any]]):
        self.data = data
        self.kernels = [Comparison(k["kernel"], k["verdict"], k["inputs"], k["detail"]) for k in data]

    @property
    def equal(self) -> bool:
        return all(k.verdict == "equal" for k in self.kernels)

    @property
    def different(self) -> List[Comparison]:
        return [k for k in self.kernels if k.verdict == "different"]

    def __bool__(self) -> bool:
        return self.equal

    def __repr__(self) -> str:
        return "<ptxopt.Verification " + ", ".join(f"{k.kernel}: {k.verdict}" for k in self.kernels) + ">"

    def _repr_html_(self) -> str:
        return _html.table(("kernel", "verdict", "inputs", "detail"), [(k.kernel, k.verdict, k.inputs, k.detail) for k in self.kernels])


def verify(before: Source, after: Source, *, kernel: Optional[str] = None, trials: Optional[int] = None,
           seed: Optional[int] = None, nan: Optional[str] = None, grid: Optional[Sequence[int]] = None,
           block: Optional[Sequence[int]] = None, jobs: int = 0, check: bool = False,
           facts: Optional[Mapping[str, Any]] = None) -> Verification:
    """Runs the kernels of two texts on the same made-up inputs and compares what they leave in memory (docs/verify.md).
    With `check` a difference is a CheckFailed. Inputs keep to `facts` (docs/facts.md)."""
    with Files() as files:
        given = None if facts is None else files.path(json.dumps(dict(facts)), "facts.json")
        output = run_checked(files, ["verify", files.path(before, "before.ptx"), files.path(after, "after.ptx"), "--format=json",
                              *_options(kernel=kernel, trials=trials, seed=seed, nan=nan, grid=grid, block=block, jobs=jobs,
                                       facts=given)],
                             accepted=(0, 1, 2))
    if not output.strip():
        raise UsageError("nothing was compared")
    found = Verification(json.loads(output))
    if check and found.different:
        raise CheckFailed("\n".join(f"{k.kernel}: {k.detail}" for k in found.different))
    return found


@dataclass(frozen=True)
class DiffRow:
    """A function in both texts: `change` is better, worse, other-code, same, new, missing or regression; figures as JSON has them."""
    name: str
    change: str
    before: Optional[Dict[str, Any]]
    after: Optional[Dict[str, Any]]


class Diff:
    """What diff() found. `verdict` is "ok" or "regression"."""

    def __init__(self, data: Dict[str, Any]):
        self.data = data
        self.verdict: str = data["verdict"]
        self.rows = [DiffRow(f["demangled"] or f["name"], f["change"], f.get("before"), f.get("after")) for f in data["functions"]]

    def __repr__(self) -> str:
        return f"<ptxopt.Diff {self.verdict}: " + ", ".join(f"{r.name}: {r.change}" for r in self.rows) + ">"

    def _repr_html_(self) -> str:
        return _html.table(("function", "change", *(title for _, title in _html.SHOWN)),
                           [(r.name, r.change, *_html.steps(r.before, r.after)) for r in self.rows])


def diff(before: Source, after: Source, *, arch: Union[str, Sequence[str], None] = None, ptxas: Optional[str] = None,
         fail_on: Optional[str] = None, jobs: int = 0, limits: Sequence[str] = (), compile_time: bool = False) -> Diff:
    """Compares what ptxas makes of two texts, cubins or folders (docs/diff.md; schemas/diff.schema.json). `limits` are those of
    --limit, ["spills<=0", "attention*:registers<=128"]: what a kernel does not keep is a regression, too."""
    if isinstance(limits, (str, bytes)):
        raise UsageError(f"option 'limits' is a list of limits, not {limits!r}")
    with Files() as files:
        return Diff(json.loads(run_checked(
            files, ["diff", files.path(before, "before.ptx"), files.path(after, "after.ptx"), "--format=json", "--all",
             *(f"--limit={limit}" for limit in limits),
             *_options(arch=arch, ptxas=ptxas, fail_on=fail_on, jobs=jobs, compile_time=compile_time)], accepted=(0, 1))))


class Tuned:
    """What tune() chose: `ptx`, and `data`, the figures of every candidate of each kernel."""

    def __init__(self, ptx: str, data: Dict[str, Any]):
        self.ptx, self.data = ptx, data

    @property
    def kernels(self) -> List[Dict[str, Any]]:
        return self.data["functions"]

    def __str__(self) -> str:
        return self.ptx

    def __repr__(self) -> str:
        return f"<ptxopt.Tuned {len(self.kernels)} functions for {self.data['architecture']}, {self.data['runs']} runs of ptxas>"

    def _repr_html_(self) -> str:
        return _html.table(("function", *(title for _, title in _html.SHOWN)),
                           [(k["demangled"] or k["name"], *_html.steps(k["before"], k["after"])) for k in self.kernels], repr(self).strip("<>"))


def tune(ptx: Source, *, arch: Optional[str] = None, objective: Optional[str] = None, budget: Optional[float] = None,
         ptxas: Optional[str] = None, jobs: int = 0, verify: bool = False) -> Tuned:
    """Tries variants of the passes on each kernel and keeps the best by ptxas's figures (docs/tune.md)."""
    with Files() as files:
        report_file = files.folder / "report.json"
        output = run_checked(files, ["tune", files.path(ptx, "input.ptx"), "--quiet", f"--report={report_file}", "-o", "-",
                              *_options(arch=arch, objective=objective, budget=budget, ptxas=ptxas, jobs=jobs, verify=verify)])
        return Tuned(output.decode("utf-8", "surrogateescape"), json.loads(report_file.read_bytes()))


@dataclass(frozen=True)
class KernelTime:
    """The modelled cycles of a warp from the beginning to the end of a kernel, where data lies in L1, L2 and DRAM."""
    name: str
    registers: int
    warps: int
    l1: float
    l2: float
    dram: float


class Timing:
    """What time() estimates; `data` has each loop with what limits it."""

    def __init__(self, data: Dict[str, Any]):
        self.data = data
        self.kernels = [KernelTime(f["demangled"] or f["name"], f["registers"], f["warps"], f["cycles"]["l1"], f["cycles"]["l2"],
                                   f["cycles"]["dram"]) for f in data["functions"] if f.get("cycles")]

    def __repr__(self) -> str:
        return f"<ptxopt.Timing for {self.data['architecture']}: " + ", ".join(
            f"{k.name}: {k.l1:.0f}/{k.l2:.0f}/{k.dram:.0f} cycles" for k in self.kernels) + ">"

    def _repr_html_(self) -> str:
        return _html.table(("kernel", "registers", "warps", "cycles, L1", "cycles, L2", "cycles, DRAM"),
                           [(k.name, k.registers, k.warps, k.l1, k.l2, k.dram) for k in self.kernels], f"modelled for {self.data['architecture']}")


def time(ptx: Source, *, arch: Optional[str] = None, kernel: Optional[str] = None, threads: Optional[int] = None,
         rounds: Optional[int] = None, ptxas: Optional[str] = None) -> Timing:
    """Estimates the time of each loop and kernel from ptxas's machine code (docs/time.md; schemas/time.schema.json)."""
    with Files() as files:
        return Timing(json.loads(run_checked(files, ["time", files.path(ptx, "input.ptx"), "--format=json",
                                              *_options(arch=arch, kernel=kernel, threads=threads, rounds=rounds, ptxas=ptxas)])))


class HtmlReport:
    """The page of `ptxopt report`: `html`, and in a notebook the page itself."""

    def __init__(self, html: str, height: int = 700):
        self.html, self.height = html, height

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<ptxopt.HtmlReport of {len(self.html)} characters>"

    def _repr_html_(self) -> str:
        return _html.frame(self.html, self.height)


def report(ptx: Source, *, arch: Optional[str] = None, ptxas: Union[str, bool, None] = None, height: int = 700) -> HtmlReport:
    """The register pressure, the occupancy and the modelled time of each kernel as a page (docs/report.md). ptxas=False does
    not ask one."""
    with Files() as files:
        page = files.folder / "report.html"
        run_checked(files, ["report", files.path(ptx, "input.ptx"), "-o", str(page), *_options(
            arch=arch, ptxas=None if isinstance(ptxas, bool) else ptxas, no_ptxas=ptxas is False)])
        return HtmlReport(page.read_text(encoding="utf-8"), height)


__all__ = ["Comparison", "Diff", "DiffRow", "Error", "HtmlReport", "KernelTime", "Timing", "Tuned", "Verification", "diff",
           "report", "time", "tune", "verify"]
