#!/usr/bin/env python3
"""Keeps what a GPU timed for judge.py: a record for each kernel, in gpu/*.jsonl.

  record.py add FILE.jsonl --figures .../guard_figures --arch sm_90 --before A.ptx --after B.ptx --kernel NAME --program NAME
            --set NAME --ratio R|same [--low L --high H] [--blocks N --threads N] --gpu NAME --date YYYY-MM-DD --revision REV --toolchain TEXT
            [--code TEXT]
  record.py bench FILE.jsonl --figures .../guard_figures --results results.json --folder BENCH --set NAME --date YYYY-MM-DD --revision REV
  record.py refresh FILE.jsonl --figures .../guard_figures FOLDER...

`add` takes PTX before and after, assembles both, and keeps the model's figures, not the code, with the ratio of the times: after
/ before, or `same` where they could not be distinguished, with the interval of the ratio. `bench` does so for what tests/gpu/run.py
--json wrote, with the folder that tests/gpu/pack.py made. A kernel of the same set that is there already is replaced. Kernels whose
machine code is the same are left out.
`refresh` computes the figures anew, after the model of time changed: PTX of both sides is looked for below the folders, and taken if
its machine code is that of the record. It fails if the code of a record is not found.
NAME of a kernel is as mangled, or a part of it that one kernel has.

Exit codes: 0 ok, 2 usage or files.
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lib")]
from judge import is_held_out  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

TIMED = "that which was timed"


OF_LAUNCH = ("threads", "warps", "cycles")  # figures that depend on it


def measure(options, architecture, ptx, *launch):
    """Kernels of the file: name -> its figures. `launch`: a kernel, its threads and blocks."""
    ran = subprocess.run([options.figures, "measure", options.ptxas, architecture, str(ptx), *map(str, launch)], capture_output=True, text=True)
    if ran.returncode != 0:
        raise ValueError(ran.stderr.strip())
    return {f["name"]: f for f in json.loads(ran.stdout)["functions"] if f["kind"] == "entry"}


def read(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def write(file, records):
    records = sorted(records, key=lambda r: (r["set"], r["program"], r["kernel"]))
    file.write_text("".join(json.dumps(r, separators=(",", ":")) + "\n" for r in records), encoding="utf-8")


def put(records, record):
    """In place of the record of the same kernel, if there is one."""
    key = ("set", "program", "kernel", "architecture")
    return [r for r in records if any(r[k] != record[k] for k in key)] + [record]


def sides(before, after, kernel):
    """The figures of the kernel before and after."""
    names = [kernel] if kernel in before else [name for name in before if kernel in name]
    if len(names) != 1 or names[0] not in after:
        raise ValueError(f"'{kernel}' is {'no kernel' if not names else ' and '.join(names)}")
    return before[names[0]], after[names[0]]


def launched(options, record, files):
    """Figures of both sides by the size of the launch, of these files; none where that is not known."""
    if not record["blocks"] or not record["threads"]:
        return None
    name = record["before"]["name"]
    both = {}
    for side, ptx in zip(("before", "after"), files):
        figures = measure(options, record["architecture"], ptx, name, record["threads"], record["blocks"])[name]
        both[side] = {key: figures[key] for key in OF_LAUNCH}
    return both


def record_of(options, figures, ratio, low, high, **more):
    before, after = figures
    told = ratio is not None
    return {"program": more["program"], "kernel": before["name"], "set": options.set, "architecture": more["architecture"],
            "blocks": more["blocks"], "threads": more["threads"], "distinguished": told, "ratio": ratio if told else 1.0, "low": low, "high": high,
            "held_out": is_held_out(more["program"]), "measured": more["measured"], "before": before, "after": after}


def add(options, records):
    before, after = (measure(options, options.arch, ptx) for ptx in (options.before, options.after))
    figures = sides(before, after, options.kernel)
    if figures[0]["code"] == figures[1]["code"]:
        raise ValueError(f"{options.kernel}: the machine code is the same")
    measured = {"gpu": options.gpu, "date": options.date, "revision": options.revision, "toolchain": options.toolchain, "code": options.code}
    record = record_of(options, figures, None if options.ratio == "same" else float(options.ratio), options.low, options.high,
                       program=options.program, architecture=options.arch, blocks=options.blocks, threads=options.threads, measured=measured)
    record["launched"] = launched(options, record, (options.before, options.after))
    return put(records, record)


def bench(options, records):
    results = json.loads(options.results.read_text(encoding="utf-8"))
    manifest = json.loads((options.folder / "manifest.json").read_text(encoding="utf-8"))
    architecture, cases = results["architecture"], {case["name"]: case for case in manifest["cases"]}
    made = results["made_by"]
    measured = {"gpu": results["device"]["name"], "date": options.date, "revision": options.revision, "code": TIMED,
                "toolchain": f"{made['compiler'] if made['compiler'] != 'nvcc' else 'nvcc ' + made['nvcc']}, ptxas {made['ptxas']}"}
    files = {}
    for answer in results["cases"]:
        ratio = ((answer.get("times") or {}).get("ratios") or {}).get(options.variant)
        if not ratio:
            continue
        case = cases[answer["name"]]
        image = manifest["images"][architecture][case["file"]]
        for variant in ("before", options.variant):
            if (case["file"], variant) not in files:
                files[case["file"], variant] = measure(options, architecture, options.folder / image[variant]["ptx"])
        figures = sides(files[case["file"], "before"], files[case["file"], options.variant], case["name"])
        if figures[0]["code"] == figures[1]["code"]:
            continue
        launch = case[results["size"]][-1]
        product = [shape[0] * shape[1] * shape[2] for shape in (launch["grid"], launch["block"])]
        told = ratio["verdict"] in ("faster", "slower")
        record = record_of(options, figures, round(ratio["median"], 4) if told else None, ratio["low"], ratio["high"],
                           program=case["name"], architecture=architecture, blocks=product[0], threads=product[1], measured=measured)
        record["launched"] = launched(options, record, [options.folder / image[v]["ptx"] for v in ("before", options.variant)])
        records = put(records, record)
    return records


def refresh(options, records):
    architectures = sorted({r["architecture"] for r in records})
    wanted = {(r["architecture"], r[side]["code"]) for r in records for side in ("before", "after")}
    found = {}
    for ptx in sorted(p for folder in options.folders for p in Path(folder).rglob("*.ptx")):
        for architecture in architectures:
            for figures in measure(options, architecture, ptx).values():
                if (architecture, figures["code"]) in wanted:
                    found[architecture, figures["name"], figures["code"]] = figures, ptx
    missing = []
    for r in records:
        files = []
        for side in ("before", "after"):
            figures, ptx = found.get((r["architecture"], r[side]["name"], r[side]["code"]), (None, None))
            if figures:
                r[side] = figures
                files.append(ptx)
            else:
                missing.append(f"{r['program']} {r['kernel']} {side}")
        if len(files) == 2:
            r["launched"] = launched(options, r, files)
    if missing:
        raise ValueError(f"no PTX of the same machine code was found of {len(missing)}: " + ", ".join(missing[:10]))
    return records


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command(run, name, *words):
        one = commands.add_parser(name)
        one.add_argument("file", type=Path, metavar="FILE.jsonl")
        one.add_argument("--figures", required=True, help="the program guard_figures of the build")
        one.add_argument("--ptxas", default=find_ptxas())
        for word in words:
            one.add_argument(f"--{word}", required=True)
        one.set_defaults(run=run)
        return one

    one = command(add, "add", "arch", "before", "after", "kernel", "program", "set", "ratio", "gpu", "date", "revision", "toolchain")
    for word, kind in (("low", float), ("high", float), ("blocks", int), ("threads", int)):
        one.add_argument(f"--{word}", type=kind)
    one.add_argument("--code", default=TIMED, help="how it is known that this is the machine code that was timed")
    many = command(bench, "bench", "set", "date", "revision")
    many.add_argument("--results", type=Path, required=True)
    many.add_argument("--folder", type=Path, required=True)
    many.add_argument("--variant", default="after")
    command(refresh, "refresh").add_argument("folders", nargs="+", metavar="FOLDER")
    options = parser.parse_args()
    if not options.ptxas:
        parser.error("there is no ptxas")
    try:
        records = options.run(options, read(options.file))
        write(options.file, records)
    except (OSError, ValueError, KeyError) as error:
        print(f"record.py: {error if isinstance(error, (OSError, ValueError)) else repr(error)}", file=sys.stderr)
        return 2
    print(f"{options.file}: {len(records)} records")
    return 0


if __name__ == "__main__":
    sys.exit(main())
