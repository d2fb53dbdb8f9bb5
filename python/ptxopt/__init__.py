"""ptxopt: an optimizer from PTX to PTX.

    result = ptxopt.optimize(ptx, arch="sm_90")
    result.ptx, result.remarks, result.report

`optimize` runs in this process, without the GIL. `verify`, `run`, `diff`, `tune`, `time` and `report` run the program
ptxopt of this package. `ptxopt.triton`, `ptxopt.numba`, `ptxopt.warp`, `ptxopt.cupy`, `ptxopt.jax`, `ptxopt.tilelang`,
`ptxopt.cutedsl` and `ptxopt.torch` are hooks for what compiles to PTX; none of them is imported by this module.
"""
from ._commands import (Comparison, Diff, DiffRow, HtmlReport, KernelTime, Timing, Tuned, Verification, diff, report, time,
                        tune, verify)
from ._errors import (CheckFailed, Error, ExecutionError, InternalError, InvalidPtx, UsageError)
from ._library import __version__, knobs, passes, version_line
from ._optimize import Guard, Kept, Remark, Result, Retried, optimize
from ._programs import program_path
from ._run import RunResult, run

__all__ = [
    "CheckFailed", "Comparison", "Diff", "DiffRow", "Error", "ExecutionError", "Guard", "HtmlReport", "InternalError",
    "InvalidPtx", "Kept", "KernelTime", "Remark", "Result", "Retried", "RunResult", "Timing", "Tuned", "UsageError", "Verification", "__version__",
    "diff", "knobs", "optimize", "passes", "program_path", "report", "run", "time", "tune", "verify", "version_line",
]

for _name in __all__:  # their names in messages are those that a program writes
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
del _name
