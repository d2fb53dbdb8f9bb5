"""Whether candidates of `ptxopt reduce` still fail, answered by the process that is shrinking a case.

reduce starts this file as a program for each candidate, which asks by a socket and ends with the answer as its status.
To start the whole fuzzer for that, as its replay line does, takes more time than to judge a small candidate.

  python3 -I -S judge.py SOCKET CANDIDATE
"""
import sys

if __name__ == "__main__":
    import _socket  # what the module socket is made of: socket takes longer to load than the answer takes

    asked = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    asked.connect(sys.argv[1])
    asked.sendall(sys.argv[2].encode() + b"\n")
    sys.exit(0 if asked.recv(1) == b"y" else 1)

import contextlib
import os
import shutil
import socketserver
import tempfile
import threading
from pathlib import Path

from checks import Checker


def still_fails(tool, case, kind, ptxas, candidate):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # The candidate's name must not be in what is compared.
        copy = folder / "input.ptx"
        shutil.copyfile(candidate, copy)
        return Checker(tool, case, copy, folder, ptxas).still(kind)


@contextlib.contextmanager
def judging(tool, case, kind, ptxas):
    """The command that says of a candidate whether it still fails in that way, while it is asked within."""
    class Answer(socketserver.StreamRequestHandler):
        def handle(self):
            candidate = os.fsdecode(self.rfile.readline().rstrip(b"\n"))
            self.wfile.write(b"y" if still_fails(tool, case, kind, ptxas, candidate) else b"n")

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "socket")
        with socketserver.ThreadingUnixStreamServer(path, Answer) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
            thread.start()
            try:
                yield [sys.executable, "-I", "-S", __file__, path, "{}"]
            finally:
                server.shutdown()
                thread.join()
