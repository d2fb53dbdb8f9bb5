#!/usr/bin/env python3
"""Replays the guard's rule over kernels that a GPU timed before and after -O2 without the guard: gpu/*.jsonl.

  judge.py --figures .../guard_figures [--rule time|warps] [--launched] [--list] [--check] [FILE.jsonl ...]

The verdicts are those of the C++ rule. Of the kernels that record.py keeps out of fitting, and of the others, it prints: of those
that became faster by 2% or more how many the rule keeps, of those that became slower by as much how many it refuses, the slowest
that it lets through, the geometric mean of the times without and with the guard, of the kernels whose times could not be distinguished
how many it refuses, and the rank correlation of modelled and measured ratios (kernels that could be distinguished) for data in L1, L2
and DRAM with many warps and with few. --launched is of kernels whose launch is known, by that: as the guard has it where --facts tells the
block and the grid. --list prints each kernel. --check holds BOUNDS.

Exit codes: 0 ok, 1 a bound does not hold, 2 usage or files, 3 the figures are not those of this model: record.py refresh.
"""
import argparse
import hashlib
import json
import math
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "lib"), str(HERE.parents[1] / "gpu")]
import rank  # noqa: E402
from tables import table  # noqa: E402

MATTERS = 0.02
SCENARIOS = ("L1", "L2", "DRAM")
STALE = 3


class Stale(Exception):
    """Figures are those of another model."""


def is_held_out(program):
    """A third of the programs, always the same: rules are fitted without them."""
    return int(hashlib.sha256(program.encode()).hexdigest(), 16) % 3 == 0


def read(files):
    records = [json.loads(line) for file in files for line in Path(file).read_text(encoding="utf-8").splitlines()]
    for r in records:
        if r["held_out"] != is_held_out(r["program"]):
            raise ValueError(f"{r['program']} {r['kernel']}: held_out is a matter of the program's name, not of choice")
    return records


def ask(figures, rule, records):
    """The rule's verdict on each record."""
    ran = subprocess.run([figures, "judge", rule], input="".join(json.dumps(r) + "\n" for r in records), capture_output=True, text=True)
    if ran.returncode != 0:
        raise ValueError(ran.stderr.strip() or f"{figures} failed")
    verdicts = [json.loads(line) for line in ran.stdout.splitlines()]
    stale = [(r, v) for r, v in zip(records, verdicts) if "stale" in v]
    if stale:
        record, verdict = stale[0]
        raise Stale(f"{len(stale)} of {len(records)} records, the first is {record['program']} {record['kernel']}: {verdict['stale']}.\n"
                    "Make the PTX of both sides again, as `measured` says, and run record.py refresh, which takes only the same machine "
                    "code as was timed.")
    return verdicts


def by_launch(records):
    """Those whose launch is known, with figures by that."""
    return [{**r, **{side: {**r[side], **r["launched"][side]} for side in r["launched"]}} for r in records if r["launched"]]


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 1.0


def modelled(record, kind, scenario):
    before, after = (record[side]["cycles"][kind][scenario] for side in ("before", "after"))
    return after / before


def correlations(records):
    """Of kernels that could be distinguished: {"L1": rho, ...}"""
    told = [r for r in records if r["distinguished"]]
    return {kind: [rank.spearman([modelled(r, kind, s) for r in told], [r["ratio"] for r in told]) for s in range(3)]
            for kind in ("whole", "alone")}


def judged(pairs):
    """Of records with their verdicts, what the rule is judged by."""
    gains = [v["sign"] <= 0 for r, v in pairs if r["ratio"] <= 1 - MATTERS]
    harms = [v["sign"] > 0 for r, v in pairs if r["ratio"] >= 1 + MATTERS]
    through = [r["ratio"] for r, v in pairs if v["sign"] <= 0]
    return {"gains": len(gains), "kept": sum(gains), "harms": len(harms), "refused": sum(harms), "worst": max(through, default=1.0),
            "unguarded": mean([r["ratio"] for r, _ in pairs]), "guarded": mean([r["ratio"] if v["sign"] <= 0 else 1.0 for r, v in pairs]),
            "same": sum(not r["distinguished"] for r, _ in pairs), "same_refused": sum(not r["distinguished"] and v["sign"] > 0 for r, v in pairs)}


def parts_of(records, verdicts):
    pairs = list(zip(records, verdicts))
    return {"fitted": [p for p in pairs if not p[0]["held_out"]], "held out": [p for p in pairs if p[0]["held_out"]], "all": pairs}


def rows_of(parts):
    for name, pairs in parts.items():
        j = judged(pairs)
        yield [name, len(pairs), f"{j['kept']} of {j['gains']}", f"{j['refused']} of {j['harms']}", f"{j['worst']:.3f}",
               f"{j['unguarded']:.3f}", f"{j['guarded']:.3f}", f"{j['same_refused']} of {j['same']}"]


def rank_rows(parts):
    for name, pairs in parts.items():
        c = correlations([r for r, _ in pairs])
        yield [name, sum(r["distinguished"] for r, _ in pairs), *("-" if rho is None else f"{rho:.2f}" for kind in ("whole", "alone") for rho in c[kind])]


def markdown(header, rows):
    return "\n".join("| " + " | ".join(map(str, r)) + " |" for r in (header, ["---", *["--:"] * (len(header) - 1)], *rows))


HEADER = ["kernels", "number", "gains kept", "harms refused", "slowest let through", "mean unguarded", "mean guarded", "the same, refused"]
RANKS = ["kernels", "distinguished", *SCENARIOS, *(f"alone, {s}" for s in SCENARIOS)]


def list_all(pairs):
    rows = [[f"{r['program']} {r['kernel'][:24]}", r["set"], f"{r['ratio']:.3f}" if r["distinguished"] else "same",
             *(f"{modelled(r, kind, s):.2f}" for kind in ("whole", "alone") for s in range(3)), "refused" if v["sign"] > 0 else "kept",
             f"{v['by']} {v['text']}" if v["sign"] else ""] for r, v in sorted(pairs, key=lambda p: p[0]["ratio"])]
    table(["kernel", "set", "ratio", *RANKS[2:], "", "by"], rows)


def check(parts, bounds):
    """Sentences about what does not hold."""
    wrong = []
    for name, (kept, refused, worst, guarded) in bounds.items():
        j = judged(parts[name])
        for what, figure, bound, is_least in (("gains kept", j["kept"], kept, True), ("harms refused", j["refused"], refused, True),
                                              ("slowest let through", j["worst"], worst, False), ("mean guarded", j["guarded"], guarded, False)):
            if figure < bound if is_least else figure > bound + 5e-4:
                wrong.append(f"{name}: {what} {figure:.4g}, the bound is {bound}")
    return wrong


# Of the kernels in gpu/: gains kept, harms refused, the slowest let through, the mean of guarded times.
BOUNDS = {"fitted": (13, 9, 1.061, 0.959), "held out": (4, 2, 1.006, 0.977)}
BOUNDS_LAUNCHED = {"fitted": (13, 8, 1.061, 0.959), "held out": (5, 2, 1.006, 0.979)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE.jsonl", help="default: all of gpu/")
    parser.add_argument("--figures", required=True, help="the program guard_figures of the build")
    parser.add_argument("--rule", choices=("time", "warps"), default="time")
    parser.add_argument("--launched", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--markdown", action="store_true", help="as docs/results/gpu-h200.md has it")
    parser.add_argument("--check", action="store_true", help="BOUNDS hold, and stale figures are noticed")
    options = parser.parse_args()
    try:
        records = read(options.files or sorted(HERE.glob("gpu/*.jsonl")))
        if options.launched:
            records = by_launch(records)
        parts = parts_of(records, ask(options.figures, options.rule, records))
        if options.list:
            list_all(parts["all"])
        for header, rows in ((HEADER, list(rows_of(parts))), (RANKS, list(rank_rows(parts)))):
            if options.markdown:
                print(markdown(header, rows) + "\n")
            else:
                table(header, rows)
        if not options.check:
            return 0
        other = json.loads(json.dumps(records[0]))
        other["before"]["cycles"]["model"] = "00000000"
        try:
            ask(options.figures, options.rule, [other])
            wrong = ["figures of another model were not noticed"]
        except Stale:
            wrong = check(parts, BOUNDS_LAUNCHED if options.launched else BOUNDS)
    except Stale as error:
        print(f"judge.py: {error}", file=sys.stderr)
        return STALE
    except (OSError, ValueError, KeyError) as error:
        print(f"judge.py: {error if isinstance(error, (OSError, ValueError)) else repr(error)}", file=sys.stderr)
        return 2
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
