// Textures, surfaces and samplers as the interpreter has them: arrays of texels in host memory, and how they are
// read.
//
//     auto t = std::make_shared<exec::TextureBinding>();
//     t->width = 64, t->height = 32, t->channels = 4, t->format = exec::TexelFormat::Float;
//     t->allocate();                                    // or point `data` at memory that is already there
//     machine.textures[machine.variable("tex")->base] = t;   // a .texref; or any 64-bit handle
//
// Texels lie in rows of `rowPitch` bytes, rows in slices of `slicePitch` bytes; layers and faces of cubes are
// slices (face f of cube c is slice 6 * c + f). There is one mip level and one sample.
//
// Sampling follows the CUDA programming guide. Coordinates are scaled (normalized ones by the size) in f64.
// Nearest: the texel floor(x). Linear: between floor(x - 0.5) and the next, with weights of 8 fractional bits,
// rounded to nearest; the weighted sum is made in f64 and rounded once. wrap and mirror need normalized coordinates
// and are clamp without. A coordinate that is NaN or infinite counts as 0. Components that the format lacks are 0,
// and 1 for alpha. The largest of the three coordinates of a cube selects the face; if they are equal, the first does.
// Declined, as nothing says what they give: linear filtering of integers, and across the edges of a cube's face.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptxopt::exec {

enum class TexelFormat : uint8_t {
  Signed8,
  Signed16,
  Signed32,
  Unsigned8,
  Unsigned16,
  Unsigned32,
  Half,
  Float,
  Snorm8,
  Snorm16,
  Unorm8,
  Unorm16,
};
enum class AddressMode : uint8_t { Wrap, Clamp, Mirror, Border };
enum class FilterMode : uint8_t { Nearest, Linear };

unsigned bytesOf(TexelFormat format);  // of one component
bool isInteger(TexelFormat format);
bool isSigned(TexelFormat format);

struct TextureBinding {
  enum class Kind : uint8_t { Texture, Surface, Sampler };

  Kind kind = Kind::Texture;
  // The array. Layered textures have their layers in `layers`, 6 for each cube.
  unsigned width = 1, height = 1, depth = 1, layers = 1;
  unsigned channels = 1;  // 1, 2 or 4
  TexelFormat format = TexelFormat::Float;
  std::byte* data = nullptr;
  uint64_t rowPitch = 0, slicePitch = 0;
  // Linear memory: integer coordinates outside of it read 0.
  bool isLinearMemory = false;

  // The sampler.
  std::array<AddressMode, 3> address = {AddressMode::Clamp, AddressMode::Clamp, AddressMode::Clamp};
  FilterMode filter = FilterMode::Nearest;
  bool normalized = false;
  std::array<float, 4> border{};

  // Sets the pitches and makes zeroed storage for the array.
  void allocate();
  unsigned texelBytes() const { return channels * bytesOf(format); }
  std::byte* row(unsigned y, unsigned slice) const { return data + slice * slicePitch + y * rowPitch; }

 private:
  std::vector<std::byte> storage_;
};

// A texel: its components as floats, or as integers extended to 32 bits.
struct Texel {
  std::array<float, 4> floats{};
  std::array<uint32_t, 4> integers{};
};

// Where a lookup goes. Coordinates are as the instruction gives them; unused ones are 0.
struct LookUp {
  const TextureBinding* texture = nullptr;
  const TextureBinding* sampler = nullptr;  // often the same
  unsigned dimensions = 2;
  bool isCube = false;
  bool hasIntegers = false;
  std::array<float, 3> at{};
  std::array<int32_t, 3> integers{};
  std::array<int32_t, 3> offset{};
  unsigned layer = 0;
};

// Thrown when what a look-up gives is among what is declined.
struct TextureError {
  const char* reason;
};

// The filtered value.
Texel sample(const LookUp& l);
// The four texels of linear filtering, counter-clockwise from the lower left, where the lower ones are those with
// the greater second coordinate.
std::array<Texel, 4> gather(const LookUp& l);

// A component of an array stored from a float, or from an integer; false when the format cannot hold it exactly
// (integers only).
bool storeComponent(TexelFormat format, std::byte* at, uint32_t bits);

}  // namespace ptxopt::exec
