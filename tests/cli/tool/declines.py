#!/usr/bin/env python3
"""A pass that is asked to leave a loop alone leaves its text as it is: --decline, for each pass that takes it.

  tests/cli/tool/declines.py --tool PATH

Inputs are the text tests of the pass and of lsr. Asked for is each loop of a kernel that the pass changes.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
os.environ["PTXOPT_GUARD"] = "off"


def passes():
    """(name, what a label names for it)"""
    table = (ROOT / "src/optimize/passes/manager/passes.def").read_text(encoding="utf-8")
    return re.findall(r'^PTXOPT_PASS\(\w+, "([\w-]+)", .*, (Loops|Blocks), needs', table, re.M)


def optimized(tool, path, name, *options):
    done = subprocess.run([tool, path, "-o", "-", "-v", f"--passes={name}", *options], capture_output=True, text=True, errors="replace", timeout=60)
    return (done.stdout if done.returncode == 0 else None), done.stderr


def kernels(text):
    """The text of each, by name."""
    parts = re.split(r"^(?=[^\n]*\.entry\b)", text or "", flags=re.M)
    return {m[1]: part for part in parts if (m := re.match(r"[^\n]*\.entry\s+([\w$%]+)", part))}


def loop(text, label):
    """From the label to the first branch back to it."""
    return (re.search(rf"^{re.escape(label)}:.*?\bbra(?:\.uni)?\s+{re.escape(label)};", text, re.M | re.S) or [None])[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    tool = os.path.abspath(parser.parse_args().tool)
    failed, counts = [], {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.ptx"
        for name, unit in passes():
            counts[name] = 0
            for path in sorted(p for room in {name, "lsr"} for p in (ROOT / "tests/lit" / room).glob("*.ptx")):
                source.write_text(re.sub(r"//[^\n]*", "", path.read_text(encoding="utf-8", errors="replace")))
                before, after = kernels(source.read_text()), kernels(optimized(tool, source, name)[0])
                for kernel, text in before.items():
                    labels = re.findall(r"^([\w$%]+):", text, re.M)
                    for label in labels:
                        if loop(text, label) is None or after.get(kernel, text) == text or labels.count(label) != 1:
                            continue
                        now, messages = optimized(tool, source, name, f"--decline={name}@{kernel}:{label}")
                        if f"{kernel}: {name}: the loop at {label} [asked]" not in messages:
                            continue
                        counts[name] += 1
                        part = kernels(now).get(kernel, "")
                        # Of the only loop there are no copies, either.
                        if loop(part, label) != loop(text, label) or (unit == "Loops" and len(labels) == 1 and part != text):
                            failed.append(f"{path.relative_to(ROOT)}: {kernel}: {label}")
    failed += [f"{name}: no loop was asked for" for name, n in counts.items() if n == 0]
    for line in failed:
        print(line)
    print(f"declines: {sum(counts.values())} loops, {len(failed)} failed: {counts}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
