// An image in an array: read through a texture that interpolates and repeats its rim, written through a surface; a median.
#include <algorithm>
#include <cmath>

#include "program.h"

constexpr int kWidth = 40, kHeight = 24;

__global__ void half(cudaTextureObject_t in, cudaSurfaceObject_t out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= kWidth / 2 || y >= kHeight / 2) return;
  // Between four texels: their mean.
  const float4 c = tex2D<float4>(in, 2 * x + 1, 2 * y + 1);
  surf2Dwrite(make_uchar4(c.x * 255 + 0.5f, c.y * 255 + 0.5f, c.z * 255 + 0.5f, c.w * 255 + 0.5f), out,
              x * static_cast<int>(sizeof(uchar4)), y);
}

__global__ void median(cudaTextureObject_t in, unsigned char* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= kWidth || y >= kHeight) return;
  unsigned char v[9];
  for (int i = 0; i < 9; ++i) v[i] = static_cast<unsigned char>(tex2D<float4>(in, x + i % 3 - 0.5f, y + i / 3 - 0.5f).x * 255 + 0.5f);
  for (int i = 0; i < 5; ++i)
    for (int j = i + 1; j < 9; ++j)
      if (v[j] < v[i]) {
        const unsigned char t = v[i];
        v[i] = v[j], v[j] = t;
      }
  out[y * kWidth + x] = v[4];
}

int main() {
  Numbers numbers;
  std::vector<uchar4> image(kWidth * kHeight);
  for (uchar4& p : image) p = make_uchar4(numbers.below(256), numbers.below(256), numbers.below(256), 255);
  const auto format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t in, out;
  CUDA(cudaMallocArray(&in, &format, kWidth, kHeight));
  CUDA(cudaMallocArray(&out, &format, kWidth / 2, kHeight / 2, cudaArraySurfaceLoadStore));
  const size_t row = kWidth * sizeof(uchar4);
  CUDA(cudaMemcpy2DToArray(in, 0, 0, image.data(), row, row, kHeight, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = in;
  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeNormalizedFloat;
  cudaTextureObject_t smooth, sharp;
  CUDA(cudaCreateTextureObject(&smooth, &resource, &how, nullptr));
  how.filterMode = cudaFilterModePoint;
  CUDA(cudaCreateTextureObject(&sharp, &resource, &how, nullptr));
  cudaSurfaceObject_t surface;
  resource.res.array.array = out;
  CUDA(cudaCreateSurfaceObject(&surface, &resource));
  const dim3 threads(16, 8), blocks(3, 3);
  half<<<blocks, threads>>>(smooth, surface);
  unsigned char* const middle = zeros<unsigned char>(kWidth * kHeight);
  median<<<blocks, threads>>>(sharp, middle);
  LAUNCHED();
  std::vector<uchar4> small(kWidth / 2 * (kHeight / 2));
  CUDA(cudaMemcpy2DFromArray(small.data(), row / 2, out, 0, 0, row / 2, kHeight / 2, cudaMemcpyDeviceToHost));
  for (int y = 0; y < kHeight / 2; ++y)
    for (int x = 0; x < kWidth / 2; ++x) {
      const auto at = [&](int i, int j) { return image[(2 * y + j) * kWidth + 2 * x + i]; };
      const float mean = (at(0, 0).y + at(1, 0).y + at(0, 1).y + at(1, 1).y) / 4.0f;
      EXPECT(std::fabs(small[y * (kWidth / 2) + x].y - mean) <= 1 && small[y * (kWidth / 2) + x].w == 255);
    }
  const auto medians = onHost(middle, kWidth * kHeight);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      std::vector<int> v;
      for (int i = 0; i < 9; ++i)
        v.push_back(image[std::clamp(y + i / 3 - 1, 0, kHeight - 1) * kWidth + std::clamp(x + i % 3 - 1, 0, kWidth - 1)].x);
      std::sort(v.begin(), v.end());
      EXPECT(medians[y * kWidth + x] == v[4]);
    }
  CUDA(cudaDestroyTextureObject(smooth));
  CUDA(cudaDestroySurfaceObject(surface));
  CUDA(cudaFreeArray(in));
  return passed();
}
