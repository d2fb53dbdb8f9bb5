"""What a verdict rests on: notes of ptxas, machine code, limits; and how it is shown. On made baselines, and with the real ptxas."""
import json

from files import SPILLS, Files, kernel, module
from support import ROOT, Side, Suite, check, function, validate


class Verdicts(Suite):
    ptxas, cubin = Files.ptxas, Files.cubin

    def test_same_code(self):
        """What the model assumes of the launches of the same machine code does not make it better or worse."""
        text = (ROOT / "samples" / "matmul.ptx").read_text()
        self.write("a/k.ptx", text)
        self.write("b/k.ptx", text.replace("\n{", "\n.maxntid 1024, 1, 1\n{", 1))
        for before, after in (("a", "b"), ("b", "a")):
            done = self.run("diff", self.folder / before, self.folder / after, "--fail-on", "cycles", "--ptxas", self.ptxas(), "--arch", "sm_80")
            check("1 the same (1 with the same machine code)" in done.stdout, done.stdout)

    def test_block(self):
        """Of a kernel that only allows smaller blocks, that is the reason."""
        self.ptxas()
        text = module(kernel("k", 8))
        before = self.write("before.ptx", text)
        after = self.write("after.ptx", module(kernel("k", 8, ".maxntid 256")))
        result = self.diff(before, after)
        row = result.row("k")
        check(row["change"] == "worse" and row["decided-by"]["measure"] == "block", row)
        check("by block" in result.text and "k: worse by block: 1024 -> 256 threads at most" in result.text, result.text)
        check(self.diff(after, before).change("k") == "same", "the other way")
        row = self.diff(before, after, "--fail-on", "block", status=1).row("k")
        check([(r["measure"], r["before"], r["after"]) for r in row["regressions"]] == [("block", 1024, 256)], row)

    # ---- notes of ptxas ----

    def test_notes(self):
        """What ptxas says counts more than figures that got better."""
        def note(number):
            return {"id": number, "text": {"C7508": "ignored", "C7510": "serialized by a call", "C7511": "serialized"}[number], "times": 0}
        before = Side().unit("a.ptx", function("new", registers=168, warps=12, notes=[]), function("other", notes=[note("C7510")]),
                             function("gone", notes=[note("C7508")]), function("equal", notes=[note("C7508")]))
        after = Side().unit("a.ptx", function("new", registers=8, notes=[note("C7508")]), function("other", notes=[note("C7511")]),
                            function("gone", notes=[]), function("equal", notes=[note("C7508")]))
        result = self.diff(before, after)
        changes = {n: result.change(n) for n in ("new", "other", "gone", "equal")}
        check(changes == dict(new="worse", other="worse", gone="better", equal="same"), changes)
        check("C7508" in result.text and "C7510" in result.text and "C7508" in result.markdown, result.text)
        result = self.diff(before, after, "--fail-on", "notes", status=1)
        check({f["name"] for f in result["functions"] if f["change"] == "regression"} == {"new", "other"}, result["functions"])
        check(result.row("new")["new-notes"] == [{"id": "C7508", "text": "ignored"}], result.row("new"))
        regression, = result.row("new")["regressions"]
        check(regression == dict(measure="notes", tolerance=0, unit="absolute", before=0, after=1), regression)
        failure = result.junit.find(".//testcase[@name='new']/failure")
        check(failure.get("message") == "new note: C7508 (setmaxnreg is ignored: no register count at entry)" and
              "notes none -> C7508" in failure.text, failure.attrib)
        self.diff(before, after, "--fail-on", "notes:1")
        self.diff(after, before, "--fail-on", "notes:0", status=1)
        check("whole number" in self.run("diff", "a", "b", "--fail-on", "notes:5%", status=2).stderr, "a part of notes")
        # Baselines of older versions have none.
        unknown = Side().unit("a.ptx", *(function(n) for n in ("new", "other", "gone", "equal")))
        check(self.diff(unknown, after).change("new") == "better", "not known")
        result = self.diff(unknown, after, "--fail-on", "notes", status=2)
        check("notes are not known of 4 kernels" in result["problems"][0]["message"], result["problems"])

    def test_notes_of_ptxas(self):
        """A kernel whose setmaxnreg ptxas ignores got no better, however few registers it takes."""
        self.ptxas()

        def split(name, bounds):
            return f""".visible .entry {name}(.param .u64 p){bounds}
{{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 128;
  @%p1 bra A;
  setmaxnreg.dec.sync.aligned.u32 24;
  bra.uni E;
A: setmaxnreg.inc.sync.aligned.u32 240;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
E: ret;
}}
"""
        head, bounds = ".version 8.0\n.target sm_90a\n.address_size 64\n", " .maxntid 384, 1, 1 .minnctapersm 1"
        before = self.write("before.ptx", head + split("k", bounds) + split("bound", bounds))
        after = self.write("after.ptx", head + split("k", "") + split("bound", bounds))
        result = self.diff(before, after)
        row = result.row("k")
        check(row["change"] == "worse" and row["after"]["registers"] < row["before"]["registers"], row)
        check([n["id"] for n in row["new-notes"]] == ["C7508"] and row["before"]["notes"] == [], row)
        check(result.row("bound")["after"]["notes"] == [], "of one of two kernels, which the message does not name")
        for _ in range(2):  # the second time from the cache
            self.diff(before, after, "--fail-on", "notes", status=1)
        # Of wgmma the messages name the function, in other words from one ptxas to the next.
        hazard = ROOT / "tests/inputs/hazards/h16d_wgmma_read_early.ptx"
        row = self.diff(hazard, hazard).row("k")
        check({n["id"] for n in row["after"]["notes"]} <= {"C7514", "C7517"} and row["after"]["notes"] and not row["new-notes"], row)
        check(all(n["times"] == 0 and "line" not in n["text"] and "'k'" not in n["text"] for n in row["after"]["notes"]), row)
        self.run("diff", before, "--limit", "notes<=0")
        self.run("diff", after, "--limit", "notes<=0", status=1)
        baseline = self.folder / "notes.json"
        self.run("baseline", before, "-o", baseline)
        self.diff(baseline, after, "--fail-on", "notes", status=1)

    # ---- machine code ----

    def test_code(self):
        """Other machine code of the same figures is not the same, and says in what it differs."""
        parts = ("instructions", "order", "registers", "constants", "scheduling")

        def coded(name, code, *other):
            return function(name, code=code, code_parts={p: f"{len(p) + (p in other):08x}" for p in parts})
        names = {"k": ("constants",), "both": ("registers", "scheduling"), "moved": ("order", "registers", "constants"),
                 "other": ("instructions", "order", "constants")}
        before = Side().unit("a.ptx", *(coded(n, "1") for n in names), coded("same", "1"))
        after = Side().unit("a.ptx", *(coded(n, "2", *p) for n, p in names.items()), coded("same", "1"))
        result = self.diff(before, after)
        check({result.change(n) for n in names} == {"other-code"} and result.change("same") == "same", result["functions"])
        check("4 with other machine code only, 1 the same" in result.text and "other code" in result.markdown, result.text)
        found = {n: result.row(n)["code-differs-in"] for n in (*names, "same")}
        check(found == dict(k=["constants"], both=["registers", "scheduling"], moved=["order"], other=["instructions"], same=[]), found)
        result = self.diff(before, after, "--fail-on", "code", status=1)
        check({f["name"] for f in result["functions"] if f["change"] == "regression"} == set(names), result["functions"])
        failure = result.junit.find(".//testcase[@name='both']/failure")
        check(failure.text == "other code (registers, scheduling)", failure.text)
        unknown = Side().unit("a.ptx", function("k"))
        check(self.diff(unknown, after).row("k")["code-differs-in"] is None, "a baseline of an older version")
        result = self.diff(unknown, after, "--fail-on", "code", status=2)
        check("code is not known of 1 kernel" in result["problems"][0]["message"], result["problems"])
        check("no tolerance" in self.run("diff", "a", "b", "--fail-on", "code:1", status=2).stderr, "a part of code")

    def test_code_of_ptxas(self):
        """Another constant is other code, also against a baseline, and --show-code has the instruction."""
        self.ptxas()
        text = module(kernel("k"), kernel("same"))
        before = self.write("before/k.ptx", text)
        after = self.write("after/k.ptx", text.replace("ret;", "st.global.u32 [%rd1+32], 1234567; ret;", 1))
        other = self.write("other/k.ptx", after.read_text().replace("1234567", "1234568"))
        result = self.diff(after, other, "--fail-on", "code", status=1)
        check(result.row("k")["code-differs-in"] == ["constants"] and result.row("same")["same-code"] is True, result["functions"])
        check(self.diff(after, other).change("k") == "other-code" and self.diff(before, after).row("k")["code-differs-in"] == ["instructions"],
              "by default nothing fails")
        baseline = self.folder / "code.json"
        self.run("baseline", after.parent, "-o", baseline)
        self.diff(baseline, after.parent, "--fail-on", "code")
        self.diff(baseline, self.write("elsewhere/k.ptx", "\n// moved\n" + after.read_text()).parent, "--fail-on", "code")
        check(self.diff(baseline, other.parent, "--fail-on", "code", status=1).row("k")["code-differs-in"] == ["constants"], "baseline")
        for paths in ((after, other), (self.cubin("a.cubin", after.read_text()), self.cubin("b.cubin", other.read_text()))):
            shown = self.run("diff", *paths, "--show-code").stdout
            lines = [line.split() for line in shown.splitlines() if line.startswith(("  - ", "  + "))]
            check([x[0] for x in lines] == ["-", "+"] and lines[0][2] == lines[1][2], shown)
            check("0012d687" in lines[0] and "0012d688" in lines[1] and "code of k for sm_80: other constants" in shown, shown)
            check("code of same" not in shown, shown)
        check("there is none of the side before" in self.run("diff", baseline, other.parent, "--show-code").stdout, "a baseline has none")

    # ---- limits ----

    def test_limits(self):
        side = Side().unit("a.ptx", function("attention_1", registers=168), function("_Z4gemmPf", spill_stores=4, shared=2048),
                           function("plain"), function("f", kind="func", spill_stores=8))
        path = self.write("a.json", side)
        for limits, beyond in ((["spills<=4"], []), (["spills<=3"], ["_Z4gemmPf"]), (["registers<=128", "regs<=32"], ["attention_1"]),
                               (["attention*:registers<=128"], ["attention_1"]), (["gemm:spills<=0"], ["_Z4gemmPf"]),
                               (["gemm(float[*]):spills<=0"], ["_Z4gemmPf"]), (["_Z4*:shared<=2047"], ["_Z4gemmPf"]),
                               (["pl?in:warps>=64"], []), (["pl?in:warps>=65"], ["plain"]), (["sass<=200", "instructions>=201"], ["*"])):
            options = [x for limit in limits for x in ("--limit", limit)]
            # Of one side, of two, and of a kernel that is new.
            for before in (None, side, Side().unit("a.ptx", function("plain"))):
                if before is None:
                    out = self.folder / "one.json"
                    self.run("diff", path, *options, "--json", out, status=int(bool(beyond)))
                    result = json.loads(out.read_text())
                    validate(result, "diff")
                    check(result["one-side"] is True, "one-side")
                else:
                    result = self.diff(before, side, *options, status=int(bool(beyond)))
                found = sorted(f["name"] for f in result["functions"] if f["breaches"])
                wanted = ["_Z4gemmPf", "attention_1", "plain"] if beyond == ["*"] else beyond
                check(found == wanted, f"{limits}: {found}")
                check(all((f["change"] == "regression") == bool(f["breaches"]) for f in result["functions"]), result["functions"])
        result = self.diff(side, side, "--limit", "attention*:registers<=128", status=1)
        breach, = result.row("attention_1")["breaches"]
        check(breach == dict(kernel="attention*", figure="registers", most=128, least=None, value=168), breach)
        check(result["limits"] == [dict(kernel="attention*", figure="registers", most=128, least=None)], result["limits"])
        said = "registers 168 (limit attention*:registers<=128)"
        check(said in result.text and said.replace("*", "\\*").replace("<", "\\<") in result.markdown, result.markdown)
        check(result.junit.find(".//testcase[@name='attention_1']/failure").get("message") == said, "JUnit")
        run = self.run("diff", path, "--limit", "attention*:registers<=168")
        check(run.stdout == "3 kernels within the limits\n", run.stdout)
        check("1 of 3 kernels beyond a limit" in self.run("diff", path, "--limit", "regs<=100", status=1).stdout, "one side")

    def test_limits_in_a_file(self):
        path = self.write("a.json", Side().unit("a.ptx", function("k", registers=40)))

        def limits(*limits, **more):
            document = {"format": "ptxopt-limits", "version": 1, "limits": list(limits), **more}
            return self.write("limits.json", json.dumps(document)), document
        for least, most, status in ((64, 40, 0), (65, 40, 1), (64, 39, 1)):
            file, document = limits({"figure": "warps", "least": least}, {"kernel": "k*", "figure": "registers", "most": most})
            validate(document, "limits")
            self.run("diff", path, "--limits", file, status=status)
            self.run("diff", path, path, "--limits", file, status=status)
            self.run("diff", path, "--limits", file, "--limit", "regs<=39", status=1)
        good = {"figure": "regs", "most": 1}
        for bad, message in ((dict(good, figure="speed"), "limit 1: 'speed' is not one of notes, spills"), (dict(good, least=1), "one of most and least"),
                             ({"figure": "regs"}, "one of most and least"), (dict(good, most=-1), "'-1' is not a whole number"),
                             (dict(good, most=1.5), "'1.5' is not a whole number"), (dict(good, name="k"), "limit 1: 'name' has no meaning"),
                             ({"most": 1}, "figure"), (5, "limit 1")):
            run = self.run("diff", path, "--limits", limits(bad)[0], status=2)
            check("limits.json' has no limits: " in run.stderr and message in run.stderr and not run.stdout, f"{bad}: {run.stderr}")
        for text in ("", "{", "[]", '{"format": "ptxopt-limits"}', '{"format": "ptxopt-limits", "version": 2, "limits": []}'):
            check("has no limits: " in self.run("diff", path, "--limits", self.write("limits.json", text), status=2).stderr, text)
        check("'more' has no meaning" in self.run("diff", path, "--limits", limits(good, more=1)[0], status=2).stderr, "a key")
        self.run("diff", path, "--limits", self.folder / "nowhere.json", status=2)
        file, _ = limits(good)
        check("limits" in self.run("diff", path, "--limits", file, "-o", file, status=2).stderr, "not written over")

    def test_limits_are_checked(self):
        path = self.write("a.json", Side().unit("a.ptx", function("k", spill_stores=None, spill_loads=None)))
        for text in ("", "spills", "spills<0", "spills=0", "spills<=", "spills<=x", "spills<=-1", "spills<=1.5", "speed<=1", "code<=0", ":regs<=1",
                     "k:<=1", "<=1", "spills<=99999999999999999999999"):
            run = self.run("diff", path, "--limit", text, status=2)
            check("--limit: '" in run.stderr and not run.stdout, f"{text}: {run.stderr}")
        check("is for no kernel" in self.run("diff", path, "--limit", "other*:regs<=1", status=2).stderr, "a pattern of nothing")
        check("not known of 1 of its 1 kernels" in self.run("diff", path, "--limit", "spills<=1", status=2).stderr, "a cubin")
        check("no --limit" in self.run("diff", path, status=2).stderr, "nothing to do")
        self.run("diff", path, "--limit", "regs<=99", "--fail-on", "regs", status=2)

    def test_baseline_with_limits(self):
        self.ptxas()
        source, out = self.write("k.ptx", SPILLS), self.folder / "limits.json"
        run = self.run("baseline", source, "-o", out, "--limit", "spills<=0", status=1)
        check("(limit spills<=0)" in run.stderr and json.loads(out.read_text())["units"], run.stderr)
        self.run("baseline", source, "-o", out, "--limit", "regs<=24")
        self.run("baseline", source, "-o", out, "--ratchet", out, "--limit", "spills<=0", status=1)
        out.unlink()
        self.run("baseline", source, "-o", out, "--limit", "x:spills<=0", status=2)
        check(not out.exists(), "written")

    # ---- what decided ----

    def test_what_decided(self):
        """A verdict names its measure, also where all figures of the table are equal."""
        def timed(alone):
            cycles = {"model": MODEL, "whole": [100.0, 200.0, 300.0], "alone": [alone] * 3, "loops-alone": [], "inner": [],
                      "work": {"written": 4.0, "read": 4.0, "computed": 0.0, "exchanged": 0.0, "instructions": 9.0, "steps": []}}
            return {**function("k"), "cycles": cycles}
        MODEL = self.model()
        result = self.diff(Side().unit("a.ptx", timed(100.0)), Side().unit("a.ptx", timed(120.0)))
        check(result.change("k") == "worse" and result.row("k")["decided-by"]["measure"] == "cycles", result.row("k"))
        check("k: worse by cycles: L1 100 -> 120 with few warps" in result.text, result.text)
        check("by cycles" in result.text and "worse by cycles: L1 100" in result.markdown, result.markdown)

    def test_width(self):
        """Text fits 80 columns, whatever is in it; --columns says which figures."""
        long = "a_kernel_of_a_name_that_takes_more_than_forty_characters"
        figures = dict(stack=123456, shared=12345678, instructions=12345678, inner=12345678, spill_stores=12345678)
        before, after = Side(), Side()
        for i, architecture in enumerate(("sm_80", "sm_90")):
            file = "a/folder/of/a/long/name/" * 3 + f"{i}.ptx"
            before.unit(file, function(long), function("k", **figures), architecture=architecture)
            after.unit(file, function(long, registers=33, warps=60), function("k", **{k: v * 9 for k, v in figures.items()}),
                       architecture=architecture)
        for columns in ((), ("--columns", "spills,shared,regs"), ("--columns", "regs,spills,stack,sass,inner,warps,cycles,shared,notes")):
            result = self.diff(before, after, *columns, status=1)
            wide = [line for line in result.text.splitlines() if len(line) > 80]
            check(not wide, wide)
        check("no room for " in result.text, result.text)
        result = self.diff(before, after, "--columns", "spills,shared,regs", status=1)
        check(result.text.split("\n")[0].split() == ["kernel", "spills", "shared", "regs"], result.text)
        check("| for | spills | shared | registers |" in result.markdown, result.markdown)
        check(long in self.run("diff", self.folder / "before.json", self.folder / "after.json", "--name-width", "0", status=1).stdout, "whole names")
        for bad in ("", "speed", "regs,", "regs,regs", "registers"):
            check("--columns: '" in self.run("diff", self.folder / "before.json", self.folder / "after.json", "--columns", bad, status=2).stderr, bad)
