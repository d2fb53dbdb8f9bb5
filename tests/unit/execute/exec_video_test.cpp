// Video instructions, against the ISA's pseudo-code in 128-bit integers.
#include <algorithm>

#include "exec_lanes.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

__extension__ using Big = __int128;

Big number(uint64_t v, unsigned bits, bool isSigned) {
  const uint64_t u = v & ((uint64_t{1} << bits) - 1);
  return isSigned && (u >> (bits - 1)) != 0 ? Big{u} - (Big{1} << bits) : Big{u};
}
Big clamp(Big v, unsigned bits, bool isSigned) {
  const Big least = isSigned ? -(Big{1} << (bits - 1)) : 0, most = (Big{1} << (isSigned ? bits - 1 : bits)) - 1;
  return std::min(std::max(v, least), most);
}

std::string sign(bool isSigned) { return isSigned ? ".s32" : ".u32"; }

struct Selected {
  const char* text;  // ".b1", or nothing
  unsigned shift, bits;
};
constexpr Selected kSelections[] = {{"", 0, 32},    {".b0", 0, 8},  {".b1", 8, 8},  {".b2", 16, 8},
                                    {".b3", 24, 8}, {".h0", 0, 16}, {".h1", 16, 16}};

Big take(uint64_t v, const Selected& s, bool isSigned) {
  return number((v & 0xFFFF'FFFF) >> s.shift, s.bits, isSigned);
}

Big second(const std::string& op, Big t, Big c) {
  return op == ".add" ? t + c : op == ".min" ? std::min(t, c) : op == ".max" ? std::max(t, c) : t;
}
uint64_t merge(const Selected& to, Big t, uint64_t c) {
  const uint64_t mask = ((uint64_t{1} << to.bits) - 1) << to.shift;
  return (c & ~mask & 0xFFFF'FFFF) | (static_cast<uint64_t>(t) << to.shift & mask);
}

using Operation = Big (*)(Big, Big);
struct Named {
  const char* name;
  Operation f;
};
constexpr Named kArithmetic[] = {{"vadd", [](Big a, Big b) { return a + b; }},
                                 {"vsub", [](Big a, Big b) { return a - b; }},
                                 {"vabsdiff", [](Big a, Big b) { return a > b ? a - b : b - a; }},
                                 {"vmin", [](Big a, Big b) { return a < b ? a : b; }},
                                 {"vmax", [](Big a, Big b) { return a > b ? a : b; }}};
constexpr Named kComparisons[] = {
    {".eq", [](Big a, Big b) { return Big{a == b}; }}, {".ne", [](Big a, Big b) { return Big{a != b}; }},
    {".lt", [](Big a, Big b) { return Big{a < b}; }},  {".le", [](Big a, Big b) { return Big{a <= b}; }},
    {".gt", [](Big a, Big b) { return Big{a > b}; }},  {".ge", [](Big a, Big b) { return Big{a >= b}; }}};
Big average(Big a, Big b) { return a + b >= 0 ? (a + b + 1) / 2 : -((-(a + b) + 1) / 2); }

// Eight combinations of the signs of d, a and b.
struct Signs {
  bool d, a, b;
};
std::vector<Signs> allSigns() {
  std::vector<Signs> all;
  for (unsigned i = 0; i < 8; ++i) all.push_back({(i & 1) != 0, (i & 2) != 0, (i & 4) != 0});
  return all;
}
std::string types(const Signs& s) { return sign(s.d) + sign(s.a) + sign(s.b); }

// Fewer values than elsewhere: there are many forms.
std::vector<Values> someValues() {
  std::vector<Values> values;
  const std::vector<Values> all = edgePairs(32);
  for (std::size_t i = 0; i < all.size(); i += 5) values.push_back(all[i]);
  for (uint64_t i = 0; i < 60; ++i)
    values.push_back({i * 0x9E37'79B9 ^ i << 13, i * 0x85EB'CA6B ^ i << 7, i * 0xC2B2'AE35, i});
  return values;
}

}  // namespace

TEST_CASE("exec: vadd, vsub, vabsdiff, vmin, vmax") {
  std::vector<LaneCase> cases;
  for (const Named& op : kArithmetic)
    for (const Signs& s : allSigns())
      for (const bool saturates : {false, true}) {
        const auto result = [=](const Values& v, const Selected& a, const Selected& b, const Selected& to) {
          const Big t = op.f(take(v.x, a, s.a), take(v.y, b, s.b));
          return saturates ? clamp(t, to.bits, s.d) : t;
        };
        const std::string name = op.name + types(s) + (saturates ? ".sat" : "");
        const Selected all = kSelections[0];
        cases.push_back({name + " %r, %xr, %yr;", 'r',
                         [=](const Values& v) { return static_cast<uint64_t>(result(v, all, all, all)); }});
        for (const std::string with : {".add", ".min", ".max"})
          cases.push_back({name + with + " %r, %xr.b2, %yr.h1, %zr;", 'r', [=](const Values& v) {
                             return static_cast<uint64_t>(second(
                                 with, result(v, kSelections[3], kSelections[6], all), number(v.z, 32, s.d)));
                           }});
        // Each part of d, with parts of a and b that change along.
        for (unsigned k = 1; k < 7; ++k) {
          const Selected &to = kSelections[k], &a = kSelections[(k * 3 + (s.a ? 1 : 0)) % 7],
                         &b = kSelections[(k + 4) % 7];
          cases.push_back({name + " %r" + to.text + ", %xr" + a.text + ", %yr" + b.text + ", %zr;", 'r',
                           [=](const Values& v) { return merge(to, result(v, a, b, to), v.z); }});
        }
      }
  cases.push_back({"vadd.s32.s32.u32.add %r, %xr.b1, 5, %zr;", 'r',
                   [](const Values& v) { return static_cast<uint64_t>(number(v.x >> 8, 8, true) + 5) + v.z; }});
  checkLanes(cases, someValues());
}

TEST_CASE("exec: vset, vshl, vshr") {
  std::vector<LaneCase> cases;
  for (const bool sa : {false, true})
    for (const bool sb : {false, true})
      for (const Named& op : kComparisons) {
        const std::string name = "vset" + sign(sa) + sign(sb) + op.name;
        cases.push_back({name + " %r, %xr, %yr;", 'r', [=](const Values& v) {
                           return static_cast<uint64_t>(op.f(number(v.x, 32, sa), number(v.y, 32, sb)));
                         }});
        cases.push_back({name + " %r.h1, %xr.b3, %yr.h0, %zr;", 'r', [=](const Values& v) {
                           return merge(kSelections[6], op.f(number(v.x >> 24, 8, sa), number(v.y, 16, sb)), v.z);
                         }});
        for (const std::string with : {".add", ".min", ".max"})
          cases.push_back(
              {name + with + " %r, %xr.b0, %yr.h1, %zr;", 'r', [=](const Values& v) {
                 return static_cast<uint64_t>(
                     second(with, op.f(number(v.x, 8, sa), number(v.y >> 16, 16, sb)), number(v.z, 32, false)));
               }});
      }
  for (const bool left : {false, true})
    for (const bool clamps : {false, true})
      for (const bool saturates : {false, true})
        for (const bool sd : {false, true})
          for (const bool sa : {false, true}) {
            const auto result = [=](Big a, uint64_t amount, const Selected& to) {
              const unsigned n = static_cast<unsigned>(clamps ? std::min<uint64_t>(amount, 32) : amount % 32);
              const Big factor = Big{1} << n;
              const Big t = left ? a * factor : a >= 0 ? a / factor : -((-a + factor - 1) / factor);
              return saturates ? clamp(t, to.bits, sd) : t;
            };
            const std::string name = std::string(left ? "vshl" : "vshr") + sign(sd) + sign(sa) + ".u32" +
                                     (saturates ? ".sat" : "") + (clamps ? ".clamp" : ".wrap");
            cases.push_back({name + " %r, %xr, %yr;", 'r', [=](const Values& v) {
                               return static_cast<uint64_t>(
                                   result(number(v.x, 32, sa), v.y & 0xFFFF'FFFF, kSelections[0]));
                             }});
            cases.push_back({name + " %r.b1, %xr, 3, %zr;", 'r', [=](const Values& v) {
                               return merge(kSelections[2], result(number(v.x, 32, sa), 3, kSelections[2]), v.z);
                             }});
            cases.push_back(
                {name + ".max %r, %xr.h0, %yr.b0, %zr;", 'r', [=](const Values& v) {
                   return static_cast<uint64_t>(
                       second(".max", result(number(v.x, 16, sa), v.y & 255, kSelections[0]), number(v.z, 32, sd)));
                 }});
            cases.push_back({name + ".add %r, %xr, %yr, %zr;", 'r', [=](const Values& v) {
                               return static_cast<uint64_t>(
                                          result(number(v.x, 32, sa), v.y & 0xFFFF'FFFF, kSelections[0])) +
                                      v.z;
                             }});
          }
  std::vector<Values> values = someValues();
  for (uint64_t n = 0; n < 40; ++n)
    for (const uint64_t x : {0x9A3C'7E51u, 0x0000'0001u, 0xFFFF'FFFFu, 0x7FFF'FFFFu})
      values.push_back({x, n, n << 20, 0});
  checkLanes(cases, values);
}

TEST_CASE("exec: vmad") {
  std::vector<LaneCase> cases;
  for (const Signs& s : allSigns())
    for (const bool plusOne : {false, true})
      for (const bool saturates : {false, true})
        for (const unsigned shift : {0u, 7u, 15u})
          for (const bool parts : {false, true}) {
            const bool isSigned = s.a || s.b;
            cases.push_back({std::string("vmad") + types(s) + (plusOne ? ".po" : "") + (saturates ? ".sat" : "") +
                                 (shift == 7    ? ".shr7"
                                  : shift == 15 ? ".shr15"
                                                : "") +
                                 (parts ? " %r, %xr.h0, %yr.b2, %zr;" : " %r, %xr, %yr, %zr;"),
                             'r', [=](const Values& v) {
                               const Selected a = kSelections[parts ? 5 : 0], b = kSelections[parts ? 3 : 0];
                               Big t = take(v.x, a, s.a) * take(v.y, b, s.b) + number(v.z, 32, isSigned) +
                                       (plusOne ? 1 : 0);
                               t >>= shift;
                               return static_cast<uint64_t>(saturates ? clamp(t, 32, isSigned) : t);
                             }});
          }
  checkLanes(cases, someValues());
}

// A negated operand makes everything signed, and is exact but for the addend, whose complement wraps in 32 bits.
TEST_CASE("exec: vmad with negated operands") {
  std::vector<LaneCase> cases;
  for (const Signs& s : allSigns())
    for (const bool saturates : {false, true})
      for (const std::string which : {"a", "b", "ab", "c"}) {
        const bool a = which.find('a') != std::string::npos, b = which.find('b') != std::string::npos,
                   c = which == "c", product = a != b, isSigned = s.a || s.b || product || c;
        cases.push_back({std::string("vmad") + types(s) + (saturates ? ".sat %r, " : ".shr7 %r, ") +
                             (a ? "-%xr, " : "%xr, ") + (b ? "-%yr, " : "%yr, ") + (c ? "-%zr;" : "%zr;"),
                         'r', [=](const Values& v) {
                           Big t = number(v.x, 32, s.a) * number(v.y, 32, s.b);
                           if (product) t = -t;
                           // -c is ~c + 1 with the complement read as a signed number: exact, but for the sign of
                           // the smallest, which is its own complement's successor one bit higher.
                           t += c ? -number(v.z, 32, true) : number(v.z, 32, isSigned);
                           if (!saturates) t >>= 7;
                           return static_cast<uint64_t>(saturates ? clamp(t, 32, isSigned) : t);
                         }});
      }
  checkLanes(cases, someValues());
}

TEST_CASE("exec: SIMD video instructions on halves and bytes") {
  for (const unsigned count : {2u, 4u}) {
    std::vector<LaneCase> cases;
    const unsigned bits = 32 / count;
    const char letter = count == 2 ? 'h' : 'b';
    // d's mask and the parts of b:a for each part, highest first.
    struct Form {
      std::string mask, a, b;
    };
    const std::string allParts = count == 2 ? "10" : "3210", low = allParts, high = count == 2 ? "32" : "7654";
    const std::vector<Form> forms =
        count == 2 ? std::vector<Form>{{"", "", ""}, {"0", "10", "32"}, {"1", "01", "32"}, {"10", "31", "20"}}
                   : std::vector<Form>{{"", "", ""},
                                       {"0", "3210", "7654"},
                                       {"3", "0123", "7654"},
                                       {"10", "7070", "1234"},
                                       {"210", "5555", "0246"},
                                       {"31", "3210", "6543"},
                                       {"3210", "4567", "0123"}};
    const auto add = [&](const std::string& name, Operation f, const Signs& s, bool saturates, bool accumulates) {
      for (const Form& form : forms) {
        const auto selector = [&](const std::string& digits) {
          return digits.empty() ? std::string() : std::string(".") + letter + digits;
        };
        const std::string mask = form.mask.empty() ? allParts : form.mask;
        const std::string a = form.a.empty() ? low : form.a, b = form.b.empty() ? high : form.b;
        cases.push_back({name + " %r" + selector(form.mask) + ", %xr" + selector(form.a) + ", %yr" +
                             selector(form.b) + ", %zr;",
                         'r', [=](const Values& v) {
                           const uint64_t both = (v.x & 0xFFFF'FFFF) | v.y << 32;
                           uint64_t r = v.z & 0xFFFF'FFFF;
                           for (unsigned k = 0; k < count; ++k) {
                             if (mask.find(static_cast<char>('0' + k)) == std::string::npos) continue;
                             const auto part = [&](const std::string& digits, bool isSigned) {
                               return number(both >> (bits * static_cast<unsigned>(digits[count - 1 - k] - '0')),
                                             bits, isSigned);
                             };
                             Big t = f(part(a, s.a), part(b, s.b));
                             if (saturates) t = clamp(t, bits, s.d);
                             r = accumulates ? r + static_cast<uint64_t>(t) : merge({"", k * bits, bits}, t, r);
                           }
                           return r;
                         }});
      }
    };
    const std::string digit = std::to_string(count);
    for (const Signs& s : allSigns()) {
      for (const Named& op : kArithmetic) {
        add(op.name + digit + types(s), op.f, s, false, false);
        add(op.name + digit + types(s) + ".sat", op.f, s, true, false);
        add(op.name + digit + types(s) + ".add", op.f, s, false, true);
      }
      add("vavrg" + digit + types(s), average, s, false, false);
      add("vavrg" + digit + types(s) + ".sat", average, s, true, false);
      add("vavrg" + digit + types(s) + ".add", average, s, false, true);
      if (s.d) continue;
      for (const Named& op : kComparisons) {
        add("vset" + digit + sign(s.a) + sign(s.b) + op.name, op.f, s, false, false);
        add("vset" + digit + sign(s.a) + sign(s.b) + op.name + ".add", op.f, s, false, true);
      }
    }
    std::vector<Values> values;
    for (uint64_t i = 0; i < 96; ++i)
      values.push_back(
          {i * 0x9E37'79B9 ^ i << 13 ^ 0x8000'7FFF, i * 0x85EB'CA6B ^ i << 7 ^ 0x7F80'FF01, i * 0xC2B2'AE35, i});
    values.push_back({0x7FFF'7FFF, 0x8000'8000, 1, 0});
    values.push_back({0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF, 0});
    values.push_back({0x8080'8080, 0x8080'8080, 0, 0});
    checkLanes(cases, values);
  }
}
