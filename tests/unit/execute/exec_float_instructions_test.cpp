// Floating-point arithmetic of the interpreter as instructions: every opcode with its modifiers and types, against
// MPFR, which rounds once, and rules for NaN, .ftz, .sat and .relu written down here once more.
#include "exec_float_support.h"

using namespace ptxopt;
using namespace ptxopt::exec;
using namespace ptxopt::testing;

namespace {

struct Mode {
  Rounding rounding = Rounding::Nearest;
  bool ftz = false, sat = false, relu = false;
};

template <class Format>
typename Format::Word finished(typename Format::Word r, const Mode& m) {
  if (m.ftz) r = withoutSubnormal<Format>(r);
  if (m.sat) r = clamped<Format>(r);
  const double value = decode<Format>(r);
  if (m.relu && !std::isnan(value) && std::signbit(value)) r = 0;
  return r;
}

// One number of the result.
template <class Format>
typename Format::Word arithmetic(FloatOp op, const Mode& m, std::array<typename Format::Word, 3> x) {
  using Word = typename Format::Word;
  const std::size_t operands = op == FloatOp::Fma ? 3 : op == FloatOp::Sqrt ? 1 : 2;
  if constexpr (std::is_same_v<Format, F64>)
    for (std::size_t i = 0; i < operands; ++i)
      if (std::isnan(decode<Format>(x[i]))) return x[i] | 0x0008'0000'0000'0000;
  if (m.ftz)
    for (Word& v : x) v = withoutSubnormal<Format>(v);
  return finished<Format>(
      reference<Format>(op, decode<Format>(x[0]), decode<Format>(x[1]), decode<Format>(x[2]), m.rounding), m);
}

constexpr std::pair<const char*, FloatOp> kOps[] = {
    {"add", FloatOp::Add}, {"sub", FloatOp::Sub}, {"mul", FloatOp::Mul}, {"fma", FloatOp::Fma}};

template <class Format>
LaneCase arithmeticCase(const std::string& opcode, const char* type, unsigned perLane, FloatOp op, const Mode& m) {
  const unsigned operands = op == FloatOp::Fma ? 3 : op == FloatOp::Sqrt ? 1 : 2;
  return numberCase<Format>(opcode + "." + type, perLane, operands,
                            [=](std::array<typename Format::Word, 3> x) { return arithmetic<Format>(op, m, x); });
}

constexpr std::pair<const char*, Rounding> kNames[] = {{"", Rounding::Nearest},
                                                       {".rn", Rounding::Nearest},
                                                       {".rz", Rounding::Zero},
                                                       {".rm", Rounding::Down},
                                                       {".rp", Rounding::Up}};

// The widened halves are exact, so one rounding of the f32 operation.
template <class Half>
LaneCase mixedCase(const std::string& opcode, FloatOp op, const Mode& m) {
  const std::string operands = op == FloatOp::Fma ? "%xh, %yh, %zr;" : "%xh, %yr;";
  return {
      opcode + " %r, " + operands, 'r', [=](const Values& v) -> uint64_t {
        const double x = decode<Half>(static_cast<uint16_t>(v.x));
        const double second =
            op == FloatOp::Fma ? decode<Half>(static_cast<uint16_t>(v.y)) : decode<F32>(static_cast<uint32_t>(v.y));
        return finished<F32>(reference<F32>(op, x, second, decode<F32>(static_cast<uint32_t>(v.z)), m.rounding), m);
      }};
}

}  // namespace

TEST_CASE("exec float: add, sub, mul, fma, mad, div of f32 and f32x2 in all roundings") {
  std::vector<LaneCase> cases;
  for (const auto& [rounding, mode] : kNames)
    for (const bool ftz : {false, true}) {
      const std::string flush = ftz ? ".ftz" : "";
      for (const auto& [name, op] : kOps) {
        if (op == FloatOp::Fma && *rounding == 0) continue;
        const std::string opcode = std::string(name) + rounding + flush;
        cases.push_back(arithmeticCase<F32>(opcode, "f32", 1, op, {mode, ftz}));
        cases.push_back(arithmeticCase<F32>(opcode + ".sat", "f32", 1, op, {mode, ftz, true}));
        cases.push_back(arithmeticCase<F32>(opcode, "f32x2", 2, op, {mode, ftz}));
      }
      if (*rounding == 0) continue;
      cases.push_back(
          arithmeticCase<F32>("mad" + std::string(rounding) + flush, "f32", 1, FloatOp::Fma, {mode, ftz}));
      cases.push_back(
          arithmeticCase<F32>("div" + std::string(rounding) + flush, "f32", 1, FloatOp::Div, {mode, ftz}));
      cases.push_back(
          arithmeticCase<F32>("sqrt" + std::string(rounding) + flush, "f32", 1, FloatOp::Sqrt, {mode, ftz}));
      cases.push_back(numberCase<F32>("rcp" + std::string(rounding) + flush + ".f32", 1, 1, [=](auto x) {
        return arithmetic<F32>(FloatOp::Div, {mode, ftz}, {0x3F80'0000, x[0], 0});
      }));
    }
  cases.push_back(arithmeticCase<F32>("mad.rn.ftz.sat", "f32", 1, FloatOp::Fma, {Rounding::Nearest, true, true}));
  cases.push_back(arithmeticCase<F32>("div.ftz.rn", "f32", 1, FloatOp::Div, {Rounding::Nearest, true}));
  checkLanes(cases, numbers<F32>(480));
}

TEST_CASE("exec float: add, sub, mul, fma, mad, div of f64 in all roundings") {
  std::vector<LaneCase> cases;
  for (const auto& [rounding, mode] : kNames) {
    for (const auto& [name, op] : kOps)
      if (op != FloatOp::Fma || *rounding != 0)
        cases.push_back(arithmeticCase<F64>(std::string(name) + rounding, "f64", 1, op, {mode}));
    if (*rounding == 0) continue;
    cases.push_back(arithmeticCase<F64>("mad" + std::string(rounding), "f64", 1, FloatOp::Fma, {mode}));
    cases.push_back(arithmeticCase<F64>("div" + std::string(rounding), "f64", 1, FloatOp::Div, {mode}));
    cases.push_back(arithmeticCase<F64>("sqrt" + std::string(rounding), "f64", 1, FloatOp::Sqrt, {mode}));
    cases.push_back(numberCase<F64>("rcp" + std::string(rounding) + ".f64", 1, 1, [=](auto x) {
      return arithmetic<F64>(FloatOp::Div, {mode}, {0x3FF0'0000'0000'0000, x[0], 0});
    }));
  }
  checkLanes(cases, numbers<F64>(960));
}

TEST_CASE("exec float: add, sub, mul, fma of halves and of pairs of them") {
  std::vector<LaneCase> f16, bf16;
  for (const char* rounding : {"", ".rn"})
    for (const auto& [name, op] : kOps) {
      if (op == FloatOp::Fma && *rounding == 0) continue;
      const std::string opcode = std::string(name) + rounding;
      for (const bool ftz : {false, true}) {
        const std::string flush = opcode + (ftz ? ".ftz" : "");
        const Mode plain{Rounding::Nearest, ftz}, sat{Rounding::Nearest, ftz, true};
        const Mode relu{Rounding::Nearest, ftz, false, true};
        for (const unsigned n : {1u, 2u}) {
          const char* type = n == 1 ? "f16" : "f16x2";
          f16.push_back(arithmeticCase<F16>(flush, type, n, op, plain));
          f16.push_back(arithmeticCase<F16>(flush + ".sat", type, n, op, sat));
          if (op == FloatOp::Fma) f16.push_back(arithmeticCase<F16>(flush + ".relu", type, n, op, relu));
        }
      }
      for (const unsigned n : {1u, 2u}) {
        const char* type = n == 1 ? "bf16" : "bf16x2";
        bf16.push_back(arithmeticCase<Bf16>(opcode, type, n, op, {}));
        if (op == FloatOp::Fma)
          bf16.push_back(
              arithmeticCase<Bf16>(opcode + ".relu", type, n, op, {Rounding::Nearest, false, false, true}));
      }
    }
  checkLanes(f16, numbers<F16>(960));
  checkLanes(bf16, numbers<Bf16>(960));
}

TEST_CASE("exec float: f32 sums and products with halves") {
  std::vector<LaneCase> f16, bf16;
  for (const auto& [rounding, mode] : kNames)
    for (const auto& [name, op] : kOps) {
      if (op == FloatOp::Mul || (op == FloatOp::Fma && *rounding == 0)) continue;
      for (const bool sat : {false, true}) {
        const std::string opcode = std::string(name) + rounding + (sat ? ".sat" : "") + ".f32";
        f16.push_back(mixedCase<F16>(opcode + ".f16", op, {mode, false, sat}));
        bf16.push_back(mixedCase<Bf16>(opcode + ".bf16", op, {mode, false, sat}));
      }
    }
  // Halves anywhere in range, with numbers of f32 near their sizes and their edges.
  checkLanes(f16, mixedNumbers<F16>(960));
  checkLanes(bf16, mixedNumbers<Bf16>(960));
}

TEST_CASE("exec float: immediates and special values as operands") {
  const std::vector<LaneCase> cases = {
      {"add.f32 %r, %xr, 0f3F800000;", 'r',
       [](const Values& v) -> uint64_t {
         return arithmetic<F32>(FloatOp::Add, {}, {static_cast<uint32_t>(v.x), 0x3F80'0000, 0});
       }},
      {"fma.rn.f32 %r, 0fBF000000, %xr, 1.5;", 'r',
       [](const Values& v) -> uint64_t {
         return arithmetic<F32>(FloatOp::Fma, {}, {0xBF00'0000, static_cast<uint32_t>(v.x), 0x3FC0'0000});
       }},
      // The destination is a source.
      {"mov.b32 %r, %xr; fma.rn.f32 %r, %r, %r, %r;", 'r',
       [](const Values& v) -> uint64_t {
         const auto x = static_cast<uint32_t>(v.x);
         return arithmetic<F32>(FloatOp::Fma, {}, {x, x, x});
       }},
      {"cvt.rn.f32.u32 %f0, %tid.x; sub.f32 %f0, %f0, %f0; add.f32 %r, %f0, -2.0;", 'r',
       [](const Values&) -> uint64_t { return 0xC000'0000; }},
  };
  checkLanes(cases, numbers<F32>(480));
}

TEST_CASE("exec float: what is not supported is refused by name") {
  const auto refused = [](const std::string& instruction) {
    CAPTURE(instruction);
    // The launch itself must fail, naming the opcode.
    const Parsed parsed(kHeader + lanes::kernelOf({instruction, 'r', nullptr}, "k", false));
    Machine machine(*parsed);
    return message(machine);
  };
  const char* const kRefused[] = {
      "fma.rn.oob.f16 %h, %xh, %yh, %zh;",
      "fma.rn.oob.relu.bf16x2 %r, %xr, %yr, %zr;",
      "add.rz.f16 %h, %xh, %yh;",
      "add.sat.f64 %d, %x, %y;",
      "add.ftz.bf16 %h, %xh, %yh;",
      "fma.f32 %r, %xr, %yr, %zr;",
      "mul.rn.f32.f16 %r, %xh, %yr;",
      "fma.rn.sat.relu.f16 %h, %xh, %yh, %zh;",
      "min.xorsign.f32 %r, %xr, %yr;",
      "div.f32 %r, %xr, %yr;",
      "sin.f32 %r, %xr;",
      "tanh.approx.ftz.f32 %r, %xr;",
      "setp.lo.f32 %p, %xr, %yr;",
      "set.eq.f16x2.f16 %r, %xh, %yh;",
      "set.eq.f16x2.f32 %r, %xr, %yr;",
      "cvt.rn.f16x2.e4m3 %r, %xh;",
      "cvt.f32.s32 %r, %xr;",
      "cvt.rn.s32.f32 %r, %xr;",
      "cvt.rs.satfinite.e4m3x2.f32 %h, %xr, %yr, %zr;",
  };
  for (const char* instruction : kRefused) {
    const std::string text = instruction;
    const std::string opcode = text.substr(0, text.find(' '));
    CHECK(refused(text).find(opcode) != std::string::npos);
  }
}
