"""What ptxas makes of PTX files, kept in a work folder, and means of it."""
import json
import math
import os

import machine_code
from compilers import digest, first_line, read, write


def measured(path, arch, work, ptxas_version, whole=False):
    """function -> what machine_code.loop_stats says, `accesses` (instructions that load or store) and `spills` (bytes of stores and
    loads), from `work` where it is known."""
    key = digest(read(path), arch, ptxas_version, "whole" if whole else "", read(machine_code.__file__))
    cached = os.path.join(work, "code", key + ".json")
    if not os.path.exists(cached):
        assembled = machine_code.assemble(path, arch, whole=whole)
        figures = machine_code.loop_stats(assembled, arch)
        for name, row in figures.items():
            row["accesses"] = machine_code.accesses(assembled.sections.get(".text." + name, b""))
        write(cached, json.dumps(figures).encode())
    rows = json.loads(read(cached))
    for row in rows.values():
        row["spills"] = row["spill_stores"] + row["spill_loads"]
    return rows


def fingerprint_of(path, arch, work, ptxas_version):
    """The fingerprint of what ptxas makes of a file, from `work` where it is known. Raises AssemblyError."""
    cached = os.path.join(work, "code", digest(read(path), arch, ptxas_version, read(machine_code.__file__)) + ".json")
    if not os.path.exists(cached):
        try:
            result = machine_code.fingerprint(machine_code.assemble(path, arch))
        except machine_code.AssemblyError as error:
            result = {"refused": first_line(str(error)).replace(path, os.path.basename(path))}
        write(cached, json.dumps(result).encode())
    result = json.loads(read(cached))
    if "refused" in result:
        raise machine_code.AssemblyError(result["refused"])
    return result


def mean_ratio(pairs):
    """The geometric mean of after / before, of those that have both."""
    logarithms = [math.log(after / before) for before, after in pairs if before and after]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else 1.0
