"""What a hook replaces, and puts back: attributes, and variables of the environment."""
from __future__ import annotations

import os
from typing import Any, Callable, Dict, List, Optional, Tuple

_MISSING = object()


class Patches:
    def __init__(self) -> None:
        self._made: List[Tuple[Any, str, Any, Any]] = []

    def wrap(self, owner: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
        """owner.name becomes wrapper(owner.name)."""
        self.set(owner, name, wrapper(getattr(owner, name)))

    def set(self, owner: Any, name: str, value: Any) -> None:
        before = vars(owner).get(name, _MISSING)  # an inherited attribute is not the owner's
        setattr(owner, name, value)
        self._made.append((owner, name, before, value))

    def undo(self) -> None:
        """Puts back what was there, unless somebody else has replaced it since."""
        while self._made:
            owner, name, before, value = self._made.pop()
            if vars(owner).get(name, _MISSING) is not value:
                continue
            if before is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, before)


def restore_environment(before: Dict[str, Optional[str]]) -> None:
    """Puts variables back to what they were: None stands for one that was not set."""
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
