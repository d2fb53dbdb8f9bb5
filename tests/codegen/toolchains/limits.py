#!/usr/bin/env python3
"""Are the warps and blocks of src/core/target/targets.def those that ptxas knows?

  tests/codegen/toolchains/limits.py [--toolchains FOLDER]

ptxas ignores a `.minnctapersm`, with a warning, where so many blocks of `.maxntid` threads exceed the threads of an SM, or its
blocks. The most that it takes are compared, for each architecture that the installed ptxas, or each below a folder, makes code
for. 77 without a ptxas.
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "lib"))
from architectures import warps_and_blocks  # noqa: E402
from toolchains import below, toolchain  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

KERNEL = ".visible .entry {name}() .maxntid {threads}\n.minnctapersm {blocks}\n{{ ret; }}\n"
MOST = 48  # blocks and warps that are tried
WARPS = 4  # a block, where the threads are to be exceeded and not the blocks


def limits(ptxas, arch, folder):
    """(warps, blocks) that ptxas takes; of warps a multiple of WARPS."""
    kernels = [(f"blocks_{n}", 32, n) for n in range(1, MOST)] + [(f"warps_{n}", 32 * WARPS, n) for n in range(1, MOST)]
    path = folder / "limits.ptx"
    path.write_text(".version 8.0\n.target sm_75\n.address_size 64\n"
                    + "".join(KERNEL.format(name=name, threads=threads, blocks=blocks) for name, threads, blocks in kernels))
    result = subprocess.run([ptxas, f"-arch={arch}", path, "-o", folder / "limits.cubin"], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"limits: {ptxas}: {result.stderr}")
    ignored = set(re.findall(r"for entry (\w+) is out of range", result.stderr))
    most = {kind: max(n for name, _, n in kernels if name.startswith(kind) and name not in ignored) for kind in ("blocks", "warps")}
    return most["warps"] * WARPS, most["blocks"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--toolchains", metavar="FOLDER", help="every ptxas below it; default: the installed one")
    args = parser.parse_args()
    installed = find_ptxas()
    found = below(args.toolchains) if args.toolchains else [toolchain(installed)] if installed else []
    if not found:
        print("skipped: limits need ptxas")
        return 77
    table = {f"sm_{number}": known for number, known in warps_and_blocks().items()}
    bad = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for one in found:
            for arch, known in table.items():
                if arch not in one.architectures:
                    continue
                compared += 1
                said = limits(one.path, arch, Path(folder))
                if said != known:
                    bad += 1
                    print(f"FAILED {arch}: the table has {known[0]} warps, {known[1]} blocks, ptxas {one.build} {said[0]}, {said[1]}")
    print(f"limits: {compared} compared, {bad} differ")
    return 1 if bad or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
