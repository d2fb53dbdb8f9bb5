#!/usr/bin/env python3
"""The kernels that naive passes break.

  tests/inputs/hazards/run.py --tool PATH [--sample N] [-j N] [names]

For each kernel: -O0 gives back its bytes; --reprint is a fixed point; after each pipeline its rules hold; and, where
there is a ptxas, each clean-up pipeline's output becomes the same machine code as the kernel itself; after others
`ptxopt verify` finds no difference, and compares all kernels but those of NOT_COMPARED. $PTXAS names another ptxas than that of the PATH.

The comment at the head of a kernel has a line `// Breaks ...`, the naive pass, and rules:

    // RULE: what must hold, in words
    //   + a pattern that must be found
    //   - one that must not

Patterns are Python's regular expressions on the output of --reprint without indentation; ` ... ` is any text, also over
several lines.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "lib"))
import machine_code  # noqa: E402
import not_compared  # noqa: E402
import profiles  # noqa: E402
import sample  # noqa: E402

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

REFUSED = {"t1_s32_on_f32reg", "t2_f32_on_u32reg"}  # by ptxas: the declared type of a register matters
FORMS = ("carry-steps", "shifted-products", "held-factors", "held-parameters", "spread-sums")


def only(form, when):
    """The options of a run of one form of loop-forms."""
    return ["--passes=loop-forms", *(f"--form-{f}={when if f == form else 'off'}" for f in FORMS)]


PIPELINES = {
    "reprint": ["-O0", "--reprint"],
    "dce": ["--passes=dce", "--verify-each"],
    "rename-webs": ["--passes=rename-webs", "--verify-each"],
    "both": ["--passes=dce,rename-webs,dce", "--verify-each"],
    "split": ["--passes=split-live-ranges,split-high-pressure", "--split-registers=8", "--verify-each"],
    "clean-up": ["--skip-pass=OTHERS", "--verify-each"],
    "default": ["--verify-each"],
    "shifts": [*only("shifted-products", "always"), "--verify-each"],
    "cse": ["--passes=local-cse,dce", "--verify-each"],
    "facts": ["--passes=apply-facts,read-only-loads", "--verify-each"],
    "hoist": ["--passes=licm-slow-ops,dce", "--verify-each"],
    "divide": ["--passes=divide,dce", "--verify-each"],
    # By a profile that says of each kernel that it ran once.
    "bodies": ["--profile-use", "PROFILE", "--version-alias-test=150", "--version-kernel-growth=400", "--verify-each"],
    "broadcasts": ["--passes=uniformize-broadcasts,dce", "--verify-each"],
    "spaces": ["--passes=sroa,infer-address-space,dce,infer-address-space,dce", "--verify-each"],
    "inline": ["--passes=inline-calls,sroa,dce", "--verify-each"],
    "lsr": ["--passes=slsr,dce,lsr,dce", "--verify-each"],
    "parameters": [*only("held-parameters", "always"), "--verify-each"],
    "loads": ["--passes=schedule-loads", "--schedule-loads-everywhere=1", "--verify-each"],
    "digits": ["--passes=lsr-divisions,dce", "--verify-each"],
    "steps": [*only("carry-steps", "always"), "--verify-each"],
    "factors": [*only("held-factors", "gain"), "--verify-each"],
    "spread": [*only("spread-sums", "gain"), "--verify-each"],
    "unroll": ["--passes=runtime-unroll", "--verify-each"],
    "version": ["--passes=version-loops", "--verify-each"],
    "vectors": ["--passes=widen-accesses", "--widen-accesses-everywhere=1", "--verify-each"],
    "wide-multiply": ["--passes=wide-multiply,dce", "--verify-each"],
}
# These change the machine code; `ptxopt verify` runs the kernel before and after instead.
EXECUTED = {"bodies", "broadcasts", "cse", "default", "digits", "divide", "facts", "factors", "hoist", "parameters", "inline", "loads", "lsr", "shifts", "spaces",
            "spread", "steps", "unroll", "version", "vectors", "wide-multiply"}
# What verify does not compare of them, and why: no kernel joins or leaves this list unseen.
NOT_COMPARED = {"i2_inline_parameters": "1 not compared (1 misaligned)",
                "t13_mbar_loop": "1 not compared (1 uninitialised)"}
# These put the bodies of functions where they are called; the rules of this kernel are about calls that stay.
INLINING, OF_CALLS = {"bodies", "default", "inline"}, "h12_call"


class BadRules(Exception):
    """The head of a kernel does not say what it breaks, or what must hold."""


def read_rules(text):
    """[(words, must, pattern)] of the comment at the head of a kernel."""
    rules, words, breaks = [], None, False
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("//"):
            break
        breaks = breaks or line.startswith("// Breaks ")
        if line.startswith("// RULE: "):
            words = line[len("// RULE: "):]
        elif match := re.match(r"//   ([+-]) (.*)", line):
            if words is None:
                raise BadRules(f"line {number}: a pattern without words")
            rules.append((words, match[1] == "+", re.compile(match[2].replace(" ... ", r"(?s:.*?)"), re.MULTILINE)))
    if not rules or not breaks:
        raise BadRules("no rules" if breaks else "no line `// Breaks ...`")
    return rules


def others_than_clean_up(tool):
    """The steps of the pipeline that may change the machine code."""
    listed = subprocess.run([tool, "--list-pipeline"], capture_output=True, text=True, check=True, timeout=60).stdout
    return ",".join(step for step, _, kind, *_ in map(str.split, listed.splitlines()) if kind != "Cleanup")


def run(tool, path, arguments):
    result = subprocess.run([tool, str(path), "-o", "-", *arguments], capture_output=True, timeout=60)
    if result.returncode != 0 or result.stderr:
        raise RuntimeError(f"{' '.join(arguments)}: exit {result.returncode}: {result.stderr.decode(errors='replace')}")
    return result.stdout


def flat(text):
    return "\n".join(line.strip() for line in text.decode().splitlines())


def check(tool, path, with_ptxas):
    """(number of checks, failures in words, kernels that verify does not compare)"""
    failures, checks, left = [], 0, collections.Counter()

    def expect(holds, words):
        nonlocal checks
        checks += 1
        if not holds:
            failures.append(f"{path.stem}: {words}")

    try:
        source = path.read_bytes()
        rules = read_rules(source.decode())
        expect(run(tool, path, ["-O0"]) == source, "-O0 changes bytes")
        with tempfile.TemporaryDirectory() as folder:
            again = Path(folder, "again.ptx")
            again.write_bytes(run(tool, path, PIPELINES["reprint"]))
            expect(run(tool, again, PIPELINES["reprint"]) == again.read_bytes(), "--reprint is no fixed point")
            machine = with_ptxas and path.stem not in REFUSED
            arch = machine_code.read_target(path)
            before = machine_code.fingerprint(machine_code.assemble(path, arch)) if machine else None
            verified = {}  # text -> what verify says of it: pipelines come to the same ones
            profile = Path(folder, "profile")
            profile.write_text(profiles.of_text(source.decode()))
            for name, arguments in PIPELINES.items():
                arguments = [str(profile) if a == "PROFILE" else a for a in arguments]
                text = flat(run(tool, path, [*arguments, "--reprint"]))
                for words, must, pattern in rules if path.stem != OF_CALLS or name not in INLINING else []:
                    expect(bool(pattern.search(text)) == must, f"after {name}: {words}\n{text}\n")
                if not machine and name not in EXECUTED:
                    continue
                out = Path(folder, f"{name}.ptx")
                out.write_bytes(run(tool, path, arguments))
                if name in EXECUTED:
                    done = verified.get(out.read_bytes())
                    if not done:
                        done = subprocess.run([tool, "verify", str(path), str(out), "--trials", "4", "-j", "1"],
                                              capture_output=True, text=True, errors="replace", timeout=120)
                        verified[out.read_bytes()] = done
                    expect(done.returncode != 1, f"after {name}: {done.stdout}")
                    left |= not_compared.reasons(done.stdout)
                    continue
                try:
                    bad = machine_code.differing(before, machine_code.fingerprint(machine_code.assemble(out, arch)))
                    expect(not bad, f"after {name}: other machine code ({', '.join(bad)})")
                except machine_code.AssemblyError as error:
                    expect(False, f"after {name}: ptxas refuses it: {error}")
            found, known = not_compared.words(left), NOT_COMPARED.get(path.stem, not_compared.words({}))
            expect(found == known, f"verify: {found}; NOT_COMPARED says {known}")
    except (BadRules, RuntimeError, machine_code.AssemblyError, subprocess.TimeoutExpired) as error:
        failures.append(f"{path.stem}: {error}")
    return checks, failures, left


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True, help="the ptxopt to test")
    sample.add_option(parser)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("names", nargs="*", help="kernels; default: all")
    args = parser.parse_args()
    tool = os.path.abspath(args.tool)
    paths = sorted(p for p in HERE.glob("*.ptx") if not args.names or p.stem in args.names)
    PIPELINES["clean-up"][0] = f"--skip-pass={others_than_clean_up(tool)}"
    failures = []
    paths = sample.sampled(paths, args.sample, lambda p: p.stem)
    with_ptxas = machine_code.find_ptxas() is not None
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda p: check(tool, p, with_ptxas), paths))
    left = collections.Counter()
    for _, found, of_one in results:
        failures += found
        left += of_one
    for failure in failures:
        print(failure)
    if not with_ptxas:
        print("no ptxas: the comparison of machine code was skipped")
    print(f"{len(paths)} files, {sum(n for n, _, _ in results)} checks, {len(failures)} failed; of their kernels {not_compared.words(left)}")
    return 1 if failures or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
