"""What became of functions: which are better or worse, and means by producer and pass."""
import re
from dataclasses import dataclass, field

from code_figures import mean_ratio

SMALLEST = 8  # machine instructions of a function that counts: accessors of nothing but a special register do not


@dataclass
class Outcome:
    """One function, as it was and as it became."""
    producer: str
    file: str
    function: str
    before: dict
    after: dict
    counters: dict = field(default_factory=dict)  # of the pass, where it changed the function: see patterns()
    kept: str = ""  # why the guard kept its text

    def key(self):
        return self.producer, self.file, self.function

    def name(self):
        return f"{self.producer} {self.file.split('.')[-1]} {short(self.function)}"

    def sign(self):
        """By the guard's rule: below 0 better, above 0 worse."""
        return (rank(self.after) > rank(self.before)) - (rank(self.after) < rank(self.before))


def short(function):
    """The plain name in one that Itanium's ABI mangled: the longest of its parts that is no hash."""
    if not function.startswith("_Z"):
        return function
    parts, at = [], 2
    while match := re.search(r"(\d+)(?=[A-Za-z_])", function[at:]):
        length, start = int(match[1]), at + match.end()
        parts.append(function[start:start + length])
        at = start + length
    plain = [part for part in parts if part != "__main__" and not part.startswith("_INTERNAL_")]
    return plain[0] if plain else function


def rank(row):
    return row["spills"], -row["warps"], row["instructions"]


@dataclass
class Summary:
    functions: int
    changed: int
    total: float
    inner: float
    registers: float
    better: list
    worse: list
    more_warps: int
    fewer_warps: int
    fewer_spills: int
    more_spills: int
    frames: int  # functions with a stack frame before
    frames_left: list  # and after


def counted(outcomes):
    return [o for o in outcomes if o.before["instructions"] >= SMALLEST]


def summarise(outcomes):
    rows = counted(outcomes)
    ratios = [mean_ratio([(o.before[key], o.after[key]) for o in rows]) for key in ("instructions", "inner", "registers")]
    return Summary(
        len(rows), sum(o.before != o.after for o in rows), *ratios,
        [o.name() for o in rows if o.sign() < 0], [o.name() for o in rows if o.sign() > 0],
        sum(o.after["warps"] > o.before["warps"] for o in rows), sum(o.after["warps"] < o.before["warps"] for o in rows),
        sum(o.after["spills"] < o.before["spills"] for o in rows), sum(o.after["spills"] > o.before["spills"] for o in rows),
        sum(o.before["stack"] > 0 for o in rows), [o.name() for o in rows if o.before["stack"] > 0 and o.after["stack"] > 0])


def plus_minus(more, fewer):
    return f"+{more} -{fewer}" if more or fewer else "0"


HEADINGS = ["functions", "changed", "SASS x", "inner x", "registers x", "warps", "spills", "frames", "better", "worse"]


def cells(summaries):
    """The row of one way of running, or of two, of which both are shown where they differ."""
    rows = [[s.functions, s.changed, *(f"{value:.3f}" for value in (s.total, s.inner, s.registers)),
             plus_minus(s.more_warps, s.fewer_warps), plus_minus(s.more_spills, s.fewer_spills),
             f"{s.frames} to {len(s.frames_left)}" if s.frames else "0", len(s.better), len(s.worse)] for s in summaries]
    return [" / ".join(dict.fromkeys(map(str, column))) for column in zip(*rows)]


# Name: the pass, and its counters, one of which must have counted something; none: that it changed the function is enough.
PATTERNS = {
    "wide products": ("wide-multiply", ()),
    "invariant divisions": ("divide", ("by-reciprocal",)),
    "divisions by constants": ("divide", ("by-constant", "float-by-power-of-two")),
    "generic addresses": ("infer-address-space", ()),
    "local slots": ("sroa", ()),
}


def has(counters, wanted):
    return counters is not None and (not wanted or any(counters.get(name) for name in wanted))
