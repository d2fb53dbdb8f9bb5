"""What the tests of this folder share: checks that are counted, the tool, a scratch folder."""
import argparse
import ctypes
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
from checking import Counted  # noqa: E402


def obey_modes():
    """For preexec_fn: the modes of files count for root, too."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


class Checks(Counted):
    """A test of the tool with a scratch folder."""

    def __init__(self, name, tool, scratch):
        super().__init__(name)
        self.tool, self.scratch = tool, scratch


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
