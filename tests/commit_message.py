#!/usr/bin/env python3
"""The hook that holds commit messages to CONTRIBUTING.md: what it lets through, and what it refuses.

  tests/commit_message.py
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HOOK = Path(__file__).resolve().parent.parent / ".githooks/commit-msg"
BODY = "\n\nWhy it is so, and what was measured.\n"
SUBJECT = "Targets have one room, and code asks them what they can do"
# message -> part of the refusal; empty: it is let through
CASES = {
    SUBJECT + BODY: "",
    "x" * 60 + BODY: "",
    "Ümläute zählen als ein Zeichen, auch wenn sie zwei Byte haben"[:60] + BODY: "",
    SUBJECT + "\n# a comment\n" + BODY: "",
    "fixup! " + "x" * 70: "",
    "Merge branch 'a'": "",
    SUBJECT + BODY + "# ------------------------ >8 ------------------------\ndiff": "",
    "x" * 61 + BODY: "61 characters",
    "": "empty",
    "\n" + SUBJECT + BODY: "empty",
    SUBJECT: "no body",
    SUBJECT + "\n\n": "no body",
    SUBJECT + "\n\n# only a comment\n": "no body",
    SUBJECT + "\n\n# ------------------------ >8 ------------------------\ndiff": "no body",
    SUBJECT + "\nthe body at once\n": "second line",
    "It ends with a full stop." + BODY: "full stop",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", help="not needed; every test takes it")
    parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "message"
        for message, refusal in CASES.items():
            path.write_text(message, encoding="utf-8")
            ran = subprocess.run([HOOK, path], capture_output=True, text=True, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
            expected = refusal in ran.stderr and ran.returncode == 1 if refusal else ran.returncode == 0 and not ran.stderr
            if not expected:
                wrong.append(f"{message!r}: exit code {ran.returncode}, {ran.stderr.strip()!r}")
    for line in wrong:
        print(line)
    print(f"commit_message: {len(CASES)} messages, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
