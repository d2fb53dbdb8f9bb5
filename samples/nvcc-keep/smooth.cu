#include "smooth.h"

__global__ void smooth(const float* in, float* out, int count, int radius) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    float sum = 0, weights = 0;
    for (int d = -radius; d <= radius; ++d) {
      const int at = i + d;
      if (at < 0 || at >= count) continue;
      const float w = weightAt(d, radius);
      sum += w * in[at];
      weights += w;
    }
    out[i] = sum / weights;
  }
}
