#!/usr/bin/env python3
"""Writes a build.ninja that tunes all PTX files of a folder on the cores of this machine.

  ninja_file.py [--tool PTXOPT] [--arguments '...'] IN OUT
  ninja -C OUT

A unit is done again when its input, ptxopt or this script has changed, and where it failed. OUT/merged.json comes last.
"""
import argparse
import os
import shlex
import shutil
import sys
from pathlib import Path

from merge import MERGED
from store import Folder
from unit import add_arguments, outputs, write

HERE = Path(__file__).resolve().parent


def path_text(path):
    """As Ninja wants a path in a build line."""
    return str(path).replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def value_text(text):
    return text.replace("$", "$$")


def ninja_text(tool, arguments, source, target):
    """`tool`: its path."""
    def command(script):
        return shlex.join([sys.executable, str(HERE / script)])

    tool_words = value_text(shlex.join(["--tool", tool, f"--arguments={arguments}"]))
    lines = ["ninja_required_version = 1.5", "",
             "rule tune",
             f"  command = {value_text(command('unit.py'))} {tool_words} $in $out",
             "  description = tune $in", "",
             "rule merge",
             # Files that cannot be tuned are in the report; the build goes on.
             f"  command = {value_text(command('merge.py'))} . || true",
             "  description = merge", ""]
    depends = f"| {path_text(tool)} {path_text(HERE / 'unit.py')}"
    reports = []
    for path in Folder(source).files(".ptx"):
        if "\n" in path:
            raise ValueError(f"Ninja cannot have a line feed in a file's name: {path!r}")
        outs = outputs(path)
        lines.append(f"build {' '.join(map(path_text, outs))}: tune {path_text(Path(source).resolve() / path)} {depends}")
        reports.append(outs[1])
    # The list of reports is too long for a command; it is what lies in the folder.
    lines += [f"build {MERGED}: merge | {' '.join(map(path_text, reports))} {path_text(HERE / 'merge.py')}", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("input")
    parser.add_argument("output")
    args = parser.parse_args()
    tool = shutil.which(args.tool)
    if tool is None:
        parser.error(f"there is no {args.tool}")
    write(os.path.join(args.output, "build.ninja"),
          ninja_text(os.path.abspath(tool), args.arguments, args.input, args.output).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
