// Convolutions and pooling, with bounds tests, and index arithmetic on tensors in NCHW order.
#include "each_index.h"
#ifdef INDEX_TYPE

// A filter over a line; what lies outside counts as zero.
KERNEL(convolve_1d)(const float* in, const float* filter, float* out, Index n, Index radius) {
  const Index at = GLOBAL_X;
  if (at >= n) return;
  float sum = 0.0f;
  for (Index k = 0; k <= 2 * radius; ++k)
    if (at + k >= radius && at + k - radius < n) sum += filter[k] * in[at + k - radius];
  out[at] = sum;
}

// Two dimensions with bounds tests, a pixel a thread.
KERNEL(convolve_2d)
(const float* __restrict__ in, const float* __restrict__ filter, float* __restrict__ out, Index width, Index height,
 Index size) {
  const Index x = GLOBAL_X, y = GLOBAL_Y;
  if (x >= width || y >= height) return;
  const Index radius = size / 2;
  float sum = 0.0f;
  for (Index fy = 0; fy < size; ++fy) {
    const Index sy = y + fy;
    if (sy < radius || sy - radius >= height) continue;
    for (Index fx = 0; fx < size; ++fx) {
      const Index sx = x + fx;
      if (sx >= radius && sx - radius < width)
        sum += filter[fy * size + fx] * in[(sy - radius) * width + sx - radius];
    }
  }
  out[y * width + x] = sum;
}

// The rows' half of a separable filter, with coordinates clamped to the image.
KERNEL(separable_rows)(const float* in, const float* filter, float* out, Index width, Index height, int radius) {
  const Index x = GLOBAL_X, y = GLOBAL_Y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int k = -radius; k <= radius; ++k) {
    long long at = static_cast<long long>(x) + k;
    at = at < 0 ? 0 : at;
    const Index clamped = at < static_cast<long long>(width) ? static_cast<Index>(at) : width - 1;
    sum += filter[k + radius] * in[y * width + clamped];
  }
  out[y * width + x] = sum;
}

// The columns' half on a tile in shared memory with a halo of eight rows on both sides.
KERNEL(separable_columns)(const float* in, const float* filter, float* out, Index width, Index height) {
  __shared__ float tile[16 + 16][17];
  const Index x = static_cast<Index>(blockIdx.x) * 16 + threadIdx.x, top = static_cast<Index>(blockIdx.y) * 16;
  for (int r = threadIdx.y; r < 32; r += 16) {
    const Index y = top + r;
    tile[r][threadIdx.x] = x < width && y >= 8 && y - 8 < height ? in[(y - 8) * width + x] : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < 17 && threadIdx.y + k < 32; ++k) sum += filter[k] * tile[threadIdx.y + k][threadIdx.x];
  if (x < width && top + threadIdx.y < height) out[(top + threadIdx.y) * width + x] = sum;
}

// Depthwise: each channel has a filter of its own.
KERNEL(depthwise)
(const float* in, const float* filters, float* out, Index channels, Index height, Index width, Index size,
 Index stride, Index outHeight, Index outWidth) {
  const Index at = GLOBAL_X;
  if (at >= channels * outHeight * outWidth) return;
  const Index ox = at % outWidth, oy = at / outWidth % outHeight, c = at / outWidth / outHeight;
  float sum = 0.0f;
  for (Index ky = 0; ky < size; ++ky)
    for (Index kx = 0; kx < size; ++kx) {
      const Index iy = oy * stride + ky, ix = ox * stride + kx;
      if (iy < height && ix < width)
        sum += in[(c * height + iy) * width + ix] * filters[(c * size + ky) * size + kx];
    }
  out[at] = sum;
}

// A direct convolution over all channels.
KERNEL(convolve_nchw)
(const float* in, const float* weights, const float* bias, float* out, Index channels, Index height, Index width,
 Index filters, Index size) {
  const Index x = GLOBAL_X, y = GLOBAL_Y, f = blockIdx.z;
  if (x + size > width || y + size > height || f >= filters) return;
  float sum = bias[f];
  for (Index c = 0; c < channels; ++c)
    for (Index ky = 0; ky < size; ++ky)
      for (Index kx = 0; kx < size; ++kx)
        sum += in[(c * height + y + ky) * width + x + kx] * weights[((f * channels + c) * size + ky) * size + kx];
  out[(f * (height - size + 1) + y) * (width - size + 1) + x] = sum;
}

// The patches of a convolution as columns of a matrix: the index falls apart in the loop over the grid.
KERNEL(im2col)
(const float* in, float* out, Index count, Index height, Index width, Index size, Index stride, Index outHeight,
 Index outWidth) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = GLOBAL_X; i < count; i += step) {
    const Index ox = i % outWidth, oy = i / outWidth % outHeight, c = i / (outWidth * outHeight);
    const float* from = in + (c * height + oy * stride) * width + ox * stride;
    float* to = out + (c * size * size * outHeight + oy) * outWidth + ox;
    for (Index ky = 0; ky < size; ++ky)
      for (Index kx = 0; kx < size; ++kx) {
        *to = from[ky * width + kx];
        to += outHeight * outWidth;
      }
  }
}

// NCHW to NHWC.
KERNEL(nchw_to_nhwc)(const float* in, float* out, Index count, Index channels, Index height, Index width) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = GLOBAL_X; i < count; i += step) {
    const Index w = i % width, h = i / width % height, c = i / width / height % channels,
                n = i / width / height / channels;
    out[((n * height + h) * width + w) * channels + c] = in[i];
  }
}

// The largest of each window.
KERNEL(max_pool)
(const float* in, float* out, Index count, Index height, Index width, Index outHeight, Index outWidth, Index size,
 Index stride) {
  const Index i = GLOBAL_X;
  if (i >= count) return;
  const Index ox = i % outWidth, oy = i / outWidth % outHeight, plane = i / outWidth / outHeight;
  const Index endY = oy * stride + size < height ? oy * stride + size : height;
  const Index endX = ox * stride + size < width ? ox * stride + size : width;
  float most = -INFINITY;
  for (Index y = oy * stride; y < endY; ++y)
    for (Index x = ox * stride; x < endX; ++x) most = fmaxf(most, in[plane * height * width + y * width + x]);
  out[i] = most;
}

#endif
