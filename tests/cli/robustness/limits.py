"""Runs a command in a child with limits, and says what it did and what it took.

What the kernel reports as a child's largest memory begins with that of the process it was forked from. So children
whose memory counts are started by a Starter, a process that holds nothing itself.
"""
import base64
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections import namedtuple

MIB = 1 << 20

# code: as subprocess has it, negative for a signal; seconds: user and system; rss: bytes, the largest;
# late: the wall clock limit ended it
Outcome = namedtuple("Outcome", "code stderr stdout seconds rss late")


def run(command, *, cpu_seconds, address_space=None, stdin=None, stdout=None, user=None, cwd=None, keep=1 << 16):
    """Standard error, and standard output unless a file is given, go through files; the first `keep` bytes come back."""

    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
        if address_space:
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)

    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, stdin=stdin if stdin is not None else subprocess.DEVNULL,
                                 stdout=stdout if stdout is not None else output, stderr=errors,
                                 preexec_fn=prepare, cwd=cwd)
        late = threading.Event()

        def stop():
            late.set()
            child.kill()

        timer = threading.Timer(cpu_seconds * 6 + 30, stop)
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        output.seek(0)
        return Outcome(child.returncode, errors.read(keep), output.read(keep), usage.ru_utime + usage.ru_stime,
                       usage.ru_maxrss * 1024, late.is_set())


class Starter:
    """Runs commands from a small process; used by one thread at a time."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-S", "-E", os.path.abspath(__file__)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def run(self, command, cpu_seconds, address_space=None):
        self.process.stdin.write(json.dumps([command, cpu_seconds, address_space]) + "\n")
        self.process.stdin.flush()
        code, error, seconds, rss, late = json.loads(self.process.stdout.readline())
        return Outcome(code, base64.b64decode(error), b"", seconds, rss, late)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def serve():
    for line in sys.stdin:
        command, cpu_seconds, address_space = json.loads(line)
        o = run(command, cpu_seconds=cpu_seconds, address_space=address_space)
        print(json.dumps([o.code, base64.b64encode(o.stderr).decode(), o.seconds, o.rss, o.late]), flush=True)


if __name__ == "__main__":
    serve()
