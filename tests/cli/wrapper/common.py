"""What the tests of the drop-in ptxas share: checks that are counted, links named ptxas, runs, cubins."""
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SAMPLES = ROOT / "samples"
sys.path.insert(0, str(HERE.parents[1] / "lib"))
import machine_code  # noqa: E402
from toolkit import real_ptxas  # noqa: E402, F401

SKIPPED = 77
LIMIT = 300  # seconds


class Checks:
    def __init__(self, name):
        self.name, self.passed, self.failures = name, 0, []

    def check(self, ok, what, detail=""):
        if ok:
            self.passed += 1
        else:
            self.failures.append(what)
            print(f"FAILED: {what}" + (f"\n  {detail}" if detail else ""))
        return ok

    def equal(self, got, wanted, what):
        return self.check(got == wanted, what, f"got    {got!r}\n  wanted {wanted!r}")

    def end(self):
        # The last line is what a log of many tests may be cut to.
        print(f"{self.name}: {self.passed} passed, {len(self.failures)} failed" + "".join(f"; {what}" for what in self.failures[:3]))
        return 1 if self.failures or not self.passed else 0


def link_as(tool, folder, name="ptxas"):
    """A link to the tool, which is a drop-in ptxas by its name."""
    path = Path(folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(Path(tool).resolve())
    return str(path)


def drop_in_of(tool):
    """The drop-in that is a program of its own, beside the tool."""
    return str(Path(tool).resolve().with_name("ptxopt-ptxas"))


def environment(ptxas=None, options=None, **more):
    """That of the test without what would change how the drop-in ptxas works."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("PTXOPT_") and k != "PTXAS"}
    env["PTXOPT_GUARD"] = "off"
    if ptxas:
        env["PTXOPT_PTXAS"] = str(ptxas)
    if options is not None:
        env["PTXOPT_OPTIONS"] = options
    env.update({k: str(v) for k, v in more.items() if v is not None})
    return {k: v for k, v in env.items() if v != ""}


def run(command, **keywords):
    keywords.setdefault("timeout", LIMIT)
    if "input" not in keywords and "stdin" not in keywords:
        keywords["stdin"] = subprocess.DEVNULL
    return subprocess.run([str(word) for word in command], capture_output=True, **keywords)


def script(path, text):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def kernels(cubin):
    """Names of the functions with code in a cubin."""
    return sorted(name[len(".text."):] for name in machine_code.read_sections(Path(cubin).read_bytes())
                  if name.startswith(".text."))


def optimized(tool, path, arch, *options):
    """What the tool makes of a file by itself."""
    result = run([tool, path, "-o", "-", "--arch", arch, *options], env=environment())
    assert result.returncode == 0, result.stderr
    return result.stdout


def without_times(text):
    return re.sub(rb"Compile time = [\d.]+ ms", b"Compile time", text)
