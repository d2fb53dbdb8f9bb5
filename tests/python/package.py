"""The Python package in the source tree, on the library and the program of a build: import this before ptxopt."""
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "lib"))


def use(tool):
    """Makes `import ptxopt` that of the sources, here and in the processes that the test starts."""
    tool = Path(tool).resolve()
    settings = {"PTXOPT": tool, "PTXOPT_LIBRARY": tool.parent / "libptxopt.so",
                "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")]))}
    os.environ.update({name: str(value) for name, value in settings.items()})
    for name in list(os.environ):
        if name.startswith("PTXOPT_HOOK") or name == "PTXOPT_OPTIONS":
            del os.environ[name]
    sys.path.insert(0, str(ROOT / "python"))


def sample(name):
    return (ROOT / "samples" / name).read_text(encoding="utf-8")
