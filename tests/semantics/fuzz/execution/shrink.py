"""Shrinks a failing case by `ptxopt reduce`, and stores it.

The command that reduce gets asks this process, which runs the case's pipeline on the candidate and sees whether it still
fails in the same way (judge.py, Checker.still). A stored case is a folder with
  case.json    the case
  input.ptx    the kernel as generated
  small.ptx    what is left of it
  README       what fails, the commands, and one line that shows it again
"""
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from judge import judging

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

FUZZ = Path(__file__).resolve().parent / "fuzz.py"
MOST_TESTS = 3000
SECONDS = 900


def replay_line(tool, folder):
    return shlex.join([Path(sys.executable).name, str(FUZZ), "--tool", str(tool), "--replay", str(folder / "case.json")])


def instruction_count(text):
    """Statements that are instructions: one a line in what reduce writes."""
    return len(re.findall(r"^\s+(?:@!?\S+ )?[a-z][\w.:]*(?: [^;\n]*)?;", text, re.M))


def shrink(tool, case, source, failure, folder, ptxas=None, most_tests=MOST_TESTS, jobs=0):
    """Stores the case in `folder`. Returns (instructions left, or None where it did not shrink; a message)."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    case.store(folder / "case.json")
    original, small = folder / "input.ptx", folder / "small.ptx"
    original.write_text(source.read_text())
    reduce = [tool, "reduce", original, "-o", small, "--timeout", "60", "--max-tests", str(most_tests), "-j", str(jobs), "--"]
    try:
        with judging(tool, case, failure.kind, ptxas) as command:
            done = subprocess.run([*map(str, reduce), *command], capture_output=True, text=True, errors="replace", timeout=SECONDS)
        message = (done.stderr + done.stdout).strip()
    except subprocess.TimeoutExpired:
        message = f"stopped after {SECONDS} s"
    left = instruction_count(small.read_text()) if small.exists() else None
    # The commands must work when the folder of the run is gone.
    failure.command = failure.command.replace(str(source), str(original)).replace(f"{source.parent}/", "/tmp/")
    optimize = shlex.join([str(tool), str(original), "-o", "/tmp/output.ptx", *case.pipeline])
    (folder / "README").write_text(
        f"{failure.kind}\n\n{failure.detail.rstrip()}\n\n"
        f"seed {case.seed}, generator {shlex.join(case.generator)}, planted: {case.plant or 'nothing'}\n"
        f"{optimize}\n{failure.command}\n\n"
        f"Shrinking: {message}\nAgain: {replay_line(tool, folder)}\n")
    return left, message
