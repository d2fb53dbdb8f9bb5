"""Planted bugs (plants.py): each must be found, by the check that is for it, and shrunk to a few instructions.

For each plant, seeds are tried in order. Only those count in whose text the plant changes something; a change may have no
effect (a carry that is 0, a load of equal words), so a share of them must fail (Plant.share). The smallest that fails is shrunk. Kernels
with reads of what nothing wrote are left out: verify takes back a difference that such a read might explain.
"""
import concurrent.futures
import tempfile
from pathlib import Path

import plants
from case import Lists, ToolError, draw, generate
from checks import Checker
from shrink import instruction_count, shrink

MOST_TESTS = 800  # of reduce
COUNTED = 4, 8  # cases for each plant: so many, and up to so many where too few of them fail
MOST_SEEDS = 120
MOST_INSTRUCTIONS = 12  # of the shrunk kernel, seen are 0 to 4; those of the seeds have hundreds


def draw_defined(seed, lists):
    case = draw(seed, lists)
    case.generator = [option for option in case.generator if option != "--undefined-reads"]
    return case


def try_seed(args, lists, name, seed, folder):
    """(case, source, failure) of a seed, or None if the plant changes nothing."""
    case = draw_defined(seed, lists)
    source = folder / f"{seed}.ptx"
    generate(case, args.generator, source)
    case.plant = name
    work = folder / f"work{seed}"
    work.mkdir()
    checker = Checker(args.tool, case, source, work, args.ptxas)
    plant = plants.PLANTS[name]
    failure = checker.first_failure(plant.check == "ptxas")
    if failure is None:
        # Did the plant change anything?
        unplanted = draw_defined(seed, lists)
        other = Checker(args.tool, unplanted, source, work, args.ptxas)
        before = checker.output.read_bytes(), checker.reprinted.read_bytes()
        other.exit()
        other.optimize(["-O0", "--reprint"], other.reprinted)
        if before == (other.output.read_bytes(), other.reprinted.read_bytes()):
            return None
    return case, source, failure


def test_plant(args, lists, name):
    """(whether it went well, a line to show)."""
    plant = plants.PLANTS[name]
    if plant.check == "ptxas" and not args.ptxas:
        return True, f"{name:20} left out: no ptxas"
    counted = found = 0
    failing = []
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for seed in range(1, MOST_SEEDS + 1):
            tried = try_seed(args, lists, name, seed, folder)
            if tried is None:
                continue
            counted += 1
            case, source, failure = tried
            if failure:
                found += 1
                if failure.kind.split(":")[0] != plant.check or "not comparable" in failure.kind:
                    problems.append(f"seed {seed}: found as `{failure.kind}`")
                failing.append((case, source, failure))
            if counted == COUNTED[1] or (counted == COUNTED[0] and found >= plant.share * counted):
                break
        if counted == 0 or found < plant.share * counted:
            problems.append("found too seldom")
        left = "?"
        if failing:
            case, source, failure = min(failing, key=lambda x: instruction_count(x[1].read_text()))
            left, message = shrink(args.tool, case, source, failure, args.keep / "self-test" / name, args.ptxas,
                                   MOST_TESTS, jobs=1)  # what is tested ahead may be in vain
            if left is None or left > MOST_INSTRUCTIONS:
                problems.append(f"shrunk to {left} instructions: {message}")
    return not problems, f"{name:20} {found} of {counted} found, shrunk to {left} instructions" + "".join(
        f"\n  {p}" for p in problems)


def run(args):
    lists = Lists.ask(args.tool)
    names = args.self_test or list(plants.PLANTS)
    for name in names:
        if name not in plants.PLANTS:
            raise ToolError(f"no such plant: {name}; there are {' '.join(plants.PLANTS)}")
    ok = True
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for good, line in pool.map(lambda name: test_plant(args, lists, name), names):
            ok = ok and good
            print(line, flush=True)
    return 0 if ok else 1
