#!/usr/bin/env python3
"""samples/cluster on a Ray cluster of two workers, one of which is killed in the middle: the same files as the plain loop.

  tests/cli/cluster/ray_run.py --tool PTXOPT [--python PYTHON]

Runs tune_ray.py by a Python that has Ray (pip install ray). Without one, or without ptxas, it says so and ends with status 77.
"""
import argparse
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import NO_PTXAS, assert_same, find_ptxas, finished, make_input, real_ptxas, script

MARK = "PTXOPT_CLUSTER_TEST"


def busy_workers(mark):
    """Processes of Ray that are at work on a task, of the cluster that was started with this mark."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and (folder / "cmdline").read_bytes().startswith(b"ray::tune"):
                if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        except OSError:
            continue  # it has ended, or is another user's
    return found


def kill_one(process, mark, out):
    """Kills a worker when some results are there and some are not; its process id."""
    while process.poll() is None:
        workers = busy_workers(mark)
        if workers and len(list(out.rglob("*.json"))) >= 3:
            os.kill(workers[0], signal.SIGKILL)
            return workers[0]
        time.sleep(0.02)
    raise AssertionError("it ended before a worker could be killed:\n" + "".join(process.communicate()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--python", default=sys.executable)
    args = parser.parse_args()
    if subprocess.run([args.python, "-c", "import ray"], capture_output=True).returncode != 0 or not find_ptxas():
        print("skipped: no Ray, or no ptxas")
        return NO_PTXAS
    tool = os.path.abspath(args.tool)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "tmp").mkdir()
        names = make_input(work / "in")
        script("tune_loop.py", "--tool", tool, work / "in", work / "loop", code=1)
        # Slow enough that a worker can be met at work.
        slow = work / "ptxas"
        slow.write_text(f"#!/bin/sh\nsleep 0.3\nexec {shlex.quote(real_ptxas())} \"$@\"\n")
        slow.chmod(0o755)
        mark = f"{os.getpid()}-{time.time_ns()}"
        environment = {MARK: mark, "PTXOPT_PTXAS": str(slow), "HOME": str(work), "RAY_TMPDIR": str(work / "tmp")}
        process = script("tune_ray.py", "--tool", tool, "--workers", 2, work / "in", work / "results", python=args.python,
                         environment=environment, wait=False)
        killed = kill_one(process, mark, work / "results")
        output = finished(process, code=1)
        assert not Path(f"/proc/{killed}").exists(), "the worker is still there"
        assert "given up" not in output, output
        assert_same_but_for_ptxas(work / "loop", work / "results", str(slow))
        # What is there is not done again.
        before = {path: path.stat().st_mtime_ns for path in (work / "results").rglob("*.ptx")}
        (work / "results" / "bad.json").unlink()
        finished(script("tune_ray.py", "--tool", tool, "--workers", 2, "--resume", work / "in", work / "results", python=args.python,
                        environment=environment, wait=False), code=1)
        changed = [path.name for path in before if path.stat().st_mtime_ns != before[path]]
        assert changed == ["bad.ptx"], changed
        assert_same_but_for_ptxas(work / "loop", work / "results", str(slow))
    print(f"{len(names)} units by two workers, one of which was killed: the same as by the loop")
    return 0


def assert_same_but_for_ptxas(loop, ray, slow):
    """The messages of what ptxas refuses name it."""
    for path in (ray / "refused.json", ray / "merged.json"):
        path.write_text(path.read_text().replace(slow, real_ptxas()))
    assert_same(loop, ray)


if __name__ == "__main__":
    sys.exit(main())
