#!/usr/bin/env python3
"""Nasty inputs for the tool: none may crash it, hang it, or make it take memory out of proportion.

    tests/cli/robustness/run.py --tool build/release/ptxopt [--sanitized] [--only WORDS] [--jobs N] [--verbose]

For each input of inputs.py: the exit code, the shape of the message, the CPU time and memory; where it is marked so,
twice the size must not take three times the CPU time. Then the file checks of files.py. Exit code 1 when something is
wrong. --sanitized: for a build with sanitizers, which needs more time and memory; the inputs are smaller then.
"""
import argparse
import concurrent.futures
import os
import re
import sys
import tempfile
import threading
import time

import files
import inputs
from limits import MIB, Starter

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

PLACE = re.compile(rb"^(.*):(\d+):(\d+): error: (.+)$")
LONGEST_MESSAGE = 1000
LONGEST_LINE = 400     # of 100 bytes, each of which may be shown as \xNN
CONSTANT = 64 * MIB     # memory that any run may take
SMALLEST_TIME = 0.3     # seconds below which growth says nothing
MOST_GROWTH = 3.0
SANITIZED_TIMES = 6     # of the CPU time: by clang, with the instrumentation of libFuzzer, too


class Runner:
    def __init__(self, tool, folder, sanitized):
        self.tool, self.folder, self.sanitized = tool, folder, sanitized
        self.count = 0
        self.local = threading.local()
        self.starters = []

    def starter(self):
        if not hasattr(self.local, "starter"):
            self.local.starter = Starter()
            self.starters.append(self.local.starter)
        return self.local.starter

    def close(self):
        for starter in self.starters:
            starter.close()

    def run(self, arguments, cpu_seconds):
        # An address space far above what is asked for: a run-away ends early, the bound itself is on resident memory.
        space = None if self.sanitized else 6 << 30
        return self.starter().run([self.tool, *arguments], int(cpu_seconds) * (SANITIZED_TIMES if self.sanitized else 1), space)

    def size(self, case):
        return max(1, case.size // 20) if self.sanitized else case.size

    def write(self, case, size):
        self.count += 1
        path = os.path.join(self.folder, f"{re.sub('[^a-z0-9]+', '-', case.name)}.{size}.{self.count}.ptx")
        text = case.make(size)
        with open(path, "wb") as f:
            f.write(text)
        return path, text

    def check(self, case):
        """Yields what is wrong, in words."""
        size = self.size(case)
        path, text = self.write(case, size)
        output = path + ".out"
        try:
            for mode in case.modes:
                label = f"{case.name} [{' '.join(mode)}]"
                outcome = self.run([path, *mode, "-o", output], case.seconds)
                yield from (f"{label}: {t}" for t in self.judge(case, path, text, outcome))
                if outcome.code == 0:
                    yield from (f"{label}: {t}" for t in self.judge_output(case, mode, text, output))
                if os.path.exists(output):
                    if outcome.code != 0:
                        yield f"{label}: there is output beside an error"
                    os.remove(output)
                if outcome.code not in case.codes:
                    continue  # as good as reported
                if case.scales and mode == case.modes[-1] and not self.sanitized:
                    yield from (f"{label}: {t}" for t in self.growth(case, mode, size, outcome.seconds))
        finally:
            os.remove(path)

    def judge(self, case, path, text, outcome):
        if outcome.late or outcome.code in (-24, -9):
            yield f"ended by a limit after {outcome.seconds:.1f} s of CPU time"
            return
        if outcome.code < 0:
            yield f"ended by signal {-outcome.code}: {outcome.stderr[-300:]!r}"
            return
        if outcome.code not in case.codes:
            yield f"exit code {outcome.code}, not {' or '.join(map(str, case.codes))}: {outcome.stderr[:200]!r}"
        most = CONSTANT + int(case.bytes_per_byte * len(text))
        if outcome.rss > most and not self.sanitized:
            yield f"{outcome.rss / MIB:.0f} MiB for {len(text) / MIB:.2f} MiB of input, more than {most / MIB:.0f}"
        if outcome.code == inputs.INVALID:
            yield from judge_message(path, text, outcome.stderr)
        elif len(outcome.stderr) > LONGEST_MESSAGE and "--warn-unknown" not in case.modes[-1]:
            yield f"long standard error: {outcome.stderr[:200]!r}"

    def judge_output(self, case, mode, text, output):
        if mode == inputs.COPY:
            with open(output, "rb") as f:
                if f.read() != text:
                    yield "the output is not the input"
        elif os.path.getsize(output) < MIB:
            outcome = self.run([output, *inputs.REPRINT, "-o", output + ".2"], case.seconds)
            if outcome.code != 0:
                yield f"the output is refused: {outcome.stderr[:200]!r}"
            elif mode == inputs.REPRINT:
                with open(output, "rb") as a, open(output + ".2", "rb") as b:
                    if a.read() != b.read():
                        yield "--reprint is no fixed point"
            if os.path.exists(output + ".2"):
                os.remove(output + ".2")

    def growth(self, case, mode, size, seconds):
        path, _ = self.write(case, size * 2)
        half, _ = self.write(case, size)
        try:
            limit = case.seconds * 2

            def best(p, times):
                """The least of `times` runs; no second run of one that took very long, which is no noise."""
                least = limit
                for _ in range(times):
                    took = self.run([p, *mode, "-o", "/dev/null"], limit).seconds
                    least = min(least, took)
                    if took > limit / 2:
                        break
                return least

            once, twice = seconds, best(path, 1)
            for times in (1, 3):
                if twice < MOST_GROWTH * max(once, SMALLEST_TIME):
                    return
                once, twice = min(once, best(half, times)), min(twice, best(path, times))
            if twice >= MOST_GROWTH * max(once, SMALLEST_TIME):
                yield f"{once:.2f} s for size {size}, {twice:.2f} s for size {size * 2}: x{twice / once:.1f}"
        finally:
            os.remove(path)
            os.remove(half)

    def truncations(self, text, lengths):
        """Every beginning of a text is either PTX or refused with a place near its end."""
        path = os.path.join(self.folder, f"cut.{self.count}.{len(text)}.ptx")
        for length in lengths:
            with open(path, "wb") as f:
                f.write(text[:length])
            outcome = self.run([path, "-O2", "-o", path + ".out"], 20)
            case = inputs.Case(f"truncated at byte {length} of {len(text)}", None, codes=(inputs.OK, inputs.INVALID))
            yield from (f"{case.name}: {t}" for t in self.judge(case, path, text[:length], outcome))


def judge_message(path, text, message):
    """FILE:LINE:COL: error: MESSAGE, then the line or a window of it, then a caret below the place."""
    lines = message.split(b"\n")
    head = PLACE.match(lines[0])
    if not head or head[1] != path.encode():
        yield f"message {lines[0][:200]!r}"
        return
    if len(lines) != 4 or lines[3] != b"":
        yield f"a message of {len(lines) - 1} lines: {message[:300]!r}"
        return
    if len(message) > LONGEST_MESSAGE + len(path):
        yield f"a message of {len(message)} bytes"
    if any(c < 0x20 and c != 9 for c in lines[0]):
        yield f"control characters in the message {lines[0][:200]!r}"
    shown, caret = lines[1], lines[2]
    if len(shown) > LONGEST_LINE:
        yield f"shows {len(shown)} bytes of the line"
    if not re.fullmatch(rb"[ \t]*\^", caret):
        yield f"caret line {caret[:200]!r}"
        return
    line, column = int(head[2]), int(head[3])
    begin = 0
    for _ in range(line - 1):
        begin = text.find(b"\n", begin) + 1
        if begin == 0:
            yield f"line {line} is after the end"
            return
    end = text.find(b"\n", begin)
    source = text[begin:end if end >= 0 else len(text)]
    if column < 1 or column > len(source) + 1:
        yield f"column {column} of a line of {len(source)} bytes"
        return
    at = column - 1
    if at < len(source) and len(caret) <= len(shown):
        byte = source[at]
        wanted = source[at:at + 1] if byte >= 0x20 or byte == 9 else b"\\x%02x" % byte
        if not shown[len(caret) - 1:].lower().startswith(wanted.lower()) and byte < 0x7f:
            yield f"the caret is below {shown[len(caret) - 1:len(caret) + 3]!r}, the place holds {source[at:at + 1]!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--only", default="", help="just the inputs and checks with this in their name")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--every", type=int, default=9, help="truncate the small file at every N-th byte")
    parser.add_argument("--verbose", action="store_true", help="say how long each takes")
    options = parser.parse_args()
    tool = os.path.abspath(options.tool)
    done = failed = 0

    with tempfile.TemporaryDirectory(prefix="ptxopt-robustness-") as folder:
        os.chmod(folder, 0o755)
        runner = Runner(tool, folder, options.sanitized)

        def file_check(name):
            with tempfile.TemporaryDirectory(dir=folder) as place:
                os.chmod(place, 0o755)
                checks = files.Checks(tool, place)
                getattr(checks, name)()
                return [f"{name}: {t}" for t in checks.trouble]

        large = inputs.many_functions(40 if options.sanitized else 400)
        step = options.every * (10 if options.sanitized else 1)
        work = [(c.name, lambda c=c: list(runner.check(c))) for c in inputs.CASES]
        work += [(f"file: {n}", lambda n=n: file_check(n)) for n in files.all_checks()]
        work += [("truncations", lambda: list(runner.truncations(inputs.SMALL, range(0, len(inputs.SMALL), step)))),
                 ("truncations of a large file",
                  lambda: list(runner.truncations(large, range(12_345, len(large), len(large) // 17))))]
        work = [w for w in work if options.only in w[0]]

        def timed(item):
            start = time.monotonic()
            return item[0], item[1](), time.monotonic() - start

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for name, trouble, seconds in pool.map(timed, work):
                done += 1
                failed += bool(trouble)
                for line in trouble:
                    print(f"FAIL {line}", flush=True)
                if options.verbose:
                    print(f"{seconds:6.1f} s  {name}", flush=True)
        runner.close()
    print(f"{done - failed} of {done} robustness checks hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
