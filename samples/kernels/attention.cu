// softmax(Q K' * scale) V without the matrix in the middle: keys come in tiles through shared memory, and each
// query, a thread's own, keeps its maximum, its sum and its result up to date. blockIdx.y is the head.
constexpr int kDim = 32, kKeys = 16;

extern "C" __global__ void attention(int queries, int keys, float scale, bool causal, const float* __restrict__ q,
                                     const float* __restrict__ k, const float* __restrict__ v,
                                     float* __restrict__ out) {
  __shared__ float4 tileK[kKeys][kDim / 4], tileV[kKeys][kDim / 4];
  const int query = blockIdx.x * blockDim.x + threadIdx.x;
  const bool mine = query < queries;
  q += static_cast<long long>(blockIdx.y) * queries * kDim;
  out += static_cast<long long>(blockIdx.y) * queries * kDim;
  k += static_cast<long long>(blockIdx.y) * keys * kDim;
  v += static_cast<long long>(blockIdx.y) * keys * kDim;
  float x[kDim], result[kDim] = {}, most = -INFINITY, sum = 0;
  for (int d = 0; d < kDim; ++d) x[d] = mine ? q[query * kDim + d] * scale : 0.0f;
  for (int begin = 0; begin < keys; begin += kKeys) {
    __syncthreads();
    for (int i = threadIdx.x; i < kKeys * kDim / 4; i += blockDim.x) {
      const int key = begin + i / (kDim / 4);
      const float4 zero = make_float4(0, 0, 0, 0);
      tileK[i / (kDim / 4)][i % (kDim / 4)] =
          key < keys ? reinterpret_cast<const float4*>(k)[begin * kDim / 4 + i] : zero;
      tileV[i / (kDim / 4)][i % (kDim / 4)] =
          key < keys ? reinterpret_cast<const float4*>(v)[begin * kDim / 4 + i] : zero;
    }
    __syncthreads();
    if (!mine) continue;
    const int last = causal ? min(keys, query + 1) : keys;
#pragma unroll 1
    for (int j = 0; j < kKeys && begin + j < last; ++j) {
      float score = 0;
      for (int d = 0; d < kDim / 4; ++d) {
        const float4 y = tileK[j][d];
        score += x[d * 4] * y.x + x[d * 4 + 1] * y.y + x[d * 4 + 2] * y.z + x[d * 4 + 3] * y.w;
      }
      const float now = fmaxf(most, score), before = __expf(most - now), weight = __expf(score - now);
      most = now;
      sum = sum * before + weight;
      for (int d = 0; d < kDim / 4; ++d) {
        const float4 y = tileV[j][d];
        result[d * 4] = result[d * 4] * before + weight * y.x;
        result[d * 4 + 1] = result[d * 4 + 1] * before + weight * y.y;
        result[d * 4 + 2] = result[d * 4 + 2] * before + weight * y.z;
        result[d * 4 + 3] = result[d * 4 + 3] * before + weight * y.w;
      }
    }
  }
  if (mine)
    for (int d = 0; d < kDim; ++d) out[query * kDim + d] = result[d] / sum;
}
