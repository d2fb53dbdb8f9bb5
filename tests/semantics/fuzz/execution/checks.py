"""What must hold for a case, and the name of what does not.

  exit        the optimizer ends with 0, with its internal checks after each pass
  repeat      a second run writes the same
  jobs        four threads write what one writes
  verbatim    -O0 writes the input
  reprint     --reprint writes what --reprint of its own output writes, it computes the same, and ptxas makes the same
              machine code of it: what the reader takes for something else the interpreter takes for the same
  self        the kernel is equal to itself on every input
  different   the output computes the same
  ptxas       ptxas accepts the output, if it accepts the input

A Failure's kind begins with one of these words and goes on with what tells failures of one check apart, without anything
that changes when the kernel shrinks: names, numbers, lines.
"""
import json
import os
import re
import shlex
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import plants

SECONDS = 120  # more is a hang


@dataclass
class Failure:
    kind: str
    detail: str
    command: str


@dataclass
class Ran:
    code: int  # minus the signal; None: it took too long
    out: str
    command: str

    def ending(self):
        return "does not end" if self.code is None else f"signal {-self.code}" if self.code < 0 else f"exit {self.code}"


def run(command):
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, errors="replace", stdin=subprocess.DEVNULL)
        return Ran(done.returncode, done.stdout + done.stderr, shlex.join(command))
    except subprocess.TimeoutExpired:
        return Ran(None, "", shlex.join(command))


def gist(message):
    """The first line of a message without what is particular to one file."""
    lines = [line for line in message.splitlines() if line.strip()]
    text = re.sub(r"^\S*:(\d+:)*|'[^']*'|\"[^\"]*\"|[%$_\w/]*\d[\w.]*|\S*/\S*", "#", lines[0] if lines else "")
    return re.sub(r"(#[ ,:]*)+", "# ", text).strip()


def gist_of_verdict(detail):
    """Which way two kernels differ, or cannot be compared."""
    fault = re.search(r":\d+: ([a-z][a-z -]*): (.*)", detail)
    if detail.startswith("the second file fails"):
        return f"the second fails: {fault[1] if fault else gist(detail)}"
    if detail.startswith("only the second file has a data race"):
        return "a data race"
    if fault:
        return f"{fault[1]}: {gist(fault[2])}" if "unsupported" in fault[1] else fault[1]
    return ""


class Checker:
    """The checks on one input, in a folder that is its own."""

    def __init__(self, tool, case, source, folder, ptxas=None):
        self.tool, self.case, self.source, self.folder, self.ptxas = tool, case, Path(source), Path(folder), ptxas
        self.output = self.folder / "output.ptx"
        self.reprinted = self.folder / "reprinted.ptx"
        self.inputs = 0  # on which kernels were compared
        self.dropped = 0  # on which the kernel itself fails, so that they say nothing
        self.slowest = 0.0  # seconds of a comparison

    # ---- the tool ----

    def optimize(self, options, output, use="", jobs=1, source=None):
        done = run([self.tool, source or self.source, "-o", output, *options, "-j", str(jobs), "--verify-each"])
        if done.code == 0 and self.case.plant:
            text = plants.PLANTS[self.case.plant].apply(output.read_text(), use)
            if text is None:
                done.code, done.out = 4, "planted: internal error"
            else:
                output.write_text(text)
        if done.code == 0:
            return None
        return Failure(f"exit: {done.ending()}: {gist(done.out)}", done.out, done.command)

    def compare(self, first, second, check):
        # Values of parameters that nothing reads are refused.
        text = first.read_text()
        values = [f"--set={name}={value}" for name, value in self.case.scalars.items()
                  if re.search(r"\[\s*%s\b" % re.escape(name), text)]
        began = time.monotonic()
        done = run([self.tool, "verify", first, second, "--format", "json", *self.case.launch, *values])
        self.slowest = max(self.slowest, time.monotonic() - began)
        shown = done.command.replace(" --format json", "")
        try:
            verdicts = json.loads(done.out) if done.code in (0, 1, 2) else None
        except json.JSONDecodeError:
            verdicts = None
        if verdicts is None:
            return Failure(f"{check}: not comparable: {done.ending()}: {gist(done.out)}", done.out, shown)
        for v in verdicts:
            self.inputs += v["inputs"]
            self.dropped += v["dropped"]
            if v["verdict"] != "equal":
                what = "" if (check, v["verdict"]) == ("different", "different") else v["verdict"] + ": "
                return Failure(f"{check}: {what}{gist_of_verdict(v['detail'])}", v["detail"], shown)
            # Of reads of what nothing wrote verify may say that an input says nothing.
            if v["dropped"] > 0 and (first == second or "--undefined-reads" not in self.case.generator):
                detail = f"it fails on {v['dropped']} inputs; the last: {v['last_dropped']}"
                return Failure(f"{check}: fails on some inputs", detail, shown)
        return None

    def assembles(self, path, output=os.devnull):
        return run([self.ptxas, "-O0", f"-arch={self.architecture()}", path, "-o", output])

    def architecture(self):
        match = re.search(r"^\.target\s+(sm_\w+)", self.source.read_text(), re.M)
        return match[1] if match else "sm_80"

    # ---- the checks ----

    def exit(self):
        return self.optimize(self.case.pipeline, self.output)

    def same_again(self, check, use, jobs):
        other = self.folder / "other.ptx"
        failure = self.optimize(self.case.pipeline, other, use, jobs)
        if failure:
            failure.kind = f"{check}: {failure.kind}"
            return failure
        if other.read_bytes() == self.output.read_bytes():
            return None
        command = shlex.join([str(self.tool), str(self.source), *self.case.pipeline, "-j", str(jobs)])
        return Failure(f"{check}: another text", "not what -j 1 writes at first", command)

    def repeat(self):
        return self.same_again("repeat", "repeat", 1)

    def jobs(self):
        return self.same_again("jobs", "jobs", 4)

    def verbatim(self):
        other = self.folder / "other.ptx"
        failure = self.optimize(["-O0"], other, "verbatim")
        if failure:
            failure.kind = f"verbatim: {failure.kind}"
        elif other.read_bytes() != self.source.read_bytes():
            return Failure("verbatim: another text", "-O0 changes the text",
                           shlex.join([str(self.tool), str(self.source), "-O0"]))
        return failure

    def reprint(self, code=True):
        failure = self.optimize(["-O0", "--reprint"], self.reprinted, "reprint")
        again = self.folder / "other.ptx"
        failure = failure or self.optimize(["-O0", "--reprint"], again, "again", source=self.reprinted)
        if failure:
            failure.kind = f"reprint: {failure.kind}"
            return failure
        if again.read_bytes() != self.reprinted.read_bytes():
            return Failure("reprint: another text", "--reprint of its own output is another text",
                           shlex.join([str(self.tool), str(self.reprinted), "-O0", "--reprint"]))
        return self.compare(self.source, self.reprinted, "reprint") or (self.same_code() if code else None)

    def same_code(self):
        if not self.ptxas:
            return None
        cubins = []
        for path in (self.source, self.reprinted):
            done = self.assembles(path, self.folder / "code.cubin")
            if done.code != 0 and path == self.source:
                return None
            if done.code != 0:
                return Failure(f"reprint: ptxas: {done.ending()}: {gist(done.out)}", done.out, done.command)
            cubins.append((self.folder / "code.cubin").read_bytes())
        if cubins[0] == cubins[1]:
            return None
        return Failure("reprint: other machine code", "ptxas makes other machine code of --reprint's output", done.command)

    def itself(self):
        return self.compare(self.source, self.source, "self")

    def different(self):
        return self.compare(self.source, self.output, "different")

    def assembling(self):
        if not self.ptxas:
            return None
        done = self.assembles(self.output)
        if done.code == 0 or self.assembles(self.source).code != 0:
            return None
        return Failure(f"ptxas: {done.ending()}: {gist(done.out)}", done.out, done.command)

    def first_failure(self, ptxas, extra=True):
        """`extra`: all checks; else those that concern what the passes make of the kernel."""
        more = (self.repeat, self.jobs, self.verbatim, self.itself) if extra else ()
        for check in (self.exit, *more, self.different):
            if failure := check():
                return failure
        if extra and (failure := self.reprint(code=ptxas)):
            return failure
        return self.assembling() if ptxas else None

    def still(self, kind):
        """Whether the input fails in that way, and is otherwise as sound as what the generator makes."""
        check = kind.split(":")[0]
        if check in ("different", "reprint") and self.itself():
            return False  # what it computes is not determined, or it does not run at all
        if check not in ("exit", "verbatim", "self", "reprint") and self.exit():
            return False
        failure = {"self": self.itself, "ptxas": self.assembling}.get(check, getattr(self, check, None))()
        if failure is None or failure.kind != kind:
            return False
        return self.ptxas is None or self.assembles(self.source).code == 0
