#!/usr/bin/env python3
"""samples/cluster: the plain loop and Ninja make the same files; units are whole or not there, and can be done again.

  tests/cli/cluster/run.py --tool PTXOPT

Without ptxas it says so and ends with status 77; Ninja is left out where there is none.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from common import NO_PTXAS, assert_same, contents, find_ptxas, make_input, script


def check_results(source, names, out):
    """Each PTX has a PTX and a JSON; what cannot be tuned is as it was; something was gained."""
    found = contents(out)
    assert len(found) == 2 * len(names) + 1, sorted(found)
    for name in names:
        stem = str(name)[:-4]
        report = json.loads(found[stem + ".json"])
        if name.name in ("bad.ptx", "refused.ptx"):
            assert report["kind"] == "ptxopt-tune-failure", report
            assert found[stem + ".ptx"] == (source / name).read_bytes(), f"{name} is not as it was"
        else:
            assert report["kind"] == "ptxopt-tune-report" and report["file"] == name.name, report
    merged = json.loads(found["merged.json"])
    assert merged["units"] == len(names) and len(merged["failures"]) == 2, merged["failures"]
    assert merged["summary"]["changed"] > 0 and merged["summary"]["instructions"] < 1, merged["summary"]


def ninja(folder):
    return subprocess.run(["ninja", "-C", str(folder)], capture_output=True, text=True, check=True).stdout


def check_ninja(tool, source, names, work, loop):
    out = work / "ninja"
    script("ninja_file.py", "--tool", tool, source, out)
    ninja(out)
    assert_same(loop, out)
    assert "no work to do" in ninja(out), "a second build does something"
    os.utime(source / "bad.ptx")
    steps = ninja(out)
    assert steps.count("tune ") == 1 and "bad.ptx" in steps, steps
    assert_same(loop, out)
    # What was deleted is made again.
    gone = out / (str(names[0])[:-4] + ".json")
    gone.unlink()
    ninja(out)
    assert_same(loop, out)


def check_accidents(tool, work):
    """A unit that an accident ends has written nothing, and says so."""
    saxpy = Path(__file__).resolve().parents[3] / "samples" / "saxpy.ptx"
    results = [work / "accident.ptx", work / "accident.json"]
    killed = work / "killed"
    killed.write_text("#!/bin/sh\nkill -9 $$\n")
    killed.chmod(0o755)
    for program, extra, environment in ((str(killed), [], {}), (str(work / "none"), [], {}),
                                        (tool, [], {"PTXOPT_PTXAS": "none"}),
                                        (tool, ["--arguments=--no-such-option"], {})):
        out = script("unit.py", "--tool", program, *extra, saxpy, *results, code=1, environment=environment)
        assert "unit.py: " in out, out
        assert not any(path.exists() for path in results), f"{program} left something"
    # The cache is off, and a folder for it is used when asked for.
    home = work / "home"
    home.mkdir()
    for folder, some in (("", False), (str(home / "cache"), True)):
        script("unit.py", "--tool", tool, saxpy, *results,
               environment={"HOME": str(home), "XDG_CACHE_HOME": str(home / "xdg"), "PTXOPT_UNIT_CACHE_DIR": folder})
        kept = [path for path in home.rglob("*") if path.is_file()]
        assert bool(kept) == some, kept
    # A folder that cannot be written to: no half results.
    out = script("unit.py", "--tool", tool, saxpy, "/dev/null/a.ptx", work / "b.json", code=1)
    assert not (work / "b.json").exists(), out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    args = parser.parse_args()
    if not find_ptxas():
        print("skipped: no ptxas")
        return NO_PTXAS
    tool = os.path.abspath(args.tool)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        names = make_input(work / "in")
        script("tune_loop.py", "--tool", tool, work / "in", work / "loop", code=1)
        check_results(work / "in", names, work / "loop")
        if shutil.which("ninja"):
            check_ninja(tool, work / "in", names, work, work / "loop")
        else:
            print("no Ninja: that part is skipped")
        check_accidents(tool, work)
    print(f"{len(names)} units, the same by loop and Ninja")
    return 0


if __name__ == "__main__":
    sys.exit(main())
