"""Timing variants of a kernel so that small differences can be told from noise.

All variants are measured in each iteration, in another order each time, so that what drifts (clocks, temperature) meets all
alike. A sample is as many launches as take SAMPLE_MS, between two events. The ratio of a variant to the first one is
taken within each iteration; what is reported is the median of these ratios and, by order statistics, an interval that holds
the true median with the confidence asked for, whatever the distribution.

  faster, slower             the interval, widened by the margin, lies on one side of 1
  cannot be distinguished       otherwise

The margin is for what measuring cannot see, such as where code lies; a control (the first variant loaded once more)
shows how large that is.
"""
import math
import random
import time
from dataclasses import dataclass
from statistics import median

SAMPLE_MS = 0.5
WARM_MS = 20
MOST_LAUNCHES = 10_000  # of a sample
ISSUE_BOUND = 0.8  # where issuing launches takes a larger part of the time, it is the processor that is measured
UNDECIDED = "cannot be distinguished"


@dataclass
class Settings:
    seconds: float = 2.0  # of one kernel
    least_iterations: int = 11
    most_iterations: int = 200
    confidence: float = 0.99
    margin: float = 0.002


def median_interval(samples, confidence):
    """The least and greatest order statistics around the median that hold it with this confidence, or None: too few."""
    ordered, n = sorted(samples), len(samples)
    tail, k = 0.0, 0
    while k < n // 2:
        tail += math.comb(n, k) * 0.5 ** n
        if 2 * tail > 1 - confidence:
            break
        k += 1
    return (ordered[k - 1], ordered[n - k]) if k else None


def summary(samples, confidence):
    interval = median_interval(samples, confidence)
    return {"median": median(samples), "low": interval[0] if interval else None, "high": interval[1] if interval else None}


def verdict(ratio, margin):
    if ratio["low"] is None:
        return UNDECIDED
    if ratio["high"] < 1 - margin:
        return "faster"
    return "slower" if ratio["low"] > 1 + margin else UNDECIDED


def warm_up(timer, launch):
    """Launches until clocks have had time to rise. Returns the milliseconds of one launch."""
    spent, launches, last = 0.0, 0, 0.0
    while launches < 3 or spent < WARM_MS and launches < MOST_LAUNCHES:
        timer.start()
        launch()
        last = timer.stop()
        spent += last
        launches += 1
    return last


def measure(timer, variants, restore, settings, seed=0):
    """`variants`: name -> a function that launches once. The first is what the others are compared with."""
    names = list(variants)
    one = warm_up(timer, variants[names[0]])
    launches = max(1, min(MOST_LAUNCHES, math.ceil(SAMPLE_MS / one) if one > 0 else MOST_LAUNCHES))
    order, samples = random.Random(seed), {name: [] for name in names}

    issuing = []  # what part of a sample the processor needs to issue its launches

    def sample(name):
        restore()
        variants[name]()  # not counted: caches are as the variant itself leaves them
        timer.start()
        begin = time.perf_counter()
        for _ in range(launches):
            variants[name]()
        issued = time.perf_counter() - begin
        spent = timer.stop()
        issuing.append(1000 * issued / spent if spent > 0 else math.inf)
        return spent / launches

    for name in names[1:]:
        sample(name)
    end = time.monotonic() + settings.seconds
    for done in range(settings.most_iterations):
        if done >= settings.least_iterations and time.monotonic() > end:
            break
        for name in order.sample(names, len(names)):
            samples[name].append(sample(name))
    base, ratios = samples[names[0]], {}
    for name in names[1:]:
        ratio = summary([x / y for x, y in zip(samples[name], base) if y > 0] or [math.nan], settings.confidence)
        ratios[name] = {**ratio, "verdict": verdict(ratio, settings.margin)}
    return {"launches_of_a_sample": launches, "iterations": len(base), "bound_by_launches": median(issuing) > ISSUE_BOUND,
            "confidence": settings.confidence, "margin": settings.margin,
            "milliseconds": {name: summary(values, settings.confidence) for name, values in samples.items()}, "ratios": ratios}
