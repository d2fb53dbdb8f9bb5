#!/usr/bin/env python3
"""Tunes all PTX files of a folder, one after the other.

  tune_loop.py [--tool PTXOPT] [--arguments '...'] IN OUT

IN and OUT are folders, or URLs that fsspec knows. OUT gets IN's tree, with a PTX and a JSON for each PTX, and merged.json.
Exit code 1: some file could not be tuned; it is there as it was.
"""
import argparse
import shlex
import sys

from merge import finish
from store import open_store
from unit import add_arguments, find_tool, outputs, tune


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("input")
    parser.add_argument("output")
    args = parser.parse_args()
    source, target = open_store(args.input), open_store(args.output)
    reports = []
    for path in source.files(".ptx"):
        ptx_path, json_path = outputs(path)
        ptx, report = tune(find_tool(args.tool), shlex.split(args.arguments), path, source.read(path))
        target.write(ptx_path, ptx)
        target.write(json_path, report)
        reports.append(json_path)
    return finish(target, reports)


if __name__ == "__main__":
    sys.exit(main())
