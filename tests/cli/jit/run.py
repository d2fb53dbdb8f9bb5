#!/usr/bin/env python3
"""ptxopt jit in front of a driver that says what it was given: what programs load is optimized, whichever way they find the driver
and whichever function loads it; and whatever goes wrong, the driver gets the original, and the program its answer.

  tests/cli/jit/run.py --tool PATH --library PATH --program PATH --driver FOLDER --nothing PATH --deep PATH
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

LOADERS = ["cuModuleLoadData", "cuModuleLoadDataEx", "cuModuleLoad", "cuModuleLoadFatBinary", "cuModuleLoadFatBinary-older", "cuLibraryLoadData",
           "cuLibraryLoadData-wrapped", "cuLibraryLoadFromFile", "cuLinkAddData", "cuLinkAddFile"]
ARRAYS = ["cuModuleLoadDataEx", "cuLibraryLoadData", "cuLinkAddData", "cuLinkAddFile", "cuLibraryLoadFromFile"]  # these give options


class Jit(command_tests.CommandTests):
    PARTS = ("loaders", "ways", "untouched", "refused", "blocks", "linker", "tools", "budget", "late", "cache", "together", "said", "usage", "guarded", "alone")

    def __init__(self, folder, tool, library, program, driver, nothing, deep):
        super().__init__("jit", tool, folder)
        self.library, self.program, self.driver, self.nothing, self.deep = library, program, driver, nothing, deep
        self.emulation = Path(tool).parent / "emulate"
        self.caches = 0
        self.fresh()

    def fresh(self):
        """Another cache, which is empty."""
        self.caches += 1
        self.cache_folder = self.folder / f"cache-{self.caches}"

    def environment(self, **settings):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PTXOPT_", "DRIVER", "LD_PRELOAD"))}
        return {**clean, "LD_LIBRARY_PATH": f"{self.driver}:{self.emulation}", "PTXOPT_CACHE_DIR": str(self.cache_folder), "PTXOPT_CONFIG": "",
                "PTXOPT_GUARD": "off", "PTXOPT_JIT_BUDGET": "60", "DEEP": Path(self.deep).name, "DRIVER": f"{self.driver}/libcuda.so.1", **settings}

    def program_runs(self, *words, jit=("--log", "log"), **settings):
        """The program, under ptxopt jit or by itself: how it ended, what the driver got, and the lines of the log."""
        for name in ("log", "driver"):
            (self.folder / name).unlink(missing_ok=True)
        # However busy the machine is, unless that is what is tested.
        patience = [] if jit is None or "--budget" in jit else ["--budget", "60"]
        before = [] if jit is None else [self.tool, "jit", *patience, *jit]
        done = subprocess.run([*before, self.program, *words], capture_output=True, text=True, timeout=command_tests.LIMIT, cwd=self.folder,
                              env=self.environment(DRIVER_LOG="driver", **settings))
        read = [(self.folder / name).read_text().splitlines() if (self.folder / name).exists() else [] for name in ("driver", "log")]
        return done, read[0], [json.loads(line) for line in read[1]]

    def loads(self, used, *words, why=None, **settings):
        """What the program loads first is used so. The rest of what it prints is as without us."""
        done, driver, log = self.program_runs(*words, **settings)
        plain, _, _ = self.program_runs(*words, jit=None, **{k: v for k, v in settings.items() if k != "jit"})
        same = done.stdout.replace("compiled optimized", "compiled original").replace(";' 19", ";' 18")
        self.check((done.returncode, same, done.stderr) == (plain.returncode, plain.stdout, plain.stderr), words, settings, done, plain)
        self.check(log and log[0]["used"] == used, words, settings, "uses", log, driver)
        self.check(why is None or log and why in log[0]["why"], words, settings, "says", log)
        return done, driver, log

    def script(self, name, text):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return str(path)

    def loaders(self):
        for loader in LOADERS:
            done, driver, log = self.loads("optimized", "linked", loader, "good")
            self.check("right" in done.stdout and driver[0].endswith("optimized"), loader, done.stdout, driver)
            first = log[0]
            self.check((first["kernels"], first["changed"], first["call"].removesuffix("_v2")) == (1, 1, loader.split("-")[0]), loader, first)
            self.check(("compiled optimized" in done.stdout) == (loader in ARRAYS), loader, done.stdout)

    def ways(self):
        for way in ("asked", "path", "entries", "deep"):
            for loader in LOADERS:
                self.loads("optimized", way, loader, "good")
        # A driver that the dynamic linker does not find by itself.
        self.loads("optimized", "path", "cuModuleLoadFatBinary", "good", LD_LIBRARY_PATH=str(self.emulation))

    def untouched(self):
        """What is not for us is given to the driver as it is, once."""
        for loader, what, why in [("cuModuleLoadDataEx-plain", "good", "asks for code that is not optimized"),
                                  ("cuModuleLoadFatBinary-fitting", "good", "machine code for the device"),
                                  ("cuModuleLoadData", "broken", "error: unexpected"), ("cuLinkAddData", "broken", "error: unexpected"),
                                  ("cuLibraryLoadFromFile", "broken", "error: unexpected"), ("cuModuleLoadData", "machine", "machine code"),
                                  ("cuModuleLoadData", "text", "not PTX"), ("cuLinkAddFile", "text", "not PTX")]:
            done, driver, _ = self.loads("original", "linked", loader, what, why=why)
            name = loader.split("-")[0]
            self.check([d for d in driver if d.startswith(name)][:1] == [d for d in driver if d.endswith("original")][:1], loader, driver)
            self.check(not any("optimized" in d for d in driver), loader, what, driver)
        # The driver takes PTX where it is told to.
        self.loads("optimized", "linked", "cuModuleLoadFatBinary-fitting", "good", CUDA_FORCE_PTX_JIT="1")
        # What can be read once is for the driver.
        done, _, log = self.program_runs("linked", "cuModuleLoad-pipe", "good", DRIVER_REFUSES="optimized")
        self.check("right" in done.stdout and not log, "a pipe", done, log)
        for loader, what in [("cuModuleLoad-missing", "good"), ("cuModuleLoadDataEx-nowhere", "good")]:
            done, _, log = self.program_runs("linked", loader, what)
            plain, _, _ = self.program_runs("linked", loader, what, jit=None)
            self.check((done.returncode, done.stdout) == (plain.returncode, plain.stdout) and not log, loader, done, plain, log)

    def refused(self):
        """The program sees nothing of a text that the driver did not take: neither its result nor its logs."""
        for loader in LOADERS:
            done, driver, log = self.loads("original", "linked", loader, "good", why="the driver refuses the optimized text (error 218)",
                                           DRIVER_REFUSES="optimized")
            self.check("right" in done.stdout and "optimized" not in done.stdout, loader, done.stdout)
            self.check([d.split()[1] for d in driver[:2]] == ["optimized", "original"], loader, driver)
            done, _, _ = self.loads("original", "linked", loader, "good", DRIVER_REFUSES="all")
            self.check(("refused original;' 17" in done.stdout) == (loader in ARRAYS), loader, done.stdout)

    def blocks(self):
        """A kernel that says nothing of its blocks takes them as large as before."""
        for loader in ("cuModuleLoadData", "cuModuleLoadDataEx", "cuLibraryLoadData", "cuLibraryLoadData-wrapped"):
            _, driver, _ = self.loads("original", "linked", loader, "good", why="smaller blocks", DRIVER_THREADS="512,1024")
            self.check([d for d in driver if d.startswith("threads")] == ["threads 512", "threads 1024"], loader, driver)
            self.loads("optimized", "linked", loader, "good", DRIVER_THREADS="512,512")
            _, driver, _ = self.loads("optimized", "linked", loader, "good", DRIVER_THREADS="1024")
            self.check(not any(d.endswith("original") for d in driver), "loads no original", driver)
            # One that says how many it takes is not asked about.
            _, driver, _ = self.loads("optimized", "linked", loader, "bounded", DRIVER_THREADS="512,1024")
            self.check(not any(d.startswith("threads") for d in driver), loader, driver)

    def linker(self):
        """One that takes what is optimized, and cannot link it, links the originals."""
        for loader in ("cuLinkAddData", "cuLinkAddFile"):
            done, driver, _ = self.program_runs("linked", loader, "good", DRIVER_REFUSES="complete")
            plain, _, _ = self.program_runs("linked", loader, "good", jit=None, DRIVER_REFUSES="complete")
            self.check((done.returncode, done.stdout) == (plain.returncode, plain.stdout), loader, done, plain)
            self.check("right" in done.stdout and "cannot link" not in done.stdout, loader, done.stdout)
            self.check([d.split()[1] for d in driver[:2]] == ["optimized", "original"], loader, driver)

        # The program's arrays are gone by then.
        done, driver, _ = self.program_runs("linked", "cuLinkAddData-freed", "good", DRIVER_REFUSES="complete")
        self.check("right" in done.stdout and [d.split()[1] for d in driver[:2]] == ["optimized", "original"], "freed options", done, driver)

    def tools(self):
        """Whatever the optimizer does."""
        cases = {"missing": ("/none/ptxopt", "/none/ptxopt: No such file"),
                 "crash": (self.script("crash", "kill -SEGV $$"), "ended without a result"),
                 "silent": (self.script("silent", "exit 0"), "ended without a result"),
                 "nonsense": (self.script("nonsense", "echo nonsense >&5"), "ended without a result"),
                 "nothing": (self.script("empty", "printf 'optimized\\n1 1 0\\n\\n' >&5"), "made nothing"),
                 "wrong": (self.script("wrong", "printf 'not PTX' >&4; printf 'optimized\\n1 1 0\\n\\n' >&5"), "the driver refuses")}
        for name, (tool, why) in cases.items():
            # The library is preloaded by hand: ptxopt jit names itself.
            done, _, log = self.program_runs("linked", "cuModuleLoadDataEx", "good", jit=None, LD_PRELOAD=self.library, PTXOPT_JIT_TOOL=tool,
                                             PTXOPT_JIT_LOG="log", DRIVER_REFUSES="optimized")
            self.check("right" in done.stdout and done.returncode == 0 and "compiled original" in done.stdout, name, done)
            self.check(log and log[0]["used"] == "original" and why in log[0]["why"], name, log)
        # It has none of the program's streams, nor what else the program has open, and no library of ours.
        tool = self.script("look", f'exec "{sys.executable}" look.py\n')
        self.write("look.py", """import json, os
open("seen", "w").write(json.dumps([sorted(map(int, os.listdir("/proc/self/fd"))), [os.readlink(f"/proc/self/fd/{i}") for i in range(3)],
                                    os.environ.get("LD_PRELOAD")]))
""")
        with open(self.folder / "open", "w") as held:
            os.dup2(held.fileno(), 77, inheritable=True)
            subprocess.run([self.program, "linked", "cuModuleLoadData", "good"], capture_output=True, timeout=command_tests.LIMIT, cwd=self.folder,
                           close_fds=False, env=self.environment(LD_PRELOAD=self.library, PTXOPT_JIT_TOOL=tool))
            os.close(77)
        descriptors, streams, preload = json.loads((self.folder / "seen").read_text())
        self.check(set(range(6)) <= set(descriptors) and 77 not in descriptors, "descriptors of the program", descriptors)
        self.check(streams == ["/dev/null"] * 3 and preload is None, streams, preload)

    def budget(self):
        self.fresh()
        self.loads("original", "linked", "cuModuleLoadData", "good", why="the budget is zero", jit=("--budget", "0", "--log", "log"))
        slow = self.script("slow", f'sleep 2\nexec "{self.tool}" "$@"\n')
        run = lambda tool, budget: self.program_runs(  # noqa: E731
            "linked", "cuModuleLoadData", "good", jit=None, LD_PRELOAD=self.library, PTXOPT_JIT_TOOL=tool, PTXOPT_JIT_BUDGET=budget,
            PTXOPT_JIT_LOG="log")
        done, _, log = run(slow, "0.2")
        self.check("right" in done.stdout and log[0]["used"] == "original" and "longer than the budget" in log[0]["why"], log)
        # It goes on, and what it made is there for a later run.
        for _ in range(20 * command_tests.LIMIT):
            if any(p.is_file() for p in self.cache_folder.rglob("*")):
                break
            time.sleep(0.05)
        done, _, log = run(self.tool, "60")
        self.check(log[0]["used"] == "optimized", log)

        # Few are at work at a time.
        self.fresh()
        stop = self.folder / "stop-several"
        waiting = self.script("waiting", f'i=0; while [ ! -e "{stop}" ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done\n')
        done, _, log = self.program_runs("linked", "several", "good", jit=None, LD_PRELOAD=self.library, PTXOPT_JIT_TOOL=waiting, PTXOPT_JIT_BUDGET="0.2",
                                         PTXOPT_JIT_LOG="log")
        stop.touch()
        self.check(done.stdout == "right\n" * 5 and [line["why"].startswith("others") for line in log] == [False] * 2 + [True] * 3, done, log)

    def late(self):
        """What took too long is not waited for again, unless longer."""
        self.fresh()
        stop = self.folder / "stop"
        ptxas = self.script("slow_ptxas", f'i=0; while [ ! -e "{stop}" ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done\nexit 1\n')
        waits = lambda seconds: self.program_runs(  # noqa: E731
            "linked", "cuModuleLoadData", "good", jit=("--budget", seconds, "--log", "log", "--guard=ptxas", "--ptxas", ptxas))[2][0]
        first = waits("1")
        self.check("longer than the budget" in first["why"], first)
        for _ in range(20):  # until the other process has come to say so
            again = waits("1")
            if "in an earlier run" in again["why"]:
                break
        self.check("in an earlier run" in again["why"] and again["used"] == "original", again)
        longer = waits("1.5")
        self.check("in an earlier run" not in longer["why"], longer)
        stop.touch()

    def cache(self):
        self.fresh()
        words = ("linked", "cuModuleLoadData", "good")
        found = lambda **settings: [line["from_cache"] for line in self.program_runs(*words, **settings)[2]]  # noqa: E731
        self.check(found() == [False] and found() == [True], "the second run has it from the cache")
        self.check(found(jit=("--log", "log", "-O1")) == [False], "other options")
        self.check(found(jit=("--log", "log", "-j4", "--verify-each", "--skip-pass=lsr")) == [False], "options of each form")
        self.check(found(PTXOPT_OPTIONS="--skip-pass lsr") == [False], "other options in the variable")
        for threads in (32, 64):
            self.write("facts.json", json.dumps({"version": 1, "kernels": [{"kernel": "add", "block": [threads, 1, 1]}]}))
            options = ("--log", "log", "--facts", "facts.json")
            self.check([found(jit=options), found(jit=options)] == [[False], [True]], "other facts")
            log = self.program_runs(*words, jit=options, PTXOPT_OPTIONS="--facts none.json")[2]
            self.check(log[0]["used"] == "optimized", "the line counts more than the variable", log)
        self.check(found(COMMENT="another text") == [False], "another text")
        self.check(found(PTXOPT_CACHE_DIR="") == [False] and found(PTXOPT_CACHE_DIR="") == [False], "no cache")
        # What is not PTX is known, too.
        for expected in ([False], [True]):
            log = self.program_runs("linked", "cuModuleLoadData", "broken")[2]
            self.check([line["from_cache"] for line in log] == expected and log[0]["used"] == "original", log)

    def together(self):
        self.fresh()
        for _ in range(2):
            done, _, log = self.program_runs("linked", "threads", "good", jit=("--log", "log"))
            self.check(done.stdout == "failed: 0\n" and len(log) == 8 and all(line["used"] == "optimized" for line in log), done, log)
        done, _, log = self.program_runs("linked", "children", "good", jit=("--log", "log"))
        self.check("signals 0, children -1 No child processes" in done.stdout and "copy: 0" in done.stdout, done)
        self.check(len(log) == 2 and len({line["process"] for line in log}) == 2, log)
        done, _, log = self.program_runs("linked", "exec", "good", "cuModuleLoadData", jit=("--log", "log"))
        self.check("right" in done.stdout and log[0]["used"] == "optimized", "a program that another one starts", done, log)

    def said(self):
        done, _, _ = self.program_runs("linked", "cuModuleLoadData", "good", jit=())
        self.check(not done.stderr and "right" in done.stdout, "nothing is said", done)
        done, _, _ = self.program_runs("linked", "cuModuleLoadData", "good", jit=("-v",))
        self.check("ptxopt jit: cuModuleLoadData: ptx " in done.stderr and "1 of 1 kernels changed" in done.stderr, done)
        done, _, log = self.program_runs("linked", "cuModuleLoadData", "good", jit=("--table",))
        self.check("ptxopt jit: 1 of 1 modules optimized" in done.stderr and "cuModuleLoadData" in done.stderr and not log, done)
        self.write("log.kept", '{"call":"of another run"}\nno JSON\n')
        done, _, _ = self.program_runs("linked", "cuModuleLoadData", "broken", jit=("--table", "--log", "log.kept"))
        self.check("0 of 1 modules optimized" in done.stderr and "unexpected" in done.stderr and "another run" not in done.stderr, done)
        self.check(len((self.folder / "log.kept").read_text().splitlines()) == 3, "a log is added to")
        done = self.run("jit", "--table", self.nothing)
        self.check(done.returncode == 0 and "no module was loaded" in done.stderr and not done.stdout, done)

    def usage(self):
        self.ends(2, ["jit"], "PROGRAM is required")
        self.ends(2, ["jit", "--none", self.nothing], "--none")
        self.ends(2, ["jit", "/none/program"], "'/none/program' is not a program")
        self.ends(2, ["jit", "--budget", "x", self.nothing], "--budget")
        self.ends(2, ["jit", "--budget=-1", self.nothing], "--budget")
        self.ends(2, ["jit", "--skip-pass", "none", self.nothing], "none")
        self.ends(2, ["jit", "--profile-use", "none.json", self.nothing], "none.json")
        self.ends(2, ["jit", "--facts", "none.json", self.nothing], "none.json")
        self.ends(2, ["jit", "--facts", self.write("wrong.json", '{"kernels": 1}'), self.nothing], "wrong.json")
        self.ends(2, ["jit", "--log", "/dev/null/log", self.nothing], "/dev/null/log")
        self.ends(2, ["jit", self.nothing], "PTXOPT_OPTIONS", PTXOPT_OPTIONS="--none")
        self.ends(0, ["jit", self.nothing])  # it finds no function of a driver
        self.ends(0, ["jit", "--", self.nothing, "--none"])
        self.ends(7, ["jit", "--table", "sh", "-c", "exit 7"])
        self.ends(7, ["jit", "sh", "-c", "exit 7"])
        self.check(self.run("jit", "--table", "sh", "-c", "kill -TERM $$").returncode == -15, "the signal")

    def guarded(self):
        """The guard keeps the text of a kernel that gets worse, as it does for a file."""
        if subprocess.run([self.tool, "as", "--version"], capture_output=True, env={**self.environment(), "PTXOPT_CONFIG": ""}).returncode != 0:
            return
        self.loads("original", "linked", "cuModuleLoadData", "good", why="kept as it was", PTXOPT_GUARD="ptxas",
                   jit=("--log", "log"))
        # What the linker gets is assembled as relocatable code.
        self.loads("original", "linked", "cuLinkAddData", "good", why="kept as it was", PTXOPT_GUARD="ptxas",
                   jit=("--log", "log"))

    def alone(self):
        """The library without the command finds the tool beside it."""
        done, driver, _ = self.program_runs("linked", "cuModuleLoadData", "good", jit=None, LD_PRELOAD=self.library)
        self.check("right" in done.stdout and not done.stderr and driver[0].endswith("optimized"), done, driver)
        done, _, _ = self.program_runs("linked", "cuModuleLoadData", "good", jit=None, LD_PRELOAD=self.library, PTXOPT_OPTIONS="--none",
                                       PTXOPT_JIT_VERBOSE="1")
        self.check("right" in done.stdout and "left as it is" in done.stderr and "--none" in done.stderr, done)


if __name__ == "__main__":
    sys.exit(command_tests.main(__doc__, Jit, ("--library", "--program", "--driver", "--nothing", "--deep")))
