"""What ptxas makes of PTX files, kept in a work folder, and means of it."""
import json
import math
import os

import machine_code
from compilers import digest, read, write


def measured(path, arch, work, ptxas_version, whole=False):
    """function -> what machine_code.loop_stats says, and `spills` (bytes of stores and loads), from `work` where it is known."""
    key = digest(read(path), arch, ptxas_version, "whole" if whole else "", read(machine_code.__file__))
    cached = os.path.join(work, "code", key + ".json")
    if not os.path.exists(cached):
        figures = machine_code.loop_stats(machine_code.assemble(path, arch, whole=whole), arch)
        write(cached, json.dumps(figures).encode())
    rows = json.loads(read(cached))
    for row in rows.values():
        row["spills"] = row["spill_stores"] + row["spill_loads"]
    return rows


def mean_ratio(pairs):
    """The geometric mean of after / before, of those that have both."""
    logarithms = [math.log(after / before) for before, after in pairs if before and after]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else 1.0
