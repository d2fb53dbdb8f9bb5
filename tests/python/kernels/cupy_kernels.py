"""A kernel compiled by CuPy's NVRTC for named targets without a GPU, for tests/python/clients.py.

  python cupy_kernels.py CAPABILITY...
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
"""
for capability in sys.argv[1:]:
    made, _ = compiler._NVRTCProgram(SOURCE, method="ptx").compile((f"-arch=compute_{capability}",))
    print(capability, len(made))
