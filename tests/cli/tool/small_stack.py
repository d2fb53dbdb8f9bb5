#!/usr/bin/env python3
"""Commands do the same where the stack is small (`ulimit -s 64`), as in some build systems and containers.

  small_stack.py --tool PATH

The ptxas is a script. Threads get as small a stack as the process.
"""
import os
import resource
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import command_tests  # noqa: E402

SAMPLE = Path(__file__).resolve().parents[3] / "samples" / "matmul.ptx"
STACK = 64 << 10
PTXAS = """#!/bin/sh
while [ $# -gt 0 ]; do case $1 in -o) shift; cp "$input" "$1";; *.ptx) input=$1;; esac; shift; done
"""


def limit():
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, STACK))


class SmallStack(command_tests.CommandTests):
    PARTS = ("commands",)

    def __init__(self, folder, tool):
        super().__init__("small_stack", tool, folder)
        self.write("k.ptx", SAMPLE.read_text())
        self.write("l.ptx", SAMPLE.read_text() + SAMPLE.read_text().split(".address_size 64")[1].replace("matmul", "more"))
        self.write("ptxas", PTXAS)
        (folder / "ptxas").chmod(0o755)
        self.drop_in = str(Path(tool).with_name("ptxopt-ptxas"))

    def outcome(self, words, before):
        """Exit code, standard output and what is written, of a folder with the inputs alone."""
        for name in ("out", "out.json"):
            (self.folder / name).unlink(missing_ok=True)
        (self.folder / "in.ptx").write_bytes((self.folder / "k.ptx").read_bytes())
        try:
            os.setxattr(self.folder / "in.ptx", "user.made-by", b"us")
        except OSError:
            pass  # the file system has none
        environment = {"PATH": os.environ["PATH"], "PTXOPT_PTXAS": str(self.folder / "ptxas"), "PTXOPT_CACHE_DIR": "", "PTXOPT_GUARD": "off"}
        done = subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, timeout=command_tests.LIMIT, preexec_fn=before,
                              stdin=subprocess.DEVNULL)
        written = {name: (self.folder / name).read_bytes() for name in ("out", "in.ptx") if (self.folder / name).exists()}
        return done.returncode, done.stdout, written

    def commands(self):
        tool = self.tool
        for words in ([tool, "k.ptx", "-o", "out"], [tool, "l.ptx", "-o", "out", "-j2"], [tool, "--in-place", "in.ptx"], [tool, "--help"],
                      [tool, "as", "-arch=sm_80", "k.ptx", "-o", "out"], [self.drop_in, "-arch=sm_80", "k.ptx", "-o", "out"],
                      [tool, "diff", "k.ptx", "k.ptx"], [tool, "verify", "k.ptx", "k.ptx", "--trials=1"], [tool, "report", "k.ptx", "-o", "out", "--no-ptxas"],
                      [tool, "run", "k.ptx", "--list-opcodes"], [tool, "reduce", "k.ptx", "-o", "out", "--", "false"], [tool, "link", "k.ptx", "-o", "out"],
                      [tool, "--dump=liveness", "k.ptx", "--dump-file=out"]):
            usual, small = self.outcome(words, None), self.outcome(words, limit)
            self.check(usual == small and usual[0] >= 0, words, usual[0], usual[1][-200:], "with a small stack", small[0], small[1][-200:])


if __name__ == "__main__":
    sys.exit(command_tests.main(__doc__, SmallStack))
