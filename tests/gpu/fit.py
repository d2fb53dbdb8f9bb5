#!/usr/bin/env python3
"""Latencies as a device has them: runs the probes of a packed folder (probes.py) and prints rows for the model of time.

  fit.py [--manifest FILE] [--json OUT] [--driver LIBRARY] [--load cubin|ptx] [--filter GLOB]

Each probe is a chain of one instruction in two lengths, run by one warp, which reads the clock before and after. The latency
is the difference of the cycles by the difference of the steps; the least of the runs counts, because whatever disturbs a
run makes it longer. A step of several kinds of instructions gives their sum; where all but one of them are known from
other probes, that one follows.

`kinds` have the names of src/timing/kinds.def; GlobalLoad:L1 and its like are the latencies of memory. Each probe runs in a
process of its own: one that fails takes no other with it.

Exit codes: 0 all probes ran, 1 some failed, 2 usage or files, 77 nothing to run on.
"""
import argparse
import fnmatch
import json
import struct
import subprocess
import sys
from pathlib import Path

from architecture import NoImage, choose
from driver import PYTHON, CudaError, Driver, NoDriver

HERE = Path(__file__).resolve().parent
LIMIT = 120  # seconds for a probe
ROUNDS, RUNS, DATA = 256, 7, 256
PACKS = {"u32": "<I", "u64": "<Q", "f32": "<f", "f64": "<d"}


def cycles(driver, function, parameters, out, grid=1):
    """The least of a few runs; the first warms the caches of instructions."""
    found = []
    for _ in range(RUNS):
        driver.launch(function, [grid, 1, 1], [32, 1, 1], 0, parameters)
        driver.synchronize()
        found.append(int.from_bytes(out.read()[:8], "little"))
    return min(found[1:])


def run_chain(driver, probe, module, rounds):
    out, data = driver.memory(256), driver.memory(DATA)
    inputs = bytearray(DATA)
    for at, (kind, value) in probe["inputs"].items():
        struct.pack_into(PACKS[kind], inputs, int(at), value)
    times = []
    for length in probe["lengths"]:
        data.write(inputs)
        parameters = [out.address.to_bytes(8, "little"), data.address.to_bytes(8, "little"), rounds.to_bytes(4, "little")]
        times.append(cycles(driver, module.function(f"probe_{length}"), parameters, out))
    short, long = probe["lengths"]
    return (times[1] - times[0]) / (rounds * (long - short))


def run_dram(driver, probe, module, nodes, stride):
    """A chase through more than the caches hold, in a run short enough to come to no node twice."""
    out, data = driver.memory(256), driver.memory(nodes * stride * 8)
    word = [out.address.to_bytes(8, "little"), data.address.to_bytes(8, "little")]
    shape = [nodes.to_bytes(4, "little"), stride.to_bytes(4, "little")]
    driver.launch(module.function("dram_make"), [256, 1, 1], [256, 1, 1], 0, [word[1], *shape])
    steps = min(nodes, 1 << 14)
    driver.launch(module.function("dram_chase"), [1, 1, 1], [1, 1, 1], 0, [*word, steps.to_bytes(4, "little")])
    driver.synchronize()
    return int.from_bytes(out.read()[:8], "little") / steps


def run_one(folder, probe, image, library, small):
    with Driver(library) as driver:
        module = driver.load((folder / image).read_bytes())
        if "inputs" in probe:
            return run_chain(driver, probe, module, 2 if small else ROUNDS)
        return run_dram(driver, probe, module, 1024 if small else 1 << 21, 4 if small else 32)


def solve(measured):
    """kind -> cycles, from probe -> (kinds, cycles of a step)."""
    known, left = {}, [(kinds.split("+"), value) for kinds, value in measured.values()]
    while True:
        for kinds, value in left:
            unknown = {k for k in kinds if k not in known}
            if len(unknown) == 1:
                kind = unknown.pop()
                known[kind] = (value - sum(known[k] for k in kinds if k != kind)) / kinds.count(kind)
                break
        else:
            return known


def table_rows(architecture, known):
    """To be carried over into src/timing/latencies.def and memory.def, by a person who looks at them."""
    number = int("".join(c for c in architecture if c.isdigit()))
    rows = [f"TIMING_LATENCY({kind}, {number}, {number}, {value:.0f}, Measured)  // {value:.2f}"
            for kind, value in sorted(known.items()) if ":" not in kind]
    return rows + [f"TIMING_MEMORY({number}, {kind.split(':')[1]}, {value:.0f}, Measured, ...)  // the latency alone"
                   for kind, value in sorted(known.items()) if ":" in kind]


def fit(folder, manifest, architecture, options):
    """What each probe gave, or why not."""
    answers = {}
    for probe in manifest["probes"].get(architecture, []):
        if not fnmatch.fnmatch(probe["name"], options.filter):
            continue
        if probe.get("note"):
            answers[probe["name"]] = {"error": probe["note"]}
            continue
        command = [*PYTHON, str(HERE / "fit.py"), "--one", probe["name"], "--manifest", str(folder / "manifest.json")]
        command += ["--load", options.load]
        command += ["--driver", options.driver] if options.driver else []
        command += ["--small"] if options.small else []
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
            answers[probe["name"]] = json.loads(ran.stdout) if ran.stdout else {"error": ran.stderr.strip()[-300:]}
        except subprocess.TimeoutExpired:
            answers[probe["name"]] = {"error": f"took more than {LIMIT} s"}
        answers[probe["name"]]["kinds"] = probe["kinds"]
    return answers


def report(architecture, answers, table):
    """`table`: kind -> what the model has."""
    print(f"{'probe':22} {'kinds':34} {'cycles':>8} {'of the model':>13}")
    for name, answer in answers.items():
        kinds = answer.get("kinds", "")
        modelled = sum(table[k] for k in kinds.split("+")) if all(k in table for k in kinds.split("+")) else None
        print(f"{name:22} {kinds:34} " + (f"{answer['cycles']:8.2f} {modelled if modelled is not None else '-':>13}"
                                          if "cycles" in answer else answer["error"]))
    known = solve({name: (a["kinds"], a["cycles"]) for name, a in answers.items() if "cycles" in a})
    print()
    print("\n".join(table_rows(architecture, known)))
    return {"architecture": architecture, "probes": answers, "kinds": known, "table": table}


def main_with(folder, manifest, architecture, options):
    result = report(architecture, fit(folder, manifest, architecture, options), manifest.get("latencies", {}).get(architecture, {}))
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return 1 if any("error" in a for a in result["probes"].values()) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--manifest", type=Path, default=HERE / "manifest.json", help="default: the one beside this script")
    parser.add_argument("--json", metavar="OUT", help="also as JSON")
    parser.add_argument("--driver", metavar="LIBRARY", help="default: $PTXOPT_GPU_DRIVER, or libcuda.so.1")
    parser.add_argument("--load", choices=("cubin", "ptx"), default="cubin", help="ptx: the driver compiles it")
    parser.add_argument("--filter", default="*", metavar="GLOB", help="only these probes")
    parser.add_argument("--small", action="store_true", help="few rounds: to see that it runs")
    parser.add_argument("--one", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        manifest = json.loads(options.manifest.read_text(encoding="utf-8"))
        folder = options.manifest.resolve().parent
        with Driver(options.driver) as driver:
            architecture = choose(driver.describe()["capability"], manifest["architectures"], options.load)
        if options.one:
            probe = next(p for p in manifest["probes"][architecture] if p["name"] == options.one)
            print(json.dumps({"cycles": run_one(folder, probe, probe[options.load], options.driver, options.small)}))
            return 0
        return main_with(folder, manifest, architecture, options)
    except (NoDriver, NoImage) as error:
        print(f"fit.py: {error}", file=sys.stderr)
        return 77
    except CudaError as error:
        print(f"fit.py: {error}", file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError) as error:
        print(f"fit.py: {error!r}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
