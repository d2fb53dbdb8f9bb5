#!/usr/bin/env python3
"""Compares and times variants of one kernel on a GPU: a program with a job in JSON, which answers in JSON.

  job.py JOB.json|- [--json OUT] [--driver LIBRARY]

A job:
  variants   [{"name": "before", "image": "before.cubin"}, ...]: cubins, or PTX, which the driver compiles. The first is the
             base: the others are compared with it
  checks     [{"launches": [...], "inputs": 4}, ...]: compared. Input 0 is what the arguments say, the others give buffers
             that are `random` the contents that `ptxopt verify` tries
  time       null, or {"launches": [...], "seconds": 2, "least_iterations": 11, "most_iterations": 200, "confidence": 0.99,
             "margin": 0.002, "control": true}: compared, too, then timed
  seed, nan, fill, fill_above   optional: of random buffers; "any" takes all NaNs for one value; the image of fill.cu;
             how many elements Python fills at most
A launch is {"kernel": NAME, "grid": [X, Y, Z], "block": [X, Y, Z], "cluster": [X, Y, Z], "shared": BYTES, "arguments": [as
`ptxopt run` takes them]}, without clusters and shared memory where these are not given. The launches of a list follow each
other over the same memory, each variant has its own; what they leave is compared, and the last is timed. Paths are relative
to the job's folder.

The answer: status, what was compared, attributes of the functions, times. One job is one process, because after a kernel
failed a process can do nothing more on the device.

Exit codes:
  0   equal: every variant left the same bytes
  1   different, or a variant failed and the base did not
  2   the job makes no sense, a file is missing, the base failed, or the device outside of a kernel
  77  nothing to run on: no driver, no device
"""
import argparse
import json
import os
import sys
from dataclasses import fields
from pathlib import Path

import bench
import compare
from arguments import ArgumentError
from device_memory import FILL_ABOVE, Buffers, Filler, TooLarge
from driver import CudaError, Driver, Launch, NoDriver

EQUAL, DIFFERENT, USAGE, NOTHING = 0, 1, 2, 77
CODES = {"equal": EQUAL, "undetermined": EQUAL, "different": DIFFERENT, "failed": DIFFERENT, "bad-job": USAGE, "base-failed": USAGE,
         "device-failed": USAGE, "no-driver": NOTHING}
CONTROL = "control"


class BadJob(Exception):
    """str() is what is wrong with the job."""


class Failed(Exception):
    """A variant failed on the device."""

    def __init__(self, variant, where, error):
        super().__init__(f"{variant}, {where}: {error}")
        self.variant = variant


def shape(launch, key):
    numbers = launch.get(key, [1, 1, 1]) if key == "cluster" else launch[key]
    if not isinstance(numbers, list) or len(numbers) != 3 or not all(isinstance(n, int) and n > 0 for n in numbers):
        raise BadJob(f"{key} is three numbers, not {numbers}")
    return numbers


class Job:
    def __init__(self, driver, job, folder):
        self.driver, self.folder = driver, folder
        self.seed, self.nan = job.get("seed", 0), job.get("nan", "bits")
        self.checks, self.time = job.get("checks", []), job.get("time")
        if not job.get("variants") or not (self.checks or self.time):
            raise BadJob("a job has `variants`, and `checks` or `time`")
        self.names = [v["name"] for v in job["variants"]]
        if len(set(self.names)) != len(self.names) or CONTROL in self.names:
            raise BadJob(f"variants have different names, and none is {CONTROL}")
        self.base = self.names[0]
        images = {v["name"]: (folder / v["image"]).read_bytes() for v in job["variants"]}
        self.modules = {name: self.load(name, image) for name, image in images.items()}
        if self.time and self.time.get("control", True):
            self.modules[CONTROL] = self.load(CONTROL, images[self.base])
        fill = job.get("fill")
        self.filler = Filler(driver, (folder / fill).read_bytes() if fill else None, job.get("fill_above", FILL_ABOVE))
        self.answer = {"status": "equal", "device": driver.describe(), "base": self.base, "comparisons": [], "attributes": {}, "times": None}

    def load(self, name, image):
        try:
            return self.driver.load(image)
        except CudaError as error:
            raise Failed(name, "loading it", error) from None

    def ready(self, launches, buffers):
        """Variant -> its launches; their parameters are checked where the driver knows them."""
        found = {}
        for name, module in self.modules.items():
            found[name] = []
            for launch, parameters in zip(launches, buffers.parameters):
                try:
                    function = module.function(launch["kernel"])
                    self.driver.allow_shared(function, launch.get("shared", 0))
                    sizes = function.parameter_sizes()
                    self.answer["attributes"][name] = function.attributes()
                except CudaError as error:
                    raise Failed(name, launch["kernel"], error) from None
                given = [len(p) for p in parameters]
                if sizes is not None and sizes != given:
                    raise BadJob(f"{name}: the parameters of {launch['kernel']} have {sizes} bytes, its arguments {given}")
                shapes = [shape(launch, key) for key in ("grid", "block", "cluster")]
                found[name].append(Launch(self.driver, function, shapes[0], shapes[1], launch.get("shared", 0), parameters, shapes[2]))
        return found

    def run_launches(self, name, launches, where):
        try:
            for launch in launches:
                launch()
            self.driver.synchronize()
        except CudaError as error:
            raise Failed(name, where, error) from None

    def result(self, name, launches, buffers, where):
        buffers.restore()
        self.run_launches(name, launches, where)
        return buffers.read()

    def compare(self, ready, buffers, number, what):
        """Runs all variants on one input, the base twice: where it differs from itself nothing is said."""
        where = f"{what}, input {number}"
        buffers.fill(self.filler, self.seed, number)
        buffers.keep()
        first, again = (self.result(self.base, ready[self.base], buffers, where) for _ in range(2))
        undetermined = [name for name in first if first[name] != again[name]]
        row = {"what": what, "input": number, "undetermined": undetermined, "differences": []}
        for name in self.names[1:]:
            after = self.result(name, ready[name], buffers, where)
            for buffer in buffers.buffers.values():
                found = compare.difference(buffer, first[buffer.name], after[buffer.name], self.nan)
                if found and buffer.name not in undetermined:
                    row["differences"].append({"variant": name, **found})
        if row["differences"]:  # a race may have shown itself in neither of the two runs
            again = self.result(self.base, ready[self.base], buffers, where)
            undetermined += [name for name in first if first[name] != again[name] and name not in undetermined]
            row["differences"] = [d for d in row["differences"] if d["buffer"] not in undetermined]
        self.answer["comparisons"].append(row)
        if row["differences"]:
            self.answer["status"] = "different"
        elif undetermined and self.answer["status"] == "equal":
            self.answer["status"] = "undetermined"

    def run(self):
        for number, check in enumerate(self.checks):
            buffers = Buffers(self.driver, check["launches"], self.folder)
            ready = self.ready(check["launches"], buffers)
            for i in range(check.get("inputs", 1)):
                self.compare(ready, buffers, i, check.get("name", f"check {number}"))
            buffers.free()
        if self.time:
            self.run_timed()
        return self.answer

    def run_timed(self):
        buffers = Buffers(self.driver, self.time["launches"], self.folder)
        ready = self.ready(self.time["launches"], buffers)
        self.compare(ready, buffers, 0, "timed")
        # The last launch is timed over what those before it left.
        for name, launches in ready.items():
            buffers.restore()
            self.run_launches(name, launches[:-1], "before what is timed")
        buffers.keep()
        self.run_launches(self.base, ready[self.base][-1:], "timed")
        changed = buffers.changed()
        known = {f.name for f in fields(bench.Settings)}
        settings = bench.Settings(**{k: v for k, v in self.time.items() if k in known})
        timer = self.driver.timer()
        try:
            self.answer["times"] = bench.measure(timer, {name: launches[-1] for name, launches in ready.items()},
                                                 lambda: buffers.restore(changed), settings, self.seed)
        except CudaError as error:
            raise Failed("a variant", "timed", error) from None
        timer.close()
        buffers.free()


def run(job, folder, library=None):
    """The answer to a job."""
    try:
        with Driver(library) as driver:
            runner = None
            try:
                runner = Job(driver, job, Path(folder))
                return runner.run()
            except Failed as error:
                answer = runner.answer if runner else {"device": driver.describe()}
                base = runner.base if runner else job["variants"][0]["name"]
                return {**answer, "status": "base-failed" if error.variant == base else "failed", "error": str(error)}
            except (BadJob, ArgumentError, TooLarge, OSError) as error:
                return {"status": "bad-job", "error": str(error)}
            except CudaError as error:
                return {"status": "device-failed", "error": str(error)}
            except KeyError as error:
                return {"status": "bad-job", "error": f"the job has no {error}"}
    except NoDriver as error:
        return {"status": "no-driver", "error": str(error)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", metavar="JOB.json", help="the job; - is standard input")
    parser.add_argument("--json", metavar="OUT", help="where the answer goes; default: standard output")
    parser.add_argument("--driver", metavar="LIBRARY", help="default: $PTXOPT_GPU_DRIVER, or libcuda.so.1")
    options = parser.parse_args()
    try:
        text = sys.stdin.read() if options.job == "-" else Path(options.job).read_text(encoding="utf-8")
        answer = run(json.loads(text), "." if options.job == "-" else os.path.dirname(options.job) or ".", options.driver)
    except (OSError, ValueError) as error:
        answer = {"status": "bad-job", "error": str(error)}
    text = json.dumps(answer, indent=1) + "\n"
    if options.json:
        Path(options.json).write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    if "error" in answer:
        print(f"job.py: {answer['error']}", file=sys.stderr)
    return CODES[answer["status"]]


if __name__ == "__main__":
    sys.exit(main())
