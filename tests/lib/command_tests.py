"""What tests of the tool's commands share: one folder for all parts of a test, runs in it, checks that are counted."""
import argparse
import subprocess
import tempfile
from pathlib import Path

from checking import Counted

LIMIT = 120  # seconds for one command


class CommandTests(Counted):
    """A test derives from it, and names its methods in the order in which they run in `PARTS`."""
    PARTS = ()

    def __init__(self, name, tool, folder):
        super().__init__(name)
        self.tool, self.folder = tool, folder

    def check(self, holds, *what):
        super().check(holds, " ".join(map(str, what)))

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def environment(self, **settings):
        """The environment of a command, of what run() and ends() were given; None is ours."""
        assert not settings, settings
        return None

    def run(self, *words, text=None, **settings):
        return subprocess.run([self.tool, *map(str, words)], input=text, capture_output=True, text=True, timeout=LIMIT,
                              cwd=self.folder, env=self.environment(**settings))

    def ends(self, code, words, *pieces, **settings):
        """The command ends with this code and says these pieces."""
        done = self.run(*words, **settings)
        self.check(done.returncode == code, words, "ends with", done.returncode, "not", code, done.stdout, done.stderr)
        for piece in pieces:
            self.check(piece in done.stdout + done.stderr, words, "does not say", repr(piece), done.stdout, done.stderr)
        return done


def main(doc, make, options=()):
    """Runs the parts of `make`(folder, tool, and the values of these further options). Returns the exit code."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--tool", *options):
        parser.add_argument(option, required=True)
    paths = [str(Path(path).resolve()) for path in vars(parser.parse_args()).values()]
    with tempfile.TemporaryDirectory() as folder:
        tests = make(Path(folder), *paths)
        for part in tests.PARTS:
            getattr(tests, part)()
    print(f"{tests.name}: {tests.checks} checks, {tests.wrong} wrong")
    return 1 if tests.wrong or not tests.checks else 0
