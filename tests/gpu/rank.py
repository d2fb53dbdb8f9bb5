"""Rank correlation of what a model says with what was measured.

  spearman(xs, ys) -> rho, or None where one side has no order
  chance(xs, ys) -> how often a random order correlates at least as much (by sign-less rho): 10000 permutations, fixed seed
"""
import random


def ranks(values):
    """From 1; equal values share the mean of their places."""
    order = sorted(range(len(values)), key=values.__getitem__)
    result, at = [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for i in order[at:end]:
            result[i] = (at + 1 + end) / 2
        at = end
    return result


def correlation(xs, ys):
    n = len(xs)
    mean_x, mean_y = sum(xs) / n, sum(ys) / n
    spread = (sum((x - mean_x) ** 2 for x in xs) * sum((y - mean_y) ** 2 for y in ys)) ** 0.5
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / spread if spread else None


def spearman(xs, ys):
    return correlation(ranks(xs), ranks(ys)) if len(xs) > 2 else None


def chance(xs, ys, permutations=10_000):
    a, b = ranks(xs), ranks(ys)
    found = correlation(a, b)
    if found is None:
        return None
    order, hits = random.Random(1), 0
    for _ in range(permutations):
        order.shuffle(b)
        hits += abs(correlation(a, b)) >= abs(found) - 1e-12
    return (hits + 1) / (permutations + 1)


def against_model(rows, scenarios):
    """`rows`: (measured ratio, {scenario: modelled ratio}). Of each scenario the correlation, its chance, and on how many."""
    result = {}
    for scenario in scenarios:
        pairs = [(measured, modelled[scenario]) for measured, modelled in rows if modelled.get(scenario)]
        if len(pairs) < 3:
            continue
        measured, modelled = zip(*pairs)
        rho = spearman(modelled, measured)
        if rho is not None:
            result[scenario] = {"spearman": rho, "chance": chance(modelled, measured), "kernels": len(pairs)}
    return result
