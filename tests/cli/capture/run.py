#!/usr/bin/env python3
"""libptxopt_capture.so in front of the stub of the driver: launches of a program of the driver API are recorded, whichever
way it finds the driver, and run again; so are those of graphs, and of kernels that the driver linked.

  tests/cli/capture/run.py --tool PATH --capture LIBRARY --program PATH --graphs PATH --linked PATH --machine-code FOLDER
"""
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/lib"))
import command_tests  # noqa: E402

KERNELS = ["scale", "next", "follow"]


class Capture(command_tests.CommandTests):
    PARTS = ("ways", "contents", "choices", "profiles", "killed", "graphs", "chosen_of_graphs", "links")

    def __init__(self, folder, tool, library, program, graphs, linked, machine_code):
        super().__init__("capture", tool, folder)
        self.library, self.program, self.emulation = library, program, Path(tool).parent / "emulate"
        self.graph_program, self.linked_program, self.machine_code = graphs, linked, machine_code

    def environment(self, **settings):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PTXOPT_CAPTURE")}
        return {**clean, "PTXOPT_CACHE_DIR": "", "PTXOPT_GPU_DRIVER": str(self.emulation / "libcuda.so.1"), **settings}

    def program_ends(self, words, said, code=0, preload=True, program=None, driver=None, **settings):
        """The program runs as without the library, which says this."""
        environment = {"LD_LIBRARY_PATH": str(driver or self.emulation), **{f"PTXOPT_CAPTURE{k}": str(v) for k, v in settings.items()}}
        preloaded = {"LD_PRELOAD": self.library} if preload else {}
        done = subprocess.run([program or self.program, *words], capture_output=True, text=True, timeout=command_tests.LIMIT, cwd=self.folder,
                              env=self.environment(**environment, **preloaded))
        self.check(done.returncode == code and done.stdout == "passed\n", words, settings, done.returncode, done.stdout, done.stderr)
        self.check(all(s in done.stderr for s in said) if said else not done.stderr, words, settings, "says", repr(done.stderr))

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
            # A folder of that name that was there before stays.
            mine = self.folder / f"{name}.launches" / "mine"
            mine.parent.mkdir()
            mine.write_text("mine")
            self.program_ends([way], [f"3 launches recorded in {name}"], **{"": name})
            self.check(mine.read_text() == "mine" and list(self.folder.glob("*.launches*")) == [mine.parent], "what was there is gone")
            shutil.rmtree(mine.parent)
            launches = self.launches(name)
            self.check([l["kernel"] for l in launches] == KERNELS, way, launches)
            records.append([[(m["size"], m["variable"], m["before"], m["after"]) for m in l["memory"]] for l in launches])
            self.ends(0, ["replay", name], "3 launches run, 3 equal")
            self.ends(0, ["replay", name, "--optimize", "--jobs", "2"], "3 equal")
            self.ends(0, ["replay", "--gpu", name, "--optimize", "--seconds", "0.01"], "3 launches on", "3 equal")
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
        self.ends(0, ["record", "cut", "linked.zip", "-o", "one.zip", "--kernel", "scale"])
        (self.folder / "other.ptx").write_text("")
        with zipfile.ZipFile(self.folder / "one.zip") as z:
            record = json.loads(z.read("record.json"))
            text = z.read(record["modules"][0]["text"]).decode()
        (self.folder / "k.ptx").write_text(text)
        (self.folder / "other.ptx").write_text(text.replace("mul.lo.u32", "add.u32"))
        self.ends(0, ["verify", "k.ptx", "k.ptx", "--records", "one.zip"], "equal")
        self.ends(1, ["verify", "k.ptx", "other.ptx", "--records", "one.zip"], "different")

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

    def profiles(self):
        """What launches had, without a record, unless that is asked for as well."""
        self.program_ends(["asked"], ["the profile is in p.json"], _PROFILE="p.json")
        self.check(not list(self.folder.glob("ptxopt-*.zip")), "a record that nobody asked for")
        found = json.loads((self.folder / "p.json").read_text())
        self.check(found["unit"] == "microseconds", found["unit"])
        kernels = {k["kernel"]: k for k in found["kernels"]}
        self.check(sorted(kernels) == sorted(KERNELS) and all(k["launches"] == 1 for k in kernels.values()), kernels)
        self.check(all(k["time"] > 0 and not k["loops"] and "written" not in k["classes"][0] for k in kernels.values()), kernels)
        self.check(any("align" in p for p in kernels["scale"]["classes"][0]["parts"]), kernels["scale"])
        self.ends(0, ["profile", "show", "p.json"], "scale", "memory was not watched")
        self.program_ends(["asked"], ["the profile is in p.json", "3 launches recorded in both.zip"], **{"_PROFILE": "p.json", "": "both.zip"})
        self.program_ends(["asked"], ["the profile is in p.json"], _PROFILE="p.json", _KERNEL="next")
        self.check([k["kernel"] for k in json.loads((self.folder / "p.json").read_text())["kernels"]] == ["next"], "only this kernel")
        (self.folder / "mine.txt").write_text("mine")
        self.program_ends(["asked"], ["'mine.txt' is there and is not a profile: it is not overwritten"], _PROFILE="mine.txt")
        self.check((self.folder / "mine.txt").read_text() == "mine", "mine.txt stays")

    def killed(self):
        """What a program that is killed had written becomes a record."""
        self.program_ends(["asked", "killed"], [], code=-9, **{"": "killed.zip"})
        self.check(not (self.folder / "killed.zip").exists() and (self.folder / "killed.zip.launches").is_dir(), "no folder")
        self.ends(0, ["record", "pack", "killed.zip.launches", "-o", "killed.zip"])
        self.ends(0, ["replay", "killed.zip"], "3 launches run, 3 equal")
        self.ends(2, ["record", "pack", "killed.zip.launches"], "pack needs -o")

    def graphs(self):
        """Each kernel of a graph is a launch, with the arguments that the instance has when it is launched."""
        add, multiply = ("add", 1), ("multiply", 3)
        once = {"built": [add, multiply, ("add", 4)], "disabled": [add, multiply], "changed": [add, multiply, ("add", 7)]}
        for case, launched in {**once, "captured": once["built"], "enumerated": once["built"], "filled": once["built"],
                               "updated": once["changed"]}.items():
            self.program_ends([case], [], preload=False, program=self.graph_program)
            name = f"{case}.zip"
            self.program_ends([case], [f"{2 * len(launched)} launches recorded in {name}"], program=self.graph_program, **{"": name})
            found = [(l["kernel"], int.from_bytes(bytes.fromhex(l["parameters"])[8:12], "little")) for l in self.launches(name)]
            self.check(found == 2 * launched, case, found)
            self.ends(0, ["replay", name, "--optimize"], f"{2 * len(launched)} launches run, {2 * len(launched)} equal")
        # What one leaves the next one finds.
        memory = [l["memory"][0] for l in self.launches("built.zip")]
        self.check(all(a["after"] == b["before"] for a, b in zip(memory, memory[1:])), "memory from launch to launch", memory)
        for case, why in {"host": "a call of the host", "child": "a child graph"}.items():
            self.program_ends([case], ["no launch was recorded", f"2 not recorded: by a graph with {why}"],
                              program=self.graph_program, **{"": "none.zip"})

    def chosen_of_graphs(self):
        cases = [({"_KERNEL": "mul*"}, ["multiply"] * 2), ({"_KERNEL": "add"}, ["add"] * 4), ({"_FIRST": 4}, ["add", "multiply", "add", "add"]),
                 ({"_SKIP": 2, "_FIRST": 1}, ["add"]), ({"_KERNEL": "none"}, []), ({"_FIRST": 0}, [])]
        for number, (settings, kernels) in enumerate(cases):
            name = f"of-graph-{number}.zip"
            said = [f"{len(kernels)} launches recorded in {name}"] if kernels else []
            self.program_ends(["built"], said, program=self.graph_program, **settings, **{"": name})
            self.check([l["kernel"] for l in self.launches(name)] == kernels, settings, [l["kernel"] for l in self.launches(name)])

    def links(self):
        """Machine code that the driver linked is recorded as the PTX that it was linked from; other machine code by name, not."""
        for driver in (None, self.machine_code):
            for case in ("data", "files", "copied"):
                said = ["2 launches recorded in linked.zip"]
                self.program_ends([case, "second.ptx"], said, program=self.linked_program, driver=driver, **{"": "linked.zip"})
                self.check([l["kernel"] for l in self.launches("linked.zip")] == ["add", "multiply"], case, driver)
                self.ends(0, ["replay", "linked.zip", "--optimize"], "2 launches run, 2 equal")
        said = ["no launch was recorded", "1 not recorded: add without PTX: it was loaded as machine code",
                "1 not recorded: multiply without PTX: it was loaded as machine code"]
        self.program_ends(["machine"], said, program=self.linked_program, driver=self.machine_code, **{"": "none.zip"})
        self.check(not (self.folder / "none.zip").exists(), "a record of machine code")


if __name__ == "__main__":
    sys.exit(command_tests.main(__doc__, Capture, ("--capture", "--program", "--graphs", "--linked", "--machine-code")))
