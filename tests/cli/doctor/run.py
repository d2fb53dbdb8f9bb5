#!/usr/bin/env python3
"""ptxopt doctor: what it finds in a made-up machine, in both formats, what it says against it, and its exit code.

  tests/cli/doctor/run.py --tool PATH

The programs are scripts that answer as ptxas and nvcc do; the Python packages are folders. So nothing else is needed.
"""
import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "wrapper"))
import common  # noqa: E402
from choose import KERNEL, MIDDLE, NEW, fake  # noqa: E402
from common import environment, run  # noqa: E402

NVCC = """#!/bin/sh
case $1 in
  --version) echo 'Cuda compilation tools, release 13.0, V13.0.88';;
  --list-gpu-code) printf 'sm_80\\nsm_90\\n';;
esac
"""


class Doctor:
    def __init__(self, tool, folder):
        self.tool, self.folder, self.checks = tool, folder, common.Checks("doctor")
        self.drop_in = common.drop_in_of(tool)
        programs = folder / "programs"
        programs.mkdir()
        (programs / "python3").symlink_to(sys.executable)
        (programs / "env").symlink_to("/usr/bin/env")
        self.ptxas = fake(folder / "bin" / "ptxas", NEW)
        self.nvcc = common.script(folder / "bin" / "nvcc", NVCC)
        common.script(folder / "bin" / "clang++", "#!/bin/sh\n")
        common.script(folder / "bin" / "cmake", "#!/bin/sh\n")
        self.packages = folder / "packages"
        own = self.packages / "triton" / "backends" / "nvidia" / "bin"
        self.plain, self.second = fake(own / "ptxas", MIDDLE), fake(own / "ptxas-blackwell", NEW)
        for name in ("triton-3.9.0", "jax-0.10.2"):
            (self.packages / f"{name}.dist-info").mkdir()
        self.env = environment(PATH=f"{folder / 'bin'}:{programs}", PTXOPT_CACHE_DIR=folder / "cache", PTXOPT_CONFIG="/dev/null",
                               PTXOPT_PYTHON_PACKAGES=self.packages)
        for name in ("CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "XLA_FLAGS", "CUDA_ROOT", "TRITON_PTXAS_PATH", "PTXOPT_HOOKS", "CMAKE_CUDA_COMPILER_LAUNCHER"):
            self.env.pop(name, None)
        self.triton = {"TRITON_PTXAS_PATH": self.drop_in, "TRITON_PTXAS_BLACKWELL_PATH": self.drop_in + "-blackwell"}

    def ask(self, *words, **more):
        """The exit code and what JSON says."""
        result = run([self.tool, "doctor", "--format=json", *words], env={**self.env, **more})
        try:
            return result.returncode, json.loads(result.stdout)
        except ValueError:
            self.checks.check(False, f"{words} {more}: JSON", str(result))
            return result.returncode, {"ptxas": [], "nvcc": [], "clients": [], "problems": []}

    def healthy(self):
        code, found = self.ask()
        self.checks.equal((code, found["problems"]), (0, []), "nothing is wrong")
        first = found["ptxas"][0]
        faults = {fault["name"]: fault for fault in first.pop("known_faults", [])}
        self.checks.check("barrier-arrivals" in faults and "add-16x2-immediate" not in faults, "known faults of 13.4", str(faults))
        self.checks.check(faults.get("barrier-arrivals", {}).get("source", "").startswith("https://"), "a fault has its address", str(faults))
        self.checks.equal(first, {"path": self.ptxas, "origin": "PATH", "version": "V13.4.1", "newest_ptx": "9.4",
                                  "architectures": ["sm_80", "sm_90", "sm_100a"]}, "the ptxas of the PATH")
        own = {p["path"]: p["newest_ptx"] for p in found["ptxas"] if "Triton" in p["origin"]}
        self.checks.equal(own, {self.plain: "8.8", self.second: "9.4"}, "Triton's two")
        self.checks.equal([(p["path"], p["version"], p["architectures"]) for p in found["nvcc"]],
                          [(self.nvcc, "V13.0.88", ["sm_80", "sm_90"])], "nvcc")
        clients = {c["name"]: c for c in found["clients"]}
        hooked, steps = ["triton", "jax", "numba", "warp", "cupy", "torch", "tilelang", "cutedsl"], ["mojo", "taichi", "slang", "clang", "nvcc", "cmake"]
        self.checks.equal(list(clients), hooked + steps, "all clients")
        self.checks.equal([n for n, c in clients.items() if c["found"]], ["triton", "jax", "clang", "nvcc", "cmake"], "those that are here")
        self.checks.check(all(c["set"] for c in clients.values()), "each has its step", str(clients))
        self.checks.equal({n: c["calls_ptxopt"] for n, c in clients.items()},
                          {**dict.fromkeys(hooked, "no"), **dict.fromkeys(steps, "per-call")}, "none calls ptxopt")
        self.checks.equal([clients[n]["version"] for n in ("triton", "jax")], ["3.9.0", "0.10.2"], "versions of packages")
        text = run([self.tool, "doctor"], env=self.env)
        for line in ("ptxas, in the order in which they are tried:", f"  {self.ptxas} (PATH)", "    V13.4.1, PTX up to 9.4",
                     "    sm_80 sm_90 sm_100a", f"  {self.nvcc}", "configuration file: /dev/null", "log of calls: none; PTXOPT_LOG=FILE keeps one",
                     f"  Triton 3.9.0: {self.packages / 'triton'}", "    does not call ptxopt", "nothing is wrong"):
            self.checks.check(line in text.stdout.decode().splitlines(), f"text: {line!r}", text.stdout.decode())
        self.checks.equal((text.returncode, text.stderr), (0, b""), "text: exit code")

    def faults(self):
        """Of another release others."""
        found = {p["path"]: [f["name"] for f in p.get("known_faults", []) if f["evidence"] == "tried"] for p in self.ask()[1]["ptxas"]}
        self.checks.equal((found.get(self.plain), found.get(self.ptxas)),
                          (["add-16x2-immediate", "negated-maximum", "narrow-number-store"], []), "known faults, tried")

    def clients(self):
        code, found = self.ask("--client=triton")
        self.checks.equal((code, found["problems"]), (1, ["triton: Triton would not call ptxopt"]), "Triton is not told")
        self.checks.equal([c["name"] for c in found["clients"]], ["triton"], "one client")
        # What is to be set, set: by a shell.
        script = f"{found['clients'][0]['set']}; exec '{self.tool}' doctor --client=triton --format=json"
        result = run(["/bin/sh", "-c", script], env=self.env)
        self.checks.equal((result.returncode, json.loads(result.stdout)["clients"][0]["calls_ptxopt"]), (0, "yes"), "Triton is told")
        for settings, what in (({"TRITON_PTXAS_PATH": self.drop_in}, "TRITON_PTXAS_BLACKWELL_PATH is not ptxopt"),
                               ({**self.triton, "TRITON_PTXAS_BLACKWELL_PATH": self.drop_in}, "are the same path"),
                               ({**self.triton, "TRITON_PTXAS_PATH": "/nothing"}, "TRITON_PTXAS_PATH is '/nothing': no program")):
            for words in ((), ("--client=triton",)):
                code, found = self.ask(*words, **settings)
                self.checks.check(code == 1 and any(what in p for p in found["problems"]), f"{settings}: {what}", str(found["problems"]))
        self.hooks()
        cuda = self.folder / "cuda"
        common.link_as(self.drop_in, cuda / "bin")
        flags = f"--xla_gpu_cuda_data_dir={cuda} --xla_gpu_enable_libnvptxcompiler=false"
        code, found = self.ask("--client=jax", XLA_FLAGS=flags)
        self.checks.check(code == 1 and "xla_gpu_enable_libnvjitlink" in found["problems"][0], "JAX: a flag is missing", str(found["problems"]))
        code, found = self.ask("--client=jax", XLA_FLAGS=flags + " --xla_gpu_enable_libnvjitlink=false")
        self.checks.equal((code, found["clients"][0]["calls_ptxopt"]), (0, "yes"), "JAX is told")
        # A package that brings a ptxas counts before the flag, and CUDA_ROOT before both.
        wheel = fake(self.packages / "nvidia" / "cu13" / "bin" / "ptxas", NEW)
        flags += " --xla_gpu_enable_libnvjitlink=false"
        code, found = self.ask("--client=jax", XLA_FLAGS=flags)
        self.checks.check(code == 1 and "set CUDA_ROOT instead" in found["problems"][0], "JAX: the package's ptxas", str(found["problems"]))
        code, found = self.ask("--client=jax", XLA_FLAGS=flags, CUDA_ROOT=str(cuda))
        self.checks.equal((code, found["clients"][0]["calls_ptxopt"]), (0, "yes"), "JAX: CUDA_ROOT")
        Path(wheel).unlink()
        code, found = self.ask("--client=cmake", CMAKE_CUDA_COMPILER_LAUNCHER=f"{self.tool};nvcc")
        self.checks.equal((code, found["clients"][0]["calls_ptxopt"]), (0, "yes"), "CMake is told")
        code, found = self.ask("--client=clang", PATH=str(self.folder / "programs"))
        self.checks.check(code == 1 and "clang: clang is not found" in found["problems"], "no clang", str(found["problems"]))

    def hooks(self):
        """The hooks of the Python package, which $PTXOPT_HOOKS names, where the package is there."""
        code, found = self.ask("--client=triton", PTXOPT_HOOKS="triton")
        self.checks.check(code == 1 and "the Python package of ptxopt" in found["problems"][0], "a hook without the package", str(found["problems"]))
        file = self.packages / "ptxopt_hooks.pth"
        file.touch()
        for client in ("triton", "jax"):
            code, found = self.ask(f"--client={client}")
            self.checks.equal((code, found["clients"][0]["set"]), (1, f"export PTXOPT_HOOKS={client}"), f"{client}: the hook is what to set")
            for names, calls in ((client, "yes"), ("numba," + client, "yes"), ("all", "yes"), (client + "x", "no"), ("numba", "no")):
                code, found = self.ask(f"--client={client}", PTXOPT_HOOKS=names)
                self.checks.equal((code, found["clients"][0]["calls_ptxopt"]), (int(calls == "no"), calls), f"{client}: PTXOPT_HOOKS={names}")
        code, found = self.ask("--client=triton", PTXOPT_HOOKS="triton", TRITON_PTXAS_PATH=self.drop_in)
        self.checks.equal((code, found["problems"]), (0, []), "Triton: the hook besides one variable")
        code, found = self.ask("--client=triton", PTXOPT_HOOKS="triton", TRITON_PTXAS_PATH="/nothing")
        self.checks.check(code == 1 and "no program" in found["problems"][0], "Triton: the hook besides a variable that is wrong", str(found["problems"]))
        for variable, value, said in (("PTXOPT_HOOK_OPTIONS", '{"levle": 1}', "no option 'levle'; is level meant?"),
                                      ("PTXOPT_HOOK_OPTIONS", "[1]", "not a JSON object"), ("PTXOPT_HOOK_TABLE", "no", "neither 0 nor 1"),
                                      ("PTXOPT", "/nonexistent", "no such file")):
            code, found = self.ask("--client=triton", PTXOPT_HOOKS="triton", **{variable: value})
            self.checks.check(code == 1 and any(said in problem for problem in found["problems"]), f"{variable}={value}", str(found["problems"]))
        names = re.search(r"OPTION_NAMES = \((.*?)\)", (ROOT / "python/ptxopt/_hooks.py").read_text(), re.S)[1]
        options = json.dumps(dict.fromkeys(re.findall(r'"(\w+)"', names)))
        code, found = self.ask("--client=triton", PTXOPT_HOOKS="triton", PTXOPT_HOOK_OPTIONS=options)
        self.checks.equal((code, found["problems"]), (0, []), "all options of a hook")
        file.unlink()
        # Python reads such a file in its own folders of packages, not in those of $PYTHONPATH.
        code, found = self.ask("--client=triton", PTXOPT_HOOKS="triton", PYTHONPATH=str(ROOT / "python"))
        self.checks.check(code == 1 and "the Python package of ptxopt" in found["problems"][0], "a hook of $PYTHONPATH", str(found["problems"]))

    def producers(self):
        """Clients of a package: whether it is there, and the one step."""
        hooked = {"numba": "numba_cuda", "warp": "warp_lang", "cupy": "cupy_cuda13x", "torch": "torch", "tilelang": "tilelang",
                  "cutedsl": "nvidia_cutlass_dsl"}
        others = {"mojo": ("mojo", "mojo build --emit asm "), "taichi": ("taichi", " jit python SCRIPT"), "slang": ("slangpy", "slangc FILE.slang -target ptx ")}
        file = self.packages / "ptxopt_hooks.pth"
        for client, package in [*hooked.items(), *((name, package) for name, (package, _) in others.items())]:
            code, found = self.ask(f"--client={client}")
            self.checks.check(code == 1 and found["problems"][0].endswith(" is not found"), f"{client}: it is not there", str(found["problems"]))
            (self.packages / f"{package}-1.2.3.dist-info").mkdir()
        for client in hooked:
            code, found = self.ask(f"--client={client}")
            row = found["clients"][0]
            self.checks.equal((code, row["version"], row["calls_ptxopt"], row["set"]),
                              (1, "1.2.3", "no", f"python -m ptxopt {client} SCRIPT, with the Python package of ptxopt"), f"{client}: without the hook")
            file.touch()
            code, found = self.ask(f"--client={client}", PTXOPT_HOOKS=client)
            self.checks.equal((code, found["clients"][0]["calls_ptxopt"]), (0, "yes"), f"{client}: with the hook")
            file.unlink()
        for client, (_, step) in others.items():
            code, found = self.ask(f"--client={client}")
            row = found["clients"][0]
            self.checks.check((code, row["version"], row["calls_ptxopt"]) == (0, "1.2.3", "per-call") and step in row["set"], f"{client}: the step", str(row))

    def python_package(self):
        """Its programs are in a folder of their own, but for ptxopt-ptxas-blackwell, which is in PATH alone."""
        alone, programs = self.folder / "alone" / "ptxopt", self.folder / "scripts"
        alone.parent.mkdir()
        shutil.copy(self.tool, alone)
        drop_in = shutil.copy(self.drop_in, alone.with_name("ptxopt-ptxas"))
        programs.mkdir()
        second = programs / "ptxopt-ptxas-blackwell"
        shutil.copy(self.drop_in, second)
        result = run([alone, "doctor", "--client=triton", "--format=json"], env={**self.env, "PATH": f"{programs}:{self.env['PATH']}"})
        self.checks.equal(json.loads(result.stdout)["clients"][0]["set"],
                          f"export TRITON_PTXAS_PATH={drop_in} TRITON_PTXAS_BLACKWELL_PATH={second}", "programs that are there")

    def log(self):
        log, source = self.folder / "log", self.folder / "k.ptx"
        source.write_text(KERNEL.format("8.0"))
        code, found = self.ask("--client=triton", PTXOPT_LOG=str(log), **self.triton)
        self.checks.check(code == 0 and "last_call" not in found["clients"][0], "no call yet", str(found))
        log.write_text("no line of ours\n{\"a\": 1}\n")
        result = run([self.drop_in, "-arch=sm_80", source, "-o", self.folder / "out"],
                     env={**self.env, **self.triton, "PTXOPT_LOG": str(log), "PTXOPT_OPTIONS": "-O1"})
        self.checks.equal((result.returncode, result.stderr), (0, b""), "a call")
        last = self.ask("--client=triton", PTXOPT_LOG=str(log), **self.triton)[1]["clients"][0].get("last_call", {})
        self.checks.equal({k: last.get(k) for k in ("ptxas", "why", "architecture", "inputs", "changed")},
                          {"ptxas": self.plain, "why": "Triton's own", "architecture": "sm_80", "inputs": 1, "changed": 1}, "the last call")
        text = run([self.tool, "doctor"], env={**self.env, "PTXOPT_LOG": str(log)}).stdout.decode()
        self.checks.check("1 of 1 inputs changed" in text and "no call is in the log" in text, "text: the last call", text)

    def cache_key(self):
        """What compiler caches are to be told: another key for other options, by doctor and by nvcc."""
        keys = []
        facts = self.folder / "facts.json"
        with_facts = {"PTXOPT_OPTIONS": f"--facts {facts}"}
        for content, more in ((64, {}), (64, {"PTXOPT_OPTIONS": "-O1"}), (64, {"PTXOPT_OPTIONS": "--skip-pass=lsr"}), (64, {"PTXOPT_GUARD_RULE": "warps"}),
                              (64, {"PTXOPT_GUARD_TRIES": "0"}), (64, with_facts), (32, with_facts)):
            facts.write_text(f'{{"version": 1, "kernels": [{{"kernel": "k", "block": [{content}]}}]}}')
            printed = run([self.tool, "nvcc", "--print-cache-key"], env={**self.env, **more}).stdout.decode().strip()
            again = run([self.tool, "nvcc", "--print-cache-key"], env={**self.env, **more}).stdout.decode().strip()
            self.checks.equal((again, self.ask(**more)[1]["cache_key"]), (printed, printed), f"{more}: one key")
            keys.append(printed)
        self.checks.check(len(set(keys)) == len(keys) and all(re.fullmatch(r"ptxopt-[0-9a-f]{32}", k) for k in keys), "keys", str(keys))
        for name in ("CCACHE_NAMESPACE", "SCCACHE_C_CUSTOM_CACHE_BUSTER"):
            self.checks.equal(self.ask(**{name: f"mine-{keys[0]}"})[1]["problems"], [], f"{name}: the key")
            problems = self.ask(**{name: keys[1]})[1]["problems"]
            self.checks.check(len(problems) == 1 and name in problems[0] and keys[0] in problems[0], f"{name}: an old key", str(problems))

    def variables(self):
        """Every variable of the table is listed where it is set, and none is wrong that is right."""
        table = (ROOT / "src/commands/tool/options/environment.def").read_text() + (ROOT / "src/execute/capture/variables.def").read_text()
        names = re.findall(r"^(?:PTXOPT|CAPTURE)_VARIABLE\((PTXOPT_\w+),", table, re.M)
        values = {"PTXOPT_GUARD": "off", "PTXOPT_GUARD_RULE": "warps", "PTXOPT_GUARD_TRIES": "2", "PTXOPT_PTXAS": self.ptxas, "PTXOPT_OPTIONS": "-O1", "PTXOPT_CONFIG": "/dev/null",
                  "PTXOPT_LOG": f"{self.folder}/new/calls", "PTXOPT_LOG_LEVEL": "info", "PTXOPT_NVCC": self.nvcc,
                  "PTXOPT_GPU_DRIVER": self.tool, "PTXOPT_PYTHON_PACKAGES": self.packages, "PTXOPT_HOOKS": "", "PTXOPT_HOOK_OPTIONS": "{}",
                  "PTXOPT_HOOK_TABLE": "0", "PTXOPT_HOOK_LOG": "/dev/null", "PTXOPT_LIBRARY": self.tool, "PTXOPT_CACHE_DIR": self.folder / "cache",
                  "PTXOPT_CACHE_SIZE": "9", "PTXOPT_CAPTURE": "r%p.zip", "PTXOPT_CAPTURE_KERNEL": "*", "PTXOPT_CAPTURE_SKIP": "1",
                  "PTXOPT_CAPTURE_FIRST": "2", "PTXOPT_CAPTURE_MIB": "3", "PTXOPT_CAPTURE_MEMORY": "all", "PTXOPT_CAPTURE_PROFILE": "p.json",
                  "PTXOPT_JIT_TOOL": self.tool, "PTXOPT_JIT_BUDGET": "2", "PTXOPT_JIT_LOG": "/dev/null", "PTXOPT_JIT_VERBOSE": "1", "PTXOPT_JIT_COMPARE": "1,512,10"}
        values = {name: str(value) for name, value in values.items()}
        self.checks.equal(sorted(values), sorted(names), "the table has other names than this test")
        code, found = self.ask(**values)
        self.checks.equal((code, found["problems"]), (0, []), "all are right")
        self.checks.equal({n: found["variables"].get(n) for n in values}, values, "all are listed")
        self.checks.check(not (self.folder / "new").exists() and not list(self.folder.glob(".ptxopt-*")), "nothing is left")
        text = run([self.tool, "doctor"], env={**self.env, **values}).stdout.decode()
        self.checks.check(all(f"  {name}={value}\n" in text for name, value in values.items()), "text: all are listed", text)

    def wrong(self):
        config = self.folder / "config.json"
        config.write_text('{"guard": 1}')
        missing = str(self.folder / "nothing")
        cases = [({"PTXOPT_CONFIG": str(config)}, "config.json:1:2: error: 'guard' is to be a string"),
                 ({"PTXOPT_PTXAS": missing}, f"PTXOPT_PTXAS is '{missing}': there is no such file; '{self.ptxas}' is taken instead"),
                 ({"PTXOPT_PTXAS": "none"}, "the variable says that there is no ptxas"), ({"PTXOPT_NVCC": missing}, "PTXOPT_NVCC is"),
                 ({"CUDA_HOME": missing}, "CUDA_HOME is"), ({"PTXOPT_GAURD": "off"}, "is PTXOPT_GUARD meant?"),
                 ({"PTXOPT_GUARD": "x"}, "PTXOPT_GUARD: --guard: x"), ({"PTXOPT_GUARD_RULE": "x"}, "PTXOPT_GUARD_RULE: --guard-rule: x"),
                 ({"PTXOPT_GUARD_TRIES": "9"}, "PTXOPT_GUARD_TRIES: --guard-tries: Value 9"),
                 ({"PTXOPT_OPTIONS": "--guad=off"}, "PTXOPT_OPTIONS: "), ({"TMPDIR": missing}, f"cannot make a folder in '{missing}'"),
                 ({"PTXAS": "/bin/true"}, "/bin/true (PTXAS) does not answer as ptxas does")]
        folder, locked = str(self.folder), self.folder / "locked"
        locked.touch(0o444)
        for name, value, what in (("PTXOPT_LOG", folder, "it cannot be written: Is a directory"), ("PTXOPT_LOG", "/proc/nothing/log", "it cannot be written"),
                                  ("PTXOPT_HOOK_LOG", f"{config}/log", "it cannot be written: Not a directory"),
                                  ("PTXOPT_GPU_DRIVER", missing, "there is no such file"),
                                  ("PTXOPT_LIBRARY", folder, "it is not a file"), ("PTXOPT_HOOKS", "jax,trition", "there is no hook 'trition'; is triton meant?"),
                                  ("PTXOPT_HOOK_OPTIONS", "{", "it is not a JSON object"), ("PTXOPT_CAPTURE_FIRST", "many", "it is not a whole number"),
                                  ("PTXOPT_CAPTURE_MEMORY", "some", "it is neither all nor reached"), ("PTXOPT_CAPTURE_KERNEL", "", "it is empty"),
                                  ("PTXOPT_LOG_LEVEL", "loud", "not one of"), ("PTXOPT_CACHE_SIZE", "x", "not a number of MiB"),
                                  ("PTXOPT_PYTHON_PACKAGES", missing, "it is not a folder")):
            cases.append(({name: value}, f"{name} is '{value}': {what}" if name != "PTXOPT_PYTHON_PACKAGES" else f"{name} names '{value}': {what}"))
        if os.geteuid() != 0:
            cases.append(({"PTXOPT_LOG": str(locked)}, "it cannot be written: Permission denied"))
        if not os.path.exists("/usr/local/cuda/bin/ptxas"):
            cases.append(({"PATH": str(self.folder / "programs"), "PYTHONPATH": ""}, "there is no ptxas"))
        for settings, what in cases:
            code, found = self.ask(**settings)
            self.checks.check(code == 1 and any(what in p for p in found["problems"]), f"{settings}: {what}", str(found["problems"]))
            text = run([self.tool, "doctor"], env={**self.env, **settings})
            self.checks.check(text.returncode == 1 and "what is wrong:" in text.stdout.decode(), f"{settings}: text", str(text))
        self.checks.equal(run([self.tool, "doctor", "--client=gcc"], env=self.env).returncode, 2, "a client that is none")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool = str(Path(parser.parse_args().tool).resolve())
    with tempfile.TemporaryDirectory() as name:
        doctor = Doctor(tool, Path(name).resolve())
        doctor.healthy()
        doctor.faults()
        doctor.clients()
        doctor.producers()
        doctor.python_package()
        doctor.log()
        doctor.cache_key()
        doctor.variables()
        doctor.wrong()
    return doctor.checks.end()


if __name__ == "__main__":
    sys.exit(main())
