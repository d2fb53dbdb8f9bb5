// Memory of three dimensions: pitched boxes, copies of a part of one into another, filling, a kernel with blocks of three
// dimensions.
#include "program.h"

__global__ void blur(cudaPitchedPtr in, cudaPitchedPtr out, int3 size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= size.x || y >= size.y || z >= size.z) return;
  const auto place = [&](const cudaPitchedPtr& p, int i, int j, int k) {
    return reinterpret_cast<int*>(static_cast<char*>(p.ptr) + (static_cast<size_t>(k) * p.ysize + j) * p.pitch) + i;
  };
  int sum = 0;
  for (int k = max(z - 1, 0); k <= min(z + 1, size.z - 1); ++k)
    for (int j = max(y - 1, 0); j <= min(y + 1, size.y - 1); ++j)
      for (int i = max(x - 1, 0); i <= min(x + 1, size.x - 1); ++i) sum += *place(in, i, j, k);
  *place(out, x, y, z) = sum;
}

int main() {
  constexpr int kX = 21, kY = 13, kZ = 9;
  const cudaExtent extent = make_cudaExtent(kX * sizeof(int), kY, kZ);
  std::vector<int> values(kX * kY * kZ), result(values.size(), -1);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * 37 % 101);
  cudaPitchedPtr in, out;
  CUDA(cudaMalloc3D(&in, extent));
  CUDA(cudaMalloc3D(&out, extent));
  CUDA(cudaMemset3D(out, 0xFF, extent));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(values.data(), kX * sizeof(int), kX, kY);
  copy.dstPtr = in;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&copy));
  const dim3 threads(8, 4, 4);
  blur<<<dim3((kX + 7) / 8, (kY + 3) / 4, (kZ + 3) / 4), threads>>>(in, out, make_int3(kX, kY, kZ));
  LAUNCHED();
  // The inner part alone comes back, to the same place.
  cudaMemcpy3DParms back{};
  back.srcPtr = out;
  back.dstPtr = make_cudaPitchedPtr(result.data(), kX * sizeof(int), kX, kY);
  back.srcPos = back.dstPos = make_cudaPos(sizeof(int), 1, 1);
  back.extent = make_cudaExtent((kX - 2) * sizeof(int), kY - 2, kZ - 2);
  back.kind = cudaMemcpyDefault;
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  CUDA(cudaMemcpy3DAsync(&back, stream));
  CUDA(cudaStreamSynchronize(stream));
  for (int z = 0; z < kZ; ++z)
    for (int y = 0; y < kY; ++y)
      for (int x = 0; x < kX; ++x) {
        const bool isInner = x > 0 && y > 0 && z > 0 && x < kX - 1 && y < kY - 1 && z < kZ - 1;
        int sum = isInner ? 0 : -1;
        for (int i = 0; isInner && i < 27; ++i)
          sum += values[((z + i / 9 - 1) * kY + y + i / 3 % 3 - 1) * kX + x + i % 3 - 1];
        EXPECT(result[(z * kY + y) * kX + x] == sum);
      }
  return passed();
}
