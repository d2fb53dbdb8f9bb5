#!/usr/bin/env python3
"""ptxopt extract: modules and kernels as files, listings, what is there already, and modules put back.

  tests/cli/extract/run.py --tool PATH [NAME...]

Containers are made by hand; what needs a ptxas is left out where there is none.
"""
import argparse
import inspect
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import machine_code  # noqa: E402
from checking import Skipped, check  # noqa: E402
from containers import CODE, PTX, archive, elf, fat  # noqa: E402

HEAD = ".version 8.0\n.target {}\n.address_size 64\n"
BODY = "(.param .u64 p)\n{\n\t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [p];\n\tst.global.u32 [%rd1], NUMBER;\n\tret;\n}\n"
FUNCTION = ".func helper()\n{\n\tret;\n}\n.func other()\n{\n\tret;\n}\n"
CALLS = ".visible .entry calls()\n{\n\tcall helper;\n\tret;\n}\n"


def kernel(name, number=1):
    return f".visible .entry {name}{BODY}".replace("NUMBER", str(number))


def module(*parts, target="sm_80"):
    return HEAD.format(target) + "".join(parts)


class Tests:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder

    def write(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def run(self, *arguments, status=0):
        run = subprocess.run([self.tool, "extract", *map(str, arguments)], capture_output=True, text=True, timeout=60)
        check(run.returncode == status, f"exit status {run.returncode} instead of {status}\n{run.stdout}{run.stderr}")
        return run

    def files(self, folder):
        return {p.name: p.read_text() for p in sorted((self.folder / folder).iterdir())}

    def cubin(self, text):
        program = machine_code.find_ptxas()
        if not program:
            raise Skipped("there is no ptxas")
        subprocess.run([program, "-arch=sm_80", self.write("c.ptx", text), "-o", self.folder / "c.cubin"], check=True, timeout=60)
        return (self.folder / "c.cubin").read_bytes()

    def built(self, text):
        return elf({".nv_fatbin": fat((PTX, 80, text.encode()))})

    def test_folder(self):
        """A build folder: what each file has is in a folder of its name; again, nothing changes."""
        texts = [module(kernel(name)) for name in ("a", "b", "c")]
        self.write("build/app", self.built(texts[0]))
        self.write("build/lib/libops.a", archive([("x.o", self.built(texts[1])), ("y.o", self.built(texts[2]))]))
        self.write("build/notes.txt", "no built file")
        self.write("build/k.ptx", texts[0])
        out = self.folder / "build/modules"
        wanted = {"app/app.1.sm_80.ptx": texts[0], "lib/libops.a/x.o.1.sm_80.ptx": texts[1], "lib/libops.a/y.o.2.sm_80.ptx": texts[2]}
        for _ in range(2):
            said = self.run(self.folder / "build", "-o", out).stderr
            check("3 files with 3 kernels" in said, said)
            found = {str(p.relative_to(out)): p.read_text() for p in out.rglob("*") if p.is_file()}
            check(found == wanted, sorted(found))
        check("3 of these were there" in said, said)
        listed = json.loads(self.run(self.folder / "build", "--list", "--format", "json").stdout)["modules"]
        check([m["file"] for m in listed if not m["from"].startswith("modules")] == sorted(wanted), listed)
        check({m["from"] for m in listed} == {"app", "lib/libops.a"}, listed)
        one = self.folder / "one"
        self.run(self.folder / "build", "-o", one, "--kernel", "b")
        check([str(p.relative_to(one)) for p in one.rglob("*") if p.is_file()] == ["lib/libops.a/x.o.1.b.sm_80.ptx"], "one kernel")
        check("no kernel 'z'" in self.run(self.folder / "build", "-o", one, "--kernel", "z", status=2).stderr, "no such kernel")
        check("--replace" in self.run(self.folder / "build", "--replace", one, "-o", one, status=2).stderr, "--replace")
        # A broken file does not keep the others.
        self.write("build/broken.o", self.built(texts[0])[:-20])
        said = self.run(self.folder / "build", "-o", self.folder / "rest", status=2).stderr
        check("error: " in said and "broken.o" in said and "3 files with 3 kernels" in said, said)
        (self.folder / "none").mkdir()
        check("no device code" in self.run(self.folder / "none", "-o", one, status=2).stderr, "an empty folder")

    def test_modules(self):
        """Each module of each kind of file is written as it was, and once more changes nothing."""
        one, two = module(kernel("a"), kernel("b")), module(kernel("a"), target="sm_90")
        data = fat((PTX, 80, one.encode())) + bytes(8) + fat((PTX, 90, two.encode()))
        for name, content in (("app", elf({".nv_fatbin": data})), ("x.fatbin", data)):
            out = self.run(self.write(name, content), "-o", self.folder / f"out.{name}")
            check(self.files(f"out.{name}") == {f"{name}.1.sm_80.ptx": one, f"{name}.2.sm_90.ptx": two}, self.files(f"out.{name}"))
            check("2 files with 3 kernels" in out.stderr, out.stderr)
            again = self.run(self.folder / name, "-o", self.folder / f"out.{name}")
            check("2 of these were there as they are" in again.stderr, again.stderr)
        members = archive([("m.o", elf({".nv_fatbin": fat((PTX, 80, one.encode()))}, 1)),
                           ("m.o", elf({"__nv_relfatbin": fat((PTX, 80, two.encode()))}, 1))])
        self.run(self.write("l.a", members), "-o", self.folder / "out.a")
        check(list(self.files("out.a")) == ["m.o.1.sm_80.ptx", "m.o_2.2.sm_90.ptx"], self.files("out.a"))

    def test_machine_code(self):
        code = self.cubin(module(kernel("a")))
        app = self.write("app", elf({".nv_fatbin": fat((CODE, 80, code), (PTX, 80, module(kernel("a")).encode()))}))
        self.run(app, "-o", self.folder / "out")
        check((self.folder / "out/app.1.sm_80.cubin").read_bytes().rstrip(b"\0") == code.rstrip(b"\0"), "other code")
        self.run(app, "-o", self.folder / "ptx", "--only", "ptx")
        check(list(self.files("ptx")) == ["app.1.sm_80.ptx"], "machine code too")
        listed = json.loads(self.run(app, "--list", "--format", "json").stdout)["modules"]
        check([(m["kind"], m["architecture"], m["kernels"]) for m in listed] ==
              [("machine-code", "sm_80", ["a"]), ("ptx", "sm_80", ["a"])], listed)

    def test_kernels(self):
        """A kernel comes with what it reaches, and nothing else; ptxas takes it."""
        text = module(FUNCTION, CALLS, kernel("_Z3addIiEvPT_S0_"))
        app = self.write("app", elf({".nv_fatbin": fat((PTX, 80, text.encode()))}))
        self.run(app, "-o", self.folder / "split", "--split")
        split = self.files("split")
        check(list(split) == ["app.1._Z3addIiEvPT_S0_.sm_80.ptx", "app.1.calls.sm_80.ptx"], list(split))
        calls = split["app.1.calls.sm_80.ptx"]
        check("helper()" in calls and "other" not in calls and "_Z3add" not in calls, calls)
        check("helper" not in split["app.1._Z3addIiEvPT_S0_.sm_80.ptx"], split)
        for n, name in enumerate(("_Z3addIiEvPT_S0_", "void add<int>(int*, int)", "add<int>(int*, int)", "add")):
            self.run(app, "-o", self.folder / f"one{n}", "--kernel", name)
            check(list(self.files(f"one{n}")) == ["app.1._Z3addIiEvPT_S0_.sm_80.ptx"], name)
        check("is calls meant?" in self.run(app, "-o", self.folder / "none", "--kernel", "call", status=2).stderr, "no hint")
        check(not (self.folder / "none").exists(), "a folder for nothing")
        if program := machine_code.find_ptxas():
            for path in (self.folder / "split").iterdir():
                subprocess.run([program, "-arch=sm_80", path, "-o", "/dev/null"], check=True, timeout=60)

    def test_whole_where_an_address_is_taken(self):
        table = ".global .u64 table[1] = {helper};\n"
        text = module(FUNCTION, table, kernel("a"), kernel("b"))
        out = self.run(self.write("app", elf({".nv_fatbin": fat((PTX, 80, text.encode()))})), "-o", self.folder / "out", "--split")
        check("it takes the address of a function" in out.stderr, out.stderr)
        check(set(self.files("out").values()) == {text}, "it was cut")

    def test_nothing_is_overwritten(self):
        """A file with other contents is an error before anything is written."""
        app = self.write("app", fat((PTX, 80, module(kernel("a")).encode())) + fat((PTX, 80, module(kernel("b")).encode())))
        theirs = self.write("out/app.2.sm_80.ptx", "mine")
        check("--overwrite" in self.run(app, "-o", self.folder / "out", status=2).stderr, "no hint")
        check(self.files("out") == {"app.2.sm_80.ptx": "mine"}, self.files("out"))
        self.run(app, "-o", self.folder / "out", "--overwrite")
        check("entry b" in theirs.read_text(), theirs.read_text())
        check("is not a folder" in self.run(app, "-o", app, status=2).stderr, "the input was written over")

    def test_errors(self):
        check("-o says where" in self.run(self.write("e", elf({".nv_fatbin": fat()})), status=2).stderr, "-o")
        check("there is no device code" in self.run(self.folder / "e", "--list", status=2).stderr, "empty")
        check("is not a program" in self.run(self.write("t.ptx", module(kernel("a"))), "--list", status=2).stderr, "PTX")
        data = elf({".nv_fatbin": fat((PTX, 80, module(kernel("a")).encode()))})
        check("standard output" in self.run(self.write("d", data), "-o", "-", status=2).stderr, "a folder called -")
        check("at byte" in self.run(self.write("cut", data[:300]), "--list", status=2).stderr, "cut")
        odd = self.write("odd", fat((PTX, 80, b"this is no PTX")))
        self.run(odd, "-o", self.folder / "odd.out", "--split")
        check(self.files("odd.out") == {"odd.1.sm_80.ptx": "this is no PTX"}, self.files("odd.out"))
        chance = random.Random(1)
        for n in range(40):
            bad = bytearray(data)
            for _ in range(3):
                bad[chance.randrange(len(bad))] = chance.randrange(256)
            run = subprocess.run([self.tool, "extract", self.write("bad", bytes(bad)), "-o", self.folder / f"bad{n}"], capture_output=True)
            check(run.returncode in (0, 2), run.returncode, run.stderr)

    def replace(self, app, out, status=0):
        return self.run(app, "--replace", self.folder / "new", "-o", self.folder / out, status=status)

    def test_replace(self):
        """What is put back is there again, the other bytes are as before, and the file stays executable."""
        old, other = module(kernel("a", 11111111)), module(kernel("b"))
        app = self.write("app", elf({".nv_fatbin": fat((PTX, 80, old.encode())) + fat((PTX, 80, other.encode())), ".text": b"after"}))
        app.chmod(0o755)
        self.run(app, "-o", self.folder / "new")
        new = self.write("new/app.1.sm_80.ptx", old.replace("11111111", "2"))
        out = self.replace(app, "app2")
        check("1 of 2 modules replaced" in out.stderr, out.stderr)
        made = self.folder / "app2"
        check(made.stat().st_mode & 0o777 == 0o755 and len(made.read_bytes()) == len(app.read_bytes()), "mode or size")
        # Another name of the input would be another name of modules.
        (self.folder / "again").mkdir()
        made.rename(self.folder / "again/app")
        self.run(self.folder / "again/app", "-o", self.folder / "back")
        check(self.files("back") == {"app.1.sm_80.ptx": new.read_text(), "app.2.sm_80.ptx": other}, self.files("back"))
        check("app2" in self.run(app, "--replace", new, "-o", self.write("app2", "mine"), status=2).stderr, "overwritten")
        check((self.folder / "app2").read_text() == "mine", "overwritten")
        check("are one file" in self.run(app, "--replace", new, "-o", app, "--overwrite", status=2).stderr, "the input was replaced")

    def test_replace_by_more(self):
        """What is longer is compressed; what then does not fit is an error, but a fat binary grows."""
        old = module(kernel("a")) + "// some\n" * 20
        chance = random.Random(1)
        packs, grows = old + "// the same\n" * 100, old + "".join(f"// {chance.random()}\n" for _ in range(400))
        for name, data in (("app", elf({".nv_fatbin": fat((PTX, 80, old.encode())), ".text": b"after"})), ("f", fat((PTX, 80, old.encode())))):
            app = self.write(name, data)
            for n, text in enumerate((packs, grows)):
                self.write(f"new/{name}.1.sm_80.ptx", text)
                fits = name == "f" or n == 0
                out = self.replace(app, f"{n}/{name}", status=0 if fits else 1) if (self.folder / f"{n}").mkdir(exist_ok=True) is None else None
                if not fits:
                    check("does not fit into the place of PTX 1 for sm_80" in out.stderr and "bytes" in out.stderr, out.stderr)
                    check(not (self.folder / f"{n}/{name}").exists(), "something was written")
                    continue
                self.run(self.folder / f"{n}/{name}", "-o", self.folder / f"back{n}{name}")
                check(self.files(f"back{n}{name}") == {f"{name}.1.sm_80.ptx": text}, "another text")
            (self.folder / f"new/{name}.1.sm_80.ptx").unlink()

    def test_replace_declines(self):
        app = self.write("app", elf({".nv_fatbin": fat((PTX, 80, module(kernel("a"), kernel("b")).encode()))}))
        for text, why in ((module(kernel("a")), "it has no kernel 'b'"), (module(kernel("a"), kernel("b"), target="sm_90"), "it is for sm_90"),
                          ("\x7fELF", "it is not PTX"), ("nonsense", "error")):
            self.write("new/app.1.sm_80.ptx", text)
            check(why in self.replace(app, "out", status=1).stderr, why)
        self.write("new/app.7.sm_80.ptx", "x")
        check("is called like no module" in self.replace(app, "out", status=2).stderr, "an unknown file")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("names", nargs="*", help="only tests whose names contain one of these")
    args = parser.parse_args()
    counts = dict(passed=0, failed=0, skipped=0)
    with tempfile.TemporaryDirectory() as base:
        for name, _ in inspect.getmembers(Tests, inspect.isfunction):
            if not name.startswith("test_") or (args.names and not any(n in name for n in args.names)):
                continue
            folder = Path(base) / name
            folder.mkdir()
            try:
                getattr(Tests(str(Path(args.tool).resolve()), folder), name)()
                counts["passed"] += 1
            except Skipped as why:
                counts["skipped"] += 1
                print(f"{name}: skipped: {why}")
            except Exception as why:  # a test that ends in any other way has failed too
                counts["failed"] += 1
                print(f"{name}: {type(why).__name__}: {why}")
    print("extract: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
