// cvt as an instruction: every pair of scalar types with its modifiers, in registers of the types' width and wider,
// against exec_convert_oracle.h; packed and stochastic forms and cvt.pack against searches and tables.
#include <algorithm>
#include <array>

#include "exec_convert_oracle.h"
#include "exec_lanes.h"

using namespace ptxopt;
using namespace ptxopt::testing;
using convert_oracle::F;
using convert_oracle::isNan;
using convert_oracle::Mpfr;
using convert_oracle::shape;
using convert_oracle::value;
using exec::Rounding;

namespace {

struct Type {
  const char* name;
  F format;
  unsigned bits;
  bool isSigned;
};
constexpr Type kIntegers[] = {{"u8", F::U8, 8, false},    {"s8", F::S8, 8, true},     {"u16", F::U16, 16, false},
                              {"s16", F::S16, 16, true},  {"u32", F::U32, 32, false}, {"s32", F::S32, 32, true},
                              {"u64", F::U64, 64, false}, {"s64", F::S64, 64, true}};
constexpr Type kFloats[] = {{"f16", F::F16, 16, false},
                            {"bf16", F::BF16, 16, false},
                            {"f32", F::F32, 32, false},
                            {"f64", F::F64, 64, false}};

constexpr std::pair<const char*, Rounding> kRoundings[] = {
    {"rn", Rounding::Nearest}, {"rz", Rounding::Zero}, {"rm", Rounding::Down}, {"rp", Rounding::Up}};

Mpfr& mpfr() {
  static Mpfr object;
  return object;
}

__extension__ using Big = __int128;

Big number(uint64_t v, const Type& t) {
  const uint64_t mask = ~uint64_t{0} >> (64 - t.bits);
  v &= mask;
  return t.isSigned && (v >> (t.bits - 1)) != 0 ? Big{v} - (Big{1} << t.bits) : Big{v};
}
Big clampTo(Big v, const Type& t) {
  const Big most = (Big{1} << (t.isSigned ? t.bits - 1 : t.bits)) - 1;
  return std::clamp(v, t.isSigned ? -most - 1 : Big{0}, most);
}
// In a register of 64 bits: extended by the sign, if the type has one.
uint64_t extended(Big v, const Type& t) { return static_cast<uint64_t>(number(static_cast<uint64_t>(v), t)); }

uint64_t flushed(uint64_t bits) { return (bits & 0x7F80'0000) == 0 ? bits & 0x8000'0000 : bits; }
uint64_t clampedToUnit(uint64_t bits, F f) {
  const long double v = value(bits, f);
  return v > 0 ? convert_oracle::code(std::min(v, 1.0L), f) : 0;
}

struct Mode {
  Rounding rounding = Rounding::Nearest;
  bool toIntegral = false, ftz = false, sat = false, relu = false, satfinite = false;
};

uint64_t nanOf(F to) { return to == F::F32 ? 0x7FFF'FFFF : to == F::F64 ? 0x7FFF'FFFF'E000'0000 : 0x7FFF; }

uint64_t floatToFloat(uint64_t bits, const Type& from, const Type& to, const Mode& m) {
  if (from.bits < 64) bits &= (uint64_t{1} << from.bits) - 1;
  if (m.ftz && from.format == F::F32) bits = flushed(bits);
  const long double v = value(bits, from.format);
  const bool moves =
      !m.ftz && ((from.format == to.format && !m.toIntegral) || (from.format == F::BF16 && to.format == F::F32));
  uint64_t r;
  if (moves) {
    r = from.format == to.format ? bits : bits << 16;
  } else if (std::isnan(v)) {
    const bool keeps = (from.format == F::F64 || to.format == F::F64) && !(m.ftz && from.format == F::F32);
    r = nanOf(to.format);
    if (keeps) {
      // Sign and leading fraction, quiet.
      const auto a = shape(from.format), b = shape(to.format);
      uint64_t fraction = bits & ((uint64_t{1} << a.fractionBits) - 1);
      fraction = a.fractionBits > b.fractionBits ? fraction >> (a.fractionBits - b.fractionBits)
                                                 : fraction << (b.fractionBits - a.fractionBits);
      r = (bits >> (a.bits - 1) & 1) << (b.bits - 1) | ((uint64_t{1} << b.exponentBits) - 1) << b.fractionBits |
          uint64_t{1} << (b.fractionBits - 1) | fraction;
    }
  } else if (m.toIntegral) {
    const long double y = std::isinf(v) ? v : std::copysign(mpfr().integral(v, m.rounding), v);
    r = convert_oracle::code(y, to.format);
  } else {
    r = mpfr().rounded(v, to.format, m.rounding);
    if (m.ftz && to.format == F::F32) r = flushed(r);
  }
  if (m.satfinite && !std::isnan(v) && std::isinf(value(r, to.format))) r -= 1;
  if (m.relu && !std::isnan(v) && std::signbit(value(r, to.format))) r = 0;
  return m.sat ? clampedToUnit(r, to.format) : r;
}

uint64_t floatToInteger(uint64_t bits, const Type& from, const Type& to, const Mode& m) {
  if (from.bits < 64) bits &= (uint64_t{1} << from.bits) - 1;
  if (m.ftz) bits = flushed(bits);
  const long double v = value(bits, from.format);
  if (std::isnan(v)) {
    if (from.format != F::F64 && to.bits != 64) return 0;
    return extended(Big{1} << (to.bits - 1), to);
  }
  const long double limited = std::clamp(v, -0x1p100L, 0x1p100L);
  return extended(clampTo(static_cast<Big>(mpfr().integral(limited, m.rounding)), to), to);
}

uint64_t integerToFloat(uint64_t bits, const Type& from, const Type& to, const Mode& m) {
  const uint64_t r = mpfr().rounded(static_cast<long double>(number(bits, from)), to.format, m.rounding);
  return m.sat ? clampedToUnit(r, to.format) : r;
}

// ---- cases ----

char registerKind(unsigned bits) { return bits == 64 ? 'd' : bits == 32 ? 'r' : 'h'; }
std::string source(const char* name, unsigned bits) {
  return std::string("%") + name + (bits == 64 ? "" : bits == 32 ? "r" : "h");
}

// cvt in registers as wide as the types and, where `wide`, in wider ones.
template <typename Expected>
void add(std::vector<LaneCase>& cases, const std::string& modifiers, const Type& to, const Type& from, Expected f,
         bool wide) {
  const std::string opcode = "cvt" + modifiers + "." + to.name + "." + from.name;
  for (const unsigned d : {16u, 32u, 64u})
    for (const unsigned s : {16u, 32u, 64u}) {
      const unsigned leastTo = std::max(to.bits, 16u), leastFrom = std::max(from.bits, 16u);
      if (d < leastTo || s < leastFrom || (!wide && (d != leastTo || s != leastFrom))) continue;
      cases.push_back({opcode + " %" + registerKind(d) + ", " + source("x", s) + ";", registerKind(d),
                       [=](const Values& v) { return f(v.x); }});
    }
}

std::vector<Values> valuesOf(const Type& from) {
  std::vector<uint64_t> patterns = from.format <= F::S64 ? convert_oracle::integerPatterns(from.bits, 20)
                                                         : convert_oracle::patterns(from.format, 100);
  // A sample, but for the edges of small types, which come by chance.
  const std::size_t step = std::max<std::size_t>(1, patterns.size() / 380);
  std::vector<Values> result;
  uint64_t noise = 0x9E37'79B9'7F4A'7C15;
  for (std::size_t i = 0; i < patterns.size(); i += step) {
    noise = noise * 6364136223846793005 + 1442695040888963407;
    const uint64_t above = from.bits == 64 ? 0 : noise << from.bits;
    result.push_back({patterns[i] | above, i / step + (noise >> 63)});
  }
  // Infinities, NaNs, the least normal number and the largest one.
  if (from.format > F::S64) {
    const auto s = shape(from.format);
    const uint64_t infinity = ((uint64_t{1} << s.exponentBits) - 1) << s.fractionBits;
    for (const uint64_t m : {infinity, infinity - 1, infinity + 1, infinity | infinity >> 1 | 3,
                             uint64_t{1} << s.fractionBits, uint64_t{1}, uint64_t{0}})
      for (const uint64_t sign : {uint64_t{0}, uint64_t{1} << (s.bits - 1)}) result.push_back({m | sign, 1});
  }
  return result;
}

}  // namespace

TEST_CASE("exec cvt: integers to integers, in registers of all widths") {
  for (const Type& from : kIntegers) {
    std::vector<LaneCase> cases;
    for (const Type& to : kIntegers)
      for (const bool sat : {false, true})
        add(
            cases, sat ? ".sat" : "", to, from,
            [=](uint64_t x) {
              const Big v = number(x, from);
              return extended(sat ? clampTo(v, to) : v, to);
            },
            true);
    cases.push_back({std::string(".reg .b8 %c<2>; cvt.u8.") + from.name + " %c0, " +
                         source("x", std::max(from.bits, 16u)) + "; cvt.s32.s8 %r, %c0;",
                     'r', [](const Values& v) { return extended(static_cast<Big>(v.x), kIntegers[1]); }});
    std::vector<Values> values;
    for (const uint64_t x : edgeValues(64)) values.push_back({x, x >> 1});
    for (const unsigned bits : {8u, 16u, 32u})
      for (const uint64_t x : edgeValues(bits)) values.push_back({x | (x * 0x9E37'79B9'7F4A'7C15) << bits, x >> 1});
    checkLanes(cases, values);
  }
}

TEST_CASE("exec cvt: floats to integers") {
  for (const Type& from : kFloats) {
    std::vector<LaneCase> cases;
    for (const Type& to : kIntegers)
      for (const auto& [name, rounding] : kRoundings)
        for (const bool ftz : {false, true})
          for (const bool sat : {false, true}) {
            if ((ftz && from.format != F::F32) || (sat && from.format == F::BF16)) continue;
            const Mode m{rounding, true, ftz, sat};
            // .sat says nothing new. Wider registers once a type.
            add(
                cases, std::string(".") + name + "i" + (ftz ? ".ftz" : "") + (sat ? ".sat" : ""), to, from,
                [=](uint64_t x) { return floatToInteger(x, from, to, m); },
                rounding == Rounding::Zero && !ftz && !sat && from.bits == 32);
          }
    checkLanes(cases, valuesOf(from));
  }
}

TEST_CASE("exec cvt: integers to floats") {
  for (const Type& from : kIntegers) {
    std::vector<LaneCase> cases;
    for (const Type& to : kFloats)
      for (const auto& [name, rounding] : kRoundings)
        for (const bool ftz : {false, true})
          for (const bool sat : {false, true}) {
            if ((ftz && to.format != F::F32) || (sat && to.format == F::BF16)) continue;
            const Mode m{rounding, false, ftz, sat};
            add(
                cases, std::string(".") + name + (ftz ? ".ftz" : "") + (sat ? ".sat" : ""), to, from,
                [=](uint64_t x) { return integerToFloat(x, from, to, m); }, rounding == Rounding::Nearest);
          }
    checkLanes(cases, valuesOf(from));
  }
}

TEST_CASE("exec cvt: floats to floats") {
  const auto rank = [](F f) { return f == F::F64 ? 2 : f == F::F32 ? 1 : 0; };
  for (const Type& from : kFloats) {
    std::vector<LaneCase> cases;
    const auto addModes = [&](const std::string& rounding, const Type& to, Mode m) {
      for (const bool ftz : {false, true})
        for (const bool sat : {false, true}) {
          if (ftz && from.format != F::F32 && to.format != F::F32) continue;
          if (sat && (from.format == F::BF16 || to.format == F::BF16)) continue;
          m.ftz = ftz;
          m.sat = sat;
          add(
              cases, rounding + (ftz ? ".ftz" : "") + (sat ? ".sat" : ""), to, from,
              [=, &from, &to](uint64_t x) { return floatToFloat(x, from, to, m); },
              m.rounding == Rounding::Nearest);
        }
    };
    for (const Type& to : kFloats) {
      const bool narrows = rank(to.format) < rank(from.format);
      const bool halves = from.format != to.format && rank(to.format) == 0 && rank(from.format) == 0;
      if (!narrows) addModes("", to, {});  // between the halves that is .rn
      for (const auto& [name, rounding] : kRoundings) {
        if (narrows || halves) addModes(std::string(".") + name, to, {rounding});
        if (from.format == to.format) addModes(std::string(".") + name + "i", to, {rounding, true});
      }
      if (from.format != F::F32 || rank(to.format) != 0) continue;
      for (const auto& [name, rounding] : kRoundings)
        for (const bool relu : {false, true})
          for (const bool satfinite : {false, true}) {
            if (rounding == Rounding::Down || rounding == Rounding::Up) continue;
            const Mode m{rounding, false, false, false, relu, satfinite};
            add(
                cases, std::string(".") + name + (relu ? ".relu" : "") + (satfinite ? ".satfinite" : ""), to, from,
                [=, &from, &to](uint64_t x) { return floatToFloat(x, from, to, m); }, false);
          }
    }
    std::vector<Values> values = valuesOf(from);
    // Just below the least normal f32, .ftz may go by the number before or after rounding.
    std::erase_if(values, [&](const Values& v) {
      if (from.format != F::F64) return false;
      const long double magnitude = std::fabs(value(v.x, F::F64));
      return magnitude < 0x1p-126L && magnitude > 0x0.ffffffp-126L;
    });
    checkLanes(cases, values);
  }
}

TEST_CASE("exec cvt: tf32") {
  // To 10 bits of fraction, by truncation of the bits or after adding half a unit.
  const auto tf32 = [](uint64_t x, char rounding, bool relu, bool satfinite) -> uint64_t {
    auto bits = static_cast<uint32_t>(x);
    const bool nan = (bits & 0x7FFF'FFFF) > 0x7F80'0000;
    if (nan && rounding != 'a') return 0x7FFF'E000;
    if (rounding == 'n') bits += 0xFFF + (bits >> 13 & 1);
    if (rounding == 'a') {
      if (nan) {  // rounded like a number, without becoming infinity
        const uint32_t r = ((bits & 0x7FFF'FFFF) + 0x1000) & ~0x1FFFu;
        return r <= 0x7F80'0000 || r >= 0x7FFF'E000
                   ? r > 0x7F80'0000 ? (bits & 0x8000'0000) | 0x7FFF'E000 : 0x7FFF'E000
                   : (bits & 0x8000'0000) | r;
      }
      bits += 0x1000;
    }
    bits &= ~0x1FFFu;
    if ((x & 0x7FFF'FFFF) == 0x7F80'0000) bits = static_cast<uint32_t>(x);
    if (satfinite && (bits & 0x7FFF'FFFF) == 0x7F80'0000) bits -= 0x2000;
    return relu && bits >> 31 != 0 ? 0 : bits;
  };
  std::vector<LaneCase> cases;
  for (const char rounding : {'n', 'z', 'a'})
    for (const bool relu : {false, true})
      for (const bool satfinite : {false, true}) {
        if (rounding == 'a' && relu) continue;
        const std::string name = rounding == 'a' ? "rna" : std::string("r") + rounding;
        cases.push_back(
            {"cvt." + name + (relu ? ".relu" : "") + (satfinite ? ".satfinite" : "") + ".tf32.f32 %r, %xr;", 'r',
             [=](const Values& v) { return tf32(v.x, rounding, relu, satfinite); }});
      }
  checkLanes(cases, valuesOf(kFloats[2]));
}

TEST_CASE("exec cvt: pairs of halves from f32, the first operand above") {
  std::vector<LaneCase> cases;
  for (const auto& to : {kFloats[0], kFloats[1]})
    for (const char* rounding : {"rn", "rz"})
      for (const bool relu : {false, true})
        for (const bool satfinite : {false, true}) {
          const Mode m{
              rounding[1] == 'n' ? Rounding::Nearest : Rounding::Zero, false, false, false, relu, satfinite};
          const auto f = [=](uint64_t x) { return floatToFloat(x, kFloats[2], to, m); };
          const std::string opcode = std::string("cvt.") + rounding + (relu ? ".relu" : "") +
                                     (satfinite ? ".satfinite." : ".") + to.name + "x2.f32";
          for (const char* d : {"r", "d"})
            cases.push_back(
                {opcode + " %" + d + ", %xr, %yr;", *d, [=](const Values& v) { return f(v.x) << 16 | f(v.y); }});
        }
  std::vector<Values> values = valuesOf(kFloats[2]);
  for (std::size_t i = 0; i < values.size(); ++i) values[i].y = values[(i * 7 + 3) % values.size()].x;
  checkLanes(cases, values);
}

namespace {

constexpr std::pair<const char*, F> kNarrow[] = {
    {"e4m3", F::E4M3}, {"e5m2", F::E5M2}, {"e2m3", F::E2M3}, {"e3m2", F::E3M2}, {"e2m1", F::E2M1}};

unsigned fieldBits(F f) { return f == F::E2M1 ? 4 : 8; }
uint64_t codeMask(F f) { return (uint64_t{1} << shape(f).bits) - 1; }

// .rn.satfinite by search.
uint64_t nearestCode(long double x, F f) {
  const uint64_t sign = uint64_t{1} << (shape(f).bits - 1);
  std::vector<long double> finite;
  for (uint64_t c = 0; c < sign && std::isfinite(value(c, f)); ++c) finite.push_back(value(c, f));
  if (std::isnan(x)) return fieldBits(f) == 8 && shape(f).bits == 8 ? 0x7F : finite.size() - 1;
  const long double magnitude = std::min(std::fabs(x), finite.back());
  uint64_t best = 0;
  for (uint64_t c = 1; c < finite.size(); ++c) {
    const long double here = std::fabs(finite[c] - magnitude), there = std::fabs(finite[best] - magnitude);
    if (here < there || (here == there && c % 2 == 0)) best = c;
  }
  return best | (std::signbit(x) ? sign : 0);
}

// Numbers of f32 that are or lie about those of the small formats; all in x, y, z and u.
std::vector<Values> smallNumbers(int count) {
  std::mt19937_64 random(5);
  const auto next = [&]() -> uint64_t {
    const uint64_t r = random();
    if (r % 16 == 0)
      return std::array<uint32_t, 4>{0x7FC0'0000, 0xFF80'0000, 0x7F80'0000, 0x8000'0000}[r >> 60 & 3];
    const auto exponent = static_cast<uint32_t>(127 - 20 + (r >> 8) % 40);
    // Few bits, so that there are ties.
    const auto fraction = static_cast<uint32_t>(random()) & (0x7F'FFFFu << (17 + (r >> 20) % 6)) & 0x7F'FFFFu;
    return exponent << 23 | fraction | static_cast<uint32_t>(r >> 63) << 31 | (r >> 40 & 1);
  };
  std::vector<Values> values;
  for (int i = 0; i < count; ++i) values.push_back({next(), next(), next(), random()});
  return values;
}

}  // namespace

TEST_CASE("exec cvt: fp8, fp6, fp4 from and to pairs") {
  std::vector<LaneCase> fromSingles, fromPacked;
  for (const auto& [name, f] : kNarrow)
    for (const bool relu : {false, true}) {
      const unsigned bits = fieldBits(f);
      const auto narrow = [=, f = f](long double v) {
        return relu && std::signbit(v) && !std::isnan(v) ? 0 : nearestCode(v, f);
      };
      const auto pair = [=](long double a, long double b) { return narrow(a) << bits | narrow(b); };
      const std::string modifiers = std::string("cvt.rn.satfinite") + (relu ? ".relu." : ".") + name;
      const auto single = [](uint64_t x) { return value(x & 0xFFFF'FFFF, F::F32); };
      // e2m1x2 lies in a register of 8 bits.
      const std::string to = bits == 4 ? "%c0" : "%h";
      const std::string after = bits == 4 ? " cvt.u16.u8 %h, %c0;" : "";
      const std::string before = bits == 4 ? ".reg .b8 %c0; " : "";
      fromSingles.push_back({before + modifiers + "x2.f32 " + to + ", %xr, %yr;" + after, 'h',
                             [=](const Values& v) { return pair(single(v.x), single(v.y)); }});
      if (f == F::E4M3 || f == F::E5M2)
        fromPacked.push_back({modifiers + "x2.f16x2 %h, %xr;", 'h', [=](const Values& v) {
                                return pair(value(v.x >> 16 & 0xFFFF, F::F16), value(v.x & 0xFFFF, F::F16));
                              }});
      const auto wide = [=, f = f](uint64_t code) -> uint64_t {
        const long double v = value(code & codeMask(f), f);
        if (std::isnan(v)) return 0x7FFF;
        return relu && std::signbit(v) ? 0 : convert_oracle::code(v, F::F16);
      };
      const std::string from = bits == 4 ? "%c0" : "%xh";
      fromPacked.push_back({before + (bits == 4 ? "cvt.u8.u16 %c0, %xh; " : "") + "cvt.rn" + (relu ? ".relu" : "") +
                                ".f16x2." + name + "x2 %r, " + from + ";",
                            'r', [=](const Values& v) { return wide(v.x >> bits) << 16 | wide(v.x); }});
    }
  checkLanes(fromSingles, smallNumbers(192));
  // All codes of both fields in the low 16 bits, halves of every kind in both.
  std::vector<Values> packed;
  for (uint64_t x = 0; x < 0x10000; x += 97) packed.push_back({x | (x * 40503 & 0xFFFF) << 16, x});
  checkLanes(fromPacked, packed);
}

TEST_CASE("exec cvt: scales of ue8m0") {
  // The power of two at or above the magnitude, as its exponent plus 127.
  const auto scale = [](long double v, bool up, bool satfinite) -> uint64_t {
    if (std::isnan(v)) return 0xFF;
    v = std::fabs(v);
    if (std::isinf(v)) return satfinite ? 0xFE : 0xFF;
    for (int e = -127; e <= 127; ++e) {
      if (v <= std::ldexp(1.0L, e))
        return static_cast<uint64_t>(e + 127) - (!up && v < std::ldexp(1.0L, e) && e > -127);
    }
    return up ? (satfinite ? 0xFE : 0xFF) : 0xFE;
  };
  std::vector<LaneCase> cases;
  for (const bool up : {false, true})
    for (const bool satfinite : {false, true}) {
      const std::string head =
          std::string("cvt.") + (up ? "rp" : "rz") + (satfinite ? ".satfinite" : "") + ".ue8m0x2.";
      cases.push_back({head + "f32 %h, %xr, %yr;", 'h', [=](const Values& v) {
                         return scale(value(v.x & 0xFFFF'FFFF, F::F32), up, satfinite) << 8 |
                                scale(value(v.y & 0xFFFF'FFFF, F::F32), up, satfinite);
                       }});
      cases.push_back({head + "bf16x2 %h, %xr;", 'h', [=](const Values& v) {
                         return scale(value(v.x >> 16 & 0xFFFF, F::BF16), up, satfinite) << 8 |
                                scale(value(v.x & 0xFFFF, F::BF16), up, satfinite);
                       }});
    }
  cases.push_back({"cvt.rn.bf16x2.ue8m0x2 %r, %xh;", 'r', [](const Values& v) {
                     const auto one = [](uint64_t c) -> uint64_t {
                       return c == 0xFF
                                  ? 0x7FFF
                                  : convert_oracle::code(std::ldexp(1.0L, static_cast<int>(c) - 127), F::BF16);
                     };
                     return one(v.x >> 8 & 0xFF) << 16 | one(v.x & 0xFF);
                   }});
  std::vector<Values> values = valuesOf(kFloats[2]);
  for (std::size_t i = 0; i < values.size(); ++i) values[i].y = values[(i * 11 + 5) % values.size()].x;
  checkLanes(cases, values);
}

TEST_CASE("exec cvt: stochastic rounding") {
  // bf16: the 16 random bits are added to the 16 bits that are cut off.
  const auto bfloat = [](uint64_t x, uint64_t random, bool relu, bool satfinite) -> uint64_t {
    x &= 0xFFFF'FFFF;
    if (isNan(x, F::F32)) return 0x7FFF;
    uint64_t r = (x & 0x7F80'0000) == 0x7F80'0000 ? x >> 16 : (x + (random & 0xFFFF)) >> 16;
    if (satfinite && (r & 0x7FFF) == 0x7F80) r -= 1;
    return relu && r >> 15 != 0 ? 0 : r;
  };
  // f16, normal numbers only: 13 bits.
  const auto half = [](uint64_t x, uint64_t random, bool relu) -> uint64_t {
    x &= 0xFFFF'FFFF;
    const uint64_t r = convert_oracle::code(value((x + (random & 0x1FFF)) & 0xFFFF'E000, F::F32), F::F16);
    return relu && r >> 15 != 0 ? 0 : r;
  };
  std::vector<LaneCase> bfloats, halves;
  for (const bool relu : {false, true})
    for (const bool satfinite : {false, true}) {
      const std::string head = std::string("cvt.rs") + (relu ? ".relu" : "") + (satfinite ? ".satfinite" : "");
      bfloats.push_back({head + ".bf16x2.f32 %r, %xr, %yr, %ur;", 'r', [=](const Values& v) {
                           return bfloat(v.x, v.u >> 16, relu, satfinite) << 16 | bfloat(v.y, v.u, relu, satfinite);
                         }});
      halves.push_back({head + ".f16x2.f32 %r, %xr, %yr, %ur;", 'r',
                        [=](const Values& v) { return half(v.x, v.u >> 16, relu) << 16 | half(v.y, v.u, relu); }});
    }
  checkLanes(bfloats, smallNumbers(384));
  std::vector<Values> normal;
  std::mt19937_64 random(9);
  for (int i = 0; i < 384; ++i) {
    const auto next = [&] { return (0x3880'0000 + random() % 0x0E00'0000) | (random() & 0x8000'0000); };
    normal.push_back({next(), next(), 0, random()});
  }
  checkLanes(halves, normal);

  // Four numbers: exact ones take their places whatever the random bits are.
  std::vector<LaneCase> quads;
  for (const auto& [name, f] : kNarrow)
    for (const bool relu : {false, true}) {
      const unsigned bits = fieldBits(f);
      const auto exact = [=, f = f](uint64_t x) -> uint64_t {
        const long double v = value(x & 0xFFFF'FFFF, F::F32);
        return relu && std::signbit(v) ? 0 : nearestCode(v, f);
      };
      quads.push_back({std::string("cvt.rs") + (relu ? ".relu" : "") + ".satfinite." + name + "x4.f32 %" +
                           (bits == 4 ? "h" : "r") + ", {%xr, %yr, %zr, 0f3F800000}, %ur;",
                       bits == 4 ? 'h' : 'r', [=](const Values& v) {
                         return exact(v.x) << 3 * bits | exact(v.y) << 2 * bits | exact(v.z) << bits |
                                exact(0x3F80'0000);
                       }});
    }
  std::vector<Values> exact;
  const auto bitsOf = [](uint64_t r) {
    constexpr float kExact[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, -0.5f, -1.0f, -2.0f, -3.0f};
    return std::bit_cast<uint32_t>(kExact[r % 10]);
  };
  for (int i = 0; i < 192; ++i) exact.push_back({bitsOf(random()), bitsOf(random()), bitsOf(random()), random()});
  checkLanes(quads, exact);

  // 1.0625 lies half way between two numbers of e4m3 (and of e2m3): 0x8000 of the random bits carries, less does
  // not. The first of each two has its random bits reversed: bit 0 is its highest one.
  const auto carries = [](const Values& v) -> uint64_t {
    const uint64_t high = v.u >> 16 & 0xFFFF, low = v.u & 0xFFFF;
    const std::array<bool, 4> up = {(high & 1) != 0, high >> 15 != 0, (low & 1) != 0, low >> 15 != 0};
    uint64_t r = 0;
    for (const bool b : up) r = r << 8 | (b ? 0x39 : 0x38);
    return r;
  };
  checkLanes(
      {{"mov.b32 %f0, 0f3F880000; cvt.rs.satfinite.e4m3x4.f32 %r, {%f0, %f0, %f0, %f0}, %ur;", 'r', carries}},
      smallNumbers(192));
}

TEST_CASE("exec cvt.pack: clamped fields, the first operand above the second, c above both") {
  std::vector<LaneCase> cases;
  for (const bool isSigned : {false, true})
    for (const unsigned bits : {2u, 4u, 8u, 16u}) {
      const auto field = [=](uint64_t x) -> uint64_t {
        const int64_t most = (int64_t{1} << (isSigned ? bits - 1 : bits)) - 1;
        const int64_t least = isSigned ? -most - 1 : 0;
        return static_cast<uint64_t>(std::clamp<int64_t>(static_cast<int32_t>(x), least, most)) &
               ((uint64_t{1} << bits) - 1);
      };
      const std::string type = std::string(isSigned ? "s" : "u") + std::to_string(bits);
      cases.push_back({"cvt.pack.sat." + type + (bits == 16 ? ".s32 %r, %xr, %yr;" : ".s32.b32 %r, %xr, %yr, %zr;"),
                       'r', [=](const Values& v) {
                         const uint64_t packed = field(v.x) << bits | field(v.y);
                         return bits == 16 ? packed : packed | v.z << (2 * bits);
                       }});
    }
  std::vector<Values> values = edgePairs(32);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i].x = i % 40, values[i].y = uint64_t{0} - i % 300;
  checkLanes(cases, values);
}
