"""What happens to files: where the output goes, and what is left of it when something fails.

Each check gets a fresh folder and a tool; it gives back what is wrong, in words, or nothing.
"""
import os
import shutil
import stat
import subprocess

from inputs import SMALL
from limits import run

BAD = SMALL.replace(b"bar.sync", b"bar.sync ;;; (")
OLD = b"// what stood here before\n"
USAGE, INVALID = 2, 3
NOBODY = 65534


class Checks:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        self.trouble = []
        for name, text in (("in.ptx", SMALL), ("bad.ptx", BAD), ("old.ptx", OLD)):
            self.write(name, text)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as f:
            f.write(text)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def names(self):
        return sorted(os.listdir(self.folder))

    def expect(self, holds, words):
        if not holds:
            self.trouble.append(words)

    def call(self, *arguments, code, **options):
        """Runs the tool in the folder; nothing in it may change unless the exit code is 0, and nothing may be left."""
        before = {n: self.read(n) for n in self.names() if os.path.isfile(self.path(n))} if code else None
        names = self.names()
        outcome = run([self.tool, *arguments], cpu_seconds=10, cwd=self.folder, **options)
        self.expect(outcome.code == code, f"{arguments}: exit code {outcome.code}, not {code}: {outcome.stderr[:200]!r}")
        if code == USAGE:
            self.expect(outcome.stderr.startswith(b"ptxopt: ") and len(outcome.stderr) < 1000,
                        f"{arguments}: message {outcome.stderr[:200]!r}")
        if code:
            self.expect(self.names() == names, f"{arguments}: files {names} became {self.names()}")
            for name in before:
                if os.path.exists(self.path(name)):
                    self.expect(self.read(name) == before[name], f"{arguments}: {name} changed")
        return outcome

    # ---- the checks ----

    def output_new(self):
        self.call("in.ptx", "-O0", "-o", "out.ptx", code=0)
        self.expect(self.read("out.ptx") == SMALL, "-O0 changed the text")
        self.expect(self.names() == ["bad.ptx", "in.ptx", "old.ptx", "out.ptx"], f"left {self.names()}")
        umask = os.umask(0)
        os.umask(umask)
        mode = stat.S_IMODE(os.stat(self.path("out.ptx")).st_mode)
        self.expect(mode == 0o666 & ~umask, f"a new file has the mode {mode:o}")

    def output_replaced(self):
        os.chmod(self.path("old.ptx"), 0o640)
        self.call("in.ptx", "-O0", "-o", "old.ptx", code=0)
        self.expect(self.read("old.ptx") == SMALL, "-O0 changed the text")
        self.expect(stat.S_IMODE(os.stat(self.path("old.ptx")).st_mode) == 0o640, "the mode changed")

    def output_is_input(self):
        self.call("in.ptx", "-O0", "--reprint", "-o", "in.ptx", code=0)
        self.expect(b"// a vector sum" not in self.read("in.ptx"), "not written")

    def input_bad(self):
        self.call("bad.ptx", "-o", "old.ptx", code=INVALID)
        self.call("bad.ptx", "-o", "new.ptx", code=INVALID)
        self.call("bad.ptx", "-o", "bad.ptx", code=INVALID)
        self.call("bad.ptx", "-o", "old.ptx", "--report", "report.json", code=INVALID)

    def input_missing(self):
        self.call("nothing.ptx", "-o", "old.ptx", code=USAGE)
        self.call("", "-o", "old.ptx", code=USAGE)
        self.call("nothing.ptx/in.ptx", "-o", "old.ptx", code=USAGE)

    def input_folder(self):
        self.call(".", "-o", "old.ptx", code=USAGE)

    def output_folder(self):
        os.mkdir(self.path("folder"))
        self.call("in.ptx", "-o", "folder", code=USAGE)

    def output_folder_missing(self):
        self.call("in.ptx", "-o", "missing/out.ptx", code=USAGE)
        self.call("in.ptx", "-o", "in.ptx/out.ptx", code=USAGE)
        self.call("in.ptx", "-o", "", code=USAGE)

    def output_name_too_long(self):
        self.call("in.ptx", "-o", "x" * 300, code=USAGE)

    def output_name_longest(self):  # the name fits, but not with a suffix for a temporary file
        self.call("in.ptx", "-O0", "-o", "x" * 255, code=0)

    def output_to_full_disk(self):
        if not os.path.exists("/dev/full"):
            return
        self.call("in.ptx", "-o", "/dev/full", code=USAGE)
        with open("/dev/full", "wb") as full:
            self.call("in.ptx", "-o", "-", code=USAGE, stdout=full)
            self.call("in.ptx", code=USAGE, stdout=full)
        os.symlink("/dev/full", self.path("link"))
        self.call("in.ptx", "-o", "link", code=USAGE)
        for words in (["--list-passes"], ["--help"], ["verify", "in.ptx", "in.ptx"], ["doctor"]):
            with open("/dev/full", "wb") as full:
                self.call(*words, code=USAGE, stdout=full)

    def output_to_null(self):
        self.call("in.ptx", "-o", "/dev/null", code=0)
        self.expect(stat.S_ISCHR(os.stat("/dev/null").st_mode), "/dev/null was replaced")

    def output_through_link(self):
        os.symlink("old.ptx", self.path("link"))
        self.call("in.ptx", "-O0", "-o", "link", code=0)
        self.expect(os.path.islink(self.path("link")), "the link was replaced")
        self.expect(self.read("old.ptx") == SMALL, "not written through the link")

    def output_through_dangling_link(self):
        os.symlink("later.ptx", self.path("link"))
        self.call("in.ptx", "-O0", "-o", "link", code=0)
        self.expect(os.path.islink(self.path("link")), "the link was replaced")
        self.expect(os.path.exists(self.path("later.ptx")) and self.read("later.ptx") == SMALL, "not written through the link")

    def output_through_link_bad(self):
        os.symlink("old.ptx", self.path("link"))
        self.call("bad.ptx", "-o", "link", code=INVALID)
        self.expect(os.path.islink(self.path("link")), "the link was replaced")

    def output_through_circle(self):
        os.symlink("b", self.path("a"))
        os.symlink("a", self.path("b"))
        self.call("in.ptx", "-o", "a", code=USAGE)

    def output_not_writable(self):
        os.chmod(self.path("old.ptx"), 0o444)
        user = self.unprivileged()
        self.call("in.ptx", "-o", "old.ptx", code=USAGE, user=user)

    def output_folder_not_writable(self):
        user = self.unprivileged()
        os.chmod(self.folder, 0o555)
        self.call("in.ptx", "-o", "new.ptx", code=USAGE, user=user)
        self.call("in.ptx", "-o", "old.ptx", code=USAGE, user=user)
        os.chmod(self.folder, 0o755)

    def input_not_readable(self):
        user = self.unprivileged()
        os.chmod(self.path("in.ptx"), 0)
        self.call("in.ptx", "-o", "old.ptx", code=USAGE, user=user)
        os.chmod(self.path("in.ptx"), 0o644)

    def unprivileged(self):
        """Permissions do not bind root: the child becomes someone else, who owns the folder and reaches the tool there."""
        if os.geteuid() != 0:
            return None
        self.tool = shutil.copy(self.tool, self.path("ptxopt"))
        os.chown(self.folder, NOBODY, NOBODY)
        for name in self.names():
            os.chown(self.path(name), NOBODY, NOBODY)
        return NOBODY

    def standard_streams(self):
        with open(self.path("in.ptx"), "rb") as text:
            outcome = self.call("-", "-O0", "-o", "-", code=0, stdin=text)
        self.expect(outcome.stdout == SMALL, "- to - changed the text")
        with open(self.path("in.ptx"), "rb") as text:
            outcome = self.call("-", "-O0", code=0, stdin=text)
        self.expect(outcome.stdout == SMALL, "- to standard output changed the text")
        with open(self.path("bad.ptx"), "rb") as text:
            outcome = self.call("-", "-o", "old.ptx", code=INVALID, stdin=text)
        self.expect(outcome.stderr.startswith(b"<stdin>:"), "the message does not name <stdin>")
        outcome = self.call("-", "-o", "old.ptx", code=INVALID)  # an empty one

    def standard_input_is_pipe(self):
        """A pipe that gives a byte now and then, and has no size."""
        read, write = os.pipe()
        child = subprocess.Popen([self.tool, "-", "-O0"], stdin=read, stdout=subprocess.PIPE)
        os.close(read)
        for i in range(0, len(SMALL), 97):
            os.write(write, SMALL[i:i + 97])
        os.close(write)
        output = child.communicate(timeout=60)[0]
        self.expect(child.returncode == 0 and output == SMALL, "a pipe as input")

    def standard_output_closes(self):
        """The reader goes away: no crash, no hang; a signal SIGPIPE is as good as exit code 2."""
        big = SMALL + b"// filler\n" * 100_000
        self.write("big.ptx", big)
        child = subprocess.Popen([self.tool, "big.ptx", "-O0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=self.folder)
        child.stdout.read(10)
        child.stdout.close()
        self.expect(child.wait(60) in (-13, USAGE), f"reader gone: exit code {child.returncode}")

    def standard_output_closed(self):
        for closed in (">&-", "<&- >&-"):
            code = subprocess.run(["sh", "-c", f'"$0" in.ptx -O0 {closed}', self.tool], cwd=self.folder,
                                  stderr=subprocess.DEVNULL, timeout=60).returncode
            self.expect(code == USAGE, f"{closed}: exit code {code}")
        self.expect(self.read("in.ptx") == SMALL, "the input changed")

    def report_not_writable(self):
        self.call("in.ptx", "-o", "old.ptx", "--report", "missing/report.json", code=USAGE)
        self.write("report.json", OLD)
        self.call("in.ptx", "-o", "missing/out.ptx", "--report", "report.json", code=USAGE)

    def report_in_the_way(self):
        """One name for both: neither can be meant."""
        self.call("in.ptx", "-o", "old.ptx", "--report", "old.ptx", code=USAGE)

    def bad_options(self):
        for options in (["--passes", "nonsense"], ["--skip-pass", "nonsense"], ["-O4"], ["-Ox"], ["--nonsense"], ["-j", "-1"],
                        ["-j", "99999999999999999999"], ["--liveness-memory-mb", "-5"], ["--print-after", "nonsense"], ["in.ptx"]):
            self.call("in.ptx", "-o", "old.ptx", *options, code=USAGE)
        self.call(code=USAGE)


def all_checks():
    first = list(Checks.__dict__).index("output_new")
    return [n for n in list(Checks.__dict__)[first:] if n != "unprivileged" and not n.startswith("_")]
