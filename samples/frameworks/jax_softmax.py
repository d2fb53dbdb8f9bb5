"""A JAX function compiled for sm_80 without a GPU, its PTX optimized by ptxopt on the way.

    mkdir -p ~/cuda-ptxopt/bin
    ln -s "$(command -v ptxopt-ptxas)" ~/cuda-ptxopt/bin/ptxas
    ln -s /usr/local/cuda/nvvm ~/cuda-ptxopt/nvvm
    export CUDA_ROOT=$HOME/cuda-ptxopt
    export XLA_FLAGS="--xla_gpu_enable_libnvptxcompiler=false --xla_gpu_enable_libnvjitlink=false"
    python samples/frameworks/jax_softmax.py

XLA starts the `bin/ptxas` of that folder when it is told not to compile PTX by the libraries that are linked in. ptxopt then
calls JAX's own ptxas, that of the package nvidia-cuda-nvcc, or one of the CUDA toolkit where there is none. On a machine with
a GPU these variables are enough, for any program; the rest of this sample describes a GPU that is not there. Needs jax and
jax-cuda13-plugin.
"""
import os

os.environ.setdefault("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1")  # it would look for the driver

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.experimental import topologies  # noqa: E402
from jax.sharding import SingleDeviceSharding  # noqa: E402

# An A100 in the words of XLA.
TARGET = """
gpu_device_info {
  cuda_compute_capability { major: 8 minor: 0 }
  core_count: 108 fpus_per_core: 64 clock_rate_ghz: 1.41
  threads_per_warp: 32 threads_per_block_limit: 1024 threads_per_core_limit: 2048
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  registers_per_block_limit: 65536 registers_per_core_limit: 65536
  shared_memory_per_block: 49152 shared_memory_per_block_optin: 166912 shared_memory_per_core: 167936
  l2_cache_size: 41943040 memory_bandwidth: 1555200000000 device_memory_size: 42331013120
}
platform_name: "CUDA"
dnn_version_info { major: 9 }
device_description_str: "A100"
"""


def softmax(x):
    e = jnp.exp(x - jnp.max(x, axis=1, keepdims=True))
    return e / jnp.sum(e, axis=1, keepdims=True)


topology = topologies.get_topology_desc("a100", "cuda", target_config=TARGET, topology="1x1x1")
device = SingleDeviceSharding(topology.devices[0])
shape = jax.ShapeDtypeStruct((1024, 4096), jnp.float32)
compiled = jax.jit(softmax, in_shardings=device, out_shardings=device).trace(shape).lower().compile()
print(f"softmax: compiled for {topology.devices[0].device_kind}, {compiled.as_text().count('fusion(')} fusions")
