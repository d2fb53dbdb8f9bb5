#!/usr/bin/env python3
"""ptxopt diff and ptxopt baseline from the outside.

  tests/cli/diff/run.py --tool PATH [NAME...]

Rules are tested on baselines that are made up, and need no ptxas; files.py and built.py have what does, verdicts.py and times.py both, ci.py the scripts
of samples/ci, recipes.py docs/ci.md.
What cannot run here is left out, with a message. Every comparison is written in all formats, which must agree; the JSON and
the baselines must be what schemas/ says, where python3-jsonschema is installed, and the markdown a table to GitHub's
cmark-gfm, where that is.
"""
import argparse
import os
import sys
import tempfile
from pathlib import Path

import support
from built import Built
from ci import Ci
from files import Files
from page import Page
from recipes import Recipes
from rules import Rules
from times import Times
from verdicts import Verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("names", nargs="*", help="only tests whose names contain one of these")
    args = parser.parse_args()
    os.environ.pop("NO_COLOR", None)
    counts = dict(passed=0, failed=0, skipped=0)
    with tempfile.TemporaryDirectory() as base:
        os.environ["PTXOPT_CACHE_DIR"] = str(Path(base) / "cache")
        for suite in (Rules, Verdicts, Times, Files, Built, Page, Recipes, Ci):
            for name in sorted(vars(suite)):  # not those that it inherits
                if not name.startswith("test_") or (args.names and not any(n in name for n in args.names)):
                    continue
                folder = Path(base) / name
                folder.mkdir()
                try:
                    getattr(suite(args.tool, folder), name)()
                    counts["passed"] += 1
                except support.Skipped as why:
                    counts["skipped"] += 1
                    print(f"{name}: skipped: {why}")
                except Exception as why:  # a test that ends in any other way has failed too
                    counts["failed"] += 1
                    print(f"{name}: {type(why).__name__}: {why}")
    if support.jsonschema is None:
        print("no schema was checked: there is no python3-jsonschema")
    print("diff: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
