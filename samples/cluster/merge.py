#!/usr/bin/env python3
"""One report of many units.

  merge.py OUT

Reads the JSON of every unit in the folder (or URL) of results, says what was gained, and writes OUT/merged.json.
"""
import argparse
import json
import math
import sys

from store import open_store

MERGED = "merged.json"


def merge(store, paths):
    """The reports of these units, as one."""
    rows, failures = [], []
    for path in paths:
        report = json.loads(store.read(path))
        if report["kind"] == "ptxopt-tune-failure":
            failures.append({"unit": path, "why": report["why"], "message": report["message"]})
            continue
        for function in report["functions"]:
            if function["kind"] == "entry" and "before" in function:
                rows.append({"unit": path, "kernel": function["name"], "variant": function["variant"],
                             "options": function["options"],
                             **{key: [function[side][key] for side in ("before", "after")]
                                for key in ("warps", "registers", "instructions", "inner")}})
    return {"kind": "ptxopt-tune-merged", "units": len(paths), "failures": failures, "summary": summary(rows), "kernels": rows}


def summary(rows):
    more_warps = [row for row in rows if row["warps"][1] > row["warps"][0]]
    return {"kernels": len(rows),
            "changed": sum(row["variant"] != "input" for row in rows),
            "more-warps": len(more_warps),
            **{key: round(geometric_mean(row[key] for row in rows), 4)
               for key in ("warps", "registers", "instructions", "inner")}}


def geometric_mean(pairs):
    """Of after / before, where neither is 0."""
    ratios = [after / before for before, after in pairs if before and after]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 1


def finish(store, paths):
    """Merges, writes that, says what came of it; the exit code."""
    merged = merge(store, paths)
    store.write(MERGED, (json.dumps(merged, indent=2) + "\n").encode())
    figures = merged["summary"]
    print(f"{merged['units']} files, {figures['kernels']} kernels: {figures['changed']} changed, {figures['more-warps']} with "
          f"more resident warps; after / before: warps {figures['warps']:.4f}, registers {figures['registers']:.4f}, "
          f"instructions {figures['instructions']:.4f}, of innermost loops {figures['inner']:.4f}")
    for failure in merged["failures"]:
        print(f"{failure['unit']}: {failure['why']}: {failure['message']}", file=sys.stderr)
    return 1 if merged["failures"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    args = parser.parse_args()
    store = open_store(args.out)
    return finish(store, [path for path in store.files(".json") if path != MERGED])


if __name__ == "__main__":
    sys.exit(main())
