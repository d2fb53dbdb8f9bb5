#!/usr/bin/env python3
"""What pages show as printed is what the tool prints.

  tests/transcripts.py --tool PATH [--update] [--self-test]

In README.md, docs/tutorial.md and docs/command-line.md each block of code of the kind `console` is a transcript: a line "$ COMMAND", then what it prints on
standard output and standard error. The blocks of a page run in turn, in one new folder that has a copy of samples/. A line "..."
stands for any number of lines. "exit code N" as the last line is the exit code, where it is not 0. A block after `<!-- shown -->` is
shown only.

The pages have the output of one ptxas, PTXAS: with another one, or without nvcc, the test is skipped (77). --update writes what
is printed into blocks that have no "...". --self-test plants a mistake.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/tutorial.md", "docs/command-line.md")
PTXAS = "V13.0.88"
SKIPPED = 77
BLOCK = re.compile(r"(?<!<!-- shown -->\n)^```console\n(.*?)^```$", re.M | re.S)
ANY = "..."


def steps(block):
    """(command, the lines that it prints) of a transcript."""
    result = []
    for line in block.splitlines():
        if line.startswith("$ "):
            result.append((line[2:], []))
        else:
            result[-1][1].append(line)
    return result


def printed(command, folder, environment):
    done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
                          env=environment, timeout=300)
    return done.stdout.rstrip("\n").splitlines() + ([f"exit code {done.returncode}"] if done.returncode else [])


def agrees(shown, lines):
    pattern = "".join(r"(?:.*\n)*" if line == ANY else re.escape(line.rstrip()) + r"\n" for line in shown)
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in lines)) is not None


def ran(text, folder, environment):
    """Each transcript of a page, run: (block, [(command, lines shown, lines printed)])"""
    return [(block[1], [(command, shown, printed(command, folder, environment)) for command, shown in steps(block[1])]) for block in BLOCK.finditer(text)]


def differences(runs):
    for _, done in runs:
        for command, shown, lines in done:
            if not agrees(shown, lines):
                yield "\n".join([f"$ {command}", "the page shows", *shown, "it prints", *lines])


def updated(text, runs):
    for block, done in runs:
        if ANY not in block.splitlines():
            text = text.replace(block, "".join("\n".join([f"$ {command}", *(line.rstrip() for line in lines)]) + "\n" for command, _, lines in done))
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PTXOPT")}
    environment.update(NO_COLOR="1", COLUMNS="80", PTXOPT_CACHE_DIR="",
                       PATH=os.pathsep.join([str(Path(args.tool).resolve().parent), "/usr/local/cuda/bin", environment["PATH"]]))
    ptxas = shutil.which("ptxas", path=environment["PATH"])
    if not ptxas or not shutil.which("nvcc", path=environment["PATH"]) or PTXAS not in subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout:
        print(f"transcripts: skipped: there is no nvcc with ptxas {PTXAS}")
        return SKIPPED
    failures, count = [], 0
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "samples", Path(folder) / "samples")
            runs = ran(text, folder, environment)
        count += sum(len(done) for _, done in runs)
        if args.update:
            (ROOT / page).write_text(updated(text, runs), encoding="utf-8")
        elif args.self_test:
            planted = [(block, [(command, [*shown, "planted"], lines) for command, shown, lines in done]) for block, done in runs]
            failures += [f"{page}: a line too many is not found"] * (len(list(differences(planted))) != sum(len(done) for _, done in runs))
        else:
            failures += [f"{page}: {difference}" for difference in differences(runs)]
    for failure in failures:
        print(failure)
    print(f"transcripts: {count} commands, {len(failures)} differ")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
