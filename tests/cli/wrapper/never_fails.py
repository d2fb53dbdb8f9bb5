#!/usr/bin/env python3
"""The drop-in never fails where ptxas would not, whatever is in its cache, its configuration file and its environment.

  tests/cli/wrapper/never_fails.py --tool PATH [--seeds 1..40]

Each seed damages several of these at a time: entries of the cache, the folder of the cache, the configuration file, variables,
limits and standard streams. The call has to end as ptxas does by itself, with code 0, with a cubin that has the kernel, and
soon. What goes wrong first is tried alone, too (FIXED). Files of the user that lie about have to stay. Skipped (77) without
ptxas.
"""
import argparse
import os
import random
import resource
import shutil
import sys
import tempfile
from pathlib import Path

import common
from common import environment, run

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<9>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [p];
  ld.global.u32 %r1, [%d1];
  div.u32 %r2, %r1, 12345;
  st.global.u32 [%d1], %r2;
  ret;
}
"""
GARBAGE = bytes(range(256)) * 8
LIMIT = 60  # seconds for a call that takes 0.2


def entry_damages(rng):
    """Ways to damage a file of the cache, each a function of its path."""
    def becomes(make):
        def damage(path):
            path.unlink()
            make(path)
        return damage

    def sparse(path):
        with path.open("r+b") as file:
            file.truncate(100 << 30)

    def valued(value):
        """Keeps the first line, which is then wrong. Entries with a right one: tests/unit/measure/ptxas_measures_test.cpp."""
        return lambda path: path.write_bytes(path.read_bytes().split(b"\n", 1)[0] + b"\n" + value)

    return [sparse, valued(b"[" * 3_000_000), valued(b""), valued(GARBAGE), lambda p: p.write_bytes(b""),
            lambda p: p.write_bytes(GARBAGE), lambda p: p.write_bytes(p.read_bytes()[:rng.randrange(60)]), lambda p: p.chmod(0),
            becomes(lambda p: p.mkdir()), becomes(os.mkfifo), becomes(lambda p: p.symlink_to("/dev/zero")),
            becomes(lambda p: p.symlink_to(p.name)), becomes(lambda p: (p.mkdir(), (p / "mine").write_text("mine")))]


def folder_damages():
    """Ways to damage the folder of the cache, each a function of it."""
    def is_file(cache):
        shutil.rmtree(cache)
        cache.write_text("mine")

    def is_link(cache):
        cache.rename(cache.with_name("moved"))
        cache.symlink_to("moved")

    def part_is_link(cache):
        (cache / "measures").rename(cache / "moved")
        (cache / "measures").symlink_to("moved")

    return [is_file, is_link, part_is_link, lambda c: c.chmod(0o777), lambda c: (c / "measures").chmod(0o777), lambda c: c.chmod(0),
            lambda c: shutil.rmtree(c), lambda c: (shutil.rmtree(c / "measures"), os.mkfifo(c / "measures"))]


CONFIGS = [b"", b"{", b"[" * 1_000_000, b'{"a":' * 100_000, b"null", b"[]", GARBAGE, b'{"guard": "x"}', b'{"guard_rule": 7}',
           b'{"options": "--nope"}', b'{"options": "\\u0000"}', b'{"cache_size": 1e999}', b'{"cache_size": 18446744073709551615}',
           b'{"cache_dir": ""}', b'{"log": "/"}', b'{"ptxas": "/proc/nothing"}', b'{"options": "-v --report=/proc/nothing/r.json"}',
           b"\xff\xfe{}", b" " * 2_000_000, "folder", "fifo", "missing", "unreadable", "loop", "/dev/zero", "/dev/null"]

VALUES = {
    "PTXOPT_OPTIONS": ["--guad", "'", "-O9", "-O3", "-j 1025", "--passes=nope", "--report=/proc/nothing/r", "--keep-ptx", "\\", "-v" * 3000,
                       "--guard=ptxas --ptxas /proc/nothing", "--ptxas-timeout=-1", "--ptxas-timeout=1e-9"],
    "PTXOPT_GUARD": ["x", "off", "ptxas", "estimate", "auto"], "PTXOPT_GUARD_RULE": ["x", "warps", "time"],
    "PTXOPT_GUARD_TRIES": ["x", "-1", "9", "0"],
    "PTXOPT_PTXAS": ["/proc/nothing", "/", "none"], "PTXAS": ["/proc/nothing", "/dev/null"],
    "PTXOPT_LOG": ["/proc/nothing/log", "/", "/dev/full", "{fifo}"], "PTXOPT_CACHE_SIZE": ["x", "-1", "0", "99999999999999999999", "1"],
    "PTXOPT_CACHE_DIR": ["", "/proc/x", "relative", "/dev/null", "{long}"], "PTXOPT_GUARDS": ["x"],
    "TMPDIR": ["/proc/nothing", "/proc", "{file}", "relative", "{long}"], "HOME": ["/proc/nothing", "relative", "{file}"],
    "XDG_CACHE_HOME": ["relative", "/proc/nothing", "{file}"], "XDG_CONFIG_HOME": ["relative", "/proc/nothing", "{file}"],
    "PTXOPT_PYTHON_PACKAGES": ["/proc/nothing:x"], "CUDA_HOME": ["/proc/nothing", "{file}"], "PTXOPT_NVCC": ["/proc/nothing"],
    "PTXOPT_GPU_DRIVER": ["/proc/nothing"], "NO_COLOR": ["1"], "GLIBC_TUNABLES": ["x"],
}

FILE_LIMIT = (resource.RLIMIT_FSIZE, 65536)  # there is room for the cubin
LIMITS = [FILE_LIMIT, (resource.RLIMIT_NOFILE, 24), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, 50)]
STREAMS = [(0,), (1,), (2,), (1, 2), (0, 1, 2)]


class Case:
    """A folder with a kernel, a cache that has its answers, and files of the user."""

    def __init__(self, program, ptxas, folder, template):
        self.program, self.ptxas, self.folder = program, ptxas, folder
        shutil.copytree(template, folder)
        self.cache, self.config, self.out = folder / "cache", folder / "config.json", folder / "k.cubin"
        os.mkfifo(folder / "fifo")
        self.mine = [folder / "cache" / "measures" / "notes.txt", folder / "cache" / "notes.txt", folder / "notes.txt"]
        for path in self.mine:
            path.write_text("mine" * 1000)
        self.variables = {"PTXOPT_CACHE_DIR": self.cache, "PTXOPT_GUARD": "ptxas", "PTXOPT_CACHE_SIZE": "0"}
        self.streams, self.limits, self.done = (), [], []

    def damage_entries(self, rng, which=None):
        damages = entry_damages(rng)
        for path in sorted(p for p in self.cache.glob("measures/??/*") if p.is_file() and len(p.name) == 30):
            number = rng.randrange(len(damages)) if which is None else which
            damages[number](path)
            self.done.append(f"entry {number}")

    def damage_folder(self, number):
        folder_damages()[number](self.cache)
        self.mine = self.mine[2:]  # they are elsewhere, or gone
        self.done.append(f"folder {number}")

    def set_config(self, number):
        config = CONFIGS[number]
        self.done.append(f"configuration {number}")
        self.variables["PTXOPT_CONFIG"] = self.config
        if isinstance(config, bytes):
            self.config.write_bytes(config)
        elif config.startswith("/"):
            self.variables["PTXOPT_CONFIG"] = config
        elif config == "folder":
            self.config.mkdir()
        elif config == "fifo":
            os.mkfifo(self.config)
        elif config == "loop":
            self.config.symlink_to(self.config)
        elif config == "unreadable":
            self.config.write_text("{}")
            self.config.chmod(0)

    def set_variable(self, name, number):
        value = VALUES[name][number]
        for word, meant in (("{fifo}", self.folder / "fifo"), ("{file}", self.folder / "notes.txt"), ("{long}", "/" + "x" * 5000)):
            value = value.replace(word, str(meant))
        self.variables[name] = value
        self.done.append(f"{name}={value[:60]}")

    def prepare(self):
        for what, limit in self.limits:
            resource.setrlimit(what, (limit, limit))
        for stream in self.streams:
            os.close(stream)

    def call(self, checks):
        named = {"PTXOPT_PTXAS", "PTXAS"} & set(self.variables)
        env = {**environment(None if named else self.ptxas), "PTXOPT_GUARD": "", "PATH": f"{Path(self.ptxas).parent}:{os.environ['PATH']}"}
        env |= {name: str(value) for name, value in self.variables.items()}
        if env["PTXOPT_GUARD"] == "":
            env.pop("PTXOPT_GUARD")  # where the configuration file may set it
        what = "; ".join(self.done + [f"closed {self.streams}" * bool(self.streams), f"limits {self.limits}" * bool(self.limits)])
        try:
            result = run([self.program, "-arch=sm_80", "k.ptx", "-o", "k.cubin"], cwd=self.folder, env=env, timeout=LIMIT,
                         preexec_fn=self.prepare)
        except Exception as wrong:  # it takes too long, or the system does not let it begin
            return checks.check(False, f"{what}: {wrong}")
        checks.equal(result.returncode, 0, f"{what}: {result.stderr[-500:]}")
        checks.check(self.out.exists() and common.kernels(self.out) == ["k"], f"{what}: no cubin")
        for path in self.mine:
            checks.check(path.exists() and path.read_text() == "mine" * 1000, f"{what}: {path.name} of the user is gone")
        return result


def fixed(rng):
    """Each damage alone."""
    for number in range(len(entry_damages(rng))):
        yield lambda c, n=number: c.damage_entries(rng, n)
    for number in range(len(folder_damages())):
        yield lambda c, n=number: c.damage_folder(n)
    for number in range(len(CONFIGS)):
        yield lambda c, n=number: c.set_config(n)
    for name, values in VALUES.items():
        for number in range(len(values)):
            yield lambda c, v=name, n=number: c.set_variable(v, n)
    for limit in LIMITS:
        yield lambda c, l=limit: c.limits.append(l)
    for streams in STREAMS:
        yield lambda c, s=streams: setattr(c, "streams", s)


def damage(case, rng):
    """Several at a time."""
    if rng.random() < 0.6:
        case.damage_entries(rng)
    if rng.random() < 0.3:
        case.damage_folder(rng.randrange(len(folder_damages())))
    if rng.random() < 0.4:
        case.set_config(rng.randrange(len(CONFIGS)))
    for name in rng.sample(sorted(VALUES), rng.randrange(4)):
        case.set_variable(name, rng.randrange(len(VALUES[name])))
    if rng.random() < 0.3:
        case.limits.append(rng.choice(LIMITS))
    if rng.random() < 0.2:
        case.streams = rng.choice(STREAMS)


def is_said(checks, make):
    """A wrong value is never passed over in silence: the variable, or the file, and the value are in a warning."""
    for name, value in (("PTXOPT_GUARD", "x"), ("PTXOPT_GUARD_RULE", "x"), ("PTXOPT_GUARD_TRIES", "x"), ("PTXOPT_OPTIONS", "--guad"), ("PTXOPT_CACHE_SIZE", "x"),
                        ("PTXOPT_LOG", "/proc/nothing/log"), ("PTXOPT_PTXAS", "/proc/nothing"), ("PTXOPT_PYTHON_PACKAGES", "/proc/nothing:x"),
                        ("TMPDIR", "/proc/nothing"), ("CUDA_HOME", "/proc/nothing"), ("PTXOPT_CACHE_DIR", "/dev/null")):
        case = make()
        case.variables.pop("PTXOPT_GUARD", None)
        case.variables |= {"PTXOPT_CACHE_SIZE": "1", name: value}
        if name == "CUDA_HOME":
            case.variables["PTXOPT_PTXAS"] = ""
        if name == "TMPDIR":
            case.variables["PTXOPT_CACHE_DIR"] = ""
        result = case.call(checks)
        text = result.stderr.decode(errors="replace") if result else ""
        value = value.split(":")[-1]
        checks.check("ptxopt: warning: " in text and value in text and (name in text or name in ("TMPDIR", "PTXOPT_LOG")),
                     f"{name}={value}: {text}")
    for number, config in enumerate(CONFIGS):
        if config in (b"", b" " * 2_000_000, "/dev/null") or (isinstance(config, bytes) and b"\"log\"" in config):
            continue
        case = make()
        case.variables.pop("PTXOPT_GUARD", None)
        if config == b'{"cache_dir": ""}' or (config == "unreadable" and os.geteuid() == 0):
            continue
        case.variables.pop("PTXOPT_CACHE_SIZE")
        case.set_config(number)
        result = case.call(checks)
        text = result.stderr.decode(errors="replace") if result else ""
        if config != b'{"ptxas": "/proc/nothing"}':  # $PTXOPT_PTXAS counts
            checks.check("ptxopt: warning: " in text, f"configuration {number}: {config[:40]!r}: {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--seeds", default="1..40", help="FIRST..LAST")
    arguments = parser.parse_args()
    ptxas = common.real_ptxas()
    if ptxas is None:
        print("never_fails: skipped: no ptxas")
        return 77
    program = common.drop_in_of(str(Path(arguments.tool).resolve()))
    checks = common.Checks("never_fails")
    first, last = map(int, arguments.seeds.split(".."))
    with tempfile.TemporaryDirectory() as name:
        base, made = Path(name), 0
        template = base / "template"
        template.mkdir()
        (template / "k.ptx").write_text(KERNEL)
        warm = environment(ptxas, PTXOPT_GUARD="ptxas", PTXOPT_CACHE_DIR=template / "cache")
        run([program, "-arch=sm_80", "k.ptx", "-o", "warm.cubin"], cwd=template, env=warm)
        checks.check(len(list((template / "cache").glob("measures/??/*"))) >= 2, "the cache has answers")

        def make():
            nonlocal made
            made += 1
            return Case(program, ptxas, base / str(made), template)

        is_said(checks, make)
        for apply in fixed(random.Random(0)):
            case = make()
            apply(case)
            case.call(checks)
        for seed in range(first, last + 1):
            case, rng = make(), random.Random(seed)
            case.done.append(f"seed {seed}")
            damage(case, rng)
            case.call(checks)
        for path in base.rglob("*"):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
