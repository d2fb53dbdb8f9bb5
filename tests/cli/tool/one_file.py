#!/usr/bin/env python3
"""No output destroys what its command reads: every command that writes a file refuses one of its inputs, by whatever name.

  tests/cli/tool/one_file.py --tool PATH

`ptxopt IN -o IN`, `tune IN -o IN`, `record cut IN -o IN` and `baseline --ratchet OLD -o OLD` replace their input: that is what
they are asked for.
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import command_tests  # noqa: E402

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<3>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [p];
  ld.global.u32 %r1, [%d1];
  add.u32 %r2, %r1, 1;
  st.global.u32 [%d1], %r2;
  ret;
}
"""
LAUNCH = ["--grid", "1", "--block", "1", "--arg", "b=buf:u32:1:zero"]
BASELINE = """{"format": "ptxopt-baseline", "version": 1, "ptxas": "", "ptxas-options": [], "units": []}
"""


class OneFile(command_tests.CommandTests):
    PARTS = ("ptx", "records", "baselines", "tuned", "replaced")

    def __init__(self, folder, tool):
        super().__init__("one_file", tool, folder)

    def kept(self, text, *words):
        """The command, whose words name the input {0} and the output {1}, refuses each name of the input as output."""
        for name in ("in", "./in", "link", "hard"):
            for made in ("in", "link", "hard"):
                (self.folder / made).unlink(missing_ok=True)
            (self.folder / "in").write_bytes(text)
            (self.folder / "link").symlink_to("in")
            os.link(self.folder / "in", self.folder / "hard")
            called = [word.format("in", name) for word in words]
            self.ends(2, called, "are one file, ")
            self.check((self.folder / "in").read_bytes() == text, called, "changed the input")

    def ptx(self):
        text = KERNEL.encode()
        for words in (["{0}", "-o", "out", "--report={1}"], ["{0}", "--dump=cfg", "--dump-file={1}"], ["--in-place", "{0}", "--report={1}"],
                      ["report", "{0}", "-o", "{1}", "--no-ptxas"], ["reduce", "{0}", "-o", "{1}", "--", "true"], ["link", "{0}", "-o", "{1}"],
                      ["time", "{0}", "-o", "{1}"], ["baseline", "{0}", "-o", "{1}"],
                      *(["run", "{0}", *LAUNCH, option] for option in ("--record={1}", "--profile={1}", "--trace={1}", "--dump=b={1}")),
                      *(["diff", "{0}", "{0}", option, "{1}"] for option in ("-o", "--markdown", "--json", "--junit"))):
            self.kept(text, *words)
        self.write("k.ptx", KERNEL)
        self.write("s.ptx", KERNEL.replace("(.param .u64 p)", "(.param .u64 p, .param .b8 s[4])"))
        for arguments in (["k.ptx", "--arg", "b=buf:u32:@{0}"], ["k.ptx", "--buffer", "b=buf:u32:1:@{0}", "--arg", "b"],
                          ["s.ptx", "--arg", "b=buf:u32:1:zero", "bytes:@{0}"]):
            for option in ("--dump=b={1}", "--record={1}", "--profile={1}", "--trace={1}"):
                self.kept(b"abcd", "run", *arguments, "--grid=1", "--block=1", option)
        (self.folder / "f").mkdir()
        (self.folder / "f/k.ptx").write_text(KERNEL)
        self.ends(2, ["baseline", "f", "-o", "f/k.ptx"], "are one file, ")
        self.ends(2, ["diff", "f", "f", "-o", "f/k.ptx"], "are one file, ")

    def records(self):
        self.write("k.ptx", KERNEL)
        self.ends(0, ["run", "k.ptx", *LAUNCH, "--record", "r.zip"])
        record = (self.folder / "r.zip").read_bytes()
        self.kept(record, "record", "facts", "{0}", "-o", "{1}")
        self.kept(record, "replay", "--gpu", "{0}", "--json", "{1}")

    def baselines(self):
        self.kept(BASELINE.encode(), "diff", "{0}", "{0}", "-o", "{1}")

    def tuned(self):
        text = KERNEL.encode()
        self.kept(text, "tune", "{0}", "-o", "out", "--report={1}")
        self.kept(text, "tune", "{0}", "-o", "out", "--save={1}")
        self.write("k.ptx", KERNEL)
        self.kept(b"{}", "tune", "k.ptx", "--apply={0}", "-o", "{1}")
        self.kept(b"{}", "k.ptx", "--facts={0}", "-o", "{1}")
        self.kept(b"abcd", "tune", "k.ptx", "--measure=gpu", "--grid=1", "--block=1", "--arg", "b=buf:u32:@{0}", "-o", "{1}")

    def replaced(self):
        self.write("in.ptx", KERNEL)
        self.ends(0, ["in.ptx", "-o", "in.ptx", "-O0", "--reprint"])
        self.check((self.folder / "in.ptx").read_text() != KERNEL, "in.ptx is the result")
        before = (self.folder / "r.zip").read_bytes()
        self.ends(0, ["record", "cut", "r.zip", "-o", "r.zip", "--launch", "1"])
        self.check((self.folder / "r.zip").read_bytes()[:2] == before[:2] == b"PK", "r.zip is a record")


if __name__ == "__main__":
    sys.exit(command_tests.main(__doc__, OneFile))
