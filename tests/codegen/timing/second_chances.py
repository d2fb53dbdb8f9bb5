#!/usr/bin/env python3
"""What becomes of the kernels that the guard refuses, and what it leaves of the gains, over PTX files.

  tests/codegen/timing/second_chances.py --tool PTXOPT [--archs sm_80,...] [--tries 1,3] [--ptxas PTXAS] [--list] [--json FILE] [-j N] FILE.ptx ...

Each file is optimized without the guard, and with it and each number of tries, for its own target, or for --archs, from its own
on. Printed for each architecture: kernels with other figures than the input, how many are refused without tries, how many
of these are better than the input with them; and geometric means of after / before over the kernels that changed, of
instructions and of modelled cycles of the whole in L1, L2 and DRAM, without the guard and with each number of tries. Means
leave out kernels in which ptxas unrolled loops otherwise. The exit code is 1 where a guarded mean is worse than the one without the
guard, or a guarded kernel is worse than the input by the rule. --list names the kernels that are refused, why, and what is said of
them.
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

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/lib"), str(ROOT / "tests/cli/guard")]
import guard_rule  # noqa: E402
from code_figures import mean_ratio  # noqa: E402
from same_code import takes  # noqa: E402
from tables import table  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

MEANS = ("instructions", *guard_rule.SCENARIOS)
SAME_MEAN = 0.0005  # of what is printed


def rows(tool, path, arch, ptxas, out):
    """Figures by kernel."""
    done = subprocess.run([tool, "baseline", path, "-o", out, "--arch", arch, "-j1", "--ptxas", ptxas], capture_output=True)
    return {f["name"]: f for f in json.loads(out.read_bytes())["units"][0]["functions"] if f["kind"] == "entry"} if done.returncode == 0 else None


def measured(tool, path, arch, ptxas, tries):
    """The figures of the input, without the guard, and by tries, and what is said of kernels that are refused."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result, said = {"input": rows(tool, path, arch, ptxas, folder / "rows.json")}, []
        for way in ("off", *tries):
            guard = ["--guard=off"] if way == "off" else ["--guard=ptxas", f"--guard-tries={way}", "--ptxas", ptxas, "-v"]
            done = subprocess.run([tool, path, "-o", folder / "out.ptx", "--arch", arch, *guard], capture_output=True, text=True, errors="replace")
            if done.returncode != 0 or result["input"] is None:
                return None, [done.stderr]
            result[way] = rows(tool, folder / "out.ptx", arch, ptxas, folder / "rows.json")
            said += [f"{way}: {line}" for line in done.stderr.splitlines() if ": kept " in line]
        return (result, said) if all(result.values()) else (None, said)


class Sums:
    def __init__(self, ways):
        self.changed, self.refused, self.worse = 0, 0, []
        self.better = dict.fromkeys(ways, 0)
        self.pairs = {way: [[] for _ in MEANS] for way in ways}

    def add(self, name, before, after):
        if before == after["off"]:
            return
        self.changed += 1
        isRefused = guard_rule.by_time(before, after["off"]) > 0
        self.refused += isRefused
        for way, row in after.items():
            sign = guard_rule.by_time(before, row)
            self.better[way] += isRefused and sign < 0
            if way != "off" and sign > 0:
                self.worse.append(f"{name} with {way} tries")
        times = [row["cycles"] for row in (before, *after.values())]
        if not all(times) or not all(guard_rule.by_cycles(before["cycles"], row["cycles"], before["stack"] == row["stack"])[1] for row in after.values()):
            return
        for way, row in after.items():
            self.pairs[way][0].append((before["instructions"], row["instructions"]))
            for s in range(len(guard_rule.SCENARIOS)):
                self.pairs[way][1 + s].append((before["cycles"]["whole"][s], row["cycles"]["whole"][s]))

    def mean(self, way, k):
        return mean_ratio(self.pairs[way][k]) if self.pairs[way][k] else 1

    def cells(self):
        return [str(self.changed), str(self.refused), *(str(n) for way, n in self.better.items() if way not in ("off", "0")),
                str(len(self.pairs["off"][0])), *(" ".join(f"{self.mean(way, k):.3f}" for k in range(len(MEANS))) for way in self.pairs)]

    def lost(self):
        """The means that the guard makes worse."""
        return [f"{MEANS[k]} with {way} tries: {self.mean('off', k):.4f} -> {self.mean(way, k):.4f}" for way in self.pairs for k in range(len(MEANS))
                if way != "off" and self.mean(way, k) > self.mean("off", k) + SAME_MEAN]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--archs", default="")
    parser.add_argument("--tries", default="1,3")
    parser.add_argument("--ptxas")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="+", type=Path)
    args = parser.parse_args()
    tool, ptxas, tries = os.path.abspath(args.tool), args.ptxas or find_ptxas(), args.tries.split(",")
    if not ptxas:
        print("skipped: there is no ptxas")
        return 77
    os.environ.pop("PTXOPT_GUARD_TRIES", None)
    work = []
    for path in args.files:
        own = re.search(r"^\s*\.target\s+(sm_\w+)", path.read_text(errors="replace"), re.M)
        work += [(path, arch) for arch in ([a for a in args.archs.split(",") if takes(path, a)] if args.archs else [own[1]] if own else [])]
    sums, document, isBad = {}, {}, False
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for (path, arch), (result, said) in zip(work, pool.map(lambda w: measured(tool, w[0], w[1], ptxas, tries), work)):
            if result is None:
                print(f"{path} for {arch}: left out: {' '.join(said)[:200]}")
                continue
            if args.list:
                print(*said, sep="\n")
            of = sums.setdefault(arch, Sums(("off", *tries)))
            for kernel, before in result["input"].items():
                after = {way: result[way].get(kernel) for way in ("off", *tries)}
                if all(after.values()):
                    of.add(f"{path.name}: {kernel}", before, after)
                    document[f"{arch} {path.name} {kernel}"] = [before, after]
    table(("for", "changed", "refused", *(f"better, {n} tries" for n in tries if n != "0"), "compared", "without the guard", *(f"{n} tries" for n in tries)),
          [(arch, *of.cells()) for arch, of in sums.items()])
    for arch, of in sums.items():
        for line in (*of.lost(), *of.worse):
            isBad = True
            print(f"{arch}: {line}")
    if args.json:
        args.json.write_text(json.dumps(document))
    return 1 if isBad else 0


if __name__ == "__main__":
    sys.exit(main())
