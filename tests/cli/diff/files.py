"""PTX files, cubins and folders of them, with the real ptxas and with fake ones, and `ptxopt baseline`."""
import json
import os
import subprocess
import sys

from support import ROOT, Skipped, Suite, check, function, Side, validate

sys.path.insert(0, str(ROOT / "tests" / "lib"))
import machine_code  # noqa: E402

HEAD = ".version 8.0\n.target {target}\n.address_size 64\n"
SAMPLES = ("fft", "gemm", "histogram", "scan", "sort", "spmv", "stencil")


def kernel(name, live=4, directive=""):
    """Loads so many values before it uses the first of them."""
    loads = "".join(f"\tld.volatile.global.u32 %r{i}, [%rd1+{4 * i}];\n" for i in range(live))
    uses = "".join(f"\tst.volatile.global.u32 [%rd1+{4 * i}], %r{i};\n" for i in range(live))
    return (f".visible .entry {name}(.param .u64 p)\n{directive}\n{{\n\t.reg .b32 %r<{live}>;\n\t.reg .b64 %rd<2>;\n"
            f"\tld.param.u64 %rd1, [p];\n{loads}{uses}\tret;\n}}\n")


def module(*kernels, target="sm_80"):
    return HEAD.format(target=target) + "".join(kernels)


PLAIN = module(kernel("k"))
SPILLS = module(kernel("k", 60, ".maxntid 256\n.maxnreg 24"))


class Files(Suite):
    def cubin(self, name, text, architecture="sm_80"):
        source, out = self.write("cubin.ptx", text), self.folder / name
        out.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([self.ptxas(), f"-arch={architecture}", source, "-o", out], check=True, timeout=60)
        return out

    def fake(self, name, script):
        return self.write(name, f"#!/bin/sh\n{script}\n", 0o755)

    def limited(self, folder, newest, release):
        """A ptxas that takes no newer PTX and is the real one otherwise."""
        return self.fake(f"{folder}/ptxas", f"""case "$*" in *--version*) echo "Cuda compilation tools, release {release[:4]}, V{release}"; exit;; esac
for file; do
  case $file in *.ptx) needed=$(sed -n 's/^.version //p' "$file");; esac
done
newest=$(printf '%s\\n' "$needed" {newest} | sort -V | tail -1)
if [ -n "$needed" ] && [ "$newest" != {newest} ]; then
  echo "ptxas fatal   : Unsupported .version $needed; current version is '{newest}'" >&2; exit 255
fi
exec {self.ptxas()} "$@\"""")

    def with_old_and_new(self):
        env = {k: v for k, v in os.environ.items() if k not in ("PTXAS", "PTXOPT_PTXAS", "CUDA_HOME", "CUDA_PATH")}
        return env | {"PATH": f"{self.folder}/old:{self.folder}/new:/usr/bin:/bin"}

    # ---- which ptxas ----

    def test_two_toolchains(self):
        """One PTX, two ptxas: by path and by version, with lines for a report."""
        old = self.limited("old", "8.0", "12.0.1")
        new = self.fake("packages/nvidia/cuda_nvcc/bin/ptxas", f"""case "$*" in *--version*) echo "Cuda compilation tools, release 12.7, V12.7.1"; exit;; esac
exec {self.ptxas()} "$@" -maxrregcount=24""")
        file = self.write("k.ptx", module(kernel("k", 60)))
        run = self.run("diff", file, "--ptxas", old, "--against-ptxas", new, status=1)
        for text in ("ptxas V12.0.1 against V12.7.1: of 1 kernel 1 worse, 0 better", "k for sm_80 (k.ptx): spills",
                     f"{old} -arch=sm_80 -v {file} -o /dev/null", f"{new} -arch=sm_80 -v {file}"):
            check(text in run.stdout, text, run.stdout)
        env = self.with_old_and_new() | {"PTXOPT_PYTHON_PACKAGES": str(self.folder / "packages"), "PTXAS": str(old)}
        found = json.loads(self.run("diff", self.folder, "--ptxas", "12.0.1", "--against-ptxas", "12.7", "--format", "json",
                                    status=1, env=env).stdout)
        check((found["before"]["ptxas"], found["after"]["ptxas"]) == ("V12.0.1", "V12.7.1"), found)
        same = self.run("diff", file, file, "--ptxas", old, "--against-ptxas", old)
        check("0 worse, 0 better, 1 the same (1 with" in same.stdout and "reproduce" not in same.stdout, same.stdout)
        late = self.write("late.ptx", PLAIN.replace("8.0", "99.0"))
        check(f"ptxas {old} against" in self.run("diff", late, "--ptxas", old, "--against-ptxas", old, status=2).stdout, "no version")
        none = self.run("diff", file, "--against-ptxas", "99.9", status=2, env=env)
        check("there is no ptxas 99.9; found: 12.0.1" in none.stderr, none.stderr)
        check("there is nothing to compare with" in self.run("diff", file, status=2).stderr, "one side")
        code = self.cubin("k.cubin", PLAIN)
        check("there is no PTX in" in self.run("diff", code, "--against-ptxas", old, status=2).stderr, "a cubin")

    def test_ptxas_that_takes_all(self):
        self.limited("old", "7.0", "11.0.1"), self.limited("new", "8.0", "12.0.1")
        env = self.with_old_and_new()
        old, new = (self.write(f"{n}.ptx", PLAIN.replace("8.0", n)) for n in ("7.0", "8.0"))
        both = self.diff(old, new, env=env)
        check(both["before"]["ptxas"] == both["after"]["ptxas"] == "V12.0.1", both["before"], both["after"])
        check(any("old/ptxas takes PTX up to 7.0" in note for note in both["notes"]), both["notes"])
        first = self.diff(old, old, env=env)
        check(first["before"]["ptxas"] == "V11.0.1" and not first["notes"], first["before"], first["notes"])
        given = self.diff(old, new, "--ptxas", self.folder / "old/ptxas", env=env, status=2)
        check("Unsupported .version 8.0" in given.stderr, given.stderr)

    def test_ptxas_for_each_where_none_takes_all(self):
        """One takes PTX 99.0 and makes no code for sm_80."""
        self.limited("old", "7.0", "11.0.1")
        self.fake("new/ptxas", f"""case "$*" in
  *--version*) echo "Cuda compilation tools, release 99.0, V99.0.1"; exit;;
  *--help*) echo "--gpu-name <name> Allowed values for this option: 'sm_90'."; exit;;
esac
for file; do
  case $file in *.ptx)
    if grep -q '^.version 99.9' "$file"; then echo "current version is '99.0'" >&2; exit 255; fi
    sed -i 's/^.version 99.0/.version 8.0/' "$file";;
  esac
done
exec {self.ptxas()} "$@\"""")
        self.write("a/one.ptx", PLAIN.replace("8.0", "7.0"))
        self.write("a/two.ptx", module(kernel("l"), target="sm_90").replace("8.0", "99.0"))
        out = self.folder / "baseline.json"
        self.run("baseline", self.folder / "a", "-o", out, env=self.with_old_and_new())
        check(json.loads(out.read_text())["ptxas"] == "V11.0.1, V99.0.1", out.read_text()[:200])

    # ---- the real ptxas ----

    def test_two_files(self):
        self.ptxas()
        before, after = self.write("one.ptx", module(kernel("k", 60, ".maxntid 256"))), self.write("other.ptx", SPILLS)
        result = self.diff(before, after, status=1)
        row = result.row("k")
        check(row["regressions"][0]["measure"] == "spills" and row["after"]["stack"] > 0, row)
        check(row["before"]["registers"] > 60 and row["after"]["registers"] <= 24, row)
        check(row["before"]["warps"] < row["after"]["warps"], row)
        check((row["old-file"], row["file"]) == ("one.ptx", "other.ptx") and not result["notes"], result["notes"])
        check(self.diff(after, before, "--fail-on", "spills").change("k") == "better", "the other way")
        # Where nothing says how large blocks are, those of 1024 threads would no longer fit.
        for path in (before, after):
            path.write_text(path.read_text().replace(".maxntid 256", ""))
        check(self.diff(after, before, "--fail-on", "spills").change("k") == "worse", "blocks that fitted")
        result = self.diff(before, before)
        check(result.row("k")["same-code"] is True and "1 with the same machine code" in result.text, result.text)
        run = subprocess.run([self.tool, "diff", "-", str(after), "--fail-on", "none"], input=before.read_text(),
                             capture_output=True, text=True)
        check(run.returncode == 0 and "-> " in run.stdout, run.stderr)

    def test_kernel_in_several_files(self):
        """A folder as nvcc -keep leaves it has a row for each file of a kernel, and a note says so; other files of one kernel have none."""
        note = "k, like 1 more kernel, is in several files of one name and has a row for each: sub/k.ptx, sub/k.sm_80.cubin; give files of one kind"
        both = module(kernel("k"), kernel("l", 16))
        for side in "ab":
            self.write(f"{side}/sub/k.ptx", both)
            self.cubin(f"{side}/sub/k.sm_80.cubin", both)
        result = self.diff(self.folder / "a", self.folder / "b")
        check(len(result["functions"]) == 4 and [n for n in result["notes"] if n.startswith(note)], result["notes"])
        result = self.diff(self.folder / "a", self.folder / "b", "--only", "ptx")
        check(len(result["functions"]) == 2 and not result["notes"], result["notes"])
        for side in "cd":
            self.write(f"{side}/k.ptx", both)
            self.write(f"{side}/other.ptx", both)
        check(not self.diff(self.folder / "c", self.folder / "d")["notes"], "two sources with one kernel")

    def test_registers_of_ptxas(self):
        """More registers fail where fewer warps fit, by ptxas's own figures."""
        self.ptxas()
        before, costly, free = (self.write(f"{live}/k.ptx", module(kernel("k", live))) for live in (8, 60, 16))
        row = self.diff(before, costly, status=1).row("k")
        check([r["measure"] for r in row["regressions"]] == ["warps"] and row["after"]["registers"] > row["before"]["registers"], row)
        row = self.diff(before, free).row("k")
        check(row["after"]["registers"] > row["before"]["registers"] and row["after"]["warps"] == row["before"]["warps"], row)
        check(self.diff(before, free, "--fail-on", "regs", status=1).change("k") == "regression", "register counts alone")

    def test_measures(self):
        """What the tool reports is what tests/lib/machine_code.py counts in what the same command line makes."""
        for architecture in ("sm_75", "sm_80", "sm_90", "sm_120"):
            for path in [ROOT / "samples" / "kernels" / f"{name}.ptx" for name in SAMPLES] + [self.write("s.ptx", SPILLS)]:
                text = path.read_text().replace(".target sm_80", ".target sm_75")
                source, out = self.write("in.ptx", text), self.folder / "in.cubin"
                run = subprocess.run([self.ptxas(), "-v", f"-arch={architecture}", source, "-o", out], check=True,
                                     capture_output=True, text=True, timeout=60)
                assembled = machine_code.Assembled(machine_code.read_sections(out.read_bytes()), run.stderr)
                wanted = machine_code.loop_stats(assembled, architecture)
                for side, knows_spills in ((source, True), (out, False)):
                    result = self.diff(side, side, "--arch", architecture, "--fail-on", "warps")
                    check({f["name"] for f in result["functions"]} == wanted.keys(), f"{path}: {wanted.keys()}")
                    for name, row in wanted.items():
                        f = result.row(name)["after"]
                        found = dict(registers=f["registers"], stack=f["stack"], shared=f["shared"], inner=f["inner"],
                                     instructions=f["instructions"], loops=f["inner-loops"])
                        if knows_spills:
                            found.update(spill_stores=f["spill-stores"], spill_loads=f["spill-loads"])
                        bad = {key: (v, row[key]) for key, v in found.items() if v != row[key]}
                        check(not bad, f"{path.name} {architecture} {name}: (reported, counted) {bad}")
                        check(0 < f["warps"] <= row["warps"], f"{name}: {f['warps']} warps, {row['warps']} by registers alone")

    def test_folders(self):
        for side, text in (("a", PLAIN), ("b", SPILLS)):
            self.write(f"{side}/x.ptx", text)
            self.write(f"{side}/deep/er/y.ptx", module(kernel("k", 8), kernel("other")))
            self.cubin(f"{side}/c.cubin", PLAIN)
            self.write(f"{side}/notes.txt", "not PTX")
        self.write("a/gone.ptx", module(kernel("gone")))
        result = self.diff(self.folder / "a", self.folder / "b", status=1)
        rows = {(f["file"], f["name"]): f["change"] for f in result["functions"]}
        check(rows == {("x.ptx", "k"): "regression", ("gone.ptx", "gone"): "missing", ("deep/er/y.ptx", "k"): "same",
                       ("deep/er/y.ptx", "other"): "same", ("c.cubin", "k"): "same"}, rows)
        one = [self.run("diff", self.folder / "a", self.folder / "b", "--format", "json", "-j", n, status=1).stdout for n in (1, 7)]
        check(one[0] == one[1], "depends on -j")
        # A file of its own against the folder.
        check(self.diff(self.folder / "a" / "x.ptx", self.folder / "b", status=1).change("other") == "new", "file and folder")

    def test_documented_example(self):
        """The example of docs/diff.md, by the ptxas that it is of."""
        version = subprocess.run([self.ptxas(), "--version"], capture_output=True, text=True, check=True).stdout
        if "V13.0.88" not in version:
            raise Skipped("the example of docs/diff.md is of ptxas V13.0.88")
        for name, limit in (("attention", 64), ("gemm", 40), ("sort", None)):
            text = (ROOT / "samples" / "kernels" / f"{name}.ptx").read_text()
            self.write(f"before/{name}.ptx", text)
            self.write(f"after/{name}.ptx", text.replace("\n)\n", f"\n)\n.maxnreg {limit}\n") if limit else text)
        run = self.run("diff", self.folder / "before", self.folder / "after", status=1)
        example = (ROOT / "docs/diff.md").read_text().split("<!-- diff-example -->\n")[1].split("<!-- /diff-example -->")[0]
        shown = "".join(line.removeprefix("    ") + "\n" for line in example.splitlines()[1:])
        check(run.stdout == shown, f"docs/diff.md shows\n{shown}and it is\n{run.stdout}")

    def test_architectures_of_ptx(self):
        self.ptxas()
        before = self.write("a/k.ptx", PLAIN)
        result = self.diff(self.folder / "a", self.folder / "a", "--arch", "sm_90,sm_80")
        check([f["architecture"] for f in result["functions"]] == ["sm_80", "sm_90"], "several")
        self.write("b/k.ptx", module(kernel("k"), target="sm_90"))
        result = self.diff(self.folder / "a", self.folder / "b", status=2)
        check("no kernel is on both sides" in result.stderr, result.stderr)
        self.diff(self.folder / "a", self.folder / "b", "--arch", "sm_90")
        # Where one side cannot be made for an architecture the other side's kernels are missing, and nothing is left.
        result = self.diff(self.folder / "a", self.folder / "b", "--arch", "sm_80,sm_90", status=2)
        check(any("'k.ptx' is for sm_90: not assembled for sm_80" in n for n in result["notes"]), result["notes"])
        # Two files that were given as such are compared whatever they are for.
        result = self.diff(before, self.folder / "b" / "k.ptx", "--fail-on", "none")
        check(result.row("k")["old-architecture"] == "sm_80" and "sm_80 -> sm_90" in result.text, result.text)

    def test_cubin_and_ptx(self):
        ptx = self.write("p/k.ptx", PLAIN)
        cubin = self.cubin("c/k.cubin", PLAIN, "sm_90")
        for before, after in ((ptx, cubin), (cubin, ptx), (ptx.parent, cubin.parent), (cubin.parent, ptx.parent)):
            result = self.diff(before, after)
            row = result.row("k")
            # PTX goes through ptxas for the architecture of the cubin.
            check(row["architecture"] == "sm_90" and row["change"] == "same" and row["same-code"] is True, row)
            check(any("spills are not known" in n for n in result["notes"]), result["notes"])
        # Its note says which architecture to the letter, and which ptxas made it.
        variant = self.write("v.ptx", module(kernel("k"), target="sm_90a"))
        check(self.diff(self.cubin("v.cubin", variant.read_text(), "sm_90a"), variant).row("k")["architecture"] == "sm_90a", "sm_90a")
        version = self.diff(cubin, cubin)["before"]["ptxas"].encode()
        other = self.write("other.cubin", cubin.read_bytes().replace(version, b"V09" + version[3:]))
        result = self.diff(other, cubin)
        check("V09" in result["notes"][0] and result.change("k") == "same", result["notes"])
        result = self.diff(cubin, self.write("cut.cubin", cubin.read_bytes()[:700]), status=2)
        check("not a cubin that can be read" in result.stderr, result.stderr)

    def test_options_of_ptxas(self):
        self.ptxas()
        plain = self.write("a.ptx", module(kernel("k", 60)))
        baseline = self.folder / "b.json"
        self.run("baseline", plain, "-o", baseline)
        check(self.diff(baseline, plain).change("k") == "same", "same")
        result = self.diff(baseline, plain, "--ptxas-option=-maxrregcount=24", status=1)
        check(result.change("k") == "regression" and any("different options" in n for n in result["notes"]), result["notes"])

    def test_refused(self):
        self.ptxas()
        for name in "ab":
            self.write(f"{name}/good.ptx", PLAIN)
            self.write(f"{name}/bad.ptx", module(kernel("x")))
        self.write("b/bad.ptx", module("  what is this?\n"))
        result = self.diff(self.folder / "a", self.folder / "b", status=2)
        check(result.change("k") == "same" and len(result["functions"]) == 1, "the others are shown, and no kernel is missing")
        problem, = result["problems"]
        check((problem["side"], problem["file"], problem["architecture"]) == ("after", "bad.ptx", "sm_80"), problem)
        check("after: bad.ptx for sm_80: " in result.stderr and "Parsing error" in result.stderr, result.stderr)
        check("ptxas in.ptx, line " in problem["message"], "no path that is another one each time")
        check("Parsing error" in result.markdown and result.junit.find(".//error") is not None, result.markdown)
        self.write("b/good.ptx", SPILLS)  # a regression besides: what could not be compared decides
        self.diff(self.folder / "a", self.folder / "b", status=2)

    def test_debug_target(self):
        text = subprocess.run(["nvcc", "-G", "-arch=sm_80", "-ptx", "-o", "/dev/stdout", ROOT / "samples" / "saxpy.cu"],
                              capture_output=True, text=True) if self.has("nvcc") else None
        if text is None or text.returncode:
            raise Skipped("there is no nvcc")
        path = self.write("debug.ptx", text.stdout)
        check(", debug" in text.stdout and self.diff(path, path).change("saxpy") == "same", "debug")

    @staticmethod
    def has(program):
        return any(os.access(os.path.join(p, program), os.X_OK) for p in os.environ["PATH"].split(":"))

    # ---- fake ones ----

    def test_fake_ptxas(self):
        files = self.write("a.ptx", PLAIN), self.write("b.ptx", PLAIN)
        for script, message in (("exit 1", "exit status 1"), ("echo ptxas fatal : no >&2; exit 255", "ptxas fatal : no"),
                                ("kill -SEGV $$", "signal 11"), ("exit 0", "there is none"),
                                ('for a; do last=$a; done; echo garbage > "$last"', "no cubin that can be read"),
                                ("yes garbage | head -c 300000; exit 3", "exit status 3")):
            result = self.diff(*files, "--ptxas", self.fake("ptxas", script), status=2)
            check([p["side"] for p in result["problems"][:2]] == ["before", "after"], result["problems"])
            check(message in result["problems"][0]["message"], f"{script}: {result['problems'][0]}")
        late = self.folder / "late"
        result = self.diff(*files, "--ptxas", self.fake("ptxas", f"sleep 100; touch {late}"), "--ptxas-timeout", "1", "-j2", status=2)
        check("no result within 1" in result["problems"][0]["message"] and not late.exists(), result["problems"])
        result = self.diff(*files, "--ptxas", self.folder / "nobody", status=2)
        check("nobody" in result.stderr, result.stderr)

    def test_no_ptxas(self):
        env = {**os.environ, "PTXOPT_PTXAS": "none"}
        file, side = self.write("a.ptx", PLAIN), self.write("a.json", Side().unit("a.ptx", function("k")))
        for before, after in ((file, side), (side, file)):
            run = self.run("diff", before, after, status=2, env=env)
            check("there is no ptxas" in run.stderr, run.stderr)
        self.run("baseline", file, "-o", "-", status=2, env=env)
        self.run("diff", side, side, env=env)

    def test_only_some_fail(self):
        real = self.ptxas()
        fake = self.fake("ptxas", f'for a; do [ -f "$a" ] && grep -q refuse_me "$a" && kill -SEGV $$; done\nexec {real} "$@"')
        for name in "ab":
            for i in range(8):
                self.write(f"{name}/{i}.ptx", module(kernel("refuse_me" if i == 3 else "k", 4 + i)))
        result = self.diff(self.folder / "a", self.folder / "b", "--ptxas", fake, "-j3", status=2)
        check(len(result["functions"]) == 7 and len(result["problems"]) == 2, result["problems"])
        check(all("signal 11" in p["message"] and p["file"] == "3.ptx" for p in result["problems"]), result["problems"])

    # ---- baselines ----

    def test_baseline(self):
        self.ptxas()
        self.write("build/b.ptx", module(kernel("k2"), kernel("k1", 20)))
        self.write("build/a/x.ptx", PLAIN)
        out = self.folder / "baseline.json"
        run = self.run("baseline", self.folder / "build", "-o", out, "--arch", "sm_90,sm_80")
        check("3 kernels of 2 files for sm_80, sm_90" in run.stderr and not run.stdout, run.stderr)
        text = out.read_text()
        document = json.loads(text)
        validate(document, "baseline")
        check([(u["file"], u["architecture"]) for u in document["units"]] ==
              [("a/x.ptx", "sm_80"), ("a/x.ptx", "sm_90"), ("b.ptx", "sm_80"), ("b.ptx", "sm_90")], document["units"])
        check(document["ptxas"].startswith("V"), document["ptxas"])
        check(str(self.folder) not in text, "a path of this machine")
        check(sum('"name":' in line for line in text.splitlines()) == 6, "a line for each kernel")
        again = self.run("baseline", self.folder / "build", "-o", "-", "--arch", "sm_80,sm_90", "-j3").stdout
        check(again == text, "not the same twice")
        # Against it PTX goes through ptxas for the architectures that it has.
        result = self.diff(out, self.folder / "build")
        check(len(result["functions"]) == 6 and result["summary"]["kernels"]["same"] == 6, result["summary"])
        self.write("build/b.ptx", module(kernel("k2", 60, ".maxnreg 24"), kernel("k1", 20)))
        result = self.diff(out, self.folder / "build", status=1)
        check(result["summary"]["kernels"]["regression"] == 2, "for both architectures")
        self.run("baseline", self.folder / "build", "-o", out, "--arch", "sm_80,sm_90")
        changed = [i for i, (x, y) in enumerate(zip(text.splitlines(), out.read_text().splitlines())) if x != y]
        check(len(changed) == 2, f"lines {changed} changed")
        # Of files, names count.
        self.run("baseline", self.folder / "build" / "a" / "x.ptx", self.folder / "build" / "b.ptx", "-o", out)
        check([u["file"] for u in json.loads(out.read_text())["units"]] == ["b.ptx", "x.ptx"], "files")

    def test_baseline_of_nothing(self):
        self.ptxas()
        out = self.write("out.json", "what was there")
        (self.folder / "empty").mkdir()
        bad, good = self.write("bad/bad.ptx", "no PTX"), self.write("good/a.ptx", PLAIN)
        twin = self.write("twin/a.ptx", PLAIN)
        self.write("none/none.ptx", module())
        for inputs, message in ((["empty"], "there are no kernels"), (["none"], "there are no kernels"), (["bad"], "bad.ptx for sm_75"),
                                (["good", "bad"], "bad.ptx"), ([good, twin], "two files are called 'a.ptx'"), ([bad, "gone"], "gone"),
                                (["good", "--arch", "sm_80,sm_70"], "sm_70"), ([out], "out.json")):
            run = self.run("baseline", *(self.folder / i if i in ("empty", "none", "bad", "good", "gone") else i for i in inputs),
                           "-o", out, status=2)
            check(message in run.stderr, f"{inputs}: {run.stderr}")
            check(out.read_text() == "what was there", f"{inputs}: written")
        self.run("baseline", good, "-o", out, "--fail-on", "regs", status=2)  # without --ratchet it means nothing

    # ---- ratchets ----

    def ratchet(self, old, text, *options, status=0):
        """What becomes of figures of k in an old baseline: the new ones, and the message."""
        out = self.write("ratchet.json", Side().unit("k.ptx", old, *([] if old["name"] == "gone" else [function("gone")])))
        run = self.run("baseline", self.write("src/k.ptx", text).parent, "-o", out, "--ratchet", out, *options, status=status)
        document = json.loads(out.read_text())
        validate(document, "baseline")
        found = {f["name"]: f for u in document["units"] for f in u["functions"]}
        return found, run.stderr

    def test_ratchet(self):
        self.ptxas()
        self.write("now/k.ptx", PLAIN)
        now = json.loads(self.run("baseline", self.folder / "now", "-o", "-").stdout)["units"][0]["functions"][0]
        usual = dict(registers=now["registers"], instructions=now["instructions"], inner=0, inner_loops=0, warps=now["warps"],
                     constant=now["constant"])
        check(self.ratchet(function("k", **usual), PLAIN)[0] == {"k": now}, "the same, and what is gone goes")
        # Better figures are taken over.
        found, message = self.ratchet(function("k", **{**usual, "spill_stores": 40, "warps": 8}), PLAIN)
        check(found["k"] == now and "1 tightened, 0 with worse" in message, message)
        # Where some got better and others worse, all of them are those of one version. Worse ones fail.
        old = function("k", **{**usual, "warps": now["warps"] + 8, "spill_loads": 12})
        found, message = self.ratchet(old, PLAIN, "--fail-on", "spills,warps", status=1)
        check(found["k"].items() >= old.items() and "0 tightened, 1 with worse" in message, found)
        check("REGRESSION" in message, message)
        # What is better to the guard is taken over as it is.
        found, message = self.ratchet(old, PLAIN)
        check(found["k"] == now and "1 tightened, 0 with worse" in message, found)
        old = function("k", **{**usual, "warps": now["warps"] + 8})
        found, message = self.ratchet(old, PLAIN, status=1)
        check(found["k"].items() >= old.items() and "0 tightened, 1 with worse" in message, found)
        # Within a tolerance they do not fail, but do not add up either.
        old = function("k", **{**usual, "instructions": now["instructions"] - 1, "registers": 1})
        found, message = self.ratchet(old, PLAIN, "--fail-on", "sass:5")
        check(found["k"].items() >= old.items() and "0 tightened, 1 with worse" in message, "what is not named stays too")
        found, _ = self.ratchet(old, PLAIN, "--fail-on", "sass,missing", status=1)
        check(found["gone"]["registers"] == 32, "missing stays")
        # A kernel that is not in the old one joins it.
        found, _ = self.ratchet(function("k", **usual), module(kernel("k"), kernel("new")))
        check(found.keys() == {"k", "new"}, found.keys())

    def test_ratchet_cannot(self):
        self.ptxas()
        source, out = self.write("k.ptx", PLAIN), self.write("out.json", "kept")
        for old in ("nowhere.json", self.write("bad.json", "{}"), source, self.write("other.json", Side().unit("x.ptx", function("x")))):
            self.run("baseline", source, "-o", out, "--ratchet", old, status=2)
            check(out.read_text() == "kept", f"{old}: written")
        old = self.write("old.json", Side("V11.8.89").unit("k.ptx", function("k", warps=1)))
        check("V11.8.89" in self.run("baseline", source, "-o", out, "--ratchet", old).stderr, "another ptxas")
