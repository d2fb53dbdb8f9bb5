#!/usr/bin/env python3
"""The unit of work: tunes one PTX file.

  unit.py [--tool PTXOPT] [--arguments '--objective=sass'] IN.ptx OUT.ptx OUT.json

One PTX comes in; a PTX and the JSON report of `ptxopt tune` come out. What comes out depends on the input, the arguments,
ptxopt and ptxas alone: nothing is read but the input, no cache is shared (PTXOPT_CACHE_DIR is off unless the caller sets
PTXOPT_UNIT_CACHE_DIR), no paths and no times are written. A file that cannot be tuned, because it is no PTX or ptxas does
not take it, is no accident: it comes out as it is, with a JSON that says why. Everything else that goes wrong raises
Accident, and then nothing has been written: the unit can be done again, here or elsewhere. A result appears whole or not
at all, the PTX first, so that a JSON means that the unit is done.

The engines, tune_loop.py, tune_ray.py and ninja_file.py, differ in who calls this, not in what comes out.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile

CANNOT = {2: "cannot be tuned", 3: "not PTX"}  # exit codes of ptxopt that are an answer
CONFIGURATION = ("there is no ptxas", "--help")  # ... unless the message says that it was called wrongly


class Accident(Exception):
    """The unit was not done, and nothing was written."""


def tune(tool, arguments, name, text):
    """(PTX, JSON), both bytes, of the PTX `text` of a file called `name`."""
    environment = dict(os.environ, PTXOPT_CACHE_DIR=os.environ.get("PTXOPT_UNIT_CACHE_DIR", ""))
    name = os.path.basename(name)
    with tempfile.TemporaryDirectory(prefix="ptxopt-unit-") as folder:
        os.mkdir(os.path.join(folder, "in"))
        with open(os.path.join(folder, "in", name), "wb") as file:
            file.write(text)
        try:
            run = subprocess.run([tool, "tune", "in/" + name, "-o", "out.ptx", "--report", "out.json", "-q", *arguments],
                                 cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 errors="replace")
        except OSError as error:
            raise Accident(f"{tool}: {error}") from error
        if run.returncode == 0:
            return read(os.path.join(folder, "out.ptx")), read(os.path.join(folder, "out.json"))
    if run.returncode not in CANNOT or any(word in run.stderr for word in CONFIGURATION):
        raise Accident(f"{name}: ptxopt ended with status {run.returncode}: {run.stderr.strip()}")
    report = {"kind": "ptxopt-tune-failure", "file": name, "why": CANNOT[run.returncode],
              "message": run.stderr.strip().replace("in/" + name, name)}
    return text, (json.dumps(report, indent=2) + "\n").encode()


def outputs(path):
    """Where the results of IN/path go, below the folder of results."""
    stem = path[:-4] if path.endswith(".ptx") else path
    return stem + ".ptx", stem + ".json"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    """In one step, so that nobody ever sees half a file."""
    folder = os.path.dirname(path) or "."
    os.makedirs(folder, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".unit-", delete=False) as file:
        try:
            file.write(data)
            file.close()
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def add_arguments(parser):
    parser.add_argument("--tool", default="ptxopt", help="the ptxopt to run")
    parser.add_argument("--arguments", default="", help="for ptxopt tune: '--objective=sass --arch=sm_90'")


def find_tool(tool):
    """The path that a unit finds it by: it runs in a folder of its own."""
    return os.path.abspath(tool) if os.sep in tool else tool


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("input")
    parser.add_argument("ptx")
    parser.add_argument("json")
    args = parser.parse_args()
    try:
        ptx, report = tune(find_tool(args.tool), shlex.split(args.arguments), args.input, read(args.input))
        write(args.ptx, ptx)
        write(args.json, report)
    except (Accident, OSError) as error:
        print(f"unit.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
