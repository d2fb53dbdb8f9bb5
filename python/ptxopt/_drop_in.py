"""What hooks share whose client starts a program: its options, as of $PTXOPT_OPTIONS, and the reports that tell what it did."""
from __future__ import annotations

import json
import os
import shlex
from typing import Any, Dict, List, Mapping

from . import _hooks
from ._hooks import KernelStats


def arguments_of(client: str, options: Mapping[str, Any]) -> List[str]:
    """Options of a hook as words for the drop-in ptxas."""
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
                raise TypeError(f"{client}'s hook takes {name} as the path of a file")
            arguments.append(shlex.quote(f"--{'facts' if name == 'facts' else 'profile-use'}={os.path.abspath(value)}"))
        elif name == "knobs":
            arguments += [f"--{knob}={number}" for knob, number in value.items()]
        else:
            raise TypeError(f"{client}'s hook has no option {name}")
    return arguments


def options_text(arguments: List[str], reports: str) -> str:
    """$PTXOPT_OPTIONS: the options, after those that the user has there, and the folder for reports."""
    # As for the other hooks, where nobody says.
    tries = None if os.environ.get("PTXOPT_GUARD_TRIES") else "--guard-tries=1"
    return " ".join(filter(None, [tries, os.environ.get("PTXOPT_OPTIONS", ""), *arguments, f"--report={reports}/"]))


def records_of(client: str, reports: str) -> List[KernelStats]:
    """A record for each kernel of the reports in that folder."""
    if not os.path.isdir(reports):
        return []
    records = []
    for name in sorted(os.listdir(reports)):
        with open(os.path.join(reports, name), encoding="utf-8") as file:
            report: Dict[str, Any] = json.load(file)
        records += _hooks.records_of(client, report)
    return records
