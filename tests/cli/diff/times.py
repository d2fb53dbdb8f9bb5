"""Compile times of ptxas by kernel (--compile-time): the rules on made baselines, and that the CPU time of a process is what is read.

No test has an upper bound on a time, but where a program that spins for a second of CPU time is compared with one that does not spin:
load makes neither shorter, and would have to make the latter 500 ms of CPU time longer. What is cut and subtracted is the unit test's,
with a clock that is made up."""
import json
import subprocess

from files import Files
from support import Side, Suite, check, function, validate

SPIN = r"""import re, sys, time
def spun():
    for path in sys.argv[1:]:
        if path.endswith(".ptx"):
            return sum(map(int, re.findall(r"// spin (\d+)", open(path).read())))
    return 0
most = spun() / 1000
while time.process_time() < most: pass
"""
HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"


def kernel(name, spin=0):
    return f".visible .entry {name}(.param .u64 p)\n{{\n  // spin {spin}\n  ret;\n}}\n"


class Times(Suite):
    ptxas, fake = Files.ptxas, Files.fake

    def sides(self, before, after):
        return Side().unit("a.ptx", function("k", compile_time=before)), Side().unit("a.ptx", function("k", compile_time=after))

    def test_time_rules(self):
        """It counts where it is asked for, beyond half as much more unless another tolerance is given, and beyond 100 ms in any case."""
        for before, after, fail_on, status in (
                (1000, 9000, "spills", 0), (1000, 1500, "compile-time", 0), (1000, 1501, "compile-time", 1), (9000, 1000, "compile-time", 0),
                (10, 109, "compile-time", 0), (10, 110, "compile-time", 1), (0, 100, "compile-time", 1), (1000, 1100, "compile-time:0", 1),
                (1000, 1099, "compile-time:0", 0), (1000, 1200, "compile-time:200", 0), (1000, 1201, "compile-time:200", 1),
                (1000, 1101, "compile-time:10%", 1), (1000, 1100, "compile-time:10%", 0)):
            result = self.diff(*self.sides(before, after), "--fail-on", fail_on, status=status)
            row = result.row("k")
            # Not a verdict of its own.
            check(row["change"] == ("regression" if status else "same") and row["decided-by"] is None, row)
            asked = "compile-time" in fail_on
            check(row["after"].get("compile-time") == (after if asked else None), "it is shown where it is asked for")
            heads = [f["name"] for f in result.page["figures"]]
            check(("compile time (ms)" in heads) == asked and ("compile time of all" in result.text) == asked, heads)
            if status:
                check("by compile" in result.text and f"{before}\u00a0→\u00a0{after}" in result.markdown, result.text)
                check(result.junit.find(".//failure").get("message").startswith(f"compile-time {before} -> {after}"), "junit")
        check("regression" not in self.diff(*self.sides(1, 9000), "--compile-time").text.replace("no regression", ""), "by default")
        summary = self.diff(*self.sides(100, 300), "--columns", "compile-time")["summary"]["compile-time"]
        check(summary == dict(before=100, after=300), summary)

    def test_time_limits(self):
        side = self.write("a.json", Side().unit("a.ptx", function("k", compile_time=300), function("l", compile_time=20)))
        run = self.run("diff", side, "--limit", "compile-time<=200", status=1)
        check("k: compile-time 300 (limit compile-time<=200)" in run.stdout and "1 of 2" in run.stdout, run.stdout)
        self.run("diff", side, "--limit", "compile-time<=300")
        limits = {"format": "ptxopt-limits", "version": 1, "limits": [{"kernel": "k", "figure": "compile-time", "most": 1}]}
        validate(limits, "limits")
        self.run("diff", side, "--limits", self.write("limits.json", json.dumps(limits)), status=1)
        # What is not known is no figure that is kept.
        unknown = self.write("b.json", Side().unit("a.ptx", function("k"), function("l", compile_time=20)))
        check("not known of 1 of its 2" in self.run("diff", unknown, "--limit", "compile-time<=200", status=2).stderr, "limit")
        run = self.run("diff", side, unknown, "--fail-on", "compile-time", status=2)
        check("compile-time is not known of 1 kernel, and not checked there; it is measured of PTX" in run.stderr, run.stderr)

    def test_time_list(self):
        """Of one side: what takes longest comes first."""
        times = dict(a=5, b=700, c=0, d=60)
        side = self.write("a.json", Side().unit("a.ptx", *(function(n, compile_time=t) for n, t in times.items())))
        lines = self.run("diff", side, "--compile-time").stdout.splitlines()
        rows = [line.split() for line in lines if line.startswith("same")]
        check([(row[1], row[-1]) for row in rows] == [("b", "700"), ("d", "60"), ("a", "5"), ("c", "0")], lines)
        check("compile time of all 765 ms" in lines and lines[-1] == "4 kernels", lines)
        check("nothing to compare with" in self.run("diff", side, status=2).stderr, "one side without --compile-time")

    def test_time_ratchet(self):
        """What got better by more than is tolerated is taken over. That noise is not, is a unit test's."""
        self.ptxas()
        source = self.write("a.ptx", HEAD + kernel("k"))
        old = json.loads(self.run("baseline", source, "-o", "-", "--compile-time").stdout)
        validate(old, "baseline")
        f = old["units"][0]["functions"][0]
        f["compile-time"] = 5000
        run = self.run("baseline", source, "-o", self.folder / "new.json", "--ratchet", self.write("old.json", json.dumps(old)),
                       "--fail-on", "compile-time")
        check("1 tightened" in run.stderr and '"compile-time":5000' not in (self.folder / "new.json").read_text(), run.stderr)
        check("compile-time" not in self.run("baseline", source, "-o", "-").stdout, "unless it was asked for")

    def test_time_process(self):
        """The CPU time of ptxas and its children, by a ptxas that spins as long as a text says."""
        real = self.ptxas()
        spin = self.write("spin.py", SPIN)
        fake = self.fake("ptxas", f'python3 {spin} "$@" || exit 1\nexec {real} "$@"')
        before = self.write("before.ptx", HEAD + kernel("quick") + kernel("slow"))
        after = self.write("after.ptx", HEAD + kernel("quick") + kernel("slow", 1000))
        result = self.diff(before, after, "--ptxas", fake, "--compile-time")
        quick, slow = result.row("quick"), result.row("slow")
        check(quick["before"]["compile-time"] == quick["after"]["compile-time"], "equal texts are measured once")
        check(slow["after"]["compile-time"] >= slow["before"]["compile-time"] + 500, slow)
        check(slow["change"] == "same", "nothing fails by default")
        result = self.diff(before, after, "--ptxas", fake, "--fail-on", "compile-time", status=1)
        check([f["name"] for f in result["functions"] if f["change"] == "regression"] == ["slow"], result["functions"])
        # Machine code has none.
        cubin = self.folder / "k.cubin"
        subprocess.run([real, "-arch=sm_80", before, "-o", cubin], check=True)
        result = self.diff(cubin, cubin, "--compile-time")
        check("there is no PTX to measure the compile time of" in result.text.replace("\n    ", " "), result.text)
        check("compile-time" not in result.row("slow")["after"], result.row("slow"))
        self.diff(cubin, cubin, "--fail-on", "compile-time", status=2)
