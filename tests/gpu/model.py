"""What `ptxopt time` says of a kernel, for the manifest: cycles with data in L1, L2 and DRAM. Nothing where the tool has no
such command.

How often loops go round comes from the small launch, counted in the interpreter, of before and after alike.
"""
import json
import subprocess
import tempfile

LIMIT = 120


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
