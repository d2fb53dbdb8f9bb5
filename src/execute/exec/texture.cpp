// A look-up becomes a position in texels of one slice: cube coordinates are projected on a face first, then scaled.
// Each index is then addressed on its own, and the texels are fetched and weighted in f64.
#include "exec/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "exec/value/half.h"

namespace ptxopt::exec {

namespace {

constexpr unsigned kMostDimensions = 3;
constexpr double kWeightSteps = 256.0;

template <typename T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <typename T>
void write(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// The most negative value of a signed normalized format is -1 too.
float normalizedSigned(int value, int top) {
  return std::max(static_cast<float>(value) / static_cast<float>(top), -1.0f);
}

void readComponent(TexelFormat format, const std::byte* at, float& number, uint32_t& integer) {
  switch (format) {
    case TexelFormat::Signed8: integer = static_cast<uint32_t>(static_cast<int32_t>(read<int8_t>(at))); return;
    case TexelFormat::Signed16: integer = static_cast<uint32_t>(static_cast<int32_t>(read<int16_t>(at))); return;
    case TexelFormat::Unsigned8: integer = read<uint8_t>(at); return;
    case TexelFormat::Unsigned16: integer = read<uint16_t>(at); return;
    case TexelFormat::Signed32:
    case TexelFormat::Unsigned32: integer = read<uint32_t>(at); return;
    case TexelFormat::Half: number = widen<F16>(read<uint16_t>(at)); return;
    case TexelFormat::Float: number = read<float>(at); return;
    case TexelFormat::Snorm8: number = normalizedSigned(read<int8_t>(at), 127); return;
    case TexelFormat::Snorm16: number = normalizedSigned(read<int16_t>(at), 32767); return;
    case TexelFormat::Unorm8: number = static_cast<float>(read<uint8_t>(at)) / 255.0f; return;
    case TexelFormat::Unorm16: number = static_cast<float>(read<uint16_t>(at)) / 65535.0f; return;
  }
}

Texel texelAt(const TextureBinding& t, unsigned x, unsigned y, unsigned slice) {
  Texel texel;
  texel.floats[3] = 1.0f;
  texel.integers[3] = 1;
  const unsigned bytes = bytesOf(t.format);
  const std::byte* at = t.row(y, slice) + std::size_t{x} * t.texelBytes();
  for (unsigned c = 0; c < t.channels; ++c, at += bytes)
    readComponent(t.format, at, texel.floats[c], texel.integers[c]);
  return texel;
}

Texel borderOf(const TextureBinding& sampler) {
  Texel texel;
  texel.floats = sampler.border;
  for (unsigned c = 0; c < 4; ++c) texel.integers[c] = std::bit_cast<uint32_t>(sampler.border[c]);
  return texel;
}

// The index of a texel after addressing, or -1 for the border. `index` is a whole number.
double addressed(double index, double size, AddressMode mode, bool normalized) {
  if (!normalized && (mode == AddressMode::Wrap || mode == AddressMode::Mirror)) mode = AddressMode::Clamp;
  switch (mode) {
    case AddressMode::Wrap: return index - size * std::floor(index / size);
    case AddressMode::Mirror: {
      const double period = index - 2 * size * std::floor(index / (2 * size));
      return period < size ? period : 2 * size - 1 - period;
    }
    case AddressMode::Border: return index < 0 || index >= size ? -1 : index;
    case AddressMode::Clamp: break;
  }
  return std::clamp(index, 0.0, size - 1);
}

// Where a look-up goes in one slice (or volume), in texels.
struct Position {
  std::array<double, kMostDimensions> at{};
  std::array<double, kMostDimensions> sizes{};
  unsigned slice = 0;
  bool normalized = false;
};

struct FaceCoordinates {
  unsigned face;
  double s, t, m;
};

FaceCoordinates project(const std::array<float, 3>& at) {
  const double x = static_cast<double>(at[0]), y = static_cast<double>(at[1]), z = static_cast<double>(at[2]);
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  if (ax >= ay && ax >= az) return x >= 0 ? FaceCoordinates{0, -z, -y, ax} : FaceCoordinates{1, z, -y, ax};
  if (ay >= az) return y >= 0 ? FaceCoordinates{2, x, z, ay} : FaceCoordinates{3, x, -z, ay};
  return z >= 0 ? FaceCoordinates{4, x, -y, az} : FaceCoordinates{5, -x, -y, az};
}

Position positionOf(const LookUp& l) {
  const TextureBinding& t = *l.texture;
  Position p;
  p.sizes = {static_cast<double>(t.width), static_cast<double>(t.height), static_cast<double>(t.depth)};
  p.normalized = l.sampler->normalized && !l.hasIntegers;
  p.slice = l.layer;
  std::array<double, kMostDimensions> at{};
  if (l.isCube) {
    const FaceCoordinates f = project(l.at);
    p.slice = 6 * l.layer + f.face;
    p.normalized = true;
    at = {(f.s / f.m + 1) / 2, (f.t / f.m + 1) / 2, 0};
  } else {
    for (unsigned i = 0; i < l.dimensions; ++i)
      at[i] = l.hasIntegers ? static_cast<double>(l.integers[i]) : static_cast<double>(l.at[i]);
  }
  for (unsigned i = 0; i < l.dimensions; ++i) {
    const double x = std::isfinite(at[i]) ? at[i] : 0.0;
    p.at[i] = (p.normalized ? x * p.sizes[i] : x) + static_cast<double>(l.offset[i]);
  }
  return p;
}

Texel fetch(const LookUp& l, const Position& p, const std::array<double, kMostDimensions>& index) {
  std::array<unsigned, kMostDimensions> at{};
  for (unsigned i = 0; i < l.dimensions; ++i) {
    const bool isOutside = index[i] < 0 || index[i] >= p.sizes[i];
    if (isOutside && l.hasIntegers && l.texture->isLinearMemory) return Texel{};
    if (isOutside && l.isCube) {
      // Rounding may end on the far edge; a neighbour beyond it lies on another face.
      if (l.sampler->filter == FilterMode::Linear)
        throw TextureError{"linear filtering across the edge of a cube's face"};
      at[i] = index[i] < 0 ? 0 : static_cast<unsigned>(p.sizes[i]) - 1;
      continue;
    }
    const double found = addressed(index[i], p.sizes[i], l.sampler->address[i], p.normalized);
    if (found < 0) return borderOf(*l.sampler);
    at[i] = static_cast<unsigned>(found);
  }
  return texelAt(*l.texture, at[0], at[1], l.dimensions == 3 ? at[2] : p.slice);
}

}  // namespace

unsigned bytesOf(TexelFormat format) {
  switch (format) {
    case TexelFormat::Signed8:
    case TexelFormat::Unsigned8:
    case TexelFormat::Snorm8:
    case TexelFormat::Unorm8: return 1;
    case TexelFormat::Signed16:
    case TexelFormat::Unsigned16:
    case TexelFormat::Half:
    case TexelFormat::Snorm16:
    case TexelFormat::Unorm16: return 2;
    default: return 4;
  }
}

bool isInteger(TexelFormat format) { return format <= TexelFormat::Unsigned32; }
bool isSigned(TexelFormat format) { return format <= TexelFormat::Signed32; }

void TextureBinding::allocate() {
  rowPitch = uint64_t{width} * texelBytes();
  slicePitch = rowPitch * height;
  storage_.assign(slicePitch * std::max(depth, layers), std::byte{0});
  data = storage_.data();
}

Texel sample(const LookUp& l) {
  const Position p = positionOf(l);
  std::array<double, kMostDimensions> index{};
  if (l.sampler->filter == FilterMode::Nearest || l.hasIntegers) {
    for (unsigned i = 0; i < l.dimensions; ++i) index[i] = std::floor(p.at[i]);
    return fetch(l, p, index);
  }
  if (isInteger(l.texture->format)) throw TextureError{"linear filtering of integers"};
  std::array<double, kMostDimensions> first{}, weight{};
  for (unsigned i = 0; i < l.dimensions; ++i) {
    const double x = p.at[i] - 0.5;
    first[i] = std::floor(x);
    weight[i] = std::floor((x - first[i]) * kWeightSteps + 0.5) / kWeightSteps;
  }
  std::array<double, 4> sums{};
  for (unsigned corner = 0; corner < 1u << l.dimensions; ++corner) {
    double factor = 1.0;
    for (unsigned i = 0; i < l.dimensions; ++i) {
      const bool isNext = (corner >> i & 1) != 0;
      index[i] = first[i] + (isNext ? 1 : 0);
      factor *= isNext ? weight[i] : 1 - weight[i];
    }
    if (factor == 0.0) continue;
    const Texel texel = fetch(l, p, index);
    for (unsigned c = 0; c < 4; ++c) sums[c] += factor * static_cast<double>(texel.floats[c]);
  }
  Texel result;
  for (unsigned c = 0; c < 4; ++c) result.floats[c] = static_cast<float>(sums[c]);
  return result;
}

std::array<Texel, 4> gather(const LookUp& l) {
  const Position p = positionOf(l);
  const double x = std::floor(p.at[0] - 0.5), y = std::floor(p.at[1] - 0.5);
  if (l.isCube && (x < 0 || y < 0 || x + 1 >= p.sizes[0] || y + 1 >= p.sizes[1]))
    throw TextureError{"a gather across the edge of a cube's face"};
  return {fetch(l, p, {x, y + 1}), fetch(l, p, {x + 1, y + 1}), fetch(l, p, {x + 1, y}), fetch(l, p, {x, y})};
}

bool storeComponent(TexelFormat format, std::byte* at, uint32_t bits) {
  const double number = static_cast<double>(std::bit_cast<float>(bits));
  const auto integer = static_cast<int32_t>(bits);
  const auto scaled = [&](double least, double top) {
    const double inRange = std::isnan(number) ? 0.0 : std::clamp(number, least, 1.0);
    return std::nearbyint(inRange * top);
  };
  switch (format) {
    case TexelFormat::Signed8:
      write(at, static_cast<int8_t>(integer));
      return integer == static_cast<int8_t>(integer);
    case TexelFormat::Signed16:
      write(at, static_cast<int16_t>(integer));
      return integer == static_cast<int16_t>(integer);
    case TexelFormat::Unsigned8: write(at, static_cast<uint8_t>(bits)); return bits <= UINT8_MAX;
    case TexelFormat::Unsigned16: write(at, static_cast<uint16_t>(bits)); return bits <= UINT16_MAX;
    case TexelFormat::Signed32:
    case TexelFormat::Unsigned32:
    case TexelFormat::Float: write(at, bits); return true;
    case TexelFormat::Half: write(at, roundTo<F16>(number, Rounding::Nearest)); return true;
    case TexelFormat::Snorm8: write(at, static_cast<int8_t>(scaled(-1, 127))); return true;
    case TexelFormat::Snorm16: write(at, static_cast<int16_t>(scaled(-1, 32767))); return true;
    case TexelFormat::Unorm8: write(at, static_cast<uint8_t>(scaled(0, 255))); return true;
    case TexelFormat::Unorm16: write(at, static_cast<uint16_t>(scaled(0, 65535))); return true;
  }
  return false;
}

}  // namespace ptxopt::exec
