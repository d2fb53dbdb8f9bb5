#!/usr/bin/env python3
"""Messages of the library: the callback of the C interface, and Python's logging.

  messages.py --tool PATH     # the library beside it is used

Processes that end while messages come, that fork, and that another thread writes to are started as such.
"""
import argparse
import ctypes
import logging
import os
import subprocess
import sys
import tempfile
import threading

import package
from package import sample

sys.path.insert(0, str(package.ROOT / "tests" / "lib"))
from checking import Counted  # noqa: E402

TRACE, DEBUG, INFO, WARN, ERROR, ASKED, OFF = range(7)  # of ptxopt_c.h
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p)
REFUSING = "#!/bin/sh\necho 'ptxas fatal: no' >&2\nexit 255\n"  # a ptxas that takes nothing
MANY = """
big = sample("matmul.ptx")
big += "".join(part.replace("matmul", f"matmul{i}") for i in range(40) for part in [big[big.index(".visible"):]])
"""


class Heard(logging.Handler):
    def __init__(self):
        super().__init__(1)
        self.records = []

    def emit(self, record):
        self.records.append(record)

    def taken(self):
        records, self.records = self.records, []
        return records


def c_interface(t, library, refusing):
    """The levels, sources and texts, `user`, and numbers that are no level."""
    heard = []
    callback = CALLBACK(lambda level, source, text, user: heard.append((level, source.decode(), text.decode(), user)))
    text = sample("histogram.ptx").encode()
    options = f'{{"guard": "ptxas", "ptxas": "{refusing}", "file": "k.ptx"}}'.encode()

    def optimized():
        heard.clear()
        library.ptxopt_free(library.ptxopt_optimize(text, len(text), options))
        return list(heard)

    for wrong in (-1, 7, 1 << 20):
        t.check(library.ptxopt_set_log(callback, None, wrong) == 2 and library.ptxopt_set_log_level(wrong) == 2, f"level {wrong}")
    t.check(library.ptxopt_set_log(callback, 77, TRACE) == 0, "a callback")
    all_of = optimized()
    t.check({user for *_, user in all_of} == {77}, "user")
    t.check({level for level, *_ in all_of} >= {TRACE, DEBUG}, f"levels: {all_of}")
    t.check({source for _, source, *_ in all_of} >= {"passes", "ptxas"}, f"sources: {all_of}")
    t.check(not [m for m in all_of if m[2].endswith("\n") or m[2].startswith("ptxopt:")], "texts")
    t.check(library.ptxopt_set_log_level(DEBUG) == 0 and {level for level, *_ in optimized()} == {DEBUG}, "a higher level")
    t.check(library.ptxopt_set_log_level(OFF) == 0 and not optimized(), "off")
    library.ptxopt_set_log(CALLBACK(), None, TRACE)
    t.check(library.ptxopt_set_log_level(TRACE) == 0 and not optimized(), "no callback")
    # A callback may optimize, and take itself away.
    calls = []

    def again(*_):
        calls.append(library.ptxopt_set_log(CALLBACK(), None, OFF))
        library.ptxopt_free(library.ptxopt_optimize(text, len(text), options))

    kept = CALLBACK(again)
    library.ptxopt_set_log(kept, None, TRACE)
    t.check(not optimized() and calls == [0], f"from within: {calls}")


def levels(t, ptxopt, refusing):
    """The levels of Python's loggers decide what is asked for, each for its source."""
    root, handler = logging.getLogger("ptxopt"), Heard()
    logging.getLogger().addHandler(handler)
    text = sample("histogram.ptx")

    def names(**more):
        ptxopt.optimize(text, ptxas=refusing, file="k.ptx", **{"guard": "auto", **more})
        return {(r.name, r.levelname) for r in handler.taken()}

    from ptxopt._library import _messages
    t.check(_messages.level() == WARN, f"the level of the root: {_messages.level()}")
    os.environ["PTXOPT_GUARD"] = "auto"
    t.check(names() == {("ptxopt.guard", "WARNING")}, "the guard has something to say")
    for level, expected in ((logging.INFO, {("ptxopt.tool", "INFO")}), (logging.DEBUG, {("ptxopt.tool", "INFO"), ("ptxopt.ptxas", "DEBUG")}),
                            (5, {("ptxopt.passes", "TRACE"), ("ptxopt.ptxas", "DEBUG")})):
        root.setLevel(level)
        found = names()
        t.check(expected <= found and ("ptxopt.guard", "WARNING") in found, f"level {level}: {found}")
    t.check(names(guard="off", jobs=4) >= {("ptxopt.passes", "TRACE")}, "from threads of the library")
    root.setLevel(logging.NOTSET)
    logging.getLogger("ptxopt.passes").setLevel(5)
    t.check(_messages.level() == TRACE, "a child that wants more")
    found = names()
    t.check(("ptxopt.passes", "TRACE") in found and not {n for n in found if n[1] == "DEBUG"}, f"a child that wants more: {found}")
    logging.getLogger("ptxopt.passes").setLevel(logging.NOTSET)
    root.setLevel(5)
    logging.disable(logging.INFO)
    t.check(_messages.level() == WARN and names() == {("ptxopt.guard", "WARNING")}, "logging.disable")
    logging.disable(logging.NOTSET)
    root.setLevel(logging.CRITICAL)
    t.check(_messages.level() == OFF and not names(), "nobody wants anything")
    root.setLevel(logging.NOTSET)
    logging.getLogger().removeHandler(handler)
    os.environ["PTXOPT_GUARD"] = "off"


def raising(t, ptxopt):
    """What a filter raises, as on Ctrl-C, comes out of the call."""
    passes = logging.getLogger("ptxopt.passes")
    calls = []

    def interrupt(record):
        calls.append(record)
        raise KeyboardInterrupt

    passes.setLevel(5)
    passes.addFilter(interrupt)
    try:
        ptxopt.optimize(sample("histogram.ptx"), guard="off")
        t.check(False, "nothing was raised")
    except KeyboardInterrupt:
        t.check(len(calls) == 1, f"{len(calls)} calls")
    passes.removeFilter(interrupt)
    t.check(ptxopt.optimize(sample("histogram.ptx"), guard="off").changed, "the next call")
    passes.setLevel(logging.NOTSET)


def locks(t, ptxopt):
    """A handler may wait for what another thread has that optimizes."""
    lock, entered = threading.Lock(), threading.Event()

    class Waiting(logging.Handler):
        def handle(self, record):  # without the lock of the handler
            if threading.current_thread() is not threading.main_thread():
                entered.set()
                with lock:
                    pass

    handler = Waiting()
    logger = logging.getLogger("ptxopt.passes")
    logger.addHandler(handler)
    logger.setLevel(5)
    with lock:
        thread = threading.Thread(target=lambda: ptxopt.optimize(sample("saxpy.ptx"), guard="off"), daemon=True)
        thread.start()
        t.check(entered.wait(30), "no message came")
        t.check(ptxopt.optimize(sample("histogram.ptx"), guard="off").changed, "while another thread is in a handler")
    thread.join(30)
    t.check(not thread.is_alive(), "it goes on")
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)


def processes(t, folder):
    """Ends of the interpreter, forks, and what is written where nothing is configured."""
    def python(code, **more):
        head = "import logging, os, sys, threading, time\nsys.path[:0] = [%r]\nfrom package import sample\nimport ptxopt\n" % os.path.dirname(__file__)
        return subprocess.run([sys.executable, "-c", head + code], capture_output=True, text=True, timeout=120, env={**os.environ, **more}, cwd=folder)

    # A daemon thread has the library write while the interpreter ends.
    ends = MANY + """
logging.basicConfig(level=5, stream=open(os.devnull, "w"))
def work():
    while True:
        ptxopt.optimize(big, guard="off", jobs=2)
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.05 * %d)
print("end")
"""
    for pause in (1, 3, 6):
        done = python(ends % pause)
        t.check((done.returncode, done.stdout, done.stderr) == (0, "end\n", ""), f"an end after {pause}: {done}")
    # A handler in a daemon thread never returns.
    stuck = """
inside = threading.Event()
class Stay(logging.Handler):
    def handle(self, record):
        inside.set(); threading.Event().wait()
logging.getLogger("ptxopt").addHandler(Stay())
logging.getLogger("ptxopt").setLevel(5)
threading.Thread(target=lambda: ptxopt.optimize(sample("saxpy.ptx"), guard="off"), daemon=True).start()
inside.wait()
print("end")
"""
    done = python(stuck)
    t.check((done.returncode, done.stdout, done.stderr) == (0, "end\n", ""), f"an end while a handler waits: {done}")
    # A child is forked while another thread is in a handler: it has the loggers, and its calls of the library end.
    forks = """
inside, go = threading.Event(), threading.Event()
class Stay(logging.Handler):
    def handle(self, record):
        if threading.current_thread() is not threading.main_thread():
            inside.set(); go.wait()
logging.getLogger("ptxopt").addHandler(Stay())
logging.getLogger("ptxopt").setLevel(5)
text = sample("saxpy.ptx")
threading.Thread(target=lambda: ptxopt.optimize(text, guard="off")).start()
inside.wait()
child = os.fork()
if child == 0:
    import signal
    signal.alarm(60)
    assert ptxopt.optimize(text, guard="off").ptx
    print("child")
    sys.exit(0)
status = os.waitpid(child, 0)[1]
go.set()
print(status)
"""
    done = python(forks)
    t.check((done.returncode, done.stdout) == (0, "child\n0\n"), f"a fork: {done}")
    quiet = "ptxopt.optimize(sample('histogram.ptx'), guard='auto', ptxas='./refusing')\n"
    done = python(quiet, PTXOPT_GUARD="auto")
    t.check((done.returncode, done.stderr) == (0, ""), f"nothing is configured: {done.stderr}")
    done = python("logging.basicConfig()\n" + quiet, PTXOPT_GUARD="auto")
    t.check(done.stderr.startswith("WARNING:ptxopt.guard:<input>: warning: ptxas refuses the input"), f"basicConfig: {done.stderr}")
    misspelled = "PTXOPT_GARD is not a variable that ptxopt reads; is PTXOPT_GUARD meant?"
    twice = "for _ in range(2): ptxopt.optimize(sample('saxpy.ptx'), guard='off')\n"
    done = python("logging.basicConfig()\n" + twice, PTXOPT_GARD="off")
    t.check(done.stderr == f"WARNING:ptxopt.tool:{misspelled}\n", f"a variable that nobody reads: {done.stderr}")
    t.check(python(twice, PTXOPT_GARD="off").stderr == "", "such a variable where logging is not configured")
    done = python("from ptxopt import _hooks\n_hooks.set_options({}, False)\n" + twice, PTXOPT_GARD="off")
    t.check(done.stderr == f"ptxopt: {misspelled}\n", f"such a variable, with a hook: {done.stderr}")
    hook = "from ptxopt._hooks import say_once\nfor _ in range(2): say_once('a')\n"
    t.check(python(hook).stderr == "ptxopt: a\n", "what a hook says")
    t.check(python("logging.basicConfig()\n" + hook).stderr == "WARNING:ptxopt.hooks:a\n", "what a hook says, with basicConfig")
    t.check(python("logging.getLogger('ptxopt').setLevel('ERROR')\n" + hook).stderr == "", "a hook that is to be silent")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=os.path.abspath)
    package.use(parser.parse_args().tool)
    os.environ["PTXOPT_GUARD"] = "off"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PTXOPT_CACHE_DIR"] = ""
        refusing = os.path.join(folder, "refusing")
        with open(refusing, "w", encoding="utf-8") as file:
            file.write(REFUSING)
        os.chmod(refusing, 0o755)
        import ptxopt
        from ptxopt import _library
        t = Counted("messages")
        levels(t, ptxopt, refusing)
        raising(t, ptxopt)
        locks(t, ptxopt)
        processes(t, folder)
        c_interface(t, _library._library, refusing)  # last: it takes the callback of the package away
    print(f"messages: {t.checks - t.wrong} passed, {t.wrong} failed")
    return 1 if t.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
