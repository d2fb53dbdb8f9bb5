// Bitwise logic and shifts of the interpreter, bit by bit.
#include "exec_lanes.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

bool bit(uint64_t v, unsigned i) { return (v >> i & 1) != 0; }

std::string reg(const char* value, unsigned bits) {
  return std::string("%") + value + (bits == 64 ? "" : bits == 32 ? "r" : "h");
}
char resultOf(unsigned bits) { return bits == 64 ? 'd' : bits == 32 ? 'r' : 'h'; }

// The function with this table, of three bits each.
uint64_t lookup(unsigned table, const Values& v) {
  uint64_t r = 0;
  for (unsigned i = 0; i < 32; ++i)
    if (bit(table, bit(v.x, i) * 4u + bit(v.y, i) * 2u + bit(v.z, i))) r |= uint64_t{1} << i;
  return r;
}

}  // namespace

TEST_CASE("exec: and, or, xor, not, cnot of every width and of predicates") {
  for (const unsigned bits : {16u, 32u, 64u}) {
    const std::string d = std::string("%") + resultOf(bits), width = std::to_string(bits);
    const std::string two = ".b" + width + " " + d + ", " + reg("x", bits) + ", " + reg("y", bits) + ";";
    const std::string one = ".b" + width + " " + d + ", " + reg("x", bits) + ";";
    const char result = resultOf(bits);
    checkLanes({{"and" + two, result, [](const Values& v) { return v.x & v.y; }},
                {"or" + two, result, [](const Values& v) { return v.x | v.y; }},
                {"xor" + two, result, [](const Values& v) { return v.x ^ v.y; }},
                {"not" + one, result, [](const Values& v) { return ~v.x; }},
                {"cnot" + one, result, [=](const Values& v) { return uint64_t{v.x << (64 - bits) == 0}; }}},
               edgePairs(bits));
  }
  std::vector<Values> values;
  for (uint64_t i = 0; i < 256; ++i) values.push_back({i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1});
  checkLanes({{"and.pred %p, %xp, %yp;", 'p', [](const Values& v) { return v.x & v.y; }},
              {"or.pred %p, %xp, %yp;", 'p', [](const Values& v) { return v.x | v.y; }},
              {"xor.pred %p, %xp, %yp;", 'p', [](const Values& v) { return v.x ^ v.y; }},
              {"not.pred %p, %xp;", 'p', [](const Values& v) { return ~v.x; }},
              {"xor.pred %p, %xp, %yp; and.pred %p, %p, %zp; or.pred %p, %p, %up;", 'p',
               [](const Values& v) { return ((v.x ^ v.y) & v.z) | v.u; }},
              {"and.pred %p, !%xp, %yp;", 'p', [](const Values& v) { return ~v.x & v.y; }},
              {"mov.pred %p, !%xp;", 'p', [](const Values& v) { return ~v.x; }},
              {"mov.pred %p, %xp; @%yp mov.pred %p, 1; @!%zp mov.pred %p, 0;", 'p',
               [](const Values& v) { return (v.x | v.y) & v.z; }}},
             values);
}

TEST_CASE("exec: lop3 with each of its 256 tables") {
  std::vector<LaneCase> cases;
  for (unsigned table = 0; table < 256; ++table)
    cases.push_back({"lop3.b32 %r, %xr, %yr, %zr, " + std::to_string(table) + ";", 'r',
                     [=](const Values& v) { return lookup(table, v); }});
  std::vector<Values> values;
  for (uint64_t i = 0; i < 40; ++i)
    values.push_back(
        {0xF0F0'F0F0 ^ i * 0x9E37'79B9, 0xCCCC'CCCC ^ i * 0x85EB'CA6B, 0xAAAA'AAAA ^ i * 0xC2B2'AE35, i});
  checkLanes(cases, values);
}

TEST_CASE("exec: lop3 into a predicate") {
  std::vector<LaneCase> cases;
  for (const unsigned table : {0u, 0x80u, 0x96u, 0xC0u, 0xE8u, 0xFEu, 0xFFu})
    for (const bool isAnd : {false, true}) {
      const auto predicate = [=](const Values& v, uint64_t q) {
        const uint64_t nonzero = lookup(table, v) != 0;
        return isAnd ? nonzero & q : nonzero | q;
      };
      const std::string op = isAnd ? "lop3.and.b32 " : "lop3.or.b32 ", t = ", " + std::to_string(table);
      cases.push_back({op + "%s0|%p, %xr, %yr, %zr" + t + ", %up;", 'p',
                       [=](const Values& v) { return predicate(v, v.u & 1); }});
      cases.push_back({op + "_|%p, %xr, %yr, %zr" + t + ", !%up;", 'p',
                       [=](const Values& v) { return predicate(v, ~v.u & 1); }});
      cases.push_back(
          {op + "%r|%q0, %xr, %yr, %zr" + t + ", %up;", 'r', [=](const Values& v) { return lookup(table, v); }});
      // The predicate may be the one combined with.
      cases.push_back({"mov.pred %p, %up; " + op + "%s0|%p, %xr, %yr, %zr" + t + ", %p;", 'p',
                       [=](const Values& v) { return predicate(v, v.u & 1); }});
    }
  std::vector<Values> values = edgePairs(32);
  for (uint64_t i = 0; i < 64; ++i) values.push_back({i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1});
  checkLanes(cases, values);
}

TEST_CASE("exec: shifts by any amount") {
  for (const unsigned bits : {16u, 32u, 64u}) {
    const std::string d = std::string("%") + resultOf(bits), width = std::to_string(bits);
    const std::string operands = width + " " + d + ", " + reg("x", bits) + ", %yr;";
    const auto right = [=](bool isSigned) {
      return [=](const Values& v) {
        const uint64_t count = v.y & 0xFFFF'FFFF;
        uint64_t r = 0;
        for (unsigned i = 0; i < bits; ++i)
          if (count + i < bits ? bit(v.x, static_cast<unsigned>(count + i)) : isSigned && bit(v.x, bits - 1))
            r |= uint64_t{1} << i;
        return r;
      };
    };
    const std::vector<LaneCase> cases = {
        {"shl.b" + operands, resultOf(bits),
         [=](const Values& v) {
           const uint64_t count = v.y & 0xFFFF'FFFF;
           uint64_t r = 0;
           for (unsigned i = 0; i < bits; ++i)
             if (i >= count && bit(v.x, i - static_cast<unsigned>(count))) r |= uint64_t{1} << i;
           return r;
         }},
        {"shr.b" + operands, resultOf(bits), right(false)},
        {"shr.u" + operands, resultOf(bits), right(false)},
        {"shr.s" + operands, resultOf(bits), right(true)},
    };
    std::vector<Values> values = edgePairs(bits);
    for (uint64_t count = 0; count < 70; ++count) {
      values.push_back({0x9A3C'7E51'D28F'B604, count, 0, 0});
      values.push_back({0x6C51'0FB3'2E97'4AD8, count, 0, 0});
    }
    for (const uint64_t count : {uint64_t{255}, uint64_t{256}, uint64_t{0x8000'0000}, uint64_t{0xFFFF'FFFF}})
      values.push_back({0x9A3C'7E51'D28F'B604, count, 0, 0});
    checkLanes(cases, values);
  }
  checkLanes({{"shl.b32 %r, 1, %xr;", 'r', [](const Values& v) { return v.x < 32 ? uint64_t{1} << v.x : 0; }},
              {"shr.s32 %r, %yr, 31;", 'r', [](const Values& v) { return bit(v.y, 31) ? ~uint64_t{0} : 0; }}},
             {{0, 1u << 31, 0, 0}, {5, 1u << 30, 0, 0}, {31, ~uint64_t{0}, 0, 0}, {32, 0, 0, 0}});
}

TEST_CASE("exec: funnel shifts") {
  std::vector<LaneCase> cases;
  for (const bool left : {false, true})
    for (const bool clamp : {false, true})
      cases.push_back(
          {std::string("shf.") + (left ? "l" : "r") + (clamp ? ".clamp" : ".wrap") + ".b32 %r, %xr, %yr, %zr;", 'r',
           [=](const Values& v) {
             uint64_t count = v.z & 0xFFFF'FFFF;
             count = clamp ? (count < 32 ? count : 32) : count % 32;
             // Bit 32 of the window is bit 0 of y.
             const auto window = [&](uint64_t i) {
               return i < 32 ? bit(v.x, static_cast<unsigned>(i)) : bit(v.y, static_cast<unsigned>(i - 32));
             };
             uint64_t r = 0;
             for (uint64_t i = 0; i < 32; ++i)
               if (window(left ? 32 + i - count : i + count)) r |= uint64_t{1} << i;
             return r;
           }});
  std::vector<Values> values = edgePairs(32);
  for (uint64_t count = 0; count < 70; ++count) values.push_back({0x9A3C'7E51, 0xD28F'B604, count, 0});
  checkLanes(cases, values);
}
