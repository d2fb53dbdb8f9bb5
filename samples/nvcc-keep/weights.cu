#include "smooth.h"

__device__ float weightAt(int distance, int radius) {
  const float x = static_cast<float>(distance) / static_cast<float>(radius + 1);
  return 1.0f - x * x;
}
