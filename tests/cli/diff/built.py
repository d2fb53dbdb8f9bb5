"""Built files: programs, libraries, objects, fat binaries, made by hand and by nvcc."""
import random
import shutil
import subprocess
import sys

from files import PLAIN, Files, kernel, module
from support import ROOT, Skipped, check

sys.path.insert(0, str(ROOT / "tests" / "lib"))
from containers import CODE, PTX, archive, elf, fat  # noqa: E402

SOURCE = """
template <class T> __global__ void add(T* a, T b) { a[threadIdx.x] += b; }
template __global__ void add<int>(int*, int);
extern "C" __global__ void NAME(float* p, int n) { float s = 0; for (int i = 0; i < n; ++i) s += p[i]; p[0] = s; }
"""


class Built(Files):
    def code(self, text, architecture="sm_80"):
        return self.cubin("made.cubin", text, architecture).read_bytes()

    def test_built_kinds(self):
        """One kernel in each kind of file is the kernel of the cubin."""
        cubin = self.write("k.cubin", self.code(PLAIN))
        one = fat((CODE, 80, cubin.read_bytes()))
        kinds = {"fatbin": one, "so": elf({".text": b"x", ".nv_fatbin": one + bytes(16) + fat()}, 3),
                 "o": elf({"__nv_relfatbin": one}, 1), "a": archive([("a name of more than 15.o", elf({".nv_fatbin": one}, 1))])}
        for suffix, data in kinds.items():
            result = self.diff(cubin, self.write(f"k.{suffix}", data))
            row = result.row("k")
            check(row["change"] == "same" and row["same-code"] is True, suffix, row)
            check(len(result["functions"]) == 1, result["functions"])

    def test_built_ptx_where_there_is_no_code(self):
        """PTX of an architecture that has machine code is not what runs; PTX of another is assembled."""
        other = module(kernel("k", 8), target="sm_80").encode()
        both = self.write("both.so", elf({".nv_fatbin": fat((CODE, 80, self.code(PLAIN)), (PTX, 80, other))}))
        check(self.diff(both, self.write("k.cubin", self.code(PLAIN))).row("k")["same-code"] is True, "the PTX was measured")
        late = self.write("late.so", elf({".nv_fatbin": fat((CODE, 80, self.code(PLAIN)), (PTX, 90, PLAIN.replace("sm_80", "sm_90").encode()))}))
        for options, wanted in (([], "sm_80"), (["--arch", "sm_80"], "sm_80"), (["--only", "machine-code"], "sm_80"), (["--only", "ptx"], "sm_90"),
                                (["--arch", "sm_80,sm_90"], "sm_80 sm_90"), (["--arch", "sm_90"], "sm_90")):
            result = self.diff(late, late, *options)
            found = {f["architecture"] for f in result["functions"]}
            check(found == set(wanted.split()), options, found)
            check(any("the PTX of 1 module for sm_90" in note for note in result["notes"]) == (not options), options, result["notes"])
        plain = self.write("plain.ptx", PLAIN)
        check("there is no machine code in" in self.run("diff", late, plain, "--only", "machine-code", status=2).stderr, "PTX")

    def test_built_ptx_beside_code(self):
        """PTX for GPUs to come is not assembled where machine code can be compared: no ptxas is needed. That it differs is said."""
        def library(name, text, code=80, for_=90):
            parts = [(CODE, code, self.code(PLAIN.replace("sm_80", f"sm_{code}"), f"sm_{code}"))] if code else []
            return self.write(name, elf({".nv_fatbin": fat(*parts, (PTX, for_, text.replace("sm_80", f"sm_{for_}").encode()))}))
        a, b, code86 = library("a.so", PLAIN), library("b.so", module(kernel("k", 12))), library("c.so", PLAIN, 86)
        only = library("d.so", PLAIN, None)
        for side, differs in ((a, False), (b, True)):
            result = self.diff(a, side, "--ptxas", self.fake("none", "exit 1"))
            check([f["architecture"] for f in result["functions"]] == ["sm_80"] and result.row("k")["change"] == "same", result["functions"])
            check([n.endswith("; that of 1 differs") for n in result["notes"] if "the PTX of" in n] == [differs], result["notes"])
        # Nor for another architecture of the file, which this fat binary has no machine code for.
        two = self.write("two.so", elf({".nv_fatbin": fat((CODE, 80, self.code(PLAIN)), (PTX, 80, PLAIN.encode())) +
                                                      fat((CODE, 90, self.code(module(kernel("l", 8), target="sm_90"), "sm_90")))}))
        result = self.diff(two, two, "--ptxas", self.fake("none", "exit 1"))
        check([(f["name"], f["architecture"]) for f in result["functions"]] == [("k", "sm_80"), ("l", "sm_90")], result["functions"])
        # Where the other side has no machine code for such an architecture, PTX is what both have.
        for before, after in ((a, only), (only, a), (a, code86)):
            found = {f["architecture"] for f in self.diff(before, after)["functions"] if f["before"] and f["after"]}
            check("sm_90" in found, before, found)
        # A baseline has figures of one or the other.
        for options, wanted in (([], {"sm_80"}), (["--only", "ptx"], {"sm_90"})):
            baseline = self.folder / "baseline.json"
            self.run("baseline", a, "-o", baseline, *options)
            found = {f["architecture"] for f in self.diff(baseline, a)["functions"] if f["before"] and f["after"]}
            check(found == wanted, options, found)

    def test_built_two_toolchains(self):
        """The PTX is assembled by both, though there is machine code beside it."""
        file = self.write("k.so", elf({".nv_fatbin": fat((CODE, 80, self.code(PLAIN)), (PTX, 80, PLAIN.encode()))}))
        less = self.fake("ptxas", f"""exec {self.ptxas()} "$@" -maxrregcount=16""")
        text = self.run("diff", file, "--ptxas", self.ptxas(), "--against-ptxas", less).stdout
        check("of 1 kernel 0 worse" in text, text)

    def test_built_linked(self):
        """Of a linked program the parts of relocatable code are not what runs; of an object they are all there is."""
        parts, whole = self.code(module(kernel("k", 8))), self.code(PLAIN)
        program = self.write("p", elf({".nv_fatbin": fat((CODE, 80, whole)), "__nv_relfatbin": fat((CODE, 80, parts))}))
        check(self.diff(program, self.write("k.cubin", whole)).row("k")["same-code"] is True, "the part was measured")

    def test_built_same_name_twice(self):
        """A function of several modules is one row where they are equal; others are compared in their order."""
        a, b = self.code(PLAIN), self.code(module(kernel("k", 12)))
        def library(*codes):
            return elf({".nv_fatbin": b"".join(fat((CODE, 80, c)) for c in codes)})
        same = self.write("same.so", library(a, a))
        check(len(self.diff(same, same)["functions"]) == 1, "a row for each module")
        both, turned = self.write("ab.so", library(a, b)), self.write("ba.so", library(b, a))
        for after in (both, turned):
            changes = [f["change"] for f in self.diff(both, after)["functions"]]
            check(changes == ["same", "same"], changes)

    def test_built_folder(self):
        """Files are told by what is in them; those without device code are passed over."""
        code = self.code(PLAIN)
        for side in ("old", "new"):
            self.write(f"{side}/bin/app", elf({".nv_fatbin": fat((CODE, 80, code))}))
            self.write(f"{side}/lib.a", archive([("x.o", elf({".nv_fatbin": fat((CODE, 80, code))}, 1))]))
            self.write(f"{side}/plain.o", elf({".text": b"x"}, 1))
            self.write(f"{side}/notes.txt", "no code")
        files = [f["file"] for f in self.diff(self.folder / "old", self.folder / "new")["functions"]]
        check(files == ["bin/app", "lib.a/x.o"], files)

    def test_built_without_device_code(self):
        plain = self.write("plain.o", elf({".text": b"x"}, 1))
        check("there is no device code in" in self.run("diff", plain, plain, status=2).stderr, "no message")

    def test_built_errors(self):
        """What is cut short or broken is an error with its place, and never a crash."""
        code = self.code(PLAIN)
        whole = {"k.so": elf({".nv_fatbin": fat((CODE, 80, code))}), "k.fatbin": fat((CODE, 80, code)),
                 "k.a": archive([("x.o", elf({".nv_fatbin": fat((CODE, 80, code))}, 1))])}
        for name, data in whole.items():
            good = self.write(name, data)
            run = self.diff(self.write(f"short/{name}", data[:len(data) * 2 // 3]), good, status=2)
            check("at byte" in run["problems"][0]["message"], run["problems"])
        thin = self.write("thin.a", b"!<thin>\n")
        check("a thin archive" in self.diff(thin, thin, status=2).stderr, "thin")
        noise = self.write("noise.fatbin", bytes(range(64)))
        check("neither PTX nor a cubin" in self.diff(noise, noise, status=2).stderr, "noise was assembled")
        chance = random.Random(1)
        for name, data in list(whole.items()) * 12:
            bad = bytearray(data)
            for _ in range(4):
                bad[chance.randrange(chance.choice((64, 200, len(bad))))] = chance.randrange(256)
            run = subprocess.run([self.tool, "diff", self.write(f"bad/{name}", bytes(bad)), self.folder / name, "--arch", "sm_80"],
                                 capture_output=True, timeout=60)
            check(run.returncode in (0, 1, 2), run.returncode, run.stderr)

    def test_built_by_nvcc(self):
        """Each form that nvcc writes, compressed and not, has the kernels of the source."""
        nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
        if not nvcc:
            raise Skipped("there is no nvcc")
        for name in ("one", "two"):
            self.write(f"{name}.cu", SOURCE.replace("NAME", name))
        code = ["-gencode", "arch=compute_80,code=[sm_80,compute_80]"]
        def make(*arguments):
            subprocess.run([nvcc, *code, *arguments], check=True, cwd=self.folder, timeout=120, capture_output=True)
        make("-fatbin", "one.cu", "-o", "one.fatbin")
        make("-fatbin", "-Xfatbin=-compress-all", "one.cu", "-o", "packed.fatbin")
        make("-c", "one.cu", "-o", "one.o")
        make("-dc", "one.cu", "-o", "rdc.o")
        make("-c", "two.cu", "-o", "two.o")
        make("-shared", "-Xcompiler", "-fPIC", "one.cu", "two.cu", "-o", "both.so")
        make("-lib", "one.o", "two.o", "-o", "both.a")
        first = self.folder / "one.fatbin"
        for name in ("packed.fatbin", "one.o", "both.so"):
            changes = {f["name"]: (f["change"], f.get("same-code")) for f in self.diff(first, self.folder / name)["functions"]}
            both = {"one": ("same", True), "_Z3addIiEvPT_S0_": ("same", True)}
            check(changes.items() >= both.items() and len(changes) == 2 + (name == "both.so"), name, changes)
        changes = {f["name"] for f in self.diff(self.folder / "rdc.o", self.folder / "rdc.o")["functions"]}
        check(changes == {"one", "_Z3addIiEvPT_S0_"}, changes)
        rows = [(f["file"], f["name"]) for f in self.diff(self.folder / "both.a", self.folder / "both.a")["functions"]]
        check(sorted(rows) == [("one.o", "_Z3addIiEvPT_S0_"), ("one.o", "one"), ("two.o", "_Z3addIiEvPT_S0_"), ("two.o", "two")], rows)
