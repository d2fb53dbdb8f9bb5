"""Kernels of the kinds of Triton's tutorials, compiled for named targets without a GPU, for tests/python/clients.py.

  python triton_kernels.py [--tutorials FOLDER] CAPABILITY...

FOLDER is python/tutorials of Triton's sources, whose kernels are compiled in the place of these; what is taken of them is
written to the working folder.

Prints a line of JSON for each kernel that Triton compiled: capability, kernel, digests of its PTX and its cubin.
"""
import argparse
import ast
import hashlib
import json
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def softmax(out, x, x_stride, out_stride, rows, columns, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        at = tl.arange(0, BLOCK)
        values = tl.load(x + row * x_stride + at, mask=at < columns, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * out_stride + at, powers / tl.sum(powers, axis=0), mask=at < columns)


@triton.jit
def matmul(a, b, c, M, N, K, a_stride, b_stride, c_stride, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = (tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    inner = tl.arange(0, BLOCK_K)
    a_at = a + rows[:, None] * a_stride + inner[None, :]
    b_at = b + inner[:, None] * b_stride + columns[None, :]
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = tl.load(a_at, mask=inner[None, :] < K - k * BLOCK_K, other=0.0)
        right = tl.load(b_at, mask=inner[:, None] < K - k * BLOCK_K, other=0.0)
        sums = tl.dot(left, right, sums)
        a_at += BLOCK_K
        b_at += BLOCK_K * b_stride
    c_at = c + rows[:, None] * c_stride + columns[None, :]
    tl.store(c_at, sums.to(tl.float16), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    kept = tl.rand(seed, at) > p
    values = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.where(kept, values / (1 - p), 0.0), mask=at < n)


@triton.jit
def layer_norm(x, y, weight, bias, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        sums += tl.load(x + row * stride + at, mask=at < N, other=0.0).to(tl.float32)
    mean = tl.sum(sums, axis=0) / N
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = tl.where(at < N, tl.load(x + row * stride + at, mask=at < N, other=0.0).to(tl.float32) - mean, 0.0)
        squares += value * value
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = (tl.load(x + row * stride + at, mask=at < N, other=0.0).to(tl.float32) - mean) * scale
        value = value * tl.load(weight + at, mask=at < N) + tl.load(bias + at, mask=at < N)
        tl.store(y + row * stride + at, value, mask=at < N)


@triton.jit
def attention(q, k, v, out, scale, stride, N, BLOCK: tl.constexpr, HEAD: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    head = tl.arange(0, HEAD)
    query = tl.load(q + rows[:, None] * stride + head[None, :])
    best = tl.full([BLOCK], -float("inf"), dtype=tl.float32)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    sums = tl.zeros([BLOCK, HEAD], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        keys = tl.load(k + at[None, :] * stride + head[:, None])
        scores = tl.dot(query, keys) * scale
        new = tl.maximum(best, tl.max(scores, 1))
        powers = tl.exp2(scores - new[:, None])
        old = tl.exp2(best - new)
        total = total * old + tl.sum(powers, 1)
        values = tl.load(v + at[:, None] * stride + head[None, :])
        sums = tl.dot(powers.to(tl.float16), values, sums * old[:, None])
        best = new
    tl.store(out + rows[:, None] * stride + head[None, :], (sums / total[:, None]).to(tl.float16))


H, F, I = "*fp16", "*fp32", "i32"
# A kernel: the types of its parameters, and of the last of them the values.
OWN = {
    "add": ([F, F, F, I], {"BLOCK": 1024}),
    "softmax": ([F, F, I, I, I, I], {"BLOCK": 1024}),
    "matmul": ([H, H, H, I, I, I, I, I, I], {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}),
    "dropout": ([F, F, I, "fp32", I], {"BLOCK": 1024}),
    "layer_norm": ([H, H, H, H, I, I, "fp32"], {"BLOCK": 1024}),
    "attention": ([H, H, H, H, "fp32", I, I], {"BLOCK": 64, "HEAD": 64}),
}
# Those of Triton's tutorials that take no descriptors: file, kernel, types, values.
TUTORIALS = [
    ("01-vector-add.py", "add_kernel", [F, F, F, I], {"BLOCK_SIZE": 1024}),
    ("02-fused-softmax.py", "softmax_kernel", [F, F, I, I, I, I], {"BLOCK_SIZE": 1024, "num_stages": 4}),
    ("03-matrix-multiplication.py", "matmul_kernel", [H, H, H] + [I] * 9,
     {"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 32, "GROUP_SIZE_M": 8, "ACTIVATION": ""}),
    ("04-low-memory-dropout.py", "_dropout", [F, "*i32", F, I, "fp32"], {"BLOCK_SIZE": 1024}),
    ("04-low-memory-dropout.py", "_seeded_dropout", [F, F, I, "fp32", I], {"BLOCK_SIZE": 1024}),
    ("05-layer-norm.py", "_layer_norm_fwd_fused", [H, H, H, H, F, F, I, I, "fp32"], {"BLOCK_SIZE": 1024}),
    ("05-layer-norm.py", "_layer_norm_bwd_dx_fused", [H] * 6 + [F, F, "*i32", I, I], {"GROUP_SIZE_M": 64, "BLOCK_SIZE_N": 1024}),
    ("05-layer-norm.py", "_layer_norm_bwd_dwdb", [F, F, H, H, I, I], {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 128}),
    ("06-fused-attention.py", "_attn_bwd_preprocess", [H, H, F, I, I, I], {"BLOCK_M": 128, "HEAD_DIM": 64}),
    ("06-fused-attention.py", "_attn_bwd", [H, H, H, "fp32", H, H, H, H, F, F] + [I] * 6,
     {"BLOCK_M1": 32, "BLOCK_N1": 128, "BLOCK_M2": 128, "BLOCK_N2": 32, "BLK_SLICE_FACTOR": 2, "HEAD_DIM": 64, "CAUSAL": True}),
    ("06-fused-attention.py", "_attn_fwd", ["fp32", F, I, I, H, H, H, H, I],
     {"HEAD_DIM": 64, "BLOCK_M": 128, "BLOCK_N": 64, "FP8_OUTPUT": False, "STAGE": 3, "warp_specialize": False, "IS_HOPPER": False}),
    ("07-extern-functions.py", "asin_kernel", [F, F, I], {"BLOCK_SIZE": 1024}),
    ("08-grouped-gemm.py", "grouped_matmul_kernel", ["*i64", "*i64", "*i64", "*i32", "*i32", I],
     {"NUM_SM": 84, "BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 32}),
]


def of_tutorial(path, folder):
    """The functions of a tutorial that Triton compiles, without what runs them, which wants torch and a GPU."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kept = [node for node in tree.body if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(d) for d in node.decorator_list)]
    for node in kept:
        node.decorator_list = [ast.parse("triton.jit", mode="eval").body]
    module = Path(folder) / (path.stem.replace("-", "_") + "_kernels.py")
    head = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n\n\n"
    module.write_text(head + "\n\n\n".join(map(ast.unparse, kept)) + "\n", encoding="utf-8")
    names = {"__name__": module.stem, "__file__": str(module)}
    exec(compile(module.read_text(encoding="utf-8"), str(module), "exec"), names)
    return names


def source_of(function, types, values):
    values = {name: value for name, value in values.items() if name in function.arg_names}  # releases differ
    names = [p for p in function.arg_names if p not in values]
    signature = dict(zip(names, types))
    if len(names) != len(types):
        raise ValueError(f"{function.__name__} has parameters {names}")
    try:
        return ASTSource(fn=function, constexprs=values, signature={**signature, **{name: "constexpr" for name in values}})
    except TypeError:  # before 3.3
        return ASTSource(fn=function, constants=values, signature=signature)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tutorials", type=Path)
    parser.add_argument("capabilities", nargs="+", type=int)
    args = parser.parse_args()
    jobs = [(globals()[name], types, values) for name, (types, values) in OWN.items()]
    if args.tutorials:  # written to the working folder, whose path is in the PTX
        jobs = [(of_tutorial(args.tutorials / file, Path.cwd())[name], types, values) for file, name, types, values in TUTORIALS]
    for capability in args.capabilities:
        for function, types, values in jobs:
            made = triton.compile(source_of(function, types, values), target=GPUTarget("cuda", capability, 32))
            ptx, cubin = (hashlib.sha256(text).hexdigest() for text in (made.asm["ptx"].encode(), made.asm["cubin"]))
            print(json.dumps({"capability": capability, "kernel": function.__name__, "cubin": cubin, "ptx": ptx}), flush=True)


if __name__ == "__main__":
    main()
