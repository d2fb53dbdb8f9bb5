// Runs an instruction on many values at once, each thread its own, and compares with a function of the test's.
//
// A case is a piece of PTX that reads some of the 64-bit values x, y, z and u of its thread, whose lower parts are
// also in registers of 32 and 16 bits, and leaves its result in the register of its kind:
//     x y z u    %x %y %z %u (b64)    %xr %yr %zr %ur (b32)    %xh %yh %zh %uh (b16)    %xp .. %up (pred: bit 0)
//     result     %d (b64)  %r (b32)  %h (b16)  %p (pred)
//     scratch    %t<9> (b64)  %s<9> (b32)  %g<9> (b16)  %q<9> (pred)  %w<3> (b128)  %f<4> (f32)
// It is run once by whole warps and once by those lanes only whose x + y is odd, the others branching around it,
// whose results then must be as before.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "exec/machine.h"
#include "exec_rows.h"
#include "support.h"

namespace ptxopt::testing {

struct Values {
  uint64_t x = 0, y = 0, z = 0, u = 0;
};

struct LaneCase {
  std::string ptx;
  char result;  // 'd', 'r', 'h' or 'p'
  std::function<uint64_t(const Values&)> expected;
};

// Numbers at which integers of `bits` bits behave in unusual ways, and some without any pattern.
inline std::vector<uint64_t> edgeValues(unsigned bits) {
  const uint64_t top = uint64_t{1} << (bits - 1);
  const uint64_t all = (top - 1) | top;
  std::vector<uint64_t> values = {0, 1, 2, 3, 7, 31, 32, 33, all, all - 1, top, top - 1, top + 1, top >> 1};
  uint64_t state = 0x9E37'79B9'7F4A'7C15 * bits;
  for (int i = 0; i < 6; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    values.push_back((state ^ state >> 29) & all);
  }
  return values;
}

// All pairs of edge values in x and y, with others in z and u; the upper bits beyond `bits` hold something else.
inline std::vector<Values> edgePairs(unsigned bits) {
  const std::vector<uint64_t> edges = edgeValues(bits);
  const uint64_t above = bits == 64 ? 0 : ~uint64_t{0} << bits & 0xA5C3'96F1'5A3C'691E;
  std::vector<Values> result;
  std::size_t n = 0;
  for (const uint64_t x : edges)
    for (const uint64_t y : edges) {
      result.push_back(
          {x | above, y | above, edges[n % edges.size()] | above, edges[n / 3 % edges.size()] | above});
      n += 7;
    }
  return result;
}

namespace lanes {

inline const std::string kPrologue = R"((.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .b64 %d, %x, %y, %z, %u, %t<9>, %address<3>;
  .reg .b32 %r, %xr, %yr, %zr, %ur, %s<9>, %i<4>;
  .reg .b16 %h, %xh, %yh, %zh, %uh, %g<9>, %upper<3>;
  .reg .b128 %w<3>;
  .reg .f32 %f<4>;
  .reg .pred %p, %xp, %yp, %zp, %up, %q<9>, %out;
  mov.u32 %i0, %tid.x;
  mov.u32 %i1, %ctaid.x;
  mov.u32 %i2, %ntid.x;
  mad.lo.u32 %i0, %i1, %i2, %i0;
  ld.param.u32 %i1, [n];
  setp.ge.u32 %out, %i0, %i1;
  @%out bra DONE;
  ld.param.u64 %address0, [in];
  ld.param.u64 %address1, [out];
  mul.wide.u32 %address2, %i0, 32;
  add.u64 %address0, %address0, %address2;
  mul.wide.u32 %address2, %i0, 8;
  add.u64 %address1, %address1, %address2;
  ld.global.u64 %x, [%address0];
  ld.global.u64 %y, [%address0+8];
  ld.global.u64 %z, [%address0+16];
  ld.global.u64 %u, [%address0+24];
  ld.global.u32 %xr, [%address0];
  ld.global.u32 %yr, [%address0+8];
  ld.global.u32 %zr, [%address0+16];
  ld.global.u32 %ur, [%address0+24];
  ld.global.u16 %xh, [%address0];
  ld.global.u16 %yh, [%address0+8];
  ld.global.u16 %zh, [%address0+16];
  ld.global.u16 %uh, [%address0+24];
  and.b32 %i3, %xr, 1;
  setp.ne.u32 %xp, %i3, 0;
  and.b32 %i3, %yr, 1;
  setp.ne.u32 %yp, %i3, 0;
  and.b32 %i3, %zr, 1;
  setp.ne.u32 %zp, %i3, 0;
  and.b32 %i3, %ur, 1;
  setp.ne.u32 %up, %i3, 0;
  ld.global.u64 %d, [%address1];
  ld.global.u32 %r, [%address1];
  ld.global.u16 %h, [%address1];
  setp.ne.u32 %p, %r, 0;
)";

inline std::string kernelOf(const LaneCase& c, const std::string& name, bool divergent) {
  std::string text = ".visible .entry " + name + kPrologue;
  if (divergent) text += "  xor.pred %out, %xp, %yp;\n  @!%out bra AROUND;\n";
  text += "  {\n  " + c.ptx + "\n  }\nAROUND:\n";
  switch (c.result) {
    case 'd': text += "  st.global.u64 [%address1], %d;\n"; break;
    case 'r': text += "  st.global.u32 [%address1], %r;\n"; break;
    case 'h': text += "  st.global.u16 [%address1], %h;\n"; break;
    default: text += "  selp.u32 %r, 1, 0, %p;\n  st.global.u32 [%address1], %r;\n"; break;
  }
  return text + "DONE:\n  ret;\n}\n";
}

inline uint64_t maskOf(char result) {
  return result == 'd' ? ~uint64_t{0} : result == 'r' ? 0xFFFF'FFFF : result == 'h' ? 0xFFFF : 1;
}

}  // namespace lanes

// Runs each case on all values, in blocks of 96 threads, and compares. `header` may declare variables.
inline void checkLanes(const std::vector<LaneCase>& cases, const std::vector<Values>& values,
                       const std::string& declarations = {}) {
  std::string text = kHeader + declarations;
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (const bool divergent : {false, true})
      text += lanes::kernelOf(cases[i], (divergent ? "part" : "whole") + std::to_string(i), divergent);
  const Parsed parsed(text);
  exec::Machine machine(*parsed);
  auto& in = machine.memory().allocate("in", values.size() * sizeof(Values));
  auto& out = machine.memory().allocate("out", values.size() * 8);
  std::memcpy(in.data, values.data(), in.size);

  exec::LaunchConfig config;
  config.block = {96, 1, 1};
  config.grid = {static_cast<uint32_t>((values.size() + 95) / 96), 1, 1};
  config.parameters.resize(20);
  const auto count = static_cast<uint32_t>(values.size());
  std::memcpy(config.parameters.data(), &in.base, 8);
  std::memcpy(config.parameters.data() + 8, &out.base, 8);
  std::memcpy(config.parameters.data() + 16, &count, 4);

  for (std::size_t i = 0; i < cases.size(); ++i)
    for (const bool divergent : {false, true}) {
      // A value that no thread computes by chance; its bit 0 is what a predicate begins with.
      constexpr uint64_t kBefore = 0x7C3A'11D5'0B66'E9F1;
      for (std::size_t k = 0; k < values.size(); ++k) std::memcpy(out.data + 8 * k, &kBefore, 8);
      CAPTURE(cases[i].ptx);
      CAPTURE(divergent);
      config.observer = &exec::executedRows();
      REQUIRE_NOTHROW(machine.launch((divergent ? "part" : "whole") + std::to_string(i), config));
      const uint64_t mask = lanes::maskOf(cases[i].result);
      std::size_t wrong = 0;
      for (std::size_t k = 0; k < values.size() && wrong < 3; ++k) {
        const Values& v = values[k];
        uint64_t got = 0;
        std::memcpy(&got, out.data + 8 * k, 8);
        const bool ran = !divergent || ((v.x + v.y) & 1) != 0;
        const uint64_t wanted = (ran ? cases[i].expected(v) : kBefore) & mask;
        if ((got & mask) == wanted) continue;
        ++wrong;
        CAPTURE(v.x);
        CAPTURE(v.y);
        CAPTURE(v.z);
        CAPTURE(v.u);
        CHECK((got & mask) == wanted);
      }
      CHECK(wrong == 0);
    }
}

}  // namespace ptxopt::testing
