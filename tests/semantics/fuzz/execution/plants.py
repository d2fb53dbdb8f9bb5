"""Bugs planted on purpose: what the fuzzer's self-test must find and shrink.

A plant changes the text that the optimizer wrote, as a bug of the optimizer would, by a rule that any text can be put
through: so a case that shows it shrinks like a case that shows a real bug. The use says what the text was made for: ""
first, "repeat", "jobs", "verbatim", "reprint", "again" (checks.py). None stands for a crash.
"""
import re
from dataclasses import dataclass
from typing import Callable

OPTIMIZED = ("", "repeat", "jobs")
GUARDED = re.compile(r"^(\s+)@!?%\S+\s+(?=(?:add|sub|xor|and|mov|st)\.)", re.M)


@dataclass
class Plant:
    check: str  # the check that finds it
    apply: Callable  # (text, use) -> text
    share: float = 0.5  # of the kernels that it changes, in how many it must be found


def rule(pattern, replacement, count=0, uses=OPTIMIZED, check="different", share=Plant.share):
    """Rewrites the instructions that begin with the pattern, whatever their guard: all of them or the first `count`."""
    compiled = re.compile(pattern)

    def apply(text, use):
        if use not in uses:
            return text
        lines, left = text.split("\n"), count or -1
        for i, line in enumerate(lines):
            guard = re.match(r"\s+(@!?\S+\s+)?", line)
            if left == 0 or not guard or not compiled.match(line, guard.end()):
                continue
            lines[i] = line[:guard.end()] + compiled.sub(replacement, line[guard.end():], count=1)
            left -= 1
        return "\n".join(lines)

    return Plant(check, apply, share)


def append_on(use_wanted, check):
    return Plant(check, lambda text, use: text + "// another\n" if use == use_wanted else text)


def crash_on(word):
    return Plant("exit", lambda text, use: None if use in OPTIMIZED and re.search(word, text) else text)


# Wrong results by one wrong opcode, operand, type, guard, order; then the other ways to fail.
PLANTS = {
    "sub-for-add": rule(r"add\.([su]32|s64)\b", r"sub.\1"),
    "or-for-xor": rule(r"xor\.b32\b", "or.b32"),
    "le-for-lt": rule(r"setp\.lt\.", "setp.le."),
    "unsigned-for-signed": rule(r"(ld\S*|cvt\.s64)\.s(8|16|32)\b", r"\1.u\2"),
    "swapped-select": rule(r"(selp\.\S+\s+[^,]+), ([^,]+), ([^,]+),", r"\1, \3, \2,"),
    "lost-carry": rule(r"addc\.(cc\.)?", r"add.\1"),
    "lost-guard": Plant("different", lambda text, use: GUARDED.sub(r"\1", text) if use in OPTIMIZED else text),
    # Half of the barriers order nothing that another thread reads: 14 of 30 kernels show it, by chance 2 to 6 of 8.
    "lost-barrier": rule(r"bar\.sync\s+0;", "", share=0.25),
    "wrong-offset": rule(r"(ld\.(?:global|shared|local)\.[su]32\s+\S+ \[\S+?)\+4\]", r"\1+8]"),
    "wrong-lane": rule(r"shfl\.sync\.down", "shfl.sync.up"),
    "wrong-shift": rule(r"shl\.b32(\s+\S+ \S+) 2;", r"shl.b32\1 3;"),
    "wrong-rounding": rule(r"(add|mul|fma)\.rn\.f32", r"\1.rz.f32"),
    "crash": crash_on(r"\bshfl\.sync"),
    "not-repeatable": append_on("repeat", "repeat"),
    "depends-on-jobs": append_on("jobs", "jobs"),
    "changed-text": append_on("verbatim", "verbatim"),
    "unstable-reprint": append_on("again", "reprint"),
    "wrong-reprint": rule(r"mul\.lo\.", "mul.hi.", uses=("reprint",), check="reprint"),
    "not-accepted": Plant("ptxas", lambda text, use: re.sub(r"(?m)^\.target sm_\d+", ".target sm_120", text) if use in OPTIMIZED
                          else text),
}
