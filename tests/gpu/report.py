#!/usr/bin/env python3
"""The results of run.py --json as a page in Markdown, for docs/results.

  report.py RESULTS.json [-o PAGE.md]

Exit codes: 0 written, 2 usage or files.
"""
import argparse
import json
import math
import sys
from pathlib import Path

from driver import STUB

FORMAT = "ptxopt GPU results 1"
CONTROL = "control"
VERDICTS = ("faster", "slower", "cannot be distinguished")


def table(head, rows):
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in (head, ["---"] * len(head), *rows))


def mean(ratios):
    return f"x{math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}" if ratios else "-"


def ratios_of(case):
    return {name: r for name, r in ((case.get("times") or {}).get("ratios") or {}).items() if name != CONTROL}


def families(cases):
    """A row for each family and variant."""
    for family in dict.fromkeys(case["bottleneck"] for case in cases):
        of_family = [ratios_of(case) for case in cases if case["bottleneck"] == family]
        for variant in dict.fromkeys(name for ratios in of_family for name in ratios):
            found = [ratios[variant] for ratios in of_family if variant in ratios]
            counts = [sum(r["verdict"] == v for r in found) for v in VERDICTS]
            yield [family, variant, len(found), *counts, mean([r["median"] for r in found])]


def kernels(cases):
    for case in cases:
        for name, r in ratios_of(case).items():
            times = case["times"]["milliseconds"][case["base"]]
            interval = f"{r['low']:.3f} to {r['high']:.3f}" if r["low"] is not None else "-"
            yield [f"`{case['name']}`", f"{1000 * times['median']:.1f}", name, f"x{r['median']:.3f}", interval, r["verdict"]]


def page(results):
    device, made, summary, cases = results["device"], results["made_by"], results["summary"], results["cases"]
    lines = [f"# {device['name']}", "", *(["**This is no GPU: microseconds stand for interpreted instructions.**", ""] if device["name"] == STUB else []),
             f"Driver {device['driver']}, {device['multiprocessors']} multiprocessors, {results['load']} of {results['architecture']}, "
             f"{results['size']} size, made by {made['ptxopt']}, ptxas {made['ptxas']}, nvcc {made['nvcc']}. Times are medians, in "
             "microseconds; ratios are after / before, with the interval of their median.", "",
             table(["bound by", "variant", "kernels", *VERDICTS, "mean ratio"], families(cases)), ""]
    if summary["control"]:
        c = summary["control"]
        lines += [f"The same code against itself: x{c['least']:.3f} to x{c['most']:.3f} on {c['kernels']} kernels.", ""]
    rows = [[name, scenario.upper(), f"{r['spearman']:.2f}", r["kernels"], f"{r['chance']:.4f}"]
            for name, scenarios in summary["against_model"].items() for scenario, r in scenarios.items()]
    if rows:
        lines += [table(["variant", "data in", "rank correlation with the model", "kernels", "by chance"], rows), ""]
    lines += [table(["kernel", "before", "variant", "ratio", "interval", ""], kernels(cases)), ""]
    wrong = [f"- `{case['name']}`: {case['status']}" for case in cases if case["status"] != "equal"]
    same, left_out = (", ".join(f"`{name}`" for name in results.get(key, [])) for key in ("same_code", "left_out"))
    return "\n".join(lines + (["Not equal:", "", *wrong, ""] if wrong else [])
                     + ([f"Left out, for lack of time: {left_out}.", ""] if left_out else [])
                     + ([f"The same machine code before and after: {same}."] if same else [])).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", metavar="RESULTS.json")
    parser.add_argument("-o", "--output", metavar="PAGE.md", help="default: standard output")
    options = parser.parse_args()
    try:
        results = json.loads(Path(options.results).read_text(encoding="utf-8"))
        if results.get("format") != FORMAT:
            raise ValueError(f"{options.results} is not of the format '{FORMAT}'")
        text = page(results)
        if options.output:
            Path(options.output).write_text(text, encoding="utf-8")
        else:
            print(text, end="")
    except (OSError, ValueError, KeyError) as error:
        print(f"report.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
