// Arithmetic with the carry flag: chains against sums and products that are wide enough to need none.
#include "exec_lanes.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

__extension__ using Big = unsigned __int128;
__extension__ using SignedBig = __int128;

// The 128-bit numbers y:x and u:z, or those of the 32-bit parts.
Big pairOf(uint64_t low, uint64_t high) { return Big{high} << 64 | low; }
uint64_t pair32(uint64_t low, uint64_t high) { return high << 32 | (low & 0xFFFF'FFFF); }
uint64_t lowOf(Big v) { return static_cast<uint64_t>(v); }
uint64_t highOf(Big v) { return static_cast<uint64_t>(v >> 64); }

// A statement in both types of a width; they differ in nothing.
void bothTypes(std::vector<LaneCase>& cases, const std::string& ptx, char result,
               const std::function<uint64_t(const Values&)>& expected) {
  for (const char type : {'u', 's'}) {
    std::string text = ptx;
    for (char& c : text)
      if (c == '#') c = type;
    cases.push_back({text, result, expected});
  }
}

uint64_t high64(uint64_t x, uint64_t y, bool isSigned) {
  return isSigned ? static_cast<uint64_t>(
                        static_cast<SignedBig>(static_cast<int64_t>(x)) * static_cast<int64_t>(y) >> 64)
                  : highOf(Big{x} * y);
}

}  // namespace

TEST_CASE("exec: sums and differences of 64 and 128 bits in steps") {
  std::vector<LaneCase> cases;
  bothTypes(cases, "add.cc.#32 %s0, %xr, %zr; addc.#32 %s1, %yr, %ur; mov.b64 %d, {%s0, %s1};", 'd',
            [](const Values& v) { return pair32(v.x, v.y) + pair32(v.z, v.u); });
  bothTypes(cases, "sub.cc.#32 %s0, %xr, %zr; subc.#32 %s1, %yr, %ur; mov.b64 %d, {%s0, %s1};", 'd',
            [](const Values& v) { return pair32(v.x, v.y) - pair32(v.z, v.u); });
  bothTypes(cases, "add.cc.#64 %t0, %x, %z; addc.#64 %d, %y, %u;", 'd',
            [](const Values& v) { return highOf(pairOf(v.x, v.y) + pairOf(v.z, v.u)); });
  bothTypes(cases, "add.cc.#64 %d, %x, %z;", 'd', [](const Values& v) { return v.x + v.z; });
  bothTypes(cases, "sub.cc.#64 %t0, %x, %z; subc.#64 %d, %y, %u;", 'd',
            [](const Values& v) { return highOf(pairOf(v.x, v.y) - pairOf(v.z, v.u)); });
  bothTypes(cases, "sub.cc.#64 %d, %x, %z;", 'd', [](const Values& v) { return v.x - v.z; });
  // Through a middle word, which takes a carry in and gives one out; it may be all ones, or equal.
  bothTypes(cases,
            "add.cc.#32 %s0, %xr, %zr; addc.cc.#32 %s1, %yr, %ur; addc.#32 %s2, 0, 0; mov.b64 %d, {%s1, %s2};", 'd',
            [](const Values& v) { return lowOf((Big{pair32(v.x, v.y)} + pair32(v.z, v.u)) >> 32); });
  bothTypes(cases,
            "sub.cc.#32 %s0, %xr, %zr; subc.cc.#32 %s1, %yr, %ur; subc.#32 %s2, 0, 0; mov.b64 %d, {%s1, %s2};", 'd',
            [](const Values& v) { return lowOf((Big{pair32(v.x, v.y)} - pair32(v.z, v.u)) >> 32); });
  bothTypes(cases, "add.cc.#64 %t0, %x, %z; addc.cc.#64 %t1, %y, %u; addc.#64 %d, 0, 0;", 'd', [](const Values& v) {
    const Big a = pairOf(v.x, v.y), sum = a + pairOf(v.z, v.u);
    return uint64_t{sum < a};
  });
  bothTypes(cases, "sub.cc.#64 %t0, %x, %z; subc.cc.#64 %t1, %y, %u; subc.#64 %d, 0, 0;", 'd',
            [](const Values& v) { return pairOf(v.x, v.y) < pairOf(v.z, v.u) ? ~uint64_t{0} : 0; });
  // The flag outlives what is between, an addition without .cc among it, and the destination may be a source.
  bothTypes(cases, "mov.b32 %r, %xr; add.cc.#32 %r, %r, %r; add.#32 %s1, %yr, %zr; addc.#32 %r, %r, 0;", 'r',
            [](const Values& v) { return (v.x << 1) + (v.x >> 31 & 1); });
  // Mixed: subtracting leaves the flag set when there was no borrow, and subc borrows when it is clear.
  bothTypes(cases, "add.cc.#32 %s0, %xr, %zr; subc.#32 %r, %yr, %ur;", 'r', [](const Values& v) {
    const uint64_t carry = ((v.x & 0xFFFF'FFFF) + (v.z & 0xFFFF'FFFF)) >> 32;
    return v.y - v.u - 1 + carry;
  });
  bothTypes(cases, "sub.cc.#32 %s0, %xr, %zr; addc.#32 %r, %yr, %ur;", 'r',
            [](const Values& v) { return v.y + v.u + ((v.x & 0xFFFF'FFFF) >= (v.z & 0xFFFF'FFFF) ? 1 : 0); });
  bothTypes(cases, "sub.cc.#64 %t0, %x, %z; addc.cc.#64 %t1, %y, %u; subc.#64 %d, %x, %u;", 'd',
            [](const Values& v) {
              const Big sum = Big{v.y} + v.u + (v.x >= v.z ? 1 : 0);
              return v.x - v.u - 1 + highOf(sum);
            });
  std::vector<Values> values = edgePairs(64);
  for (Values v : edgePairs(64)) {  // equal upper words
    v.u = ~v.y;
    values.push_back(v);
    v.u = v.y;
    values.push_back(v);
  }
  checkLanes(cases, values);
}

TEST_CASE("exec: products in steps") {
  std::vector<LaneCase> cases;
  // 64 x 64 = 128 bits out of 32-bit words; the words are x, y, z, u (lower halves).
  const std::string words =
      "mov.b64 {%s0, %s1}, %x; mov.b64 {%s2, %s3}, %z;"
      "mul.lo.u32 %s4, %s0, %s2; mul.hi.u32 %s5, %s0, %s2;"
      "mad.lo.cc.u32 %s5, %s1, %s2, %s5; madc.hi.u32 %s6, %s1, %s2, 0;"
      "mad.lo.cc.u32 %s5, %s0, %s3, %s5; madc.hi.cc.u32 %s6, %s0, %s3, %s6; addc.u32 %s7, 0, 0;"
      "mad.lo.cc.u32 %s6, %s1, %s3, %s6; madc.hi.u32 %s7, %s1, %s3, %s7;";
  cases.push_back({words + "mov.b64 %d, {%s4, %s5};", 'd', [](const Values& v) { return v.x * v.z; }});
  cases.push_back({words + "mov.b64 %d, {%s6, %s7};", 'd', [](const Values& v) { return highOf(Big{v.x} * v.z); }});
  cases.push_back({"mul.lo.u64 %t0, %x, %z; mad.lo.cc.u64 %t1, %x, %z, %y; madc.hi.u64 %d, %x, %z, %u;", 'd',
                   [](const Values& v) { return highOf(Big{v.x} * v.z + v.y) + v.u; }});
  for (const bool isSigned : {false, true}) {
    const std::string type = isSigned ? "s" : "u";
    for (const bool high : {false, true}) {
      const std::string part = high ? "hi." : "lo.";
      // The carry out of the addition of half a product, with and without carry in (what x + u carries).
      const auto product64 = [=](const Values& v) { return high ? high64(v.x, v.z, isSigned) : v.x * v.z; };
      const auto product32 = [=](const Values& v) -> uint64_t {
        const uint64_t all =
            isSigned ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(v.x)} * static_cast<int32_t>(v.z))
                     : (v.x & 0xFFFF'FFFF) * (v.z & 0xFFFF'FFFF);
        return high ? all >> 32 : all & 0xFFFF'FFFF;
      };
      const auto carry64 = [](uint64_t a, uint64_t b) { return highOf(Big{a} + b); };
      const auto carry32 = [](uint64_t a, uint64_t b) { return ((a & 0xFFFF'FFFF) + (b & 0xFFFF'FFFF)) >> 32; };
      cases.push_back({"mad." + part + "cc." + type + "64 %t0, %x, %z, %y; addc.u64 %d, 0, 0;", 'd',
                       [=](const Values& v) { return carry64(product64(v), v.y); }});
      cases.push_back({"mad." + part + "cc." + type + "64 %d, %x, %z, %y;", 'd',
                       [=](const Values& v) { return product64(v) + v.y; }});
      cases.push_back(
          {"add.cc.u64 %t1, %x, %u; madc." + part + "cc." + type + "64 %t0, %x, %z, %y; addc.u64 %d, 0, 0;", 'd',
           [=](const Values& v) { return highOf(Big{product64(v)} + v.y + carry64(v.x, v.u)); }});
      cases.push_back({"add.cc.u64 %t1, %x, %u; madc." + part + type + "64 %d, %x, %z, %y;", 'd',
                       [=](const Values& v) { return product64(v) + v.y + carry64(v.x, v.u); }});
      cases.push_back(
          {"mad." + part + "cc." + type + "32 %s0, %xr, %zr, %yr; addc.u32 %s1, 0, 0; mov.b64 %d, {%s0, %s1};", 'd',
           [=](const Values& v) { return product32(v) + (v.y & 0xFFFF'FFFF); }});
      cases.push_back({"add.cc.u32 %s2, %xr, %ur; madc." + part + "cc." + type +
                           "32 %s0, %xr, %zr, %yr; addc.u32 %s1, 0, 0; mov.b64 %d, {%s0, %s1};",
                       'd',
                       [=](const Values& v) { return product32(v) + (v.y & 0xFFFF'FFFF) + carry32(v.x, v.u); }});
      cases.push_back({"add.cc.u32 %s2, %xr, %ur; madc." + part + type + "32 %r, %xr, %zr, %yr;", 'r',
                       [=](const Values& v) { return product32(v) + v.y + carry32(v.x, v.u); }});
    }
  }
  checkLanes(cases, edgePairs(64));
  checkLanes(cases, edgePairs(32));
}
