#!/usr/bin/env python3
"""Which files that `.file` names `ptxopt report` copies lines of into the page.

  tests/cli/report/sources.py --tool PATH

Whoever wrote the PTX chooses the names. Only regular files of some size below the folder of the PTX, the current folder, or
--source-root are read, wherever links lead.
"""
import json
import os
import re
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import command_tests  # noqa: E402

SECRET = "what nobody is to see"
MIB = 1 << 20


def text_of(*names):
    lines = [f'.file {i} "{name}"' for i, name in enumerate(names, 1)]
    places = [f" .loc {i} 1 1\n st.global.u32 [%rd1], {i};" for i in range(1, len(names) + 1)]
    return "\n".join([".version 8.0", ".target sm_80", ".address_size 64", *lines, ".visible .entry k(.param .u64 p) {",
                      " .reg .b64 %rd<2>;", " ld.param.u64 %rd1, [p];", *places, " ret;", "}", ""])


class Sources(command_tests.CommandTests):
    PARTS = ("inside", "outside", "links", "hidden", "roots", "strange", "large", "usage")

    def __init__(self, folder, tool):
        super().__init__("report.sources", tool, folder / "work")
        self.outside_folder = folder / "outside"
        for made in (self.folder / "ptx/sub", self.outside_folder):
            made.mkdir(parents=True)
        (self.outside_folder / "secret.txt").write_text(SECRET + "\n")

    def page(self, names, *options, ptx="ptx/k.ptx", cwd=None):
        """The lines that are copied, by name, and the notes."""
        (self.folder / ptx).write_text(text_of(*names))
        out = self.folder / "k.html"
        done = self.ends(0, ["report", self.folder / ptx, "-o", out, "--no-ptxas", *options]) if cwd is None else None
        if cwd is not None:
            before, self.folder = self.folder, cwd
            done = self.ends(0, ["report", before / ptx, "-o", out, "--no-ptxas", *options])
            self.folder = before
        self.check(done.stderr == "", done.stderr)
        text = out.read_text()
        data = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.S)[1])
        lines = {data["files"][str(s[0])]: s[2] for s in data["sources"] if len(s) > 2}
        return lines, " ".join(data["notes"]), text

    def refused(self, names, *options, why="do not lie below", **where):
        lines, notes, text = self.page(names, *options, **where)
        self.check(not lines and SECRET not in text, names, "are copied", lines)
        self.check(why in notes and all(f"'{name}'" in notes for name in names[:5]), names, "the page says", notes)

    def inside(self):
        """Beside the PTX, below its folder, and below the current folder; a folder that is not there does not matter."""
        (self.folder / "ptx/a.cu").write_text("one\n")
        (self.folder / "ptx/sub/b.cu").write_text("two\n")
        (self.folder / "c.cu").write_text("three\n")
        names = ["a.cu", "sub/b.cu", "/no/such/folder/a.cu", str(self.folder / "ptx/sub/b.cu"), str(self.folder / "c.cu"), "c.cu"]
        lines, notes, _ = self.page(names)
        self.check(list(lines.values()) == ["one", "two", "one", "two", "three", "three"] and not notes, lines, notes)
        lines, notes, _ = self.page(["none.cu", "/no/such/file.cu"])
        self.check(not lines and not notes, lines, notes)
        # One that no line is of is not read.
        os.mkfifo(self.folder / "ptx/pipe")
        text = text_of("a.cu").replace('.file 1 ', '.file 7 "pipe"\n.file 1 ')
        (self.folder / "ptx/k.ptx").write_text(text)
        self.ends(0, ["report", "ptx/k.ptx", "-o", "k.html", "--no-ptxas"])

    def outside(self):
        secret = str(self.outside_folder / "secret.txt")
        self.refused([secret])
        self.refused(["../../outside/secret.txt"])
        self.refused([str(self.folder / "ptx/../../outside/secret.txt")])
        self.refused(["/etc/passwd"], cwd=Path("/"))  # the root holds everything
        lines, notes, _ = self.page([secret] * 1 + [f"/etc/{n}" for n in ("passwd", "group", "hosts", "services", "fstab", "profile")])
        self.check(not lines and notes.count("'") < 14, "the notes name all:", notes)

    def links(self):
        """Where a link leads counts, for files and for folders."""
        (self.folder / "ptx/link.cu").symlink_to(self.outside_folder / "secret.txt")
        (self.folder / "ptx/linked").symlink_to(self.outside_folder)
        (self.folder / "ptx/inner.cu").symlink_to("a.cu")
        self.refused(["link.cu"])
        self.refused(["linked/secret.txt"])
        self.check(self.page(["inner.cu"])[0] == {"inner.cu": "one"}, "a link inside")
        # A folder of the same beginning is another one.
        (self.folder / "ptx-more").mkdir()
        (self.folder / "ptx-more/x.cu").write_text(SECRET)
        self.refused([str(self.folder / "ptx-more/x.cu")], cwd=self.folder / "ptx")

    def hidden(self):
        (self.folder / ".ssh").mkdir()
        (self.folder / ".ssh/key").write_text(SECRET)
        (self.folder / "ptx/.env").write_text(SECRET)
        self.refused([".env"])
        self.refused([str(self.folder / ".ssh/key")])
        lines, _, _ = self.page([str(self.folder / ".ssh/key")], "--source-root", ".ssh")
        self.check(list(lines.values()) == [SECRET], "--source-root", lines)

    def roots(self):
        secret = str(self.outside_folder / "secret.txt")
        other = self.outside_folder / "other"
        other.mkdir()
        (other / "d.cu").write_text("four\n")
        roots = ["--source-root", self.outside_folder, "--source-root", other]
        lines, notes, _ = self.page([secret, "d.cu", "other/d.cu", "/build/machine/d.cu"], *roots)
        self.check(list(lines.values()) == [SECRET, "four", "four", "four"] and not notes, lines, notes)
        self.refused([secret], "--source-root", other)

    def strange(self):
        """What is not a file is passed over, and nothing waits for it."""
        os.mkfifo(self.folder / "ptx/fifo.cu")
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(os.path.relpath(self.folder / "ptx/socket.cu"))
            self.refused(["fifo.cu", "socket.cu"], why="not regular files")
        lines, notes, _ = self.page(["sub", ".", "..", ""])
        self.check(not lines, lines, notes)
        self.refused(["/dev/zero"])
        self.refused(["/dev/zero"], "--source-root", "/dev", why="not regular files")

    def large(self):
        with (self.folder / "ptx/large.cu").open("wb") as f:
            f.truncate(100 << 30)
        self.refused(["large.cu"], why="more than 16 MiB")
        for i in range(6):
            with (self.folder / f"ptx/part{i}.cu").open("wb") as f:
                f.write(b"x\n")
                f.truncate(12 * MIB)
        lines, notes, _ = self.page([f"part{i}.cu" for i in range(6)])
        self.check(list(lines) == [f"part{i}.cu" for i in range(5)] and "all source files have more than 64 MiB" in notes, lines, notes)

    def usage(self):
        self.ends(2, ["report", "ptx/k.ptx", "-o", "k.html", "--no-ptxas", "--source-root", "none"], "none")
        self.ends(2, ["report", "ptx/k.ptx", "-o", "k.html", "--no-ptxas", "--source-root", "ptx", "--no-source"], "--no-source")


if __name__ == "__main__":
    sys.exit(command_tests.main(__doc__, Sources))
