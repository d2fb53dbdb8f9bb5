#!/usr/bin/env python3
"""Profiles of launches: what ptxopt run and record write, what profile show and merge make of them, and what --profile-use
does; what is refused.

  tests/cli/profile/run.py --tool PATH
"""
import json
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/lib"))
import command_tests  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

# y[i] += x[i] * scale, n times for each thread; the loop's header is fallen into from before, or from its own end.
KERNEL = """.version 8.0
.target sm_80
.address_size 64
.file 1 "folder/sum.cu"
.visible .entry k(.param .u64 y, .param .u64 x, .param .u32 n, .param .align 4 .b8 both[8])
{
  .reg .pred %p;
  .reg .f32 %f<5>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [y];
  ld.param.u64 %rd2, [x];
  ld.param.u32 %r1, [n];
  ld.param.f32 %f1, [both+4];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  mov.u32 %r3, 0;
{LOOP}
  ret;
}
"""
BODY = """  ld.global.f32 %f2, [%rd5];
  ld.global.f32 %f3, [%rd4];
  fma.rn.f32 %f3, %f2, %f1, %f3;
  st.global.f32 [%rd4], %f3;
  add.u32 %r3, %r3, 1;
"""
BOTTOM = KERNEL.replace("{LOOP}", "$L_loop:\n  .loc 1 7 3\n" + BODY + "  setp.lt.u32 %p, %r3, %r1;\n  @%p bra $L_loop;")
# Entered in its middle; its header is its last block, which its end falls into.
ROTATED = KERNEL.replace("{LOOP}", "  bra $L_test;\n$L_body:\n" + BODY + "$L_test:\n  setp.lt.u32 %p, %r3, %r1;\n  @%p bra $L_body;")


def apart(n, name=""):
    return [f"y{name}=buf:f32:64:zero", f"x{name}=buf:f32:64:iota", f"u32:{n}", "bytes:000000000000803f"]


# Two kernels, so that the one that runs is the second; the other's parameter is a structure that holds an address.
STRUCTURE = BOTTOM.replace(".visible .entry k(", """.visible .entry s(.param .align 8 .b8 p[16])
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u32 %r1, [p];
  ld.param.u64 %rd1, [p+8];
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry k(""")

# y[i] += x[j] for all j below n, numbers of {R} and {W} bits.
SUMS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 y, .param .u64 x, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<9>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [y];
  ld.param.u64 %rd2, [x];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r2, %r3, %r4, %r2;
  mad.wide.s32 %rd3, %r2, {WRITTEN}, %rd1;
  mov.u32 %r5, 0;
$L_loop:
  mad.wide.s32 %rd4, %r5, {READ}, %rd2;
  ld.global.u{R} %r6, [%rd4];
  ld.global.u{W} %r7, [%rd3];
  add.u32 %r7, %r7, %r6;
  st.global.u{W} [%rd3], %r7;
  add.s32 %r5, %r5, 1;
  setp.lt.s32 %p, %r5, %r1;
  @%p bra $L_loop;
  ret;
}
"""


class Profiles(command_tests.CommandTests):
    def __init__(self, folder, tool):
        super().__init__("profile", tool, folder)

    PARTS = ("classes", "loops", "memory", "structures", "records", "merged", "shown", "used", "overlaps", "refused")

    def profile(self, name, kernel, *launches):
        """The profile of these launches of a text: their blocks, and the arguments of --arg."""
        self.write("k.ptx", kernel)
        words = []
        for block, arguments in launches:
            words += ["--kernel", "k", "--grid", "2", "--block", block, "--arg", *arguments]
        self.ends(0, ["run", "k.ptx", *words, "--profile-facts", name])
        return self.read(name)

    def read(self, name):
        document = json.loads((self.folder / name).read_text(encoding="utf-8"))
        if jsonschema:
            schema = json.loads((ROOT / "schemas/profile.schema.json").read_text(encoding="utf-8"))
            wrong = [e.message for e in jsonschema.Draft202012Validator(schema).iter_errors(document)]
            self.check(not wrong, name, "is what the schema says:", wrong[:3])
        return document

    def classes(self):
        found = self.profile("classes.json", BOTTOM, (32, apart(5)), (32, apart(5, "1")), (64, apart(7, "2")))
        self.check(found["unit"] == "instructions" and len(found["kernels"]) == 1, found)
        kernel = found["kernels"][0]
        self.check((kernel["kernel"], kernel["launches"], kernel["parameters"]) == ("k", 3, [8, 8, 4, 8]), kernel)
        launched = {(c["block"][0], c["launches"]): c for c in kernel["classes"]}
        self.check(sorted(launched) == [(32, 2), (64, 1)], launched)
        self.check(sum(c["time"] for c in kernel["classes"]) == kernel["time"] > 0, kernel)
        parts = [{"parameter": 0, "offset": 0, "bytes": 8, "align": 256}, {"parameter": 1, "offset": 0, "bytes": 8, "align": 256},
                 {"parameter": 2, "offset": 0, "bytes": 4, "value": 7}, {"parameter": 3, "offset": 4, "bytes": 4, "value": 0x3f800000}]
        self.check(launched[64, 1]["parts"] == parts, launched)
        self.check(launched[64, 1]["grid"] == [{"value": 2}, {"value": 1}, {"value": 1}], launched)
        again = self.profile("again.json", BOTTOM, (32, apart(5)), (32, apart(5, "1")), (64, apart(7, "2")))
        self.check(again == found, "another file of the same launches")

    def loops(self):
        """Each of 2 blocks has a warp, or two. A loop that is tested first comes to its test once more."""
        launches = (32, apart(5)), (64, apart(7, "2"))
        place = {"label": "$L_loop", "index": 0, "place": "sum.cu:7"}
        self.check(self.profile("loops.json", BOTTOM, *launches)["kernels"][0]["loops"] ==
                   [{**place, "entries": 6, "iterations": 2 * 5 + 4 * 7}], "a loop that is tested at its end")
        found = self.profile("loops.json", ROTATED, *launches)["kernels"][0]["loops"]
        self.check(found == [{"label": "$L_test", "index": 1, "entries": 6, "iterations": 2 * 6 + 4 * 8}], found)
        found = self.profile("loops.json", ROTATED, (32, apart(0)))["kernels"][0]["loops"]
        self.check(found[0]["iterations"] == found[0]["entries"] == 2, found)
        self.write("plain.ptx", ROTATED)
        words = ["--grid", "2", "--block", "64", "--dump", "y", "--arg", *apart(9)]
        plain, counted = (self.ends(0, ["run", "plain.ptx", *words, *more]).stdout for more in ([], ["--profile-facts", "p.json"]))
        self.check(plain == counted, "counting changes what is computed")
        for watched in ["--profile"], ["--trace"], ["--check-races", "--check-uninit"]:
            plain, counted = (self.ends(0, ["run", "plain.ptx", *watched, *more, "--grid", "1", *words[2:]]).stdout for more in ([], ["--profile-facts", "p.json"]))
            self.check(plain == counted, "counting changes what is watched", watched)

    def memory(self):
        """The kernel reaches 4 bytes of y and x for each thread."""
        def found(*arguments):
            return self.profile("memory.json", BOTTOM, (32, [*arguments, "u32:3", "bytes:000000000000803f"]))["kernels"][0]["classes"][0]
        self.check((found("y=buf:f32:64:zero", "x=buf:f32:64:iota")["written"], ) == ([0],), "y is written")
        for second, overlapping in (("x", [[0, 1]]), ("x+124", [[0, 1]]), ("x+128", []), ("x+4", [[0, 1]])):
            got = found("x=buf:f32:128:zero", second)
            self.check((got["written"], got["overlapping"]) == ([0], overlapping), second, got)
        self.check(found("x=buf:f32:128:zero", "x+4")["parts"][1]["align"] == 4, "the alignment of x+4")
        second = self.profile("memory.json", STRUCTURE, (32, ["x=buf:f32:128:zero", "x", "u32:3", "bytes:000000000000803f"]))
        self.check(second["kernels"][0]["classes"][0]["overlapping"] == [[0, 1]], "the second kernel of a text", second)

    def structures(self):
        """Of a structure with an address: what its members hold, and that it is written."""
        self.write("k.ptx", STRUCTURE)
        record = ["--kernel", "k", "--grid", "1", "--block", "32", "--arg", *apart(1)]
        self.ends(0, ["run", "k.ptx", "--buffer", "b=buf:u32:4:zero", *record, "--record", "s.zip"])
        with zipfile.ZipFile(self.folder / "s.zip") as z:
            memory = json.loads(z.read("record.json"))["launches"][0]["memory"]
        address = next(m["address"] for m in memory if m["name"] == "b")
        place = (7).to_bytes(8, "little").hex() + address.to_bytes(8, "little").hex()
        self.ends(0, ["run", "k.ptx", "--buffer", "b=buf:u32:4:zero", "--kernel", "s", "--grid", "1", "--block", "1", "--arg",
                      f"bytes:{place}", "--profile-facts", "s.json"])
        launched = self.read("s.json")["kernels"][0]["classes"][0]
        self.check([p.get("value", p.get("align")) for p in launched["parts"]] == [7, 256], launched)
        self.check((launched["written"], launched["overlapping"]) == ([0], []), launched)

    def records(self):
        """The same of a record, run again."""
        self.write("k.ptx", BOTTOM)
        words = ["--kernel", "k", "--grid", "2", "--block", "32", "--arg", *apart(5), "--kernel", "k", "--grid", "2", "--block", "64",
                 "--arg", *apart(7, "2")]
        self.ends(0, ["run", "k.ptx", *words, "--record", "r.zip", "--profile-facts", "direct.json"])
        self.ends(0, ["record", "profile", "r.zip", "-o", "recorded.json"])
        self.check(self.read("direct.json") == self.read("recorded.json"), "a record has another profile")
        self.ends(0, ["record", "profile", "r.zip", "-o", "recorded.json", "--launch", "2"])
        self.check(self.read("recorded.json")["kernels"][0]["launches"] == 1, "one launch")
        self.ends(2, ["record", "profile", "r.zip"], "profile needs -o")

    def merged(self):
        a = self.profile("a.json", BOTTOM, (32, apart(5)))
        self.profile("b.json", BOTTOM, (32, apart(5)), (64, apart(7, "2")))
        for names in (["a.json", "b.json"], ["b.json", "a.json"]):
            self.ends(0, ["profile", "merge", *names, "-o", "ab.json"])
            kernel = self.read("ab.json")["kernels"][0]
            self.check(kernel["launches"] == 3 and len(kernel["classes"]) == 2, kernel)
            self.check(kernel["loops"][0]["entries"] == 8, kernel)
        self.ends(0, ["profile", "merge", "a.json", "-o", "a.json"])  # -o may name one of them
        self.check(self.read("a.json") == a, "a profile alone is itself")
        self.write("gpu.json", (self.folder / "a.json").read_text().replace('"instructions"', '"microseconds"'))
        self.ends(2, ["profile", "merge", "a.json", "gpu.json", "-o", "ab.json"], "gpu.json", "do not add up")

    def shown(self):
        self.profile("s.json", BOTTOM, (32, apart(5)), (32, apart(5, "1")))
        self.ends(0, ["profile", "show", "s.json"], "1 kernel,", "100.0%", "block 32 x 1 x 1, grid 2 x 1 x 1", "2: 5", "0: align 256",
                  "3+4: 1065353216", "written: 0", "loop $L_loop (sum.cu:7): entered 4 times, 5.0 iterations each")
        shown = self.ends(0, ["profile", "show", "s.json", "--json"]).stdout
        self.check(json.loads(shown) == self.read("s.json"), "--json shows the file")

    def used(self):
        """Hints of loops; kernels of other files are ignored."""
        self.profile("u.json", BOTTOM, (32, apart(5)))
        self.write("k.ptx", BOTTOM)
        self.ends(0, ["k.ptx", "-o", "o.ptx", "--guard=off", "--profile-use", "u.json", "-v"], "u.json says of 1 kernel")
        self.write("other.ptx", BOTTOM.replace(".entry k(", ".entry other("))
        plain = self.ends(0, ["other.ptx", "-o", "-", "--guard=off"]).stdout
        said = self.ends(0, ["other.ptx", "-o", "-", "--guard=off", "--profile-use", "u.json", "-v"],
                         "u.json says of 0 kernels; 1 more that it has are not in the text: k")
        self.check(said.stdout == plain, "a profile of other kernels changes the output")

    def overlaps(self):
        """Launches with arrays that overlap by bytes, or touch: memory is as without the profile, and ld.global.nc loads nothing that is
        written. The kernel reads x[0] to x[n-1], and writes the y of each thread."""
        n, threads, y = 9, 64, 300
        shape = ["--kernel", "k", "--grid", "2", "--block", str(threads // 2)]
        for read, written in (1, 1), (2, 1), (4, 1), (1, 4), (4, 4):
            sizes = {"{READ}": read, "{WRITTEN}": written, "{R}": 8 * read, "{W}": 8 * written}
            text = SUMS
            for word, number in sizes.items():
                text = text.replace(word, str(number))
            self.write("k.ptx", text)
            self.ends(0, ["run", "k.ptx", *shape, "--arg", "y=buf:u8:512:zero", "x=buf:u8:512:iota", f"u32:{n}", "--profile-facts", "p.json"])
            self.ends(0, ["k.ptx", "-o", "o.ptx", "--guard=off", "--profile-use", "p.json", "--version-alias-test=150"])
            before, after = y - n * read, y + threads * written  # where x only just is apart
            for x in (*(before + d for d in (-5, -4, -1, 0, 1, 2, 3, 4)), y, *(after + d for d in (-4, -3, -2, -1, 0, 1, 4))):
                if x % read != 0:
                    continue
                words = ["--buffer", "m=buf:u8:1024:iota", *shape, "--arg", f"m+{y}", f"m+{x}", f"u32:{n}", "--dump", "m"]
                plain = self.ends(0, ["run", "k.ptx", *words]).stdout
                better = self.ends(0, ["run", "o.ptx", *words, "--profile=counts.json"]).stdout
                self.check(plain == better, f"{read} and {written} bytes, x at {x}: other memory")
                opcodes = json.loads((self.folder / "counts.json").read_text(encoding="utf-8"))["opcodes"]
                loads = sum(count["warps"] for opcode, count in opcodes.items() if opcode.startswith("ld.global.nc"))
                isApart = x <= before or x >= after
                self.check((loads > 0) == isApart, f"{read} and {written} bytes, x at {x}: {loads} loads as of constants")

    def refused(self):
        self.write("k.ptx", BOTTOM)
        self.write("text.txt", "not a profile")
        self.write("empty.json", "")
        launch = ["--grid", "1", "--block", "32", "--arg", *apart(1)]
        for name, why in (("text.txt", "text.txt is not a profile"), ("empty.json", "empty.json is not a profile"),
                          ("none.json", "No such file"), ("k.ptx", "k.ptx is not a profile")):
            self.ends(2, ["k.ptx", "-o", "o.ptx", "--profile-use", name], why)
            self.ends(2, ["profile", "show", name], why)
        self.ends(2, ["run", "k.ptx", *launch, "--profile-facts", "text.txt"], "text.txt' is there and is not a profile")
        self.ends(2, ["run", "k.ptx", *launch, "--profile-facts", "k.ptx"], "are one file")
        self.profile("p.json", BOTTOM, (32, apart(1)))
        self.ends(2, ["profile", "merge", "p.json", "-o", "text.txt"], "is not overwritten")
        self.check((self.folder / "text.txt").read_text() == "not a profile", "text.txt stays")
        self.ends(2, ["k.ptx", "-o", "p.json", "--profile-use", "p.json"], "are one file")
        self.ends(2, ["profile", "merge", "p.json"], "merge needs -o")
        self.ends(2, ["profile", "show", "p.json", "p.json"], "show takes one profile")
        self.ends(2, ["profile", "show", "p.json", "-o", "x.json"], "-o is for merge")


if __name__ == "__main__":
    if jsonschema is None:
        print("no schema was checked: there is no python3-jsonschema")
    sys.exit(command_tests.main(__doc__, Profiles))
