"""Functions that JAX compiles for a named target without a GPU, for tests/python/clients.py.

  python jax_kernels.py CAPABILITY...

XLA makes some kernels by its own code generator and some by Triton; two functions are Pallas kernels, which go through Triton, too.
"""
import functools
import os
import sys

os.environ.setdefault("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1")  # it would look for the driver

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.experimental import pallas as pl  # noqa: E402
from jax.experimental import topologies  # noqa: E402
from jax.experimental.pallas import triton as plgpu  # noqa: E402
from jax.sharding import SingleDeviceSharding  # noqa: E402

# Of a GPU, in the words of XLA: name, multiprocessors, units, GHz, shared memory of a block and of a multiprocessor, L2, bandwidth, memory.
GPUS = {"80": ("A100", 108, 64, 1.41, 166912, 167936, 41943040, 1555200000000, 42331013120),
        "90": ("H100", 132, 128, 1.98, 232448, 233472, 52428800, 3352320000000, 84942979072)}
TARGET = """
gpu_device_info {{
  cuda_compute_capability {{ major: {major} minor: {minor} }}
  core_count: {} fpus_per_core: {} clock_rate_ghz: {}
  threads_per_warp: 32 threads_per_block_limit: 1024 threads_per_core_limit: 2048
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  registers_per_block_limit: 65536 registers_per_core_limit: 65536
  shared_memory_per_block: 49152 shared_memory_per_block_optin: {} shared_memory_per_core: {}
  l2_cache_size: {} memory_bandwidth: {} device_memory_size: {}
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 }}
device_description_str: "{name}"
"""
FUNCTIONS = {}


def function(*shapes):
    def keep(f):
        FUNCTIONS[f.__name__] = f, [jax.ShapeDtypeStruct(shape, kind) for shape, kind in shapes]
        return f
    return keep


F, H, I = jnp.float32, jnp.bfloat16, jnp.int32


@function(((1024, 4096), F))
def softmax(x):
    return jax.nn.softmax(x, axis=1)


@function(((1024, 4096), H), ((4096,), H), ((4096,), H))
def layer_norm(x, scale, bias):
    x = x.astype(F)
    mean = jnp.mean(x, axis=1, keepdims=True)
    spread = jnp.mean(jnp.square(x - mean), axis=1, keepdims=True)
    return ((x - mean) * jax.lax.rsqrt(spread + 1e-5) * scale + bias).astype(H)


@function(((1000, 37, 24), F))
def permute(x):
    return jnp.transpose(x, (2, 0, 1)) * 2


@function(((1024, 1000), F))
def running_sum(x):
    return jnp.cumsum(x, axis=1)


@function(((2000, 300), F), ((2000, 300), F))
def recurrence(decay, x):
    return jax.lax.scan(lambda state, step: (state * step[0] + step[1],) * 2, jnp.zeros(300), (decay, x))[1]


@function(((50000, 64), F), ((3000,), I))
def gather(table, at):
    return table[at] * 3


@function(((500, 64), F), ((3000,), I), ((3000, 64), F))
def scatter(table, at, values):
    return table.at[at].add(values)


@function(((8, 30, 30, 64), F))
def pooling(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


@function(((4096, 1000), F))
def sums_of_columns(x):
    return jnp.sum(x * x, axis=0), jnp.max(x, axis=0)


@function(((1024,), jnp.uint32))
def random_numbers(key):
    return jax.random.normal(jax.random.wrap_key_data(key[:2]), (512, 333))


@function(((1000, 1000), F))
def sorted_rows(x):
    return jnp.sort(x, axis=1)


@function(((1024, 1024), H), ((1024, 1024), H))
def product_gelu(a, b):
    def kernel(a_ref, b_ref, out):
        def step(at, total):
            k = pl.ds(at * 32, 32)
            return total + plgpu.dot(plgpu.load(a_ref.at[:, k]), plgpu.load(b_ref.at[k, :]))
        out[...] = jax.nn.gelu(jax.lax.fori_loop(0, 1024 // 32, step, jnp.zeros((64, 64), F))).astype(H)
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((1024, 1024), H), grid=(16, 16),
                          in_specs=[pl.BlockSpec((64, 1024), lambda i, j: (i, 0)), pl.BlockSpec((1024, 64), lambda i, j: (0, j))],
                          out_specs=pl.BlockSpec((64, 64), lambda i, j: (i, j)), name="product_gelu",
                          compiler_params=plgpu.CompilerParams(num_warps=4, num_stages=2))(a, b)


@function(((1024, 1000), F))
def pallas_softmax(x):
    def kernel(x_ref, out):
        at = jnp.arange(1024)
        values = plgpu.load(x_ref.at[0, at], mask=at < 1000, other=-jnp.inf)
        powers = jnp.exp(values - jnp.max(values))
        plgpu.store(out.at[0, at], powers / jnp.sum(powers), mask=at < 1000)
    row = pl.BlockSpec((1, 1000), lambda i: (i, 0))
    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((1024, 1000), F), grid=(1024,), in_specs=[row], out_specs=row,
                          name="pallas_softmax", compiler_params=plgpu.CompilerParams(num_warps=4, num_stages=1))(x)


@functools.cache
def device_of(capability):
    name, *figures = GPUS[capability]
    words = TARGET.format(*figures, name=name, major=capability[:-1], minor=capability[-1])
    return topologies.get_topology_desc(name.lower(), "cuda", target_config=words, topology="1x1x1").devices[0]


def main():
    for capability in sys.argv[1:]:
        for name, (f, shapes) in FUNCTIONS.items():
            sharding = SingleDeviceSharding(device_of(capability))
            jax.jit(f, in_shardings=sharding, out_shardings=sharding).trace(*shapes).lower().compile()
            print(capability, name, flush=True)


if __name__ == "__main__":
    main()
