"""Where this Python's packages lie: wheels of nvidia-cuda-nvcc and Triton bring a ptxas (src/measure/ptxas/python_ptxas.def)."""
from __future__ import annotations

import os
import sys
from typing import Dict, List, Tuple

_found: Tuple[Tuple[str, ...], List[str]] = ((), [])


def package_folders() -> List[str]:
    """The folders of sys.path that have one of those packages, in its order."""
    global _found
    key = tuple(sys.path)
    if _found[0] != key:
        folders = [folder for folder in key if folder and any(
            os.path.isdir(os.path.join(folder, *package)) for package in (("nvidia",), ("triton", "backends", "nvidia")))]
        _found = (key, folders)
    return _found[1]


def environment() -> Dict[str, str]:
    """The environment in which the program ptxopt finds them: $PTXOPT_PYTHON_PACKAGES."""
    folders = package_folders()
    if not folders:
        return dict(os.environ)
    return {**os.environ, "PTXOPT_PYTHON_PACKAGES": os.pathsep.join(folders)}
