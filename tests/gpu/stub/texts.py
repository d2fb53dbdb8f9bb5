"""Small PTX for the test: kernels whose results, times and errors are known."""

HEAD = ".version 7.0\n.target sm_80\n.address_size 64\n"

# y[i] = x[i] * 2 in `iterations` turns of a loop that does nothing else, then what BODY does.
TWICE = HEAD + """
.global .u32 launches;
.visible .entry twice(.param .u64 x, .param .u64 y, .param .u32 n)
{
	.reg .pred %p;
	.reg .b32 %r<8>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mad.lo.u32 %r2, %r3, %r4, %r2;
	mov.u32 %r5, 0;
LOOP:
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %p, %r5, ITERATIONS;
	@%p bra LOOP;
	setp.ge.u32 %p, %r2, %r1;
	@%p bra DONE;
	mul.wide.u32 %rd3, %r2, 4;
	add.u64 %rd4, %rd1, %rd3;
	add.u64 %rd5, %rd2, %rd3;
	ld.global.f32 %f1, [%rd4];
	add.f32 %f2, %f1, %f1;
BODY
	st.global.f32 [%rd5], %f2;
DONE:
	ret;
}
"""


def twice(iterations=10, body="", target="sm_80"):
    return TWICE.replace("ITERATIONS", str(iterations)).replace("BODY", body).replace("sm_80", target).replace("7.0", "8.0")


# One that is wrong in element 5 alone.
WRONG_AT_5 = """	setp.eq.u32 %p, %r2, 5;
	@%p add.f32 %f2, %f2, 0f3F800000;"""
# The last thread also writes beyond the end.
BEYOND = """	add.u32 %r6, %r2, 1;
	setp.eq.u32 %p, %r6, %r1;
	@%p st.global.f32 [%rd5+4], %f2;"""
FAR = "	st.global.f32 [%rd5+1073741824], %f2;"
CROOKED = "	st.global.f32 [%rd5+2], %f2;"
TRAP = "	trap;"
# Another result in every launch: it counts them.
COUNTING = """	atom.global.add.u32 %r6, [launches], 1;
	cvt.rn.f32.u32 %f2, %r6;"""
# Another one from the third launch of 60 threads on.
LATER = """	atom.global.add.u32 %r6, [launches], 1;
	setp.ge.u32 %p, %r6, 120;
	@%p mov.f32 %f2, 0f00000000;"""
NAN = "	mov.b32 %f2, 0x7FC00000;"
OTHER_NAN = "	mov.b32 %f2, 0x7FC00001;"
# Only in clusters of two blocks.
CLUSTERED = """	mov.u32 %r6, %cluster_nctarank;
	setp.ne.u32 %p, %r6, 2;
	@%p trap;"""
