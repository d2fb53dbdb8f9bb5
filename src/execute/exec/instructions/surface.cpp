// suld, sust and sured: surfaces, which are textures that are read and written without sampling. Storage:
// exec/texture.h; suq is in texture.cpp.
//
// The first coordinate counts bytes, with .p texels. Outside of the surface .trap is an error, .zero reads 0 and
// writes nothing, .clamp takes the nearest place that is inside. A byte offset that is not a multiple of the access is
// an error. sust.p converts to the surface's format; values must be given for all of its components, and integers
// must fit: what happens otherwise is not defined.
#include <atomic>
#include <cstring>
#include <type_traits>

#include "exec/instructions/texture.h"
#include "exec/lanes.h"

namespace ptxopt::exec {

namespace {

enum class Outside : uint8_t { Trap, Clamp, Zero };

struct SurfaceOperands {
  Geometry geometry;
  Location surface;
  std::vector<Arg> coordinates, values;
  Outside outside = Outside::Trap;
  bool isFormatted = false;
  uint8_t bytes = 4;  // of one value
};

// Brings an index into [0, limit). False when it is outside and that means nothing happens.
bool place(int64_t& index, int64_t limit, Outside outside, unsigned lane, const char* what) {
  if (index >= 0 && index < limit) return true;
  if (outside == Outside::Zero) return false;
  if (outside == Outside::Trap || limit <= 0)
    throw LaneFault{FaultKind::OutOfBounds, lane, fmt::format("{} {} of a surface of {}", what, index, limit)};
  index = index < 0 ? 0 : limit - 1;
  return true;
}

struct Target {
  const TextureBinding* surface;
  std::byte* at;  // nullptr: outside of it
};

Target find(Warp& w, unsigned lane, const SurfaceOperands& o) {
  const TextureBinding& s =
      bindingOf(w, lane, o.surface.address(w, lane), TextureBinding::Kind::Surface, "surface");
  std::size_t next = 0;
  const auto coordinate = [&] { return int64_t{w.in<int32_t>(o.coordinates[next++])[lane]}; };
  int64_t slice = 0, y = 0;
  if (o.geometry.isArray) slice = static_cast<uint32_t>(coordinate());
  int64_t x = coordinate();
  if (o.geometry.dimensions > 1) y = coordinate();
  if (o.geometry.dimensions > 2) slice = coordinate();
  const int64_t rowBytes = int64_t{s.width} * s.texelBytes();
  const int64_t access = o.isFormatted ? s.texelBytes() : int64_t{o.bytes} * static_cast<int64_t>(o.values.size());
  if (o.isFormatted) {
    if (!place(x, s.width, o.outside, lane, "column")) return {&s, nullptr};
    x *= access;
  } else {
    if (x % access != 0)
      throw LaneFault{FaultKind::Misaligned, lane,
                      fmt::format("byte {} of a row, which is not a multiple of {}", x, access)};
    int64_t unit = x / access;
    if (!place(unit, rowBytes / access, o.outside, lane, "element")) return {&s, nullptr};
    x = unit * access;
  }
  if (!place(y, s.height, o.outside, lane, "row")) return {&s, nullptr};
  const unsigned slices = o.geometry.dimensions > 2 ? s.depth : s.layers;
  if (!place(slice, slices, o.outside, lane, o.geometry.isArray ? "layer" : "slice")) return {&s, nullptr};
  return {&s, s.row(static_cast<unsigned>(y), static_cast<unsigned>(slice)) + x};
}

Step load(Warp& w, const Op& op, Mask active) {
  const SurfaceOperands& o = *static_cast<const SurfaceOperands*>(op.data);
  std::array<std::array<uint64_t, kLanes>, 4> results{};
  forEachLane(active, [&](unsigned lane) {
    const std::byte* at = find(w, lane, o).at;
    for (unsigned i = 0; i < o.values.size() && at != nullptr; ++i, at += o.bytes)
      std::memcpy(&results[i][lane], at, o.bytes);
  });
  for (unsigned i = 0; i < o.values.size(); ++i)
    forEachLane(active, [&](unsigned lane) { w.setValue(o.values[i], lane, results[i][lane]); });
  return Step::Next;
}

Step storePlain(Warp& w, const Op& op, Mask active) {
  const SurfaceOperands& o = *static_cast<const SurfaceOperands*>(op.data);
  forEachLane(active, [&](unsigned lane) {
    std::byte* at = find(w, lane, o).at;
    for (unsigned i = 0; i < o.values.size() && at != nullptr; ++i, at += o.bytes) {
      const uint64_t value = w.value(o.values[i], lane);
      std::memcpy(at, &value, o.bytes);
    }
  });
  return Step::Next;
}

Step storeFormatted(Warp& w, const Op& op, Mask active) {
  const SurfaceOperands& o = *static_cast<const SurfaceOperands*>(op.data);
  forEachLane(active, [&](unsigned lane) {
    const auto [surface, at] = find(w, lane, o);
    if (o.values.size() < surface->channels)
      throw LaneFault{FaultKind::Unsupported, lane,
                      fmt::format("{} values for {} components: the others would be unpredictable", o.values.size(),
                                  surface->channels)};
    if (at == nullptr) return;
    for (unsigned c = 0; c < surface->channels; ++c) {
      const auto bits = static_cast<uint32_t>(w.value(o.values[c], lane));
      if (!storeComponent(surface->format, at + std::size_t{c} * bytesOf(surface->format), bits))
        throw LaneFault{FaultKind::Unsupported, lane,
                        fmt::format("the value {:#x} does not fit in the surface's format", bits)};
    }
  });
  return Step::Next;
}

// ---- reductions ----

enum class SurfaceOperation : uint8_t { Add, Min, Max, And, Or };

template <typename T>
T combine(SurfaceOperation operation, T a, T b) {
  using U = std::make_unsigned_t<T>;
  switch (operation) {
    case SurfaceOperation::Add: return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    case SurfaceOperation::Min: return b < a ? b : a;
    case SurfaceOperation::Max: return b > a ? b : a;
    case SurfaceOperation::And: return static_cast<T>(a & b);
    case SurfaceOperation::Or: return static_cast<T>(a | b);
  }
  return a;
}

template <typename T>
void reduceAt(std::byte* at, SurfaceOperation operation, uint64_t value) {
  std::atomic_ref<T> target(*reinterpret_cast<T*>(at));
  T old = target.load();
  while (!target.compare_exchange_weak(old, combine(operation, old, static_cast<T>(value)))) {
  }
}

struct SurfaceReduction {
  SurfaceOperands operands;
  SurfaceOperation operation = SurfaceOperation::Add;
  ScalarType type = ScalarType::u32;  // b32 of .p: as the surface's format says
};

Step reduce(Warp& w, const Op& op, Mask active) {
  const SurfaceReduction& r = *static_cast<const SurfaceReduction*>(op.data);
  forEachLane(active, [&](unsigned lane) {
    const auto [surface, at] = find(w, lane, r.operands);
    ScalarType type = r.type;
    if (r.operands.isFormatted) {
      if (surface->channels != 1 ||
          (surface->format != TexelFormat::Signed32 && surface->format != TexelFormat::Unsigned32))
        throw LaneFault{FaultKind::Unsupported, lane, "sured.p on a surface of other than 32-bit integers"};
      type = isSigned(surface->format) ? ScalarType::s32 : ScalarType::u32;
    }
    if (at == nullptr) return;
    const uint64_t value = w.value(r.operands.values[0], lane);
    if (type == ScalarType::s32)
      reduceAt<int32_t>(at, r.operation, value);
    else if (type == ScalarType::s64)
      reduceAt<int64_t>(at, r.operation, value);
    else if (type == ScalarType::u64)
      reduceAt<uint64_t>(at, r.operation, value);
    else
      reduceAt<uint32_t>(at, r.operation, value);
  });
  return Step::Next;
}

// The geometry, .clamp and the surface with its coordinates, which are operand `operand`.
SurfaceOperands surfaceOperands(Binder& b, std::size_t operand) {
  SurfaceOperands o;
  o.geometry = takeGeometry(b);
  if (o.geometry.isCube) b.unsupported("a cube");
  const std::string_view outside = b.takeOneOf({"trap", "clamp", "zero"});
  o.outside = outside == "clamp" ? Outside::Clamp : outside == "zero" ? Outside::Zero : Outside::Trap;
  if (b.memoryParts(operand) != 2) b.unsupported("this surface operand");
  o.surface = Location(b.memoryAddress(operand, 0, Space::Global));
  o.coordinates = b.memoryValues(operand, 1, ScalarType::b32);
  if (o.coordinates.size() < coordinatesOf(o.geometry)) b.unsupported("so few coordinates");
  return o;
}

uint8_t accessBytes(Binder& b, ScalarType type) {
  if (type != ScalarType::b8 && type != ScalarType::b16 && type != ScalarType::b32 && type != ScalarType::b64)
    b.unsupported("this type");
  return static_cast<uint8_t>(memoryBytes(type));
}

}  // namespace

void bindSuld(Binder& b) {
  if (!b.take("b")) b.unsupported("a formatted load");
  SurfaceOperands o = surfaceOperands(b, 1);
  b.takeOneOf({"ca", "cg", "cs", "cv"});
  const unsigned count = b.takeVector();
  const ScalarType type = b.takeType();
  o.bytes = accessBytes(b, type);
  o.values = b.dests(0, type, true);
  if (o.values.size() != count || count > 4) b.unsupported("this number of results");
  b.data(std::move(o));
  b.handler(load);
}

void bindSust(Binder& b) {
  const bool isFormatted = b.take("p");
  if (!isFormatted && !b.take("b")) return;
  SurfaceOperands o = surfaceOperands(b, 0);
  o.isFormatted = isFormatted;
  b.takeOneOf({"wb", "cg", "cs", "wt"});
  const unsigned count = b.takeVector();
  const ScalarType type = b.takeType();
  o.bytes = accessBytes(b, type);
  if (isFormatted && type != ScalarType::b32) b.unsupported("this type");
  o.values = b.sources(1, type, true);
  if (o.values.size() != count || count > 4) b.unsupported("this number of values");
  b.data(std::move(o));
  b.handler(isFormatted ? storeFormatted : storePlain);
}

void bindSured(Binder& b) {
  SurfaceReduction r;
  const bool isFormatted = b.take("p");
  if (!isFormatted && !b.take("b")) return;
  const std::string_view operation = b.takeOneOf({"add", "min", "max", "and", "or"});
  r.operation = operation == "add"   ? SurfaceOperation::Add
                : operation == "min" ? SurfaceOperation::Min
                : operation == "max" ? SurfaceOperation::Max
                : operation == "and" ? SurfaceOperation::And
                                     : SurfaceOperation::Or;
  r.operands = surfaceOperands(b, 0);
  r.operands.isFormatted = isFormatted;
  r.type = b.takeType();
  const bool isBits = r.operation == SurfaceOperation::And || r.operation == SurfaceOperation::Or;
  bool isFine = !operation.empty();
  switch (r.type) {
    case ScalarType::b32: isFine = isFine && (isFormatted || isBits); break;
    case ScalarType::u32:
    case ScalarType::s32:
    case ScalarType::u64: isFine = isFine && !isFormatted && !isBits; break;
    case ScalarType::s64: isFine = isFine && !isFormatted && !isBits && r.operation != SurfaceOperation::Add; break;
    default: isFine = false;
  }
  if (!isFine) b.unsupported("this operation and type");
  r.operands.bytes = static_cast<uint8_t>(memoryBytes(r.type));
  r.operands.values = {b.source(1, r.type)};
  b.data(std::move(r));
  b.handler(reduce);
}

}  // namespace ptxopt::exec
