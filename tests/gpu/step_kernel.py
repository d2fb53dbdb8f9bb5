"""The kernels of probes.py and streams.py: a loop whose iteration has so many steps, and nothing else that differs.

Each warp writes when it began and when it ended: those that others keep from issuing begin late. What the steps may use:
%lane; %a (different in each lane), %b, %c, %d, %la, %lb, %fa, %fb, %da, %db, which are loaded, so that ptxas knows nothing of
them; %out and %data; `zeros` in constant memory; %k, operands of matrix products. `before` runs once, `iteration` once an iteration.
"""

TIMES = 6144  # in `out`: 16 bytes for each warp
# Offset in `data` and value, as fit.py writes them: values that keep chains away from infinities.
INPUTS = {64: ("u32", 0x12345), 68: ("u32", 1664525), 72: ("u32", 0x5A5A1234), 76: ("u32", 77), 80: ("u32", 0x0F0F3C3C),
          88: ("u64", 0x123456789), 96: ("u64", 6364136223846793005), 104: ("u64", 99), 112: ("f32", 0.75), 116: ("f32", 0.5),
          120: ("f32", 0.375), 128: ("f64", 0.75), 136: ("f64", 0.5), 144: ("f64", 0.375), 152: ("u32", 0)}
HEAD = """.version {isa}
.target {target}
.address_size 64
.const .align 8 .b8 zeros[256];
"""
KERNEL = """
.visible .entry {name}(.param .u64 out, .param .u64 data, .param .u32 iterations)
.maxntid {threads}, 1, 1
{{
	.reg .pred %done;
	.reg .b32 %a, %b, %c, %d, %i, %n, %lane, %k<6>;
	.reg .b64 %la, %lb, %out, %data, %start, %end, %warp;
	.reg .f32 %fa, %fb;
	.reg .f64 %da, %db;
{declarations}
	ld.param.u64 %out, [out];
	ld.param.u64 %data, [data];
	ld.param.u32 %n, [iterations];
	cvta.to.global.u64 %out, %out;
	cvta.to.global.u64 %data, %data;
	mov.u32 %lane, %laneid;
	ld.global.b32 %a, [%data+68];
	add.u32 %a, %a, %lane;
	ld.global.b32 %b, [%data+72];
	ld.global.b32 %c, [%data+76];
	ld.global.b32 %d, [%data+80];
	ld.global.b64 %la, [%data+96];
	ld.global.b64 %lb, [%data+104];
	ld.global.f32 %fa, [%data+116];
	ld.global.f32 %fb, [%data+120];
	ld.global.f64 %da, [%data+136];
	ld.global.f64 %db, [%data+144];
	mov.b32 %k0, %a; mov.b32 %k1, %b; mov.b32 %k2, %c; mov.b32 %k3, %d; mov.b32 %k4, %a; mov.b32 %k5, %b;
{before}
	mov.u32 %i, 0;
	bar.sync 0;
	mov.u64 %start, %clock64;
$loop:
	.pragma "nounroll";
{steps}
{iteration}
	add.u32 %i, %i, 1;
	setp.lt.u32 %done, %i, %n;
	@%done bra $loop;
	mov.u64 %end, %clock64;
	mov.u32 %i, %tid.x;
	shr.u32 %i, %i, 5;
	mul.wide.u32 %warp, %i, 16;
	add.s64 %warp, %warp, %out;
	st.global.u64 [%warp+{times}], %start;
	st.global.u64 [%warp+{times}+8], %end;
{ends}
	ret;
}}
"""


def module(target, isa, lengths, threads, declarations, before, steps_of, ends, each_iteration=""):
    """The text of kernels probe_LENGTH. `steps_of`: the lines of so many steps."""
    return HEAD.format(isa=isa, target=target) + "".join(
        KERNEL.format(name=f"probe_{length}", threads=threads, declarations=declarations, before=before, steps="\n".join(steps_of(length)),
                      iteration=each_iteration, times=TIMES, ends=ends) for length in lengths)
