"""What `ptxopt time` says of a kernel, for the manifest: cycles with data in L1, L2 and DRAM. Nothing where the tool has no
such command.

How often loops iterate comes from the small launch, counted in the interpreter, of before and after alike.
latencies() and uses() are those of the model's tables, for fit.py to print beside what it measured.
"""
import json
import re
import subprocess
import tempfile
from pathlib import Path

LIMIT = 120
TABLES = Path(__file__).resolve().parents[2] / "src" / "core" / "target"
MACRO = re.compile(r"^#define (\w+)\(([^)]*)\)((?:[^\n]*\\\n)*[^\n]*)", re.M)


def has_time(tool):
    ran = subprocess.run([tool, "--help"], capture_output=True, text=True, timeout=LIMIT)
    return any(line.split()[:1] == ["time"] or line.split()[:2] == ["ptxopt", "time"] for line in ran.stdout.splitlines())


def run_line(launches):
    """The launches as options of `ptxopt run`."""
    words = []
    for launch in launches:
        words += ["--kernel", launch["kernel"], "--grid", ",".join(map(str, launch["grid"])), "--block", ",".join(map(str, launch["block"]))]
        words += ["--shared", str(launch["shared"])] if launch["shared"] else []
        words += ["--arg", *launch["arguments"]]
    return words


def cycles_of(report, kernel):
    """From the JSON of `ptxopt time`."""
    return next((function["cycles"] for function in report["functions"] if function["name"] == kernel), None)


def modelled(tool, ptx, launches, architecture):
    """{"l1": cycles, ...} of the last launch's kernel, or None."""
    kernel = launches[-1]
    threads = kernel["block"][0] * kernel["block"][1] * kernel["block"][2]
    with tempfile.TemporaryDirectory() as work:
        profile = f"{work}/profile.json"
        for command in ([tool, "run", str(ptx), *run_line(launches), f"--profile={profile}"],
                        [tool, "time", str(ptx), "--arch", architecture, "--kernel", kernel["kernel"], "--threads", str(threads),
                         "--profile", profile, "--format", "json"]):
            ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
            if ran.returncode != 0:
                return None
    return cycles_of(json.loads(ran.stdout), kernel["kernel"])


# ---- the tables ----

def rows(text, name):
    """The arguments of each use of a macro, also of those that others expand to."""
    for macro, parameters, body in MACRO.findall(text):
        words = [p.strip() for p in parameters.split(",")]
        text = re.sub(rf"^{macro}\(([^)]*)\)", lambda use: expanded(body, words, use[1]), text, flags=re.M)
    text = MACRO.sub("", text)
    return [[argument.strip() for argument in use.split(",")] for use in re.findall(rf"^ *{name}\(([^)]*)\)", text, re.M)]


def expanded(body, words, arguments):
    given = dict(zip(words, (a.strip() for a in arguments.split(","))))
    return re.sub(r"\w+", lambda word: given.get(word[0], word[0]), body.replace("\\\n", "\n"))


def includes(first, last, number):
    return int(first) <= number and (last == "TARGET_NEWEST" or number <= int(last))


def latencies(architecture):
    """kind -> cycles, memory as GlobalLoad:L1 and Bytes:L2 and their like; nothing where there is no model."""
    if not TABLES.is_dir():
        return {}
    number = int(re.sub(r"\D", "", architecture))
    found = {kind: float(cycles) for kind, first, last, cycles, _ in rows((TABLES / "latencies.def").read_text(encoding="utf-8"), "TARGET_LATENCY")
             if includes(first, last, number)}
    memory = rows((TABLES / "memory.def").read_text(encoding="utf-8"), "TARGET_MEMORY")
    known = max((int(row[0]) for row in memory if int(row[0]) <= number), default=0)
    found.update({f"GlobalLoad:{row[1]}": float(row[2]) for row in memory if int(row[0]) == known})
    found.update({f"Bytes:{row[1]}": float(row[4]) for row in memory if int(row[0]) == known})
    return found


def uses(architecture):
    """kind -> unit -> cycles."""
    if not TABLES.is_dir():
        return {}
    number, found = int(re.sub(r"\D", "", architecture)), {}
    for kind, first, last, unit, cycles, _ in rows((TABLES / "uses.def").read_text(encoding="utf-8"), "TARGET_USE"):
        if includes(first, last, number):
            found.setdefault(kind, {})[unit] = float(cycles)
    return found
