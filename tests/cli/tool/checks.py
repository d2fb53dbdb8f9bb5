"""What the tests of this folder share: checks that are counted, the tool, a scratch folder."""
import argparse
import os
import sys
import tempfile
from pathlib import Path


class Checks:
    """A test with its checks; `name` stands in front of what is wrong."""

    def __init__(self, name, tool, scratch):
        self.name, self.tool, self.scratch, self.checks, self.wrong = name, tool, scratch, 0, 0

    def check(self, holds, what):
        self.checks += 1
        if not holds:
            self.wrong += 1
            print(f"{self.name}: {what}")


def run_test(test_class, methods):
    """Reads the command line of the script, runs the methods of one test, and ends the process."""
    script = sys.modules["__main__"]
    parser = argparse.ArgumentParser(description=script.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, type=os.path.abspath)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        test = test_class(Path(script.__file__).stem, args.tool, Path(scratch).resolve())
        for method in methods:
            getattr(test, method)()
    print(f"{test.name}: {test.checks - test.wrong} passed, {test.wrong} failed")
    sys.exit(1 if test.wrong else 0)
