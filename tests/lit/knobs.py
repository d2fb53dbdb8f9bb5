#!/usr/bin/env python3
"""Every knob has a text test in which another value changes what comes out.

  tests/lit/knobs.py --tool PATH [--self-test]

A command of a text test counts for a knob if it sets the knob and ends with exit code 0, and if without that setting its
output, the file that it writes, or its messages are different. The values of knobs in a report are no difference. UNSEEN
is for knobs that nothing shows, and why; one that has a test must not stand there.

--self-test sees that a knob without a test, and one whose test shows nothing, are found.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from run import HERE, SECONDS, BadTest, split, take_profile

os.environ["PTXOPT_GUARD"] = "off"

UNSEEN = {}

KNOBS_OF_REPORT = re.compile(rb'"knobs": \{[^}]*\}')


def knobs_of(tool):
    listed = [subprocess.run([tool, option], capture_output=True, text=True, check=True, timeout=SECONDS).stdout
              for option in ("--list-knobs", "--list-test-knobs")]
    return [line.split()[0] for line in "".join(listed).splitlines()]


def settings_in(commands, knobs):
    """(knob, command without the setting, command) for each knob that a command sets."""
    for command in commands:
        words = shlex.split(command)
        for word in words:
            name = word[2:].split("=")[0] if word.startswith("--") else ""
            if name in knobs:
                yield name, [w for w in words if w != word], words


def outcome(tool, words, source, folder):
    out = folder / "out"
    out.unlink(missing_ok=True)
    if words[-2:] == ["<", "%s"]:
        words = words[:-2]
    words = [w.replace("%s", str(source)).replace("%t", str(out)) for w in words[1:]]
    with source.open("rb") as stdin:
        run = subprocess.run([tool, *words], stdin=stdin, capture_output=True, timeout=SECONDS)
    written = KNOBS_OF_REPORT.sub(b"", out.read_bytes()) if out.exists() else b""
    return run.returncode, KNOBS_OF_REPORT.sub(b"", run.stdout), written, run.stderr


def knobs_with_effect(tool, knobs, folder=HERE):
    """Those that have a test; no command is run for a knob that has one already."""
    found = set()
    for path in sorted(folder.glob("*/*.ptx")):
        try:
            commands, text, _, _ = split(path.read_bytes())
        except BadTest:
            continue
        settings = [s for s in settings_in(commands, knobs) if s[0] not in found]
        if not settings:
            continue
        with tempfile.TemporaryDirectory() as name:
            source = Path(name) / "input.ptx"
            source.write_bytes(text)
            take_profile(path, name)
            for knob, without, words in settings:
                if knob in found:
                    continue
                result = outcome(tool, words, source, Path(name))
                if result[0] == 0 and result != outcome(tool, without, source, Path(name)):
                    found.add(knob)
    return found


def failures_of(knobs, found, unseen):
    yield from (f"no text test in which --{knob} changes something" for knob in knobs if knob not in found and knob not in unseen)
    yield from (f"--{knob} is in UNSEEN and has a text test" for knob in unseen if knob in found)
    yield from (f"--{knob} is in UNSEEN and is no knob" for knob in unseen if knob not in knobs)


SELF_TEST = """// RUN: ptxopt %s -o - --passes=dce --remove-unreachable=0 --inline-size=3
// RUN: ptxopt %s -o - --passes=dce --inline-weak=2
.version 8.5
.target sm_80
.address_size 64
.entry k() { ret; bar.sync 0; }
"""


def self_test(tool):
    """Of four knobs one removes a block, one shows nothing, one is given wrongly, and one is given nowhere."""
    knobs = ["remove-unreachable", "inline-size", "inline-weak", "inline-once-size"]
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "dce").mkdir()
        (Path(name) / "dce" / "test.ptx").write_text(SELF_TEST)
        found = knobs_with_effect(tool, set(knobs), Path(name))
    if found != {"remove-unreachable"}:
        yield f"found are {sorted(found)}"
    wrong = list(failures_of(knobs, found, {"inline-size": "", "remove-unreachable": "", "nope": ""}))
    if len(wrong) != 4:
        yield f"reported are {wrong}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the ptxopt to ask")
    parser.add_argument("--self-test", action="store_true", help="see that what is missing is found")
    args = parser.parse_args()
    tool = os.path.abspath(args.tool)
    knobs = knobs_of(tool)
    failures = list(self_test(tool) if args.self_test else
                    failures_of(knobs, knobs_with_effect(tool, set(knobs)), UNSEEN))
    for failure in failures:
        print(failure)
    print(f"knobs: {len(knobs)}, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
