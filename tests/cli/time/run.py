#!/usr/bin/env python3
"""ptxopt time: what it says of kernels whose bottleneck is known, in both formats; profiles; wrong input.

  tests/cli/time/run.py --tool PATH

77 without a ptxas.
"""
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/lib"))
import command_tests  # noqa: E402
from toolkit import find_ptxas  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def loop(body, before="", after=""):
    """A kernel whose only loop has this body and runs k_n iterations; %f1 is stored after it, at %rd2."""
    return HEAD + f""".file 1 "k.cu"
.visible .entry k(.param .u64 k_p, .param .u32 k_n) .maxntid 256, 1, 1 {{
  .reg .b64 %rd<9>; .reg .f32 %f<99>; .reg .b32 %r<9>; .reg .pred %p<9>;
  ld.param.u64 %rd1, [k_p];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 16;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.f32 %f1, [%rd2];
  ld.param.u32 %r2, [k_n];
  {before}
  .loc 1 77 0
L:
  .pragma "nounroll";
  {body}
  add.s32 %r2, %r2, -1;
  setp.ne.s32 %p1, %r2, 0;
  @%p1 bra L;
  {after}
  st.global.f32 [%rd2], %f1;
  ret;
}}
"""


CHAIN = "\n".join("fma.rn.f32 %f1, %f1, %f1, %f1;" for _ in range(16))
REGISTERS = range(2, 50)
STREAMS = {"body": "\n".join(f"fma.rn.f32 %f{i}, %f{i}, %f1, %f{i};" for i in REGISTERS),
           "before": "\n".join(f"ld.global.f32 %f{i}, [%rd2+{4 * i}];" for i in REGISTERS),
           "after": "\n".join(f"add.f32 %f1, %f1, %f{i};" for i in REGISTERS)}
COPY = """ld.global.v4.f32 {%f10, %f11, %f12, %f13}, [%rd2];
  st.global.v4.f32 [%rd2+65536], {%f10, %f11, %f12, %f13};
  add.s64 %rd2, %rd2, 131072;"""


class Time(command_tests.CommandTests):
    PARTS = ("bottlenecks", "known_iterations", "iterations_and_profile", "bodies", "lines_and_cubins", "wrong_input")

    def __init__(self, folder, tool):
        super().__init__("time", tool, folder)
        self.ptxas = find_ptxas()

    def said(self, *words):
        done = self.run(*words)
        return done.returncode, done.stdout, done.stderr

    def json(self, *words):
        code, out, err = self.said("time", *words, "--format", "json")
        self.check(code == 0, words, err)
        document = json.loads(out) if code == 0 else {"functions": []}
        if jsonschema and code == 0:
            schema = json.loads((ROOT / "schemas/time.schema.json").read_text())
            wrong = [e.message for e in jsonschema.Draft202012Validator(schema).iter_errors(document)]
            self.check(not wrong, words, "is what the schema says:", wrong[:3])
        return document

    def only_loop(self, document):
        loops = [r for r in document["functions"][0]["regions"] if r["loop"]]
        self.check(len(loops) == 1, "one loop:", len(loops))
        return loops[0]

    def bottlenecks(self):
        # A chain of one warp for each scheduler waits for itself; many warps share the unit.
        chain = self.write("chain.ptx", loop(CHAIN))
        for arch in ("sm_80", "sm_90"):
            document = self.json(chain, "--arch", arch)
            self.check(document["functions"][0]["warps"] > 8, "warps", document)
            r = self.only_loop(document)
            self.check(r["scenarios"]["l1"]["latency"] >= 16 * 4, "a chain of 16 takes at least 64 cycles", r)
            self.check(r["scenarios"]["l1"]["bottleneck"] != "latency", "warps hide it", r)
        streams = self.only_loop(self.json(self.write("streams.ptx", loop(**STREAMS))))
        self.check(streams["units"].get("FMA", 0) >= 2 * len(REGISTERS), "FMA of sm_80 is half as wide as a warp", streams)
        self.check(streams["scenarios"]["l1"]["bottleneck"].startswith("FMA"), "FMA is what limits it", streams)
        copy = self.only_loop(self.json(self.write("copy.ptx", loop(COPY))))
        self.check(copy["bytes"] == 2 * 32 * 16, "bytes of a copy", copy)
        self.check(copy["scenarios"]["dram"]["bottleneck"] == "DRAM bandwidth", copy)
        cycles = [copy["scenarios"][s]["cycles"] for s in ("l1", "l2", "dram")]
        self.check(cycles == sorted(cycles) and cycles[0] < cycles[2], "the farther the slower:", cycles)

    def known_iterations(self):
        for count, pragma, iterations in ((1000, '.pragma "nounroll";', 1000), (1, '.pragma "nounroll";', None), (100000, "", None)):
            text = loop(COPY).replace("ld.param.u32 %r2, [k_n];", f"mov.u32 %r2, {count};").replace('.pragma "nounroll";', pragma)
            document = self.json(self.write("known.ptx", text))
            loops = [r for r in document["functions"][0]["regions"] if r["loop"]]
            self.check(all(r["iterations-from"] == "known" for r in loops), count, "iterations are known", loops)
            self.check(iterations is None or loops[0]["iterations"] == iterations, count, "iterations:", loops)
            moved = sum(r["iterations"] * r["bytes"] for r in document["functions"][0]["regions"])
            self.check(.99 <= moved / (count * 1024 + 256) <= 1.01, count, "iterations move", moved, "bytes, however they are unrolled")
        nested = loop(COPY, before="mov.u32 %r5, 12;\nO: mov.u32 %r2, 7;", after="add.s32 %r5, %r5, -1;\nsetp.ne.s32 %p2, %r5, 0;\n@%p2 bra O;")
        iterations = [r["iterations"] for r in self.json(self.write("nested.ptx", nested))["functions"][0]["regions"]]
        self.check(iterations == [1, 12, 84], "a loop in a loop:", iterations)
        # The test comes first, and the loop is left in the middle for all that is known.
        first = loop(COPY, before="mov.u32 %r5, 0;\nF:\n.pragma \"nounroll\";\nsetp.ge.u32 %p3, %r5, 70;\n@%p3 bra L;\nst.global.u32 [%rd2+8], %r5;\n"
                                  "add.u32 %r5, %r5, 1;\nbra.uni F;")
        found = [(r["iterations"], r["iterations-from"]) for r in self.json(self.write("first.ptx", first))["functions"][0]["regions"] if r["loop"]]
        self.check(found == [(70, "known"), (8, "assumed")], "a test at the beginning:", found)
        given = self.only_loop(self.json("known.ptx", "--iterations", "5"))
        self.check((given["iterations"], given["iterations-from"]) == (5, "given"), "--iterations comes before:", given["iterations"])
        code, out, _ = self.said("time", "first.ptx")
        self.check(code == 0 and " 70  known " in out and " 8  assumed " in out, out)

    def iterations_and_profile(self):
        kernel = self.write("iterations.ptx", loop(CHAIN))
        assumed = self.only_loop(self.json(kernel))
        self.check((assumed["iterations"], assumed["iterations-from"]) == (8, "assumed"), "eight iterations are assumed")
        self.check(self.only_loop(self.json(kernel, "--iterations", "50"))["iterations"] == 50, "--iterations")
        code, _, err = self.said("run", kernel, "--grid", "1", "--block", "64", "--arg", "buf:f32:4096:iota", "u32:100", "--profile=p.json")
        self.check(code == 0, "run --profile", err)
        profiled = self.json(kernel, "--profile", "p.json")
        self.check(self.only_loop(profiled)["iterations"] == 100, "the profile says 100")
        self.check(self.only_loop(profiled)["iterations-from"] == "profiled", "and that it does")
        whole = profiled["functions"][0]["cycles"]["l1"]
        self.check(whole > 10 * self.json(kernel)["functions"][0]["cycles"]["l1"], "which is what the whole costs")
        # 20 for which ptxas unrolls: fewer iterations of machine code, but as much work.
        unrolled = self.write("unrolled.ptx", loop(COPY).replace('.pragma "nounroll";', '.pragma "unroll 4";'))
        code, _, err = self.said("run", unrolled, "--grid", "1", "--block", "32", "--arg", "buf:f32:4000000:iota", "u32:64", "--profile=u.json")
        self.check(code == 0, "run --profile", err)
        document = self.json(unrolled, "--profile", "u.json")
        moved = sum(r["iterations"] * r["bytes"] for r in document["functions"][0]["regions"] if r["loop"])
        self.check(0.9 * 64 * 1024 <= moved <= 1.1 * 64 * 1024, "bytes that a warp moves in 64 iterations:", moved)
        # One warp of two, and in that one iteration of four, comes to the chain.
        seldom = self.write("seldom.ptx", loop(f"""and.b32 %r3, %r2, 3;
  shr.u32 %r4, %r1, 5;
  or.b32 %r3, %r3, %r4;
  setp.ne.s32 %p2, %r3, 0;
  @%p2 bra E;
  {CHAIN * 8}
  bra.uni J;
E:
  add.f32 %f1, %f1, 0f3F800000;
J:"""))
        code, _, err = self.said("run", seldom, "--grid", "1", "--block", "64", "--arg", "buf:f32:4096:iota", "u32:100", "--profile=q.json")
        self.check(code == 0, "run --profile", err)
        executed = self.only_loop(self.json(seldom, "--profile", "q.json"))["instructions"]
        self.check(16 <= executed <= 16 + 14, "an eighth of 128 instructions, and the others:", executed)
        self.check(self.only_loop(self.json(seldom))["instructions"] > 64, "half of them without a profile")
        # A loop that is not entered, after one that is hot.
        skipped = self.write("skipped.ptx", loop(CHAIN, after="""setp.eq.s32 %p2, %r1, 12345;
  @!%p2 bra D;
  mov.u32 %r3, 99;
S:
  .pragma "nounroll";
  mul.f32 %f1, %f1, %f1;
  add.s32 %r3, %r3, -1;
  setp.ne.s32 %p3, %r3, 0;
  @%p3 bra S;
D:"""))
        code, _, err = self.said("run", skipped, "--grid", "1", "--block", "64", "--arg", "buf:f32:4096:iota", "u32:100", "--profile=s.json")
        self.check(code == 0, "run --profile", err)
        iterations = [r["iterations"] for r in self.json(skipped, "--profile", "s.json")["functions"][0]["regions"] if r["loop"]]
        self.check(iterations == [100, 0], "100 iterations of the one, none of the other:", iterations)

    def bodies(self):
        # Launches with n == 100 run the second body; its label says which loop it is a copy of.
        special = loop(CHAIN[:CHAIN.index("\n")]).split("  mov.u32 %r1, %tid.x;")[1]
        special = "  mov.u32 %r1, %tid.x;" + special.replace("L:", "made_L9_of_L:").replace("bra L;", "bra made_L9_of_L;")
        test = "ld.param.u32 %r5, [k_n];\n  xor.b32 %r6, %r5, 100;\n  setp.eq.s32 %p5, %r6, 0;\n  @%p5 bra.uni made_L8;\n  "
        entry = "  ld.param.u64 %rd1, [k_p];\n  cvta.to.global.u64 %rd2, %rd1;\n"
        text = loop(CHAIN).replace(entry, "  " + test + entry).replace("  ret;\n}\n", "  ret;\nmade_L8:\n" + entry + special)
        kernel = self.write("bodies.ptx", text)

        def launches(n, time):
            return {"launches": 1, "time": time, "block": [64, 1, 1], "grid": [{"value": 1}] * 3, "written": [0], "overlapping": [],
                    "parts": [{"parameter": 0, "offset": 0, "bytes": 8, "align": 256}, {"parameter": 1, "offset": 0, "bytes": 4, "value": n}]}

        profile = {"format": "ptxopt-profile", "version": 1, "unit": "instructions", "kernels": [
            {"kernel": "k", "digest": "0", "parameters": [8, 4], "launches": 2, "time": 100, "classes": [launches(100, 75), launches(60, 25)],
             "loops": [{"label": "L", "index": 0, "entries": 10, "iterations": 900}]}]}
        self.write("launches.json", json.dumps(profile))
        for options, shares, said, iterations in (((), [.5, .5], "assumed", 8), (("--profile", "launches.json"), [.75, .25], "profiled", 90)):
            f = self.json(kernel, *options)["functions"][0]
            bodies = f.get("bodies", [])
            self.check([b["share"] for b in bodies] == shares and all(b["share-from"] == said for b in bodies), options, "shares:", bodies)
            if len(bodies) != 2:
                continue
            self.check(bodies[0]["first-line"] > bodies[1]["last-line"], "the body for all others comes last", bodies)
            for level in ("l1", "l2", "dram"):
                one, other = (b["cycles"][level] for b in bodies)
                self.check(one < other, "a body with less to do costs less", bodies)
                self.check(abs(shares[0] * one + shares[1] * other - f["cycles"][level]) < .1, "all launches are weighed", f["cycles"], bodies)
            found = [(r["iterations"], r["iterations-from"]) for r in f["regions"] if r["loop"]]
            self.check(found == [(iterations * shares[1], said), (iterations * shares[0], said)], options, "iterations of both loops:", found)
        code, out, _ = self.said("time", kernel, "--profile", "launches.json")
        self.check(code == 0 and " 75%  profiled " in out and " 25%  profiled " in out and "all launches" in out, out)
        # A label that says nothing is tied to no loop.
        self.write("renamed.ptx", text.replace("made_L9_of_L", "M"))
        found = [r["iterations-from"] for r in self.json("renamed.ptx", "--profile", "launches.json")["functions"][0]["regions"] if r["loop"]]
        self.check(found == ["profiled", "assumed"], "a loop that is not tied:", found)

        # Three bodies, of which the second test is come to where the first does not hold.
        second = test.replace("%r6, %r5, 100", "%r7, %r5, 60").replace("%r6", "%r7").replace("%p5", "%p6").replace("made_L8", "made_L18")
        three = text.replace(entry, "  " + second + entry, 1).replace("  ret;\n}\n", "  ret;\nmade_L18:\n" + entry + special.replace("L9", "L19"))
        profile["kernels"][0]["classes"] = [launches(100, 75), launches(60, 20), launches(7, 5)]
        self.write("launches.json", json.dumps(profile))
        f = self.json(self.write("three.ptx", three), "--profile", "launches.json")["functions"][0]
        self.check([round(b["share"], 3) for b in f.get("bodies", [])] == [.75, .2, .05], "shares of three:", f.get("bodies"))
        found = sorted(r["iterations"] for r in f["regions"] if r["loop"])
        self.check(found == [4.5, 18, 67.5], "iterations of three:", found)
        # Two versions of a loop: with fewer accesses where arrays are apart. One that was never entered is not come to.
        load = "ld.volatile.global.f32 %f2, [%rd2];\nfma.rn.f32 %f1, %f1, %f2, %f1;\n"
        fast = f"""setp.gt.u32 %p6, %r2, 4;
  @!%p6 bra L;
made_L9_of_L:
  .pragma "nounroll";
  {load}
  add.s32 %r2, %r2, -1;
  setp.ne.s32 %p7, %r2, 0;
  @%p7 bra made_L9_of_L;
  bra.uni D;"""
        versions = self.write("versions.ptx", loop(load + "ld.volatile.global.f32 %f3, [%rd2+4];\n", before=fast, after="D:"))
        for overlapping, entries, expected in (([], 10, [90, 0]), ([[0, 1]], 10, [45, 45]), ([[0, 1]], 0, [0, 0])):
            kernel = profile["kernels"][0]
            kernel["classes"] = [{**launches(100, 75), "overlapping": overlapping}]
            kernel["loops"] = [{"label": "L", "index": 0, "entries": entries, "iterations": 90 * entries}]
            self.write("versions.json", json.dumps(profile))
            found = [r["iterations"] for r in self.json(versions, "--profile", "versions.json")["functions"][0]["regions"] if r["loop"]]
            self.check(found == expected, overlapping, entries, "versions:", found)

    def lines_and_cubins(self):
        kernel = self.write("lines.ptx", loop("ld.global.f32 %f3, [%rd2+16];\nadd.f32 %f1, %f1, %f3;\nadd.s64 %rd2, %rd2, 64;"))
        document = self.json(kernel, "--code")
        rows = self.only_loop(document)["code"]
        loads = [r for r in rows if r["opcode"] == "LDG"]
        line = next(n for n, text in enumerate((self.folder / kernel).read_text().split("\n"), 1) if "+16]" in text)
        self.check([r["ptx"]["line"] for r in loads] == [line], "the load leads back to its line", loads)
        self.check(loads[0]["ptx"].get("source") == {"file": "k.cu", "line": 77}, "and to the source", loads)
        waits = [r["waits"] for r in rows if r["opcode"] == "FADD"]
        self.check(len(waits) == 1 and [w["for"] for w in waits[0].values()] == [loads[0]["at"]] * 3, "the addition waits for the load", rows)
        self.check(waits[0]["dram"]["cycles"] > waits[0]["l2"]["cycles"] > waits[0]["l1"]["cycles"], "for longer if it is far", waits)
        subprocess.run([self.ptxas, "-arch=sm_80", "lines.ptx", "-o", "lines.cubin"], cwd=self.folder, check=True)
        cubin = self.json("lines.cubin")
        self.check(cubin["functions"][0]["cycles"] == document["functions"][0]["cycles"], "a cubin costs what its PTX costs")
        code, out, _ = self.said("time", "lines.ptx", "--path", "--code")
        self.check(code == 0 and "critical path" in out and f"line {line}" in out and "LDG" in out, out)
        few = self.json("lines.cubin", "--threads", "32")
        self.check(few["functions"][0]["warps"] == cubin["functions"][0]["warps"], "--threads says nothing of a kernel that does")

        # What is only taken as relocatable code: it calls a function of another file.
        call = ".extern .func outside;\n" + loop(CHAIN, before="call.uni outside;").removeprefix(HEAD)
        self.only_loop(self.json(self.write("relocatable.ptx", HEAD + call)))
        # The report says the same of it, and has a page for a text without code.
        self.write("nothing.ptx", HEAD)
        for name, shown in (("relocatable", True), ("nothing", False)):
            code, _, err = self.said("report", f"{name}.ptx", "-o", "page.html")
            page = (self.folder / "page.html").read_text() if code == 0 else ""
            self.check(code == 0 and ('"outside of loops"' in page) == shown, name, "has modelled time:", not shown, err)

    def wrong_input(self):
        kernel = self.write("ok.ptx", loop(CHAIN))
        self.write("bad.ptx", HEAD + ".visible .entry k() { nonsense; }")
        self.write("bad.cubin", "\x7fELF rest")
        self.write("p.json", "[1]")
        for words, message in [
                (("missing.ptx",), "missing.ptx"), (("bad.ptx",), "bad.ptx"), (("bad.cubin",), "not a cubin"),
                ((kernel, "--kernel", "none"), "no function 'none'"), ((kernel, "--arch", "gfx90a"), "gfx90a"),
                ((kernel, "--profile", "p.json"), "not a profile"), ((kernel, "--profile", "no.json"), "no.json"),
                ((kernel, "--iterations", "0"), "--iterations"), ((kernel, "--threads", "2000"), "--threads"),
                ((kernel, "--format", "xml"), "--format"), ((kernel, "--ptxas", "/nowhere/ptxas"), "/nowhere/ptxas"),
                ((kernel, "--frobnicate"), "--frobnicate"), ((), "INPUT")]:
            code, out, err = self.said("time", *words)
            self.check(code == 2 and not out and message in err, words, code, err)
        code, _, err = self.said("time", kernel, "-o", "no/such/folder.txt")
        self.check(code == 2 and "no/such" in err, "an output that cannot be written", err)
        code, out, err = self.said("time", kernel, "-o", "out.txt")
        self.check(code == 0 and not out and "loop at" in (self.folder / "out.txt").read_text(), "-o", err)


def main():
    if not find_ptxas():
        print("skipped: time needs ptxas")
        return 77
    if jsonschema is None:
        print("no schema was checked: there is no python3-jsonschema")
    return command_tests.main(__doc__, Time)


if __name__ == "__main__":
    sys.exit(main())
