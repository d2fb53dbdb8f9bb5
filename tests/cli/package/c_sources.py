#!/usr/bin/env python3
"""Compiles the files of C that a build folder has, by its compile_commands.json, and writes nothing.

  c_sources.py BUILD

For a wheel, whose own files are these (tests/CMakeLists.txt): their objects wait for the whole library otherwise.
"""
import json
import shlex
import subprocess
import sys
from pathlib import Path


def main():
    commands = [c for c in json.loads(Path(sys.argv[1], "compile_commands.json").read_text()) if c["file"].endswith(".c")]
    wrong = [c["file"] for c in commands if subprocess.run([*shlex.split(c["command"]), "-fsyntax-only"], cwd=c["directory"]).returncode != 0]
    print(f"c_sources: {len(commands)} files, {len(wrong)} do not compile")
    return 1 if wrong or not commands else 0


sys.exit(main())
