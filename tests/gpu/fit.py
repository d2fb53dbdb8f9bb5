#!/usr/bin/env python3
"""Latencies and throughput as a device has them: runs the probes and streams of a packed folder (probes.py, streams.py) and
prints rows for the model of time.

  fit.py [--manifest FILE] [--json OUT] [--driver LIBRARY] [--load cubin|ptx] [--filter GLOB]

Each probe is a chain of one instruction in two lengths, run by one warp, which reads the clock before and after. The latency
is the difference of the cycles by the difference of the steps; the least of the runs counts, because whatever disturbs a
run makes it longer. A step of several kinds of instructions gives their sum; where all but one of them are known from
other probes, that one follows.

A stream is independent instructions of a block that fills an SM. Its cycles are those that a step takes a part of the SM,
and next to them are those that the model has: of the unit that has most to do.

`kinds` have the names of src/core/target/kinds.def; GlobalLoad:L1 and its like are the latencies of memory, Bytes:L2 and its like
the bytes that an SM reads in a cycle while all read. A process runs probes until one fails, which takes no other with it:
the rest run in a new process.

Exit codes: 0 all probes ran, 1 some failed, 2 usage or files, 77 nothing to run on.
"""
import argparse
import fnmatch
import json
import statistics
import struct
import subprocess
import sys
from pathlib import Path

from architecture import NoImage, choose
from driver import PYTHON, CudaError, Driver, NoDriver

HERE = Path(__file__).resolve().parent
LIMIT = 120  # seconds for a probe
ITERATIONS, RUNS = 256, 7
WARP, PARTS = 32, 4  # of an SM
OUT, DATA = 8192, 1 << 18  # bytes
CHASED = {"GlobalLoad:L2": (1 << 15, 64), "GlobalLoad:Dram": (1 << 21, 32)}  # nodes, and 8-byte words from one to the next
READ = {"Bytes:L2": (1 << 24, 16), "Bytes:Dram": (1 << 31, 1)}  # bytes, and how often they are read
PACKS = {"u32": "<I", "u64": "<Q", "f32": "<f", "f64": "<d"}


def cycles(driver, function, parameters, out, threads, times, runs):
    """The least of a few runs; the first warms the caches of instructions. `times`: where each warp wrote when it began and
    ended."""
    found = []
    for _ in range(runs):
        driver.launch(function, [1, 1, 1], [threads, 1, 1], 0, parameters)
        driver.synchronize()
        warps = struct.unpack_from(f"<{2 * threads // WARP}Q", out.read(), times)
        found.append(max(warps[1::2]) - min(warps[::2]))
    return min(found[1:])


def run_chain(driver, probe, module, small):
    """Cycles of a step, of each warp in a part of an SM, and those of an iteration of both lengths."""
    iterations, runs, threads = (2, 2, WARP) if small else (ITERATIONS, RUNS, probe.get("threads", WARP))
    out, data = driver.memory(OUT), driver.memory(DATA)
    inputs = bytearray(data.size)
    for at, (kind, value) in probe["inputs"].items():
        struct.pack_into(PACKS[kind], inputs, int(at), value)
    times = []
    for length in probe["lengths"]:
        data.write(inputs)
        parameters = [out.address.to_bytes(8, "little"), data.address.to_bytes(8, "little"), iterations.to_bytes(4, "little")]
        times.append(cycles(driver, module.function(f"probe_{length}"), parameters, out, threads, probe["times"], runs))
    short, long = probe["lengths"]
    step = (times[1] - times[0]) / (iterations * (long - short)) / max(1, threads // (WARP * PARTS))
    return {"cycles": step, "iterations": [time / iterations for time in times]}


def run_chase(driver, probe, module, nodes, stride):
    """A chase through memory, once to have what fits in the L2 cache there, then in a run short enough to come to no node
    twice."""
    out, data = driver.memory(256), driver.memory(nodes * stride * 8)
    word = [out.address.to_bytes(8, "little"), data.address.to_bytes(8, "little")]
    shape = [nodes.to_bytes(4, "little"), stride.to_bytes(4, "little")]
    driver.launch(module.function("chase_make"), [256, 1, 1], [256, 1, 1], 0, [word[1], *shape])
    steps = min(nodes, 1 << 14)
    if steps * 2 >= nodes:
        driver.launch(module.function("chase"), [1, 1, 1], [1, 1, 1], 0, [*word, nodes.to_bytes(4, "little")])
    driver.launch(module.function("chase"), [1, 1, 1], [1, 1, 1], 0, [*word, steps.to_bytes(4, "little")])
    driver.synchronize()
    return {"cycles": int.from_bytes(out.read()[:8], "little") / steps}


def run_bytes(driver, probe, module, size, passes):
    """Bytes that an SM reads in a cycle, while all do."""
    blocks = driver.describe()["multiprocessors"]  # one is resident on each, whatever the architecture
    out, data = driver.memory(8 * (blocks + 1)), driver.memory(size)
    data.clear(1)
    parameters = [out.address.to_bytes(8, "little"), data.address.to_bytes(8, "little"), (size // 16).to_bytes(4, "little"),
                  passes.to_bytes(4, "little")]
    best = 0
    for _ in range(RUNS):
        driver.launch(module.function("memory_read"), [blocks, 1, 1], [1024, 1, 1], 0, parameters)
        driver.synchronize()
        took = statistics.median(struct.unpack(f"<{blocks}Q", out.read()[:8 * blocks]))
        best = max(best, size * passes / blocks / took)
    return {"cycles": best}


def run_one(folder, probe, image, library, small):
    with Driver(library) as driver:
        module = driver.load((folder / image).read_bytes())
        if "inputs" in probe:
            return run_chain(driver, probe, module, small)
        if probe["kinds"] in READ:
            return run_bytes(driver, probe, module, *((1 << 16, 1) if small else READ[probe["kinds"]]))
        return run_chase(driver, probe, module, *((1024, 4) if small else CHASED[probe["kinds"]]))


def run_some(folder, probes, options):
    """A line of JSON for each, until one fails."""
    for probe in probes:
        print(json.dumps({"name": probe["name"], **run_one(folder, probe, probe[options.load], options.driver, options.small)}), flush=True)


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


def show(value):
    return "..." if value is None else f"{value:.1f}"


def table_rows(architecture, known):
    """To be carried over into src/core/target/latencies.def and memory.def, by a person who looks at them."""
    number = int("".join(c for c in architecture if c.isdigit()))
    rows = [f"TARGET_LATENCY({kind}, {number}, {number}, {value:.0f}, Measured)  // {value:.2f}"
            for kind, value in sorted(known.items()) if ":" not in kind]
    memory = {}
    for kind, value in known.items():
        if ":" in kind:
            what, place = kind.split(":")
            memory.setdefault(place, {})[what] = value
    return rows + [f"TARGET_MEMORY({number}, {place}, {show(found.get('GlobalLoad'))}, Measured, {show(found.get('Bytes'))}, Measured)"
                   for place, found in sorted(memory.items())]


def run_in_processes(command, probes):
    """name -> what it gave. A process ends with the first probe that fails; the next goes on after that one."""
    answers, left = {}, [probe["name"] for probe in probes]
    while left:
        try:
            ran = subprocess.run([*command, *(word for name in left for word in ("--one", name))], capture_output=True, text=True,
                                 timeout=LIMIT + len(left))
            out, error = ran.stdout, ran.stderr.strip()[-300:]
        except subprocess.TimeoutExpired as late:
            out = late.stdout or ""
            out, error = out if isinstance(out, str) else out.decode(), f"took more than {LIMIT + len(left)} s"
        for line in out.splitlines(keepends=True):
            if line.endswith("\n"):  # the last one may be cut off
                answer = json.loads(line)
                answers[answer.pop("name")] = answer
        left = [name for name in left if name not in answers]
        if left:
            answers[left.pop(0)] = {"error": error or "the process ended early"}
    return answers


def fit(folder, manifest, architecture, options):
    """What each probe gave, or why not."""
    chosen = [probe for probe in manifest["probes"].get(architecture, []) if fnmatch.fnmatch(probe["name"], options.filter)]
    command = [*PYTHON, str(HERE / "fit.py"), "--manifest", str(folder / "manifest.json"), "--load", options.load]
    command += ["--driver", options.driver] if options.driver else []
    command += ["--small"] if options.small else []
    ran = run_in_processes(command, [probe for probe in chosen if not probe.get("note")])
    answers = {}
    for probe in chosen:
        answer = {"error": probe["note"]} if probe.get("note") else ran[probe["name"]]
        answers[probe["name"]] = {**answer, "kinds": probe["kinds"], **({"instructions": probe["instructions"]} if "threads" in probe else {})}
    return answers


def counted(kinds):
    """(kind, how many) of "Fp32+Logic*0.5"."""
    for word in kinds.split("+"):
        kind, _, times = word.partition("*")
        yield kind, float(times or 1)


def modelled_of(answer, table, uses):
    """The cycles that the model has for a step, None where it has none."""
    kinds = list(counted(answer["kinds"]))
    if "instructions" not in answer:
        return sum(table[k] * n for k, n in kinds) if all(k in table for k, _ in kinds) else None
    units = {"Issue": answer["instructions"]}
    for kind, times in kinds:
        for unit, cycles_of_it in uses.get(kind, {}).items():
            units[unit] = units.get(unit, 0) + times * cycles_of_it
    return max(units.values()) if uses else None


def report(architecture, answers, table, uses):
    """`table`: kind -> latency of the model; `uses`: kind -> unit -> cycles."""
    print(f"{'probe':34} {'kinds':34} {'cycles':>8} {'of the model':>13}")
    for name, answer in answers.items():
        answer["model"] = modelled_of(answer, table, uses)
        print(f"{name:34} {answer['kinds']:34} " + (f"{answer['cycles']:8.2f} {answer['model'] if answer['model'] is not None else '-':>13}"
                                                    if "cycles" in answer else answer["error"]))
    known = solve({name: (a["kinds"], a["cycles"]) for name, a in answers.items() if "cycles" in a and "instructions" not in a})
    print()
    print("\n".join(table_rows(architecture, known)))
    return {"architecture": architecture, "probes": answers, "kinds": known, "table": table}


def main_with(folder, manifest, architecture, options):
    result = report(architecture, fit(folder, manifest, architecture, options), manifest.get("latencies", {}).get(architecture, {}),
                    manifest.get("uses", {}).get(architecture, {}))
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
    parser.add_argument("--small", action="store_true", help="few iterations: to see that it runs")
    parser.add_argument("--one", metavar="NAME", action="append", help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        manifest = json.loads(options.manifest.read_text(encoding="utf-8"))
        folder = options.manifest.resolve().parent
        with Driver(options.driver) as driver:
            architecture = choose(driver.describe()["capability"], manifest["architectures"], options.load)
        if options.one:
            run_some(folder, [p for p in manifest["probes"][architecture] if p["name"] in options.one], options)
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
