// tex, tld4, txq and istypep. How textures are read: exec/texture.h.
//
// Textures have one mip level, so .base, .level and .grad give what a plain look-up does. All texels are resident.
// With .s32 coordinates the nearest texel is taken, of coordinates that are not normalized. An index of a layer
// that the texture does not have is an error. Declines: depth comparison, multi-sample textures, more than one mip
// level, a scalar offset of 1d (which looks like a value to compare with), and queries whose values nothing
// defines.
#include "exec/instructions/texture.h"

#include <bit>

#include "exec/lanes.h"
#include "exec/value/half.h"

namespace ptxopt::exec {

namespace {

using Kind = TextureBinding::Kind;

struct TextureOperands {
  Geometry geometry;
  Location texture, sampler;
  bool hasSampler = false;
  bool hasIntegers = false;  // .s32 coordinates
  std::vector<Arg> coordinates, offsets, d;
  Arg resident;
  ScalarType type = ScalarType::f32;
  unsigned component = 0;  // tld4
};

LookUp lookUpOf(Warp& w, unsigned lane, const TextureOperands& o) {
  LookUp l;
  l.texture = &bindingOf(w, lane, o.texture.address(w, lane), Kind::Texture, "texture");
  l.sampler = o.hasSampler ? &bindingOf(w, lane, o.sampler.address(w, lane), Kind::Sampler, "sampler") : l.texture;
  l.dimensions = o.geometry.dimensions;
  l.isCube = o.geometry.isCube;
  l.hasIntegers = o.hasIntegers;
  if (o.type != ScalarType::f16x2 && isInteger(l.texture->format) == (o.type == ScalarType::f32))
    throw LaneFault{FaultKind::Unsupported, lane,
                    fmt::format("a texture of {} read as {}", isInteger(l.texture->format) ? "integers" : "floats",
                                o.type == ScalarType::f32 ? "floats" : "integers")};
  if (o.type == ScalarType::f16x2 && isInteger(l.texture->format))
    throw LaneFault{FaultKind::Unsupported, lane, "a texture of integers read as floats"};
  std::size_t next = 0;
  if (o.geometry.isArray) {
    l.layer = w.in<uint32_t>(o.coordinates[next++])[lane];
    const unsigned count = o.geometry.isCube ? l.texture->layers / 6 : l.texture->layers;
    if (l.layer >= count)
      throw LaneFault{FaultKind::OutOfBounds, lane, fmt::format("layer {} of a texture of {}", l.layer, count)};
  }
  for (unsigned i = 0; i < (o.geometry.isCube ? 3u : l.dimensions); ++i) {
    const uint32_t raw = w.in<uint32_t>(o.coordinates[next++])[lane];
    if (o.hasIntegers)
      l.integers[i] = static_cast<int32_t>(raw);
    else
      l.at[i] = std::bit_cast<float>(raw);
  }
  for (unsigned i = 0; i < o.offsets.size() && i < l.dimensions; ++i) {
    l.offset[i] = w.in<int32_t>(o.offsets[i])[lane];
    if (l.offset[i] < -8 || l.offset[i] > 7)
      throw LaneFault{FaultKind::Unsupported, lane, fmt::format("an offset of {}, not in -8 to 7", l.offset[i])};
  }
  return l;
}

uint32_t halves(float low, float high) {
  const auto half = [](float x) { return uint32_t{roundTo<F16>(static_cast<double>(x), Rounding::Nearest)}; };
  return half(low) | half(high) << 16;
}

Step lookUpTexel(Warp& w, const Op& op, Mask active) {
  const TextureOperands& o = *static_cast<const TextureOperands*>(op.data);
  std::array<std::array<uint32_t, kLanes>, 4> results{};
  forEachLane(active, [&](unsigned lane) {
    try {
      const LookUp l = lookUpOf(w, lane, o);
      const Texel t = sample(l);
      for (unsigned c = 0; c < o.d.size(); ++c)
        results[c][lane] = o.type == ScalarType::f16x2 ? halves(t.floats[2 * c], t.floats[2 * c + 1])
                           : o.type == ScalarType::f32 ? std::bit_cast<uint32_t>(t.floats[c])
                                                       : t.integers[c];
    } catch (const TextureError& error) {
      throw LaneFault{FaultKind::Unsupported, lane, error.reason};
    }
  });
  for (unsigned c = 0; c < o.d.size(); ++c)
    forEachLane(active, [&](unsigned lane) { w.out<uint32_t>(o.d[c])[lane] = results[c][lane]; });
  w.setPredicate(o.resident, kAllLanes, active);
  return Step::Next;
}

Step gatherTexels(Warp& w, const Op& op, Mask active) {
  const TextureOperands& o = *static_cast<const TextureOperands*>(op.data);
  std::array<std::array<uint32_t, kLanes>, 4> results{};
  forEachLane(active, [&](unsigned lane) {
    try {
      const std::array<Texel, 4> texels = gather(lookUpOf(w, lane, o));
      for (unsigned i = 0; i < 4; ++i)
        results[i][lane] = o.type == ScalarType::f32 ? std::bit_cast<uint32_t>(texels[i].floats[o.component])
                                                     : texels[i].integers[o.component];
    } catch (const TextureError& error) {
      throw LaneFault{FaultKind::Unsupported, lane, error.reason};
    }
  });
  for (unsigned i = 0; i < 4; ++i)
    forEachLane(active, [&](unsigned lane) { w.out<uint32_t>(o.d[i])[lane] = results[i][lane]; });
  w.setPredicate(o.resident, kAllLanes, active);
  return Step::Next;
}

// `d|p, [a, {b,} c]`, and offsets from operand `next` on.
TextureOperands textureOperands(Binder& b, const Geometry& geometry, ScalarType type, bool hasIntegers,
                                std::size_t next) {
  TextureOperands o;
  o.geometry = geometry;
  o.type = type;
  o.hasIntegers = hasIntegers;
  o.d = b.dests(0, ScalarType::b32);
  const unsigned wanted = type == ScalarType::f16x2 ? 2 : 4;
  if (o.d.size() != wanted) b.unsupported("this number of results");
  o.resident = b.isPair(0) ? b.pairPredicate(0) : b.sink(0);
  const std::size_t parts = b.memoryParts(1);
  if (parts != 2 && parts != 3) b.unsupported("this texture operand");
  o.texture = Location(b.memoryAddress(1, 0, Space::Global));
  o.hasSampler = parts == 3;
  if (o.hasSampler) o.sampler = Location(b.memoryAddress(1, 1, Space::Global));
  o.coordinates = b.memoryValues(1, parts - 1, ScalarType::b32);
  if (o.coordinates.size() < coordinatesOf(geometry)) b.unsupported("so few coordinates");
  if (b.operands() > next) {
    if (b.shape(next) != Shape::Vector) b.unsupported("depth comparison, or an offset that is not in braces");
    o.offsets = b.sources(next++, ScalarType::b32);
    if (geometry.isCube || o.offsets.size() < geometry.dimensions) b.unsupported("this offset");
  }
  if (b.operands() > next) b.unsupported("depth comparison");
  return o;
}

// ---- queries ----

enum class Query : uint8_t { Width, Height, Depth, Layers, Levels, Samples, DataType, Order, Normalized, Forced };

// Channel data types and orders are numbered as in OpenCL.
uint32_t dataTypeOf(TexelFormat format) {
  switch (format) {
    case TexelFormat::Snorm8: return 0x10D0;
    case TexelFormat::Snorm16: return 0x10D1;
    case TexelFormat::Unorm8: return 0x10D2;
    case TexelFormat::Unorm16: return 0x10D3;
    case TexelFormat::Signed8: return 0x10D7;
    case TexelFormat::Signed16: return 0x10D8;
    case TexelFormat::Signed32: return 0x10D9;
    case TexelFormat::Unsigned8: return 0x10DA;
    case TexelFormat::Unsigned16: return 0x10DB;
    case TexelFormat::Unsigned32: return 0x10DC;
    case TexelFormat::Half: return 0x10DD;
    case TexelFormat::Float: return 0x10DE;
  }
  return 0;
}

uint32_t answer(const TextureBinding& t, Query query) {
  switch (query) {
    case Query::Width: return t.width;
    case Query::Height: return t.height;
    case Query::Depth: return t.depth;
    case Query::Layers: return t.layers;
    case Query::Levels:
    case Query::Samples: return 1;
    case Query::DataType: return dataTypeOf(t.format);
    case Query::Order: return t.channels == 1 ? 0x10B0 : t.channels == 2 ? 0x10B2 : 0x10B5;
    case Query::Normalized: return t.normalized ? 1 : 0;
    case Query::Forced: return t.normalized ? 0 : 1;
  }
  return 0;
}

struct QueryOperands {
  Query query = Query::Width;
  Kind kind = Kind::Texture;
  Location object;
  bool hasLevel = false;
};

// args: d, object, level
Step query(Warp& w, const Op& op, Mask active) {
  const QueryOperands& o = *static_cast<const QueryOperands*>(op.data);
  forEachLane(active, [&](unsigned lane) {
    if (o.hasLevel && w.in<uint32_t>(op.args[2])[lane] != 0)
      throw LaneFault{FaultKind::Unsupported, lane, "a mip level other than 0: textures have one"};
    const TextureBinding& t = bindingOf(w, lane, o.object.address(w, lane), o.kind,
                                        o.kind == Kind::Surface   ? "surface"
                                        : o.kind == Kind::Sampler ? "sampler"
                                                                  : "texture");
    w.out<uint32_t>(op.args[0])[lane] = answer(t, o.query);
  });
  return Step::Next;
}

void bindQuery(Binder& b, Kind kind) {
  QueryOperands o;
  o.kind = kind;
  o.hasLevel = b.take("level");
  constexpr std::pair<std::string_view, Query> kQueries[] = {
      {"width", Query::Width},
      {"height", Query::Height},
      {"depth", Query::Depth},
      {"array_size", Query::Layers},
      {"num_mipmap_levels", Query::Levels},
      {"num_samples", Query::Samples},
      {"channel_data_type", Query::DataType},
      {"channel_order", Query::Order},
      {"normalized_coords", Query::Normalized},
      {"force_unnormalized_coords", Query::Forced},
  };
  bool isKnown = false;
  for (const auto& [name, q] : kQueries) {
    if (!b.take(name)) continue;
    o.query = q;
    isKnown = true;
  }
  if (!isKnown) b.unsupported("this query");
  if (o.query == Query::Forced) o.kind = Kind::Sampler;
  if (b.takeType() != ScalarType::b32) b.unsupported("a type other than .b32");
  b.dest(0, ScalarType::b32);
  o.object = Location(b.address(1, Space::Global));
  if (o.hasLevel) b.source(2, ScalarType::b32);
  b.data(o);
  b.handler(query);
}

// args: p, handle. data: the kind.
Step isOfKind(Warp& w, const Op& op, Mask active) {
  const Kind kind = *static_cast<const Kind*>(op.data);
  const auto& all = w.block().launch().machine().textures;
  Mask result = 0;
  forEachLane(active, [&](unsigned lane) {
    const auto found = all.find(w.in<uint64_t>(op.args[1])[lane]);
    if (found != all.end() && found->second->kind == kind) result |= Mask{1} << lane;
  });
  w.setPredicate(op.args[0], result, active);
  return Step::Next;
}

}  // namespace

void bindTex(Binder& b) {
  std::size_t next = 2;
  const std::string_view mipmap = b.takeOneOf({"base", "level", "grad"});
  if (mipmap == "level") b.ignore(next++);
  if (mipmap == "grad") b.ignore(next++), b.ignore(next++);
  const Geometry geometry = takeGeometry(b);
  const unsigned count = b.takeVector();
  const ScalarType type = b.takeType(), coordinates = b.takeType();
  if (type != ScalarType::f32 && type != ScalarType::s32 && type != ScalarType::u32 && type != ScalarType::f16x2)
    b.unsupported("this type of result");
  if (count != (type == ScalarType::f16x2 ? 2u : 4u)) b.unsupported("this number of results");
  if (coordinates != ScalarType::f32 && coordinates != ScalarType::s32) b.unsupported("this type of coordinates");
  if (geometry.isCube && coordinates != ScalarType::f32) b.unsupported("a cube with integer coordinates");
  b.data(textureOperands(b, geometry, type, coordinates == ScalarType::s32, next));
  b.handler(lookUpTexel);
}

void bindTld4(Binder& b) {
  const std::string_view component = b.takeOneOf({"r", "g", "b", "a"});
  const Geometry geometry = takeGeometry(b);
  if (geometry.dimensions != 2 || component.empty() || b.takeVector() != 4) b.unsupported("this form");
  const ScalarType type = b.takeType(), coordinates = b.takeType();
  if (type != ScalarType::f32 && type != ScalarType::s32 && type != ScalarType::u32)
    b.unsupported("this type of result");
  if (coordinates != ScalarType::f32) b.unsupported("this type of coordinates");
  TextureOperands o = textureOperands(b, geometry, type, false, 2);
  o.component = static_cast<unsigned>(std::string_view("rgba").find(component));
  b.data(std::move(o));
  b.handler(gatherTexels);
}

void bindTxq(Binder& b) { bindQuery(b, Kind::Texture); }
void bindSuq(Binder& b) { bindQuery(b, Kind::Surface); }

void bindIstypep(Binder& b) {
  const std::string_view name = b.takeOneOf({"texref", "surfref", "samplerref"});
  if (name.empty()) return;
  b.predicateDest(0);
  b.source(1, ScalarType::u64);
  b.data(name == "texref" ? Kind::Texture : name == "surfref" ? Kind::Surface : Kind::Sampler);
  b.handler(isOfKind);
}

}  // namespace ptxopt::exec
