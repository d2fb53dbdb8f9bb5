"""A case of the fuzzer: how its kernel is generated, which pipeline runs with which knobs, how the kernel is launched.

Everything is drawn from the seed alone, so that a seed is the same case wherever the generator and the lists of passes and
knobs are the same. A case is stored as JSON, for those that come after a change of any of these.
"""
import dataclasses
import json
import random
import re
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "lib"))
from architectures import warps_and_blocks  # noqa: E402

ARCHITECTURES = ("sm_75", "sm_80", "sm_90")
FEATURES = ("arithmetic", "convert", "predicates", "copies", "packs", "carry", "wide", "memory", "vectors", "local", "generic",
            "branches", "switch", "irreducible", "loops", "pointers", "guards", "exits", "scopes", "shared", "exchange", "warp",
            "atomics", "calls", "dead", "bits", "expressions", "kept", "sections", "tables", "aggregates", "names")
TRIALS = 4
# Warp instructions of a launch. What the generator makes runs far shorter: the longest of 2,600 kernels of size 250 takes
# 379,000, as `ptxopt run --profile` counts them.
MAX_STEPS = 4_000_000


class ToolError(Exception):
    """The tool or the generator cannot be used at all."""


@dataclasses.dataclass
class Case:
    seed: int
    generator: list  # options of generate_kernel
    pipeline: list  # options of ptxopt
    launch: list = dataclasses.field(default_factory=list)  # options of ptxopt verify
    scalars: dict = dataclasses.field(default_factory=dict)  # parameter -> VALUE of --set
    plant: str = ""  # what is broken on purpose, plants.py

    def store(self, path):
        path.write_text(json.dumps(dataclasses.asdict(self), indent=1) + "\n")

    @staticmethod
    def load(path):
        return Case(**json.loads(path.read_text()))

    def read_launch(self, text):
        """Takes the launch from the comments at the kernel's start."""
        head = dict(re.findall(r"\b(grid|block|dynamic_shared)=(\S+)", text.partition(".version")[0]))
        self.launch = ["--grid", head["grid"], "--block", head["block"], "--shared", head["dynamic_shared"], "--trials",
                       str(TRIALS), "--max-steps", str(MAX_STEPS), "--seed", str(self.seed % 2**32)]
        for name, kind, value in re.findall(r" (\w+)=([uf]32):(\S+)", text.partition(".version")[0]):
            bits = struct.unpack("<I", struct.pack("<f", float(value)))[0] if kind == "f32" else int(value)
            self.scalars[name] = f"0x{bits:x}"


@dataclasses.dataclass
class Knob:
    """A number in a range or, if there are `values`, one of these names."""
    name: str
    default: int = 0
    least: int = 0
    most: int = 0
    values: list = dataclasses.field(default_factory=list)

    def draw(self, rnd):
        return rnd.choice(self.values) if self.values else draw_number(rnd, self.default, self.least, self.most)


@dataclasses.dataclass
class Lists:
    """What `ptxopt --list-passes`, `--list-knobs` and `--list-test-knobs` say."""
    passes: list
    knobs: list  # of Knob
    most_level: int  # of -O

    @staticmethod
    def ask(tool):
        # By name: what is drawn does not change with the order of the list.
        passes = sorted(line.split()[0] for line in output_of([tool, "--list-passes"]).splitlines())
        knobs = []
        for line in (output_of([tool, "--list-knobs"]) + output_of([tool, "--list-test-knobs"])).splitlines():
            match = re.match(r"(\S+)\s+(\S+) in (?:(-?\d+)\.\.(-?\d+)|(\S+\|\S+)) ", line)
            if not match:
                raise ToolError(f"a knob that is not understood: {line}")
            name, default, least, most, values = match.groups()
            knobs.append(Knob(name, values=values.split("|")) if values
                         else Knob(name, int(default), int(least), int(most)))
        if not passes:
            raise ToolError(f"{tool} lists no passes")
        level = re.search(r"-O LEVEL:INT in \[0 - (\d)\]", output_of([tool, "--help"]))
        return Lists(passes, knobs, int(level[1]) if level else 2)


def output_of(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolError(str(error)) from error


def draw_number(rnd, default, least, most):
    """One of the ends, a value near them or the default, or any, small ones as likely as large."""
    near = [least, most, default, least + 1, default - 1, default + 1, default * 2, default // 2]
    anywhere = least + min(most - least, int(2 ** rnd.uniform(0, max(1, most - least).bit_length())) - 1)
    return min(most, max(least, rnd.choice([*near, anywhere, anywhere])))


def draw_pipeline(rnd, lists):
    if rnd.random() < 0.3:
        options = [f"-O{rnd.randint(1, lists.most_level)}"]
        if rnd.random() < 0.3:
            options.append(f"--skip-pass={rnd.choice(lists.passes)}")
    else:
        longest = 2 * len(lists.passes) + 1
        options = ["--passes=" + ",".join(rnd.choices(lists.passes, k=rnd.randint(1, longest)))]
    for knob in lists.knobs:
        if rnd.random() < 0.3:
            options.append(f"--{knob.name}={knob.draw(rnd)}")
    if rnd.random() < 0.1:
        options.append("--reprint")
    return options


def draw_generator(rnd):
    options = ["--arch", rnd.choice(ARCHITECTURES)]
    if rnd.random() < 0.3:
        options += ["--size", str(rnd.choice([1, 5, 10, 20, 150, 250]))]
    if rnd.random() < 0.25:
        some = rnd.sample(FEATURES, rnd.randint(1, 6))
        options += ["--features", ",".join(f"{name}={rnd.choice([0, 30, 300, 1000])}" for name in some)]
    if rnd.random() < 0.2:
        options.append("--undefined-reads")
    return options


def draw_target(seed):
    """Now and then the kernel is optimized for another target than its own, of all that there are. Drawn apart, so that the rest
    of a seed's case does not depend on it."""
    rnd = random.Random(f"target {seed}")
    return [f"--arch=sm_{rnd.choice(sorted(warps_and_blocks()))}"] if rnd.random() < 0.3 else []


def draw(seed, lists):
    rnd = random.Random(seed)
    return Case(seed, draw_generator(rnd), draw_pipeline(rnd, lists) + draw_target(seed))


def generate(case, generator, path):
    """Writes the case's kernel to `path`, and fills in its launch."""
    text = output_of([generator, "--seed", str(case.seed), *case.generator])
    path.write_text(text)
    case.read_launch(text)
