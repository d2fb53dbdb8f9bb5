#!/usr/bin/env python3
"""libptxopt_capture.so in front of the stand-in for the driver: launches of a program of the driver API are recorded, whichever
way it finds the driver, and run again.

  tests/cli/capture/run.py --tool PATH --capture LIBRARY --program PATH
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/lib"))
from checking import Counted  # noqa: E402

LIMIT = 120
KERNELS = ["scale", "next", "follow"]


class Capture:
    def __init__(self, options, folder):
        self.tool, self.library, self.program = (os.path.abspath(p) for p in (options.tool, options.capture, options.program))
        self.emulation = Path(self.tool).parent / "emulate"
        self.folder, self.counted = folder, Counted("capture")

    def check(self, holds, *what):
        self.counted.check(holds, " ".join(map(str, what)))

    def run(self, words, **environment):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PTXOPT_CAPTURE")}
        return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=LIMIT, cwd=self.folder,
                              env={**clean, "PTXOPT_CACHE_DIR": "", **environment})

    def program_ends(self, words, said, code=0, preload=True, **settings):
        """The program runs as without the library, which says this."""
        environment = {"LD_LIBRARY_PATH": str(self.emulation), **{f"PTXOPT_CAPTURE{k}": str(v) for k, v in settings.items()}}
        done = self.run([self.program, *words], **environment, **({"LD_PRELOAD": self.library} if preload else {}))
        self.check(done.returncode == code and done.stdout == "passed\n", words, settings, done.returncode, done.stdout, done.stderr)
        self.check(all(s in done.stderr for s in said) if said else not done.stderr, words, settings, "says", repr(done.stderr))

    def tool_ends(self, code, words, *said):
        done = self.run([self.tool, *words], PTXOPT_GPU_DRIVER=str(self.emulation / "libcuda.so.1"))
        self.check(done.returncode == code, words, "ends with", done.returncode, done.stdout, done.stderr)
        for piece in said:
            self.check(piece in done.stdout + done.stderr, words, "does not say", repr(piece), done.stdout, done.stderr)

    def launches(self, name):
        path = self.folder / name
        if not path.exists():
            return []
        with zipfile.ZipFile(path) as z:
            return json.loads(z.read("record.json"))["launches"]

    def ways(self):
        """Linked, by dlsym, by cuGetProcAddress: the same record each time."""
        self.program_ends(["linked"], [], preload=False)
        records = []
        for way in ("linked", "asked", "entries"):
            name = f"{way}.zip"
            self.program_ends([way], [f"3 launches recorded in {name}"], **{"": name})
            self.check(not list(self.folder.glob("*.launches")), "the folder stays")
            launches = self.launches(name)
            self.check([l["kernel"] for l in launches] == KERNELS, way, launches)
            records.append([[(m["size"], m["variable"], m["before"], m["after"]) for m in l["memory"]] for l in launches])
            self.tool_ends(0, ["replay", name], "3 launches run, 3 equal")
            self.tool_ends(0, ["replay", name, "--optimize", "--jobs", "2"], "3 equal")
            self.tool_ends(0, ["replay", "--gpu", name, "--optimize", "--seconds", "0.01"], "3 launches on", "3 equal")
        self.check(all(len(r) == len(records[0]) for r in records), "each way records the same", records)

    def contents(self):
        scale, next_, follow = self.launches("linked.zip")
        names = [[(m["name"], m["size"]) for m in l["memory"]] for l in (scale, next_, follow)]
        self.check(sorted(names[0]) == [("device memory", 128), ("last", 8)], "scale sees x and its variable", names[0])
        self.check(("device memory", 128) in names[1] and ("the barrier of the grid", 8) in names[1], "the variable leads to x", names[1])
        self.check(sorted(names[2]) == [("device memory", 16), ("host memory", 128)], "memory leads to memory", names[2])
        self.check(all(m["after"] for l in (scale, next_, follow) for m in l["memory"]), "no results")
        self.check(next_["environment"].keys() == {"1", "2"} and not scale["environment"], "a cooperative launch", next_["environment"])
        self.check(follow["parameters"].endswith("07000000") and len(follow["parameters"]) == 24, "arguments in one piece", follow["parameters"])
        self.check([l["module"] for l in (scale, next_, follow)] == [0, 0, 1], "modules")
        self.tool_ends(0, ["record", "cut", "linked.zip", "-o", "one.zip", "--kernel", "scale"])
        (self.folder / "other.ptx").write_text("")
        with zipfile.ZipFile(self.folder / "one.zip") as z:
            record = json.loads(z.read("record.json"))
            text = z.read(record["modules"][0]["text"]).decode()
        (self.folder / "k.ptx").write_text(text)
        (self.folder / "other.ptx").write_text(text.replace("mul.lo.u32", "add.u32"))
        self.tool_ends(0, ["verify", "k.ptx", "k.ptx", "--records", "one.zip"], "equal")
        self.tool_ends(1, ["verify", "k.ptx", "other.ptx", "--records", "one.zip"], "different")

    def choices(self):
        cases = [
            ({"_KERNEL": "*cal*"}, ["scale"], []), ({"_KERNEL": "next"}, ["next"], []), ({"_FIRST": 2}, ["scale", "next"], []),
            ({"_SKIP": 1, "_FIRST": 1}, ["next"], []), ({"_MIB": 0}, [], ["3 not recorded: with more than 0 MiB of memory"]),
            ({"_KERNEL": "none"}, [], []), ({"_FIRST": 0}, [], []),
            ({"_FIRST": "x"}, KERNELS, ["PTXOPT_CAPTURE_FIRST is 'x', which makes no sense: it is taken for 100"]),
            ({"_MEMORY": "some"}, KERNELS, ["PTXOPT_CAPTURE_MEMORY is 'some'"]),
        ]
        for number, (settings, kernels, said) in enumerate(cases):
            name = f"choice-{number}.zip"
            said = [*said, f"{len(kernels)} launches recorded in {name}"] if kernels else said
            self.program_ends(["asked"], said, **settings, **{"": name})
            self.check([l["kernel"] for l in self.launches(name)] == kernels, settings, "gives", [l["kernel"] for l in self.launches(name)])
        self.program_ends(["asked"], ["3 launches"], **{"": "all.zip", "_MEMORY": "all"})
        sizes = sorted(m["size"] for m in self.launches("all.zip")[0]["memory"])
        self.check(sizes == [8, 16, 128, 128, 1 << 20], "all memory, but for what was freed", sizes)
        self.program_ends(["asked"], ["3 launches recorded in p"], **{"": "p%p.zip"})
        self.check(len(list(self.folder.glob("p[0-9]*.zip"))) == 1, "%p")
        self.program_ends(["asked"], ["/dev/null/x.zip"], **{"": "/dev/null/x.zip"})

    def killed(self):
        """What a program that is killed had written becomes a record."""
        self.program_ends(["asked", "killed"], [], code=-9, **{"": "killed.zip"})
        self.check(not (self.folder / "killed.zip").exists() and (self.folder / "killed.zip.launches").is_dir(), "no folder")
        self.tool_ends(0, ["record", "pack", "killed.zip.launches", "-o", "killed.zip"])
        self.tool_ends(0, ["replay", "killed.zip"], "3 launches run, 3 equal")
        self.tool_ends(2, ["record", "pack", "killed.zip.launches"], "pack needs -o")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--tool", "--capture", "--program"):
        parser.add_argument(option, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        test = Capture(options, Path(folder))
        for part in (test.ways, test.contents, test.choices, test.killed):
            part()
    print(f"{test.counted.checks} checks of capturing, {test.counted.wrong} wrong")
    return 1 if test.counted.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
