#!/usr/bin/env python3
"""ptxopt --in-place: files are replaced whole or left alone, the others go on, and -j changes nothing.

  in_place.py --tool PTXOPT
"""
import json
import os
import pty
import re
import shutil
import socket
import subprocess
from pathlib import Path

from checks import Checks, obey_modes, run_test

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = sorted((ROOT / "samples").glob("*.ptx"))
OLD = 1_000_000_000  # a time stamp, in seconds


def copies(folder, wrong=()):
    """The samples in a tree: some at the top, some below; `wrong` holds more files, as name and text."""
    for i, sample in enumerate(SAMPLES):
        to = folder / ("deep/er" if i % 2 else ".") / sample.name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(sample, to)
    (folder / "notes.txt").write_text("no PTX")
    for name, text in wrong:
        (folder / name).write_text(text)
    for file in folder.rglob("*"):
        os.utime(file, (OLD, OLD))


def texts(folder):
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


class Test(Checks):
    def run(self, *arguments, **options):
        options.setdefault("timeout", 60)
        return subprocess.run([self.tool, *map(str, arguments)], capture_output=True, text=True, **options)

    def folder(self, name):
        path = self.scratch / name
        path.mkdir()
        return path

    def optimized(self, file):
        run = self.run(file, "-o", "-")
        self.check(run.returncode == 0, f"{file}: {run.stderr}")
        return run.stdout.encode()

    def all_of_a_folder(self):
        one, two = self.folder("one"), self.folder("two")
        copies(one)
        copies(two)
        before = texts(one)
        wanted = {name: self.optimized(one / name) if name.endswith(".ptx") else text for name, text in before.items()}
        self.check(all(wanted[n] != t for n, t in before.items() if n.endswith(".ptx")), "the samples do not change")
        first = self.run("--in-place", one, "-j", 1, "--report", self.scratch / "one.json")
        second = self.run("--in-place", two, "-j", 4, "--report", self.scratch / "two.json")
        self.check(first.returncode == 0 and texts(one) == wanted, f"-j 1: not what -o writes; {first.stderr}")
        self.check(second.returncode == 0 and texts(two) == wanted, f"-j 4: not what -o writes; {second.stderr}")
        self.check(first.stderr.replace(str(one), str(two)) == second.stderr, "the table depends on -j")
        self.check(not list(self.scratch.rglob("*.ptxopt-*")), "temporary files are left")

        # The table: a row a file, their sum, as in the report, which is the same for all -j.
        report = json.loads((self.scratch / "one.json").read_text())
        other = (self.scratch / "two.json").read_text().replace(str(two), str(one))
        self.check(report == json.loads(other), "the report depends on -j")
        self.check(len(report["files"]) == len(SAMPLES) and all(f["replaced"] for f in report["files"]), "the report")
        for entry in [*report["files"], None]:
            n = [[e["report"]["instructions"][k] for e in report["files"] if entry in (e, None)]
                 for k in ("before", "after")]
            functions = sum(len(e["report"]["functions"]) for e in report["files"] if entry in (e, None))
            name = re.escape(entry["file"]) if entry else f"{len(SAMPLES)} files"
            row = rf"^{name} +{functions} +{functions} +{sum(n[0])} +{sum(n[1])} +[-+]\d+\.\d%$"
            self.check(re.search(row, first.stderr, re.M), f"no row {row} in\n{first.stderr}")

        # A second time nothing changes: no file is written.
        for file in one.rglob("*.ptx"):
            os.utime(file, (OLD, OLD))
        again = self.run("--in-place", one)
        self.check(again.returncode == 0 and again.stderr == f"ptxopt: 0 of {len(SAMPLES)} files changed\n",
                   f"again: {again.stderr}")
        self.check(all(f.stat().st_mtime == OLD for f in one.rglob("*.ptx")), "an unchanged file was written")
        shown = self.run("--in-place", one, "-v").stderr
        self.check(all(str(f) in shown for f in one.rglob("*.ptx")) and "notes.txt" not in shown, "-v shows all files")

    def failures(self):
        folder = self.folder("failures")
        copies(folder, [("bad.ptx", ".version 8.0\n.target sm_80\n.visible .entry k() { add.u32 %r1 }\n"),
                        ("empty.ptx", "")])
        before = texts(folder)
        run = self.run("--in-place", folder, folder / "missing.ptx", "-j", 2, "--report", self.scratch / "f.json")
        self.check(run.returncode == 3, f"exit code {run.returncode}, the worst is 3")
        now = texts(folder)
        self.check({n for n in now if now[n] == before[n]} == {"bad.ptx", "empty.ptx", "notes.txt"}, "what is left alone")
        self.check(f"{folder}/bad.ptx:3:" in run.stderr and f"'{folder}/missing.ptx': No such file" in run.stderr,
                   f"places and reasons: {run.stderr}")
        self.check(run.stderr.endswith(f"{len(SAMPLES)} of {len(SAMPLES) + 3} files changed, 3 failed\n"), run.stderr)
        status = {Path(f["file"]).name: f["status"] for f in json.loads((self.scratch / "f.json").read_text())["files"]}
        self.check(status == {**{s.name: 0 for s in SAMPLES}, "bad.ptx": 3, "empty.ptx": 3, "missing.ptx": 2},
                   f"the report's codes: {status}")

        empty = self.folder("empty")
        run = self.run("--in-place", empty)
        self.check(run.returncode == 2 and "no *.ptx below" in run.stderr, f"an empty folder: {run.stderr}")
        locked = self.folder("locked")
        copies(locked)
        locked.chmod(0o555)
        before = texts(locked)
        run = self.run("--in-place", *locked.glob("*.ptx"), preexec_fn=obey_modes)
        locked.chmod(0o755)
        self.check(run.returncode == 2 and texts(locked) == before, f"a locked folder: {run.stderr}")

    def unreadable_folders(self):
        """They are named, and the others go on, before them and after them; diff and baseline compare nothing without them."""
        folder = self.folder("unreadable")
        for name in ("a", "b/c", "b/d", "e"):
            (folder / name).mkdir(parents=True)
            shutil.copy(SAMPLES[0], folder / name / "k.ptx")
        closed = [folder / "b/c", folder / "b/d"]
        wanted = self.optimized(SAMPLES[0])
        for at in closed:
            at.chmod(0)
        run = self.run("--in-place", folder, preexec_fn=obey_modes)
        named = "".join(f"ptxopt: error: cannot read '{at}': Permission denied\n" for at in closed)
        self.check(run.returncode == 2 and run.stderr.startswith(named) and "2 of 2 files changed" in run.stderr, f"unreadable: {run.stderr}")
        self.check((folder / "a/k.ptx").read_bytes() == (folder / "e/k.ptx").read_bytes() == wanted, "the others go on")
        for words in (["diff", folder, folder], ["baseline", folder, "-o", self.scratch / "b.json"]):
            run = self.run(*words, preexec_fn=obey_modes)
            self.check(run.returncode == 2 and all(f"cannot read '{at}'" in run.stderr for at in closed), f"{words}: {run.stderr}")
            self.check(not (self.scratch / "b.json").exists(), "a baseline of a part")
        for at in closed:
            at.chmod(0o755)
        self.check(closed[0].joinpath("k.ptx").read_bytes() == SAMPLES[0].read_bytes(), "nothing is written there")

    def links(self):
        folder = self.folder("links")
        real = folder / "real.ptx"
        shutil.copy(SAMPLES[0], real)
        real.chmod(0o640)
        (folder / "link.ptx").symlink_to("real.ptx")
        (folder / "round").symlink_to(folder)
        wanted = self.optimized(real)
        run = self.run("--in-place", folder, real, folder / "link.ptx")
        self.check(run.returncode == 0 and "1 of 1 files changed" in run.stderr, f"links: {run.stderr}")
        self.check((folder / "link.ptx").is_symlink() and real.read_bytes() == wanted, "the link is replaced, not its file")
        self.check(real.stat().st_mode & 0o777 == 0o640, "the mode is kept")

    def hard_links(self):
        """All names of a file have the result, one file is optimized once, and nothing is lost when it cannot be written."""
        for sample in SAMPLES[:2]:
            folder = self.folder(f"hard {sample.stem}")
            a, b, alone = folder / "a.ptx", folder / "b.ptx", folder / "alone.ptx"
            shutil.copy(sample, a)
            shutil.copy(sample, alone)
            a.chmod(0o751)
            os.link(a, b)
            os.link(a, folder / "kept")
            (folder / "soft.ptx").symlink_to("b.ptx")
            wanted, inode = self.optimized(a), a.stat().st_ino
            run = self.run("--in-place", folder, "-j", 4)
            self.check(run.returncode == 0 and "2 of 2 files changed" in run.stderr, f"hard links: {run.stderr}")
            self.check(all((folder / n).stat().st_ino == inode for n in ("a.ptx", "b.ptx", "kept", "soft.ptx")), "one file still")
            self.check(a.read_bytes() == wanted and alone.read_bytes() == wanted, "its text is the result")
            self.check(a.stat().st_mode & 0o777 == 0o751, "its mode is kept")
            self.check(sorted(p.name for p in folder.iterdir()) == ["a.ptx", "alone.ptx", "b.ptx", "kept", "soft.ptx"],
                       f"nothing else is left: {sorted(p.name for p in folder.iterdir())}")
            # -o goes through them too, to a longer text and to a shorter one.
            for text in (b"x" * (len(wanted) + 9000), b"x"):
                a.write_bytes(text)
                run = self.run(sample, "-o", b)
                self.check(run.returncode == 0 and a.read_bytes() == wanted and b.stat().st_ino == inode, f"-o: {run.stderr}")
        # No room: the file is as it was. A limit on the size of files is as good as a full disk.
        big = SAMPLES[0].read_text()
        for name, text in (("rename", big), ("over", big), ("grows", ".version 8.0")):
            folder = self.folder(f"full {name}")
            file = folder / "file.ptx"
            file.write_text(text)
            if name != "rename":
                os.link(file, folder / "other")
            command = f'ulimit -f 1; exec "$@"'
            run = subprocess.run(["bash", "-c", command, "bash", self.tool, SAMPLES[0], "--guard=off", "-o", file], capture_output=True,
                                 text=True, timeout=60)
            self.check(run.returncode == 2 and "cannot write" in run.stderr and "File too large" in run.stderr, f"{name}: {run.stderr}")
            self.check(file.read_text() == text, f"{name}: the file is as it was")
            self.check(len(list(folder.iterdir())) == (1 if name == "rename" else 2), f"{name}: {list(folder.iterdir())}")

    def attributes(self):
        """Attributes of the file stay, where the file system has some."""
        folder = self.folder("attributes")
        file = folder / "file.ptx"
        shutil.copy(SAMPLES[0], file)
        try:
            os.setxattr(file, "user.made-by", b"us")
        except OSError:
            return
        inode = file.stat().st_ino
        run = self.run("--in-place", file)
        self.check(run.returncode == 0 and "1 of 1 files changed" in run.stderr, run.stderr)
        self.check("user.made-by" in os.listxattr(file), "the attribute is gone")
        self.check(file.stat().st_ino != inode, "a file with one name is replaced as a whole")

    def other_things(self):
        """What is no regular file is not replaced, nor waited for; pipes and devices are read and written."""
        folder = self.folder("things")
        pipe, listener = folder / "pipe.ptx", socket.socket(socket.AF_UNIX)
        os.mkfifo(pipe)
        listener.bind(str(folder / "socket.ptx"))
        shutil.copy(SAMPLES[0], folder / "file.ptx")
        (folder / "link.ptx").symlink_to("pipe.ptx")
        wanted = self.optimized(SAMPLES[0])
        run = self.run("--in-place", pipe, folder / "link.ptx", folder / "socket.ptx", "/dev/null", folder / "file.ptx", timeout=20)
        self.check(run.returncode == 2 and "5 files changed" not in run.stderr, f"exit code {run.returncode}: {run.stderr}")
        for name, kind in ((pipe, "a named pipe"), (folder / "socket.ptx", "a socket"), ("/dev/null", "a device")):
            self.check(f"cannot replace '{name}': it is {kind}" in run.stderr, f"{kind}: {run.stderr}")
        self.check((folder / "file.ptx").read_bytes() == wanted, "the others go on")
        run = self.run("--in-place", folder, timeout=20)
        self.check(run.returncode == 0 and "0 of 1 files" in run.stderr, f"a folder with a pipe in it: {run.stderr}")
        run = self.run(SAMPLES[0], "-o", folder / "socket.ptx")
        self.check(run.returncode == 2 and "it is a socket" in run.stderr, f"-o SOCKET: {run.stderr}")
        run = self.run(SAMPLES[0], "-o", folder)
        self.check(run.returncode == 2 and "it is a folder" in run.stderr, f"-o FOLDER: {run.stderr}")
        listener.close()

        # To a pipe that somebody reads soon, from a pipe that somebody writes.
        reader = subprocess.Popen(["sh", "-c", 'sleep 0.5; exec cat "$0"', pipe], stdout=subprocess.PIPE)
        run = self.run(SAMPLES[0], "-o", pipe)
        out, _ = reader.communicate(timeout=20)
        self.check(run.returncode == 0 and out == wanted, f"-o PIPE: {run.stderr}")
        writer = subprocess.Popen(["sh", "-c", 'exec cat "$0" > "$1"', SAMPLES[0], pipe])
        run = self.run(pipe, "-o", "-")
        writer.wait(timeout=20)
        self.check(run.returncode == 0 and run.stdout.encode() == wanted, f"a pipe as the input: {run.stderr}")
        # Devices; and standard output by its other names, where it is a pipe, and where it is a file with something in it.
        self.check(self.run(SAMPLES[0], "-o", "/dev/null").returncode == 0 and not Path("/dev/null").is_file(), "/dev/null")
        run = self.run(SAMPLES[0], "-o", "/dev/full")
        self.check(run.returncode == 2 and "No space left" in run.stderr, f"/dev/full: {run.stderr}")
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            run = self.run(SAMPLES[0], "-o", name)
            self.check(run.returncode == 0 and run.stdout.encode() == wanted, f"{name}: {run.returncode} {run.stderr}")
            to = folder / "to"
            with to.open("wb") as file:
                file.write(b"before\n")
                file.flush()
                run = subprocess.run([self.tool, SAMPLES[0], "-o", name], stdout=file, stderr=subprocess.PIPE, timeout=60)
                file.seek(0, os.SEEK_END)
                file.write(b"after\n")
            self.check(run.returncode == 0 and to.read_bytes() == b"before\n" + wanted + b"after\n", f"{name} is a file: {run.stderr}")
        # Two outputs that are one file.
        (folder / "there").write_text("")
        for one, two in (("new", "./new"), ("there", "./there"), ("there", "linked")):
            (folder / "linked").unlink(missing_ok=True)
            os.link(folder / "there", folder / "linked")
            run = self.run(SAMPLES[0], "-o", one, "--report", two, cwd=folder)
            self.check(run.returncode == 2 and "two outputs to one file" in run.stderr, f"{one}, {two}: {run.stderr}")
            self.check((folder / "there").read_text() == "" and not (folder / "new").exists(), "nothing is written")

    def usage(self):
        a, b = SAMPLES[0], SAMPLES[1]
        for arguments, words in (
                ([a, b], "need --in-place"),
                (["--in-place", a, "-o", self.scratch / "x"], "--output"),
                (["--in-place", "-"], "standard input"),
                (["--in-place", a, "--dump", "cfg"], "--dump"),
                (["--in-place", a, b, "--passes", "nonsense"], "nonsense"),
                (["--in-place", a, "--report", a], "one file"),
        ):
            before = a.read_bytes()
            run = self.run(*arguments)
            self.check(run.returncode == 2 and words in run.stderr and run.stderr.count("nonsense") <= 1,
                       f"{arguments}: {run.returncode}, {run.stderr}")
            self.check(a.read_bytes() == before, "a sample of the repository changed")

    def terminal(self):
        """Colours and a bar on a terminal, nothing of them elsewhere; NO_COLOR and --color."""
        folder = self.folder("terminal")
        # More than a second of work for any machine, in many pieces.
        text = SAMPLES[0].read_text()
        body = text[text.index(".visible .entry"):]
        names = [re.sub(r"(?<=\.entry )\w+", f"k{i}", body, count=1) for i in range(1200)]
        big = text[:text.index(".visible .entry")] + "\n".join(names)
        for i in range(40):
            (folder / f"{i}.ptx").write_text(big)

        def seen(*arguments, **environment):
            master, slave = pty.openpty()
            run = subprocess.Popen([self.tool, "--in-place", folder, *arguments], stderr=slave, stdout=slave,
                                   env={**os.environ, "TERM": "xterm", "NO_COLOR": "", **environment})
            os.close(slave)
            out = b""
            while True:
                try:
                    got = os.read(master, 65536)
                except OSError:
                    break
                if not got:
                    break
                out += got
            os.close(master)
            self.check(run.wait() == 0, "exit code on a terminal")
            return out.decode()

        out = seen("--reprint")
        bars = re.findall(r"\r\[([#.]{24})\] (\d+)/40", out)
        self.check(bars and all(len(b.rstrip(".")) == int(n) * 24 // 40 for b, n in bars), f"no bar: {out[:300]!r}")
        self.check("\x1b[32m" in out and out.count("\r\x1b[K") >= 1, "no colours on a terminal")
        shutil.rmtree(folder)
        folder.mkdir()
        copies(folder)
        self.check("\x1b[" not in seen("-O1", NO_COLOR="1"), "NO_COLOR is not respected")
        self.check("\x1b[" not in seen("--reprint", TERM="dumb"), "a dumb terminal gets colours")
        self.check("\x1b[" not in seen("-v", "--color=never"), "--color=never is not respected")
        always = self.run("--in-place", folder, "-v", "--color=always").stderr
        self.check("\x1b[1m" in always and "\r" not in always, "--color=always gives no colours, or a bar")


if __name__ == "__main__":
    run_test(Test, ["all_of_a_folder", "failures", "unreadable_folders", "links", "hard_links", "attributes", "other_things", "usage", "terminal"])
