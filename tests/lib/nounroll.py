"""Asks ptxas to leave every loop of a PTX text as it is: `.pragma "nounroll";` behind the label of each loop header. Or lets it unroll
all of them: that pragma goes.

Headers are the labels that a branch further down goes to. `brx.idx` is not looked at. A header that has a pragma about
unrolling keeps that one.
"""
import re

LABEL = re.compile(r"^\s*([$%\w]+):")
BRANCH = re.compile(r"\bbra(?:\.uni)?\s+([$%\w]+)\s*;")
END = re.compile(r"^}")
PRAGMA = re.compile(r"^\s*\.pragma\s+\"(?:no)?unroll\b")
NOUNROLL = re.compile(r'^\s*\.pragma\s+"nounroll"\s*;[^\S\n]*\n', re.M)
NOTHING = re.compile(r"^\s*(?:\.loc\b.*|//.*)?$")


def backward_branches(lines):
    """The numbers of the lines with branches to labels before them, and of those labels' lines."""
    labels, found = {}, {}
    for number, line in enumerate(lines):
        if END.match(line):
            labels.clear()  # a label is known in its function only
        if match := LABEL.match(line):
            labels[match[1]] = number
        for match in BRANCH.finditer(line):
            if match[1] in labels:
                found[number] = labels[match[1]]
    return found


def has_pragma(lines, header):
    following = (line for line in lines[header + 1:] if not NOTHING.match(line))
    return bool(PRAGMA.match(next(following, "")))


def without_unrolling(text):
    lines = text.split("\n")
    wanted = {header for header in backward_branches(lines).values() if not has_pragma(lines, header)}
    result = []
    for number, line in enumerate(lines):
        result.append(line)
        if number in wanted:
            result.append('\t.pragma "nounroll";')
    return "\n".join(result)


def with_unrolling(text):
    return NOUNROLL.sub("", text)
