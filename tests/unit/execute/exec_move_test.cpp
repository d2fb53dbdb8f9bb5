// mov in all its forms, prmt, selp and slct.
#include <bit>

#include "exec_lanes.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

uint64_t part(uint64_t v, unsigned bits, unsigned index) {
  return v >> (bits * index) & ((uint64_t{1} << bits) - 1);
}

// prmt's result for four bytes of y:x, highest first in `places`; a place of 8 to 15 wants the sign.
uint64_t bytesAt(const Values& v, const unsigned (&places)[4]) {
  const uint64_t all = (v.y & 0xFFFF'FFFF) << 32 | (v.x & 0xFFFF'FFFF);
  uint64_t r = 0;
  for (const unsigned place : places) {
    uint64_t byte = part(all, 8, place & 7);
    if (place >= 8) byte = byte >= 128 ? 255 : 0;
    r = r << 8 | byte;
  }
  return r;
}

}  // namespace

TEST_CASE("exec: copies") {
  checkLanes(
      {{"mov.b16 %h, %xh;", 'h', [](const Values& v) { return v.x; }},
       {"mov.u16 %h, %xh;", 'h', [](const Values& v) { return v.x; }},
       {"mov.s16 %h, %xh;", 'h', [](const Values& v) { return v.x; }},
       {"mov.b32 %r, %xr;", 'r', [](const Values& v) { return v.x; }},
       {"mov.u32 %r, %xr;", 'r', [](const Values& v) { return v.x; }},
       {"mov.s32 %r, %xr;", 'r', [](const Values& v) { return v.x; }},
       {"mov.b32 %f0, %xr; mov.f32 %f1, %f0; mov.b32 %r, %f1;", 'r', [](const Values& v) { return v.x; }},
       {"mov.b64 %d, %x;", 'd', [](const Values& v) { return v.x; }},
       {"mov.u64 %d, %x;", 'd', [](const Values& v) { return v.x; }},
       {"mov.s64 %d, %x;", 'd', [](const Values& v) { return v.x; }},
       {".reg .f64 %e; mov.b64 %e, %x; mov.f64 %e, %e; mov.b64 %d, %e;", 'd', [](const Values& v) { return v.x; }},
       {"mov.pred %p, %xp;", 'p', [](const Values& v) { return v.x; }},
       {"mov.b16 %h, 0x7FFF;", 'h', [](const Values&) { return 0x7FFF; }},
       {"mov.u32 %r, 017;", 'r', [](const Values&) { return 15; }},
       {"mov.b32 %r, 0b1011;", 'r', [](const Values&) { return 11; }},
       {"mov.u32 %r, WARP_SZ;", 'r', [](const Values&) { return 32; }},
       {"mov.s64 %d, -42;", 'd', [](const Values&) { return ~uint64_t{41}; }},
       {"mov.f32 %f0, 0f7FFFFFFF; mov.b32 %r, %f0;", 'r', [](const Values&) { return 0x7FFF'FFFF; }},
       {"mov.f32 %f0, 3.25; mov.b32 %r, %f0;", 'r', [](const Values&) { return 0x4050'0000; }},
       {"mov.b64 %d, 0d7FF0000000000000;", 'd', [](const Values&) { return uint64_t{0x7FF} << 52; }}},
      edgePairs(64));
}

TEST_CASE("exec: packs and unpacks") {
  checkLanes(
      {{"mov.b32 %r, {%xh, %yh};", 'r', [](const Values& v) { return part(v.x, 16, 0) | part(v.y, 16, 0) << 16; }},
       {"mov.b64 %d, {%xr, %yr};", 'd', [](const Values& v) { return part(v.x, 32, 0) | v.y << 32; }},
       {"mov.b64 %d, {%xh, %yh, %zh, %uh};", 'd',
        [](const Values& v) {
          return part(v.x, 16, 0) | part(v.y, 16, 0) << 16 | part(v.z, 16, 0) << 32 | part(v.u, 16, 0) << 48;
        }},
       {"mov.b32 %r, {0x1234, %xh};", 'r', [](const Values& v) { return 0x1234 | part(v.x, 16, 0) << 16; }},
       {"mov.b64 %d, {%xr, -2};", 'd',
        [](const Values& v) { return part(v.x, 32, 0) | uint64_t{0xFFFF'FFFE} << 32; }},
       {"mov.b32 {%h, _}, %xr;", 'h', [](const Values& v) { return part(v.x, 16, 0); }},
       {"mov.b32 {_, %h}, %xr;", 'h', [](const Values& v) { return part(v.x, 16, 1); }},
       {"mov.b64 {%r, _}, %x;", 'r', [](const Values& v) { return part(v.x, 32, 0); }},
       {"mov.b64 {_, %r}, %x;", 'r', [](const Values& v) { return part(v.x, 32, 1); }},
       {"mov.b64 {%s0, %s1}, %x; mov.b64 %d, {%s1, %s0};", 'd', [](const Values& v) { return std::rotl(v.x, 32); }},
       {"mov.b64 {%g0, %g1, %g2, %g3}, %x; mov.b64 %d, {%g3, %g2, %g1, %g0};", 'd',
        [](const Values& v) {
          return part(v.x, 16, 3) | part(v.x, 16, 2) << 16 | part(v.x, 16, 1) << 32 | part(v.x, 16, 0) << 48;
        }},
       {"mov.b64 {_, %g1, _, %h}, %x;", 'h', [](const Values& v) { return part(v.x, 16, 3); }},
       {"mov.b64 {%f0, %f1}, %x; mov.b64 %d, {%f1, %f0};", 'd', [](const Values& v) { return std::rotl(v.x, 32); }},
       {".reg .b8 %c<4>; mov.b32 {%c0, %c1, %c2, %c3}, %xr; mov.b32 %r, {%c3, %c2, %c1, %c0};", 'r',
        [](const Values& v) {
          return part(v.x, 8, 3) | part(v.x, 8, 2) << 8 | part(v.x, 8, 1) << 16 | part(v.x, 8, 0) << 24;
        }},
       {".reg .b8 %c<2>; mov.b16 {%c0, %c1}, %xh; mov.b16 %h, {%c1, %c0};", 'h',
        [](const Values& v) { return part(v.x, 8, 1) | part(v.x, 8, 0) << 8; }},
       {"mov.b128 %w0, {%x, %y}; mov.b128 %w1, %w0; mov.b128 {%d, %t0}, %w1;", 'd',
        [](const Values& v) { return v.x; }},
       {"mov.b128 %w0, {%x, %y}; mov.b128 %w1, %w0; mov.b128 {_, %d}, %w1;", 'd',
        [](const Values& v) { return v.y; }},
       {"mov.b128 %w0, {%x, %y}; @%xp mov.b128 %w0, {%y, %x}; mov.b128 {%t0, %d}, %w0;", 'd',
        [](const Values& v) { return (v.x & 1) != 0 ? v.x : v.y; }},
       {".reg .v2 .u32 %v2; .reg .v4 .u16 %v4; mov.b64 {%v2.x, %v2.y}, %x; .reg .v2 .u32 %o2;"
        "mov.v2.u32 %o2, %v2; mov.b64 %d, {%o2.y, %o2.x};",
        'd', [](const Values& v) { return std::rotl(v.x, 32); }}},
      edgePairs(64));
}

TEST_CASE("exec: addresses of variables and special registers") {
  const std::string variables =
      ".visible .global .align 8 .b32 table[4] = {11, 22, 33, 44};\n.shared .align 8 .b8 before[8];\n"
      ".shared .align 8 .b32 room[256];\n";
  checkLanes(
      {{"mov.u64 %t0, table; ld.global.u32 %r, [%t0+4];", 'r', [](const Values&) { return 22; }},
       {"mov.u64 %t0, table+8; ld.global.u32 %r, [%t0];", 'r', [](const Values&) { return 33; }},
       {"mov.u64 %t0, table+12; mov.u64 %t1, table+4; sub.u64 %d, %t0, %t1;", 'd', [](const Values&) { return 8; }},
       {"mov.u64 %t0, table+-4; mov.u64 %t1, table; sub.u64 %d, %t1, %t0;", 'd', [](const Values&) { return 4; }},
       {"mov.u32 %s0, room; mov.u32 %s1, %tid.x; shl.b32 %s1, %s1, 2; add.u32 %s0, %s0, %s1; st.shared.u32 [%s0], "
        "%xr;"
        "ld.shared.u32 %r, [%s0];",
        'r', [](const Values& v) { return v.x; }},
       {"mov.u32 %s0, room; mov.u64 %t0, room; mov.b64 {%s1, _}, %t0; sub.u32 %r, %s0, %s1;", 'r',
        [](const Values&) { return 0; }},
       {".local .align 8 .b32 mine[4]; .local .align 8 .b32 more[4]; mov.u64 %t0, mine; st.local.u32 [%t0+4], %xr;"
        "mov.u64 %t1, more; st.local.u32 [%t1+4], %yr; ld.local.u32 %r, [mine+4];",
        'r', [](const Values& v) { return v.x; }},
       {"mov.u64 %t0, n; mov.u64 %t1, out; sub.u64 %d, %t0, %t1;", 'd', [](const Values&) { return 8; }}},
      edgePairs(32), variables);

  // Special registers: x is the number of the thread in the grid; blocks have 96 threads.
  std::vector<Values> values;
  for (uint64_t i = 0; i < 300; ++i) values.push_back({i, i / 3, 0, 0});
  checkLanes({{"mov.u32 %r, %tid.x;", 'r', [](const Values& v) { return v.x % 96; }},
              {"mov.u32 %r, %ctaid.x;", 'r', [](const Values& v) { return v.x / 96; }},
              {"mov.u32 %r, %ntid.x;", 'r', [](const Values&) { return 96; }},
              {"mov.u32 %r, %nctaid.x;", 'r', [](const Values&) { return 4; }},
              {"mov.u32 %r, %tid.y;", 'r', [](const Values&) { return 0; }},
              {"mov.u32 %r, %ntid.z;", 'r', [](const Values&) { return 1; }},
              {"mov.u32 %r, %laneid;", 'r', [](const Values& v) { return v.x % 32; }},
              {"mov.u32 %r, %lanemask_lt;", 'r', [](const Values& v) { return (uint64_t{1} << v.x % 32) - 1; }}},
             values);
}

TEST_CASE("exec: prmt") {
  std::vector<LaneCase> cases;
  cases.push_back({"prmt.b32 %r, %xr, %yr, %zr;", 'r', [](const Values& v) {
                     const auto s = [&](unsigned i) { return static_cast<unsigned>(part(v.z, 4, i)); };
                     return bytesAt(v, {s(3), s(2), s(1), s(0)});
                   }});
  // Each place of a constant selector takes each of its values.
  for (unsigned n = 0; n < 16; ++n) {
    const unsigned places[4] = {n, (n + 5) & 15, (n + 10) & 15, (n * 7 + 3) & 15};
    const unsigned selector = places[0] << 12 | places[1] << 8 | places[2] << 4 | places[3];
    cases.push_back({"prmt.b32 %r, %xr, %yr, " + std::to_string(selector) + ";", 'r', [=](const Values& v) {
                       return bytesAt(v, {places[0], places[1], places[2], places[3]});
                     }});
  }
  // The patterns, as the ISA's table has them: bytes 3 to 0 for a selector of 0 to 3.
  using Places = unsigned[4];
  static constexpr struct {
    const char* mode;
    Places places[4];
  } kModes[] = {{"f4e", {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}},
                {"b4e", {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}},
                {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
                {"ecl", {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}},
                {"ecr", {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}},
                {"rc16", {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}}};
  for (const auto& m : kModes)
    cases.push_back({std::string("prmt.b32.") + m.mode + " %r, %xr, %yr, %zr;", 'r',
                     [&m](const Values& v) { return bytesAt(v, m.places[v.z & 3]); }});
  cases.push_back({"prmt.b32.f4e %r, %xr, %yr, 6;", 'r', [](const Values& v) { return bytesAt(v, {5, 4, 3, 2}); }});
  std::vector<Values> values = edgePairs(32);
  for (uint64_t i = 0; i < 256; ++i) values.push_back({0x83A5'417F, 0xC012'F96E, i * 0x0101 + i * 0x3000, 0});
  checkLanes(cases, values);
}

TEST_CASE("exec: selp and slct") {
  std::vector<LaneCase> cases;
  const auto chosen = [](const Values& v) { return (v.z & 1) != 0 ? v.x : v.y; };
  for (const char* type : {"b16", "u16", "s16"})
    cases.push_back({std::string("selp.") + type + " %h, %xh, %yh, %zp;", 'h', chosen});
  for (const char* type : {"b32", "u32", "s32"})
    cases.push_back({std::string("selp.") + type + " %r, %xr, %yr, %zp;", 'r', chosen});
  for (const char* type : {"b64", "u64", "s64"})
    cases.push_back({std::string("selp.") + type + " %d, %x, %y, %zp;", 'd', chosen});
  cases.push_back(
      {"mov.b32 %f0, %xr; mov.b32 %f1, %yr; selp.f32 %f2, %f0, %f1, %zp; mov.b32 %r, %f2;", 'r', chosen});
  cases.push_back(
      {".reg .f64 %e<3>; mov.b64 %e0, %x; mov.b64 %e1, %y; selp.f64 %e2, %e0, %e1, %zp; mov.b64 %d, %e2;", 'd',
       chosen});
  cases.push_back({"selp.b32 %r, 1, 0, !%zp;", 'r', [](const Values& v) { return ~v.z & 1; }});
  cases.push_back({"selp.u16 %h, %xh, 7, %zp;", 'h', [](const Values& v) { return (v.z & 1) != 0 ? v.x : 7; }});

  const auto byInteger = [](const Values& v) { return (v.z >> 31 & 1) == 0 ? v.x : v.y; };
  const auto byFloat = [](bool flush) {
    return [=](const Values& v) {
      auto c = std::bit_cast<float>(static_cast<uint32_t>(v.z));
      if (flush && c < 0 && c > -0x1p-126f) c = -0.0f;
      return c >= 0 ? v.x : v.y;
    };
  };
  for (const unsigned bits : {16u, 32u, 64u}) {
    const char result = bits == 64 ? 'd' : bits == 32 ? 'r' : 'h';
    const std::string suffix = bits == 64 ? "" : bits == 32 ? "r" : "h";
    const std::string operands = std::string(" %") + result + ", %x" + suffix + ", %y" + suffix;
    for (const char kind : {'b', 'u', 's'}) {
      const std::string type = "." + std::string(1, kind) + std::to_string(bits);
      cases.push_back({"slct" + type + ".s32" + operands + ", %zr;", result, byInteger});
      cases.push_back({"mov.b32 %f0, %zr; slct" + type + ".f32" + operands + ", %f0;", result, byFloat(false)});
      cases.push_back({"mov.b32 %f0, %zr; slct.ftz" + type + ".f32" + operands + ", %f0;", result, byFloat(true)});
    }
  }
  cases.push_back(
      {"mov.b32 %f0, %xr; mov.b32 %f1, %yr; mov.b32 %f2, %zr; slct.ftz.f32.f32 %f0, %f0, %f1, %f2;"
       "mov.b32 %r, %f0;",
       'r', byFloat(true)});
  cases.push_back(
      {"mov.b32 %f0, %xr; mov.b32 %f1, %yr; slct.f32.s32 %f0, %f0, %f1, %zr; mov.b32 %r, %f0;", 'r', byInteger});
  cases.push_back(
      {".reg .f64 %e<2>; mov.b64 %e0, %x; mov.b64 %e1, %y; slct.f64.s32 %e0, %e0, %e1, %zr; mov.b64 %d, %e0;", 'd',
       byInteger});
  std::vector<Values> values = edgePairs(64);
  for (const uint64_t z :
       {0x0000'0000u, 0x8000'0000u, 0x0000'0001u, 0x8000'0001u, 0x807F'FFFFu, 0x8080'0000u, 0x7F80'0000u,
        0xFF80'0000u, 0x7F80'0001u, 0xFFC0'0000u, 0x3F80'0000u, 0xBF80'0000u, 0x7FFF'FFFFu})
    for (uint64_t odd = 0; odd < 2; ++odd)
      values.push_back({0x1111'2222'3333'4444 + odd, 0x5555'6666'7777'8888, z, 0});
  checkLanes(cases, values);
}
