// Shared by the three sources.
#pragma once

// weights.cu: the weight of a neighbour so many elements away.
__device__ float weightAt(int distance, int radius);
// smooth.cu: out[i] is the weighted mean of the elements of `in` at most `radius` away from i.
__global__ void smooth(const float* in, float* out, int count, int radius);
