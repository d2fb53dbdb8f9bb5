"""What can be checked without a device: contents of memory, arguments, statistics. Everything raises Failure."""
import math
import random

import arguments
import bench
import contents
import rank
from checking import Failure, check

LEAST_VALUES = 5000


def contents_of_verify(lines):
    """contents.py against what verify says of itself: the lines of verify_values.cpp."""
    lines = lines.splitlines()
    check(len(lines) > LEAST_VALUES, "too few values of verify:", len(lines))
    for line in lines:
        kind, name, *numbers = line.split()
        if kind == "kind":
            number, r = (int(n, 16) for n in numbers[:2])
            check(contents.contents_kind(name == "1", number, r) == contents.KINDS[int(numbers[2])], "contents.py:", line)
            continue
        seed, index, bits = (int(n, 16) for n in numbers)
        found = contents.element_value(contents.KINDS[int(kind)], name, seed, index)
        check(found == bits, f"contents.py: {contents.KINDS[int(kind)]} {line}: {found:x}")


def wrong_arguments():
    for wrong in ("f32:x", "s8:200", "u32:-1", "buf:f32:4", "buf:q:4:zero", "buf:f32:4:some", "bytes:0", "nowhere", "x=u32:1", "f16:1e9", "s32:4294967296"):
        try:
            arguments.parse(wrong, 0, {})
        except arguments.ArgumentError:
            continue
        raise Failure(f"arguments.py takes {wrong}")


def statistics():
    """Intervals, verdicts, rank correlation."""
    for n in range(1, 40):
        samples = list(range(n))
        found = bench.median_interval(samples, 0.99)
        # P(the interval misses) = 2 P(fewer than k of n lie below): as narrow as that allows, and no narrower.
        tails = [2 * sum(math.comb(n, i) for i in range(k)) / 2 ** n for k in range(n // 2 + 1)]
        allowed = [k for k, tail in enumerate(tails) if k and tail <= 0.01]
        check(found == ((max(allowed) - 1, n - max(allowed)) if allowed else None), "interval of", n, found)
    check(bench.verdict({"low": 0.9, "high": 0.99}, 0.002) == "faster", "faster")
    check(bench.verdict({"low": 1.01, "high": 1.2}, 0.002) == "slower", "slower")
    check(bench.verdict({"low": 0.9, "high": 0.999}, 0.002) == bench.UNDECIDED, "inside the margin")
    check(bench.verdict({"low": None, "high": None}, 0.002) == bench.UNDECIDED, "too few")
    draw, missed = random.Random(5), 0
    for _ in range(400):
        low, high = bench.median_interval([draw.lognormvariate(0, 1) for _ in range(25)], 0.9)
        missed += not low <= 1 <= high
    check(10 <= missed <= 55, "of 400 intervals of 90% confidence miss", missed)
    check(abs(rank.spearman([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]) - 0.8) < 1e-12, "spearman")
    check(rank.ranks([3, 1, 3, 2]) == [3.5, 1, 3.5, 2], "ranks of ties")
    check(rank.spearman([1, 1, 1], [1, 2, 3]) is None and rank.spearman([1, 2], [1, 2]) is None, "no order")
    check(rank.chance(range(8), range(8)) < 0.001 < 0.2 < rank.chance([1, 2, 3, 4, 5], [3, 1, 5, 2, 4]), "chance")
    found = rank.against_model([(r / 10, {"l1": r * r, "l2": -r}) for r in range(5, 15)], ("l1", "l2", "dram"))
    check(set(found) == {"l1", "l2"} and found["l1"]["spearman"] == 1 and found["l2"]["spearman"] == -1, found)
