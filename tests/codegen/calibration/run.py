#!/usr/bin/env python3
"""How near the estimates of register counts come to what ptxas gives.

  run.py --tool build/release/tests/codegen/calibration/register_estimate [--work build/calibration] [--update] [--check] [--fit] [--worst N]
         [--archs 80,90] [PTX or folder...]

Kernels: those of samples/, and tests/codegen/corpus/kernels/*.cu compiled by nvcc for the architectures; or of the files named.
`ptxas -v` tells the real count of each. Kernels that spill and kernels of one name and count in one file count once.
For each estimate it prints Spearman's rank correlation with the real counts, the mean absolute error in registers, the
mean error (positive: too many) and how many kernels are within 4 registers.

--update writes the table into docs/results/register-estimates.md, between `<!-- register-estimates -->` and
`<!-- /register-estimates -->`; the figures depend on the toolkit, so no test compares them. --check fails if a correlation
is below 0.85, which no change should do unnoticed. --fit prints, for each count, the line that makes the sum of absolute
errors least. --worst lists the kernels with the largest errors. Compiled files and counts are kept in the work folder.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "results" / "register-estimates.md"
sys.path.insert(0, str(ROOT / "tests" / "lib"))
import machine_code  # noqa: E402
from compilers import Compilation, Skip, compiled, find, prepare, version  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

LEAST_CORRELATION = 0.85
ESTIMATES = {"plain": "plain maximum", "fat_point": "fat-point model"}
COUNTS = {"units": "live 32-bit registers in the PTX", **ESTIMATES}


def digest(*parts):
    return hashlib.sha256(b"\0".join(p if isinstance(p, bytes) else p.encode() for p in parts)).hexdigest()[:20]


def kernel(nvcc, compiler, source, arch, work):
    """The PTX of a source, or None where nvcc refuses it for the architecture. Named and made as in the corpus (plain),
    so that of two tests with one $PTXOPT_KEPT one compiles it."""
    first = source.read_text(encoding="utf-8").splitlines()[0]
    settings = dict(w.split("=", 1) for w in shlex.split(first[11:])) if first.startswith("// corpus: ") else {}
    if int(arch) < int(settings.get("min", 0)):
        return None
    command = [nvcc, f"-arch=sm_{arch}", *shlex.split(settings.get("flags", "")), "-w", "-ptx", str(source), "-o"]
    try:
        return Path(compiled(Compilation(f"{source.stem}.sm_{arch}.plain", str(source), command, compiler), work))
    except Skip:
        return None


def inputs(args):
    if args.inputs:
        for name in args.inputs:
            yield from sorted(name.glob("**/*.ptx")) if name.is_dir() else [name]
        return
    yield from sorted((ROOT / "samples").glob("**/*.ptx"))
    nvcc = find("NVCC", "nvcc")
    if not nvcc:
        print("calibration: no nvcc: the kernels of the corpus are left out")
        return
    compiler = version(nvcc)
    sources = sorted((ROOT / "tests" / "codegen" / "corpus" / "kernels").glob("*.cu"))
    jobs = [(source, arch) for source in sources for arch in args.archs.split(",")]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        yield from filter(None, pool.map(lambda job: kernel(nvcc, compiler, *job, args.work), jobs))


def real_counts(path, assembler, work):
    """kernel -> what ptxas -v says of it; nothing where ptxas refuses the file."""
    cache = work / f"counts-{digest(path.read_bytes(), assembler)}.json"
    if not cache.exists():
        try:
            counts = machine_code.stats(machine_code.assemble(str(path)))
        except (machine_code.AssemblyError, subprocess.TimeoutExpired):
            counts = {}
        cache.write_text(json.dumps(counts), encoding="utf-8")
    return json.loads(cache.read_text(encoding="utf-8"))


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for k in range(at, end + 1):
            result[order[k]] = (at + end) / 2
        at = end + 1
    return result


def correlation(a, b):
    ma, mb = sum(a) / len(a), sum(b) / len(b)
    top = sum((x - ma) * (y - mb) for x, y in zip(a, b))
    bottom = (sum((x - ma) ** 2 for x in a) * sum((y - mb) ** 2 for y in b)) ** 0.5
    return top / bottom if bottom else 0.0


def spearman(a, b):
    return correlation(ranks(a), ranks(b))


def collect(args):
    paths = list(inputs(args))
    assembler = version(machine_code.find_ptxas())
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        real = dict(zip(map(str, paths), pool.map(lambda p: real_counts(p, assembler, args.work), paths)))
    result = subprocess.run([args.tool, *map(str, paths)], capture_output=True, text=True, timeout=600)
    if result.stderr:
        print(result.stderr.splitlines()[0])
    rows, seen = [], set()
    for line in result.stdout.splitlines():
        row = json.loads(line)
        count = real[row["file"]].get(row["kernel"])
        if not count or count["registers"] == 0 or count["spill_stores"] or count["spill_loads"]:
            continue
        row["real"] = count["registers"]
        key = (re.sub(r"-[0-9a-f]{20,24}", "", Path(row["file"]).name), row["units"], row["kept"], row["slots"], row["real"])
        if key not in seen:
            seen.add(key)
            rows.append(row)
    return paths, rows


def table(rows):
    real = [row["real"] for row in rows]
    lines = ["| estimate | rank correlation | mean absolute error | mean error | within 4 registers |", "|---|---|---|---|---|"]
    for key, name in COUNTS.items():
        mine = [row[key] for row in rows]
        errors = [m - r for m, r in zip(mine, real)]
        within = sum(abs(e) <= 4 for e in errors) / len(errors)
        lines.append(f"| {name} | {spearman(mine, real):.3f} | {sum(map(abs, errors)) / len(errors):.1f} |"
                     f" {sum(errors) / len(errors):+.1f} | {within:.0%} |")
    return "\n".join(lines)


def fit(rows, key):
    """factor and constant of least absolute error, by trying factors and taking the median for the constant."""
    rows = [row for row in rows if not row["calls"] and row["real"] < row["limit"]]
    best = None
    for step in range(60, 151):
        factor = step / 100
        rest = sorted(row["real"] - factor * row[key] for row in rows)
        constant = rest[len(rest) // 2]
        error = sum(abs(r - constant) for r in rest)
        if best is None or error < best[0]:
            best = error, factor, constant
    return best[1], best[2], best[0] / len(rows)


def update_page(text, figures):
    begin, end = "<!-- register-estimates -->", "<!-- /register-estimates -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise SystemExit(f"{PAGE.name} needs one `{begin}` and, after it, one `{end}`")
    head, rest = text.split(begin)
    return f"{head}{begin}\n{figures}\n{end}{rest.split(end)[1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the built tests/codegen/calibration/estimate.cpp")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "calibration")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--archs", default="80,90")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("inputs", nargs="*", type=Path)
    args = parser.parse_args()
    args.tool = os.path.abspath(args.tool)
    if not machine_code.find_ptxas():
        print("calibration: no ptxas: nothing to compare with")
        return 0
    args.work = args.work.resolve()
    prepare(args.work)
    paths, rows = collect(args)
    if len(rows) < 3:
        print("calibration: fewer than 3 kernels")
        return 1
    release = subprocess.run([machine_code.find_ptxas(), "--version"], capture_output=True, text=True).stdout
    release = (re.search(r"V(\d+\.\d+\.\d+)", release) or ["", "?"])[1]
    figures = f"{len(rows)} kernels in {len(paths)} files, ptxas {release}:\n\n{table(rows)}"
    print(figures)
    if args.fit:
        for key in ("units", "kept", "eager", "slots"):
            factor, constant, error = fit(rows, key)
            print(f"fit: registers = {factor:.2f} * {key} + {constant:.1f}, mean absolute error {error:.1f}")
    for row in sorted(rows, key=lambda r: -abs(r["fat_point"] - r["real"]))[:args.worst]:
        print(f"{row['real']:4} real, {row['plain']:4} plain, {row['fat_point']:4} fat point, {row['units']:4} units, "
              f"{row['instructions']:6} instructions  {Path(row['file']).name}: {row['kernel'][:90]}")
    if args.update:
        PAGE.write_text(update_page(PAGE.read_text(encoding="utf-8"), figures), encoding="utf-8")
    failed = False
    for key in ESTIMATES if args.check else ():
        rank = spearman([row[key] for row in rows], [row["real"] for row in rows])
        if rank < LEAST_CORRELATION:
            print(f"the rank correlation of the {ESTIMATES[key]} is {rank:.3f}, below {LEAST_CORRELATION}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
