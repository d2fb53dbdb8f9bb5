#!/usr/bin/env python3
"""The drop-in ptxas when something goes wrong: it never fails where ptxas would not, and otherwise fails like ptxas.

  tests/cli/wrapper/faults.py --tool PATH

Behind it stands a script that fails, hangs, prints garbage, is killed by a signal, or does so with optimized PTX only:
it knows that by a dead instruction that is gone. No ptxas is needed.
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common
from common import environment, run

SLOW = "div.u32 %r2, %r1, 12345;"  # which -O2 makes a multiplication
GARBAGE = bytes(range(256)) * 40

# Ends as $FAKE says, with any PTX or, if that begins with `only-`, with optimized PTX. Writes what it got to $GOT.
FAKE = f"""#!/bin/sh
out=elf.o input=
while [ $# -gt 0 ]; do
  case "$1" in -o) out=$2; shift;; *.ptx|/*|-) input=$1;; esac
  shift
done
[ "$input" != - ] || {{ cat > "$GOT.stdin"; input=$GOT.stdin; }}
cat "$input" > "$GOT"
fake=${{FAKE#only-}}
[ "$fake" = "$FAKE" ] || ! grep -q 12345 "$input" || fake=well
case $fake in
  well) cp "$input" "$out"; echo said; echo complained >&2;;
  fail) echo said; echo complained >&2; exit 3;;
  name) echo "$input is wrong"; echo "$input is wrong" >&2; exit 3;;
  garbage) cat {{garbage}}; cat {{garbage}} >&2;;
  crash) kill -SEGV $$;;
  abort) kill -ABRT $$;;
  hang) trap 'echo ended > "$GOT.ended"; exit 143' TERM; echo $$ > "$GOT.pid"; sleep 100 & wait;;
esac
"""

KERNEL = f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {{
  .reg .b32 %r<100>; .reg .b64 %d;
  ld.param.u64 %d, [p];
  ld.global.u32 %r1, [%d];
  {SLOW}
  st.global.u32 [%d], %r2;
  ret;
}}
"""


class Faults:
    def __init__(self, tool, folder):
        self.tool, self.folder, self.checks = tool, folder, common.Checks("faults")
        self.drop_in = common.link_as(tool, folder / "bin")
        (folder / "garbage").write_bytes(GARBAGE)
        self.fake = common.script(folder / "fake", FAKE.replace("{garbage}", str(folder / "garbage")))
        self.input, self.got, self.out = folder / "in.ptx", folder / "got", folder / "out"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.input.write_text(KERNEL)

    def environment(self, fake, ptxas=None, **more):
        more.setdefault("TMPDIR", self.temporary)
        return environment(ptxas or self.fake, FAKE=fake, GOT=self.got, **more)

    def call(self, fake, arguments=None, **keywords):
        self.out.unlink(missing_ok=True)
        env = self.environment(fake, **keywords.pop("env", {}))
        result = run([self.drop_in, *(arguments or ["-arch=sm_80", self.input, "-o", self.out])], cwd=self.folder, env=env, **keywords)
        self.checks.equal(list(self.temporary.iterdir()), [], f"{fake}: nothing is left in the temporary folder")
        return result

    def warnings(self, result):
        return [line for line in result.stderr.decode(errors="replace").splitlines() if line.startswith("ptxopt: warning: ")]

    def ends_like_it(self):
        """Whatever ptxas does with any PTX, it comes through."""
        for fake, code, out, err in (("well", 0, b"said\n", b"complained\n"), ("fail", 3, b"said\n", b"complained\n"),
                                     ("garbage", 0, GARBAGE, GARBAGE), ("crash", -signal.SIGSEGV, b"", b""),
                                     ("abort", -signal.SIGABRT, b"", b"")):
            result = self.call(fake)
            self.checks.equal((result.returncode, result.stdout, result.stderr), (code, out, err), f"{fake}: as ptxas ends")
        self.call("well")
        self.checks.check("12345" not in self.out.read_text(), "what comes through is optimized")

    def refuses_ours(self):
        """Whatever ptxas does with our PTX alone, the PTX as given is assembled, with one warning."""
        for fake in ("only-fail", "only-crash", "only-abort"):
            for arguments, data in ((None, b""), (["-", "-arch=sm_80", "-o", self.out], KERNEL.encode())):
                result = self.call(fake, arguments, input=data)
                self.checks.equal((result.returncode, result.stdout), (0, b"said\n"), f"{fake}: ends well")
                self.checks.equal(self.out.read_text(), KERNEL, f"{fake}: the PTX as given")
                warned = self.warnings(result)
                self.checks.check(len(warned) == 1 and "refuses" in warned[0], f"{fake}: one warning", result.stderr)
                self.checks.check(result.stderr.endswith(b"\n") and b"complained\n" in result.stderr, f"{fake}: its own messages")

    def our_trouble(self):
        """What we cannot do is no reason to fail."""
        cases = {
            "not PTX": (b"this is no PTX {", {}), "empty": (b"", {}), "binary": (GARBAGE, {}),
            "no temporary folder": (KERNEL.encode(), {"TMPDIR": self.folder / "nothing"}),
        }
        for what, (text, env) in cases.items():
            self.input.write_bytes(text)
            result = self.call("well", env=env)
            self.checks.equal((result.returncode, result.stdout), (0, b"said\n"), f"{what}: ends well")
            self.checks.equal(self.out.read_bytes(), text, f"{what}: the file as given")
            if what != "empty":  # it has nothing to change
                self.checks.equal(len(self.warnings(result)), 1, f"{what}: one warning")
            if not env:
                result = self.call("fail")
                self.checks.equal((result.returncode, result.stderr), (3, b"complained\n"), f"{what}: ptxas's own words if it fails")
        self.input.write_text(KERNEL)

    def own_files(self):
        """A report, a kept text or a log never takes the place of an input or of the cubin."""
        link, kept = self.folder / "link", self.folder / "in.ptxopt.ptx"
        link.symlink_to(self.input)
        kept.write_text(KERNEL)
        both = ["-arch=sm_80", self.input, kept, "-o", self.out]
        for what, arguments, env in (
                ("a report", None, {"PTXOPT_OPTIONS": f"--report={self.input}"}), ("a report by a link", None, {"PTXOPT_OPTIONS": f"--report={link}"}),
                ("a report", None, {"PTXOPT_OPTIONS": f"-O0 --report={self.input}"}), ("a report", None, {"PTXOPT_OPTIONS": f"--report={self.out}"}),
                ("a kept text", both, {"PTXOPT_OPTIONS": "--keep-ptx"}), ("a log", None, {"PTXOPT_LOG": self.input}),
                ("a log of what is not optimized", ["-g", "-arch=sm_80", self.input, "-o", self.out], {"PTXOPT_LOG": link})):
            result = self.call("well", arguments, env=env)
            self.checks.equal(result.returncode, 0, f"{what}: ends well")
            self.checks.equal((self.input.read_text(), kept.read_text()), (KERNEL, KERNEL), f"{what}: the inputs stay")
            self.checks.check(".entry k" in self.out.read_text(), f"{what}: the cubin stays", self.out.read_text()[:100])
            self.checks.check(any("cannot write" in line for line in self.warnings(result)), f"{what}: a warning", result.stderr)
        kept.unlink()

    def names_of_pipes(self):
        """What can be read once only is copied; messages have the name that was given."""
        pipe = self.folder / "pipe.ptx"
        os.mkfifo(pipe)
        writer = subprocess.Popen(["sh", "-c", f"cat {self.input} > {pipe}"])
        result = self.call("name", ["-arch=sm_80", pipe, "-o", self.out])
        writer.wait()
        said = f"{pipe} is wrong\n".encode()
        self.checks.equal((result.returncode, result.stdout, result.stderr), (3, said, said), "the name of a pipe")

    def guard_in_trouble(self):
        """A ptxas that does not answer the guard as it should: still the same ends."""
        for fake, code in (("well", 0), ("fail", 3), ("garbage", 0), ("crash", -signal.SIGSEGV)):
            result = self.call(fake, env={"PTXOPT_GUARD": "ptxas", "PTXOPT_CACHE_DIR": self.folder / "cache"})
            self.checks.equal(result.returncode, code, f"{fake} under the guard: as ptxas ends")
            self.checks.check(len(self.warnings(result)) <= 1, f"{fake} under the guard: at most one warning", result.stderr)

    def is_ended(self):
        """A ptxas that hangs is waited for; a signal to us ends it."""
        for number in (signal.SIGTERM, signal.SIGINT):
            for file in self.folder.glob("got.*"):
                file.unlink()
            process = subprocess.Popen([self.drop_in, "-arch=sm_80", self.input, "-o", self.out], env=self.environment("hang"),
                                       stdin=subprocess.DEVNULL, start_new_session=True)
            pid_file = Path(f"{self.got}.pid")
            wait_for(lambda: pid_file.exists() and pid_file.read_text().strip())
            self.checks.equal(process.poll(), None, "a ptxas that hangs is waited for")
            child = int(pid_file.read_text())
            process.send_signal(number)
            try:
                code = process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                code = None
            if number == signal.SIGTERM:  # which it catches
                self.checks.equal(code, 143, "its own end after a signal")
                self.checks.check(Path(f"{self.got}.ended").exists(), "the signal came to it")
            else:
                self.checks.equal(code, -number, "ended by the signal")
            self.checks.check(not alive(child), "it is gone")
            self.checks.equal(list(self.temporary.iterdir()), [], "nothing is left behind")

    def we_crash(self):
        """A crash of ours, made by a signal in the middle of a large file: ptxas takes our place."""
        self.input.write_text(KERNEL + "".join(f".visible .entry k{i}(.param .u64 p) {{\n  .reg .b32 %r<100>; .reg .b64 %d;\n"
                                               f"  ld.param.u64 %d, [p];\n" + "  add.u32 %r2, %r3, %r4;\n" * 400 +
                                               "  st.global.u32 [%d], %r2;\n  ret;\n}\n" for i in range(3000)))
        for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE):
            self.out.unlink(missing_ok=True)
            self.got.unlink(missing_ok=True)
            process = subprocess.Popen([self.drop_in, "-arch=sm_80", self.input, "-o", self.out], env=self.environment("well"),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            wait_for(lambda: catches(process.pid, number))
            process.send_signal(number)
            out, err = process.communicate(timeout=common.LIMIT)
            self.checks.equal((process.returncode, out), (0, b"said\n"), f"signal {number}: ends well")
            self.checks.check(err.count(b"ptxopt: warning: crashed") == 1, f"signal {number}: one warning", err)
            self.checks.check(self.out.read_bytes() == self.input.read_bytes(), f"signal {number}: the PTX as given")
        self.input.write_text(KERNEL)
        self.call("well")  # removes what is left of those that are gone

    def is_killed(self):
        """What processes that were killed leave in the temporary folder goes with the next one, and nothing else."""
        others = self.folder / "others"
        others.mkdir()
        (others / "file").write_text("mine")
        (self.temporary / "ptxopt-0123456789ab").mkdir()
        (self.temporary / "ptxopt-0123456789ab" / "file").write_text("mine")
        (self.temporary / ".ptxopt.ptxopt-0123456789ab").write_text("mine")
        (self.temporary / "ptxopt-000000000000").symlink_to(others)
        (self.temporary / ".ptxopt.ptxopt-000000000000").write_text("ptxopt temporary folder\n")
        (self.temporary / ".ptxopt.ptxopt-111111111111").symlink_to(others / "file")
        kept = sorted(p for p in self.temporary.rglob("*") if p.name != ".ptxopt.ptxopt-000000000000")
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            for _ in range(4):
                for file in self.folder.glob("got.*"):
                    file.unlink()
                process = subprocess.Popen([self.drop_in, "-arch=sm_80", self.input, "-o", self.out],
                                           env=self.environment("hang"), stdin=subprocess.DEVNULL, start_new_session=True)
                pid_file = Path(f"{self.got}.pid")
                wait_for(lambda: pid_file.exists() and pid_file.read_text().strip())
                process.send_signal(number)
                process.wait(timeout=30)
                try:
                    os.killpg(process.pid, signal.SIGKILL)  # with the ptxas, which holds the lock, too
                except ProcessLookupError:
                    pass
                wait_for(lambda: not alive(int(pid_file.read_text())))
        self.out.unlink(missing_ok=True)
        result = run([self.drop_in, "-arch=sm_80", self.input, "-o", self.out], cwd=self.folder, env=self.environment("well"))
        self.checks.equal(result.returncode, 0, "after those that were killed")
        self.checks.equal(sorted(self.temporary.rglob("*")), kept, "what was killed leaves nothing, and what is not ours stays")
        self.checks.equal((others / "file").read_text(), "mine", "a folder behind a link stays")
        for path in self.temporary.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def finds_itself(self):
        """Links, copies and scripts that lead back to us on the PATH: the real one behind them is found."""
        places = [self.folder / f"path{i}" for i in range(5)]
        common.link_as(self.tool, places[0])
        common.link_as(common.drop_in_of(self.tool), places[4])
        places[1].mkdir()
        shutil.copy(self.tool, places[1] / "ptxas")
        common.script(places[2] / "ptxas", f'#!/bin/sh\nexec "{self.tool}" as "$@"\n')
        common.script(places[3] / "ptxas", f'#!/bin/sh\nexec "{self.fake}" "$@"\n')
        for order in ([0, 1, 2, 3], [2, 1, 0, 3], [1, 3, 0, 2], [4, 0, 3]):
            path = ":".join(str(places[i]) for i in order) + ":" + os.environ["PATH"]
            env = {k: v for k, v in self.environment("well", PATH=path).items() if k not in ("PTXOPT_PTXAS", "CUDA_HOME", "CUDA_PATH")}
            result = run(["ptxas", "-arch=sm_80", self.input, "-o", self.out], env=env, cwd=self.folder, timeout=60)
            self.checks.equal((result.returncode, result.stdout, result.stderr), (0, b"said\n", b"complained\n"), f"PATH {order}")
            self.checks.check("12345" not in self.out.read_text(), f"PATH {order}: optimized")
        env = {k: v for k, v in self.environment("well", PATH=str(places[0])).items() if k not in ("PTXOPT_PTXAS", "CUDA_HOME", "CUDA_PATH")}
        if not os.path.exists("/usr/local/cuda/bin/ptxas"):
            result = run([self.drop_in, self.input], env=env)
            self.checks.check(result.returncode == 2 and b"no ptxas" in result.stderr, "no ptxas at all")
        result = run([self.drop_in, "-arch=sm_80", self.input, "-o", self.out],
                     env=self.environment("well", PTXOPT_PTXAS="none", PATH=f"{places[3]}:{os.environ['PATH']}", CUDA_HOME=""))
        self.checks.equal(result.returncode, 0, "PTXOPT_PTXAS=none: none to ask, one to compile with")

    def nvcc_finds_itself(self):
        """A script named nvcc that calls `ptxopt nvcc` is passed over where it calls, and an error where it is named."""
        calls, scripts = self.folder / "calls", self.folder / "scripts"
        ours = common.script(scripts / "nvcc", f'#!/bin/sh\necho >> {calls}\n[ $(wc -l < {calls}) -lt 6 ] || exit 9\n'
                                               f'exec {self.tool} nvcc "$@"\n')
        common.script(self.folder / "home" / "bin" / "nvcc", "#!/bin/sh\necho real\nexit 7\n")
        usual = {"PATH": f"{scripts}:/usr/bin:/bin", "CUDA_HOME": str(self.folder / "home")}
        for settings, words, code, said in (({}, ["x.cu"], 7, b"real"), ({"PTXOPT_NVCC": ours}, ["x.cu"], 2, b"it calls `ptxopt nvcc`"),
                                            ({}, [ours, "x.cu"], 7, b"real"), ({}, ["nvcc", "x.cu"], 7, b"real")):
            calls.write_text("")
            result = run([self.tool, "nvcc", *words], env=environment(**usual, **settings))
            self.checks.check((result.returncode, said in result.stdout + result.stderr) == (code, True), f"{words} {settings}: {said}", result)


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def catches(pid, number):
    """Whether a process has a handler of this signal."""
    caught = re.search(r"^SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.M)
    return int(caught[1], 16) >> (number - 1) & 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool = str(Path(parser.parse_args().tool).resolve())
    with tempfile.TemporaryDirectory() as name:
        faults = Faults(tool, Path(name))
        faults.ends_like_it()
        faults.refuses_ours()
        faults.our_trouble()
        faults.own_files()
        faults.names_of_pipes()
        faults.guard_in_trouble()
        faults.is_ended()
        faults.we_crash()
        faults.is_killed()
        faults.finds_itself()
        faults.nvcc_finds_itself()
    return faults.checks.end()


if __name__ == "__main__":
    sys.exit(main())
