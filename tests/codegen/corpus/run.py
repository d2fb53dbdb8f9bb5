#!/usr/bin/env python3
"""Runs ptxopt over a corpus of PTX and checks that the machine code stays the same.

  run.py [--tool build/release/ptxopt] [--work build/corpus] [--only GLOB] [--checks NAME,...] [--quick] [--sample N] [--list] [-j N]

The corpus: kernels/ compiled by nvcc, clang and llc for several architectures and modes, a kernel for every overload of
cuda::ptx (wrappers.py writes those from the installed headers), and syntax/, one oddity of PTX a file. For each PTX file:

  text      -O0 gives back the same bytes
  reprint   -O0 --reprint assembles to the same machine code, and printing its output again changes nothing
  rename    --passes=rename-webs assembles to the same machine code, if need be with --rename-webs-keep-tied=1 (ptxas
            takes it as a hint when one instruction reads and writes a register; the summary counts these)
  dead      --passes=dce assembles to the same machine code, and a second run finds nothing to remove
  early     the same of --passes=local-dce
  cssa      --passes=cssa-coalesce assembles to the same machine code
  coalesce  --passes=register-coalescer, too
  nvptx     --passes=cross-type-coalescer, too
  all-copies  the three of them between two runs of dce, too
  split     --passes=split-live-ranges, too
  pressure  --passes=split-high-pressure, aiming at 16 registers so that it has much to do, too
  refused   (syntax/rejected only) the tool ends with status 3
  lenient   (syntax/lenient only) the tool gives back the same bytes, although ptxas refuses the file

Compiled PTX and the fingerprints of machine code are kept in the work folder under the hash of what they came from.
What a missing tool would have made is left out with a message. The outputs of failed checks stay in WORK/failed.
"""
import argparse
import concurrent.futures
import fnmatch
import os
import re
import shlex
import shutil
import sys
import tempfile
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "lib")]
import machine_code  # noqa: E402
from code_figures import fingerprint_of  # noqa: E402
from compilers import Compilation, Skip, compiled, find, first_line, prepare, read, run, stem, version  # noqa: E402
import sample  # noqa: E402
import wrappers  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

ARCHITECTURES = ["75", "80", "90a", "100a", "120a"]
CLANG_ARCHITECTURES = ["75", "80", "90a"]
MODES = {"plain": [], "lineinfo": ["-lineinfo"], "debug": ["-G"], "rdc": ["-rdc=true"]}
CLANG_MODES = {"O0": ["-O0"], "O2": ["-O2"], "lines": ["-O2", "-gline-tables-only"]}
PASSES = {"rename": "rename-webs", "dead": "dce", "early": "local-dce", "cssa": "cssa-coalesce",
          "coalesce": "register-coalescer", "nvptx": "cross-type-coalescer",
          "all-copies": "dce,cssa-coalesce,register-coalescer,cross-type-coalescer,dce",
          "split": "split-live-ranges", "pressure": "split-high-pressure --split-registers=16"}  # and knobs
DONE_AT_ONCE = ("dead", "early")  # a second run changes nothing
# What ptxas does with registers that were split at high pressure is the same but for ties that it breaks by the order in
# which it meets them: of these checks a small share of the files (5 of 1147 were seen) may come out with the same
# instructions in another order or other register numbers, or with fewer.
NEARLY = ("pressure",)
MOST_REORDERED = 0.01  # of the files of one check
SYNTAX_ERROR = 3
TOOL_LIMIT = 120  # seconds


@dataclass
class Item(Compilation):
    """One input: what the corpus adds to a compilation."""
    weight: int = 0  # heavier ones are started first
    kind: str = ""  # of a syntax file: accepted, rejected or lenient


@dataclass
class Settings:
    tool: str
    work: str
    ptxas: str  # version text, empty without ptxas
    tied: list = field(default_factory=list)  # files whose machine code needs --rename-webs-keep-tied=1 to stay
    changed: list = field(default_factory=list)  # which check's pass changed something, once a file
    reordered: list = field(default_factory=list)  # (check, how, file) where the code of a NEARLY check is not the same
    compared: list = field(default_factory=list)  # NEARLY checks, once a file that changed


class Failure(Exception):
    """A check that did not hold; str() is which and how."""


# ---------------------------------------------------------------- what there is to run

def options(path):
    """The settings in a kernel's `// corpus: key=value ...` line."""
    with open(path, encoding="utf-8") as file:
        match = re.match(r"// corpus: (.*)", file.readline())
    return dict(word.split("=", 1) for word in shlex.split(match[1])) if match else {}


def number(architecture):
    return int(re.match(r"\d+", architecture)[0])


def variants(weight, turn, architectures):
    """(architecture, mode) pairs: all of them for a light kernel; each architecture and each mode for the others."""
    modes = list(MODES)
    if weight == "light":
        return [(arch, mode) for arch in architectures for mode in modes]
    spread = [(arch, modes[(i + turn) % len(modes)]) for i, arch in enumerate(architectures)]
    plain = [(arch, "plain") for arch in architectures] if weight == "medium" else []
    return list(dict.fromkeys(spread + plain))


def nvcc_items(nvcc, sources, quick):
    compiler = version(nvcc)
    for turn, source in enumerate(sources):
        settings = options(source)
        weight = settings.get("weight", "light")
        architectures = [arch for arch in ARCHITECTURES if number(arch) >= int(settings.get("min", 0))]
        pairs = variants(weight, turn, architectures)
        if quick:
            pairs = [] if weight == "heavy" else [(architectures[turn % len(architectures)], "plain")]
        for arch, mode in pairs:
            flags = [f"-arch=sm_{arch}", *MODES[mode], *shlex.split(settings.get("flags", "")), "-w", "-ptx", source, "-o"]
            name = f"{os.path.basename(source)[:-3]}.sm_{arch}.{mode}"
            yield Item(name, source, [nvcc, *flags], compiler, {"light": 1, "medium": 2, "heavy": 9}[weight])


def clang_items(clang, folder, suffix, language, quick):
    compiler = version(clang)
    for source in sorted(files(folder, suffix)):
        for arch in CLANG_ARCHITECTURES[1:2] if quick else CLANG_ARCHITECTURES:
            for mode, flags in CLANG_MODES.items():
                command = [clang, *language, *flags, "-Xclang", "-target-feature", "-Xclang", "+ptx83", "-w", "-S"]
                command += [f"--cuda-gpu-arch=sm_{arch}" if suffix == ".cu" else f"-march=sm_{arch}", source, "-o"]
                yield Item(f"{os.path.basename(folder)}-{stem(source)}.sm_{arch}.{mode}", source, command, compiler)


def llc_items(llc, folder, quick):
    compiler = version(llc)
    for source in sorted(files(folder, ".ll")):
        for arch in CLANG_ARCHITECTURES[1:2] if quick else CLANG_ARCHITECTURES:
            for level in ("-O0", "-O2"):
                command = [llc, "-march=nvptx64", f"-mcpu=sm_{arch}", "-mattr=+ptx83", level, source, "-o"]
                yield Item(f"llvm-{stem(source)}.sm_{arch}.{level[1:]}", source, command, compiler)


def files(folder, suffix):
    return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(suffix)]


def wrapper_sources(nvcc, work):
    headers = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvcc))), "include/cccl/cuda/__ptx/instructions/generated")
    if not os.path.isdir(headers):
        print("corpus: no headers of cuda::ptx in this toolkit: its wrappers are left out")
        return []
    return sorted(wrappers.generate(headers, os.path.join(work, "wrappers")))


def all_items(work, quick):
    kernels, syntax = os.path.join(HERE, "kernels"), os.path.join(ROOT, "tests", "inputs", "syntax")
    nvcc, clang, llc = find("NVCC", "nvcc"), find("CLANG", "clang-19", "clang"), find("LLC", "llc-19", "llc")
    items = []
    for tool, what in ((nvcc, "nvcc: the CUDA kernels"), (clang, "clang: its kernels"), (llc, "llc: the LLVM IR")):
        if not tool:
            print(f"corpus: no {what} are left out")
    if nvcc:
        sources = sorted(files(kernels, ".cu")) + ([] if quick else wrapper_sources(nvcc, work))
        items += nvcc_items(nvcc, sources, quick)
    if clang:
        cuda = ["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib"]
        items += clang_items(clang, os.path.join(kernels, "clang"), ".cu", cuda, quick)
        items += clang_items(clang, os.path.join(kernels, "opencl"), ".cl", ["-x", "cl", "-cl-std=CL2.0", "-target", "nvptx64-nvidia-cuda"], quick)
    if llc:
        items += llc_items(llc, os.path.join(kernels, "llvm"), quick)
    for folder in ("accepted", "rejected", "lenient"):
        for source in sorted(files(os.path.join(syntax, folder), ".ptx")):
            items.append(Item(f"syntax/{folder}/{stem(source)}", source, kind=folder))
    return items


# ---------------------------------------------------------------- cached steps

def machine_code_of(path, arch, settings):
    return fingerprint_of(path, arch, settings.work, settings.ptxas)


# ---------------------------------------------------------------- the checks

def optimize(settings, source, output, *flags):
    result = run([settings.tool, source, "-o", output, *flags], TOOL_LIMIT)
    if result.returncode:
        raise Failure(f"status {result.returncode}: {first_line(result.stderr)}")


def same_text(settings, source, folder):
    output = os.path.join(folder, "text.ptx")
    optimize(settings, source, output, "-O0")
    if read(output) != read(source):
        raise Failure("the text changed")


def same_code(settings, source, output):
    """Whether the output becomes the machine code of the source; equal text needs no ptxas."""
    if not settings.ptxas or read(source) == read(output):
        return
    arch = machine_code.read_target(source)
    try:
        differing = machine_code.differing(machine_code_of(source, arch, settings), machine_code_of(output, arch, settings))
    except machine_code.AssemblyError as error:
        raise Failure(f"ptxas refuses the output: {error}") from None
    if differing:
        raise Failure(f"other machine code in {', '.join(differing[:3])}{' ...' if len(differing) > 3 else ''}")


def same_when_printed(settings, source, folder):
    once, again = os.path.join(folder, "reprint.ptx"), os.path.join(folder, "reprint-again.ptx")
    optimize(settings, source, once, "-O0", "--reprint")
    optimize(settings, once, again, "-O0", "--reprint")
    if read(once) != read(again):
        raise Failure("printing is no fixed point")
    same_code(settings, source, once)


def same_after(check):
    def same_after_pass(settings, source, folder):
        output = os.path.join(folder, check + ".ptx")
        settings.compared.append(check)
        optimize(settings, source, output, *("--passes=" + PASSES[check]).split(), "--verify-each", "--verify-analyses")
        try:
            same_code(settings, source, output)
        except Failure:
            if check in NEARLY:
                how = machine_code.difference(*(machine_code.assemble(path, machine_code.read_target(source))
                                                for path in (source, output)))
                if how in ("order", "less"):
                    settings.reordered.append((check, how, os.path.basename(source)))
                    return
            if check != "rename":
                raise
            optimize(settings, source, output, "--passes=rename-webs", "--rename-webs-keep-tied=1")
            same_code(settings, source, output)
            settings.tied.append(source)
        if check in DONE_AT_ONCE:
            again = os.path.join(folder, check + "-again.ptx")
            optimize(settings, output, again, "--passes=" + PASSES[check])
            if read(again) != read(output):
                raise Failure("a second run changes more")
            if read(output) != read(source):
                settings.changed.append(check)
    return same_after_pass


def is_refused(settings, source, folder):
    status = run([settings.tool, source, "-o", os.path.join(folder, "refused.ptx"), "-O0"], TOOL_LIMIT).returncode
    if status != SYNTAX_ERROR:
        raise Failure(f"status {status}, expected {SYNTAX_ERROR}")


NOT_FOR_PTXAS = {"rejected": {"refused": is_refused}, "lenient": {"lenient": same_text}}
CHECKS = {"text": same_text, "reprint": same_when_printed, **{check: same_after(check) for check in PASSES}}


def without_missing_passes(tool):
    """Leaves out the checks whose passes this ptxopt does not have, and says so."""
    known = run([tool, "--list-passes"], TOOL_LIMIT).stdout.split()
    for check, passes in PASSES.items():
        if missing := sorted(set(passes.split()[0].split(",")) - set(known)):
            print(f"corpus: this ptxopt has no {', '.join(missing)}: check '{check}' is left out")
            CHECKS.pop(check, None)


def check_item(item, settings):
    """-> (failures, reason to skip, bytes of PTX). An item without any function counts as nothing at all."""
    try:
        source = compiled(item, settings.work)
        if item.kind not in NOT_FOR_PTXAS and settings.ptxas:
            machine_code_of(source, machine_code.read_target(source), settings)
    except (Skip, machine_code.AssemblyError) as error:
        return [], str(error), 0
    failures = []
    with tempfile.TemporaryDirectory(dir=settings.work) as folder:
        for name, check in NOT_FOR_PTXAS.get(item.kind, CHECKS).items():
            try:
                check(settings, source, folder)
            except Failure as failure:
                failures.append(f"{name}: {failure}")
        if failures:
            keep(folder, source, os.path.join(settings.work, "failed", item.name))
    return failures, None, os.path.getsize(source)


def keep(folder, source, target):
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)
    shutil.copy(source, os.path.join(target, "input.ptx"))


# ---------------------------------------------------------------- the run

def run_all(items, settings, jobs):
    """Run every item, heavy ones first, and print failures. -> (passed, failed, skipped, bytes)"""
    passed = failed = skipped = total = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for item, (failures, reason, size) in zip(items, pool.map(lambda item: check_item(item, settings), items)):
            total += size
            if reason:
                skipped += 1
                print(f"skipped {item.name}: {reason}")
            for failure in failures:
                print(f"FAILED {item.name}: {failure}", flush=True)
            failed += bool(failures)
            passed += not failures and not reason
    return passed, failed, skipped, total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.path.join(ROOT, "build/release/ptxopt"), help="default: build/release/ptxopt")
    parser.add_argument("--work", default=os.path.join(ROOT, "build/corpus"), help="folder for what is compiled and kept; default: build/corpus")
    parser.add_argument("--checks", metavar="NAME,...", help="only these of " + ", ".join(CHECKS))
    parser.add_argument("--only", metavar="GLOB", help="only the items whose name matches, such as 'calls.*' or 'syntax/*'")
    parser.add_argument("--quick", action="store_true", help="one variant of each light kernel, and the syntax files")
    sample.add_option(parser)
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    work = os.path.abspath(args.work)
    prepare(work)
    items = [item for item in all_items(work, args.quick) if not args.only or fnmatch.fnmatch(item.name, args.only)]
    items = sorted(sample.sampled(items, args.sample, lambda item: item.name), key=lambda item: -item.weight)
    if args.list:
        print(*(item.name for item in items), sep="\n")
        return 0
    if args.checks:
        unknown = set(args.checks.split(",")) - set(CHECKS)
        if unknown:
            sys.exit(f"corpus: there is no check {', '.join(sorted(unknown))}")
        for check in set(CHECKS) - set(args.checks.split(",")):
            del CHECKS[check]
    if not os.path.exists(args.tool):
        sys.exit(f"corpus: no {args.tool}; build it or say where it is with --tool")
    shutil.rmtree(os.path.join(work, "failed"), ignore_errors=True)
    settings = Settings(os.path.abspath(args.tool), work, version(machine_code.find_ptxas()))
    if not settings.ptxas:
        print("corpus: no ptxas: machine code is not compared")
    without_missing_passes(settings.tool)
    passed, failed, skipped, total = run_all(items, settings, args.jobs)
    for source in sorted(settings.tied):
        print(f"same machine code only with --rename-webs-keep-tied=1: {os.path.basename(source)}")
    for check, how, source in sorted(settings.reordered):
        print(f"{check}: {'the same instructions in another order' if how == 'order' else 'less of everything'}: {source}")
    for check in NEARLY:
        share = sum(c == check for c, _, _ in settings.reordered) / max(1, settings.compared.count(check))
        if share > MOST_REORDERED:
            print(f"FAILED {check}: {share:.1%} of the files have their code in another order, at most {MOST_REORDERED:.0%} may")
            failed += 1
    print("corpus: " + ", ".join(f"{PASSES[check]} changed {settings.changed.count(check)} files" for check in DONE_AT_ONCE))
    print(f"corpus: {passed} passed, {failed} failed, {skipped} skipped ({total / 1e6:.0f} MB of PTX)")
    if passed + failed == 0:
        print("corpus: nothing ran")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
