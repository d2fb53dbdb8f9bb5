"""Runs a command in a child with limits, and says what it did and what it took."""
import os
import resource
import subprocess
import tempfile
import threading
from dataclasses import dataclass

MIB = 1 << 20


@dataclass
class Outcome:
    code: int          # as subprocess has it: negative for a signal
    stderr: bytes
    stdout: bytes
    seconds: float     # user and system
    rss: int           # bytes, the largest
    late: bool         # the wall clock limit ended it


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
