"""A Triton kernel compiled without a GPU, its PTX optimized by ptxopt on the way.

    export TRITON_PTXAS_PATH="$(command -v ptxopt-ptxas)" TRITON_PTXAS_BLACKWELL_PATH="$(command -v ptxopt-ptxas-blackwell)"
    python samples/frameworks/triton_add.py [OUT.cubin [CAPABILITY]]

CAPABILITY is that of the GPU to compile for, 80 without it. Triton calls the programs of these variables in the place of its
two: `ptxas`, and `ptxas-blackwell` for sm_90 and newer. ptxopt then calls Triton's own, unless $PTXOPT_PTXAS names another.
"""
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scale_rows(out, x, factors, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, width, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < width
        tl.store(out + row * width + at, tl.load(x + row * width + at, mask) * tl.load(factors + row), mask)


source = ASTSource(fn=scale_rows, constexprs={"BLOCK": 256},
                   signature={"out": "*fp32", "x": "*fp32", "factors": "*fp32", "width": "i32", "BLOCK": "constexpr"})
kernel = triton.compile(source, target=GPUTarget("cuda", int(sys.argv[2]) if len(sys.argv) > 2 else 80, 32))
print(f"{kernel.metadata.name}: {len(kernel.asm['ptx'])} characters of PTX, {len(kernel.asm['cubin'])} bytes of machine code")
if len(sys.argv) > 1:
    with open(sys.argv[1], "wb") as out:
        out.write(kernel.asm["cubin"])
