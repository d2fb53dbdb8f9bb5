"""Matching, limits and formats, on baselines that are made up: needs no ptxas."""
import json

from support import Side, Suite, cells_of, check, function, html_of

HOSTILE = "</td><script>alert(1)</script>`|**x**<!--@all\x01\x1b[31m"
OLD_ANON = "_ZN35_GLOBAL__N__b1a8bd35_4_t_cu__Z2goPf4anonIfEEvPT_"
NEW_ANON = "_ZN35_GLOBAL__N__f47b6973_4_t_cu__Z2goPf4anonIfEEvPT_"


class Rules(Suite):
    # ---- what became of a kernel ----

    def test_equal(self):
        side = Side().unit("a.ptx", function("k"))
        result = self.diff(side, side)
        check(result.change("k") == "same" and "k " not in result.text, result.text)
        check("1 kernel compared: 1 the same" in result.text, result.text)
        check(" same " not in result.markdown and "| same | `k` |" in self.run(
            "diff", "--format", "markdown", "--all", *[self.folder / "before.json"] * 2).stdout, result.markdown)

    def test_better_and_worse(self):
        before = Side().unit("a.ptx", *(function(n) for n in "abcdef"))
        after = Side().unit("a.ptx", function("a", registers=40), function("b", instructions=201),
                            function("c", instructions=100), function("d", inner=60), function("e", registers=24),
                            function("f", registers=40, instructions=199))
        result = self.diff(before, after)
        changes = {n: result.change(n) for n in "abcdef"}
        check(changes == dict(a="worse", b="worse", c="better", d="worse", e="better", f="better"), changes)
        check([f["name"] for f in result["functions"]] == ["b", "d", "a", "c", "f", "e"], "order")
        check("32\u00a0→\u00a040 (+8)" in result.markdown and "200\u00a0→\u00a0100 (-50.0%)" in result.markdown, result.markdown)
        lines = result.text.splitlines()
        check(lines[1].split() == ["worse", "b", "32", "0", "200", "50", "64"] and lines[2].split() == ["by", "sass", "201"], result.text)
        by = {n: result.row(n)["decided-by"] for n in "abcdef"}
        check(by["a"] == {"measure": "regs", "detail": "32 -> 40"} and by["d"]["measure"] == "inner", by)
        check("3 worse by other measures)" in result.text, result.text)
        means = result["summary"]["geometric-means"]
        check(abs(means["instructions"] - (201 / 200 * .5 * 199 / 200) ** (1 / 6)) < 1e-9, means)
        check(abs(means["inner"] - (60 / 50) ** (1 / 6)) < 1e-9 and means["warps"] == 1, means)

    def test_regressions(self):
        before = Side().unit("a.ptx", function("s"), function("w"), function("both", spill_stores=100))
        after = Side().unit("a.ptx", function("s", spill_stores=4, spill_loads=8), function("w", warps=48),
                            function("both", warps=32))
        result = self.diff(before, after, status=1)
        check([f["change"] for f in result["functions"]] == ["regression", "regression", "better"], result["functions"])
        check(result["functions"][0]["name"] == "s", "spills first")
        # What is better to the guard fails only where its loss was asked for, and a line says so.
        check(result.row("both")["decided-by"] == {"measure": "spills", "detail": "100 -> 0"}, result.row("both"))
        asked = self.diff(before, after, "--fail-on", "spills,warps", status=1)
        check([f["change"] for f in asked["functions"]] == ["regression"] * 3, asked["functions"])
        check("both: fails by warps, and is better by spills to the guard" in asked.text and "by warps" in asked.markdown, asked.text)
        regression, = result.row("s")["regressions"]
        check(regression == dict(measure="spills", tolerance=0, unit="absolute", before=0, after=12), regression)
        check("**0\u00a0→\u00a012 (+12)**" in result.markdown and "2 regressions in 3 kernels" in result.text, result.markdown)
        failure = result.junit.find(".//testcase[@name='w']/failure")
        check(failure.get("message") == "warps 64 -> 48" and failure.text == "warps 64 -> 48", failure.attrib)
        for fail_on, status in (("none", 0), ("sass,regs", 0), ("spills", 1), ("warps:16", 1), ("warps:32,spills:12", 0)):
            self.diff(before, after, "--fail-on", fail_on, status=status)

    def test_registers(self):
        """By default those fail that cost a warp; with regs all do, and nothing else does."""
        before = Side().unit("a.ptx", *(function(n) for n in ("same", "free", "costly", "spilling")))
        after = Side().unit("a.ptx", function("same"), function("free", registers=34), function("costly", registers=40, warps=48),
                            function("spilling", spill_loads=8))
        for options, failing in (((), {"costly", "spilling"}), (("--fail-on", "regs"), {"free", "costly"}), (("--fail-on", "registers"), {"free", "costly"}), (("--fail-on", "regs:2"), {"costly"}),
                                 (("--fail-on", "regs:8"), set())):
            result = self.diff(before, after, *options, status=int(bool(failing)))
            found = {f["name"] for f in result["functions"] if f["change"] == "regression"}
            check(found == failing, f"{options}: {found}")

    def test_tolerances(self):
        for measure, figure, was in (("sass", "instructions", 200), ("inner", "inner", 50), ("regs", "registers", 32),
                                     ("stack", "stack", 400)):
            for tolerance, passes in (("", 0), (":3", 3), (":2%", was * 2 // 100), (":50%", was // 2), (":0", 0)):
                before = Side().unit("a.ptx", function("k", **{figure: was}))
                for more in (passes, passes + 1):
                    after = Side().unit("a.ptx", function("k", **{figure: was + more}))
                    self.diff(before, after, "--fail-on", measure + tolerance, status=int(more > passes))
        before, after = (Side().unit("a.ptx", function("k", spill_stores=n)) for n in (0, 1))
        self.diff(before, after, "--fail-on", "spills:50%", status=1)  # a part of nothing is nothing

    def test_fail_on_is_checked(self):
        side = self.write("a.json", Side().unit("a.ptx", function("k")))
        for text in ("", "speed", "spills,", "sass:", "sass:x", "sass:-1", "sass:1.5", "sass:nan%", "sass:2%%", "regs,regs:1",
                     "none,regs", "missing:1"):
            run = self.run("diff", side, side, "--fail-on", text, status=2)
            check("--fail-on" in run.stderr and not run.stdout, run.stderr)

    # ---- which kernel is which ----

    def test_missing_and_new(self):
        before, after = Side().unit("a.ptx", function("k"), function("gone")), Side().unit("a.ptx", function("k"), function("came"))
        result = self.diff(before, after)
        check((result.change("gone"), result.change("came")) == ("missing", "new"), result["functions"])
        check(result.row("gone")["after"] is None and result.row("came")["before"] is None, "figures")
        check(result.junit.find(".//testcase[@name='gone']/skipped") is not None, "skipped")
        result = self.diff(before, after, "--fail-on", "missing", status=1)
        check(result.change("gone") == "regression" and "MISSING" in result.text, result.text)
        # A device function that is gone was inlined.
        before.unit("b.ptx", function("k2"), function("f", kind="func"))
        after.unit("b.ptx", function("k2"), function("gone"))
        result = self.diff(before, after, "--fail-on", "missing", status=0)
        check(result.change("f") == "missing", result["functions"])
        row, = (f for f in result["functions"] if f["name"] == "gone")
        check(row["old-file"] == "a.ptx" and row["file"] == "b.ptx", "it moved")

    def test_renamed_file(self):
        before = Side().unit("x/old.ptx", function("a"), function("b"), function("f", kind="func")).unit("z.ptx", function("z"))
        after = Side().unit("y/new.ptx", function("a"), function("b", warps=48), function("f", kind="func")).unit("z.ptx", function("z"))
        result = self.diff(before, after, status=1)
        check([f["old-file"] for f in result["functions"]] == ["x/old.ptx"] * 3 + [None], result["functions"])
        check(any("x/old.ptx" in n and "y/new.ptx" in n for n in result["notes"]), result["notes"])
        # Two with the same kernels: nobody knows which is which.
        before.unit("x/old2.ptx", function("a"), function("b"))
        check(self.diff(before, after)["summary"]["kernels"]["missing"] == 4, "ambiguous")

    def test_moved_kernel(self):
        before = Side().unit("a.ptx", function("a"), function("b")).unit("c.ptx", function("c"))
        after = Side().unit("a.ptx", function("a")).unit("c.ptx", function("c"), function("b", spill_loads=4))
        check(self.diff(before, after, status=1).row("b")["old-file"] == "a.ptx", "moved")
        after.unit("d.ptx", function("b"))
        result = self.diff(before, after)
        check([f["change"] for f in result["functions"] if f["name"] == "b"] == ["missing", "new", "new"], "two of that name")

    def test_names_of_compilers(self):
        before = Side().unit("a.ptx", function(OLD_ANON), function("_Z3runPi"), function("_Z4overPi"), function("_Z4overPf"))
        after = Side().unit("a.ptx", function(NEW_ANON), function("_Z3runPl", warps=32), function("_Z4overPi"), function("_Z4overPd"))
        result = self.diff(before, after, status=1)
        check(result.row(NEW_ANON)["old-name"] == OLD_ANON and result.change(NEW_ANON) == "same", "digests in names")
        check(result.row("_Z3runPl")["old-name"] == "_Z3runPi" and "run(long*) (was run(int*))" in result.text, result.text)
        check((result.change("_Z4overPf"), result.change("_Z4overPd")) == ("missing", "new"), "overloads are not guessed at")
        check("_Z3runPl (was _Z3runPi)" in self.run("diff", "--mangled", self.folder / "before.json", self.folder / "after.json",
                                                    status=1).stdout, "--mangled")

    def test_ptx_and_cubin_by_stem(self):
        before = Side().unit("d/a.ptx", function("k")).unit("b.sm_80.cubin", function("k"))
        after = Side().unit("d/a.cubin", function("k", spill_stores=None, spill_loads=None)).unit("b.ptx", function("k", warps=60))
        result = self.diff(before, after, status=1)
        check(sorted((f["old-file"], f["file"]) for f in result["functions"]) ==
              [("b.sm_80.cubin", "b.ptx"), ("d/a.ptx", "d/a.cubin")], result["functions"])
        check(any("spills are not known of 1 kernel" in n for n in result["notes"]), result["notes"])
        self.diff(before, after, "--fail-on", "spills", status=2)  # asked for and not known
        self.diff(before, after, "--fail-on", "warps:4", status=0)

    def test_device_functions(self):
        before = Side().unit("a.ptx", function("k"), function("f", kind="func"), function("g", kind="func", instructions=90))
        after = Side().unit("a.ptx", function("k"), function("f", kind="func", spill_stores=8),
                            function("g", kind="func", instructions=0, registers=0, inner=0))
        result = self.diff(before, after, "--fail-on", "spills,regs,sass", status=1)
        check(result.change("f") == "regression" and "f (device function)" in result.text, result.text)
        check(result.change("g") == "same", "a function within its caller has no count of its own")
        check(result["summary"]["kernels"]["compared"] == 1 and result["summary"]["device-functions"] == 2, "counts")

    def test_architectures(self):
        before, after = Side(), Side()
        for architecture, warps in (("sm_80", 64), ("sm_90", 48)):
            before.unit("a.ptx", function("k"), architecture=architecture)
            after.unit("a.ptx", function("k", warps=warps), architecture=architecture)
        result = self.diff(before, after, status=1)
        check([f["architecture"] for f in result["functions"]] == ["sm_90", "sm_80"], "order")
        check([s["architecture"] for s in result["architectures"]] == ["sm_80", "sm_90"], "sums")
        check("sm_90: 1 kernel compared: 1 regression" in result.text and "| sm\\_90 |" in result.markdown, result.text)
        check(len(self.diff(before, after, "--arch", "sm_80")["functions"]) == 1, "--arch leaves out others")
        result = self.diff(before, after, "--arch", "sm_80,sm_75", status=2)
        check(result["problems"][0]["architecture"] == "sm_75", result["problems"])
        for bad in ("80", "sm_", "compute_80", "sm_80,", "sm_8x", "sm_080", "sm_80 "):
            check("is not an architecture" in self.run("diff", "a", "b", "--arch", bad, status=2).stderr, bad)

    # ---- nothing to compare ----

    def test_empty(self):
        empty, full = Side(), Side().unit("a.ptx", function("k"))
        for before, after in ((empty, full), (full, empty), (empty, empty), (full, Side().unit("b.ptx", function("x"))),
                              (full, Side().unit("a.ptx", function("k"), architecture="sm_90"))):
            result = self.diff(before, after, status=2)
            check("nothing was compared" in result.text and "nothing was compared" in result.markdown, result.text)
        (self.folder / "empty").mkdir()
        result = self.diff(self.folder / "empty", self.write("full.json", full), status=2)
        check("nothing to compare in" in result.stderr, result.stderr)
        self.run("diff", self.folder / "nowhere", self.folder / "full.json", status=2)

    def test_broken_baselines(self):
        good = self.write("good.json", Side().unit("a.ptx", function("k")))
        document = json.loads(good.read_text())

        def broken(change):
            copy = json.loads(json.dumps(document))
            change(copy)
            return json.dumps(copy)
        texts = ["{", "{}", '{"format": 1}', '{"format": "other", "version": 1}', broken(lambda d: d.update(version=2)),
                 broken(lambda d: d.update(units=5)), broken(lambda d: d["units"].append(d["units"][0])),
                 broken(lambda d: d["units"][0]["functions"][0].pop("stack")),
                 broken(lambda d: d["units"][0]["functions"][0].update(registers=-1)),
                 broken(lambda d: d["units"][0]["functions"][0].update(warps="many"))]
        for text in texts:
            for order in (0, 1):
                paths = [good, self.write("bad.json", text)]
                run = self.run("diff", *(paths[::-1] if order else paths), status=2)
                check("bad.json' is not a baseline: " in run.stderr and not run.stdout, f"{text}: {run.stderr}")

    def test_versions(self):
        unit = ("a.ptx", function("k"))
        result = self.diff(Side("V12.9.41").unit(*unit), Side().unit(*unit))
        check(any("V12.9.41" in n and "V13.0.88" in n for n in result["notes"]) and "note: " in result.text, result["notes"])
        check(not self.diff(Side(None).unit(*unit), Side().unit(*unit))["notes"], "nothing is known")

    # ---- formats ----

    def test_hostile_names(self):
        before = Side().unit(HOSTILE, function(HOSTILE), function("&\"'")).unit("z", function("z"))
        after = Side("V1`2").unit(HOSTILE, function(HOSTILE, warps=1), function("&\"'")).unit("z", function("z", registers=1))
        result = self.diff(before, after, status=1)
        check(result["functions"][0]["name"] == HOSTILE, "JSON keeps names")
        check("\x1b" not in result.text + result.markdown and "\x01" not in result.text + result.markdown, "control characters")
        html = html_of(result.markdown)
        check("<script" not in html.lower() and len(cells_of(html)) == 3, html)
        check(cells_of(html)[1][1].startswith("&lt;/td&gt;&lt;script"), html)

    def test_names_of_several_lines(self):
        """A new line in a name begins no line in any output, where it could mean something."""
        name = "x\n::error file=a.ptx::no\n# no | no\n| no |\n```\n<b>"
        self.write(f"side/{name.replace('/', '')}.cubin", b"no cubin")
        before, after = Side().unit(name, function(name)), Side().unit(name, function(name, registers=1))
        results = [self.diff(before, after, "--all"), self.diff(before, self.folder / "side", status=2)]
        check(results[0]["functions"][0]["name"] == name and results[1]["problems"], "JSON keeps names")
        for result in results:
            for text in (result.text, result.markdown, result.stderr):
                bad = [line for line in text.splitlines() if line.lstrip().startswith(("::", "# ", "| no", "<b>"))]
                check(not bad, f"{bad} in {text}")
            check(html_of(result.markdown).count("<table>") <= 1, result.markdown)

    def test_long_names_of_sides(self):
        """Whatever is long, a comment stays below the limit of 65,536 characters, and what is worse is in it."""
        before, after = Side(), Side()
        for i in range(300):
            before.unit("a", function("f" * 300 + str(i)), architecture=f"sm_{i}")
            after.unit("a", function("f" * 300 + str(i), registers=33 if i == 299 else 32), architecture=f"sm_{i}")
        result = self.diff(before, after, "--all", "--name-width", "0")
        check(len(result.markdown) < 65_536 and "rows are left out" in result.markdown, len(result.markdown))
        check("| worse by regs |" in result.markdown and "lines of sums are left out" in result.markdown, result.markdown)

    def test_long_lists(self):
        before, after = Side(), Side()
        for i in range(2000):
            before.unit(f"folder/of/a/file/{i:04}.ptx", function(f"a_kernel_of_some_length_{i}"))
            after.unit(f"folder/of/a/file/{i:04}.ptx", function(f"a_kernel_of_some_length_{i}", registers=33 + i % 100))
        result = self.diff(before, after)
        check(40_000 < len(result.markdown.encode()) <= 60_000, f"{len(result.markdown.encode())} bytes")
        check("rows are left out" in result.markdown and result.markdown.count("<details>") == 1, "folded")
        rows = cells_of(html_of(result.markdown))
        check(len(rows) > 300 and all(len(row) == len(rows[0]) for row in rows), f"{len(rows)} rows")
        check(rows[20][0] == "worse by regs" and rows[22][0] == "worse by regs" and rows[1][3] == "32\u00a0→\u00a0132 (+100)", rows[:2])
        check(result.text.count("\n") > 2000, "the text has all")

    def test_long_names(self):
        # void f<type, type, ..., n>(type*)
        names = [f"_Z1fI{'4type' * 60}Li{n}EEvP4type" for n in (1, 2)] + [f"_Z{len(x)}{x}I{'i' * 90}EvT_" for x in ("lone",)]
        before = Side().unit("a.ptx", *(function(n) for n in names))
        after = Side().unit("a.ptx", *(function(n, registers=40) for n in names))
        result = self.diff(before, after)
        check(" lone<...>(...) " in result.text, result.text)
        check(all(f"{n}>(type*)" in result.text for n in (1, 2)), "names that would look the same stay whole")
        check(result.row(names[2])["demangled"].startswith("lone<int, int"), "JSON has all of it")

    def test_outputs(self):
        side = self.write("a.json", Side().unit("a.ptx", function("k")))
        out = self.folder / "out.xml"
        run = self.run("diff", side, side, "--format", "junit", "-o", out)
        check(not run.stdout and out.read_text().startswith("<?xml"), run.stdout)
        run = self.run("diff", side, side, "--json", self.folder / "no" / "where.json", status=2)
        check("cannot write" in run.stderr and not run.stdout, "all or nothing")
        self.run("diff", side, side, "--format", "pdf", status=2)
        self.run("diff", side, status=2)

    # ---- names that changed ----

    def test_pairs(self):
        """By hand and by similarity, each marked as such; a pair that fits nothing is an error."""
        before = Side().unit("k.ptx", function("kern_cutlass_t"), function("k1"))
        after = Side().unit("k.ptx", function("kern_t", registers=40), function("k2"))
        near = self.diff(before, after)
        row = near.row("kern_t")
        check((row["old-name"], row["paired-by"]) == ("kern_cutlass_t", "similarity"), row)
        check("by similarity" in near.text and "by similarity" in near.markdown, near.text)
        check(near.change("k1") == "missing" and near.row("k1")["paired-by"] is None, near)
        apart = self.diff(before, after, "--no-similar", "--pair", "k1=k2")
        check(apart.change("kern_t") == "new" and apart.row("k2")["paired-by"] == "given", apart)
        given = self.diff(before, after, "--pair", "kern_cutlass_*=kern_*", "--pair", "k1=k2")
        check([f["paired-by"] for f in given["functions"]] == ["given"] * 2, given)
        idle = self.diff(before, after, "--pair", "x*=y*", status=2)
        check("--pair 'x*=y*' fits no two kernels" in idle.stderr, idle.stderr)
        check("OLD=NEW" in self.run("diff", "a", "b", "--pair", "x", status=2).stderr, "a pair without =")
