"""Triton's autotuner compiles its configurations, for a GPU that is made up, for tests/python/clients.py: what a launch goes
through, but for the timing. Prints how many configurations there are, the second time from Triton's memory."""
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime.jit import MockTensor


class Driver:
    launcher_cls = None

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=None):
        return 0

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_benchmarker(self):
        return lambda *arguments, **named: [0.0, 0.0, 0.0]


triton.runtime.driver.set_active(Driver())


@triton.autotune(configs=[triton.Config({"BLOCK": block}, num_warps=warps) for block in (512, 1024) for warps in (4, 8)], key=["n"])
@triton.jit
def softmax(out, x, rows, n, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        at = tl.arange(0, BLOCK)
        values = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * n + at, powers / tl.sum(powers, axis=0), mask=at < n)


for _ in range(2):
    print(len(softmax.warmup(MockTensor(tl.float32), MockTensor(tl.float32), 100, 500, grid=(1,))))
