#!/usr/bin/env python3
"""Commands take time in proportion to a chain of functions, each of which calls the next.

  chains.py --tool PATH

The limit is on the CPU time of the command, thirty times what it takes; what looks at the rest of the chain from each function
takes several times the limit.
"""
import resource
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import command_tests  # noqa: E402

LENGTH = 100_000
LIMIT = 20  # seconds


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))


class Chains(command_tests.CommandTests):
    PARTS = ("chains",)

    def __init__(self, folder, tool):
        super().__init__("chains", tool, folder)
        prototypes = "".join(f".func f{i}();\n" for i in range(LENGTH))
        bodies = "".join(f".func f{i}() {{ call.uni f{i + 1}; ret; }}\n" for i in range(LENGTH - 1))
        self.write("k.ptx", f".version 8.0\n.target sm_80\n.address_size 64\n{prototypes}{bodies}.func f{LENGTH - 1}() {{ ret; }}\n"
                            ".visible .entry k() { call.uni f0; ret; }\n")

    def chains(self):
        # verify ends with 2: the interpreter has no stack for so many calls.
        for code, words in ((0, ["report", "k.ptx", "-o", "out", "--no-ptxas"]), (2, ["verify", "k.ptx", "k.ptx", "--trials=1"]),
                            (0, ["k.ptx", "-o", "out", "--guard=off"]), (0, ["k.ptx", "-o", "out", "--guard=off", "--skip-pass=inline-calls"]),
                            (0, ["k.ptx", "--dump=occupancy", "--dump-file=out"])):
            done = subprocess.run([self.tool, *words], cwd=self.folder, capture_output=True, text=True, preexec_fn=limit, timeout=command_tests.LIMIT)
            self.check(done.returncode == code, words, "ends with", done.returncode, done.stderr[-300:])


if __name__ == "__main__":
    sys.exit(command_tests.main(__doc__, Chains))
