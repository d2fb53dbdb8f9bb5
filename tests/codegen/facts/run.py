#!/usr/bin/env python3
"""What facts gain in modelled cycles: 20 kernels with facts, next to -O2 without.

  tests/codegen/facts/run.py [--tool PTXOPT] [--archs sm_80,...] [--all] [--unroll] [--check] [--verify] [--markdown]
                             [--ptxas PTXAS] [--work build/timing] [-j N]

Kernels are those of kernels.cu beside this script, and some of tests/codegen/loops with indices of 32 bits, compiled by nvcc and
kept from being unrolled by ptxas, as in timing/gains.py. They are such of which facts say something: arrays that are read and
written in one loop, addresses that are neighbours, divisions by sizes. --all takes all of both instead, without the size of the
block where KERNELS does not name it. The facts are what who launches such a kernel knows: the size of the block, that arrays
begin at multiples of 256 bytes, as cudaMalloc makes them, and that no two overlap. With "sizes" also the strides and widths that
KERNELS names. Both sides are optimized without the guard, assembled, and timed by the model for data in L1, L2 and DRAM; printed
are cycles with facts / without, of the whole kernel, and geometric means.

--verify runs each kernel before and after, in launches that keep to the facts.
--check fails unless the mean with sizes is at most BOUND in some scenario, and --verify finds nothing. 77 without ptxas or nvcc.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent / "toolchains"), str(HERE.parents[1] / "lib")]
import guard_rule  # noqa: E402
import inputs  # noqa: E402
from bench import Bench, Refused  # noqa: E402
from code_figures import mean_ratio  # noqa: E402
from compilers import digest, prepare  # noqa: E402
from loop_kernels import compilers  # noqa: E402
from tables import table  # noqa: E402
from toolchains import toolchain  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

os.environ["PTXOPT_GUARD"] = "off"
BOUND = 0.75
ALIGN = 256
# Block, and what the integers are, by their place among the parameters: strides, widths and other divisors. Not how often loops
# iterate, since the model takes 8 iterations where it does not know, and fewer would look like faster ones.
KERNELS = {
    "rotary": ((256,), {}),
    "complex_product": ((256,), {}),
    "rotate_points": ((256,), {}),
    "rgb_to_yuv": ((256,), {}),
    "upsample": ((256,), {2: 1920}),
    "sobel": ((256,), {3: 1920}),
    "dequantize_rows": ((256,), {}),
    "momentum_step": ((256,), {}),
    "scale_channels": ((256,), {4: 64, 5: 3136}),
    "coupled_fields": ((256,), {4: 1024}),
    "scores": ((256,), {}),
    "moments": ((256,), {}),
    "stencil_1d": ((256,), {}),
    "stencil_7": ((32, 8), {2: 256, 3: 256, 5: 256, 6: 65536}),
    "haar_step": ((256,), {}),
    "dequantize_q4": ((256,), {}),
    "copy_strided": ((256,), {3: 1, 4: 1}),
    "nchw_to_nhwc": ((256,), {3: 64, 4: 56, 5: 56}),
    "edit_distance": ((256,), {}),
    "fft_stage": ((256,), {3: 1024, 4: 256}),
}
ENTRY = re.compile(r"\.visible \.entry (\w+)\((.*?)\)", re.S)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(ROOT / "build/release/ptxopt"))
    parser.add_argument("--archs", default="sm_80,sm_90,sm_120")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--unroll", action="store_true", help="let ptxas unroll")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--markdown", action="store_true", help="the table as docs/results/facts.md has it")
    parser.add_argument("--ptxas")
    parser.add_argument("--work", default=str(ROOT / "build/timing"))
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def facts_of(parameters, block, sizes):
    """`parameters`: the types. Addresses are those of 64 bits: indices have 32."""
    said = [{"index": i, "align": ALIGN, "noalias": True} for i, kind in enumerate(parameters) if kind == "u64"]
    said += [{"index": i, "value": value} for i, value in sizes.items()]
    return {**({"block": [*block, *[1] * (3 - len(block))]} if block else {}), "parameters": said}


def kernels_of(text, every):
    """(name, facts without sizes, facts with them)"""
    for name, parameters in ENTRY.findall(text):
        short = name.removesuffix("_i32")
        if name.endswith(("_u32", "_i64", "_u64")) or (short not in KERNELS and not every):
            continue
        types = re.findall(r"\.param\s+(?:\.align \d+ )?\.(\w+)", parameters)
        block, sizes = KERNELS.get(short, (None, {}))
        yield name, facts_of(types, block, {}), facts_of(types, block, sizes)


class Way:
    """One kernel with some facts."""

    def __init__(self, bench, source, arch, kernel, facts):
        self.bench, self.source, self.arch, self.kernel = bench, source, arch, kernel
        self.text = json.dumps({"version": 1, "kernels": [{"kernel": kernel, **facts}]})
        self.path = Path(bench.work) / "facts" / f"{digest(self.text.encode())}.json"
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(self.text)

    def made(self):
        # What is said counts for what is kept, not where it lies.
        commented = self.bench.stored(commented_text(self.source, self.kernel, self.text))
        return self.bench.made(commented, "-O2", "--guard=off", "--arch", self.arch)

    def ratio(self):
        """Cycles with facts / without in each scenario."""
        before = self.bench.figures(self.bench.made(self.source, "-O2", "--guard=off", "--arch", self.arch), self.arch)[self.kernel]
        after = self.bench.figures(self.made(), self.arch)[self.kernel]
        if not before["cycles"] or not after["cycles"]:
            return None
        return [b / a for a, b in zip(before["cycles"]["whole"], after["cycles"]["whole"])], guard_rule.by_time(before, after)

    def differs(self):
        """What `verify` says, where it finds a difference."""
        done = subprocess.run([self.bench.tool, "verify", self.source, self.made(), "--facts", str(self.path), "--kernel", self.kernel],
                              capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stdout + done.stderr


def commented_text(source, kernel, said):
    text = Path(source).read_bytes().decode("latin-1")
    facts = {key: value for key, value in json.loads(said)["kernels"][0].items() if key != "kernel"}
    at = text.index("{", text.index(")", text.index(f".entry {kernel}(")))
    return text[:at + 1] + f"\n//ptxopt:facts {json.dumps(facts)}" + text[at + 1:]


def measured(way):
    try:
        return way.ratio()
    except (Refused, KeyError) as reason:
        print(f"refused: {way.kernel}: {reason}", file=sys.stderr)
        return None


def rows_for(args, bench, arch, tools, work, pool):
    """[(kernel, ratios, ratios with sizes)]"""
    ways = []
    texts = [text for _, text in inputs.kernels(arch, ["nvcc"], tools, work, 1)]
    texts += [text for _, text in inputs.kernels(arch, ["nvcc"], tools, work, 1, HERE)]
    for text in texts:
        whole = text.text.replace('.pragma "nounroll";', "") if args.unroll else text.text
        for kernel, plain, sized in kernels_of(whole, args.all):
            alone = inputs.KERNEL.sub(lambda match: match[0] if match[1] == kernel else "", whole)
            source = bench.stored(inputs.lowered(alone, arch, bench.toolchain.newest))
            ways.append((kernel, Way(bench, source, arch, kernel, plain), Way(bench, source, arch, kernel, sized)))
    plain, sized = (list(pool.map(measured, [way[k] for way in ways])) for k in (1, 2))
    bad = []
    if args.verify:
        for way in (way for row in ways for way in row[1:]):
            if said := way.differs():
                bad.append(f"{arch} {way.kernel}: {said}")
    return [(kernel, a, b) for (kernel, _, _), a, b in zip(ways, plain, sized)], bad


def cells(ratios):
    return " ".join(f"{r:.3f}" for r in ratios[0]) if ratios else "-"


def main():
    args = parse_arguments()
    tools = compilers()
    ptxas = args.ptxas or find_ptxas()
    if not ptxas or not tools["nvcc"]:
        print("skipped: facts need ptxas and nvcc")
        return 77
    work = os.path.abspath(args.work)
    prepare(work)
    bench = Bench(args.tool, work, toolchain(ptxas))
    bad, found, means = [], {}, {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for arch in args.archs.split(","):
            rows, wrong = rows_for(args, bench, arch, tools, work, pool)
            bad += wrong
            for kernel, plain, sized in rows:
                found.setdefault(kernel.removesuffix("_i32"), {})[arch] = (plain, sized)
            for k in (0, 1):
                all_of_them = [row[k + 1][0] for row in rows if row[k + 1]]
                means[arch, k] = [mean_ratio([(1, r[s]) for r in all_of_them]) for s in range(3)]
            if args.check and not any(m <= BOUND for m in means[arch, 1]):
                bad.append(f"{arch}: {cells((means[arch, 1],))}, bound {BOUND}")
    header = ["kernel", *(f"{arch}{words}" for arch in args.archs.split(",") for words in ("", " with sizes"))]
    lines = [[kernel, *(cells(found[kernel].get(arch, (None, None))[k]) for arch in args.archs.split(",") for k in (0, 1))]
             for kernel in (found if args.all else [k for k in KERNELS if k in found])]
    lines.append(["geometric mean", *(cells((means[arch, k],)) for arch in args.archs.split(",") for k in (0, 1))])
    if args.markdown:
        for row in (header, ["---", *["--:"] * (len(header) - 1)], *lines):
            print("| " + " | ".join(cell.replace(" ", ", ") if row is not header and k else cell for k, cell in enumerate(row)) + " |")
    else:
        table(header, lines)
    for problem in bad:
        print(f"FAILED {problem}")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    sys.exit(main())
