"""Runs a command and says what CPU time and memory it took; makes PTX of a given size."""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
from tables import table  # noqa: E402, F401  what uses this prints tables, too

MIB = 1 << 20

FUNCTION = """
	// .globl	{name}
.visible .entry {name}(
	.param .u64 {name}_param_0,
	.param .u64 {name}_param_1,
	.param .u32 {name}_param_2
)
{{
	.reg .pred 	%p<{predicates}>;
	.reg .f32 	%f<{floats}>;
	.reg .b32 	%r<{words}>;
	.reg .b64 	%rd<{longs}>;

	ld.param.u64 	%rd1, [{name}_param_0];
	ld.param.u64 	%rd2, [{name}_param_1];
	ld.param.u32 	%r1, [{name}_param_2];
	cvta.to.global.u64 	%rd3, %rd1;
	cvta.to.global.u64 	%rd4, %rd2;
	mov.u32 	%r2, %ctaid.x;
	mov.u32 	%r3, %ntid.x;
	mov.u32 	%r4, %tid.x;
	mad.lo.s32 	%r5, %r2, %r3, %r4;
	mov.f32 	%f1, 0f00000000;
{blocks}
	mul.wide.s32 	%rd5, %r5, 4;
	add.s64 	%rd6, %rd4, %rd5;
	st.global.f32 	[%rd6], %f{last};
	ret;

}}
"""

BLOCK = """	setp.ge.s32 	%p{p}, %r{r0}, %r1;
	@%p{p} bra 	$L__BB{f}_{next};

	.loc	1 {line} 5
	mul.wide.s32 	%rd{d0}, %r{r0}, 4;
	add.s64 	%rd{d1}, %rd3, %rd{d0};
	ld.global.f32 	%f{a}, [%rd{d1}];
	ld.global.f32 	%f{b}, [%rd{d1}+-128];
	fma.rn.f32 	%f{c}, %f{a}, %f{b}, %f{x};
	.loc	1 {line} 17
	mul.lo.s32 	%r{r1}, %r{r0}, 1103515245;
	add.s32 	%r{r2}, %r{r1}, 12345;
	shr.u32 	%r{r3}, %r{r2}, 16;
	and.b32  	%r{r4}, %r{r3}, 32767;
	cvt.rn.f32.u32 	%f{e}, %r{r4};
	add.f32 	%f{g}, %f{c}, %f{e};
	st.global.f32 	[%rd{d1}+64], %f{g};

$L__BB{f}_{next}:
"""


def function(index, blocks):
    """As nvcc prints one: values are assigned once, blocks are short, lines have positions."""
    out = []
    for i in range(blocks):
        r, d, f = 5 + 4 * i, 7 + 2 * i, 1 + 5 * i
        out.append(BLOCK.format(p=i + 1, f=index, next=i + 1, line=10 + i % 900, r0=5, r1=r + 1, r2=r + 2, r3=r + 3, r4=r + 4,
                                d0=d, d1=d + 1, x=1, a=f + 1, b=f + 2, c=f + 3, e=f + 4, g=f + 5))
    return FUNCTION.format(name=f"_Z8kernel{index}PKfPfi", blocks="".join(out), predicates=blocks + 1, floats=5 * blocks + 2,
                           words=4 * blocks + 6, longs=2 * blocks + 7, last=1)


def ptx(size, blocks=None):
    """About `size` bytes of functions of 4 to 60 blocks, or of `blocks`."""
    parts = ['.version 8.0\n.target sm_80\n.address_size 64\n\n\t.file	1 "synthetic.cu"\n']
    done, index, cycle = 0, 0, {}
    while done < size:
        n = blocks or 4 + index * 37 % 57
        if n not in cycle:
            cycle[n] = function(999999999, n)
        parts.append(cycle[n].replace("999999999", str(index)))
        done += len(parts[-1])
        index += 1
    return "".join(parts)


def blocks_for(size):
    return max(1, size // (len(function(0, 1000)) // 1000))


# What the kernel reports as a child's largest memory begins with that of the process it was forked from: a small one.
STARTER = """
import os, subprocess, sys
quiet = subprocess.DEVNULL
child = subprocess.Popen(sys.argv[1:], stdin=quiet, stdout=quiet, stderr=quiet)
_, status, usage = os.wait4(child.pid, 0)
print(status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, flush=True)
os._exit(0)
"""


def measure(command, times=1):
    """The least CPU seconds, and the memory in bytes; None when it fails."""
    best = None
    for _ in range(times):
        result = subprocess.run([sys.executable, "-S", "-E", "-c", STARTER, *command], stdout=subprocess.PIPE, text=True)
        status, seconds, memory = result.stdout.split()
        if status != "0":
            return None
        if best is None or float(seconds) < best[0]:
            best = (float(seconds), int(memory))
    return best
