#!/usr/bin/env python3
"""Launch records: ptxopt run --record, ptxopt record, ptxopt verify --records; broken files.

  tests/cli/record/run.py --tool PATH
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
from record_kernels import FAILS, SUM  # noqa: E402

KERNELS = """.version 8.0
.target sm_80
.address_size 64
.global .align 8 .u64 last;
.global .align 4 .u32 total = 5;
.visible .entry scale(.param .u64 s_p, .param .u32 s_f) {
  .reg .b64 %rd<5>; .reg .b32 %r<5>;
  ld.param.u64 %rd1, [s_p];
  ld.param.u32 %r1, [s_f];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  mul.lo.u32 %r3, %r3, %r1;
  st.global.u32 [%rd3], %r3;
  st.global.u64 [last], %rd1;
  ret;
}
""" + SUM + FAILS
RUN = ["--kernel", "scale", "--grid", "1", "--block", "32", "--arg", "x=buf:u32:32:iota", "u32:3",
       "--kernel", "sum", "--grid", "1", "--block", "32"]


class Records(command_tests.CommandTests):
    PARTS = ("recorded", "replayed", "cut", "facts", "failed", "broken", "damaged", "bomb", "hostile", "inflated", "packed", "places", "usage")

    def __init__(self, folder, tool):
        super().__init__("record", tool, folder)
        self.write("k.ptx", KERNELS)
        self.write("other.ptx", KERNELS.replace("mul.lo.u32 %r3, %r3, %r1", "add.u32 %r3, %r3, %r1"))

    def recorded(self):
        self.ends(0, ["run", "k.ptx", *RUN, "--record", "r.zip"])
        with zipfile.ZipFile(self.folder / "r.zip") as z:
            self.check(z.testzip() is None, "the zip file is not intact")
            record = json.loads(z.read("record.json"))
        self.check([l["kernel"] for l in record["launches"]] == ["scale", "sum"], "launches", record["launches"])
        before = {m["name"]: m for m in record["launches"][1]["memory"]}
        self.check(before["total"]["variable"] and not before["x"]["variable"], "variables", before)
        self.check(before["x"]["before"] == before["x"]["after"], "sum changes x")
        self.check(before["total"]["before"] != before["total"]["after"], "sum leaves total")
        self.ends(0, ["record", "info", "r.zip"], "2 launches, 1 module", "scale<<<(1,1,1), (32,1,1)>>>")
        self.ends(0, ["record", "info", "r.zip", "--kernel", "sum"], "     2  sum")

    def replayed(self):
        self.ends(0, ["record", "replay", "r.zip"], "2 launches run, 2 equal")
        self.ends(0, ["record", "replay", "r.zip", "--optimize"], "2 equal")
        self.ends(0, ["record", "replay", "r.zip", "--optimize=-O1"], "2 equal")
        self.ends(1, ["record", "replay", "r.zip", "--with", "other.ptx"], "1 equal, 1 differ", "'x'")
        self.ends(0, ["record", "replay", "r.zip", "--with", "other.ptx", "--kernel", "sum"], "1 launches run, 1 equal")
        self.ends(0, ["verify", "k.ptx", "k.ptx", "--records", "r.zip"], "equal", "scale", "sum")
        self.ends(1, ["verify", "k.ptx", "other.ptx", "--records", "r.zip"], "different", "launch 1")

    def cut(self):
        self.ends(0, ["record", "cut", "r.zip", "-o", "sum.zip", "--launch", "2"])
        self.ends(0, ["record", "replay", "sum.zip"], "1 launches run, 1 equal")
        self.ends(0, ["record", "diff", "r.zip", "r.zip"], "2 launches compared, equal")
        self.ends(1, ["record", "diff", "r.zip", "sum.zip"], "scale and sum", "2 launches and 1")
        self.ends(2, ["record", "cut", "r.zip", "-o", "none.zip", "--launch", "3"], "launches 1 to 2")
        self.ends(2, ["record", "cut", "r.zip", "-o", "none.zip", "--launch", "0-1"], "launches 1 to 2")
        self.ends(2, ["record", "cut", "r.zip", "-o", "none.zip", "--kernel", "nothing"], "none of the launches")
        self.check(not (self.folder / "none.zip").exists(), "a record of nothing")

    def facts(self):
        """What held in the launches; more launches make ranges of it."""
        more = ["--kernel", "scale", "--grid", "3", "--block", "16", "--arg", "x", "u32:9"]
        self.ends(0, ["run", "k.ptx", *RUN, *more, "--record", "m.zip"])
        self.ends(0, ["record", "facts", "m.zip", "-o", "m.json"])
        said = {k["kernel"]: k for k in json.loads((self.folder / "m.json").read_text())["kernels"]}
        one = [{"value": 1}] * 2
        self.check(said["sum"] == {"kernel": "sum", "block": [{"value": 32}, *one], "grid": [{"value": 1}, *one]}, said)
        self.check(said["scale"] == {"kernel": "scale", "block": [{"least": 16, "most": 32, "multiple": 16}, *one],
                                     "grid": [{"least": 1, "most": 3}, *one],
                                     "parameters": [{"index": 0, "align": 256},
                                                    {"index": 1, "least": 3, "most": 9, "multiple": 3}]}, said)
        self.ends(0, ["run", "k.ptx", *RUN, "--facts", "m.json"])
        self.ends(2, ["run", "k.ptx", *RUN, *more[:-1], "u32:12", "--facts", "m.json"], "by the facts")
        self.ends(0, ["record", "facts", "m.zip", "-o", "-", "--launch", "1"], '"value": 3')
        self.ends(2, ["record", "facts", "m.zip"], "facts needs -o")
        self.ends(2, ["record", "facts", "m.zip", "-o", "n.json", "--kernel", "nothing"], "none of the launches")

    def failed(self):
        """A launch that fails is recorded without its result."""
        self.ends(1, ["run", "k.ptx", "--kernel", "fails", "--grid", "1", "--block", "1", "--record", "f.zip"])
        self.ends(0, ["record", "info", "f.zip"], "it failed")
        self.ends(0, ["record", "replay", "f.zip"], "as when it was recorded")

    def broken(self):
        data = (self.folder / "r.zip").read_bytes()
        for name, bytes_ in (("cut.zip", data[:len(data) // 2]), ("empty.zip", b""), ("text.zip", b"no record")):
            (self.folder / name).write_bytes(bytes_)
            self.ends(2, ["record", "info", name], name, "it is not a launch record")
        os.mkfifo(self.folder / "fifo.zip")
        self.ends(2, ["record", "info", "fifo.zip"], "fifo.zip", "it is not a launch record")
        self.ends(2, ["record", "info", "none.zip"], "none.zip", "No such file")
        for name, change in (("later.zip", ('"version": 1', '"version": 2')), ("other.zip", ("launch record", "x")),
                             ("place.zip", ('"module": 0', '"module": 7'))):
            with zipfile.ZipFile(self.folder / "r.zip") as old, zipfile.ZipFile(self.folder / name, "w") as new:
                for entry in old.namelist():
                    content = old.read(entry)
                    if entry == "record.json":
                        self.check(change[0].encode() in content, "nothing to change", change)
                        content = content.replace(*(x.encode() for x in change))
                    new.writestr(entry, content)
            self.ends(2, ["record", "replay", name], name)
        with zipfile.ZipFile(self.folder / "r.zip") as old, zipfile.ZipFile(self.folder / "swapped.zip", "w") as new:
            for entry in old.namelist():
                new.writestr(entry, old.read(entry) if entry == "record.json" else b"other bytes")
        self.ends(2, ["record", "replay", "swapped.zip"], "it has other bytes")

    def changed(self, change):
        """The record with another record.json."""
        with zipfile.ZipFile(self.folder / "r.zip") as old, zipfile.ZipFile(self.folder / "changed.zip", "w") as new:
            record = json.loads(old.read("record.json"))
            launch = record["launches"][0]
            change(launch, {m["name"]: m for m in launch["memory"]})
            for entry in old.namelist():
                new.writestr(entry, json.dumps(record) if entry == "record.json" else old.read(entry))
        return "changed.zip"

    def damaged(self):
        """Numbers that no record has."""
        def after_of_another(launch, memory):
            memory["x"]["after"] = memory["total"]["after"]

        def before_of_another(launch, memory):
            memory["x"]["before"] = memory["total"]["before"]

        for change in (after_of_another, before_of_another):
            self.ends(2, ["record", "replay", self.changed(change)], "'x' has another size than its bytes")
        for key, value, *says in (("grid", [2**32 + 1, 1, 1], "is not a number of 32 bits"), ("grid", [-1, 1, 1]),
                                  ("block", [1.5, 1, 1], "1.5"), ("block", [[], 1, 1]), ("shared", 2**32),
                                  ("environment", {"0": -1}), ("parameters", "0"), ("parameters", "zz"),
                                  ("module", 2**64), ("heap", {"size": -1, "used": []}),
                                  ("heap", {"size": 1024, "used": [[4096, 16]]}, "the heap of 1024 bytes"),
                                  ("heap", {"size": 1024, "used": [[16, 2**64 - 1]]}, "the heap of 1024 bytes"),
                                  ("heap", {"size": 1024, "used": [[64, 16], [0, 16]]}, "the heap of 1024 bytes")):
            name = self.changed(lambda launch, _: launch.update({key: value}))
            self.ends(2, ["record", "info", name], name, *says)
        for key, value in (("size", -1), ("size", 1e300), ("address", 2**64), ("alias", -1)):
            name = self.changed(lambda _, memory: memory["x"].update({key: value}))
            self.ends(2, ["record", "info", name], name, "is not a number of 64 bits")
        # The product is 4 modulo 2^64.
        name = self.changed(lambda launch, _: launch.update({"block": [2147549185, 4294836226, 2]}))
        self.ends(1, ["record", "replay", name, "--launch", "1"], "bad-launch")

    def bomb(self):
        """An entry that is said to be larger than it is takes no more memory than it has bytes."""
        data = bytearray((self.folder / "r.zip").read_bytes())
        with zipfile.ZipFile(self.folder / "r.zip") as z:
            record = json.loads(z.read("record.json"))
        digest = record["modules"][0]["text"].encode()
        for signature, size_at, name_at in ((b"PK\x03\x04", 22, 30), (b"PK\x01\x02", 24, 46)):
            at = next(i for i in range(len(data)) if data[i:i + 4] == signature and
                      data[i + name_at:i + name_at + len(digest)] == digest)
            data[at + size_at:at + size_at + 4] = (0xFFFFFFF0).to_bytes(4, "little")
        (self.folder / "bomb.zip").write_bytes(data)
        limit = f"ulimit -v {2 << 20}; exec {self.tool} record replay bomb.zip"
        result = subprocess.run(["sh", "-c", limit], capture_output=True, text=True, timeout=120, cwd=self.folder)
        self.check(result.returncode == 2 and "bomb.zip" in result.stderr, "bomb", result)

    def starved(self, mib, *words):
        """The command with so much address space."""
        return subprocess.run(["sh", "-c", f'ulimit -v {mib << 10}; exec "$@"', "sh", self.tool, *words], capture_output=True,
                              text=True, timeout=120, cwd=self.folder)


    def hostile(self):
        """A manifest takes little memory, whatever it holds, and the error says which limit."""
        head = '{"format": "ptxopt launch record", "version": 1, "modules": [], '
        with zipfile.ZipFile(self.folder / "r.zip") as z:
            launch = json.dumps(json.loads(z.read("record.json"))["launches"][0])
        launches = head.replace("[]", '[{"name": "m", "text": "' + "0" * 32 + '"}]') + '"launches": ['
        many = 25 << 20  # bytes
        stored, deflated = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
        for number, (kind, text, says) in enumerate((
                (deflated, "[" * many, "at most"), (deflated, " " * (400 << 20), "at most"),
                (deflated, "[" * 1_000_000, "nested deeper than 16"), (stored, "[" * many, "nested deeper than 16"),
                (stored, '{"a":' * (many // 5), "nested deeper than 16"), (stored, head + '"launches": [' + "[" * 15, "nested deeper"),
                (stored, launches + '{"memory": [' + "0," * (many // 2), "more than 1000000 values in one part"),
                (stored, head + '"x": [' + "{}," * (many // 3), "more than 1000000 values in one part"),
                (stored, launches + "0," * (many // 2), "type_error"), (stored, head + '"x": "' + "a" * many, "missing closing quote"),
                (stored, launches + (launch + ",") * (many // len(launch)) + launch + "]}", None))):
            name = f"hostile{number}.zip"
            with zipfile.ZipFile(self.folder / name, "w", kind) as z:
                z.writestr("record.json", text)
            self.check(kind == stored or (self.folder / name).stat().st_size < 500_000, name, "is large")
            done = self.starved(400, "record", "info", name, "--launch", "1")
            self.check(done.returncode == (2 if says else 0) and (not says or says in done.stderr), name, done.returncode,
                       done.stderr[-300:])

    def inflated(self):
        """Zeros compress to nothing: the memory of a launch is limited by the size of the record."""
        zeros = bytes(100 << 20)
        (self.folder / "zeros.bin").write_bytes(zeros)
        words = ["--kernel", "scale", "--grid", "1", "--block", "32", "--arg", "x=buf:u32:@zeros.bin", "u32:3"]
        self.ends(0, ["run", "k.ptx", *words, "--record", "zeros.zip"])
        self.check((self.folder / "zeros.zip").stat().st_size < 250_000, "zeros do not compress")
        self.ends(0, ["record", "info", "zeros.zip"], "MiB of memory")
        says = ["a launch of scale has 1", "the 64 MiB that a record of this size may have", "--max-memory"]
        self.ends(2, ["record", "replay", "zeros.zip"], *says)
        self.ends(2, ["verify", "k.ptx", "k.ptx", "--records", "zeros.zip"], *says)
        done = self.starved(400, "record", "replay", "zeros.zip")
        self.check(done.returncode == 2 and says[0] in done.stderr, done)
        self.ends(0, ["record", "replay", "zeros.zip", "--max-memory", "200"], "1 equal")
        self.ends(0, ["verify", "k.ptx", "k.ptx", "--records", "zeros.zip", "--max-memory", "200"], "equal")
        self.ends(2, ["record", "cut", "zeros.zip", "-o", "cut.zip"], "at most 67108864 are read")
        self.ends(0, ["record", "cut", "zeros.zip", "-o", "cut.zip", "--max-memory", "200"])
        # One content that memory is said to be again and again, at other addresses.
        def again(launch, memory):
            x = memory["x"]
            launch["memory"] += [dict(x, address=x["address"] + (i << 32), name=f"x{i}") for i in range(1, 2000)]
        name = self.changed(again)
        self.ends(0, ["record", "replay", name, "--launch", "2"], "1 equal")
        def large(launch, memory):
            memory["x"]["size"] = 2**63
            launch["memory"].append(dict(memory["x"]))
        self.ends(2, ["record", "replay", self.changed(large)], "--max-memory")
        self.ends(2, ["record", "replay", self.changed(lambda l, _: l.update({"heap": {"size": 2**40, "used": []}}))], "--max-memory")

    def packed(self):
        """A folder of launches leads to no file outside of it, and to no pipe."""
        with zipfile.ZipFile(self.folder / "r.zip") as z:
            record = json.loads(z.read("record.json"))
            contents = {name: z.read(name) for name in z.namelist() if name != "record.json"}

        def pack(code, *says, change=lambda folder, launch: None):
            folder = Path(self.folder / "launches")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for name, content in contents.items():
                (folder / name).write_bytes(content)
            (folder / "modules.json").write_text(json.dumps(record["modules"]))
            launch = json.loads(json.dumps(record["launches"][0]))
            change(folder, launch)
            if not (folder / "launch-000000001.json").exists():
                (folder / "launch-000000001.json").write_text(json.dumps(launch))
            (self.folder / "packed.zip").unlink(missing_ok=True)
            self.ends(code, ["record", "pack", "launches", "-o", "packed.zip"], *says)
            self.check((self.folder / "packed.zip").exists() == (code == 0), "packed", says)

        pack(0)
        self.ends(0, ["record", "replay", "packed.zip"], "1 equal")
        secret = self.folder / "secret"
        secret.write_text("secret")
        for name in ("../secret", str(secret), "/etc/passwd", "record.json", "", "A" * 32, "0" * 33):
            pack(2, "not called by a digest", change=lambda _, launch: launch["memory"][0].update(before=name))
        some = record["launches"][0]["memory"][0]["before"]

        def link(folder, _):
            (folder / some).unlink()
            (folder / some).symlink_to(secret)

        def pipe(folder, _):
            (folder / some).unlink()
            os.mkfifo(folder / some)

        def other(folder, _):
            (folder / some).write_text("other")

        def launch_pipe(folder, _):
            os.mkfifo(folder / "launch-000000001.json")

        def broken(folder, _):
            (folder / "modules.json").write_text("[" * 1000)

        pack(2, "not a regular file", change=link)
        pack(2, "not a regular file", change=pipe)
        pack(2, "not a regular file", change=launch_pipe)
        pack(2, "it has other bytes", change=other)
        pack(2, "modules.json", "nested deeper", change=broken)
        pack(2, "there is no module 7", change=lambda _, launch: launch.update(module=7))

    def places(self):
        """A link to a record stays a link; what is no file stays what it is; names have any bytes."""
        (self.folder / "link.zip").symlink_to("target.zip")
        (self.folder / "target.zip").write_bytes(b"")
        self.ends(0, ["record", "cut", "r.zip", "-o", "link.zip", "--launch", "1"])
        self.check((self.folder / "link.zip").is_symlink(), "a link is replaced")
        self.ends(0, ["record", "info", "target.zip"], "1 launch")
        # What happens to be beside it stays.
        (self.folder / "link.zip.part").write_text("mine")
        (self.folder / "target.zip.part").write_text("mine")
        self.ends(0, ["record", "cut", "r.zip", "-o", "link.zip", "--launch", "1"])
        self.ends(0, ["run", "k.ptx", *RUN, "--record", "target.zip"])
        self.check([(self.folder / f"{n}.zip.part").read_text() for n in ("link", "target")] == ["mine"] * 2, "a file beside it is gone")
        os.mkfifo(self.folder / "pipe")
        self.ends(2, ["record", "cut", "r.zip", "-o", "pipe", "--launch", "1"], "a record is a file")
        self.ends(2, ["run", "k.ptx", *RUN, "--record", "pipe"], "a record is a file")
        self.check((self.folder / "pipe").is_fifo(), "a pipe is replaced")
        # A place that cannot be written is known before anything runs.
        self.ends(2, ["run", "k.ptx", "--kernel", "fails", "--grid", "1", "--block", "1", "--record", "no/r.zip"], "no/r.zip")
        self.check("out-of-bounds" not in self.run("run", "k.ptx", "--kernel", "fails", "--grid", "1", "--block", "1",
                                                   "--record", "no/r.zip").stderr, "the kernel runs")
        name = os.fsdecode(b"a \xff.ptx")
        (self.folder / name).write_text(KERNELS)
        self.ends(0, ["run", name, *RUN, "--record", "bytes.zip"])
        self.ends(0, ["record", "replay", "bytes.zip"], "2 equal")

    def usage(self):
        for words in (["record"], ["record", "show", "r.zip"], ["record", "diff", "r.zip"], ["record", "cut", "r.zip"],
                      ["record", "info", "r.zip", "--with", "k.ptx"], ["record", "info", "r.zip", "other.zip"],
                      ["record", "replay", "r.zip", "--optimize", "--with", "k.ptx"],
                      ["verify", "k.ptx", "k.ptx", "--records", "r.zip", "--seed", "3"]):
            self.ends(2, words)
        self.ends(2, ["verify", "k.ptx", "k.ptx", "--records", "f.zip", "--kernel", "sum"], "no launches")
        self.ends(2, ["run", "k.ptx", *RUN, "--record", "no/such/folder/r.zip"], "no/such/folder")


if __name__ == "__main__":
    sys.exit(command_tests.main(__doc__, Records))
