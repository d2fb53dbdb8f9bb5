#!/usr/bin/env python3
"""The GPU bench: runs the kernels of a packed folder before and after, compares what they leave, and times them.

  run.py [--manifest FILE] [--filter GLOB] [--seconds S] [--json OUT] [--fit] [OPTIONS]

Needs a CUDA driver and Python 3.9, nothing else. Each kernel is a job of its own process (job.py): small launches on
several inputs, then one of real size, which is also timed. What is measured, and when a difference counts: bench.py.
A kernel whose machine code is the same before and after is left out, unless --all is given.

The table has, for each kernel, the time before, after / before with its interval, whether it is faster, slower, or cannot
be distinguished, and after / before as `ptxopt time` has it with data in L1, L2 and DRAM, where the folder says that.
After it: how many are what, the largest ratio of a control (the same code measured against itself), and the rank
correlation of modelled and measured ratios.

Exit codes:
  0   everything compared equal
  1   something differs, or failed where the kernel before did not, or is slower and --fail-on-slower is given
  2   usage, or files that are missing or make no sense, or a kernel failed before already
  77  nothing was run: no driver, no device, no code for the device, or no time (--limit)
"""
import argparse
import fnmatch
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import compare
import fit
import job
import rank
import report
from architecture import NoImage, choose
from bench import UNDECIDED
from driver import PYTHON, STUB, Driver, NoDriver

HERE = Path(__file__).resolve().parent
SCENARIOS = ("l1", "l2", "dram")
FORMAT = "ptxopt GPU bench 2"


class Usage(Exception):
    """str() is what is wrong."""


def read_manifest(path):
    manifest = json.loads(path.read_text(encoding="utf-8"))
    if manifest.get("format") != FORMAT:
        raise Usage(f"{path} is not a manifest of the format '{FORMAT}'")
    return manifest


def job_of(case, architecture, manifest, options):
    images = manifest["images"][architecture]
    names = options.variants or list(images[case["file"]])
    if len(names) < 2 or not set(names) <= set(images[case["file"]]):
        raise Usage(f"{case['name']} has the variants {', '.join(images[case['file']])}; two are needed")
    timed = {"launches": case[options.size], "seconds": options.seconds, "confidence": options.confidence, "margin": options.margin,
             "least_iterations": min(options.iterations or 11, 11), "most_iterations": options.iterations or 200, "control": not options.no_control}
    return {"variants": [{"name": name, "image": images[case["file"]][name][options.load]} for name in names],
            "checks": [{"name": "small", "launches": case["small"], "inputs": options.inputs}],
            "time": None if options.compare_only else timed,
            "fill": images["fill.cu"]["before"][options.load], "nan": options.nan, "seed": options.seed}


def run_job(folder, description, options):
    """The answer of job.py in a process of its own."""
    command = [*PYTHON, str(HERE / "job.py"), "-"] + (["--driver", options.driver] if options.driver else [])
    limit = options.timeout + 20 * options.seconds
    with tempfile.TemporaryFile("w+") as out:
        try:
            ran = subprocess.run(command, input=json.dumps(description), stdout=out, stderr=subprocess.PIPE, text=True, cwd=folder,
                                 timeout=limit)
        except subprocess.TimeoutExpired:
            return {"status": "failed", "error": f"took more than {limit:.0f} s"}
        out.seek(0)
        try:
            return json.load(out)
        except ValueError:
            return {"status": "failed", "error": f"the process ended with {ran.returncode}: {ran.stderr.strip()[-300:]}"}


def modelled(case, architecture, base, variant):
    """{scenario: after / before} as the model has it."""
    model = case.get("model", {}).get(architecture, {})
    if base not in model or variant not in model:
        return {}
    return {s: model[variant][s] / model[base][s] for s in SCENARIOS if model[base].get(s)}


def shown_ratio(ratio):
    if ratio["low"] is None:
        return f"x{ratio['median']:.3f} [too few]"
    return f"x{ratio['median']:.3f} [{ratio['low']:.3f}, {ratio['high']:.3f}]"


def print_case(case, answer, architecture):
    head = f"{case['name']:20} {case['bottleneck']:10}"
    if answer.get("error"):
        print(f"{head} {answer['status']}: {answer['error']}")
    for row in answer.get("comparisons", []):
        for difference in row["differences"]:
            print(f"{head} DIFFERENT, {difference['variant']}, {row['what']}, input {row['input']}: {compare.in_words(difference)}")
        if row["undetermined"]:
            names = ", ".join(row["undetermined"])
            print(f"{head} not determined, {row['what']}, input {row['input']}: {names} differ between two runs of one code")
    times = answer.get("times")
    if not times:
        if answer["status"] == "equal":
            print(f"{head} equal")
        return
    base = answer["base"]
    for name, ratio in times["ratios"].items():
        if name == job.CONTROL:
            continue
        model = modelled(case, architecture, base, name)
        says = " ".join(f"{model[s]:.3f}" for s in SCENARIOS if s in model) or "-"
        before = 1000 * times["milliseconds"][base]["median"]
        print(f"{head} {before:11.2f} {name:14} {shown_ratio(ratio):28} {ratio['verdict']:22} {says}", flush=True)


def rows_of(results):
    """(case, variant, its ratio) of everything that was timed."""
    for case, answer in results:
        for name, ratio in ((answer.get("times") or {}).get("ratios") or {}).items():
            yield case, answer, name, ratio


def summarize(results, architecture):
    variants, verdicts, controls, by_variant = {}, {}, [], {}
    for case, answer, name, ratio in rows_of(results):
        if name == job.CONTROL:
            controls.append(ratio["median"])
            continue
        verdicts.setdefault(name, {}).setdefault(ratio["verdict"], []).append(case["name"])
        variants.setdefault(name, []).append(ratio["median"])
        by_variant.setdefault(name, []).append((ratio["median"], modelled(case, architecture, answer["base"], name)))
    short = [case["name"] for case, answer in results if (answer.get("times") or {}).get("bound_by_launches")]
    return {"bound_by_launches": short, "verdicts": {name: {v: len(cases) for v, cases in kinds.items()} for name, kinds in verdicts.items()},
            "mean": {name: math.exp(sum(map(math.log, ratios)) / len(ratios)) for name, ratios in variants.items()},
            "control": {"least": min(controls), "most": max(controls), "kernels": len(controls)} if controls else None,
            "against_model": {name: rank.against_model(rows, SCENARIOS) for name, rows in by_variant.items()}}


def print_summary(summary, results):
    statuses = {}
    for _, answer in results:
        statuses[answer["status"]] = statuses.get(answer["status"], 0) + 1
    print("\n" + f"{len(results)} kernels: " + ", ".join(f"{n} {status}" for status, n in sorted(statuses.items())))
    if summary["bound_by_launches"]:
        print("too short, what was measured is how fast the processor launches: " + " ".join(summary["bound_by_launches"]))
    for name, verdicts in summary["verdicts"].items():
        told = ", ".join(f"{verdicts.get(v, 0)} {v}" for v in ("faster", "slower", UNDECIDED))
        print(f"{name}: {told}; geometric mean of after / before x{summary['mean'][name]:.3f}")
    if summary["control"]:
        c = summary["control"]
        print(f"control, the same code against itself: x{c['least']:.3f} to x{c['most']:.3f} on {c['kernels']} kernels")
    for name, scenarios in summary["against_model"].items():
        for scenario, r in scenarios.items():
            print(f"{name}: rank correlation of modelled and measured ratios, data in {scenario.upper()}: {r['spearman']:.2f} "
                  f"({r['kernels']} kernels, by chance {r['chance']:.4f})")
        if not scenarios:
            print(f"{name}: no rank correlation: the folder has modelled figures of fewer than three kernels")


def exit_code(results, options):
    codes = {job.CODES[answer["status"]] for _, answer in results}
    slower = any(ratio["verdict"] == "slower" and name != job.CONTROL for _, _, name, ratio in rows_of(results))
    if job.DIFFERENT in codes or options.fail_on_slower and slower:
        return job.DIFFERENT
    return job.USAGE if job.USAGE in codes else job.NOTHING if job.NOTHING in codes else job.EQUAL


def run(options):
    manifest = read_manifest(options.manifest)
    folder = options.manifest.resolve().parent
    with Driver(options.driver) as driver:
        device = driver.describe()
    architecture = choose(device["capability"], manifest["architectures"], options.load)
    print(f"{device['name']}, driver {device['driver']}, {device['multiprocessors']} multiprocessors; {options.load} of {architecture}, "
          f"made by {manifest['made_by']['ptxopt']} and ptxas {manifest['made_by']['ptxas']}")
    if device["name"] == STUB:
        print("this is no GPU: microseconds stand for interpreted instructions, and cycles for nothing")
    if options.fit:
        return fit.main_with(folder, manifest, architecture, options)
    chosen = [case for case in manifest["cases"]
              if fnmatch.fnmatch(case["name"], options.filter) and case["file"] in manifest["images"][architecture]]
    if not chosen:
        raise Usage(f"no kernel is named '{options.filter}'")
    same = [case["name"] for case in chosen if not case["changed"].get(architecture, True)]
    if not options.all:
        chosen = [case for case in chosen if case["name"] not in same]
        if same:
            print(f"{len(same)} kernels have the same machine code before and after: {' '.join(same)}")
    print(f"{'kernel':20} {'bound by':10} {'before, us':>11} {'variant':14} {'after / before':28} {'verdict':22} model: L1 L2 DRAM")
    results, end, left_out = [], time.monotonic() + options.limit, []
    for case in chosen:
        if time.monotonic() >= end:
            left_out = [c["name"] for c in chosen[len(results):]]
            print(f"{len(left_out)} kernels are left out, {options.limit:g} s are over: {' '.join(left_out)}")
            break
        answer = run_job(folder, job_of(case, architecture, manifest, options), options)
        print_case(case, answer, architecture)
        results.append((case, answer))
        if answer["status"] == "no-driver":
            break
    summary = summarize(results, architecture)
    print_summary(summary, results)
    if options.json:
        rows = [{"name": case["name"], "bottleneck": case["bottleneck"], **answer} for case, answer in results]
        text = {"format": report.FORMAT, "device": device, "architecture": architecture, "made_by": manifest["made_by"],
                "load": options.load, "size": options.size,
                "same_code": same, "left_out": left_out, "cases": rows, "summary": summary}
        Path(options.json).write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")
    return job.NOTHING if left_out and not results else exit_code(results, options)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--manifest", type=Path, default=HERE / "manifest.json", help="default: the one beside this script")
    parser.add_argument("--filter", default="*", metavar="GLOB", help="only kernels, or with --fit probes, of these names")
    parser.add_argument("--seconds", type=float, default=2.0, help="of timing for each kernel [2]")
    parser.add_argument("--limit", type=float, default=math.inf, metavar="S", help="start no kernel after so many seconds")
    parser.add_argument("--json", metavar="OUT", help="everything, as JSON")
    parser.add_argument("--fit", action="store_true", help="measure latencies instead: fit.py")
    parser.add_argument("--driver", metavar="LIBRARY", help="default: $PTXOPT_GPU_DRIVER, or libcuda.so.1")
    parser.add_argument("--load", choices=("cubin", "ptx"), default="cubin", help="ptx: the driver compiles it, with its own ptxas")
    parser.add_argument("--size", choices=("small", "real"), default="real", help="what is timed [real]")
    parser.add_argument("--small", action="store_true", help="short for --size small, and few iterations of probes")
    parser.add_argument("--iterations", type=int, help="of timing, at most [200]")
    parser.add_argument("--inputs", type=int, default=8, help="on which small launches are compared [8]")
    parser.add_argument("--confidence", type=float, default=0.99)
    parser.add_argument("--margin", type=float, default=0.002, help="a ratio this near to 1 is not distinguished [0.002]")
    parser.add_argument("--nan", choices=("bits", "any"), default="bits", help="any: all NaNs are one value")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--variants", type=lambda text: text.split(","), help="only these, the first is the base")
    parser.add_argument("--compare-only", action="store_true", help="no times")
    parser.add_argument("--no-control", action="store_true", help="do not measure the first variant against itself")
    parser.add_argument("--all", action="store_true", help="also kernels whose machine code is the same")
    parser.add_argument("--fail-on-slower", action="store_true")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for a kernel, with 20 times --seconds on top [120]")
    options = parser.parse_args(arguments)
    if not options.limit >= 0 or not options.seconds >= 0:
        parser.error("--limit and --seconds are numbers of seconds")
    if options.small:
        options.size = "small"
    return options


def main(arguments=None):
    options = parse(arguments)
    try:
        return run(options)
    except (NoDriver, NoImage) as error:
        print(f"run.py: nothing to run on: {error}", file=sys.stderr)
        return job.NOTHING
    except (Usage, OSError, ValueError, KeyError) as error:
        print(f"run.py: {error if isinstance(error, (Usage, OSError)) else repr(error)}", file=sys.stderr)
        return job.USAGE


if __name__ == "__main__":
    sys.exit(main())
