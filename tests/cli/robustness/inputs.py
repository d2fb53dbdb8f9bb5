"""The nasty texts: what is asked of the tool for each, and how to make it.

`make(n)` gives the text for a size; the same for the same size. Everything is made here, nothing is read.
"""
import gzip
import random
from dataclasses import dataclass

HEAD = b".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = (b"\t.reg .pred %p<9>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n\t.reg .f32 %f<9>;\n")

COPY = ("-O0",)
REPRINT = ("-O0", "--reprint")
OPTIMIZE = ("-O2",)
WEBS = ("--passes", "dce,rename-webs", "--verify-each")

OK, INVALID = 0, 3


@dataclass
class Case:
    name: str
    make: object                     # size -> bytes
    size: int = 0
    codes: tuple = (OK,)
    modes: tuple = (REPRINT, OPTIMIZE)
    scales: bool = False             # twice the size must not take three times as long
    bytes_per_byte: float = 100      # most memory for a byte of input, beyond a constant
    seconds: int = 5


def entry(statements, declarations=REGISTERS):
    return HEAD + b".visible .entry k()\n{\n" + declarations + statements + b"\tret;\n}\n"


def numbered(template, n, first=0):
    """`template` with {} replaced by each number."""
    left, right = template.split("{}", 1)
    if "{}" in right:
        return "".join(template.replace("{}", str(i)) for i in range(first, first + n)).encode()
    return "".join(f"{left}{i}{right}" for i in range(first, first + n)).encode()


SMALL = b"""// a vector sum as a compiler writes it
.version 8.0
.target sm_80
.address_size 64

	// .globl	sum
.global .align 4 .b8 table[16] = {1, 2, 3, 4, 0xFF, 0b101, 017, 8};
.extern .func (.param .b32 func_retval0) helper(.param .b32 helper_param_0);

.visible .entry sum(
	.param .u64 sum_param_0,
	.param .u32 sum_param_1
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<4>;
	.reg .f32 	%f<8>;
	.reg .b32 	%r<12>;
	.reg .b64 	%rd<8>;
	.loc	1 12 3
	ld.param.u64 	%rd1, [sum_param_0];
	ld.param.u32 	%r2, [sum_param_1];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r3, %ctaid.x;
	mov.u32 	%r4, %ntid.x;
	mov.u32 	%r5, %tid.x;
	mad.lo.s32 	%r6, %r3, %r4, %r5;
	setp.ge.s32 	%p1, %r6, %r2;
	mov.f32 	%f1, 0f00000000;
	@%p1 bra 	$L__BB0_3;
$L__BB0_2:
	.pragma "nounroll";
	mul.wide.s32 	%rd3, %r6, 4;
	add.s64 	%rd4, %rd2, %rd3;
	ld.global.v2.f32 	{%f2, %f3}, [%rd4+-8];
	fma.rn.f32 	%f1, %f2, %f3, %f1;
	shfl.sync.bfly.b32 	%r7|%p2, %r6, 16, 31, -1;
	add.s32 	%r6, %r6, %r4;
	setp.lt.s32 	%p3, %r6, %r2;
	@%p3 bra 	$L__BB0_2;
$L__BB0_3:
	{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	.param .b32 param0;
	st.param.b32 	[param0+0], %r7;
	.param .b32 retval0;
	call.uni (retval0), helper, (param0);
	ld.param.b32 	%r8, [retval0+0];
	} // callseq 0
	/* a comment
	   of two lines */
	atom.global.add.f32 	%f4, [%rd2], %f1;
	st.global.u32 	[%rd2+4], %r8;
	bar.sync 	0;
	ret;
}
"""


def many_functions(n):
    one = SMALL[SMALL.index(b".visible"):]
    return SMALL[:SMALL.index(b".visible")] + b"".join(
        one.replace(b"sum", b"sum%d" % i).replace(b"BB0", b"BB%d" % i) for i in range(n))


def random_bytes(n):
    return random.Random(1).randbytes(n)


def loop_nest(depth, live):
    """`depth` loops in each other; `live` registers of each are set outside and read inside."""
    out = []
    for i in range(depth):
        out.append(f"\tmov.u32 %c{i}, 0;\nL{i}:\n")
    out.append("".join(f"\tadd.u32 %r1, %r1, %c{i};\n" for i in range(live)))
    for i in reversed(range(depth)):
        out.append(f"\tadd.u32 %c{i}, %c{i}, 1;\n\tsetp.lt.u32 %p1, %c{i}, 9;\n\t@%p1 bra L{i};\n")
    out.append("\tst.global.u32 [%rd1], %r1;\n")
    return entry("".join(out).encode(), REGISTERS + b"\t.reg .b32 %c<" + str(depth).encode() + b">;\n")


def all_to_all(n):
    blocks = "".join(f"L{i}:\n\tadd.u32 %r1, %r1, {i};\n\tbrx.idx %r1, table;\n" for i in range(n))
    names = ",".join(f"L{i}" for i in range(n))
    return entry((blocks + f"table: .branchtargets {names};\n").encode())


def unknown_targets(n):
    """brx.idx whose table is nowhere: every label may be meant."""
    return entry("".join(f"L{i}:\n\tbrx.idx %r1, L{i};\n" for i in range(n)).encode())


def pressure(blocks, live):
    """A chain of blocks over which `live` registers live."""
    text = [f"\tmov.u32 %l{i}, {i};\n" for i in range(live)]
    text += [f"\tsetp.eq.u32 %p1, %r1, {i};\n\t@%p1 bra L{i};\n\tadd.u32 %r1, %r1, 1;\nL{i}:\n" for i in range(blocks)]
    text += [f"\txor.b32 %r1, %r1, %l{i};\n" for i in range(live)]
    text.append("\tst.global.u32 [%rd1], %r1;\n")
    return entry("".join(text).encode(), REGISTERS + b"\t.reg .b32 %l<" + str(live).encode() + b">;\n")


def deep_branches(n):
    """Branches out of n scopes in each other, to a label behind them all."""
    return entry(b"{ bra END;\n" * n + b"}\n" * n + b"END:\n")


def exact_then_ranges(n):
    ranges = "".join(f"{{ .reg .b32 %x<{n}>; mov.u32 %x1, %x2; }}\n" for i in range(n // 10))
    return entry(numbered("\t.reg .b32 %x{};\n", n, n) + ranges.encode())


LONG = 100_000_000

CASES = [
    # ---- not text at all ----
    Case("empty", lambda n: b"", codes=(INVALID,)),
    Case("blanks", lambda n: b" \t\r\n\f" * n, 1000, codes=(INVALID,)),
    Case("newline only", lambda n: b"\n", codes=(INVALID,)),
    Case("comment only", lambda n: b"// nothing", codes=(INVALID,)),
    Case("header only", lambda n: HEAD),
    Case("random bytes", random_bytes, 100_000, codes=(INVALID,)),
    Case("elf", lambda n: b"\x7fELF\x02\x01\x01" + bytes(500), codes=(INVALID,)),
    Case("fatbin", lambda n: b"\x50\xed\x55\xba\x01\x00\x10\x00" + random_bytes(500), codes=(INVALID,)),
    Case("gzip", lambda n: gzip.compress(SMALL, mtime=0), codes=(INVALID,)),
    Case("utf-16", lambda n: SMALL.decode().encode("utf-16"), codes=(INVALID,)),
    Case("utf-16 without mark", lambda n: SMALL.decode().encode("utf-16-le"), codes=(INVALID,)),
    Case("bitcode", lambda n: b"BC\xc0\xde" + random_bytes(500), codes=(INVALID,)),
    Case("nul bytes", lambda n: bytes(n), 100_000, codes=(INVALID,)),
    Case("nul in a comment", lambda n: HEAD + b"// a\0b\n", codes=(OK, INVALID)),
    Case("nul in a string", lambda n: entry(b'.pragma "a\0b";\n'), codes=(OK, INVALID)),
    Case("nul in a name", lambda n: entry(b"mov.u32 %r1, %r\x002;\n"), codes=(INVALID,)),
    Case("nul at the end", lambda n: SMALL + b"\0", codes=(OK, INVALID)),
    Case("latin-1 in a comment", lambda n: HEAD + b"// gr\xfc\xdfe\n"),
    Case("latin-1 in a name", lambda n: entry(b"mov.u32 %r\xfc, 1;\n"), codes=(INVALID,)),
    Case("escape codes in a name", lambda n: entry(b"mov.u32 %r\x1b[31m, 1;\n"), codes=(INVALID,)),
    Case("crlf", lambda n: SMALL.replace(b"\n", b"\r\n"), modes=(COPY, REPRINT, OPTIMIZE)),
    Case("cr", lambda n: SMALL.replace(b"\n", b"\r"), codes=(OK, INVALID)),
    Case("byte order mark", lambda n: b"\xef\xbb\xbf" + SMALL, modes=(COPY, REPRINT, OPTIMIZE)),
    Case("byte order mark twice", lambda n: b"\xef\xbb\xbf" * 2 + SMALL, codes=(INVALID,)),
    Case("no last newline", lambda n: SMALL.rstrip(), modes=(COPY, REPRINT, OPTIMIZE)),
    Case("small", lambda n: SMALL, modes=(COPY, REPRINT, OPTIMIZE, WEBS)),

    # ---- deep ----
    *[Case(f"nested {b} in a body{' closed' if closed else ''}",
           lambda n, b=b, closed=closed, e=e: entry(b.encode() * n + (e.encode() * n if closed else b"")), 100_000,
           codes=(OK, INVALID) if closed and b == "{" else (INVALID,))
      for b, e in ("{}", "[]", "()") for closed in (False, True)],
    *[Case(f"nested {b} in an operand", lambda n, b=b, e=e: entry(b"mov.u32 %r1, " + b.encode() * n + b"1" + e.encode() * n + b";\n"),
           100_000, codes=(INVALID,)) for b, e in ("{}", "[]", "()")],
    *[Case(f"nested {b} in an initializer",
           lambda n, b=b, e=e: HEAD + b".global .u32 x[] = " + b.encode() * n + b"1" + e.encode() * n + b";\n",
           100_000, codes=(INVALID,)) for b, e in ("{}", "[]", "()")],
    Case("nested ( in a dimension", lambda n: HEAD + b".global .u32 x[" + b"(" * n, 100_000, codes=(INVALID,)),
    Case("nested ( in a parameter list", lambda n: HEAD + b".entry k" + b"(" * n, 100_000, codes=(INVALID,)),
    Case("nested ( in an attribute", lambda n: HEAD + b".global .attribute" + b"(" * n, 100_000, codes=(INVALID,)),
    Case("casts in an operand", lambda n: entry(b"mov.u32 %r1, " + b"(.u32)" * n + b"1;\n"), 100_000, codes=(OK, INVALID)),
    Case("casts of names in an operand", lambda n: entry(b"mov.u32 %r1, " + b"(.u32)" * n + b"x;\n"), 100_000, codes=(INVALID,)),
    Case("casts in an initializer", lambda n: HEAD + b".global .u32 x = " + b"(.u32)" * n + b"1;\n", 100_000, codes=(OK, INVALID)),
    Case("assignments in an initializer", lambda n: HEAD + b".global .texref x = {" + b"a=" * n + b"1};\n", 100_000,
         codes=(OK, INVALID)),
    Case("calls in an initializer", lambda n: HEAD + b".global .u32 x = " + b"a(" * n + b"1" + b")" * n + b";\n", 100_000,
         codes=(INVALID,)),
    Case("bytes in an initializer", lambda n: HEAD + b".global .u32 x = " + b"1(" * n + b"1" + b")" * n + b";\n", 100_000,
         codes=(INVALID,)),
    Case("signs in an operand", lambda n: entry(b"mov.u32 %r1, " + b"-~!+" * n + b"1;\n"), 1_000_000, codes=(OK, INVALID),
         scales=True),
    Case("signs before a register", lambda n: entry(b"mov.u32 %r1, " + b"-" * n + b"%r2;\n"), 1_000_000, codes=(INVALID,)),
    Case("signs in an initializer", lambda n: HEAD + b".global .u32 x = " + b"-" * n + b"1;\n", 1_000_000, codes=(OK, INVALID)),
    Case("a long expression", lambda n: HEAD + b".global .u32 x = 1" + b"+1" * n + b";\n", 1_000_000, codes=(OK, INVALID),
         scales=True),
    Case("a long expression in an operand", lambda n: entry(b"mov.u32 %r1, 1" + b"+1" * n + b";\n"), 1_000_000,
         codes=(OK, INVALID), scales=True),
    Case("a long address", lambda n: entry(b"ld.global.u32 %r1, [%rd1" + b"+1" * n + b"];\n"), 1_000_000,
         codes=(OK, INVALID), scales=True),

    # ---- long lines ----
    Case("a long line of blanks", lambda n: entry(b"\tmov.u32" + b" " * n + b"%r1, 1;\n"), LONG, modes=(REPRINT,), bytes_per_byte=3),
    Case("a long comment", lambda n: entry(b"// " + b"x" * n + b"\n"), LONG, modes=(REPRINT,), bytes_per_byte=3),
    Case("a long comment with stars", lambda n: entry(b"/*" + b"* / " * (n // 4) + b"*/\n"), LONG, modes=(COPY,), bytes_per_byte=3),
    Case("a long string", lambda n: entry(b'.pragma "' + b"x" * n + b'";\n'), LONG, modes=(COPY,), bytes_per_byte=6),
    Case("a long initializer", lambda n: HEAD + b".global .b8 t[] = {" + b"1,23,0xf," * (n // 9) + b"4};\n", LONG // 2,
         modes=(REPRINT,), bytes_per_byte=12),
    Case("a long initializer of names",
         lambda n: HEAD + b".global .u32 a;\n.global .u64 t[] = {" + b"a+4," * (n // 4) + b"a};\n", 8_000_000, modes=(REPRINT,),
         bytes_per_byte=12),
    Case("a long initializer of braces", lambda n: HEAD + b".global .u32 t[][1] = {" + b"{1}," * (n // 4) + b"{1}};\n", 8_000_000,
         modes=(REPRINT,), bytes_per_byte=12),
    Case("an unterminated comment", lambda n: HEAD + b"/*" + b"x" * n, 20_000_000, codes=(INVALID,), modes=(COPY,), bytes_per_byte=3),
    Case("an unterminated string", lambda n: entry(b'.pragma "' + b"x" * n), 20_000_000, codes=(INVALID,), modes=(COPY,), bytes_per_byte=3),
    Case("unterminated comments", lambda n: entry(b"mov.u32 %r1, 1 " + b"/ *" * n), 200_000, codes=(INVALID,), modes=(COPY,)),
    Case("a long undefined register", lambda n: entry(b"mov.u32 %r1, %" + b"x" * n + b";\n"), 20_000_000, codes=(INVALID,),
         modes=(COPY,), bytes_per_byte=6),
    Case("a long undefined label", lambda n: entry(b"bra L" + b"x" * n + b";\n"), 20_000_000, codes=(INVALID,), modes=(COPY,),
         bytes_per_byte=6),
    Case("a long undefined symbol", lambda n: entry(b"mov.u64 %rd1, S" + b"x" * n + b";\n"), 20_000_000, codes=(INVALID,),
         modes=(COPY,), bytes_per_byte=6),
    Case("a long guard", lambda n: entry(b"@" + b" " * n + b"x ret;\n"), 20_000_000, codes=(INVALID,), modes=(COPY,),
         bytes_per_byte=6),
    Case("a long name declared twice", lambda n: entry(b".reg .b32 " + b"x" * n + b", " + b"x" * n + b";\n"), 10_000_000,
         codes=(INVALID,), modes=(COPY,), bytes_per_byte=6),
    Case("a long label twice", lambda n: entry(b"x" * n + b":\n" + b"x" * n + b":\n"), 10_000_000, codes=(INVALID,),
         modes=(COPY,), bytes_per_byte=6),
    Case("a long unknown opcode", lambda n: entry(b"x" * n + b" %r1;\n"), 10_000_000, modes=(REPRINT, ("-O0", "--warn-unknown")),
         bytes_per_byte=10),
    Case("a long number", lambda n: entry(b"mov.u32 %r1, " + b"9" * n + b";\n"), 20_000_000, codes=(INVALID,), modes=(COPY,),
         bytes_per_byte=6),
    Case("a long number of zeros", lambda n: entry(b"mov.u32 %r1, " + b"0" * n + b";\n"), 20_000_000, codes=(OK, INVALID),
         modes=(REPRINT,), bytes_per_byte=6),
    Case("a long version", lambda n: b".version 8." + b"0" * n + b"9\n", 20_000_000, codes=(INVALID,), modes=(COPY,),
         bytes_per_byte=6),
    Case("an error on the last of many lines", lambda n: HEAD + b"// x\n" * n + b"?", 4_000_000, codes=(INVALID,), modes=(COPY,),
         bytes_per_byte=6, scales=True),
    Case("an error at the end of a long line", lambda n: entry(b"mov.u32 %r1, 1;" * n + b"?"), 300_000, codes=(INVALID,),
         modes=(COPY,), scales=True),
    Case("semicolons", lambda n: HEAD + b";" * n, 4_000_000, codes=(OK, INVALID)),
    Case("semicolons in a body", lambda n: entry(b";" * n), 4_000_000, codes=(OK, INVALID)),
    Case("one instruction of many operands", lambda n: entry(b"foo " + b"%r1," * n + b"%r2;\n"), 1_000_000, scales=True),
    Case("one instruction of many vectors", lambda n: entry(b"foo " + b"{%r1}," * n + b"%r2;\n"), 500_000, scales=True),
    Case("one instruction of many targets", lambda n: entry(b"L: bra {" + b"L," * n + b"L};\n"), 100_000,
         codes=(OK, INVALID), scales=True),
    Case("one opcode of many parts", lambda n: entry(b"foo" + b".x" * n + b" %r1;\n"), 1_000_000, scales=True),
    Case("one opcode of many parts with blanks", lambda n: entry(b"foo" + b" .x" * n + b" %r1;\n"), 50_000,
         codes=(OK, INVALID), scales=True),
    Case("one register of many lanes", lambda n: entry(b"mov.u32 %r1, %tid" + b" .x" * n + b";\n"), 50_000,
         codes=(OK, INVALID), scales=True),
    Case("one declaration of many names", lambda n: entry(b"", b".reg .b32 x" + numbered(",x{}", n) + b";\n"), 200_000, scales=True),
    Case("one declaration of many modifiers", lambda n: HEAD + b".global " + b".align 4 " * n + b".u32 x;\n", 200_000,
         codes=(OK, INVALID), scales=True),
    Case("one array of many dimensions", lambda n: HEAD + b".global .u32 x" + b"[1]" * n + b";\n", 300_000,
         codes=(OK, INVALID), scales=True),
    Case("one function of many parameters",
         lambda n: HEAD + b".entry k(" + b",".join(b".param .u32 p%d" % i for i in range(n)) + b"){ret;}\n", 200_000, scales=True),
    Case("one function of many directives", lambda n: HEAD + b".entry k() " + b".maxntid 1 " * n + b"{ret;}\n", 300_000,
         codes=(OK, INVALID), scales=True),
    Case("one pragma of many strings", lambda n: entry(b'.pragma ""' + b',""' * n + b";\n"), 500_000, scales=True),
    Case("one target of many options", lambda n: b".version 8.0\n.target sm_80" + b",x" * n + b"\n", 500_000,
         codes=(OK, INVALID), scales=True),
    Case("one section of many entries", lambda n: HEAD + b".section .debug_x { " + b".b8 1,2,3\n" * n + b"}\n", 300_000, scales=True),

    # ---- many names ----
    Case("a huge register range", lambda n: entry(numbered("mov.u32 %x{}, 1;\n", n, 4294900000), b".reg .b32 %x<4294967295>;\n"),
         60_000, scales=True, bytes_per_byte=200),
    Case("registers of a range", lambda n: entry(numbered("mov.u32 %x{}, 1;\n", n), b".reg .b32 %x<" + str(n).encode() + b">;\n"),
         200_000, scales=True),
    Case("exact registers", lambda n: entry(numbered("mov.u32 %x{}, 1;\n", n), numbered(".reg .b32 %x{};\n", n)), 100_000,
         scales=True),
    Case("exact registers without numbers",
         lambda n: entry(numbered("mov.u32 %x{}y, 1;\n", n), numbered(".reg .b32 %x{}y;\n", n)), 100_000, scales=True),
    Case("exact registers, then ranges", exact_then_ranges, 50_000, codes=(OK, INVALID), scales=True),
    Case("ranges of one register", lambda n: entry(b"", b"".join(b".reg .b32 %%x%s_<1>;\n" % str(i).encode() for i in range(n))),
         100_000, scales=True),
    Case("ranges used at their ends",
         lambda n: entry(numbered("mov.u32 %x{}_65535, 1;\n", n), numbered(".reg .b32 %x{}_<65536>;\n", n)), 3_000,
         bytes_per_byte=500, scales=True),
    Case("sibling scopes", lambda n: entry(b"{ .reg .b32 %x<4>; .reg .pred p; mov.u32 %x1, %r1; @p mov.u32 %r2, %x1; }\n" * n), 50_000,
         modes=(REPRINT, OPTIMIZE, WEBS), scales=True),
    Case("sibling scopes with large ranges", lambda n: entry(b"{ .reg .b32 %x<65536>; mov.u32 %x65535, %r1; }\n" * n), 20_000,
         scales=True),
    Case("nested scopes that redeclare", lambda n: entry(b"{ .reg .b32 %x<4>; mov.u32 %x1, %r1;\n" * n + b"}\n" * n), 50_000,
         codes=(OK, INVALID), scales=True),
    Case("nested scopes, an outer register",
         lambda n: entry(b"{ .reg .b32 %x<2>; mov.u32 %x5, 1;\n" * n + b"}\n" * n, b".reg .b32 %x<9>;\n"), 50_000,
         codes=(OK, INVALID), scales=True),
    Case("nested scopes, an outer label", deep_branches, 20_000, codes=(OK, INVALID), scales=True),
    Case("variables in ranges", lambda n: entry(numbered(".local .b32 x{}_<65536>;\n", n)), 500, codes=(OK, INVALID), scales=True,
         bytes_per_byte=5000),
    Case("target ranges", lambda n: entry(numbered("t{}: .branchtargets L<65536>;\n", n)), 500, codes=(INVALID,), scales=True,
         bytes_per_byte=5000),
    Case("symbols", lambda n: HEAD + numbered(".global .u32 g{};\n", n) + b".entry k(){ .reg .b64 %d;" +
         numbered("mov.u64 %d, g{};\n", n) + b"ret; }\n", 200_000, scales=True),
    Case("symbols used before they are declared", lambda n: HEAD + b".entry k(){ .reg .b64 %d;" +
         numbered("mov.u64 %d, g{};\n", n) + b"ret; }\n" + numbered(".global .u32 g{};\n", n), 200_000, codes=(OK, INVALID), scales=True),
    Case("long names alike", lambda n: entry(b"", numbered(".reg .b32 x" + "y" * 1000 + "{};\n", n)), 20_000, scales=True),
    Case("names that look made", lambda n: entry(b"mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; mov.u32 %r1, 2; st.global.u32 [%rd1], %r1;\n",
         REGISTERS + b"".join(b".reg .b32 %b32" + b"_" * i + b"0;\n" for i in range(1, n))), 2_000, modes=(WEBS,), scales=True),
    Case("unknown opcodes", lambda n: entry(numbered("foo{} %r1, %r2;\n", n)), 40_000, scales=True),
    Case("files", lambda n: HEAD + numbered('.file {} "x"\n', n, 1), 200_000, scales=True),
    Case("lines", lambda n: entry(numbered(".loc 1 {} 1\nadd.u32 %r1, %r1, 1;\n", n)), 200_000, scales=True),
    Case("aliases", lambda n: HEAD + b".func f(){ret;}\n" + numbered(".func a{}();\n.alias a{}, f;\n", n), 50_000, scales=True),

    # ---- many functions, blocks, instructions ----
    Case("small functions", lambda n: HEAD + numbered(".func f{}() { ret; }\n", n), 100_000, scales=True, bytes_per_byte=20),
    Case("small functions on all cores", lambda n: HEAD + numbered(".func f{}() { ret; }\n", n), 100_000,
         modes=(("-O2", "-j0"),), bytes_per_byte=20),
    Case("prototypes", lambda n: HEAD + numbered(".func f{}(.param .b32 x);\n", n), 100_000, scales=True, bytes_per_byte=120),
    Case("functions with calls", lambda n: HEAD + b".func g(.reg .b32 x){ret;}\n" +
         numbered(".func f{}() { .reg .b32 r; call g, (r); ret; }\n", n), 50_000, scales=True, bytes_per_byte=120),
    Case("real functions", many_functions, 3_000, modes=(REPRINT, OPTIMIZE, WEBS), scales=True),
    Case("labels", lambda n: entry(numbered("L{}:\n", n)), 1_000_000),
    Case("labels with branches", lambda n: entry(numbered("L{}:\n\t@%p1 bra L{};\n", n)), 100_000, scales=True),
    Case("labels before a table", lambda n: entry(numbered("L{}:\n", n) + b".branchtargets L0;\n" +
         numbered("brx.idx %r1, L{};\n", n)), 20_000, scales=True),
    Case("branches back", lambda n: entry(b"L: " + b"@%p1 bra L;\n" * n), 200_000, scales=True),
    Case("branches forth", lambda n: entry(b"@%p1 bra L;\n" * n + b"L:\n"), 200_000, scales=True),
    Case("one block", lambda n: entry(b"\tadd.u32 %r1, %r1, %r2;\n\txor.b32 %r2, %r1, 5;\n" * n + b"st.global.u32 [%rd1], %r2;\n"),
         150_000, modes=(REPRINT, OPTIMIZE, WEBS), scales=True),
    Case("one dead block", lambda n: entry(b"\tadd.u32 %r1, %r1, %r2;\n\txor.b32 %r2, %r1, 5;\n" * n), 150_000,
         modes=(OPTIMIZE,), scales=True),
    Case("a dead chain of registers",
         lambda n: entry(numbered("mov.u32 %x{}, %x{};\n", n), b".reg .b32 %x<" + str(n + 1).encode() + b">;\n"), 150_000,
         modes=(OPTIMIZE, WEBS), scales=True),
    Case("unreachable blocks", lambda n: entry(b"ret;\n" + numbered("L{}: add.u32 %r1, %r1, 1;\n\tbra L{};\n", n)), 100_000,
         modes=(OPTIMIZE,), scales=True),
    Case("a chain of blocks", lambda n: entry(numbered("\tadd.u32 %r1, %r1, 1;\n\t@%p1 bra L{};\nL{}:\n", n) +
         b"st.global.u32 [%rd1], %r1;\n"), 50_000, modes=(REPRINT, OPTIMIZE, WEBS), scales=True),
    Case("a chain of blocks against the order",
         lambda n: entry(b"\tbra L%d;\n" % (n - 1) + b"L0: st.global.u32 [%rd1], %r1; ret;\n" +
                         b"".join(b"L%d: add.u32 %%r1, %%r1, 1; bra L%d;\n" % (i, i - 1) for i in range(1, n))), 50_000,
         modes=(OPTIMIZE, WEBS), scales=True),
    Case("a chain of values", lambda n: entry(b"".join(
         b"L%d: @%%p1 bra L%d; mov.u32 %%x%d, %%x%d;\n" % (i, i + 1, i, i + 1) for i in range(n)) + b"L%d: bra L0;\n" % n,
         REGISTERS + b".reg .b32 %x<" + str(n + 1).encode() + b">;\n"), 2_000, modes=(OPTIMIZE, WEBS)),
    Case("deep loops", lambda n: loop_nest(n, 1), 10_000, modes=(OPTIMIZE, WEBS), scales=True),
    Case("deep loops with live counters", lambda n: loop_nest(n, n), 1_000, modes=(OPTIMIZE, WEBS), bytes_per_byte=200),
    Case("one loop about many", lambda n: entry(b"TOP:\n" + numbered("L{}: add.u32 %r1, %r1, 1; @%p1 bra L{};\n", n) +
         b"@%p2 bra TOP;\nst.global.u32 [%rd1], %r1;\n"), 50_000, modes=(OPTIMIZE, WEBS), scales=True),
    Case("many live registers over many blocks", lambda n: pressure(n, n), 5_000, modes=(OPTIMIZE, WEBS), bytes_per_byte=800),
    Case("very many live registers over very many blocks", lambda n: pressure(n, 4 * n), 50_000, modes=(OPTIMIZE, WEBS),
         bytes_per_byte=200),
    Case("indirect branches, all to all", all_to_all, 3_000, modes=(OPTIMIZE, WEBS), bytes_per_byte=800),
    Case("very many indirect branches, all to all", all_to_all, 50_000, modes=(OPTIMIZE, WEBS), bytes_per_byte=800),
    Case("indirect branches to anywhere", unknown_targets, 3_000, codes=(OK, INVALID), modes=(OPTIMIZE,), bytes_per_byte=800),
    Case("very many indirect branches to anywhere", unknown_targets, 50_000, codes=(OK, INVALID), modes=(OPTIMIZE,),
         bytes_per_byte=800),
    Case("unknown opcode", lambda n: entry(b"frobnicate.x.y %r1, [%rd1+4], {%r2, %r3}, 5, %f1;\n"),
         modes=(COPY, REPRINT, OPTIMIZE, WEBS)),
]
