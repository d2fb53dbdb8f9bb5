"""The rules by which the guard says that a function got worse, written again from src/measure/ptxas/compare.h and
src/measure/timing/loop_matching.h.

Figures are rows of `ptxopt baseline`.
"""
import collections
import math
import re

SCENARIOS = ("L1", "L2", "DRAM")
SAME_TIME = 0.005  # of the cycles: less says nothing
SAME_ALONE = 0.02  # with few warps
FIGURES = ("computed", "exchanged", "read", "written")  # what can vanish least first
ASSUMED_ITERATIONS = 8
# A loop may become slower by this part of its cycles, or by two cycles and less than a quarter, if the whole gains several
# times as much, with many warps or with few.
SLIP, SLIP_CYCLES, MOST_SLIP, GAIN_OF_SLIP, LEAST_ITERATIONS = 0.1, 2, 0.25, 3, 1
UNROLLED = 1.9  # times the work of an iteration: less is not due to unrolling


def spills(row):
    return (row["spill-stores"] or 0) + (row["spill-loads"] or 0)


def by_notes(before, after):
    """Of messages of ptxas: 1 if one is new, -1 if some are only gone."""
    if before.get("notes") is None or after.get("notes") is None:
        return 0

    def lacks(a, b):
        had = {re.sub(r"\d", "", n["text"]): n["times"] for n in a["notes"]}
        return any((key := re.sub(r"\d", "", n["text"])) not in had or 0 < had[key] < n["times"] for n in b["notes"])
    return 1 if lacks(before, after) else -lacks(after, before)


def notes_first(rule):
    """A new note is worse whatever the figures say; one that is gone is better where they do not differ."""
    def judge(before, after):
        notes = by_notes(before, after)
        return 1 if notes > 0 else rule(before, after) or notes
    return judge


def figures_by_warps(before, after):
    """-1: better, 0, 1: worse"""
    a, b = ((spills(row), -row["warps"], row["instructions"]) for row in (before, after))
    return (b > a) - (b < a)


def is_longer(a, b, same=SAME_TIME):
    return b > a * (1 + same)


def differ(a, b, factor):
    return a > b * factor or b > a * factor


def is_whole(factor):
    return abs(factor - round(factor)) < 0.1 * factor


def step_ratios(after, before):
    """By what factors most of the steps of induction variables differ."""
    pairs = collections.Counter(b / a for a in before["steps"] for b in after["steps"])
    return sorted(ratio for ratio, count in pairs.items() if count == max(pairs.values()))


def agreed_ratio(after, before, tolerance, same_if_in_doubt=False):
    """How often the one does what the other does, on the word of most: ratio, whether it is of steps or arithmetic, how many say so, of how many.
    None: nothing is on both sides."""
    steps = step_ratios(after, before)
    ratios = {f: after[f] / before[f] if before[f] > 0 and after[f] > 0 else 0 for f in FIGURES}
    has = bool(steps) + sum(before[f] > 0 or after[f] > 0 for f in FIGURES)
    best = None
    for by, ratio in [("steps", r) for r in steps] + [(f, r) for f, r in ratios.items() if r]:
        agrees = [r > 0 and not differ(r, ratio, 1 + tolerance) for r in ratios.values()]
        agree = sum(agrees) + any(not differ(r, ratio, 1 + tolerance) for r in steps)
        is_same = same_if_in_doubt and not differ(1, ratio, 1 + tolerance)
        if best is None or agree > best[2] or (agree == best[2] and is_same and differ(1, best[0], 1 + tolerance)):
            best = ratio, by in ("steps", "computed"), agree, has
    return best


def iterations_in(after, before):
    """How many iterations of a loop before one after is, from what it does; None: not known."""
    a, b = before["instructions"], after["instructions"]
    best = agreed_ratio(after, before, 0.1, True)
    if best is None:
        return None if differ(a, b, UNROLLED) else 1
    ratio, _, agree, _ = best
    changed = differ(a, b, 1.25) or (agree > 1 and a != b)
    return ratio if changed and differ(1, ratio, UNROLLED) and is_whole(max(ratio, 1 / ratio)) and (ratio > 1) == (b > a) else 1


def work_ratio(after, before):
    """How much more is done; 1 where it is less than a quarter."""
    best = agreed_ratio(after, before, 0.25)
    return best[0] if best and differ(1, best[0], 1.25) else 1


def added(work, other, times):
    return {f: work[f] + times * other[f] for f in FIGURES} | {"steps": []}


NOTHING = {f: 0 for f in FIGURES} | {"steps": []}


def together(time):
    """Cycles and work of all innermost loops."""
    cycles = [sum(loop["iterations"] * loop["cycles"][s] for loop in time["inner"]) for s in range(len(SCENARIOS))]
    work = NOTHING
    for loop in time["inner"]:
        work = added(work, loop["work"], loop["iterations"])
    return cycles, work


def sign_of(a, b, iterations=1, same=(SAME_TIME,) * len(SCENARIOS)):
    """1 if any figure of `b`, by iterations of `a`, is longer, else -1 if any is shorter, else 0"""
    b = [y / iterations for y in b]
    if any(map(is_longer, a, b, same)):
        return 1
    return -1 if any(map(is_longer, b, a, same)) else 0


def copies_in(after, before):
    """How many iterations of a loop before one after is, by more than half of what tells, or by arithmetic alone; None: not known."""
    best = agreed_ratio(after, before, 0.05)
    if best is None:
        return None
    ratio, by_arithmetic, agree, has = best
    whole = math.floor(ratio + 0.5)
    if whole < 1 or abs(ratio - whole) > 0.05 * whole:
        return None
    exact = before["computed"] > 0 and abs(after["computed"] / before["computed"] - whole) <= 0.01
    vanished = exact and by_arithmetic and all(after[f] <= before[f] * whole for f in FIGURES[1:])
    return whole if 2 * agree > has or vanished else None


def match_loops(before, after):
    """By loop before: [loop after, copies, iterations]; None: not known which were made of which."""
    if not before or len(after) < len(before):
        return None
    extra, at, runs = len(after) - len(before), 0, []
    for loop in before:
        first = copies_in(after[at]["work"], loop["work"])
        if first is None:
            return None
        run = [(after[at], first, ASSUMED_ITERATIONS)]
        at += 1
        while extra and at < len(after):
            copies, more = copies_in(after[at]["work"], loop["work"]), run[-1][1]
            if copies is None or copies >= more:
                break
            run.append((after[at], copies, (more / copies - 1) / 2))
            at += 1
            extra -= 1
        if len(run) > 1 and run[-1][1] != 1:
            return None
        runs.append(run)
    return runs if at == len(after) else None


def dissolved(a, b):
    """The whole of both where one has a loop more, of which the other does a whole number of iterations elsewhere; None: not known."""
    more, less = (a, b) if len(a["inner"]) == len(b["inner"]) + 1 else (b, a)
    if len(more["inner"]) != len(less["inner"]) + 1:
        return None
    found = []
    for i, loop in enumerate(more["inner"]):
        others = more["inner"][:i] + more["inner"][i + 1:]
        if any(copies_in(y["work"], x["work"]) != 1 for x, y in zip(others, less["inner"])):
            continue
        left = added(added(less["work"], more["work"], -1), loop["work"], loop["iterations"])
        iterations = copies_in(left, loop["work"])
        if iterations is not None and iterations > 1:
            found.append((loop, iterations))
    if len(found) != 1:
        return None
    loop, iterations = found[0]
    whole = [max(w + (iterations - loop["iterations"]) * c, iterations * c) for w, c in zip(more["whole"], loop["cycles"])]
    return (whole, b["whole"]) if more is a else (a["whole"], whole)


def copies_of_version(after, before):
    """How often an iteration of a loop after does what one before does; None: it is no version of it."""
    witness = "computed" if before["computed"] > 0 else "written"
    if before[witness] <= 0 or after[witness] <= 0 or (after["computed"] > 0) != (before["computed"] > 0):
        return None
    copies = after[witness] / before[witness]
    return None if any(after[w] > before[w] * copies * 1.05 for w in ("written", "read")) else copies


def sign_of_versions(before, after):
    """Where a check chooses among several loops made of one: each with all that it may be a version of; None: not known."""
    whole, signs = set(), []
    for made in after:
        of = [(l, copies) for l, loop in enumerate(before) if (copies := copies_of_version(made["work"], loop["work"])) is not None]
        if not of:
            return None
        whole |= {l for l, copies in of if copies < 1.05}
        signs += [sign_of(before[l]["cycles"], made["cycles"], copies) for l, copies in of]
    return None if len(whole) < len(before) else 1 if 1 in signs else min(signs, default=0)


def gain_of(before, after):
    return 1 - after / before if is_longer(after, before) else 0


def loops_lose_with_few(a, b, same):
    """Any loop with few warps, if the whole does not gain with them."""
    if len(a["loops-alone"]) != len(b["loops-alone"]):
        return False
    return any(is_longer(x[s], y[s], same[s]) and y[s] > x[s] + SLIP_CYCLES and not is_longer(b["alone"][s], a["alone"][s])
               for x, y in zip(a["loops-alone"], b["loops-alone"]) for s in range(len(SCENARIOS)))


def sign_of_whole(a, b):
    """Of many warps, then of few, whose losses what many gain outweighs."""
    same = [max(SAME_ALONE, gain_of(x, y)) for x, y in zip(a["whole"], b["whole"])]
    many, few = sign_of(a["whole"], b["whole"]), sign_of(a["alone"], b["alone"], same=same)
    return many if many > 0 else 1 if few > 0 or loops_lose_with_few(a, b, same) else many or few


def gains_outweigh_slips(a, b):
    for s in range(len(SCENARIOS)):
        slips = 0
        for x, y in zip(a["inner"], b["inner"]):
            before, after = x["cycles"][s], y["cycles"][s]
            if is_longer(before, after):
                if is_longer(before, after, SLIP) and (after > before + SLIP_CYCLES or is_longer(before, after, MOST_SLIP)):
                    return False
                slips += max(x["iterations"], LEAST_ITERATIONS) * (after - before)
        gain = max(gain_of(a[kind][s], b[kind][s]) for kind in ("whole", "alone"))
        if slips > 0 and slips * GAIN_OF_SLIP > gain * a["whole"][s]:
            return False
    return True


def by_cycles(a, b, same_frame):
    """The sign, and whether a run of the whole does the same before and after."""
    if len(a["inner"]) != len(b["inner"]):
        if not same_frame or work_ratio(b["work"], a["work"]) == 1:
            return sign_of_whole(a, b), True
        if runs := match_loops(a["inner"], b["inner"]):
            signs = [sign_of(loop["cycles"],
                             [sum(iterations * made["cycles"][s] for made, _, iterations in run) for s in range(len(SCENARIOS))],
                             sum(iterations * copies for _, copies, iterations in run)) for loop, run in zip(a["inner"], runs)]
            return 1 if 1 in signs else min(signs), False
        if wholes := dissolved(a, b):
            return sign_of(*wholes), False
        if len(a["inner"]) < len(b["inner"]) and sign_of_versions(a["inner"], b["inner"]) == -1:
            return -1, False
        (x, worked), (y, works) = (together(t) if a["inner"] and b["inner"] else (t["whole"], t["work"]) for t in (a, b))
        return max(0, sign_of(x, y, work_ratio(works, worked))), False
    loops = list(zip(a["inner"], b["inner"]))
    iterations = [iterations_in(y["work"], x["work"]) if same_frame else 1 for x, y in loops]
    if None in iterations:
        return 0, False
    signs = [sign_of(x["cycles"], y["cycles"], r) for (x, y), r in zip(loops, iterations)]
    same = all(r == 1 for r in iterations)
    if 1 in signs and not (same and gains_outweigh_slips(a, b)):
        return 1, same
    return (sign_of_whole(a, b) if same else 0) or min([s for s in signs if s < 0], default=0), same


def figures_by_time(before, after):
    if spills(before) != spills(after):
        return 1 if spills(after) > spills(before) else -1
    a, b = before["cycles"], after["cycles"]
    if a and b and a["model"] == b["model"]:
        sign, same = by_cycles(a, b, before["stack"] == after["stack"])
        if sign:
            return sign
        if before["warps"] != after["warps"]:
            return 1 if after["warps"] < before["warps"] else -1
        issued = sign_of([a["work"]["instructions"]], [b["work"]["instructions"]])
        if same and issued:
            return issued
    return figures_by_warps(before, after)


by_warps, by_time = notes_first(figures_by_warps), notes_first(figures_by_time)
RULES = {"time": by_time, "warps": by_warps}
