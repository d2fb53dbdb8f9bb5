"""The rules by which the guard says that a function got worse, written again from src/ptxas/compare.h.

Figures are rows of `ptxopt baseline`.
"""
SCENARIOS = ("L1", "L2", "DRAM")
SAME_TIME = 0.005  # of the cycles: less says nothing


def spills(row):
    return (row["spill-stores"] or 0) + (row["spill-loads"] or 0)


def by_warps(before, after):
    """-1: better, 0, 1: worse"""
    a, b = ((spills(row), -row["warps"], row["instructions"]) for row in (before, after))
    return (b > a) - (b < a)


def is_longer(a, b):
    return b > a * (1 + SAME_TIME)


def by_time(before, after):
    if spills(before) != spills(after):
        return 1 if spills(after) > spills(before) else -1
    a, b = before["cycles"], after["cycles"]
    if a and b and a["model"] == b["model"]:
        inner = zip(a["inner"], b["inner"]) if len(a["inner"]) == len(b["inner"]) else ()
        if any(is_longer(x, y) for one, other in inner for x, y in zip(one, other)):
            return 1
        if any(is_longer(x, y) for x, y in zip(a["whole"], b["whole"])):
            return 1
        if any(is_longer(y, x) for x, y in zip(a["whole"], b["whole"])):
            return -1
        if before["warps"] != after["warps"]:
            return 1 if after["warps"] < before["warps"] else -1
        if is_longer(a["issued"], b["issued"]) or is_longer(b["issued"], a["issued"]):
            return 1 if b["issued"] > a["issued"] else -1
    return by_warps(before, after)


RULES = {"time": by_time, "warps": by_warps}
