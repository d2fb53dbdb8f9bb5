#!/usr/bin/env python3
"""Checks the files of C that a wheel has of its own, without building one.

  wheel_sources.py BUILD LIBRARY

BUILD is a folder that is configured for a wheel. All files of C in its compile_commands.json are compiled, beside it. LIBRARY is the
libptxopt.so of another build: what it asks for of a glibc after 2.27 has to be given by src/commands/c_api/old_glibc.c.
tests/python/wheel.py looks at the wheel itself, on request.
"""
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

NEWEST = 27  # of glibc 2.x


def newer_symbols(library):
    listed = subprocess.run(["objdump", "-T", library], capture_output=True, text=True, check=True).stdout
    return {name for minor, name in re.findall(r"\*UND\*.*\(?GLIBC_2\.(\d+)(?:\.\d+)?\)? +(\w+)", listed) if int(minor) > NEWEST}


def compiled(command, folder):
    """The symbols that an object defines; None: it does not compile."""
    out = Path(folder, "out.o")
    words = shlex.split(command["command"])
    words[words.index("-o") + 1] = str(out)
    if subprocess.run(words, cwd=command["directory"]).returncode != 0:
        return None
    listed = subprocess.run(["nm", "--defined-only", "--extern-only", out], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines()}


def main():
    build, library = sys.argv[1:]
    commands = [c for c in json.loads(Path(build, "compile_commands.json").read_text()) if c["file"].endswith(".c")]
    wrong, given = [], set()
    with tempfile.TemporaryDirectory() as folder:
        for command in commands:
            symbols = compiled(command, folder)
            if symbols is None:
                wrong.append(f"{command['file']} does not compile")
            elif command["file"].endswith("old_glibc.c") and "ptxopt_shared" in command["command"]:
                given = symbols
    newer = newer_symbols(library)
    wrong += [f"{name} is newer than glibc 2.{NEWEST}, and old_glibc.c does not give it" for name in sorted(newer - given)]
    if not (commands and given and newer):
        wrong.append("nothing to compare")
    print("".join(f"{line}\n" for line in wrong) + f"wheel_sources: {len(commands)} files, {len(newer)} symbols, {len(wrong)} wrong")
    return 1 if wrong else 0


sys.exit(main())
