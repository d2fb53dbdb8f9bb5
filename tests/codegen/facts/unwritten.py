#!/usr/bin/env python3
"""Whether read-only-loads is right about what no kernel writes, as the interpreter sees it.

  tests/codegen/facts/unwritten.py --tool PATH [--sample N] [--work build/timing] [-j N]

Of each address that a kernel of run.py --all takes, alone, it is said that it has no alias. Where the pass then makes ld.global.nc
of a load, the kernel runs in `ptxopt verify` with memory of its own for each parameter, and a fact that makes a fault of each
write to this one's: no run may have one. Of the addresses for which the pass makes nothing, some must be written: else nothing was
tested. 77 without nvcc.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(HERE.parent / "toolchains"), str(HERE.parents[1] / "lib")]
import inputs  # noqa: E402
from compilers import prepare  # noqa: E402
from loop_kernels import compilers  # noqa: E402
from run import ENTRY  # noqa: E402
from sample import sampled  # noqa: E402

os.environ["PTXOPT_GUARD"] = "off"
ARCH = "sm_80"
BYTES = 2**34  # as far as the memory of a trial goes


def parameters(tools, work):
    """(text of one kernel, its name, the number of an address)"""
    for folder in (inputs.KERNELS, HERE):
        for _, text in inputs.kernels(ARCH, ["nvcc"], tools, work, 1, folder):
            for name, declared in ENTRY.findall(text.text):
                if name.endswith(("_u32", "_i64", "_u64")):
                    continue
                alone = inputs.KERNEL.sub(lambda match: match[0] if match[1] == name else "", text.text)
                for index, kind in enumerate(re.findall(r"\.param\s+(?:\.align \d+ )?\.(\w+)", declared)):
                    if kind == "u64":
                        yield alone, name, index


def looked_at(tool, folder, text, kernel, index):
    """(how many loads changed, whether a run wrote the memory)"""
    place = Path(folder) / f"{kernel}-{index}"
    source, facts = place.with_suffix(".ptx"), place.with_suffix(".json")
    source.write_text(text)

    def say(**words):
        facts.write_text(json.dumps({"version": 1, "kernels": [{"kernel": kernel, "parameters": [{"index": index, **words}]}]}))
    say(noalias=True)
    done = subprocess.run([tool, source, "-o", "-", "--passes=infer-address-space,read-only-loads", "--facts", facts],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    loads = done.stdout.count("ld.global.nc") - text.count("ld.global.nc")
    # Runs that fail without the fact fail for something else.
    failing = []
    for words in ({"bytes": BYTES}, {"readonly": True, "bytes": BYTES}):
        say(**words)
        done = subprocess.run([tool, "verify", source, source, "--facts", facts, "--trials", "1"], capture_output=True, text=True)
        found = re.search(r"(\d+) more on which the first file fails", done.stdout)
        failing.append(int(found[1]) if found else 0)
    return loads, failing[1] > failing[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="one address of N")
    parser.add_argument("--work", default=str(ROOT / "build/timing"))
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    tools = compilers()
    if not tools["nvcc"]:
        print("skipped: needs nvcc")
        return 77
    tool, work = str(Path(args.tool).resolve()), os.path.abspath(args.work)
    prepare(work)
    every = {f"{kernel} {index}": (text, kernel, index) for text, kernel, index in parameters(tools, work)}
    chosen = sampled(sorted(every), args.sample)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        found = dict(zip(chosen, pool.map(lambda name: looked_at(tool, folder, *every[name]), chosen)))
    wrong = [name for name, (loads, written) in found.items() if loads and written]
    for name in wrong:
        print(f"FAILED {name}: its loads became ld.global.nc, and the kernel writes it")
    changed, written = sum(loads > 0 for loads, _ in found.values()), sum(w for _, w in found.values())
    left = [name for name, (loads, w) in found.items() if not loads and not w]
    print(f"{len(found)} addresses: {changed} with loads of memory that nobody writes, {written} written, {len(left)} neither, "
          f"{len(wrong)} wrong")
    return 1 if wrong or not changed or not written else 0


if __name__ == "__main__":
    sys.exit(main())
