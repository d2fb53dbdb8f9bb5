"""Calling a function once a module is imported, without importing it.

A finder in front of the others finds the watched module by these, and has its loader call the function after the module
ran. It touches no other module.
"""
from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from typing import Any, Callable, Dict, Optional


class _Loader(importlib.abc.Loader):
    """Another loader, which is put back into the module once that has run."""

    def __init__(self, loader: Any, then: Callable[[Any], None]):
        self._loader, self._then = loader, then

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._then(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self) -> None:
        self.watched: Dict[str, Callable[[Any], None]] = {}
        self._busy = False

    def find_spec(self, name: str, path: Any, target: Any = None) -> Optional[Any]:
        if name not in self.watched or self._busy:
            return None
        self._busy = True
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return None
        finally:
            self._busy = False
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return None
        spec.loader = _Loader(spec.loader, self.watched.pop(name))
        return spec


_finder = _Finder()


def when_imported(name: str, then: Callable[[Any], None]) -> None:
    """`then(module)`, now if the module is imported, else right after it is. One function for each module."""
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        then(module)
        return
    _finder.watched[name] = then
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def forget(name: str) -> None:
    _finder.watched.pop(name, None)
