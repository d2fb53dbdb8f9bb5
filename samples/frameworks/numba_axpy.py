"""A Numba kernel compiled for sm_80 without a GPU, its PTX optimized by ptxopt.

    python samples/frameworks/numba_axpy.py [OUT.cubin]

Numba hands its PTX to the driver or to a library and never calls ptxas. So it is taken from cuda.compile_ptx, goes
through `ptxopt as`, and the cubin is what the last lines load where there is a GPU. $PTXOPT names the program. The real
ptxas must not be older than the NVVM that Numba uses: pip install nvidia-cuda-nvcc brings one, which is found here.
"""
import os
import subprocess
import sys
import sysconfig
import tempfile

from numba import cuda, types


def axpy(n, a, x, y):
    i = cuda.grid(1)
    while i < n:
        y[i] += a * x[i]
        i += cuda.gridsize(1)


def cubin_of(function, signature, capability):
    """The machine code of a kernel, by way of ptxopt."""
    ptx, _ = cuda.compile_ptx(function, signature, cc=capability)
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, f"{function.__name__}.ptx"), os.path.join(folder, "out.cubin")
        with open(source, "w") as file:
            file.write(ptx)
        done = subprocess.run([os.environ.get("PTXOPT", "ptxopt"), "as", f"-arch=sm_{capability[0]}{capability[1]}", source, "-o", out],
                              stderr=subprocess.PIPE, text=True, env={"PTXOPT_PYTHON_PACKAGES": sysconfig.get_path("purelib"), **os.environ})
        if "Unsupported .version" in done.stderr:
            sys.exit("no ptxas here takes the PTX of this Numba: pip install -U nvidia-cuda-nvcc")
        sys.stderr.write(done.stderr)
        done.check_returncode()
        with open(out, "rb") as file:
            return file.read()


cubin = cubin_of(axpy, (types.int32, types.float32, types.float32[::1], types.float32[::1]), (8, 0))
print(f"axpy: {len(cubin)} bytes of machine code")
if len(sys.argv) > 1:
    with open(sys.argv[1], "wb") as out:
        out.write(cubin)

if cuda.is_available():
    from cuda.core import ObjectCode
    print(ObjectCode.from_cubin(cubin))
