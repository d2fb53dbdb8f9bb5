#!/usr/bin/env python3
"""ptxopt jit --compare: launches run both ways on the stub of the driver. Each launch counts once, whatever is compared; a kernel that
computes something else is found, and the original is launched; what cannot be compared is counted with the reason.

  tests/cli/jit/compare.py --tool PATH --library PATH --program PATH --compared PATH --driver FOLDER
"""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/lib"))
import command_tests  # noqa: E402
from compilers import find  # noqa: E402

# An optimizer that is wrong: the first store in what it makes, which stands before the originals, is of another value. Several may run: one that
# notes a difference is not waited for.
WRONG = """import os, re, subprocess, sys
own = f"answer{{os.getpid()}}"
done = subprocess.run(["sh", "-c", 'own=$1; shift; exec "$@" 5>$own', "sh", own, {tool!r}, *sys.argv[1:]], pass_fds=(3, 4))
text = os.pread(4, 1 << 24, 0).decode()
text = re.sub(r"st\\.global\\.u32 (\\S+), (%r\\d+);", r"xor.b32 \\2, \\2, 1; st.global.u32 \\1, \\2;", text, count=1)
os.ftruncate(4, 0)
os.pwrite(4, text.encode(), 0)
os.write(5, open(own, "rb").read())
"""

SOURCE = """extern "C" __global__ void add(unsigned* p, unsigned n) {
  for (unsigned i = 0; i < n; ++i) ((volatile unsigned*)p)[threadIdx.x] += n / 3;
}
"""


class Compare(command_tests.CommandTests):
    PARTS = ("equal", "sampled", "loaders", "compiled", "wrong_kernels", "varies", "refused", "patience", "failed", "together", "unseen", "usage")

    def __init__(self, folder, tool, library, program, compared, driver):
        super().__init__("jit --compare", tool, folder)
        self.library, self.program, self.compared, self.driver = library, program, compared, driver
        self.emulation = Path(tool).parent / "emulate"

    def environment(self, **settings):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PTXOPT_", "DRIVER", "LD_PRELOAD"))}
        return {**clean, "LD_LIBRARY_PATH": f"{self.driver}:{self.emulation}", "PTXOPT_CACHE_DIR": str(self.folder / "cache"), "PTXOPT_CONFIG": "",
                "PTXOPT_GUARD": "off", **settings}

    def runs(self, *words, options=("--compare",), program=None, **settings):
        """Under ptxopt jit: how it ended, and the lines of the log on modules and on kernels."""
        for name in ("log", "driver"):
            (self.folder / name).unlink(missing_ok=True)
        done = subprocess.run([self.tool, "jit", "--budget", "60", "--log", "log", *options, program or self.compared, *map(str, words)],
                              capture_output=True, text=True, timeout=command_tests.LIMIT, cwd=self.folder,
                              env=self.environment(DRIVER_LOG="driver", **settings))
        lines = [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]
        return done, [line for line in lines if "kernel" not in line], [line for line in lines if "kernel" in line]

    def counts(self, case, launches, equal=0, different=0, varying=0, why=None, says="", **settings):
        """The program is right, and its kernel has these counts; `why`: the reasons and how often."""
        done, modules, kernels = self.runs(case, launches, **settings)
        self.check((done.returncode, done.stdout) == (0, "right\n"), case, settings, done)
        self.check((says in done.stderr) if says else not done.stderr, case, settings, done.stderr)
        self.check(all(m["used"] == "optimized" for m in modules), case, modules)
        expected = {"kernel": "add", "launches": launches, "equal": equal, "different": different, "varying": varying, "not_compared": why or {}}
        self.check(len(kernels) == 1 and {**kernels[0], **expected} == kernels[0], case, settings, kernels, "not", expected)
        return done

    def equal(self):
        for case in ("plain", "extra", "config", "cooperative", "variable", "function", "library", "kernel", "managed", "ordered", "large"):
            self.counts(case, 1, equal=1)
        # What the program says of a kernel, it says of the original.
        self.counts("attribute", 1, equal=1)
        self.check((self.folder / "driver").read_text().count("attribute 8 1024") == 2, "the attribute of both")
        done, _, kernels = self.runs("reload", 1)
        self.check(done.stdout == "right\n" * 3 and [k["equal"] for k in kernels] == [1, 1, 1], done, kernels)

    def sampled(self):
        self.counts("plain", 20, equal=5)  # 1, 2, 4, 8, 16
        self.counts("plain", 20, equal=7, options=("--compare=5",))
        self.counts("plain", 20, equal=20, options=("--compare=100",))
        self.counts("variable", 9, equal=9, options=("--compare=100",))

    def loaders(self):
        """However the module is loaded. Linked code is not compared."""
        for loader in ("cuModuleLoadData", "cuModuleLoadDataEx", "cuModuleLoad", "cuModuleLoadFatBinary", "cuLibraryLoadData", "cuLibraryLoadData-wrapped",
                       "cuLibraryLoadFromFile", "cuLinkAddData"):
            for way in ("linked", "asked", "entries"):
                done, modules, kernels = self.runs(way, loader, "good", program=self.program)
                self.check("right" in done.stdout and modules[0]["used"] == "optimized" and not done.stderr, loader, way, done, modules)
                is_linked = loader.startswith("cuLink")
                self.check(modules[0]["why"] == ("launches of linked code are not compared" if is_linked else ""), loader, way, modules)
                self.check([k["equal"] for k in kernels] == ([] if is_linked else [1]), loader, way, kernels)

    def compiled(self):
        """What nvcc makes: PTX in a fat binary, compressed or not, and machine code."""
        nvcc = find("NVCC", "nvcc")
        if not nvcc:
            return
        self.write("add.cu", SOURCE)
        for options in ([], ["-Xfatbin", "-compress-mode=none"], ["-lineinfo"], ["-code=sm_80"]):
            code = [] if "-code=sm_80" in options else ["-code=compute_80"]
            made = subprocess.run([nvcc, "-fatbin", "-arch=compute_80", *code, *options, "add.cu", "-o", "add.fatbin"], capture_output=True, text=True,
                                  timeout=command_tests.LIMIT, cwd=self.folder)
            if made.returncode != 0:
                continue  # one that does not know it
            if code:
                self.counts("file", 3, equal=2, IMAGE="add.fatbin")
                continue
            _, modules, kernels = self.runs("file", 1, IMAGE="add.fatbin")
            self.check(modules[0]["why"] == "a fat binary with machine code for the device" and not kernels, modules, kernels)

    def wrong_kernels(self):
        self.write("wrong.py", WRONG.format(tool=self.tool))
        tool = self.folder / "wrong"
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" wrong.py "$@"\n')
        tool.chmod(0o755)
        # ptxopt jit names itself, so the library is preloaded by hand.
        for case, memory in (("plain", "device memory of 128 bytes, byte 0"), ("variable", "count of 128 bytes, byte 0"),
                             ("managed", "managed memory of 128 bytes, byte 0"), ("function", "device memory of 128 bytes, byte 0"),
                             ("library", "device memory of 128 bytes, byte 0"), ("kernel", "device memory of 128 bytes, byte 0")):
            done, kernels = self.by_hand(tool, case, 3)
            self.check(done.stdout == "right\n", case, done)
            self.check("add of module" in done.stderr and f"launch 1 differs from that of the original: {memory}" in done.stderr, case, done.stderr)
            self.check(len(kernels) == 1 and (kernels[0]["different"], kernels[0]["equal"], kernels[0]["launches"]) == (1, 0, 3), case, kernels,
                       self.modules)
        # In a graph as well.
        done, kernels = self.by_hand(tool, "node", 3)
        self.check(done.stdout == "right\n" and kernels and kernels[0]["different"] == 1 and not kernels[0]["not_compared"], "a node", done, kernels,
                   self.modules)
        # Without the option the wrong kernel is launched: it is wrong.
        done, _ = self.by_hand(tool, "plain", 3, compare=None)
        self.check(done.stdout == "wrong\n", done)
        # One whose results vary is not told from it.
        done, kernels = self.by_hand(tool, "plain", 3, DRIVER_VARIES="1")
        self.check(kernels and kernels[0]["different"] == 0 and kernels[0]["varying"] == 2, "varies", kernels)

        # A later run knows, also one that does not compare.
        self.by_hand(tool, "plain", 1, PTXOPT_CACHE_DIR="known")
        for compare in ("1,512,10", None):
            for _ in range(20 * command_tests.LIMIT):  # until the other process has said so
                done, _ = self.by_hand(tool, "plain", 3, compare=compare, PTXOPT_CACHE_DIR="known")
                if self.modules[0]["used"] == "original":
                    break
                time.sleep(0.05)
            self.check(done.stdout == "right\n" and "launches of add differed in an earlier run" in self.modules[0]["why"], compare, done, self.modules)

    def by_hand(self, tool, *words, compare="1,512,10", **settings):
        (self.folder / "log").unlink(missing_ok=True)
        settings = {"PTXOPT_CACHE_DIR": "", **settings}
        more = {} if compare is None else {"PTXOPT_JIT_COMPARE": compare}
        done = subprocess.run([self.compared, *map(str, words)], capture_output=True, text=True, timeout=command_tests.LIMIT, cwd=self.folder,
                              env=self.environment(LD_PRELOAD=self.library, PTXOPT_JIT_TOOL=str(tool), PTXOPT_JIT_LOG="log", PTXOPT_JIT_BUDGET="60",
                                                   **more, **settings))
        lines = [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]
        self.modules = [line for line in lines if "kernel" not in line]
        return done, [line for line in lines if "kernel" in line]

    def varies(self):
        """Results that the original does not get twice are no difference."""
        self.counts("plain", 3, varying=2, DRIVER_VARIES="1")

    def refused(self):
        for case, why in [("host", "it reaches memory of the host, or of another context"),
                          ("leads", "memory leads to memory of the host, or of another context"), ("prints", "it prints"),
                          ("heap", "it takes memory from the heap of the device"), ("events", "its launch has events")]:
            self.counts(case, 3, why={why: 2})
        self.counts("large", 3, why={"there is more memory than 2 MiB": 2}, options=("--compare", "--compare-mib", "2"))
        done, _, kernels = self.runs("captured", 3)
        self.check(done.stdout == "right\n" and kernels[0]["not_compared"] == {"a stream is being captured": 1}, done, kernels)

        done, _, kernels = self.runs("node", 3)
        self.check(done.stdout == "right\n" and kernels[0]["not_compared"] == {"it is a node of a graph": 1}, done, kernels)

    def patience(self):
        """A device that is not done in time is not waited for, and not again."""
        self.counts("plain", 4, why={"the device is not done in time": 1}, options=("--compare", "--compare-seconds", "0.1"), DRIVER_SLOW="1500")

    def failed(self):
        self.counts("plain", 4, why={"after a call that failed": 1}, DRIVER_FAILS="700")

    def together(self):
        done, _, kernels = self.runs("threads", 6, options=("--compare=4",))
        self.check(done.stdout == "right\n" * 4 and not done.stderr, done)
        self.check(sum(k["equal"] for k in kernels) == 16 and sum(k["launches"] for k in kernels) == 24, kernels)

    def unseen(self):
        """The program sees no kernel but its own."""
        done, _, _ = self.runs("list", 0)
        self.check(done.stdout.startswith("2:") and sorted(done.stdout.split()[1:]) == ["add", "other"], done)
        done, _, _ = self.runs("plain", 3, options=("--compare", "--table"))
        self.check("ptxopt jit: 2 launches of 1 kernels compared, 0 kernels differ; 0 launches not compared" in done.stderr, done.stderr)
        done, _, kernels = self.runs("plain", 3, options=())
        self.check(done.stdout == "right\n" and not kernels, done, kernels)

    def usage(self):
        self.ends(2, ["jit", "--compare=0", self.compared], "--compare")
        self.ends(2, ["jit", "--compare=x", self.compared], "--compare")
        self.ends(2, ["jit", "--compare-mib", "0", self.compared], "--compare-mib")
        self.ends(2, ["jit", "--compare-seconds", "x", self.compared], "--compare-seconds")


if __name__ == "__main__":
    sys.exit(command_tests.main(__doc__, Compare, ("--library", "--program", "--compared", "--driver")))
