#!/usr/bin/env python3
"""Tunes all PTX files of a folder on a Ray cluster, a task a file.

  tune_ray.py [--tool PTXOPT] [--arguments '...'] [--address ADDRESS] [--workers N] [--retries N] [--resume] IN OUT

Needs `pip install ray`. Without --address a cluster of --workers tasks at a time starts on this machine and ends with the
script; `--address auto` joins the one that `ray start` began. Workers need ptxopt and ptxas, and for folders nothing else:
texts travel with the tasks. Where IN and OUT are URLs that fsspec knows (s3://bucket/ptx), workers read and write them
themselves. A task whose worker dies, or that an accident ends, is done again, up to --retries times; --resume leaves out
files whose results are there. What comes out is what tune_loop.py makes, byte for byte.
Exit code 1: some file could not be tuned (it is there as it was), or was given up.
"""
import argparse
import os
import shlex
import sys
import time

from merge import finish
from store import open_store
from unit import Accident, add_arguments, find_tool, outputs, tune

WAITING = 4  # tasks handed out for each that can run: enough to keep workers busy, few enough to hold their texts


def work(tool, arguments, path, text, where):
    """A task. `text` or, where it is None, the stores to read from and write to; the results, or None when written."""
    if text is not None:
        return tune(tool, arguments, path, text)
    source, target = map(open_store, where)
    for out, data in zip(outputs(path), tune(tool, arguments, path, source.read(path))):
        target.write(out, data)
    return None


class Progress:
    """A line that is written over on a terminal, and now and then a line elsewhere."""

    def __init__(self, total):
        self.total, self.is_terminal, self.last = total, sys.stderr.isatty(), time.monotonic()

    def show(self, done):
        if self.is_terminal:
            print(f"\r{done}/{self.total} files", end="\n" if done == self.total else "", file=sys.stderr, flush=True)
        elif done == self.total or time.monotonic() - self.last > 10:
            self.last = time.monotonic()
            print(f"{done}/{self.total} files", file=sys.stderr, flush=True)


def run(args, source, target, paths):
    """Tunes these, and returns what was given up, with why."""
    import ray

    here = os.path.dirname(os.path.abspath(__file__))
    ray.init(address=args.address, num_cpus=None if args.address else args.workers, include_dashboard=False,
             log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": here}} if not args.address else {"working_dir": here})
    task = ray.remote(work).options(name="tune", max_retries=args.retries, retry_exceptions=[Accident])
    arguments = shlex.split(args.arguments)
    travels = source.is_local or target.is_local
    most = WAITING * max(1, int(ray.cluster_resources().get("CPU", 1)))
    waiting, given_up, progress = {}, [], Progress(len(paths))
    left = iter(paths)
    done = 0
    while True:
        for path in left:
            text = source.read(path) if travels else None
            waiting[task.remote(find_tool(args.tool), arguments, path, text, (args.input, args.output))] = path
            if len(waiting) >= most:
                break
        if not waiting:
            break
        ready, _ = ray.wait(list(waiting), num_returns=1)
        for reference in ready:
            path = waiting.pop(reference)
            try:
                results = ray.get(reference)
            except ray.exceptions.RayError as error:
                given_up.append((path, str(error).strip().splitlines()[-1]))
            else:
                for out, data in zip(outputs(path), results or ()):
                    target.write(out, data)
            done += 1
            progress.show(done)
    ray.shutdown()
    return given_up


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--address", help="of a running cluster; default: one for this run")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="tasks at a time of a cluster for this run")
    parser.add_argument("--retries", type=int, default=3)
    parser.add_argument("--resume", action="store_true", help="leave out files whose results are there")
    parser.add_argument("input")
    parser.add_argument("output")
    args = parser.parse_args()
    source, target = open_store(args.input), open_store(args.output)
    paths = source.files(".ptx")
    todo = [path for path in paths if not (args.resume and target.has(outputs(path)[1]))]
    given_up = run(args, source, target, todo)
    for path, why in given_up:
        print(f"{path}: given up: {why}", file=sys.stderr)
    failed = {path for path, _ in given_up}
    code = finish(target, [outputs(path)[1] for path in paths if path not in failed])
    return 1 if failed else code


if __name__ == "__main__":
    sys.exit(main())
