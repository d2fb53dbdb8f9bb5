// Floating-point functions of the interpreter as instructions: the approximate ones, signs, extremes, tests and
// comparisons, of every type they have.
#include "exec_float_support.h"

using namespace ptxopt;
using namespace ptxopt::exec;
using namespace ptxopt::testing;

namespace {

// What the approximate functions give is the correctly rounded value (approximate.h).
using MpfrFunction = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

template <class Format>
typename Format::Word rounded(MpfrFunction f, typename Format::Word bits, bool ftz) {
  if (ftz) bits = withoutSubnormal<Format>(bits);
  static Mpfr x(53), r(Format::kMantissaBits + 1);
  mpfr_set_d(x, decode<Format>(bits), MPFR_RNDN);
  const mpfr_exp_t least = mpfr_get_emin(), largest = mpfr_get_emax();
  mpfr_set_emin(Format::kLeastExponent - Format::kMantissaBits + 1);
  mpfr_set_emax(2 - Format::kLeastExponent);
  mpfr_subnormalize(r, f(r, x, MPFR_RNDN), MPFR_RNDN);
  mpfr_set_emin(least);
  mpfr_set_emax(largest);
  const auto result = encode<Format>(mpfr_get_d(r, MPFR_RNDN));
  return ftz ? withoutSubnormal<Format>(result) : result;
}

int reciprocal(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rnd) { return mpfr_ui_div(r, 1, x, rnd); }
// MPFR takes -0 for +0 here.
int reciprocalRoot(mpfr_ptr r, mpfr_srcptr x, mpfr_rnd_t rnd) {
  return mpfr_zero_p(x) ? mpfr_ui_div(r, 1, x, rnd) : mpfr_rec_sqrt(r, x, rnd);
}

template <class Format>
LaneCase functionCase(const std::string& opcode, unsigned perLane, MpfrFunction f, bool ftz = false) {
  return numberCase<Format>(opcode, perLane, 1, [=](auto x) { return rounded<Format>(f, x[0], ftz); });
}

// ---- extremes ----

struct ExtremeMode {
  bool max = false, ftz = false, nan = false, abs = false, xorSign = false;
};

template <class Format>
typename Format::Word extreme(const ExtremeMode& m, std::vector<typename Format::Word> x) {
  using Word = typename Format::Word;
  bool negative = false;
  std::optional<Word> best, firstNan;
  for (Word& v : x) {
    if (m.ftz) v = withoutSubnormal<Format>(v);
    negative ^= (v >> (Format::kBits - 1)) != 0;
    const double value = decode<Format>(v);
    if (std::isnan(value)) {
      if (!firstNan) firstNan = v;
      continue;
    }
    const double number = m.abs ? std::fabs(value) : value;
    const double other = best ? decode<Format>(*best) : 0;
    const bool less = number < other || (number == other && std::signbit(number) && !std::signbit(other));
    const bool greater = number > other || (number == other && !std::signbit(number) && std::signbit(other));
    if (!best || (m.max ? greater : less)) best = encode<Format>(number);
  }
  if (firstNan && (m.nan || !best)) {
    if (std::is_same_v<Format, F64>) return static_cast<Word>(*firstNan | Format::kQuiet);
    return static_cast<Word>(Format::kMagnitude);
  }
  if (!m.xorSign) return *best;
  return encode<Format>(std::copysign(decode<Format>(*best), negative ? -1.0 : 1.0));
}

template <class Format>
void addExtremes(std::vector<LaneCase>& cases, const char* type, unsigned perLane) {
  const bool hasFtz = std::is_same_v<Format, F16> || std::is_same_v<Format, F32>;
  for (const bool max : {false, true})
    for (const bool ftz : {false, true})
      for (const bool nan : {false, true})
        for (const bool signs : {false, true}) {
          if ((ftz && !hasFtz) || (std::is_same_v<Format, F64> && (nan || signs))) continue;
          const std::string head = std::string(max ? "max" : "min") + (ftz ? ".ftz" : "") + (nan ? ".NaN" : "");
          const ExtremeMode m{max, ftz, nan, signs, signs};
          cases.push_back(
              numberCase<Format>(head + (signs ? ".xorsign.abs." : ".") + type, perLane, 2, [=](auto x) {
                return extreme<Format>(m, {x[0], x[1]});
              }));
          if (!std::is_same_v<Format, F32>) continue;
          const ExtremeMode three{max, ftz, nan, signs, false};
          cases.push_back(numberCase<Format>(head + (signs ? ".abs." : ".") + type, perLane, 3, [=](auto x) {
            return extreme<Format>(three, {x[0], x[1], x[2]});
          }));
        }
}

template <class Format>
void addSigns(std::vector<LaneCase>& cases, const char* type, unsigned perLane) {
  using Word = typename Format::Word;
  const bool hasFtz = std::is_same_v<Format, F16> || std::is_same_v<Format, F32>;
  for (const bool ftz : {false, true}) {
    if (ftz && !hasFtz) continue;
    for (const bool neg : {false, true})
      cases.push_back(numberCase<Format>(std::string(neg ? "neg" : "abs") + (ftz ? ".ftz." : ".") + type, perLane,
                                         1, [=](auto x) {
                                           const Word a = ftz ? withoutSubnormal<Format>(x[0]) : x[0];
                                           const double value = decode<Format>(a);
                                           if (std::isnan(value)) {
                                             if (!std::is_same_v<Format, F64>) return Format::kMagnitude;
                                             return static_cast<Word>(neg ? a ^ Format::kSign : a);
                                           }
                                           return encode<Format>(neg ? -value : std::fabs(value));
                                         }));
  }
}

// ---- comparisons ----

using Compare = bool (*)(double, double);
bool unordered(double a, double b) { return std::isnan(a) || std::isnan(b); }
constexpr std::pair<const char*, Compare> kComparisons[] = {
    {"eq", [](double a, double b) { return a == b; }},
    {"ne", [](double a, double b) { return a != b && !unordered(a, b); }},
    {"lt", [](double a, double b) { return a < b; }},
    {"le", [](double a, double b) { return a <= b; }},
    {"gt", [](double a, double b) { return a > b; }},
    {"ge", [](double a, double b) { return a >= b; }},
    {"equ", [](double a, double b) { return unordered(a, b) || a == b; }},
    {"neu", [](double a, double b) { return unordered(a, b) || a != b; }},
    {"ltu", [](double a, double b) { return unordered(a, b) || a < b; }},
    {"leu", [](double a, double b) { return unordered(a, b) || a <= b; }},
    {"gtu", [](double a, double b) { return unordered(a, b) || a > b; }},
    {"geu", [](double a, double b) { return unordered(a, b) || a >= b; }},
    {"num", [](double a, double b) { return !unordered(a, b); }},
    {"nan", [](double a, double b) { return unordered(a, b); }},
};

template <class Format>
bool compared(Compare f, uint64_t a, uint64_t b, bool ftz) {
  using Word = typename Format::Word;
  auto x = static_cast<Word>(a), y = static_cast<Word>(b);
  if (ftz) x = withoutSubnormal<Format>(x), y = withoutSubnormal<Format>(y);
  return f(decode<Format>(x), decode<Format>(y));
}

constexpr std::pair<const char*, bool (*)(bool, bool)> kBoolOps[] = {
    {"", [](bool r, bool) { return r; }},
    {".and", [](bool r, bool c) { return r && c; }},
    {".or", [](bool r, bool c) { return r || c; }},
    {".xor", [](bool r, bool c) { return r != c; }},
};

// setp and set of single numbers.
template <class Format>
void addComparisons(std::vector<LaneCase>& cases, const std::string& type,
                    const std::vector<std::pair<std::string, uint64_t>>& results) {
  const bool hasFtz = std::is_same_v<Format, F16> || std::is_same_v<Format, F32>;
  const unsigned bits = Format::kBits;
  const std::string s = bits == 64 ? "" : bits == 32 ? "r" : "h";
  const std::string sources = "%x" + s + ", %y" + s;
  std::size_t turn = 0;
  for (const auto& [name, f] : kComparisons)
    for (const auto& [boolName, boolOp] : kBoolOps)
      for (const bool ftz : {false, true}) {
        if (ftz && !hasFtz) continue;
        // The predicate that is combined, negated every other time.
        const bool negated = turn % 2 != 0, combines = *boolName != 0;
        const std::string c = combines ? negated ? ", !%zp" : ", %zp" : "";
        const std::string head = std::string(name) + boolName + (ftz ? ".ftz." : ".");
        const auto holds = [f = f, op = boolOp, ftz, negated](const Values& v) {
          return op(compared<Format>(f, v.x, v.y, ftz), ((v.z & 1) != 0) != negated);
        };
        const auto& [to, yes] = results[turn++ % results.size()];
        cases.push_back({"setp." + head + type + " %p, " + sources + c + ";", 'p',
                         [=](const Values& v) -> uint64_t { return holds(v); }});
        const bool isShort = to == "u16" || to == "s16" || to == "f16" || to == "bf16";
        cases.push_back({"set." + head + to + "." + type + (isShort ? " %h, " : " %r, ") + sources + c + ";",
                         isShort ? 'h' : 'r', [=, yes = yes](const Values& v) { return holds(v) ? yes : 0; }});
        if (bits == 16) continue;
        // p|q; q is the combination of the opposite.
        cases.push_back({"setp." + head + type + " %q0|%q1, " + sources + c +
                             "; selp.u32 %r, 2, 0, %q1; selp.u32 %s0, 1, 0, %q0; or.b32 %r, %r, %s0;",
                         'r', [=, f = f, op = boolOp](const Values& v) -> uint64_t {
                           const bool other = ((v.z & 1) != 0) != negated;
                           const bool r = compared<Format>(f, v.x, v.y, ftz);
                           return (op(r, other) ? 1u : 0u) | (op(!r, other) ? 2u : 0u);
                         }});
      }
}

// setp and set of pairs: the lower halves and the upper ones, each with c.
template <class Format>
void addPairComparisons(std::vector<LaneCase>& cases, const std::string& type, uint64_t one) {
  for (const auto& [name, f] : kComparisons)
    for (const auto& [boolName, boolOp] : kBoolOps) {
      const bool combines = *boolName != 0;
      const bool ftz = combines && std::is_same_v<Format, F16>;
      const std::string c = combines ? ", %zp" : "";
      const std::string head = std::string(name) + boolName + (ftz ? ".ftz." : ".");
      const auto parts = [f = f, op = boolOp, ftz](const Values& v, uint64_t yes, unsigned shift) {
        const bool other = (v.z & 1) != 0;
        return (op(compared<Format>(f, v.x, v.y, ftz), other) ? yes : 0) |
               (op(compared<Format>(f, v.x >> 16, v.y >> 16, ftz), other) ? yes << shift : 0);
      };
      cases.push_back({"setp." + head + type + " %q0|%q1, %xr, %yr" + c +
                           "; selp.u32 %r, 2, 0, %q1; selp.u32 %s0, 1, 0, %q0; or.b32 %r, %r, %s0;",
                       'r', [=](const Values& v) { return parts(v, 1, 1); }});
      cases.push_back({"set." + head + type + "." + type + " %r, %xr, %yr" + c + ";", 'r',
                       [=](const Values& v) { return parts(v, one, 16); }});
      const char* word = combines ? "u32." : "s32.";
      cases.push_back({"set." + head + word + type + " %r, %xr, %yr" + c + ";", 'r',
                       [=](const Values& v) { return parts(v, 0xFFFF, 16); }});
    }
}

}  // namespace

TEST_CASE("exec float: approximate functions of f32") {
  std::vector<LaneCase> cases;
  const std::pair<const char*, MpfrFunction> kFunctions[] = {
      {"rcp", reciprocal}, {"sqrt", mpfr_sqrt}, {"rsqrt", reciprocalRoot}, {"sin", mpfr_sin},
      {"cos", mpfr_cos},   {"lg2", mpfr_log2},  {"ex2", mpfr_exp2}};
  for (const auto& [name, f] : kFunctions)
    for (const bool ftz : {false, true})
      cases.push_back(functionCase<F32>(std::string(name) + ".approx" + (ftz ? ".ftz" : "") + ".f32", 1, f, ftz));
  cases.push_back(functionCase<F32>("tanh.approx.f32", 1, mpfr_tanh));
  for (const char* kind : {"approx", "full"})
    for (const bool ftz : {false, true})
      cases.push_back(numberCase<F32>(std::string("div.") + kind + (ftz ? ".ftz" : "") + ".f32", 1, 2, [=](auto x) {
        for (auto& v : x)
          if (ftz) v = withoutSubnormal<F32>(v);
        const double a = decode<F32>(x[0]);
        double b = decode<F32>(x[1]);
        // Divisors that are this large are taken for infinity, by .approx.
        if (*kind == 'a' && std::fabs(b) > 0x1p126 && std::isfinite(b)) {
          if (std::isinf(a)) return uint32_t{0x7FFF'FFFF};
          b = std::copysign(INFINITY, b);
        }
        const uint32_t r = reference<F32>(FloatOp::Div, a, b, 0, Rounding::Nearest);
        return ftz ? withoutSubnormal<F32>(r) : r;
      }));
  // Arguments of ordinary size, too.
  std::vector<Values> values = numbers<F32>(240);
  for (int i = -300; i < 300; ++i)
    values.push_back({std::bit_cast<uint32_t>(static_cast<float>(i) * 0.37f),
                      std::bit_cast<uint32_t>(static_cast<float>(i % 17) + 0.5f)});
  checkLanes(cases, values);
}

TEST_CASE("exec float: ex2 and tanh of halves") {
  std::vector<LaneCase> f16, bf16;
  for (const unsigned n : {1u, 2u}) {
    const std::string x = n == 1 ? "" : "x2";
    f16.push_back(functionCase<F16>("ex2.approx.f16" + x, n, mpfr_exp2));
    f16.push_back(functionCase<F16>("tanh.approx.f16" + x, n, mpfr_tanh));
    bf16.push_back(functionCase<Bf16>("ex2.approx.ftz.bf16" + x, n, mpfr_exp2, true));
    bf16.push_back(functionCase<Bf16>("tanh.approx.bf16" + x, n, mpfr_tanh));
  }
  checkLanes(f16, numbers<F16>(1920));
  checkLanes(bf16, numbers<Bf16>(1920));
}

TEST_CASE("exec float: f64 approximations") {
  struct Row {
    uint64_t x, rcp, rsqrtFtz, rsqrt;
  };
  // Of the first two only the upper word counts and is given.
  constexpr Row kRows[] = {
      {0x4000'0000'0000'0000, 0x3FE0'0000'0000'0000, 0x3FE6'A09E'0000'0000, 0x3FE6'A09E'667F'3BCC},
      {0x4010'0000'0000'0000, 0x3FD0'0000'0000'0000, 0x3FE0'0000'0000'0000, 0x3FE0'0000'0000'0000},
      {0x4008'0000'FFFF'FFFF, 0x3FD5'5555'0000'0000, 0x3FE2'79A7'0000'0000, 0},
      {0xBFF0'0000'0000'0000, 0xBFF0'0000'0000'0000, 0x7FFF'FFFF'0000'0000, 0xFFF8'0000'0000'0000},
      {0x0000'0000'0000'0000, 0x7FF0'0000'0000'0000, 0x7FF0'0000'0000'0000, 0x7FF0'0000'0000'0000},
      {0x8000'0000'0000'0000, 0xFFF0'0000'0000'0000, 0xFFF0'0000'0000'0000, 0xFFF0'0000'0000'0000},
      {0x8000'0000'0000'0001, 0xFFF0'0000'0000'0000, 0xFFF0'0000'0000'0000, 0xFFF8'0000'0000'0000},
      {0x7FF0'0000'0000'0000, 0x0000'0000'0000'0000, 0x0000'0000'0000'0000, 0x0000'0000'0000'0000},
      {0xFFF0'0000'0000'0000, 0x8000'0000'0000'0000, 0x7FFF'FFFF'0000'0000, 0xFFF8'0000'0000'0000},
      {0x7FF0'0001'0000'0000, 0x7FFF'FFFF'0000'0000, 0x7FFF'FFFF'0000'0000, 0x7FF8'0001'0000'0000},
  };
  std::vector<Values> values;
  for (const Row& row : kRows) values.push_back({row.x, row.rcp, row.rsqrtFtz, row.rsqrt});
  std::vector<Values> known = values;
  std::erase_if(known, [](const Values& v) { return (v.x & 0xFFFF'FFFF) == 0xFFFF'FFFF; });
  checkLanes({{"rcp.approx.ftz.f64 %d, %x;", 'd', [](const Values& v) { return v.y; }},
              {"rsqrt.approx.ftz.f64 %d, %x;", 'd', [](const Values& v) { return v.z; }}},
             values);
  checkLanes({{"rsqrt.approx.f64 %d, %x;", 'd',
               [](const Values& v) {
                 // 1 / sqrt(2) of two roundings may be one off.
                 return v.u == 0x3FE6'A09E'667F'3BCC ? std::bit_cast<uint64_t>(1 / std::sqrt(2.0)) : v.u;
               }}},
             known);
}

TEST_CASE("exec float: abs, neg, min, max of every type") {
  std::vector<LaneCase> f16, bf16, f32, f64;
  for (const unsigned n : {1u, 2u}) {
    addSigns<F16>(f16, n == 1 ? "f16" : "f16x2", n);
    addExtremes<F16>(f16, n == 1 ? "f16" : "f16x2", n);
    addSigns<Bf16>(bf16, n == 1 ? "bf16" : "bf16x2", n);
    addExtremes<Bf16>(bf16, n == 1 ? "bf16" : "bf16x2", n);
  }
  addSigns<F32>(f32, "f32", 1);
  addExtremes<F32>(f32, "f32", 1);
  addSigns<F64>(f64, "f64", 1);
  addExtremes<F64>(f64, "f64", 1);
  checkLanes(f16, numbers<F16>(480));
  checkLanes(bf16, numbers<Bf16>(480));
  checkLanes(f32, numbers<F32>(480));
  checkLanes(f64, numbers<F64>(480));
}

TEST_CASE("exec float: copysign and testp") {
  const auto addTests = []<class Format>(std::vector<LaneCase>& cases, const std::string& type, Format) {
    using Word = typename Format::Word;
    const std::string s = Format::kBits == 64 ? "" : "r";
    cases.push_back(numberCase<Format>("copysign." + type, 1, 2, [](auto x) {
      const bool negative = std::signbit(std::bit_cast<std::conditional_t<sizeof(Word) == 8, double, float>>(x[0]));
      return static_cast<Word>((x[1] << 1 >> 1) | (negative ? Format::kSign : 0));
    }));
    const std::pair<const char*, bool (*)(double)> kTests[] = {
        {"finite", [](double v) { return std::isfinite(v); }},
        {"infinite", [](double v) { return std::isinf(v); }},
        {"number", [](double v) { return !std::isnan(v); }},
        {"notanumber", [](double v) { return std::isnan(v); }},
        {"normal",
         [](double v) {
           return std::isfinite(v) && (v == 0 || std::fabs(v) >= std::ldexp(1.0, Format::kLeastExponent));
         }},
        {"subnormal", [](double v) { return v != 0 && std::fabs(v) < std::ldexp(1.0, Format::kLeastExponent); }},
    };
    for (const auto& [name, f] : kTests)
      cases.push_back({"testp." + std::string(name) + "." + type + " %p, %x" + s + ";", 'p',
                       [f = f](const Values& v) -> uint64_t { return f(decode<Format>(static_cast<Word>(v.x))); }});
  };
  std::vector<LaneCase> f32, f64;
  addTests(f32, "f32", F32{});
  addTests(f64, "f64", F64{});
  checkLanes(f32, numbers<F32>(480));
  checkLanes(f64, numbers<F64>(480));
}

TEST_CASE("exec float: setp and set of f32 and f64") {
  std::vector<LaneCase> f32, f64;
  const std::vector<std::pair<std::string, uint64_t>> results = {
      {"u32", 0xFFFF'FFFF}, {"s32", 0xFFFF'FFFF}, {"f32", 0x3F80'0000}, {"f16", 0x3C00}, {"bf16", 0x3F80}};
  addComparisons<F32>(f32, "f32", results);
  addComparisons<F64>(f64, "f64", results);
  checkLanes(f32, numbers<F32>(96));
  checkLanes(f64, numbers<F64>(96));
}

TEST_CASE("exec float: setp and set of halves and of pairs of them") {
  std::vector<LaneCase> f16, bf16;
  const std::vector<std::pair<std::string, uint64_t>> integers = {
      {"u32", 0xFFFF'FFFF}, {"s32", 0xFFFF'FFFF}, {"u16", 0xFFFF}, {"s16", 0xFFFF}};
  auto withF16 = integers, withBf16 = integers;
  withF16.emplace_back("f16", 0x3C00);
  withBf16.emplace_back("bf16", 0x3F80);
  addComparisons<F16>(f16, "f16", withF16);
  addComparisons<Bf16>(bf16, "bf16", withBf16);
  addPairComparisons<F16>(f16, "f16x2", 0x3C00);
  addPairComparisons<Bf16>(bf16, "bf16x2", 0x3F80);
  // One predicate of a pair: that of the lower halves.
  f16.push_back({"setp.lt.f16x2 %p, %xr, %yr;", 'p', [](const Values& v) -> uint64_t {
                   return compared<F16>([](double a, double b) { return a < b; }, v.x, v.y, false);
                 }});
  f16.push_back({"setp.lt.f16x2 _|%p, %xr, %yr;", 'p', [](const Values& v) -> uint64_t {
                   return compared<F16>([](double a, double b) { return a < b; }, v.x >> 16, v.y >> 16, false);
                 }});
  checkLanes(f16, numbers<F16>(96));
  checkLanes(bf16, numbers<Bf16>(96));
}
