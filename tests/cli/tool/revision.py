#!/usr/bin/env python3
"""The git revision of --version: a small project with the same cmake/revision.cmake is configured once, committed to, built
again, archived and unpacked.

  revision.py --tool PTXOPT
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
from checking import Counted  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
FILES = ["cmake/revision.cmake", "cmake/revision.txt", ".gitattributes"]
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
set(PTXOPT_GENERATED ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${PTXOPT_GENERATED})
include(cmake/revision.cmake)
add_executable(small main.cpp other.cpp ${revision_header})
set_source_files_properties(main.cpp PROPERTIES INCLUDE_DIRECTORIES ${PTXOPT_GENERATED})
"""
MAIN = '#include <cstdio>\n#include "git_revision.h"\nint main() { std::puts(PTXOPT_REVISION "/" PTXOPT_REVISION_DATE); }\n'


class Test(Counted):
    def __init__(self, scratch):
        super().__init__("revision")
        self.scratch = scratch
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        self.env.update(GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b",
                        GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")

    def run(self, *command, cwd=None):
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, cwd=cwd, env=self.env)
        if run.returncode != 0:
            raise SystemExit(f"revision.py: {command}: {run.stdout}{run.stderr}")
        return run.stdout

    def git(self, folder, *words):
        return self.run("git", "-C", folder, *words).strip()

    def commit(self, folder):
        self.git(folder, "add", "-A")
        self.git(folder, "commit", "-q", "--allow-empty", "-m", "m")
        return self.git(folder, "log", "-1", "--format=%h/%cs")

    def project(self, folder):
        for name in FILES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        for name, text in (("CMakeLists.txt", PROJECT), ("main.cpp", MAIN), ("other.cpp", "int other;\n"),
                           (".gitignore", "/build*/\n")):
            (folder / name).write_text(text)

    def configure(self, folder, build):
        self.run("cmake", "-G", "Ninja", "-S", folder, "-B", build)

    def build(self, build):
        """What the build said, and what the program says."""
        return self.run("cmake", "--build", build), self.run(build / "small").strip()

    def all(self):
        folder = self.scratch / "project"
        folder.mkdir()
        self.project(folder)
        self.git(folder, "init", "-q")
        first = self.commit(folder)
        build = folder / "build"
        self.configure(folder, build)
        _, says = self.build(build)
        self.check(says == first, f"first: {says}, not {first}")
        log, _ = self.build(build)
        self.check("no work to do" in log, f"a second build does something: {log}")
        second = self.commit(folder)
        log, says = self.build(build)
        self.check(says == second != first, f"after a commit: {says}, not {second}")
        self.check("main.cpp" in log and "other.cpp" not in log, f"a commit compiles more than one file: {log}")
        log, _ = self.build(build)
        self.check("no work to do" in log, f"and then: {log}")
        self.git(folder, "checkout", "-q", "HEAD~1")
        log, says = self.build(build)
        self.check(says == first, f"after a checkout: {says}")

        # In a worktree of it, whose .git is a file.
        tree = self.scratch / "tree"
        self.git(folder, "worktree", "add", "-q", tree, "--detach", second.split("/")[0])
        self.configure(tree, tree / "build")
        third = self.commit(tree)
        _, says = self.build(tree / "build")
        self.check(says == third, f"in a worktree: {says}, not {third}")

        # An archive of git knows its revision, another copy none, also inside the checkout of something else.
        self.run("git", "-C", tree, "archive", "-o", self.scratch / "a.tar", "HEAD")
        for name, wanted in (("archive", third), ("copy", "/")):
            unpacked = folder / name
            unpacked.mkdir()
            if name == "archive":
                self.run("tar", "-xf", self.scratch / "a.tar", "-C", unpacked)
            else:
                self.project(unpacked)
            self.configure(unpacked, unpacked / "build")
            _, says = self.build(unpacked / "build")
            self.check(says == wanted, f"{name}: {says}, not {wanted}")

        # Where git writes no log, every build looks.
        self.git(folder, "config", "core.logAllRefUpdates", "false")
        shutil.rmtree(folder / ".git" / "logs")
        self.configure(folder, folder / "build2")
        self.build(folder / "build2")
        fourth = self.commit(folder)
        _, says = self.build(folder / "build2")
        self.check(says == fourth, f"without a log: {says}, not {fourth}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    args = parser.parse_args()
    if not shutil.which("git") or not shutil.which("ninja"):
        print("revision: skipped: git or ninja is not there")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        test = Test(Path(scratch).resolve())
        test.all()
        says = subprocess.run([args.tool, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout
        test.check(re.fullmatch(r"ptxopt \d+\.\d+\.\d+ \((git [0-9a-f]{7,}, )?PTX ISA 9\.5\)\n", says), f"--version: {says}")
    print(f"revision: {test.checks - test.wrong} passed, {test.wrong} failed")
    return 1 if test.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
