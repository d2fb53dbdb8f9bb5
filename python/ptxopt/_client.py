"""What the hooks of clients have in common that patch modules once these are imported."""
from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from . import _hooks
from ._patch import Patches
from ._watch import forget, when_imported


class Named:
    """A module whose version is told elsewhere."""

    def __init__(self, version: str):
        self.__version__ = version


class Client:
    """A hook: whether it is wanted, what it has patched, and the part of a cache's key that tells ptxopt and its options."""

    def __init__(self) -> None:
        self.patches = Patches()
        self.wanted = False
        self.key = ""
        self._places: Dict[str, Callable[[Any], None]] = {}

    def install(self, places: Dict[str, Callable[[Any], None]], options: Dict[str, Any], table: Optional[bool]) -> None:
        """`places`: what patches each module, by the module's name. A second call changes the options only."""
        _hooks.set_options(options, table)
        self.key = _hooks.key()
        if self.wanted:
            return
        self.wanted = True
        self._places = places
        for module, patch in places.items():
            when_imported(module, patch)

    def uninstall(self) -> None:
        self.wanted = False
        for module in self._places:
            forget(module)
        self.patches.undo()
