"""Kernels compiled by CuPy's NVRTC for named targets without a GPU, for tests/python/clients.py.

  python cupy_kernels.py CAPABILITY...

The PTX goes into the file sums-CAPABILITY.ptx.
"""
import sys

import cupy.cuda.compiler as compiler

SOURCE = """
extern "C" __global__ void row_sums(float* out, const float* x, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float total = 0;
  for (int column = 0; column < n; column++) total += x[row * n + column] / (column + 1);
  out[row] = total;
}
extern "C" __global__ void sums_in_memory(float* out, const float* x, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  for (int column = 0; column < n; column++) out[row] += x[row * n + column];
}
"""
for capability in sys.argv[1:]:
    made, _ = compiler._NVRTCProgram(SOURCE, method="ptx").compile((f"-arch=compute_{capability}",))
    with open(f"sums-{capability}.ptx", "wb") as file:
        file.write(made if isinstance(made, bytes) else made.encode())
    print(capability, len(made))
