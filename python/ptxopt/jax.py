"""The set-up for JAX: XLA calls ptxopt-ptxas in the place of its ptxas.

    python -m ptxopt jax script.py

or, before JAX is imported, `import ptxopt.jax; ptxopt.jax.install()`. XLA is C++, and takes what to call from the
environment: this makes a toolkit folder with our ptxas and a link to the real toolkit's nvvm, and sets $CUDA_ROOT and
$XLA_FLAGS. ptxopt-ptxas calls the ptxas that JAX would have called. Its reports tell what it did.
"""
from __future__ import annotations

import os
import shutil
import sys
import tempfile
from typing import Any, Dict, List, Optional

from . import _hooks
from ._drop_in import arguments_of, options_text, records_of
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
    arguments = arguments_of("JAX", _hooks.with_usual(options))
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
    wanted = {
        "CUDA_ROOT": _folder,
        "XLA_FLAGS": " ".join([os.environ.get("XLA_FLAGS", ""), f"--xla_gpu_cuda_data_dir={_folder}", *FLAGS]).strip(),
        "PTXOPT_OPTIONS": options_text(arguments, f"{_folder}/reports"),
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


def _records() -> List[KernelStats]:
    return records_of("jax", os.path.join(_folder, "reports")) if _folder else []
