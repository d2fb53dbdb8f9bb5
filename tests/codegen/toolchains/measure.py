"""What one ptxas makes, for one architecture, of the inputs, of their reprint, and of what ptxopt makes of them.

Texts lie in the work folder under their hash, so that what did not change is not optimized or assembled again.
"""
import concurrent.futures
import json
import os
from dataclasses import asdict, dataclass, field

import inputs
import machine_code
from code_figures import fingerprint_of
from compilers import Skip, digest, first_line, read, run, write

LIMIT = 300  # seconds
REPRINT = ["-O0", "--reprint"]


@dataclass
class Result:
    """Of a ptxas and an architecture."""
    files: int = 0
    taken: int = 0  # by ptxas as they are, or lowered
    ours: int = 0  # of those whose -O2 it takes, too
    identical: int = 0  # of those whose reprint becomes the same machine code
    kernels: int = 0
    inner: list = field(default_factory=list)  # (before, after) of each kernel
    total: list = field(default_factory=list)
    worse: list = field(default_factory=list)  # names, by the guard's rule, without the guard
    worse_guarded: list = field(default_factory=list)  # and with it
    problems: list = field(default_factory=list)
    has_kernels: bool = True  # no kernel is written for an architecture-specific target

    def as_json(self):
        return asdict(self)

    def failures(self):
        nothing = []
        if not self.taken:
            nothing.append("no file is taken")
        if self.has_kernels and not self.kernels:
            nothing.append("no kernel was compared")
        return self.problems + nothing + [f"{name} is worse with the guard" for name in self.worse_guarded]


class Refused(Exception):
    """ptxopt or ptxas refuses a text; str() is what it says."""


class Bench:
    def __init__(self, tool, work, toolchain):
        self.tool, self.work, self.toolchain = os.path.abspath(tool), work, toolchain
        self.tool_key = digest(read(self.tool))
        os.environ["PTXAS"] = toolchain.path  # which machine_code asks
        os.environ["PTXOPT_CACHE_DIR"] = os.path.join(work, "cache")  # `baseline` and the guard ask the same
        for folder in ("texts", "figures"):
            os.makedirs(os.path.join(work, folder), exist_ok=True)

    def stored(self, text):
        data = text.encode("latin-1")
        path = os.path.join(self.work, "texts", digest(data) + ".ptx")
        if not os.path.exists(path):
            write(path, data)
        return path

    def made(self, source, *options):
        """The path of what ptxopt makes of a file."""
        output = os.path.join(self.work, "texts", digest(read(source), self.tool_key, *options) + ".ptx")
        if not os.path.exists(output):
            result = run([self.tool, source, "-o", output, *options], LIMIT)
            if result.returncode:
                raise Refused(f"ptxopt ends with status {result.returncode}: {first_line(result.stderr)}")
        return output

    def code(self, path, arch):
        return fingerprint_of(path, arch, self.work, self.toolchain.build)

    def figures(self, path, arch):
        """kernel -> its figures, as `ptxopt baseline` counts them."""
        kept = os.path.join(self.work, "figures", digest(read(path), arch, self.toolchain.build, self.tool_key) + ".json")
        if not os.path.exists(kept):
            result = run([self.tool, "baseline", path, "-o", kept, "--arch", arch, "--ptxas", self.toolchain.path, "-j", "1"], LIMIT)
            if result.returncode:
                raise Refused(first_line(result.stderr))
        rows = json.loads(read(kept))["units"][0]["functions"]
        return {row["name"]: row for row in rows}

    # ---- one input ----

    def check_file(self, text, arch):
        """(whether it is taken, whether ours is, whether the reprint is identical, problem)"""
        source = self.stored(inputs.lowered(text.text, arch, self.toolchain.newest))
        try:
            code = self.code(source, arch)
        except machine_code.AssemblyError:
            return False, False, False, ""
        problems, ours, identical = [], False, False
        try:
            output = self.made(source, "-O2", "--guard=off", "--arch", arch)
            if read(output) != read(source):
                self.code(output, arch)
            ours = True
        except (Refused, machine_code.AssemblyError) as error:
            problems.append(f"-O2: {error}")
        try:
            output = self.made(source, *REPRINT)
            different = machine_code.differing(code, self.code(output, arch)) if read(output) != read(source) else []
            identical = not different
            if different:
                problems.append("other machine code when reprinted: " + ", ".join(different[:3]))
        except (Refused, machine_code.AssemblyError) as error:
            problems.append(f"reprint: {error}")
        return True, ours, identical, "; ".join(problems)

    def check_kernels(self, text, arch):
        """([(name, before, after, guarded)], problem); guarded is after where no kernel got worse."""
        source = self.stored(inputs.lowered(text.text, arch, self.toolchain.newest))
        try:
            before = self.figures(source, arch)
        except Refused:
            return [], ""
        try:
            output = self.made(source, "-O2", "--guard=off", "--arch", arch)
            after = guarded = self.figures(output, arch)
            if any(is_worse(row, after[name]) for name, row in before.items()):
                output = self.made(source, "-O2", "--guard=ptxas", "--arch", arch, "--ptxas", self.toolchain.path)
                guarded = self.figures(output, arch)
        except Refused as error:
            return [], f"-O2: {error}"
        return [(name, row, after[name], guarded[name]) for name, row in before.items()], ""


def is_worse(before, after):
    """By the guard's rule, src/ptxas/compare.h."""
    return rank(after) > rank(before)


def rank(row):
    return row["spill-stores"] + row["spill-loads"], -row["warps"], row["instructions"]


def measure(bench, arch, settings, pool):
    """`settings`: producers, tools, and one of how many files and kernels."""
    result = Result()
    texts = inputs.files(arch, settings.files)
    for text, (taken, ours, identical, problem) in zip(texts, pool.map(lambda t: bench.check_file(t, arch), texts)):
        result.files += 1
        result.taken += taken
        result.ours += ours
        result.identical += identical
        if problem:
            result.problems.append(f"{text.name}: {problem}")
    if inputs.suffix(arch):
        result.has_kernels = False
        return result
    try:
        texts = list(inputs.kernels(arch, settings.producers, settings.tools, bench.work, settings.kernels))
    except Skip as reason:
        result.problems.append(str(reason))
        return result
    for (producer, text), (rows, problem) in zip(texts, pool.map(lambda t: bench.check_kernels(t[1], arch), texts)):
        if problem:
            result.problems.append(f"{text.name}: {problem}")
        for name, before, after, guarded in rows:
            result.kernels += 1
            result.inner.append((before["inner"], after["inner"]))
            result.total.append((before["instructions"], after["instructions"]))
            if is_worse(before, after):
                result.worse.append(f"{name} by {producer}")
            if is_worse(before, guarded):
                result.worse_guarded.append(f"{name} by {producer}")
    return result


def new_pool(jobs):
    return concurrent.futures.ThreadPoolExecutor(jobs)
