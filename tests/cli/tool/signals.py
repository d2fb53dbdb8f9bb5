#!/usr/bin/env python3
"""A signal that ends ptxopt ends the ptxas that it has running; one that is ignored, as under nohup, ends neither.

  tests/cli/tool/signals.py --tool PATH
"""
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import command_tests  # noqa: E402

SAMPLE = Path(__file__).resolve().parents[3] / "samples" / "softmax.ptx"
LIMIT = 60  # seconds until a step counts as one that never comes
# It tells its id, and ends with what it hangs on: a pipe that only it and its children have open for writing.
PTXAS = """#!/bin/sh
case $* in *--version*) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit 0;; esac
exec 9> alive
echo $$ >&9
exec sleep 1000
"""


class Signals(command_tests.CommandTests):
    PARTS = ("ended", "ignored")

    def __init__(self, folder, tool):
        super().__init__("signals", tool, folder)
        self.ids = []
        self.write("ptxas", PTXAS)
        (folder / "ptxas").chmod(0o755)
        os.mkfifo(folder / "alive")

    def started(self, *command, **more):
        """(the process, once a ptxas of it runs; a pipe that is at its end when none does any more)"""
        environment = {**os.environ, "PTXOPT_GUARD": "ptxas", "PTXOPT_PTXAS": str(self.folder / "ptxas"), "PTXOPT_CACHE_DIR": ""}
        alive = os.open(self.folder / "alive", os.O_RDONLY | os.O_NONBLOCK)
        process = subprocess.Popen([*command, self.tool, SAMPLE, "-o", "out.ptx"], cwd=self.folder, env=environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)
        self.check(self.read(alive), "ptxas was not started", process.poll())
        return process, alive

    def read(self, alive):
        """The ids that come, b"" at the end; None where nothing does."""
        if not select.select([alive], [], [], LIMIT)[0]:
            return None
        ids = os.read(alive, 1000)
        self.ids += map(int, ids.split())
        return ids

    def is_over(self, alive):
        """Whether all are gone. Those that are not are ended."""
        while ids := self.read(alive):
            pass
        os.close(alive)
        if ids is None:
            subprocess.run(["kill", "-KILL", *map(str, self.ids)], stderr=subprocess.DEVNULL)
        self.ids.clear()
        return ids == b""

    def ended(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process, alive = self.started()
            process.send_signal(number)
            self.check(process.wait(LIMIT) == -number, number, "ends with", process.returncode)
            self.check(self.is_over(alive), number, "leaves ptxas running")

    def ignored(self):
        process, alive = self.started("sh", "-c", "trap '' HUP; exec \"$@\"", "sh")
        process.send_signal(signal.SIGHUP)
        process.terminate()
        self.check(process.wait(LIMIT) == -signal.SIGTERM, "SIGHUP is not ignored:", process.returncode)
        self.check(self.is_over(alive), "ptxas runs on")


if __name__ == "__main__":
    sys.exit(command_tests.main(__doc__, Signals))
