"""What one ptxas makes, for one architecture, of the inputs, of their reprint, and of what ptxopt makes of them."""
import concurrent.futures
from dataclasses import asdict, dataclass, field

import guard_rule
import inputs
import machine_code
from bench import Refused
from compilers import Skip, read

REPRINT = ["-O0", "--reprint"]


@dataclass
class Result:
    """Of a ptxas and an architecture."""
    files: int = 0
    taken: int = 0  # by ptxas as they are, or lowered
    ours: int = 0  # of those whose -O2 it takes, too
    identical: int = 0  # of those whose reprint becomes the same machine code
    kernels: int = 0
    inner: dict = field(default_factory=dict)  # by producer: (before, after) of each kernel
    whole: dict = field(default_factory=dict)
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


def check_file(bench, text, arch):
    """(whether it is taken, whether ours is, whether the reprint is identical, problem)"""
    source = bench.stored(inputs.lowered(text.text, arch, bench.toolchain.newest))
    try:
        code = bench.code(source, arch)
    except machine_code.AssemblyError:
        return False, False, False, ""
    problems, ours, identical = [], False, False
    try:
        output = bench.made(source, "-O2", "--guard=off", "--arch", arch)
        if read(output) != read(source):
            bench.code(output, arch)
        ours = True
    except (Refused, machine_code.AssemblyError) as error:
        problems.append(f"-O2: {error}")
    try:
        output = bench.made(source, *REPRINT)
        different = machine_code.differing(code, bench.code(output, arch)) if read(output) != read(source) else []
        identical = not different
        if different:
            problems.append("other machine code when reprinted: " + ", ".join(different[:3]))
    except (Refused, machine_code.AssemblyError) as error:
        problems.append(f"reprint: {error}")
    return True, ours, identical, "; ".join(problems)


def check_kernels(bench, text, arch):
    """([(name, before, after, guarded)], problem); guarded is after where no kernel got worse."""
    source = bench.stored(inputs.lowered(text.text, arch, bench.toolchain.newest))
    try:
        before = bench.figures(source, arch)
    except Refused:
        return [], ""
    try:
        output = bench.made(source, "-O2", "--guard=off", "--arch", arch)
        after = guarded = bench.figures(output, arch)
        if any(is_worse(row, after[name]) for name, row in before.items()):
            output = bench.made(source, "-O2", "--guard=ptxas", "--arch", arch, "--ptxas", bench.toolchain.path)
            guarded = bench.figures(output, arch)
    except Refused as error:
        return [], f"-O2: {error}"
    return [(name, row, after[name], guarded[name]) for name, row in before.items()], ""


def is_worse(before, after):
    """By the guard's usual rule."""
    return guard_rule.by_time(before, after) > 0


def measure(bench, arch, settings, pool):
    """`settings`: producers, tools, and one of how many files and kernels."""
    result = Result()
    texts = inputs.files(arch, settings.files)
    for text, (taken, ours, identical, problem) in zip(texts, pool.map(lambda t: check_file(bench, t, arch), texts)):
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
    for (producer, text), (rows, problem) in zip(texts, pool.map(lambda t: check_kernels(bench, t[1], arch), texts)):
        if problem:
            result.problems.append(f"{text.name}: {problem}")
        for name, before, after, guarded in rows:
            result.kernels += 1
            result.inner.setdefault(producer, []).append((before["inner"], after["inner"]))
            result.whole.setdefault(producer, []).append((before["instructions"], after["instructions"]))
            if is_worse(before, after):
                result.worse.append(f"{name} by {producer}")
            if is_worse(before, guarded):
                result.worse_guarded.append(f"{name} by {producer}")
    return result


def new_pool(jobs):
    return concurrent.futures.ThreadPoolExecutor(jobs)
