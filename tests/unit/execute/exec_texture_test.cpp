// Textures and surfaces: addressing, filtering, formats, geometries, stores and reductions. Expectations are worked
// out here from the texels.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "exec/texture.h"
#include "exec_support.h"

using namespace ptxopt::exec;

namespace {

using Binding = std::shared_ptr<TextureBinding>;
constexpr uint64_t kHandle = 0x1234;

Binding make(unsigned width, unsigned height, unsigned slices, unsigned channels, TexelFormat format,
             TextureBinding::Kind kind = TextureBinding::Kind::Texture) {
  auto t = std::make_shared<TextureBinding>();
  t->kind = kind;
  t->width = width, t->height = height, t->depth = slices, t->layers = slices, t->channels = channels;
  t->format = format;
  t->allocate();
  return t;
}

template <typename T>
void fill(const Binding& t, const std::vector<T>& values) {
  std::memcpy(t->data, values.data(), values.size() * sizeof(T));
}

// One thread for each element of `in` (eight words a thread: %r0 to %r7, also as floats %f0 to %f7). It finds the
// handle in %t and leaves four words in %o0 to %o3.
struct Bench {
  std::map<uint64_t, Binding> bound;
  std::string globals;  // .texref and their like, bound by name
  std::map<std::string, Binding> named;

  std::vector<std::array<uint32_t, 4>> run(const std::vector<std::array<uint32_t, 8>>& in, const std::string& body,
                                           unsigned jobs = 1) const {
    ExecTest t(
        ".version 9.0\n.target sm_90" +
        std::string(globals.find("samplerref") != std::string::npos ? ", texmode_independent" : "") +
        "\n.address_size 64\n" + globals +
        ".visible .entry k(.param .u64 pin, .param .u64 pout, .param .u64 pt)\n{\n.reg .b32 %r<8>; .reg .b32 "
        "%o<4>; .reg .b64 %rd<8>; .reg .b64 %t; .reg .f32 %f<8>; .reg .pred %p<4>; .reg .b16 %h<8>;\n"
        "ld.param.u64 %rd0, [pin];\nld.param.u64 %rd1, [pout];\nld.param.u64 %t, [pt];\nmov.u32 %r0, %tid.x;\n"
        "mul.wide.u32 %rd2, %r0, 32;\nadd.u64 %rd0, %rd0, %rd2;\nmul.wide.u32 %rd2, %r0, 16;\n"
        "add.u64 %rd1, %rd1, %rd2;\nld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%rd0];\n"
        "ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd0+16];\nld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0];\n"
        "ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%rd0+16];\nmov.b32 %o0, 0; mov.b32 %o1, 0; mov.b32 %o2, 0; "
        "mov.b32 %o3, 0;\n" +
        body + "\nst.global.v4.b32 [%rd1], {%o0, %o1, %o2, %o3};\nret;\n}\n");
    for (const auto& [handle, b] : bound) t.machine().textures[handle] = b;
    for (const auto& [name, b] : named) t.machine().textures[t.machine().variable(name)->base] = b;
    std::vector<uint32_t> flat;
    for (const auto& x : in) flat.insert(flat.end(), x.begin(), x.end());
    t.buffer("in", flat);
    t.zeros<uint32_t>("out", in.size() * 4);
    ExecTest::Shape shape;
    shape.block = {static_cast<uint32_t>(in.size())};
    shape.jobs = jobs;
    t.run({"in", "out", kHandle}, shape);
    const auto out = t.values<uint32_t>("out");
    std::vector<std::array<uint32_t, 4>> result(in.size());
    std::memcpy(result.data(), out.data(), out.size() * 4);
    return result;
  }
  FaultKind fault(const std::vector<std::array<uint32_t, 8>>& in, const std::string& body) const {
    try {
      run(in, body);
    } catch (const ExecError& e) {
      return e.kind;
    }
    FAIL("no error");
    return FaultKind::Trap;
  }
};

std::array<uint32_t, 8> floats(float a, float b = 0, float c = 0) {
  return {std::bit_cast<uint32_t>(a), std::bit_cast<uint32_t>(b), std::bit_cast<uint32_t>(c)};
}
float asFloat(uint32_t x) { return std::bit_cast<float>(x); }

const std::string kOut = "{%o0, %o1, %o2, %o3}";

}  // namespace

TEST_CASE("nearest texels under every way of addressing") {
  struct Case {
    AddressMode mode;
    bool normalized;
    float x;
    int texel;  // of 4; -1: the border
  };
  const Case cases[] = {
      {AddressMode::Clamp, false, 0.0f, 0},     {AddressMode::Clamp, false, 1.99f, 1},
      {AddressMode::Clamp, false, -3.0f, 0},    {AddressMode::Clamp, false, 9.0f, 3},
      {AddressMode::Border, false, -0.01f, -1}, {AddressMode::Border, false, 3.99f, 3},
      {AddressMode::Border, false, 4.0f, -1},   {AddressMode::Wrap, false, 5.0f, 3},  // clamped
      {AddressMode::Mirror, false, -2.0f, 0},   {AddressMode::Wrap, true, 1.3f, 1},
      {AddressMode::Wrap, true, -0.1f, 3},      {AddressMode::Wrap, true, 0.75f, 3},
      {AddressMode::Mirror, true, 1.1f, 3},     {AddressMode::Mirror, true, -0.3f, 1},
      {AddressMode::Mirror, true, 2.3f, 1},     {AddressMode::Clamp, true, 0.5f, 2},
      {AddressMode::Border, true, 1.0f, -1},    {AddressMode::Clamp, true, NAN, 0},
      {AddressMode::Clamp, false, INFINITY, 0},
  };
  for (const Case& c : cases) {
    Binding t = make(4, 1, 1, 1, TexelFormat::Float);
    fill<float>(t, {10, 11, 12, 13});
    t->address.fill(c.mode);
    t->normalized = c.normalized;
    t->border = {7, 8, 9, 6};
    const Bench bench{{{kHandle, t}}, "", {}};
    const auto out = bench.run({floats(c.x)}, "tex.1d.v4.f32.f32 " + kOut + ", [%t, {%f0}];");
    CAPTURE(c.x);
    CHECK(asFloat(out[0][0]) == (c.texel < 0 ? 7.0f : static_cast<float>(10 + c.texel)));
    CHECK(asFloat(out[0][3]) == (c.texel < 0 ? 6.0f : 1.0f));
  }
}

TEST_CASE("linear filtering has weights of 8 bits") {
  Binding t = make(4, 2, 1, 2, TexelFormat::Float);
  std::vector<float> v;
  for (int i = 0; i < 8; ++i) v.push_back(static_cast<float>(i * i + 1)), v.push_back(static_cast<float>(-3 * i));
  fill(t, v);
  t->filter = FilterMode::Linear;
  const Bench bench{{{kHandle, t}}, "", {}};
  std::vector<std::array<uint32_t, 8>> in;
  std::vector<std::pair<float, float>> at;
  for (float x = -0.7f; x < 5; x += 0.1373f)
    if (in.size() < 32) at.emplace_back(x, x * 0.41f), in.push_back(floats(x, x * 0.41f));
  const auto out = bench.run(in, "tex.2d.v4.f32.f32 " + kOut + ", [%t, {%f0, %f1}];");
  const auto texel = [&](double x, double y, unsigned c) {
    const auto i = static_cast<unsigned>(std::fmin(std::fmax(x, 0), 3)),
               j = static_cast<unsigned>(std::fmin(std::fmax(y, 0), 1));
    return static_cast<double>(v[(j * 4 + i) * 2 + c]);
  };
  for (std::size_t n = 0; n < in.size(); ++n) {
    const double xb = static_cast<double>(at[n].first) - 0.5, yb = static_cast<double>(at[n].second) - 0.5;
    const double i = std::floor(xb), j = std::floor(yb);
    const double a = std::round((xb - i) * 256) / 256, b = std::round((yb - j) * 256) / 256;
    for (unsigned c = 0; c < 2; ++c) {
      const double want = (1 - a) * (1 - b) * texel(i, j, c) + a * (1 - b) * texel(i + 1, j, c) +
                          (1 - a) * b * texel(i, j + 1, c) + a * b * texel(i + 1, j + 1, c);
      CHECK(asFloat(out[n][c]) == static_cast<float>(want));
    }
  }
  // Half of two texels along each axis of a volume: the mean of eight.
  Binding volume = make(2, 2, 2, 1, TexelFormat::Float);
  volume->layers = 1;
  fill<float>(volume, {1, 2, 3, 4, 5, 6, 7, 20});
  volume->filter = FilterMode::Linear;
  volume->normalized = true;
  const Bench cube{{{kHandle, volume}}, "", {}};
  CHECK(asFloat(cube.run({floats(0.5f, 0.5f, 0.5f)},
                         "tex.3d.v4.f32.f32 " + kOut + ", [%t, {%f0, %f1, %f2, %f2}];")[0][0]) == 6.0f);
}

TEST_CASE("formats") {
  const auto fetch = [](const Binding& t, const std::string& type, uint32_t x) {
    const Bench bench{{{kHandle, t}}, "", {}};
    return bench.run({{x}}, "tex.1d.v4." + type + ".s32 " + kOut + ", [%t, {%r0}];")[0];
  };
  Binding s8 = make(2, 1, 1, 4, TexelFormat::Signed8);
  fill<int8_t>(s8, {1, 2, 3, 4, -1, -128, 127, 0});
  CHECK(fetch(s8, "s32", 1) == std::array<uint32_t, 4>{~0u, static_cast<uint32_t>(-128), 127, 0});
  Binding u16 = make(2, 1, 1, 2, TexelFormat::Unsigned16);
  fill<uint16_t>(u16, {1, 2, 65535, 4});
  CHECK(fetch(u16, "u32", 1) == std::array<uint32_t, 4>{65535, 4, 0, 1});
  Binding half = make(2, 1, 1, 1, TexelFormat::Half);
  fill<uint16_t>(half, {0x3c00, 0xc500});
  CHECK(asFloat(fetch(half, "f32", 1)[0]) == -5.0f);
  Binding unorm = make(2, 1, 1, 1, TexelFormat::Unorm8), snorm = make(2, 1, 1, 1, TexelFormat::Snorm16);
  fill<uint8_t>(unorm, {255, 51});
  fill<int16_t>(snorm, {-32768, 32767});
  CHECK(asFloat(fetch(unorm, "f32", 0)[0]) == 1.0f);
  CHECK(asFloat(fetch(unorm, "f32", 1)[0]) == 51.0f / 255.0f);
  CHECK(asFloat(fetch(snorm, "f32", 0)[0]) == -1.0f);
  CHECK(asFloat(fetch(snorm, "f32", 1)[0]) == 1.0f);
  const Bench packed{{{kHandle, half}}, "", {}};
  CHECK(packed.run({{1}}, "tex.1d.v2.f16x2.s32 {%o0, %o1}, [%t, {%r0}];")[0] ==
        std::array<uint32_t, 4>{0xc500, 0x3c000000, 0, 0});
  CHECK(packed.fault({{1}}, "tex.1d.v4.s32.s32 " + kOut + ", [%t, {%r0}];") == FaultKind::Unsupported);
}

TEST_CASE("geometries, levels, offsets and residency") {
  Binding t = make(4, 3, 6, 1, TexelFormat::Unsigned32);
  std::vector<uint32_t> v(72);
  for (uint32_t i = 0; i < 72; ++i) v[i] = i + 1000;
  fill(t, v);
  const Bench bench{{{kHandle, t}}, "", {}};
  const auto at = [&](unsigned x, unsigned y, unsigned z) { return 1000 + (z * 3 + y) * 4 + x; };
  const std::string p = "; selp.b32 %o1, 1, 0, %p0;";
  const auto one = [&](const std::array<uint32_t, 8>& in, const std::string& text) {
    return bench.run({in}, text)[0];
  };
  CHECK(one({2, 1, 4}, "tex.3d.v4.u32.s32 " + kOut + ", [%t, {%r0, %r1, %r2, %r2}];")[0] == at(2, 1, 4));
  CHECK(one({3, 2, 1}, "tex.a2d.v4.u32.s32 " + kOut + ", [%t, {%r0, %r1, %r2, %r2}];")[0] == at(2, 1, 3));
  CHECK(one({5, 3}, "tex.a1d.v4.u32.s32 " + kOut + ", [%t, {%r0, %r1}];")[0] == at(3, 0, 5));
  CHECK(one({1, 1}, "tex.2d.v4.u32.s32 " + kOut + "|%p0, [%t, {%r0, %r1}]" + p) ==
        std::array<uint32_t, 4>{at(1, 1, 0), 1, 0, 1});
  CHECK(one({1, 1, static_cast<uint32_t>(-1)}, "tex.2d.v4.u32.s32 " + kOut + ", [%t, {%r0, %r1}], {1, %r2};")[0] ==
        at(2, 0, 0));
  CHECK(one(floats(1.5f, 2.5f, 3.0f), "tex.level.2d.v4.u32.f32 " + kOut + ", [%t, {%f0, %f1}], %f2;")[0] ==
        at(1, 2, 0));
  CHECK(one(floats(1.5f, 2.5f), "tex.base.2d.v4.u32.f32 " + kOut + ", [%t, {%f0, %f1}];")[0] == at(1, 2, 0));
  CHECK(one(floats(1.5f, 2.5f),
            "tex.grad.2d.v4.u32.f32 " + kOut + ", [%t, {%f0, %f1}], {%f0, %f1}, {%f0, %f1};")[0] == at(1, 2, 0));
  CHECK(bench.fault({{6, 3}}, "tex.a1d.v4.u32.s32 " + kOut + ", [%t, {%r0, %r1}];") == FaultKind::OutOfBounds);
  CHECK(bench.fault({{0, 0}}, "tex.2d.v4.u32.s32 " + kOut + ", [%t, {%r0, %r1}], {8, 0};") ==
        FaultKind::Unsupported);
  CHECK(bench.fault({{0, 0}}, "tex.2d.v4.u32.s32 " + kOut + ", [%rd1, {%r0, %r1}];") == FaultKind::OutOfBounds);
  CHECK(bench.fault({{0, 0}}, "tex.2dms.v4.u32.s32 " + kOut + ", [%t, {%r0, %r1, %r1, %r1}];") ==
        FaultKind::Unsupported);
  CHECK(bench.fault({{0, 0}}, "tex.level.2d.v4.f32.f32 " + kOut + ", [%t, {%f0, %f1}], %f1, %f0;") ==
        FaultKind::Unsupported);
  Binding linear = make(4, 1, 1, 1, TexelFormat::Float);
  fill<float>(linear, {1, 2, 3, 4});
  linear->isLinearMemory = true;
  const Bench memory{{{kHandle, linear}}, "", {}};
  const auto outside = memory.run({{3}, {4}, {~0u}}, "tex.1d.v4.f32.s32 " + kOut + ", [%t, {%r0}];");
  CHECK(asFloat(outside[0][0]) == 4.0f);
  CHECK(outside[1][0] == 0);
  CHECK(outside[2][0] == 0);
}

TEST_CASE("the faces of a cube") {
  Binding t = make(2, 2, 12, 1, TexelFormat::Float);
  t->depth = 1;
  std::vector<float> v(48);
  for (unsigned i = 0; i < 48; ++i) v[i] = static_cast<float>(i);
  fill(t, v);
  const Bench bench{{{kHandle, t}}, "", {}};
  // Direction, face, and the texel on it (s then t).
  struct Case {
    float x, y, z;
    unsigned face, s, t;
  };
  const Case cases[] = {{2, 0.5f, -0.5f, 0, 1, 0}, {-2, 0.5f, -0.5f, 1, 0, 0}, {0.5f, 2, 0.5f, 2, 1, 1},
                        {0.5f, -2, 0.5f, 3, 1, 0}, {-0.5f, -0.5f, 2, 4, 0, 1}, {-0.5f, -0.5f, -2, 5, 1, 1}};
  for (const Case& c : cases) {
    const auto out =
        bench.run({floats(c.x, c.y, c.z)}, "tex.cube.v4.f32.f32 " + kOut + ", [%t, {%f0, %f1, %f2, %f2}];");
    CHECK(asFloat(out[0][0]) == static_cast<float>(c.face * 4 + c.t * 2 + c.s));
    const auto second = bench.run({floats(c.x, c.y, c.z)},
                                  "mov.b32 %r7, 1; tex.acube.v4.f32.f32 " + kOut + ", [%t, {%r7, %f0, %f1, %f2}];");
    CHECK(asFloat(second[0][0]) == static_cast<float>(24 + c.face * 4 + c.t * 2 + c.s));
  }
}

TEST_CASE("tld4 gives four texels, from the lower left on") {
  Binding t = make(4, 4, 1, 4, TexelFormat::Float);
  std::vector<float> v;
  for (int i = 0; i < 16; ++i)
    for (int c = 0; c < 4; ++c) v.push_back(static_cast<float>(100 * c + i));
  fill(t, v);
  const Bench bench{{{kHandle, t}}, "", {}};
  const char* names[] = {"r", "g", "b", "a"};
  for (unsigned c = 0; c < 4; ++c) {
    const auto out = bench.run({floats(2.0f, 2.0f)}, "tld4." + std::string(names[c]) + ".2d.v4.f32.f32 " + kOut +
                                                         ", [%t, {%f0, %f1}];")[0];
    const float base = static_cast<float>(100 * c);
    CHECK(asFloat(out[0]) == base + 9);   // (1, 2)
    CHECK(asFloat(out[1]) == base + 10);  // (2, 2)
    CHECK(asFloat(out[2]) == base + 6);   // (2, 1)
    CHECK(asFloat(out[3]) == base + 5);   // (1, 1)
  }
}

TEST_CASE("texture references, samplers and queries") {
  Binding t = make(5, 4, 1, 2, TexelFormat::Unorm16),
          sampler = make(1, 1, 1, 1, TexelFormat::Float, TextureBinding::Kind::Sampler),
          surface = make(6, 7, 1, 4, TexelFormat::Half, TextureBinding::Kind::Surface);
  fill<uint16_t>(t, {65535, 0, 0, 65535});
  sampler->normalized = true;
  const Bench bench{{{kHandle, surface}},
                    ".global .texref tx;\n.global .samplerref sm;\n.global .surfref sf;\n",
                    {{"tx", t}, {"sm", sampler}, {"sf", surface}}};
  const auto sampled = bench.run({floats(0.3f, 0.1f)}, "tex.2d.v4.f32.f32 " + kOut + ", [tx, sm, {%f0, %f1}];")[0];
  CHECK(asFloat(sampled[0]) == 0.0f);
  CHECK(asFloat(sampled[1]) == 1.0f);
  CHECK(bench.run({{}},
                  "txq.width.b32 %o0, [tx]; txq.height.b32 %o1, [tx]; txq.channel_order.b32 %o2, [tx]; "
                  "txq.channel_data_type.b32 %o3, [tx];")[0] == std::array<uint32_t, 4>{5, 4, 0x10B2, 0x10D3});
  CHECK(bench.run({{}},
                  "suq.width.b32 %o0, [sf]; suq.height.b32 %o1, [%t]; txq.force_unnormalized_coords.b32 %o2, [sm]; "
                  "txq.level.width.b32 %o3, [tx], 0;")[0] == std::array<uint32_t, 4>{6, 7, 0, 5});
  CHECK(bench.fault({{}}, "txq.level.width.b32 %o3, [tx], 1;") == FaultKind::Unsupported);
  CHECK(bench.fault({{}}, "txq.width.b32 %o3, [sf];") == FaultKind::OutOfBounds);
  CHECK(bench.run({{}},
                  "istypep.surfref %p0, %t; istypep.texref %p1, %t; istypep.samplerref %p2, %rd0; "
                  "selp.b32 %o0, 1, 0, %p0; selp.b32 %o1, 1, 0, %p1; selp.b32 %o2, 1, 0, %p2;")[0] ==
        std::array<uint32_t, 4>{1, 0, 0, 0});
}

TEST_CASE("surfaces are loaded and stored by bytes") {
  const auto surface = [] { return make(8, 4, 3, 1, TexelFormat::Unsigned32, TextureBinding::Kind::Surface); };
  Binding s = surface();
  std::vector<uint32_t> v(96);
  for (uint32_t i = 0; i < 96; ++i) v[i] = i * 0x01010101u;
  fill(s, v);
  const Bench bench{{{kHandle, s}}, "", {}};
  const auto one = [&](const std::array<uint32_t, 8>& in, const std::string& text) {
    return bench.run({in}, text)[0];
  };
  CHECK(one({12}, "suld.b.1d.b32.trap %o0, [%t, {%r0}];")[0] == v[3]);
  CHECK(one({5, 2}, "suld.b.2d.b8.trap %h0, [%t, {%r0, %r1}]; cvt.u32.u16 %o0, %h0;")[0] == (v[17] & 255));
  CHECK(one({8, 1, 2}, "suld.b.3d.v2.b32.trap {%o0, %o1}, [%t, {%r0, %r1, %r2, %r2}];") ==
        std::array<uint32_t, 4>{v[74], v[75], 0, 0});
  CHECK(one({2, 16}, "suld.b.a1d.v4.b32.trap " + kOut + ", [%t, {%r0, %r1}];") ==
        std::array<uint32_t, 4>{v[68], v[69], v[70], v[71]});
  CHECK(one({1, 8, 3}, "suld.b.a2d.b64.cg.trap %rd7, [%t, {%r0, %r1, %r2, %r2}]; mov.b64 {%o0, %o1}, %rd7;")[0] ==
        v[32 + 24 + 2]);
  const uint32_t minus4 = static_cast<uint32_t>(-4);
  CHECK(one({32, minus4}, "suld.b.2d.b32.zero %o0, [%t, {%r0, %r1}];")[0] == 0);
  CHECK(one({32, minus4}, "suld.b.2d.b32.clamp %o0, [%t, {%r0, %r1}];")[0] == v[7]);
  CHECK(one({minus4, 9}, "suld.b.2d.b32.clamp %o0, [%t, {%r0, %r1}];")[0] == v[24]);
  CHECK(bench.fault({{32, 0}}, "suld.b.2d.b32.trap %o0, [%t, {%r0, %r1}];") == FaultKind::OutOfBounds);
  CHECK(bench.fault({{2, 0}}, "suld.b.2d.b32.trap %o0, [%t, {%r0, %r1}];") == FaultKind::Misaligned);

  Binding to = surface();
  const Bench stores{{{kHandle, to}}, "", {}};
  const auto word = [&](unsigned i) {
    uint32_t x;
    std::memcpy(&x, to->data + std::size_t{4} * i, 4);
    return x;
  };
  stores.run({{4, 1, 0xaabbccdd}}, "sust.b.2d.b32.trap [%t, {%r0, %r1}], %r2;");
  CHECK(word(9) == 0xaabbccdd);
  stores.run({{40, 1, 5}}, "sust.b.2d.b32.zero [%t, {%r0, %r1}], %r2;");
  stores.run({{40, 1, 6}}, "sust.b.2d.b32.clamp [%t, {%r0, %r1}], %r2;");
  CHECK(word(15) == 6);
  stores.run({{1, 8, 2, 77}}, "sust.b.a2d.v2.b32.trap [%t, {%r0, %r1, %r2, %r2}], {%r3, %r3};");
  CHECK(word(32 + 16 + 2) == 77);
  CHECK(word(32 + 16 + 3) == 77);
  CHECK(stores.fault({{40, 1, 6}}, "sust.b.2d.b32.trap [%t, {%r0, %r1}], %r2;") == FaultKind::OutOfBounds);
}

TEST_CASE("formatted stores convert") {
  Binding s = make(4, 1, 1, 2, TexelFormat::Unorm8, TextureBinding::Kind::Surface);
  const Bench bench{{{kHandle, s}}, "", {}};
  bench.run({{1, std::bit_cast<uint32_t>(0.5f), std::bit_cast<uint32_t>(7.0f)}},
            "sust.p.1d.v2.b32.trap [%t, {%r0}], {%r1, %r2};");
  CHECK(s->data[2] == std::byte{128});
  CHECK(s->data[3] == std::byte{255});
  CHECK(bench.fault({{1, 0}}, "sust.p.1d.b32.trap [%t, {%r0}], %r1;") == FaultKind::Unsupported);
  Binding small = make(4, 1, 1, 1, TexelFormat::Signed8, TextureBinding::Kind::Surface);
  const Bench integers{{{kHandle, small}}, "", {}};
  integers.run({{3, static_cast<uint32_t>(-100)}}, "sust.p.1d.b32.trap [%t, {%r0}], %r1;");
  CHECK(small->data[3] == std::byte{156});
  CHECK(integers.fault({{3, 200}}, "sust.p.1d.b32.trap [%t, {%r0}], %r1;") == FaultKind::Unsupported);
}

TEST_CASE("reductions on surfaces") {
  const auto after = [](const std::string& operation, uint64_t before, std::vector<std::array<uint32_t, 8>> values,
                        const std::string& value, TexelFormat format = TexelFormat::Unsigned32) {
    Binding s = make(8, 2, 1, 1, format, TextureBinding::Kind::Surface);
    std::memcpy(s->data + 8, &before, 8);
    const Bench bench{{{kHandle, s}}, "", {}};
    const bool isFormatted = operation.find("sured.p") == 0;
    bench.run(values, "mov.b64 %rd7, {%r0, %r1}; mov.b32 %r7, " + std::string(isFormatted ? "2" : "8") +
                          "; mov.b32 %r6, 0; " + operation + " [%t, {%r7, %r6}], " + value + ";");
    uint64_t result;
    std::memcpy(&result, s->data + 8, 8);
    return result;
  };
  const uint32_t minus5 = static_cast<uint32_t>(-5);
  CHECK(after("sured.b.add.2d.u32.trap", 10, {{1}, {2}, {3}}, "%r0") == 16);
  CHECK(after("sured.b.min.2d.s32.clamp", 10, {{minus5}, {2}}, "%r0") == minus5);
  CHECK(after("sured.b.min.2d.u32.clamp", 10, {{minus5}, {2}}, "%r0") == 2);
  CHECK(after("sured.b.max.2d.s64.zero", 10, {{minus5, ~0u}, {2, 1}}, "%rd7") == 0x1'0000'0002);
  CHECK(after("sured.b.max.2d.u64.zero", 10, {{minus5, ~0u}, {2, 1}}, "%rd7") == (0xffffffffull << 32 | minus5));
  CHECK(after("sured.b.and.2d.b32.trap", 0xff, {{0xf0}, {0x3c}}, "%r0") == 0x30);
  CHECK(after("sured.b.or.2d.b32.trap", 1, {{0xf0}, {0x300}}, "%r0") == 0x3f1);
  CHECK(after("sured.p.max.2d.b32.trap", 10, {{minus5}, {12}}, "%r0", TexelFormat::Signed32) == 12);
  CHECK(after("sured.p.max.2d.b32.trap", 10, {{minus5}, {12}}, "%r0", TexelFormat::Unsigned32) == minus5);
}
