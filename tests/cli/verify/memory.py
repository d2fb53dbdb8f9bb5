#!/usr/bin/env python3
"""The memory that `ptxopt verify` takes for itself: as much as kernels touch, however many pointers there may be.

  tests/cli/verify/memory.py --tool PATH
"""
import resource
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import command_tests  # noqa: E402

GIB = 1 << 30
HEAD = ".version 8.1\n.target sm_80\n.address_size 64\n"
# Each 8 bytes of the structure may be a pointer.
LARGE = """.visible .entry large(.param .align 8 .b8 values[24000], .param .u64 out)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	mov.b64 %rd3, values;
	add.s64 %rd4, %rd3, %rd2;
	ld.param.u32 %r2, [%rd4];
	add.s64 %rd5, %rd1, %rd2;
	st.global.u32 [%rd5], %r2;
	ret;
}
"""
# Far before and behind where the pointer points: a step of STEP bytes for each thread.
FAR = """.visible .entry NAME(.param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.s32 %rd2, %r1, STEP;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r2, [%rd3+4];
	add.u32 %r3, %r2, 1;
	st.global.v2.u32 [%rd3], {%r3, %r2};
	ret;
}
"""
# Threads of a block that write far from each other: much address space.
WIDE = FAR.replace("NAME", "wide").replace("STEP", "8388608")
STEPS = {"near": 8, "rising": 1048576, "falling": -1048576, "page": 4096, "down": -8}


class Memory(command_tests.CommandTests):
    PARTS = ("candidates", "limited", "far", "exhausted")

    def __init__(self, folder, tool):
        super().__init__("verify.memory", tool, folder)

    def limited_run(self, limit, *words):
        def prepare():
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        return subprocess.run([self.tool, *map(str, words)], capture_output=True, text=True, timeout=command_tests.LIMIT,
                              cwd=self.folder, preexec_fn=prepare)

    def candidates(self):
        self.write("large.ptx", HEAD + LARGE)
        self.ends(0, ["verify", "large.ptx", "large.ptx", "--trials", "4"], "equal         large")
        self.write("other.ptx", HEAD + LARGE.replace("st.global.u32 [%rd5], %r2", "st.global.u32 [%rd5+4], %r2"))
        self.ends(1, ["verify", "large.ptx", "other.ptx", "--trials", "4"], "different     large")

    def limited(self):
        """Under a limit of the address space as it is common on shared machines."""
        kernels = "".join(FAR.replace("NAME", name).replace("STEP", str(step)) for name, step in STEPS.items())
        self.write("all.ptx", HEAD + LARGE + kernels)
        done = self.limited_run(2 * GIB, "verify", "all.ptx", "all.ptx", "--trials", "4")
        self.check(done.returncode == 0 and done.stdout.count("equal ") == 1 + len(STEPS), done)

    def far(self):
        """Memory is one piece for the kernel: what lies far from the pointer is compared like what lies near."""
        for name, step in STEPS.items():
            text = HEAD + FAR.replace("NAME", name).replace("STEP", str(step))
            self.write("a.ptx", text)
            # Only the thread at the far end leaves something else.
            last = "\tsetp.eq.u32 %p, %r1, 31;\n\t@%p add.u32 %r3, %r3, 1;\n\tst.global.v2"
            self.write("b.ptx", text.replace("\tst.global.v2", last).replace(".reg .b32", ".reg .pred %p;\n\t.reg .b32"))
            shape = ["--grid", "1", "--block", "32", "--trials", "4"]
            self.ends(0, ["verify", "a.ptx", "a.ptx", *shape], f"equal         {name}")
            self.ends(1, ["verify", "a.ptx", "b.ptx", *shape], f"different     {name}")

    def exhausted(self):
        """A kernel that needs more than there is is not compared; the others are."""
        self.write("wide.ptx", HEAD + WIDE + FAR.replace("NAME", "near").replace("STEP", "8"))
        words = ["verify", "wide.ptx", "wide.ptx", "--trials", "4", "--grid", "1", "--block", "1024"]
        self.ends(0, words, "equal         near", "equal         wide")
        done = self.limited_run(2 * GIB, *words)
        self.check(done.returncode == 2 and "equal         near" in done.stdout, done)
        self.check("not compared  wide" in done.stdout and "no memory left" in done.stdout, done)


if __name__ == "__main__":
    sys.exit(command_tests.main(__doc__, Memory))
