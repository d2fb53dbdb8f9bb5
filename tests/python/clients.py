#!/usr/bin/env python3
"""The hooks with the real frameworks, from PyPI, for named targets, without a GPU.

  tests/python/clients.py --tool PTXOPT [--only triton-3.6,warp] [--tutorials FOLDER] [--table]

The packages go into virtual environments (tests/lib/framework_packages.py). Each client compiles its script of kernels/ under
its hook; the records of the hook must have the kernels, some of them changed, and none of them in trouble. Triton also:
compiles the same PTX as ever without the hook and after uninstalling, gets the same cubins from the guard as from its own ptxas,
takes everything from its cache the second time, and autotunes, but for the timing. Numba and Triton 3.9 also run a program under
`ptxopt emulate`, with their hook and the profile of a run before, at the size of the profile and at another.
PyTorch, 5.3 GB, is tried on request: --only torch. --tutorials are the python/tutorials of Triton's sources, which are compiled instead of our kernels. Means of the guard's figures are printed, and with --table those of each kernel.
Skipped (77) where packages cannot be had, or without ptxas.
"""
import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import package
from package import ROOT

from checking import Counted  # noqa: E402
from code_figures import mean_ratio  # noqa: E402
from framework_packages import newest_ptxas, python_with  # noqa: E402

KERNELS = Path(__file__).resolve().parent / "kernels"
# A client: its hook, its environment, its script, the capabilities, and whether its PTX is newer than the machine's ptxas.
CLIENTS = {
    "triton-3.9": ("triton", "frameworks", KERNELS / "triton_kernels.py", ["80", "90", "100"], False),
    "triton-3.2": ("triton", "triton-3.2", KERNELS / "triton_kernels.py", ["80", "90"], False),
    "triton-3.5": ("triton", "triton-3.5", KERNELS / "triton_kernels.py", ["80", "90", "100"], False),
    "triton-3.6": ("triton", "triton-3.6", KERNELS / "triton_kernels.py", ["80", "90", "100"], False),
    "triton-3.7": ("triton", "triton-3.7", KERNELS / "triton_kernels.py", ["80", "90", "100"], False),
    "triton-3.8": ("triton", "triton-3.8", KERNELS / "triton_kernels.py", ["80", "90", "100"], False),
    "numba": ("numba", "frameworks", KERNELS / "numba_kernels.py", ["80", "90", "100"], True),
    "warp": ("warp", "warp", KERNELS / "warp_kernels.py", ["80", "90"], True),
    "cupy": ("cupy", "cupy", KERNELS / "cupy_kernels.py", ["80", "90"], False),
    "jax": ("jax", "jax", KERNELS / "jax_kernels.py", ["80", "90"], False),
    "torch": ("torch", "torch", KERNELS / "torch_kernels.py", ["80", "90"], False),
}
USUAL = ("triton-3.2", "triton-3.9", "numba", "warp", "cupy", "jax")
COLUMNS = ("kernel", "target", "changed", "registers", "machine instructions", "spilled bytes", "modelled cycles")


ADDR_NO_RANDOMIZE = 0x0040000  # of <sys/personality.h>


def with_fixed_addresses():
    """In a child: some ptxas name registers by the addresses of their own memory, and cubins are to be compared."""
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)


class Client:
    def __init__(self, t, name, python, folder, more, arguments):
        self.t, self.name, self.folder = t, name, folder
        self.hook, _, self.script, self.capabilities, _ = CLIENTS[name]
        self.python, self.arguments, self.more = python, arguments, more

    def run(self, *head, **more):
        """Standard output, and the records of the hook."""
        log = self.folder / "records"
        log.unlink(missing_ok=True)
        environment = {**os.environ, **self.more, "PTXOPT_HOOK_LOG": str(log), "PTXOPT_HOOK_TABLE": "0",
                       "TRITON_CACHE_DIR": str(self.folder / "triton"), "PTXOPT_CACHE_DIR": str(self.folder / "cache"), **more}
        done = subprocess.run([self.python, *head, str(self.script), *self.arguments, *self.capabilities], capture_output=True, text=True,
                              env=environment, cwd=self.folder, timeout=900, preexec_fn=with_fixed_addresses)
        self.t.check(done.returncode == 0, f"{self.name}: {done.stderr[-3000:]}")
        if log.exists():
            return done.stdout, [json.loads(line) for line in log.read_text().splitlines()]
        return done.stdout, []

    def hooked(self, **more):
        return self.run("-m", "ptxopt", self.hook, **more)


# Kernels of JAX are often a few loads and stores: few of them change.
LEAST_CHANGED = {"jax": 20}


def triton(client, made, records):
    # The guard's answers are known now: it makes no cubins, Triton's ptxas does.
    by_triton, _ = client.hooked(TRITON_CACHE_DIR=str(client.folder / "by-triton"))
    client.t.check(by_triton == made, f"{client.name}: what the guard's ptxas made is not what Triton's makes: {made} {by_triton}")
    plain, none = client.run()
    client.t.check(not none, f"{client.name}: without the hook there are records")
    _, again = client.hooked()
    client.t.check(not again, f"{client.name}: the second time {len(again)} kernels were compiled")
    unguarded, other = client.hooked(PTXOPT_GUARD="off")
    client.t.check(len(other) == len(records), f"{client.name}: another guard is distinguished")
    client.t.check(unguarded != plain, f"{client.name}: the PTX is what it is without us")
    code = ("import ptxopt.triton, triton, sys, runpy; ptxopt.triton.install(); ptxopt.triton.uninstall(); "
            "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')")
    after, none = client.run("-c", code, TRITON_CACHE_DIR=str(client.folder / "another"))
    client.t.check(after == plain and not none, f"{client.name}: uninstalled, Triton is not as it was")


def autotuning(client):
    """Each configuration is compiled once, by the hook."""
    client.script, client.arguments, client.capabilities = KERNELS / "triton_autotune.py", [], []
    made, records = client.hooked(TRITON_CACHE_DIR=str(client.folder / "autotune"))
    client.t.check(made.split() == ["4", "4"] and [r["changed"] for r in records] == [True] * 4, f"{client.name}: autotuning: {made} {records}")


def emulated(client, tool):
    """The program checks its results. Where the kernel changes, launches run both ways and are equal."""
    client.script = KERNELS / f"{client.hook}_emulated.py"
    profile = client.folder / "profile"
    python, emulate = client.python, [tool, "emulate"]
    environment = {**os.environ, **client.more, "TRITON_CACHE_DIR": str(client.folder / "emulated"), "PTXOPT_HOOK_TABLE": "0",
                   "PTXOPT_HOOK_LOG": str(client.folder / "of-profile"), "PTXOPT_HOOK_OPTIONS": json.dumps({"profile": str(profile)})}
    for head, size in ((["--profile-facts", profile, python], None), ([python, "-m", "ptxopt", client.hook], None),
                       ([python, "-m", "ptxopt", client.hook], "45"), (["--compare", python], "45")):
        done = subprocess.run([*emulate, *head, client.script, *([size] if size else [])], capture_output=True, text=True,
                              env=environment, cwd=client.folder, timeout=900)
        client.t.check(done.returncode == 0 and "passed" in done.stdout, f"{client.name}: {head}: {done.stdout} {done.stderr[-3000:]}")
    records = [json.loads(line) for line in (client.folder / "of-profile").read_text().splitlines()]
    client.t.check(records and not any(r["trouble"] for r in records), f"{client.name}: by the profile: {records}")
    print("\n".join(" ".join(("emulated, with its profile:", *row_of(r)[:-1])) for r in records))


def cupy_by_profile(client, tool):
    """CuPy has the CUDA runtime in it, so its kernel is profiled in the interpreter: by the profile it gets a body of its own."""
    environment = {**os.environ, **client.more}
    plain = subprocess.run([client.python, client.script, "80"], env=environment, cwd=client.folder, timeout=900, check=False)
    launch = "--kernel sums_in_memory --grid 1 --block 32 --arg buf:f32:32:zero buf:f32:2048:random s32:64 --profile-facts profile"
    run = subprocess.run([tool, "run", "sums-80.ptx", *launch.split()], env=environment, cwd=client.folder, timeout=900, check=False)
    client.t.check(plain.returncode == 0 and run.returncode == 0, "cupy: no profile")
    client.capabilities = ["80"]
    _, records = client.hooked(PTXOPT_HOOK_OPTIONS=json.dumps({"profile": str(client.folder / "profile")}))
    text = (client.folder / "sums-80.ptx").read_text()
    client.t.check("made_L" in text and not any(r["trouble"] for r in records), f"cupy: by the profile: {records}")
    print("\n".join(" ".join(("with its profile:", *row_of(r))) for r in records))


def row_of(record):
    from ptxopt import _html
    registers, instructions, spills, _, cycles = _html.steps(record["before"], record["after"])
    changed = "kept: " + record["kept"] if record["kept"] else "yes" if record["changed"] else "no"
    return (f"`{record['kernel'][:40]}`", record["arch"], changed, registers, instructions, spills, cycles)


def means_of(records):
    """For each target, the geometric means of the guard's figures; 1 for a kernel that it was not asked about."""
    from ptxopt import _html
    instructions, cycles = ([title for _, title in _html.SHOWN].index(title) for title in ("machine instructions", "modelled cycles"))
    for arch in dict.fromkeys(r["arch"] for r in records):
        these = [r for r in records if r["arch"] == arch]
        pairs = [(_html.figures(r["before"]), _html.figures(r["after"])) if r["before"] else ([1] * len(_html.SHOWN),) * 2 for r in these]
        ratios = [mean_ratio([(before[at], after[at]) for before, after in pairs]) for at in (instructions, cycles)]
        changed, kept = (sum(bool(r[key]) for r in these) for key in ("changed", "kept"))
        yield (f"  {arch}: {len(these)} kernels, {changed} changed, {kept} kept by the guard: machine instructions x{ratios[0]:.3f}, "
               f"modelled cycles x{ratios[1]:.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=os.path.abspath)
    parser.add_argument("--only", default=",".join(USUAL), help=f"of {', '.join(CLIENTS)}")
    parser.add_argument("--tutorials", type=os.path.abspath)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    package.use(args.tool)
    os.environ.pop("PTXOPT_GUARD", None)  # each client's own ptxas is asked
    os.environ["PATH"] += ":/usr/local/cuda/bin"
    if not shutil.which("ptxas"):
        print("clients: skipped: there is no ptxas")
        return 77
    t = Counted("clients")
    for name in args.only.split(","):
        hook, environment, _, _, is_new = CLIENTS[name]
        python, why = python_with(environment)
        newest, why_no_ptxas = newest_ptxas() if is_new else ("", "")
        if python is None or newest is None:
            print(f"clients: skipped: {name} cannot be had: {why or why_no_ptxas}")
            return 77
        with tempfile.TemporaryDirectory() as folder:
            more = {"PTXOPT_PTXAS": newest} if is_new else {}
            arguments = ["--tutorials", args.tutorials] if args.tutorials and hook == "triton" else []
            client = Client(t, name, python, Path(folder), more, arguments)
            made, records = client.hooked()
            trouble = [r["trouble"] for r in records if r["trouble"]]
            t.check(records and not trouble, f"{name}: {trouble}")
            changed = [r for r in records if r["changed"]]
            t.check(len(changed) * LEAST_CHANGED.get(name, 3) >= len(records), f"{name}: {len(changed)} of {len(records)} kernels are changed")
            print(f"{name}: {len(records)} kernels, {len(changed)} changed, {sum(bool(r['kept']) for r in records)} kept by the guard")
            print("\n".join(means_of(records)))
            if hook == "triton":
                triton(client, made, records)
                autotuning(client)
            if name in ("triton-3.9", "numba"):
                emulated(client, args.tool)
            if name == "cupy":
                cupy_by_profile(client, args.tool)
            if args.table:
                print("\n".join("| " + " | ".join(row) + " |" for row in [COLUMNS, ("---",) * len(COLUMNS), *map(row_of, records)]))
    print(f"clients: {t.checks - t.wrong} passed, {t.wrong} failed")
    return 1 if t.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
