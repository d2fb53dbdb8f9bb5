"""The set-up for JAX: XLA calls ptxopt-ptxas in the place of its ptxas.

    python -m ptxopt jax script.py

or, before JAX is imported, `import ptxopt.jax; ptxopt.jax.install()`. XLA is C++, and takes what to call from the
environment: this makes a toolkit folder with our ptxas and a link to the real toolkit's nvvm, and sets $CUDA_ROOT and
$XLA_FLAGS. ptxopt-ptxas calls the ptxas that JAX would have called. Its reports tell what it did.
"""
from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
from typing import Any, Dict, List, Optional

from . import _hooks
from ._hooks import KernelStats, Stats
from ._patch import restore_environment
from ._programs import program_path
from ._toolchains import package_folders

FLAGS = ("--xla_gpu_enable_libnvptxcompiler=false", "--xla_gpu_enable_libnvjitlink=false")
_NVVM = (("nvidia", "cu13", "nvvm"), ("nvidia", "cuda_nvcc", "nvvm"))
_before: Optional[Dict[str, Optional[str]]] = None
_folder = ""


def _nvvm() -> Optional[str]:
    """The folder with libdevice: of a wheel, else of the toolkit."""
    places = [os.path.join(folder, *part) for folder in package_folders() for part in _NVVM]
    places += [os.path.join(root, "nvvm") for root in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if root]
    return next((place for place in places if os.path.isdir(place)), None)


def install(*, table: Optional[bool] = None, **options: Any) -> None:
    """Sets the environment; `options` are level, those of the guard, passes and knobs of ptxopt.optimize."""
    global _before, _folder
    arguments = _arguments(options)
    _hooks.set_options(options, table)
    if _before is not None:
        return
    if "jax" in sys.modules:
        _hooks.say_once("JAX is imported already and may have read its environment; import ptxopt.jax before it")
    _folder = tempfile.mkdtemp(prefix="ptxopt-jax-")
    _hooks.at_end(lambda: shutil.rmtree(_folder, ignore_errors=True))
    os.mkdir(os.path.join(_folder, "bin"))
    os.symlink(program_path("ptxopt-ptxas"), os.path.join(_folder, "bin", "ptxas"))
    nvvm = _nvvm()
    if nvvm is not None:
        os.symlink(nvvm, os.path.join(_folder, "nvvm"))
    # As for the other hooks, where nobody says.
    tries = None if os.environ.get("PTXOPT_GUARD_TRIES") else "--guard-tries=1"
    wanted = {
        "CUDA_ROOT": _folder,
        "XLA_FLAGS": " ".join([os.environ.get("XLA_FLAGS", ""), f"--xla_gpu_cuda_data_dir={_folder}", *FLAGS]).strip(),
        "PTXOPT_OPTIONS": " ".join(filter(None, [tries, os.environ.get("PTXOPT_OPTIONS", ""), *arguments, f"--report={_folder}/reports/"])),
        "PTXOPT_PYTHON_PACKAGES": os.pathsep.join(package_folders()),
    }
    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):  # its key does not know us
        wanted["JAX_COMPILATION_CACHE_DIR"] = os.path.join(os.environ["JAX_COMPILATION_CACHE_DIR"], _hooks.key())
    _before = {name: os.environ.get(name) for name in wanted}
    os.environ.update({name: value for name, value in wanted.items() if value})
    _hooks.add_source(_records)


def uninstall() -> None:
    """Puts the environment back. A JAX that runs has read it."""
    global _before
    restore_environment(_before or {})
    _before = None


def stats() -> Stats:
    """What ptxopt-ptxas was called with, a row for each call."""
    return _hooks.stats("jax")


def _arguments(options: Dict[str, Any]) -> List[str]:
    arguments = []
    for name, value in options.items():
        if name == "level":
            arguments.append(f"-O{value}")
        elif name in ("guard", "guard_rule", "guard_tries", "ptxas"):
            arguments.append(f"--{name.replace('_', '-')}={value}")
        elif name in ("passes", "skip"):
            arguments.append(f"--{'passes' if name == 'passes' else 'skip-pass'}={','.join(value)}")
        elif name in ("facts", "profile"):
            if not isinstance(value, (str, os.PathLike)):
                raise TypeError(f"JAX's hook takes {name} as the path of a file")
            arguments.append(shlex.quote(f"--{'facts' if name == 'facts' else 'profile-use'}={os.path.abspath(value)}"))
        elif name == "knobs":
            arguments += [f"--{knob}={number}" for knob, number in value.items()]
        else:
            raise TypeError(f"JAX's hook has no option {name}")
    return arguments


def _records() -> List[KernelStats]:
    reports = os.path.join(_folder, "reports")
    if not _folder or not os.path.isdir(reports):
        return []
    records = []
    for name in sorted(os.listdir(reports)):
        with open(os.path.join(reports, name), encoding="utf-8") as file:
            records += _hooks.records_of("jax", json.load(file))
    return records
