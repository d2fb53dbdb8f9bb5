#!/usr/bin/env python3
"""ptxopt run from the outside: arguments, launches, dumps, profiles, traces, and what it says when something is wrong.

  tests/semantics/exec/run_command.py --tool PTXOPT [names]
"""
import argparse
import inspect
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("PTXOPT_GUARD", "off")  # the passes are tested, not the guard

ROOT = Path(__file__).resolve().parents[3]
SAXPY = ROOT / "samples" / "saxpy.ptx"
HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
REGISTERS = ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<8>; .reg .f64 %fd<4>;\n"


class Failure(Exception):
    pass


def kernel(body, parameters="", name="k", before=""):
    """The first line of the body is line 7 when nothing stands before."""
    return f"{before}.visible .entry {name}({parameters})\n{{\n{REGISTERS}{body}\nret;\n}}\n"


class Tester:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder

    def run(self, *words, status=0, text=None, command="run"):
        """Standard output and error. `text` is a PTX text, called k.ptx."""
        words = list(map(str, words))
        if text is not None:
            (self.folder / "k.ptx").write_text(HEAD + text)
            words = ["k.ptx", *words]
        result = subprocess.run([self.tool, command, *words], cwd=self.folder, capture_output=True, text=True, timeout=120,
                                check=False)
        if result.returncode != status:
            raise Failure(f"status {result.returncode}, not {status}: {' '.join(words)}\n{result.stdout[-500:]}{result.stderr}")
        return result.stdout, result.stderr

    def one(self, text, *words, **more):
        return self.run("--grid", 1, "--block", 1, *words, text=text, **more)


def equal(got, wanted):
    if got != wanted:
        raise Failure(f"got\n{got}\nwanted\n{wanted}")


def expect(condition, what):
    if not condition:
        raise Failure(str(what))


def store(parameter, register, width="b32"):
    return f"ld.param.{width} {register}, [{parameter}]; ld.param.u64 %rd0, [o]; st.global.{width} [%rd0], {register};"


# ---- arguments

def scalars(t):
    cases = [("u8:200", "b8", "%h1", "c8"), ("s8:-1", "b8", "%h1", "ff"), ("b8:0x7f", "b8", "%h1", "7f"),
             ("u16:65535", "b16", "%h1", "ffff"), ("s16:-2", "b16", "%h1", "feff"), ("f16:1.5", "b16", "%h1", "003e"),
             ("f16:65504", "b16", "%h1", "ff7b"), ("bf16:-2", "b16", "%h1", "00c0"), ("f16:nan", "b16", "%h1", "007e"),
             ("u32:5", "b32", "%r1", "05000000"), ("s32:-5", "b32", "%r1", "fbffffff"), ("u32:0xff", "b32", "%r1", "ff000000"),
             ("b32:0x3f800000", "b32", "%r1", "0000803f"), ("f32:1.5", "b32", "%r1", "0000c03f"),
             ("f32:0f3F800000", "b32", "%r1", "0000803f"), ("f32:inf", "b32", "%r1", "0000807f"),
             ("f32:-inf", "b32", "%r1", "000080ff"), ("f32:-0.0", "b32", "%r1", "00000080"),
             ("f32:nan", "b32", "%r1", "0000c07f"), ("f32:1e-45", "b32", "%r1", "01000000"),
             ("u64:18446744073709551615", "b64", "%rd1", "f" * 16), ("s64:-9223372036854775808", "b64", "%rd1", "00" * 7 + "80"),
             ("f64:0.1", "b64", "%rd1", struct.pack("<d", 0.1).hex()), ("f64:0d3FF0000000000000", "b64", "%rd1", "000000000000f03f")]
    for spec, width, register, wanted in cases:
        size = len(wanted) // 2
        t.one(kernel(store("v", register, width), f".param .u64 o, .param .{width} v"), "--arg", f"o=buf:b8:{size}:zero", spec,
              "--dump", "o=out")
        equal((spec, (t.folder / "out").read_bytes().hex()), (spec, wanted))


def structures(t):
    body = "ld.param.u64 %rd1, [s+8]; ld.param.u64 %rd0, [o]; st.global.u64 [%rd0], %rd1;"
    text = kernel(body, ".param .u64 o, .param .align 8 .b8 s[16]")
    data = bytes(range(16))
    (t.folder / "s.bin").write_bytes(data)
    for spec in (f"bytes:{data.hex()}", "bytes:@s.bin"):
        t.one(text, "--arg", "o=buf:u64:1:zero", spec, "--dump", "o=out")
        equal((t.folder / "out").read_bytes(), data[8:])
    error = t.one(text, "--arg", "o=buf:u64:1:zero", "bytes:00ff", status=2)[1]
    equal(error, "ptxopt: error: argument 1 of 'k', bytes:00ff, has 2 bytes, the parameter .b8 s[16] has 16\n")


def buffers(t):
    text = kernel("", ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 e, .param .u64 f")
    (t.folder / "in.bin").write_bytes(struct.pack("<3f", 1, -2.5, 1e30))
    out = t.one(text, "--arg", "buf:u32:3:zero", "x=buf:f32:10:iota", "buf:s16:2:fill=-7", "buf:f32:@in.bin", "buf:f64:3:@d.bin",
                "buf:b64:2:fill=1", "--dump", "arg0", "--dump", "x", "--dump", "arg2", "--dump", "arg3", "--dump", "arg5",
                status=2)
    equal(out[1], "ptxopt: error: argument 4 of 'k': cannot read 'd.bin': No such file or directory\n")
    (t.folder / "d.bin").write_bytes(struct.pack("<3d", 1, 2, 3))
    out = t.one(text, "--arg", "buf:u32:3:zero", "x=buf:f32:10:iota", "buf:s16:2:fill=-7", "buf:f32:@in.bin", "buf:f64:3:@d.bin",
                "buf:b64:2:fill=1", "--dump", "arg0", "--dump", "x", "--dump", "arg2", "--dump", "arg3", "--dump", "arg4",
                "--dump", "arg5")[0]
    equal(out, "arg0: u32[3]\n  [0] 0 0 0\nx: f32[10]\n  [0] 0 1 2 3 4 5 6 7\n  [8] 8 9\narg2: s16[2]\n  [0] -7 -7\n"
               "arg3: f32[3]\n  [0] 1 -2.5 1e+30\narg4: f64[3]\n  [0] 1 2 3\narg5: b64[2]\n"
               "  [0] 0x0000000000000001 0x0000000000000001\n")


def random_buffers(t):
    text = kernel("", ".param .u64 a, .param .u64 b")

    def values(kind, *words):
        t.one(text, "--arg", f"x=buf:{kind}:4000:random", f"y=buf:{kind}:4000:random", "--dump", "x=x", "--dump", "y=y", *words)
        return (t.folder / "x").read_bytes(), (t.folder / "y").read_bytes()

    for kind, code in (("f32", "f"), ("f64", "d"), ("f16", "e")):
        x, y = values(kind)
        expect(x != y, "two buffers are the same")
        equal(values(kind), (x, y))
        expect(values(kind, "--seed", 1) != (x, y), "the seed changes nothing")
        numbers = struct.unpack(f"<4000{code}", x)
        expect(all(-1 <= v < 1 for v in numbers), f"{min(numbers)} to {max(numbers)}")
        expect(min(numbers) < -0.99 and max(numbers) > 0.99 and abs(sum(numbers)) < 200, "not uniform")
    x = values("u8")[0]
    expect(len(set(x)) == 256, "bytes that do not occur")


def names_and_offsets(t):
    text = kernel("ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd2], %r1;",
                  ".param .u64 a, .param .u64 b", before=".global .align 4 .b32 table[3] = {7, 8, 9};\n")
    equal(t.one(text, "--buffer", "x=buf:u32:4:iota", "--arg", "x+12", "x+4", "--dump", "x")[0], "x: u32[4]\n  [0] 0 3 2 3\n")
    equal(t.one(text, "--arg", "table+8", "x=buf:u32:1:zero", "--dump", "x", "--dump", "table")[0],
          "x: u32[1]\n  [0] 9\ntable: b32[3]\n  [0] 0x00000007 0x00000008 0x00000009\n")


def bad_arguments(t):
    text = kernel("", ".param .u64 o, .param .f32 x")
    for words, message in (
            (["o=buf:f32:1:zero"], "'k' has 2 parameters, 1 argument was given"),
            (["u32:1", "f32:1"], "argument 0 of 'k', u32:1, has 4 bytes, the parameter .u64 o has 8"),
            (["u64:1", "u32:1"], "argument 1 of 'k', u32:1, is an integer, the parameter .f32 x is a floating-point number"),
            (["f64:1", "f32:1"], "argument 0 of 'k', f64:1, is a floating-point number, the parameter .u64 o is an integer"),
            (["x", "f32:1"], "argument 0 of 'k': there is no buffer or variable 'x'"),
            (["u64:-1", "f32:1"], "argument 0 of 'k': '-1' does not fit into u64"),
            (["u64:1x", "f32:1"], "argument 0 of 'k': '1x' is not a value of type u64"),
            (["u64:1", "f32:1e50"], "argument 1 of 'k': '1e50' does not fit into f32"),
            (["u64:1", "f32:0f12"], "argument 1 of 'k': '0f12' is not 0f and 8 hexadecimal digits"),
            (["q64:1", "f32:1"], "argument 0 of 'k': 'q64' is none of u8 s8 b8 u16 s16 b16 f16 bf16 u32 s32 b32 f32 u64 s64 b64 f64"),
            (["buf:u32:4:what", "f32:1"], "argument 0 of 'k': 'what' is none of zero, iota, random, fill=VALUE, uninit and @FILE"),
            (["buf:u32:x:zero", "f32:1"], "argument 0 of 'k': 'buf:u32:x:zero': 'x' is not a count"),
            (["buf:u32", "f32:1"], "argument 0 of 'k': 'buf:u32' is not buf:TYPE:COUNT:INIT"),
            (["buf:u32:9999999999999:zero", "f32:1"], "argument 0 of 'k': 'buf:u32:9999999999999:zero' is larger than 1 TiB"),
            (["buf:u32:2:@three", "f32:1"], "argument 0 of 'k': 'three' has 3 bytes, the buffer 'arg0' has 8"),
            (["buf:u32:@three", "f32:1"], "argument 0 of 'k': 'three' has 3 bytes, a whole number of u32 has 0")):
        (t.folder / "three").write_bytes(b"123")
        equal(t.one(text, "--arg", *words, status=2), ("", f"ptxopt: error: {message}\n"))


def usage(t):
    two = kernel("", name="a") + kernel("", name="b")
    equal(t.one(two, status=2)[1], "ptxopt: error: --kernel is one of a, b\n")
    equal(t.one(two, "--kernel", "c", status=2)[1], "ptxopt: error: there is no kernel 'c'; there is a, b\n")
    for words, message in ((["--block", 1], "the kernel has no --grid"), (["--grid", 1], "the kernel has no --block"),
                           (["--grid", 1, "--block", 1, "--trace-lanes"], "--trace-lanes needs --trace"),
                           (["--grid", 1, "--block", 1, "--dump", "x="], "--dump x=: no file")):
        equal(t.run(*words, text=kernel(""), status=2)[1],
              f"ptxopt run: {message}\nptxopt run --help lists the options.\n")
    # Shapes are read, and refused, alike wherever they are options.
    for option, shape in (("--grid", "1,2,3,4"), ("--block", "0"), ("--cluster", "1,"), ("--grid", "")):
        said = f"{option}: '{shape}' is not X, X,Y or X,Y,Z, each at least 1"
        words = [word for other in ("--grid", "--block") if other != option for word in (other, 1)] + [option, shape]
        equal(t.run(*words, text=kernel(""), status=2)[1], f"ptxopt run: {said}\nptxopt run --help lists the options.\n")
        equal(t.run("k.ptx", option, shape, text=kernel(""), status=2, command="verify")[1], f"ptxopt: error: {said}\n")
    equal(t.one(kernel(""), "--dump", "x", status=2)[1], "ptxopt: error: --dump x: there is no such buffer or variable\n")
    equal(t.run("no.ptx", "--grid", 1, "--block", 1, status=2)[1],
          "ptxopt: error: cannot read 'no.ptx': No such file or directory\n")
    equal(t.one("nonsense", status=3)[1].split(" error: ")[0], "k.ptx:4:1:")
    expect("--check-races" in t.run("--help")[0], "--help")
    equal(t.run("--grid", 1, "--block", 2048, text=kernel(""), status=2)[1],
          "k.ptx: error: bad-launch: a block of (2048,1,1) threads: at most 1024, and 64 in z\n")
    equal(t.run("--grid", 1, "--block", 64, text=kernel("").replace("k()", "k() .maxntid 32"), status=2)[1],
          "ptxopt: error: 'k' allows blocks of at most 32 threads: .maxntid\n")


# ---- what goes wrong inside

def faults(t):
    """Kind, message, source line, caret, and thread."""
    extern = ".extern .func vanish(.param .b32 x);\n"
    recursion = ".func f()\n{\n.local .b8 space[1024];\n.reg .b64 %rd1;\nmov.u64 %rd1, space;\ncall f;\nret;\n}\n"
    cases = [
        ("out-of-bounds", "mov.u64 %rd1, 16; ld.global.u32 %r1, [%rd1];", "ld", "read of 4 bytes at 0x10, which is in no allocation"),
        ("out-of-bounds", "ld.shared.u32 %r1, [4];", "ld",
         "read of 4 bytes at shared address 0x4: the block has 0 bytes of shared memory"),
        ("misaligned", ".shared .align 4 .b32 s[4]; ld.shared.u32 %r1, [s+2];", "ld",
         "read of 4 bytes at 0x2, which is not a multiple of 4"),
        ("deadlock", "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 0; @!%p1 bar.sync 1;", "bar", None),
        ("step-limit", "L: bra L;", "bra", "more than 10000 warp instructions"),
    ]
    for kind, body, opcode, message in cases:
        text = HEAD + kernel(body)
        out, error = t.run("--grid", 1, "--block", 64, "--max-steps", 10000, text=kernel(body), status=1)
        equal(out, "")
        lines = error.split("\n")
        match = re.fullmatch(r"k\.ptx:(\d+):(\d+): error: ([a-z-]+): (.*)", lines[0])
        expect(match, error)
        line, column = int(match[1]), int(match[2])
        source = text.split("\n")[line - 1]
        equal(match[3], kind)
        if message is not None:
            equal(match[4], message)
        equal((line, lines[1]), (7, source[max(0, column - 61):][:100] if column > 60 else source[:100]))
        expect(source[column - 1:].lstrip("@!%p1 ").startswith(opcode), error)
        expect(re.fullmatch(r" *\^", lines[2]), error)
        expect(re.fullmatch(r"  in kernel k, thread \((0|32),0,0\) of block \(0,0,0\)", lines[3]), error)
    equal(t.one(kernel("call f;", before=recursion), status=1)[1].split("\n")[0].split(": ")[2], "stack-overflow")
    expect("\n  in function f, thread (0,0,0) of block (0,0,0)\n" in
           t.one(kernel("call f;", before=recursion), status=1)[1], "a fault in a function")
    equal(t.one(kernel("st.param.u32 [x], 1;", ".param .u32 x"), "--arg", "u32:1", status=1)[1].split(": ")[2], "read-only")
    error = t.one(kernel("{ .param .b32 a; st.param.b32 [a], 1; call vanish, (a); }", before=extern), status=2)[1]
    expect(error.startswith("k.ptx:8:39: error: unsupported: call: 'vanish' has no body here and is not built in\n"), error)


def more_faults(t):
    """Those that need declarations."""
    brx = "mov.u32 %r1, 2;\nT: .branchtargets A, B;\nbrx.idx %r1, T;\nA:\nB:"
    equal(t.one(kernel(brx), status=1)[1].split("\n")[0], "k.ptx:9:1: error: bad-branch: index 2 into a table of 2 labels")
    call = "mov.u64 %rd1, 12345;\nP: .callprototype _ ();\ncall %rd1, (), P;"
    equal(t.one(kernel(call), status=1)[1].split("\n")[0], "k.ptx:9:1: error: bad-branch: no function is at 0x3039")
    equal(t.one(kernel("\ntrap;"), status=1)[1].split(": ")[:3], ["k.ptx:8:1", "error", "trap"])
    before = ('.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);\n'
              '.global .align 1 .b8 text[6] = {120, 32, 62, 32, 48, 0};\n')
    body = ("{ .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s; mov.u64 %rd1, text;\n"
            "cvta.global.u64 %rd1, %rd1; st.param.b64 [m], %rd1; st.param.b64 [f], %rd1; st.param.b32 [l], 17;\n"
            "st.param.b64 [n], %rd1; st.param.b64 [s], 1;\ncall __assertfail, (m, f, l, n, s); }")
    equal(t.one(kernel(body, before=before), status=1)[1].split("\n")[0],
          "k.ptx:12:1: error: assertion: x > 0:17: x > 0: assertion `x > 0` failed")


def unsupported_but_not_reached(t):
    body = "mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 99;\n@%p1 multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%rd1];"
    t.one(kernel(body))
    error = t.one(kernel(body.replace("gt", "lt")), status=2)[1]
    expect(error.startswith("k.ptx:8:1: error: unsupported: multimem.ld_reduce.relaxed.sys.global.add.u32: "), error)


def checks(t):
    racy = ".shared .b32 s;\nst.shared.u32 [s], 1;"
    t.run("--grid", 1, "--block", 2, text=kernel(racy))
    equal(t.run("--grid", 1, "--block", 2, "--check-races", text=kernel(racy), status=1)[1],
          "k.ptx:8:1: error: race: write of shared memory at 0x0 by thread (1,0,0) at line 8 is not ordered with the write by "
          "thread (0,0,0) at line 8\nst.shared.u32 [s], 1;\n^\n  in kernel k, thread (1,0,0) of block (0,0,0)\n")
    copy = kernel("ld.param.u64 %rd1, [a];\nld.global.u32 %r1, [%rd1+4];", ".param .u64 a")
    t.one(copy, "--arg", "buf:u32:2:uninit")
    t.one(copy, "--arg", "buf:u32:2:zero", "--check-uninit")
    error = t.one(copy, "--arg", "buf:u32:2:uninit", "--check-uninit", status=1)[1]
    expect(re.match(r"k\.ptx:8:1: error: uninitialised: read of byte 4 of 'arg0', at 0x[0-9a-f]+, which nothing has written\n",
                    error), error)
    error = t.one(kernel("add.u32 %r1, %r2, 1;"), "--check-uninit", status=1)[1]
    equal(error, "k.ptx:7:1: error: uninitialised: read of register %r2, which nothing has written\nadd.u32 %r1, %r2, 1;\n^\n"
                 "  in kernel k, thread (0,0,0) of block (0,0,0)\n")


# ---- launches and outputs

def sequence(t):
    """Launches share buffers and module variables."""
    add = "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r1; st.global.u32 [%rd1], %r2;" \
          "ld.global.u32 %r3, [count]; add.u32 %r3, %r3, 1; st.global.u32 [count], %r3;"
    double = "ld.param.u64 %rd1, [p]; ld.global.u32 %r2, [%rd1]; shl.b32 %r2, %r2, 1; st.global.u32 [%rd1], %r2;"
    text = ".global .u32 count = 10;\n" + kernel(add, ".param .u64 p, .param .u32 n", "plus") + kernel(double, ".param .u64 p", "twice")
    one = ("--grid", 1, "--block", 1)
    out = t.run("--kernel", "plus", *one, "--arg", "x=buf:u32:1:fill=1", "u32:4", "--kernel", "twice", *one, "--arg", "x",
                *one, "--kernel", "plus", "--arg", "x", "--arg", "u32:100", *one, "--dump", "x", "--dump", "count", text=text)[0]
    equal(out, "x: u32[1]\n  [0] 110\ncount: u32[1]\n  [0] 12\n")


def shapes(t):
    body = ("mov.u32 %r1, %nctaid.x; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ntid.y; mov.u32 %r4, %dynamic_smem_size;\n"
            "mov.u32 %r5, %cluster_nctarank; ld.param.u64 %rd1, [p]; st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};\n"
            "st.global.u32 [%rd1+16], %r5;")
    words = ("--grid", "4,3", "--block", "2,5", "--shared", 100, "--arg", "x=buf:u32:5:zero", "--dump", "x")
    text = kernel(body, ".param .u64 p")
    equal(t.run(*words, text=text)[0], "x: u32[5]\n  [0] 4 3 5 100 1\n")
    equal(t.run(*words, "--cluster", 2, "-j", 2, text=text)[0], "x: u32[5]\n  [0] 4 3 5 100 2\n")


def all_or_none(t):
    """No file is written when a kernel fails or one of them cannot be written; what was there stays."""
    (t.folder / "x").write_text("old")
    words = ("--arg", "x=buf:u32:1:zero", "--dump", "x=x")
    t.one(kernel("mov.u64 %rd1, 0; ld.global.u32 %r1, [%rd1];", ".param .u64 p"), *words, status=1)
    equal((t.folder / "x").read_text(), "old")
    t.one(kernel("", ".param .u64 p"), *words, "--profile=no/such/folder", status=2)
    equal((t.folder / "x").read_text(), "old")
    equal(t.one(kernel("", ".param .u64 p"), *words, "--profile=x", status=2)[1], "ptxopt: error: two outputs are one file, 'x'\n")
    t.one(kernel("", ".param .u64 p"), *words)
    equal((t.folder / "x").read_bytes(), bytes(4))


def printf(t):
    before = ('.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n'
              '.global .align 1 .b8 format[8] = {116, 61, 37, 117, 10, 0};\n')
    body = (".local .align 8 .b32 arguments; mov.u32 %r1, %tid.x; st.local.u32 [arguments], %r1; mov.u64 %rd1, arguments;\n"
            "cvta.local.u64 %rd1, %rd1; mov.u64 %rd2, format; cvta.global.u64 %rd2, %rd2;\n"
            "{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %rd2; st.param.b64 [b], %rd1;\n"
            "call (c), vprintf, (a, b); }")
    equal(t.run("--grid", 1, "--block", 3, text=kernel(body, before=before))[0], "t=0\nt=1\nt=2\n")


# ---- watching

SAXPY_WORDS = (SAXPY, "--grid", 2, "--block", 32, "--arg", "u32:40", "f32:2", "buf:f32:40:iota", "y=buf:f32:40:fill=1")


def profile(t):
    """Two warps; of the second, 24 lanes of 32 are beyond the end. 9 instructions before the branch, 4 behind it, 9 in the loop
    before its branch, and ret."""
    out = t.run(*SAXPY_WORDS, "--profile=p.json", "--dump", "y")[0]
    equal(out.split("\n")[1], "  [0] 1 3 5 7 9 11 13 15")
    p = json.loads((t.folder / "p.json").read_text())
    lanes = 32 + 8
    equal(p["instructions"], {"warps": 2 * 9 + 1 + 2 * 4 + 2 * 9 + 2, "threads": 64 * 9 + 24 + 13 * lanes + 64})
    equal((p["guardedOff"], p["branches"], p["divergentBranches"]), (3, 4, 1))
    equal(p["opcodes"]["fma.rn.f32"], {"warps": 2, "threads": lanes})
    equal(p["opcodes"]["bra"], {"warps": 1, "threads": 24})
    equal(p["memory"], {"load global": {"warps": 4, "threads": 2 * lanes, "bytes": 8 * lanes},
                        "load param": {"warps": 8, "threads": 4 * 64, "bytes": (4 + 4 + 8 + 8) * 64},
                        "store global": {"warps": 2, "threads": lanes, "bytes": 4 * lanes}})
    equal([(b["label"], b["entered"]["warps"], b["entered"]["threads"], b["instructions"]["warps"]) for b in p["blocks"]],
          [("", 2, 64, 19), ("", 2, lanes, 8), ("$L__BB0_2", 2, lanes, 18), ("$L__BB0_3", 2, 64, 2)])
    table = t.run(*SAXPY_WORDS, "--profile")[0]
    for row in (r"  instructions +47 +1184 +25\.19", r"  divergent +1", r"  fma\.rn\.f32 +2 +40 +20\.00",
                r"  saxpy \$L__BB0_2 line 45 +2 +40 +20\.00 +18", r"  store global +2 +40 +20\.00 +160"):
        expect(re.search(f"^{row}$", table, re.M), row)


def profile_of_waiting(t):
    """An instruction at which lanes wait counts once, however often they look."""
    body = ("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @!%p1 bra B; mov.u32 %r2, 0;\n"
            "L: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 2000; nanosleep.u32 1; @%p2 bra L;\nB: bar.sync 0; mov.u32 %r3, %clock;")
    t.run("--grid", 1, "--block", 128, "--profile=p.json", text=kernel(body))
    p = json.loads((t.folder / "p.json").read_text())
    equal(p["opcodes"]["bar.sync"], {"warps": 4, "threads": 128})
    equal(p["opcodes"]["nanosleep.u32"], {"warps": 2000, "threads": 64000})
    equal(p["opcodes"]["mov.u32"], {"warps": 4 + 1 + 4, "threads": 128 + 32 + 128})
    trace = t.run("--grid", 1, "--block", 128, "--trace", text=kernel(body))[0]
    equal(trace.count("bar.sync 0;"), 4)
    equal(trace.count("%clock;"), 4)


def trace(t):
    out = t.run(*SAXPY_WORDS, "--trace")[0].split("\n")
    equal(len(out), 47 + 3 + 1)
    equal(out[8], "block (0,0,0) warp 0 ffffffff line 36: setp.ge.s32 %p1, %r10, %r6;  %p1 = 0")
    equal(out[9], "block (0,0,0) warp 0 00000000 line 37: @%p1 bra $L__BB0_3;")
    second = [line for line in out if line.startswith("block (1,0,0)")]
    equal(second[7], "block (1,0,0) warp 0 ffffffff line 35: mad.lo.s32 %r10, %r7, %r1, %r8;  %r10 = 0x20")
    equal(second[9], "block (1,0,0) warp 0 ffffff00 line 37: @%p1 bra $L__BB0_3;")
    expect("block (1,0,0) warp 0 000000ff line 50: fma.rn.f32 %f4, %f2, %f1, %f3;  %f4 = 0x42820000" in second, "fma")
    lanes = t.run("--grid", 1, "--block", 3, "--trace=t.txt", "--trace-lanes",
                  text=kernel("mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 1;\n@%p1 mul.wide.u32 %rd1, %r1, 16;"))[0]
    equal(lanes, "")
    equal((t.folder / "t.txt").read_text().split("\n"),
          ["block (0,0,0) warp 0 00000007 line 7: mov.u32 %r1, %tid.x;  %r1 = {0x0, 0x1, 0x2}",
           "block (0,0,0) warp 0 00000007 line 7: setp.ne.u32 %p1, %r1, 1;  %p1 = {1, 0, 1}",
           "block (0,0,0) warp 0 00000005 line 8: @%p1 mul.wide.u32 %rd1, %r1, 16;  %rd1 = {0x0, 0x20}",
           "block (0,0,0) warp 0 00000007 line 9: ret;", ""])
    failed = t.one(kernel("mov.u64 %rd1, 8; ld.global.u32 %r1, [%rd1];"), "--trace", status=1)[0].split("\n")
    equal(failed[1:], ["block (0,0,0) warp 0 00000001 line 7: ld.global.u32 %r1, [%rd1];  ...", ""])


def list_opcodes(t):
    rows = t.run("--list-opcodes")[0].splitlines()
    keys = [row.split()[0] for row in rows]
    table = re.findall(r'^PTX_OPCODE(?:_VARIANT)?\(\w+, "([^"]*)", "[^"]*", \S+ "(.*)"\)', (ROOT / "src/core/ir/opcodes.def").read_text(), re.M)
    equal(keys, [key for key, summary in table if not summary.startswith("fallback:")])
    state = {row.split()[0]: row.split()[1] for row in rows}
    equal((state["xor"], state["bra"], state["cp.async.bulk.tensor"]), ("yes", "yes", "no"))
    shown = t.run("--list-opcodes", "--format", "markdown")[0]
    listed = [key for line in shown.splitlines()[2:] for key in re.findall(r"`([^`]+)`", line.split(" | ")[0])]
    equal(sorted(listed), sorted(key for key in keys if state[key] != "yes"))


def verify_counts_what_it_cannot_compare(t):
    """The command verify: kernels by the reason, in text and in JSON."""
    text = (kernel("mov.u32 %r1, %tid.x;") + kernel("L: bra L;", name="endless") + kernel("trap;", name="trapped") +
            kernel("mov.u64 %rd1, 8; ld.global.u32 %r1, [%rd1];", name="outside"))
    words = ["k.ptx", "--trials", 2, "--max-steps", 10000]
    lines = t.run(*words, text=text, command="verify", status=2)[0].splitlines()
    equal(lines[-1], "3 of 4 kernels were not compared: 1 out-of-bounds, 1 step-limit, 1 trap")
    verdicts = json.loads(t.run(*words, "--format", "json", text=text, command="verify", status=2)[0])
    equal([(v["kernel"], v["verdict"], v.get("reason")) for v in verdicts],
          [("k", "equal", None), ("endless", "not compared", "step-limit"), ("trapped", "not compared", "trap"),
           ("outside", "not compared", "out-of-bounds")])


TESTS = {name: f for name, f in list(globals().items())
         if inspect.isfunction(f) and list(inspect.signature(f).parameters) == ["t"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=os.path.abspath, required=True)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    failed = 0
    for name in args.names or TESTS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                TESTS[name](Tester(args.tool, Path(folder)))
            except Failure as failure:
                failed += 1
                print(f"{name}: {failure}")
    print(f"run_command: {len(args.names or TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
