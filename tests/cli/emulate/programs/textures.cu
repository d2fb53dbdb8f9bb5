// Textures of one, two and three dimensions, in layers, with coordinates of 0 to 1, of integers; surfaces of three dimensions.
#include <cmath>

#include "program.h"

cudaTextureObject_t textureOf(const cudaResourceDesc& resource, cudaTextureAddressMode address, cudaTextureFilterMode filter,
                              bool normalized) {
  cudaTextureDesc how{};
  for (cudaTextureAddressMode& a : how.addressMode) a = address;
  how.filterMode = filter;
  how.normalizedCoords = normalized;
  cudaTextureObject_t texture;
  CUDA(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  return texture;
}
cudaResourceDesc resourceOf(cudaArray_t array) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  return r;
}

__global__ void read1(cudaTextureObject_t t, float* out) { out[threadIdx.x] = tex1D<float>(t, threadIdx.x / 32.0f); }
__global__ void read2(cudaTextureObject_t t, int* out) {
  out[threadIdx.y * 8 + threadIdx.x] = tex2D<int>(t, static_cast<int>(threadIdx.x) - 2 + 0.5f, threadIdx.y + 0.5f);
}
__global__ void read3(cudaTextureObject_t t, float* out, float z) {
  out[threadIdx.y * 4 + threadIdx.x] = tex3D<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f, z);
}
__global__ void layers(cudaTextureObject_t t, ushort2* out) {
  out[threadIdx.y * 8 + threadIdx.x] = tex2DLayered<ushort2>(t, threadIdx.x + 0.5f, 1.5f, threadIdx.y);
}
__global__ void add(cudaSurfaceObject_t s, float more) {
  const int x = threadIdx.x * static_cast<int>(sizeof(float)), y = threadIdx.y, z = threadIdx.z;
  float v;
  surf3Dread(&v, s, x, y, z);
  surf3Dwrite(v + more, s, x, y, z);
}

int main() {
  float* const out = zeros<float>(64);
  // One dimension, wrapped, between texels.
  std::vector<float> line(16);
  for (int i = 0; i < 16; ++i) line[i] = static_cast<float>(i * i);
  const auto floats = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CUDA(cudaMallocArray(&array, &floats, 16));
  CUDA(cudaMemcpy2DToArray(array, 0, 0, line.data(), 64, 64, 1, cudaMemcpyHostToDevice));
  read1<<<1, 64>>>(textureOf(resourceOf(array), cudaAddressModeWrap, cudaFilterModeLinear, true), out);
  const auto wrapped = onHost(out, 64);
  for (int i = 0; i < 64; ++i) {
    const float at = static_cast<float>(i % 32) / 2 - 0.5f, low = std::floor(at);
    const int a = (static_cast<int>(low) + 16) % 16;
    EXPECT(std::fabs(wrapped[i] - (line[a] + (at - low) * (line[(a + 1) % 16] - line[a]))) < 0.01f);
  }
  // Two dimensions, in pitched memory, of integers, with a rim of zeros.
  void* pitched;
  size_t pitch;
  CUDA(cudaMallocPitch(&pitched, &pitch, 4 * sizeof(int), 4));
  std::vector<int> square(16);
  for (int i = 0; i < 16; ++i) square[i] = i - 5;
  CUDA(cudaMemcpy2D(pitched, pitch, square.data(), 16, 16, 4, cudaMemcpyHostToDevice));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {pitched, cudaCreateChannelDesc<int>(), 4, 4, pitch};
  int* const ints = zeros<int>(32);
  read2<<<1, dim3(8, 4)>>>(textureOf(resource, cudaAddressModeBorder, cudaFilterModePoint, false), ints);
  const auto bordered = onHost(ints, 32);
  for (int i = 0; i < 32; ++i) {
    const int x = i % 8 - 2;
    EXPECT(bordered[i] == (x < 0 || x > 3 ? 0 : square[i / 8 * 4 + x]));
  }
  // Three dimensions: changed through a surface, read through a texture between two slices.
  cudaArray_t box;
  const cudaExtent extent = make_cudaExtent(4, 4, 4);
  CUDA(cudaMalloc3DArray(&box, &floats, extent, cudaArraySurfaceLoadStore));
  std::vector<float> cube(64);
  for (int i = 0; i < 64; ++i) cube[i] = static_cast<float>(i);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(cube.data(), 16, 4, 4);
  copy.dstArray = box;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&copy));
  cudaSurfaceObject_t surface;
  resource = resourceOf(box);
  CUDA(cudaCreateSurfaceObject(&surface, &resource));
  add<<<1, dim3(4, 4, 4)>>>(surface, 1000);
  read3<<<1, dim3(4, 4)>>>(textureOf(resource, cudaAddressModeClamp, cudaFilterModeLinear, false), out, 2.0f);
  LAUNCHED();
  const auto slice = onHost(out, 16);
  for (int i = 0; i < 16; ++i) EXPECT(std::fabs(slice[i] - (1000 + 16 + i + 8)) < 0.01f);
  // Layers of pairs.
  cudaArray_t layered;
  const auto pairs = cudaCreateChannelDesc<ushort2>();
  CUDA(cudaMalloc3DArray(&layered, &pairs, make_cudaExtent(8, 2, 3), cudaArrayLayered));
  std::vector<ushort2> texels(48);
  for (unsigned short i = 0; i < 48; ++i) texels[i] = {i, static_cast<unsigned short>(i * 1000)};
  copy = {};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), 32, 8, 2);
  copy.dstArray = layered;
  copy.extent = make_cudaExtent(8, 2, 3);
  copy.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&copy));
  auto* const found = zeros<ushort2>(24);
  layers<<<1, dim3(8, 3)>>>(textureOf(resourceOf(layered), cudaAddressModeClamp, cudaFilterModePoint, false), found);
  LAUNCHED();
  const auto read = onHost(found, 24);
  for (int i = 0; i < 24; ++i) {
    const ushort2 expected = texels[i / 8 * 16 + 8 + i % 8];
    EXPECT(read[i].x == expected.x && read[i].y == expected.y);
  }
  cudaChannelFormatDesc format;
  cudaExtent size;
  unsigned flags;
  CUDA(cudaArrayGetInfo(&format, &size, &flags, layered));
  EXPECT(format.y == 16 && size.width == 8 && size.depth == 3 && flags == cudaArrayLayered);
  return passed();
}
