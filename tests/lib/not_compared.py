"""Kernels that `ptxopt verify` does not compare, by its own summary: no net that executes kernels sees a bug in these."""
import collections
import re


def reasons(text):
    """Counter: reason -> kernels."""
    found = collections.Counter()
    if match := re.search(r"^\d+ of \d+ kernels (?:was|were) not compared: (.*)", text, re.MULTILINE):
        for item in match[1].split(", "):
            count, _, reason = item.partition(" ")
            found[reason] += int(count)
    return found


def words(counts):
    """Of such a counter: `3 not compared (2 misaligned, 1 unsupported)`."""
    if not counts:
        return "0 not compared"
    return f"{sum(counts.values())} not compared ({', '.join(f'{n} {reason}' for reason, n in sorted(counts.items()))})"
