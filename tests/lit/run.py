#!/usr/bin/env python3
"""Text tests: each .ptx file beside this script holds its input, its command and what must come out.

  tests/lit/run.py --tool PATH [--update] [files]      default: all files in the folders beside this script
  tests/lit/run.py --tool PATH --self-test             tests that must fail do

A file:

    // What is tested, in words.
    // RUN: ptxopt %s -o - --passes=dce
    <the input>
    // EXPECT
    //| a line of standard output, or
    //> a line of the file %t, or
    //! a line of standard error
    // EXIT: 3

The comment lines at the top become empty lines before the tool sees the input, so that its line numbers are those of the
file; as many empty lines at the start of what it prints are dropped. A comment that belongs to the input stands behind
an empty line. In the command %s is the input and %t a file to write; `< %s` at the end feeds standard input. %s.profile is a file beside the test. Several RUN
lines have an EXPECT block each, in order.

`// EXPECT: same` asks that standard output be the input, byte for byte. A single line `//| ...`, `//> ...` or `//! ...`
takes any text that is not empty. A block without EXIT expects 0, one without `//!` lines an empty standard error.
`//\\` behind a line says that it has no newline. --update writes the blocks anew from what the tool does, a bare
`// EXPECT` where the output is no longer the input, and makes those of a file without any; look at the difference before you
commit it.

Where a test is about few lines, its block has, instead of the `//|` lines,

    // CHECK: a part of a line of standard output
    // CHECK: a part of a later line
    // CHECK-NOT: what is in no line
    // CHECK-REST: 3

Spaces and tabs of any number are one space. CHECK-REST says that a CHECK names each line that the input does not have, and that the
others are those of the input, in their order, but for so many that are gone; empty lines and declarations of registers do not
count. The other lines of the block are compared as ever. --update leaves these
lines as they are, and a test of which one does not hold fails.
"""
import argparse
import concurrent.futures
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

HERE = Path(__file__).resolve().parent
EXPECT = re.compile(rb"^// EXPECT\b", re.MULTILINE)
CHECK = re.compile(r"// (CHECK|CHECK-NOT|CHECK-REST): (.*)")
FAILED = "  <- does not hold"
NOT_SAME = "// EXPECT: same, but it is not"
BOM = b"\xef\xbb\xbf"
SECONDS = 120


class BadTest(Exception):
    """The file does not say what to test."""


def split(content):
    """(commands, input, text of the blocks): the parts of a test file."""
    match = EXPECT.search(content)
    body, blocks = (content[:match.start()], content[match.start():]) if match else (content, b"")
    mark, body = (BOM, body[len(BOM):]) if body.startswith(BOM) else (b"", body)
    lines = body.splitlines(keepends=True)
    top = 0
    while top < len(lines) and lines[top].startswith(b"//"):
        top += 1
    commands = [m[1].strip().decode() for m in (re.match(rb"// RUN:(.*)", line) for line in lines[:top]) if m]
    if not commands:
        raise BadTest("no `// RUN:` line at the top")
    return commands, mark + b"\n" * top + b"".join(lines[top:]), top, blocks


def lines_with(prefix, data, replace=()):
    for old, new in replace:
        data = data.replace(old, new)
    text = data.decode("utf-8", "surrogateescape")
    rows = [f"{prefix} {line}".rstrip(" ") for line in text.split("\n")]
    if text.endswith("\n") or not text:
        rows.pop()
    else:
        rows.append("//\\")
    return rows


def take_profile(path, folder):
    """%s.profile is the file beside the test that is called like it, with .profile after its name."""
    beside = Path(f"{path}.profile")
    if beside.exists():
        (Path(folder) / "input.ptx.profile").write_bytes(beside.read_bytes())


def execute(tool, command, source, top, folder, number):
    """One command: the rows of its block, and whether its standard output was the input."""
    words = shlex.split(command)
    if not words or words[0] != "ptxopt":
        raise BadTest(f"a command begins with ptxopt: {command}")
    path, out = os.path.join(folder, "input.ptx"), os.path.join(folder, f"out{number}")
    Path(path).write_bytes(source)
    stdin = subprocess.DEVNULL
    if words[-2:] == ["<", "%s"]:
        stdin, words = open(path, "rb"), words[:-2]
    words = [tool] + [w.replace("%s", path).replace("%t", out) for w in words[1:]]
    run = subprocess.run(words, stdin=stdin, capture_output=True, timeout=SECONDS)
    names = ((path.encode(), b"%s"), (out.encode(), b"%t"))
    stdout = run.stdout
    for _ in range(top):
        if stdout.startswith(b"\n"):
            stdout = stdout[1:]
    rows = lines_with("//|", stdout)
    if os.path.exists(out):
        rows += lines_with("//>", Path(out).read_bytes().lstrip(b"\n"), names)
    rows += lines_with("//!", run.stderr, names)
    if run.returncode != 0:
        rows.append(f"// EXIT: {run.returncode}")
    return rows, run.stdout == source


def counted(lines):
    """Those that CHECK-REST compares: without empty ones and declarations of registers."""
    return [line for line in lines if line and not line.startswith(".reg ")]


def gone(rest, given):
    """How many of the given lines the rest lacks; None: it has others, or in another order."""
    left = iter(given)
    return len(given) - len(rest) if all(line in left for line in rest) else None


def checked(expected, rows, source):
    """`rows` with the CHECK lines of `expected` in the place of standard output; those that do not hold say so."""
    output, at, found, named = [" ".join(r[3:].split()) for r in rows if r.startswith("//|")], 0, [], set()
    for row in (r for r in expected if CHECK.fullmatch(r)):
        kind, text = CHECK.fullmatch(row).groups()
        lines = [i for i, line in enumerate(output) if " ".join(text.split()) in line]
        if kind == "CHECK-NOT":
            holds = not lines
        elif kind == "CHECK-REST":
            given = counted(" ".join(line.split()) for line in source.decode("utf-8", "surrogateescape").split("\n"))
            rest = counted(line for i, line in enumerate(output) if i not in named or line in given)
            holds = str(gone(rest, given)) == text
        else:
            lines = [i for i in lines if i >= at]
            holds = bool(lines)
            at = lines[0] + 1 if lines else at
            named.update(lines[:1])
        found.append(row if holds else row + FAILED)
    ends_whole = [r for i, r in enumerate(rows) if not (r == "//\\" and i and rows[i - 1].startswith("//|"))]
    return ["// EXPECT"] + found + [r for r in ends_whole if not r.startswith("//|")]


def matches(expected, actual, is_same, source):
    """The rows that are compared: those of `actual`, with `same` and `...` of `expected` where they hold."""
    rows = list(actual)
    if any(CHECK.fullmatch(r) for r in expected):
        return checked(expected, rows, source)
    if expected and expected[0] == "// EXPECT: same":
        return ["// EXPECT: same" if is_same else NOT_SAME] + [r for r in rows if is_same is False or not r.startswith(("//|", "//\\"))]
    for prefix in ("//|", "//>", "//!"):
        if [r for r in expected if r.startswith(prefix)] != [f"{prefix} ..."]:
            continue
        first = next((i for i, r in enumerate(rows) if r.startswith(prefix)), None)
        if first is not None:
            rows = [r for r in rows[:first] if r != "//\\"] + [f"{prefix} ..."] + [r for r in rows[first:] if not r.startswith(prefix) and r != "//\\"]
    return ["// EXPECT"] + rows


def test(tool, path, update):
    """A message when the file's test fails, else nothing; and the number of commands."""
    content = path.read_bytes()
    try:
        commands, source, top, blocks = split(content)
        text = blocks.decode("utf-8", "surrogateescape")
        wanted = ["// EXPECT" + b for b in text.split("// EXPECT")[1:]] if text else []
        wanted = [b.rstrip("\n").split("\n") for b in wanted]
        actual = []
        with tempfile.TemporaryDirectory() as folder:
            take_profile(path, folder)
            for number, command in enumerate(commands):
                rows, is_same = execute(tool, command, source, top, folder, number)
                actual.append(matches(wanted[number] if number < len(wanted) else [], rows, is_same, source))
    except (BadTest, subprocess.TimeoutExpired) as error:
        return f"{path}: {error}", 0
    if actual == wanted:
        return None, len(commands)
    flat = ["\n".join("\n".join(b) for b in blocks_).split("\n") for blocks_ in (wanted, actual)]
    if update and not any(row.endswith(FAILED) for block in actual for row in block):
        head = content[:len(content) - len(blocks)]
        if not head.endswith(b"\n"):
            return f"{path}: the input needs a newline at its end", 0
        rows = ["// EXPECT" if row == NOT_SAME else row for row in flat[1]]
        path.write_bytes(head + ("\n".join(rows) + "\n").encode("utf-8", "surrogateescape"))
        return None, len(commands)
    diff = "\n".join(difflib.unified_diff(*flat, f"{path.name}: expected", "what came", lineterm="", n=2))
    return f"{path}\n{diff}", len(commands)


GOOD = """// A test of the runner.
// RUN: ptxopt %s -o - -O0
.version 8.5
.target sm_80
.address_size 64
// EXPECT
"""
WHOLE = "//| .version 8.5\n//| .target sm_80\n//| .address_size 64\n"
PASSING = [WHOLE, "//| ...\n", "// CHECK: .version\n// CHECK: .address_size   64\n// CHECK-NOT: .entry\n"]
# Of which dce takes two lines.
TWO = GOOD.replace("-O0", "--passes=dce").replace("// EXPECT\n", """.visible .entry f(.param .u64 p)
{
	.reg .b32 %r<9>;
	mov.u32 %r1, 0;
	add.u32 %r2, %r1, 1;
	bar.sync 0;
	ret;
}
// EXPECT
""")
REST = [("// CHECK-NOT: mov.u32\n// CHECK-REST: 2\n", True), ("// CHECK: bar.sync\n// CHECK-REST: 2\n", True),
        ("// CHECK-REST: 1\n", False), ("// CHECK-REST: 3\n", False), ("// CHECK: bar.sync\n// CHECK-REST: 3\n", False)]
FAILING = [WHOLE.replace("80", "90"), WHOLE + "// EXIT: 3\n", WHOLE + "//! ...\n", "",
           "// CHECK: .entry\n", "// CHECK: .address_size\n// CHECK: .version\n", "// CHECK: .target\n// CHECK: .target\n",
           "// CHECK: .version\n// CHECK-NOT: .target\n", "// CHECK: .version\n//! a message\n",
           "// CHECK: .version\n// EXIT: 3\n"]


def self_test(tool):
    """What is wrong, in words: a test that must pass and does not, or the other way around."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test.ptx"
        cases = [(GOOD, b, True) for b in PASSING] + [(GOOD, b, False) for b in FAILING]
        cases += [(TWO, block, passes) for block, passes in REST]
        for head, block, passes in cases:
            path.write_text(head + block)
            if (test(tool, path, False)[0] is None) != passes:
                wrong.append(f"{'fails' if passes else 'passes'}:\n{block}")
        path.write_text(TWO.replace("// EXPECT", "// EXPECT: same"))
        if test(tool, path, False)[0] is None or test(tool, path, True)[0] is not None or test(tool, path, False)[0] is not None:
            wrong.append("--update of a test whose output is not the same as its input leaves one that fails")
        path.write_text(GOOD + "// CHECK: .entry\n")
        if test(tool, path, True)[0] is None or path.read_text() != GOOD + "// CHECK: .entry\n":
            wrong.append("--update passes, or changes, a CHECK that does not hold")
    return len(cases) + 2, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the ptxopt to test")
    parser.add_argument("--update", action="store_true", help="write what comes out into the files")
    parser.add_argument("--self-test", action="store_true", help="see that tests fail that must")
    parser.add_argument("files", nargs="*", type=Path, help="or folders of them; default: all")
    args = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    tool = os.path.abspath(args.tool)
    if args.self_test:
        checks, wrong = self_test(tool)
        print(*wrong, f"lit: {checks} checks of the runner, {len(wrong)} failed", sep="\n")
        return 1 if wrong else 0
    files = sorted(file for path in args.files or [HERE] for file in (path.rglob("*.ptx") if path.is_dir() else [path]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: test(tool, path, args.update), files))
    failures = [message for message, _ in results if message]
    for message in failures:
        print(message, end="\n\n")
    print(f"{len(files)} files, {sum(n for _, n in results)} commands, {len(failures)} failed")
    return 1 if failures or not files else 0


if __name__ == "__main__":
    sys.exit(main())
