"""Functions that torch.compile compiles for a named target without a GPU, for tests/python/clients.py.

  python torch_kernels.py CAPABILITY...

The tensors are fake ones on a GPU that is described here. Inductor makes its kernels and has Triton compile them; nothing loads or
runs them.
"""
import sys
from types import SimpleNamespace
from unittest import mock

import torch
import torch.nn.functional as F
import triton
from torch._dynamo import device_interface
from torch._inductor import config
from torch._inductor.compile_fx import compile_fx
from torch._inductor.fx_passes import joint_graph
from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.hints import DeviceProperties
from torch._subclasses import FakeTensorMode
from torch.nn.attention.flex_attention import flex_attention
from triton.backends.compiler import GPUTarget

# Name, multiprocessors, shared memory of a block.
GPUS = {"80": ("A100", 108, 166912), "90": ("H100", 132, 232448), "100": ("B200", 148, 232448)}
# One of the tiles for a product, and all that a template of attention has: nothing is left to measure.
SETTINGS = {"compile_threads": 1, "force_disable_caches": True, "joint_graph_constant_folding": False, "max_autotune_gemm": True,
            "max_autotune_gemm_backends": "TRITON", "benchmark_template_fusion": False,
            "test_configs.autotune_choice_desc_regex": "BLOCK_K=32, BLOCK_M=64, BLOCK_N=64|SPARSE_KV_BLOCK_SIZE"}
FUNCTIONS = {}


def function(*shapes, kind=torch.float32):
    def keep(f):
        FUNCTIONS[f.__name__] = f, shapes, kind
        return f
    return keep


@function((4096, 1000), (1000,))
def bias_gelu(x, bias):
    return F.gelu(x + bias)


@function((1024, 1000))
def softmax(x):
    return torch.softmax(x, 1)


@function((512, 40000))
def log_softmax(x):
    return torch.log_softmax(x, 1)


@function((1024, 1000), (1000,), (1000,))
def layer_norm(x, weight, bias):
    return F.layer_norm(x, (1000,), weight, bias)


@function((1024, 5000), (5000,))
def rms_norm(x, weight):
    return x * torch.rsqrt(torch.mean(x * x, 1, keepdim=True) + 1e-5) * weight


@function((64, 37, 55, 3))
def permute(x):
    return x.permute(0, 3, 1, 2).contiguous() * 2


@function((4096, 999))
def sums_of_columns(x):
    return x.sum(0), x.amax(0)


@function((1024, 1000))
def dropout(x):
    return F.dropout(x, 0.1, True)


@function((512, 1000))
def running_sum(x):
    return torch.cumsum(x, 1)


@function((16, 32, 57, 57))
def pooling(x):
    return F.max_pool2d(x, 3, 2, 1)


@function((16, 12, 33, 33))
def upsampling(x):
    return F.interpolate(x, scale_factor=2, mode="bilinear")


@function((8, 100, 12, 64), (100, 32), (100, 32))
def rotation(x, cos, sin):
    a, b = x[..., :32], x[..., 32:]
    cos, sin = cos[:, None], sin[:, None]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


@function((1000, 512), (512, 768), (768,), kind=torch.bfloat16)
def product_relu(a, b, bias):
    return torch.relu(a @ b + bias)


@function((4, 8, 1024, 64), (4, 8, 1024, 64), (4, 8, 1024, 64), kind=torch.bfloat16)
def attention(q, k, v):
    return flex_attention(q, k, v, score_mod=lambda score, batch, head, row, column: torch.where(row >= column, score, -float("inf")))


def described(capability):
    name, processors, shared = GPUS[capability]
    return SimpleNamespace(name=name, major=int(capability[:-1]), minor=int(capability[-1]), multi_processor_count=processors, warp_size=32,
                           regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024,
                           shared_memory_per_block=49152, shared_memory_per_block_optin=shared, shared_memory_per_multiprocessor=shared + 1024,
                           total_memory=80 << 30, L2_cache_size=50 << 20, gcnArchName="")


def of_a_gpu(capability):
    """What torch.compile calls: Inductor, which sees that GPU. Dynamo, before it, sees none."""
    gpu = described(capability)
    cuda = {"is_available": lambda: True, "current_device": lambda: 0, "device_count": lambda: 1,
            "get_device_properties": lambda device=None: gpu, "get_device_capability": lambda device=None: (gpu.major, gpu.minor),
            "get_rng_state": torch.get_rng_state, "set_rng_state": lambda state: None,
            "_exchange_device": lambda index: 0, "_maybe_exchange_device": lambda index: 0, "synchronize": lambda: None}
    interface = {name: staticmethod(cuda[name]) for name in ("current_device", "device_count", "get_device_properties")}
    autotuner = {name: lambda self: None for name in ("_make_launchers", "_dynamic_scale_rblock")}

    triton.runtime.driver.set_active(SimpleNamespace(get_current_target=lambda: GPUTarget("cuda", int(capability), 32)))

    def backend(graph, inputs):
        with mock.patch.multiple(torch.cuda, **cuda), mock.patch.multiple(device_interface.CudaInterface, **interface), \
             mock.patch.multiple(triton_heuristics.CachingAutotuner, **autotuner), \
             mock.patch.object(triton_helpers, "set_driver_to_gpu", lambda: None), \
             mock.patch.object(joint_graph, "lazy_init", lambda device=None: None), \
             config.patch(SETTINGS):
            compile_fx(graph, inputs)
        return graph.forward  # on fake tensors: what was compiled does not run
    return backend


def main():
    for capability in sys.argv[1:]:
        DeviceProperties.create.cache_clear()
        for name, (f, shapes, kind) in FUNCTIONS.items():
            torch._dynamo.reset()
            with FakeTensorMode():
                torch.compile(f, backend=of_a_gpu(capability))(*(torch.empty(shape, dtype=kind, device="cuda") for shape in shapes))
            print(capability, name, flush=True)


if __name__ == "__main__":
    main()
