#!/usr/bin/env python3
"""A text test that names lines by CHECK fails where its pass does not run.

  tests/lit/checks.py --tool PATH [--self-test] [files]

Of the tests in a pass's folder, the commands whose blocks have CHECK lines are run without the pass: it is taken out of --passes, or
skipped. Of one command, at least, some CHECK line must then not hold: the others may say what the pass does not do. Tests
whose messages say what the pass does stand in BY_MESSAGES.

--self-test sees that a test that says nothing is found.
"""
import argparse
import os
import re
import shlex
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from run import CHECK, FAILED, GOOD, HERE, BadTest, checked, execute, split, take_profile  # noqa: E402

PASSES = HERE.parent.parent / "src/optimize/passes/manager/passes.def"
# Tests of what a pass declines: the reason is among the messages, and CHECK lines name what stays.
BY_MESSAGES = {"local-cse/pressure.ptx"}


def passes():
    return set(re.findall(r'^PTXOPT_(?:MODULE_)?PASS\(\w+, "([\w-]+)"', PASSES.read_text(encoding="utf-8"), re.M))


def without(command, name):
    """The command without the pass."""
    words = shlex.split(command)
    listed = next((i for i, w in enumerate(words) if w.startswith("--passes=")), None)
    if listed is None:
        return shlex.join([*words[:2], f"--skip-pass={name}", *words[2:]])
    left = [p for p in words[listed][len("--passes="):].split(",") if p != name]
    words[listed] = f"--passes={','.join(left)}" if left else "-O0"
    return shlex.join(words)


def says_something(tool, path, name):
    """Whether a CHECK line of a test does not hold without the pass; None: it has no CHECK line."""
    try:
        commands, source, top, blocks = split(path.read_bytes())
    except BadTest:
        return None
    wanted = [b.rstrip("\n").split("\n") for b in blocks.decode("utf-8", "surrogateescape").split("// EXPECT")[1:]]
    if not any(CHECK.fullmatch(row) for block in wanted for row in block):
        return None
    told = any(row.startswith("//|") for block in wanted for row in block)  # a whole output
    for number, (command, block) in enumerate(zip(commands, wanted)):
        if told:
            break
        if not any(CHECK.fullmatch(row) for row in block):
            continue
        with tempfile.TemporaryDirectory() as folder:
            take_profile(path, folder)
            rows, _ = execute(tool, without(command, name), source, top, folder, number)
        told = any(row.endswith(FAILED) for row in checked(block, rows, source))
    return told


def look(tool, files, names):
    files = [path for path in files if path.parent.name in names]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        told = dict(zip((f"{f.parent.name}/{f.name}" for f in files), pool.map(lambda f: says_something(tool, f, f.parent.name), files)))
    wrong = [f"{name}: its CHECK lines hold without the pass" for name, said in told.items() if said is False and name not in BY_MESSAGES]
    wrong += [f"{name} is in BY_MESSAGES and needs not to be" for name in BY_MESSAGES if told.get(name, False) is not False]
    return wrong, sum(said is not None for said in told.values())


def self_test(tool):
    head = GOOD.replace("-O0", "--passes=dce").replace("// EXPECT\n", ".visible .entry f()\n{\n\t.reg .b32 %r<2>;\n\tmov.u32 %r1, 0;\n\tret;\n}\n// EXPECT\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "dce"
        folder.mkdir()
        for file, block in (("idle", "// CHECK: ret;\n"), ("good", "// CHECK: ret;\n// CHECK-NOT: mov.u32\n")):
            (folder / f"{file}.ptx").write_text(head + block)
        found, count = look(tool, sorted(folder.glob("*.ptx")), {"dce"})
    return [] if count == 2 and len(found) == 1 and found[0].startswith("dce/idle.ptx") else [f"found {found} of {count}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the ptxopt to test")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("files", nargs="*", type=Path, help="default: all")
    args = parser.parse_args()
    tool = os.path.abspath(args.tool)
    if args.self_test:
        wrong, count = self_test(tool), 2
    else:
        wrong, count = look(tool, [f.resolve() for f in args.files] or sorted(HERE.glob("*/*.ptx")), passes())
    for line in wrong:
        print(line)
    print(f"checks: {count} tests with CHECK lines, {len(wrong)} that say nothing")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
