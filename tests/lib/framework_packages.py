"""Triton, Numba and JAX from PyPI, in virtual environments under $PTXOPT_TEST_CACHE, else ~/.cache/ptxopt-tests: about 2.9 GB
(1.8 without JAX), kept for the next time."""
import json
import os
import subprocess
import venv
from pathlib import Path

PACKAGES = {"frameworks": ["triton==3.9.0", "numba-cuda[cu13]==0.30.4", "nvidia-nvvm==13.0.*", "setuptools"],
            "jax": ["jax==0.10.2", "jax-cuda13-plugin==0.10.2"],
            "ptxas": ["nvidia-cuda-nvcc==13.5.*"]}
# ptxas and nvdisasm, 0.2 GB, for tests/codegen/sass.
TOOLS = {"cuda-tools": ["nvidia-cuda-nvdisasm==13.5.*", "nvidia-cuda-nvcc==13.5.*"]}
# What the hooks of the Python package are tried with besides, 1.1 GB and PyTorch's 5.3, for tests/python/clients.py.
HOOKS = {"triton-3.2": ["triton==3.2.0", "setuptools"], "triton-3.5": ["triton==3.5.0"], "triton-3.6": ["triton==3.6.0"],
         "triton-3.7": ["triton==3.7.1"], "triton-3.8": ["triton==3.8.0"], "warp": ["warp-lang==1.19.0"],
         "cupy": ["cupy-cuda12x==14.2.0", "nvidia-cuda-nvrtc-cu12"],
         "torch": ["torch==2.15.0"]}
# Compilers that tests/codegen/producers takes PTX from: 0.4, 0.7 and 0.1 GB, and with TileLang's PyTorch 6.
PRODUCERS = {"cutedsl": ["nvidia-cutlass-dsl==4.8.1"], "mojo": ["mojo==1.2.0", "max-mojo-libs==26.7.0", "max-core==26.7.0"],
             "slang": ["--no-deps", "slangtorch==1.3.22"], "tilelang": ["tilelang==0.1.15"]}
MOST_SECONDS = 1200


def packages_of(name):
    return {**PACKAGES, **TOOLS, **HOOKS, **PRODUCERS}[name]


def python_with(name, install=True):
    """The interpreter of the environment of that name; None, with the reason, where that cannot be made or, without
    `install`, is not there."""
    packages = packages_of(name)
    folder = Path(os.environ.get("PTXOPT_TEST_CACHE", Path.home() / ".cache" / "ptxopt-tests")) / name
    python, done = folder / "bin" / "python", folder / "packages.json"
    if done.exists() and json.loads(done.read_text()) == packages:
        return str(python), ""
    if not install:
        return None, "they are not installed"
    try:
        venv.create(folder, with_pip=True, clear=True)
        result = subprocess.run([python, "-m", "pip", "install", "-q", *packages], capture_output=True, timeout=MOST_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        return None, str(error)
    if result.returncode != 0:
        return None, result.stderr.decode(errors="replace").strip().splitlines()[-1]
    done.write_text(json.dumps(packages))
    return str(python), ""


def newest_ptxas():
    """The ptxas of the newest toolkit, of PTX ISA 9.5; None, with the reason, where it cannot be had."""
    python, reason = python_with("ptxas")
    found = sorted(Path(python).parents[1].glob("lib/python*/site-packages/nvidia/cu13/bin/ptxas")) if python else []
    return (str(found[0]), "") if found else (None, reason or "the package has no ptxas")
