#!/usr/bin/env python3
"""`ptxopt replay --gpu` on the stub of the driver, whose time is the number of interpreted instructions.

  tests/cli/replay/run.py --tool PATH

Records are made by `ptxopt run --record`, and changed: texts that leave other bytes, fail, or write where nothing was
recorded; addresses that the driver does not give; what cannot be run on a device.
"""
import ctypes
import json
import os
import re
import struct
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/lib"))
import command_tests  # noqa: E402
from compilers import find  # noqa: E402
from record_kernels import FAILS, SUM  # noqa: E402

KERNELS = """.version 8.0
.target sm_80
.address_size 64
.global .align 8 .u64 last;
.global .align 4 .u32 total = 5;
.global .align 4 .u32 unused = 7;
.visible .entry divide(.param .u64 p, .param .u32 n, .param .u32 m) {
  .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r2, [m];
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %rd3, %r3, 4;
  add.u64 %rd1, %rd1, %rd3;
  ld.global.u32 %r7, [%rd1];
  cvt.u64.u32 %rd4, %r7;
  cvt.u64.u32 %rd5, %r2;
  or.b64 %rd5, %rd5, 0x100000000;
  mov.u32 %r4, 0;
  mov.u32 %r6, 0;
LOOP:
  div.u64 %rd6, %rd4, %rd5;
  div.u64 %rd7, %rd5, %rd6;
  cvt.u32.u64 %r5, %rd7;
  add.u32 %r6, %r5, %r6;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p, %r4, %r1;
  @%p bra LOOP;
  st.global.u32 [%rd1], %r6;
  atom.global.add.u32 %r8, [total], 1;
  ret;
}
.visible .entry remember(.param .u64 p) {
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [p];
  st.global.u64 [last], %rd1;
  ret;
}
""" + SUM + FAILS + """.visible .entry finds() {
  .reg .b64 %rd<5>;
  mov.u64 %rd1, total;
  st.global.u64 [last], %rd1;
  ret;
}
"""
LOOKS = """
.visible .entry looks(.param .u64 t) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [t];
  txq.width.b32 %r1, [%rd1];
  st.global.u32 [total], %r1;
  ret;
}
"""
BUFFER = ["--buffer", "x=buf:u32:32:iota"]
RUN = [*BUFFER, "--kernel", "divide", "--grid", "1", "--block", "32", "--arg", "x", "u32:64", "u32:7",
       "--kernel", "remember", "--grid", "1", "--block", "1", "--arg", "x", "--kernel", "sum", "--grid", "1", "--block", "32"]
FAST = ["--seconds", "0.01"]


class Replay(command_tests.CommandTests):
    PARTS = ("equal", "noise", "different", "failed", "addresses", "nothing", "names")

    def __init__(self, folder, tool):
        super().__init__("replay", tool, folder)
        self.library = Path(tool).parent / "emulate" / "libcuda.so.1"
        self.write("k.ptx", KERNELS)

    def environment(self, driver=None, **settings):
        return {**os.environ, "PTXOPT_CACHE_DIR": "", "PTXOPT_GPU_DRIVER": str(driver or self.library),
                "PTXOPT_EMULATION": json.dumps({"countsTime": True, **settings})}

    def record(self, name, *words, code=0):
        self.ends(code, ["run", "k.ptx", *words, "--record", name])

    def changed(self, name, change, source="r.zip"):
        """A record whose JSON `change` has altered."""
        with zipfile.ZipFile(self.folder / source) as old, zipfile.ZipFile(self.folder / name, "w") as new:
            for entry in old.namelist():
                content = old.read(entry)
                if entry == "record.json":
                    record = json.loads(content)
                    change(record)
                    content = json.dumps(record).encode()
                new.writestr(entry, content)
        return name

    def texts(self, name, old, new):
        self.check(old in KERNELS, "nothing to change", old)
        (self.folder / name).write_text(KERNELS.replace(old, new, 1))
        return name

    def results(self, *words, code=0, **how):
        self.ends(code, ["replay", "--gpu", *words, "--json", "out.json", *FAST], **how)
        return json.loads((self.folder / "out.json").read_text())

    def equal(self):
        self.record("r.zip", *RUN)
        self.ends(0, ["replay", "r.zip", "--optimize"], "3 launches run, 3 equal")
        self.ends(0, ["record", "replay", "--gpu", "r.zip", "--no-time"], "3 launches on the interpreter of ptxopt: 3 equal")
        all_ = self.results("r.zip", "--optimize")
        self.check(all_["device"]["name"] == "the interpreter of ptxopt" and all_["device"]["capability"] == [8, 0], all_["device"])
        rows = all_["launches"]
        self.check([r["kernel"] for r in rows] == ["divide", "remember", "sum"] and all(r["status"] == r["record"] == "equal" for r in rows), rows)
        # The divisions leave the loop. Each repetition has memory as it was: instructions are the same each time.
        divide = rows[0]
        self.check(divide["ratio"]["verdict"] == "faster" and divide["ratio"]["median"] < 0.95, divide)
        self.check(divide["milliseconds"]["before"]["low"] == divide["milliseconds"]["before"]["high"], divide)
        self.check(rows[2]["ratio"]["verdict"] == "cannot be distinguished" and rows[2]["iterations"] >= 11, rows[2])
        plain = self.results("r.zip", "--launch", "2-3")["launches"]
        self.check([r["launch"] for r in plain] == [2, 3] and "ratio" not in plain[0] and "after" not in plain[0]["milliseconds"], plain)
        self.ends(0, ["replay", "--gpu", "r.zip", "--no-time", "--kernel", "sum"], "sum<<<(1,1,1), (32,1,1)>>>: equal\n", "1 equal\n")

    def noise(self):
        """Times that are off by up to 2%."""
        row = self.results("r.zip", "--optimize", "--kernel", "divide", noise=0.02)["launches"][0]
        ratio = row["ratio"]
        self.check(ratio["verdict"] == "faster" and ratio["low"] < ratio["median"] < ratio["high"] < 1, row)
        row = self.results("r.zip", "--with", "k.ptx", "--kernel", "divide", noise=0.02)["launches"][0]
        self.check(row["ratio"]["verdict"] == "cannot be distinguished" and row["ratio"]["low"] < 1 < row["ratio"]["high"], row)

    def different(self):
        self.texts("o.ptx", "add.u32 %r6, %r5, %r6", "sub.u32 %r6, %r6, %r5")
        out = self.ends(1, ["replay", "--gpu", "r.zip", "--with", "o.ptx", *FAST], "divide<<<(1,1,1), (32,1,1)>>>: different: after: byte ",
                        "of 'x' of 128 bytes", "bytes differ", "2 equal, 1 differ").stdout
        self.check("x1.0" in out and "->" not in out.splitlines()[0], "what differs is timed:", out)
        row = self.results("r.zip", "--with", "o.ptx", "--kernel", "divide", code=1)["launches"][0]
        self.check(row["status"] == "different" and row["record"] == "equal" and row["detail"].startswith("after: byte"), row)
        # The plain kernel is another one than the recorded: both leave the same, and it is not what was recorded.
        name = self.changed("other.zip", lambda r: r["launches"][0].update(parameters=r["launches"][0]["parameters"][:16] + "0300000007000000"))
        row = self.results(name, "--optimize", "--kernel", "divide", code=1)["launches"][0]
        self.check(row["record"] == "different" and "'x'" in row["record_difference"] and "detail" not in row and "ratio" in row, row)
        # Between two buffers lies memory that somebody may write to unseen.
        self.texts("far.ptx", "st.global.u32 [%rd1], %r6;", "st.global.u32 [%rd1], %r6;\n st.global.u32 [%rd1 + 4096], %r6;")
        self.ends(1, ["replay", "--gpu", "r.zip", "--with", "far.ptx", "--kernel", "divide", "--no-time"], "after: it writes at 0x", "outside of its memory")

    def failed(self):
        self.texts("wrong.ptx", "st.global.u32 [%rd1], %r6;", "st.global.u32 [16], %r6;")
        self.ends(1, ["replay", "--gpu", "r.zip", "--with", "wrong.ptx", "--no-time"],
                  "divide<<<(1,1,1), (32,1,1)>>>: failed: after: cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS (700)", "2 equal, 1 fail")
        self.record("f.zip", "--kernel", "fails", "--grid", "1", "--block", "1", code=1)
        self.ends(0, ["replay", "--gpu", "f.zip", "--no-time"], "before: cuLaunchKernel: CUDA_ERROR_ILLEGAL_ADDRESS", "as when it was recorded", "1 fail as when")
        self.texts("other.ptx", ".entry divide", ".entry divides")
        self.ends(1, ["replay", "--gpu", "r.zip", "--with", "other.ptx", "--kernel", "divide", "--no-time"], "after: cuModuleGetFunction: CUDA_ERROR_NOT_FOUND")

    def addresses(self):
        """Variables lie elsewhere: parameters follow them, memory cannot."""
        def points_to_total(r):
            launch = r["launches"][0]
            total = next(m["address"] for m in launch["memory"] if m["name"] == "total")
            launch["parameters"] = struct.pack("<Q", total).hex() + launch["parameters"][16:]
            launch["block"] = [1, 1, 1]
        name = self.changed("total.zip", points_to_total)
        self.ends(1, ["replay", name, "--launch", "1"], "'total'")
        row = self.results(name, "--optimize", "--launch", "1", code=1)["launches"][0]
        self.check("'total'" in row["record_difference"] and "detail" not in row, row)
        self.record("finds.zip", "--kernel", "finds", "--grid", "1", "--block", "1")
        self.ends(0, ["replay", "--gpu", "finds.zip", "--no-time"], "refused", "byte 0 of 'last'", "the address of the variable 'total'", "0 equal, 1 refused")
        used = self.changed("used.zip", lambda r: r["launches"][0].update(heap={"size": 8 << 20, "used": [[0, 64]]}))
        self.ends(0, ["replay", "--gpu", used, "--launch", "1", "--no-time"], "refused", "malloc")
        # Textures matter to a module that uses some.
        name = self.changed("textures.zip", lambda r: r["launches"][0].update(textures=True))
        self.ends(0, ["replay", "--gpu", name, "--launch", "1", "--no-time"], "1 equal")
        (self.folder / "looks.ptx").write_text(KERNELS + LOOKS)
        self.ends(0, ["run", "looks.ptx", *BUFFER, "--kernel", "remember", "--grid", "1", "--block", "1", "--arg", "x", "--record", "looks.zip"])
        name = self.changed("looking.zip", lambda r: r["launches"][0].update(textures=True), "looks.zip")
        self.ends(0, ["replay", "--gpu", "looks.zip", "--no-time"], "1 equal")
        self.ends(0, ["replay", "--gpu", name, "--no-time"], "refused: the module uses textures")

        def moved(address):
            def move(r):
                next(m for m in r["launches"][0]["memory"] if m["name"] == "x")["address"] = address
                r["launches"][0]["memory"].sort(key=lambda m: m["address"])
            return move
        self.ends(0, ["replay", "--gpu", self.changed("low.zip", moved(4096)), "--launch", "1", "--no-time"], "refused: 'x' at 0x1000: the driver does not give")

        def aliased(r):
            memory = r["launches"][0]["memory"]
            memory[-1]["alias"] = memory[0]["address"]
        self.ends(0, ["replay", "--gpu", self.changed("alias.zip", aliased), "--launch", "1", "--no-time"], "refused", "a managed variable")

    def nothing(self):
        self.ends(2, ["replay", "--gpu", "r.zip"], "there is no CUDA driver", driver="nowhere.so")
        self.ends(2, ["replay", "--gpu", "r.zip"], "the CUDA driver has no device", devices=0)
        self.ends(2, ["replay", "--gpu", "r.zip", "--device", "1"], "there is no device 1: the driver has 1")
        self.ends(0, ["replay", "--gpu", "r.zip", "--driver", self.library, "--no-time"], "3 equal", driver="nowhere.so")
        for words in (["replay"], ["replay", "--gpu"], ["replay", "r.zip", "--json", "x"], ["replay", "--gpu", "r.zip", "-j", "2"],
                      ["replay", "--gpu", "r.zip", "--seconds", "0"], ["replay", "--gpu", "r.zip", "--optimize", "--with", "k.ptx"]):
            self.ends(2, words)
        self.ends(2, ["replay", "--gpu", "r.zip", "--with", "none.ptx"], "none.ptx")
        self.ends(2, ["replay", "--gpu", "r.zip", "--json", "no/folder/x.json", "--no-time"], "no/folder")
        if find("PTXAS", "ptxas"):
            self.ends(1, ["replay", "--gpu", "r.zip", "--load", "cubin", "--launch", "1"], "cuModuleLoadData: CUDA_ERROR_NO_BINARY_FOR_GPU")


    def names(self):
        """Each function of the driver that replaying or capturing names is one of NVIDIA's: the toolkit has a library of names."""
        nvcc = find("NVCC", "nvcc")
        stubs = list(Path(nvcc).resolve().parents[1].glob("lib*/stubs/libcuda.so")) if nvcc else []
        for stub in stubs[:1]:
            real = ctypes.CDLL(str(stub))
            used = re.findall(r'^GPU_CALL\w*\(\w+, "(\w+)"', (ROOT / "src/execute/gpu/calls.def").read_text(), re.M)
            used += re.findall(r"^INTERPOSED_FUNCTION\((\w+)\)", (ROOT / "src/execute/capture/functions.def").read_text(), re.M)
            used += re.findall(r'driver<.*>\("(\w+)"\)', (ROOT / "src/execute/capture/device.cpp").read_text())
            self.check(len(used) > 60 and all(hasattr(real, name) for name in used), "not NVIDIA's:", [n for n in used if not hasattr(real, n)])
            self.ends(2, ["replay", "--gpu", "r.zip"], "the CUDA driver has no device: cuInit", driver=stub)


if __name__ == "__main__":
    sys.exit(command_tests.main(__doc__, Replay))
