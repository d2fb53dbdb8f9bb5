// mma, wmma, ldmatrix, stmatrix, movmatrix and wgmma as instructions: operands, memory, who must be there, and when
// results appear. Expectations are plain products of small whole numbers, which every type holds exactly; layouts
// are those of the PTX ISA, written out here.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <string>

#include "exec_support.h"

using namespace ptxopt::exec;

namespace {

std::string kernel(const std::string& parameters, const std::string& body, const std::string& target = "sm_90a") {
  return ".version 9.0\n.target " + target + "\n.address_size 64\n.visible .entry k(" + parameters +
         ")\n{\n.reg .pred %p<10>; .reg .b16 %h<20>; .reg .b32 %r<80>; .reg .f32 %f<20>; .reg .b64 %rd<40>;\n"
         ".reg .f64 %fd<20>; .reg .b32 %lane; .reg .b64 %a, %b, %c, %d;\n"
         "mov.u32 %lane, %tid.x;\n" +
         body + "\nret;\n}\n";
}

const std::string kAbcd = ".param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd";
const std::string kLoadAbcd =
    "ld.param.u64 %a, [pa];\nld.param.u64 %b, [pb];\nld.param.u64 %c, [pc];\nld.param.u64 %d, [pd];\n";

std::string list(const std::string& prefix, unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += (i ? ", %" : "%") + prefix + std::to_string(first + i);
  return text + "}";
}

// Whole numbers from -3 to 3 (0 to 3 for unsigned types) as elements of a type.
struct Number {
  std::string type;
  unsigned bits;
  bool isFloat, isUnsigned;
  unsigned exponentBits = 0, mantissaBits = 0;

  uint64_t encode(int v) const {
    if (!isFloat) return static_cast<uint64_t>(static_cast<int64_t>(v)) & (bits == 64 ? ~0ull : (1ull << bits) - 1);
    if (v == 0) return 0;
    const uint64_t sign = v < 0 ? 1 : 0;
    const int m = std::abs(v), e = m >= 8 ? 3 : m >= 4 ? 2 : m >= 2 ? 1 : 0;
    const uint64_t mantissa = static_cast<uint64_t>(m - (1 << e)) << (mantissaBits - static_cast<unsigned>(e));
    const uint64_t exponent = static_cast<uint64_t>(e + (1 << (exponentBits - 1)) - 1);
    return sign << (exponentBits + mantissaBits) | exponent << mantissaBits | mantissa;
  }
};
const Number kF16{"f16", 16, true, false, 5, 10}, kBf16{"bf16", 16, true, false, 8, 7},
    kTf32{"tf32", 32, true, false, 8, 23}, kF32{"f32", 32, true, false, 8, 23},
    kF64{"f64", 64, true, false, 11, 52}, kE4m3{"e4m3", 8, true, false, 4, 3}, kE5m2{"e5m2", 8, true, false, 5, 2},
    kS8{"s8", 8, false, false}, kU8{"u8", 8, false, true}, kS4{"s4", 4, false, false}, kU4{"u4", 4, false, true},
    kS32{"s32", 32, false, false};

double decode(const Number& n, uint64_t raw) {
  if (n.type == "f16") {
    const int e = static_cast<int>(raw >> 10 & 31);
    const double m = static_cast<double>((raw & 1023) | (e ? 1024 : 0));
    return (raw >> 15 ? -1 : 1) * std::ldexp(m, (e ? e : 1) - 25);
  }
  if (n.type == "f32") return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(raw)));
  if (n.type == "f64") return std::bit_cast<double>(raw);
  return static_cast<int32_t>(raw);
}

// A matrix of whole numbers that differ between places.
struct Matrix {
  unsigned rows, columns;
  std::vector<int> values;

  Matrix(unsigned r, unsigned c, const Number& n, unsigned seed) : rows(r), columns(c) {
    uint32_t x = seed * 2654435761u + 12345;
    for (unsigned i = 0; i < r * c; ++i) {
      x = x * 1664525 + 1013904223;
      values.push_back(n.isUnsigned ? static_cast<int>(x >> 24) % 4 : static_cast<int>(x >> 24) % 7 - 3);
    }
  }
  int at(unsigned r, unsigned c) const { return values[r * columns + c]; }
};

int productAt(const Matrix& a, const Matrix& b, const Matrix& c, unsigned i, unsigned j) {
  int sum = c.at(i, j);
  for (unsigned k = 0; k < a.columns; ++k) sum += a.at(i, k) * b.at(k, j);
  return sum;
}

void put(std::vector<uint8_t>& bytes, std::size_t bit, unsigned count, uint64_t raw) {
  for (unsigned i = 0; i < count; ++i)
    if (raw >> i & 1) bytes[(bit + i) / 8] = static_cast<uint8_t>(bytes[(bit + i) / 8] | 1u << (bit + i) % 8);
}
uint64_t get(const std::vector<uint8_t>& bytes, std::size_t bit, unsigned count) {
  uint64_t raw = 0;
  for (unsigned i = 0; i < count; ++i) raw |= static_cast<uint64_t>(bytes[(bit + i) / 8] >> (bit + i) % 8 & 1) << i;
  return raw;
}

std::vector<uint8_t> stored(const Matrix& m, const Number& n, bool byRows, unsigned stride) {
  std::vector<uint8_t> bytes((byRows ? m.rows : m.columns) * stride * n.bits / 8);
  for (unsigned r = 0; r < m.rows; ++r)
    for (unsigned c = 0; c < m.columns; ++c)
      put(bytes, std::size_t{byRows ? r * stride + c : c * stride + r} * n.bits, n.bits, n.encode(m.at(r, c)));
  return bytes;
}

FaultKind faultOf(ExecTest& t, const std::vector<ExecTest::Argument>& arguments, uint32_t threads,
                  std::string* message = nullptr) {
  try {
    ExecTest::Shape shape;
    shape.block = {threads};
    t.run(arguments, shape);
  } catch (const ExecError& e) {
    if (message != nullptr) *message = e.message;
    return e.kind;
  }
  FAIL("no error");
  return FaultKind::Trap;
}

// ---- wmma ----

struct WmmaCase {
  unsigned m, n, k;
  Number a, c;
  unsigned aRegisters, bRegisters, cRegisters;
  const Number* d = nullptr;  // where D has another type than C
};

void checkWmma(const WmmaCase& x, bool aByRows, bool bByRows, bool cByRows, const std::string& space) {
  const Number& dType = x.d != nullptr ? *x.d : x.c;
  const Matrix a(x.m, x.k, x.a, 1), b(x.k, x.n, x.a, 2), c(x.m, x.n, x.c, 3);
  const auto stride = [](unsigned inner, const Number& n) { return inner + 128 / n.bits; };
  const unsigned sa = stride(aByRows ? x.k : x.m, x.a), sb = stride(bByRows ? x.n : x.k, x.a),
                 sc = stride(cByRows ? x.n : x.m, x.c), sd = stride(cByRows ? x.n : x.m, dType);
  const std::string shape = "m" + std::to_string(x.m) + "n" + std::to_string(x.n) + "k" + std::to_string(x.k);
  const auto order = [](bool byRows) { return std::string(byRows ? "row" : "col"); };
  const bool isDouble = x.a.bits == 64;
  const std::string reg = isDouble ? "fd" : "r";
  const unsigned dRegisters = x.d == nullptr     ? x.cRegisters
                              : dType.bits == 16 ? x.cRegisters / 2
                                                 : x.cRegisters * 2;
  const unsigned bAt = x.aRegisters, cAt = bAt + x.bRegisters, dAt = cAt + x.cRegisters;
  const std::string la = list(reg, 0, x.aRegisters), lb = list(reg, bAt, x.bRegisters),
                    lc = list(reg, cAt, x.cRegisters), ld = list(reg, dAt, dRegisters);
  const std::string types = x.a.type == "f16" ? dType.type + "." + x.c.type
                                              : dType.type + "." + x.a.type + "." + x.a.type + "." + x.c.type;
  const auto move = [&](const std::string& what, bool byRows, const Number& n) {
    return "wmma." + what + ".sync.aligned." + order(byRows) + "." + shape + space + "." + n.type + " ";
  };
  ExecTest t(kernel(kAbcd, kLoadAbcd + move("load.a", aByRows, x.a) + la + ", [%a], " + std::to_string(sa) + ";\n" +
                               "mov.u32 %r79, " + std::to_string(sb) + ";\n" + move("load.b", bByRows, x.a) + lb +
                               ", [%b], %r79;\n" + move("load.c", cByRows, x.c) + lc + ", [%c+0], " +
                               std::to_string(sc) + ";\nwmma.mma.sync.aligned." + order(aByRows) + "." +
                               order(bByRows) + "." + shape + "." + types + " " + ld + ", " + la + ", " + lb +
                               ", " + lc + ";\n" + move("store.d", cByRows, dType) + "[%d], " + ld + ", " +
                               std::to_string(sd) + ";\n"));
  t.buffer("a", stored(a, x.a, aByRows, sa));
  t.buffer("b", stored(b, x.a, bByRows, sb));
  t.buffer("c", stored(c, x.c, cByRows, sc));
  const std::size_t dBytes = std::size_t{cByRows ? x.m : x.n} * sd * dType.bits / 8;
  t.buffer<uint8_t>("d", std::vector<uint8_t>(dBytes, 0xee));
  t.run({"a", "b", "c", "d"}, {.grid = {1}, .block = {32}});
  const auto d = t.values<uint8_t>("d");
  CAPTURE(shape);
  CAPTURE(types);
  bool same = true;
  for (unsigned i = 0; i < x.m; ++i)
    for (unsigned j = 0; j < x.n; ++j) {
      const std::size_t at = cByRows ? i * sd + j : j * sd + i;
      same = same && decode(dType, get(d, at * dType.bits, dType.bits)) == productAt(a, b, c, i, j);
    }
  CHECK(same);
  // What lies between the rows stays.
  const unsigned inner = cByRows ? x.n : x.m;
  CHECK(get(d, std::size_t{inner} * dType.bits, 8) == 0xee);
}

}  // namespace

TEST_CASE("wmma loads, multiplies and stores every type and shape") {
  const WmmaCase cases[] = {
      {16, 16, 16, kF16, kF32, 8, 8, 8},       {8, 32, 16, kF16, kF32, 8, 8, 8},
      {32, 8, 16, kF16, kF32, 8, 8, 8},        {16, 16, 16, kF16, kF16, 8, 8, 4},
      {32, 8, 16, kF16, kF16, 8, 8, 4},        {16, 16, 16, kF16, kF32, 8, 8, 8, &kF16},
      {8, 32, 16, kF16, kF16, 8, 8, 4, &kF32}, {16, 16, 16, kBf16, kF32, 4, 4, 8},
      {8, 32, 16, kBf16, kF32, 2, 8, 8},       {32, 8, 16, kBf16, kF32, 8, 2, 8},
      {16, 16, 8, kTf32, kF32, 4, 4, 8},       {8, 8, 4, kF64, kF64, 1, 1, 2},
      {16, 16, 16, kS8, kS32, 2, 2, 8},        {16, 16, 16, kU8, kS32, 2, 2, 8},
      {8, 32, 16, kS8, kS32, 1, 4, 8},         {32, 8, 16, kU8, kS32, 4, 1, 8},
  };
  for (const WmmaCase& x : cases) {
    checkWmma(x, true, false, true, "");
    checkWmma(x, false, true, false, ".global");
  }
  checkWmma({8, 8, 32, kS4, kS32, 1, 1, 2}, true, false, true, "");
  checkWmma({8, 8, 32, kU4, kS32, 1, 1, 2}, true, false, false, ".global");
}

TEST_CASE("wmma of bits counts them") {
  for (const std::string operation : {"xor", "and"}) {
    ExecTest t(kernel(
        kAbcd, kLoadAbcd +
                   "wmma.load.a.sync.aligned.row.m8n8k128.global.b1 {%r0}, [%a];\n"
                   "wmma.load.b.sync.aligned.col.m8n8k128.global.b1 {%r1}, [%b];\n"
                   "wmma.load.c.sync.aligned.row.m8n8k128.global.s32 {%r2, %r3}, [%c];\n"
                   "wmma.mma." +
                   operation +
                   ".popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r2, %r3}, {%r0}, {%r1}, {%r2, %r3};\n"
                   "wmma.store.d.sync.aligned.row.m8n8k128.global.s32 [%d], {%r2, %r3};\n"));
    std::vector<uint32_t> a, b;
    for (unsigned i = 0; i < 32; ++i) a.push_back(i * 2654435761u), b.push_back(i * i * 40503u + 77);
    std::vector<int32_t> c(64);
    for (unsigned i = 0; i < 64; ++i) c[i] = static_cast<int32_t>(i) - 20;
    t.buffer("a", a), t.buffer("b", b), t.buffer("c", c);
    t.zeros<int32_t>("d", 64);
    t.run({"a", "b", "c", "d"}, {.grid = {1}, .block = {32}});
    const auto d = t.values<int32_t>("d");
    for (unsigned i = 0; i < 64; ++i) {
      int32_t sum = c[i];
      for (unsigned k = 0; k < 4; ++k) {
        const uint32_t x = a[i / 8 * 4 + k], y = b[i % 8 * 4 + k];
        sum += std::popcount(operation == "xor" ? x ^ y : x & y);
      }
      CHECK(d[i] == sum);
    }
  }
}

TEST_CASE("wmma in shared memory, and what is wrong with an address") {
  const auto text = [](const std::string& address, const std::string& stride) {
    return kernel(kAbcd,
                  kLoadAbcd +
                      ".shared .align 16 .b8 tile[1024];\n.reg .b64 %s;\nmov.u64 %s, tile;\n"
                      "cvta.shared.u64 %s, %s;\nshl.b32 %r70, %lane, 5;\ncvt.u64.u32 %rd0, %r70;\n"
                      "add.u64 %rd1, %c, %rd0;\nadd.u64 %rd2, %s, %rd0;\n"
                      "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%rd1];\nst.v4.b32 [%rd2], {%r0, %r1, %r2, %r3};\n"
                      "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%rd1+16];\n"
                      "st.v4.b32 [%rd2+16], {%r0, %r1, %r2, %r3};\nbar.sync 0;\n"
                      "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 " +
                      list("r", 8, 8) + ", [" + address + "], " + stride +
                      ";\nwmma.store.d.sync.aligned.col.m16n16k16.f32 [%d], " + list("r", 8, 8) + ";\n");
  };
  std::vector<uint32_t> c(256);
  for (unsigned i = 0; i < 256; ++i) c[i] = i;
  const auto make = [&](const std::string& address, const std::string& stride) {
    ExecTest t(text(address, stride));
    t.zeros<uint32_t>("a", 1), t.zeros<uint32_t>("b", 1), t.buffer("c", c), t.zeros<uint32_t>("d", 256);
    return t;
  };
  ExecTest t = make("tile", "16");
  t.run({"a", "b", "c", "d"}, {.grid = {1}, .block = {32}});
  const auto d = t.values<uint32_t>("d");
  for (unsigned i = 0; i < 256; ++i) CHECK(d[i] == i % 16 * 16 + i / 16);
  ExecTest beyond = make("tile", "20");
  CHECK(faultOf(beyond, {"a", "b", "c", "d"}, 32) == FaultKind::OutOfBounds);
  ExecTest odd = make("tile+4", "12");
  CHECK(faultOf(odd, {"a", "b", "c", "d"}, 32) == FaultKind::Misaligned);
  ExecTest differs = make("tile", "%lane");
  CHECK(faultOf(differs, {"a", "b", "c", "d"}, 32) == FaultKind::Unsupported);
}

// ---- mma ----

namespace {

// Elements lie `bits` of a slot apart; `shift` bits up in it.
struct MmaCase {
  unsigned m, k;
  std::string middle;  // between shape.row.col. and the types; "" or "kind::f8f6f4."
  Number a, b, c;
  unsigned slot = 0;
};

void checkMma(const MmaCase& x, const std::string& tail = "", const std::string& suffix = "", int factor = 1) {
  const Matrix a(x.m, x.k, x.a, 4), b(x.k, 8, x.b, 5), c(x.m, 8, x.c, 6);
  const unsigned slot = x.slot != 0 ? x.slot : x.a.bits;
  const unsigned wide = slot == 64 ? 64 : 32, p = wide / slot;
  const unsigned aCount = x.m * x.k / 32 / p, bCount = x.k * 8 / 32 / p;
  const unsigned cPer = wide == 64 ? 1 : 32 / x.c.bits, cCount = x.m * 8 / 32 / cPer;
  const unsigned shift = x.a.type == "e2m1" && slot == 8 ? 2 : 0;
  const std::size_t bytes = wide / 8;
  std::vector<uint8_t> ra(aCount * 32 * bytes), rb(bCount * 32 * bytes), rc(cCount * 32 * bytes);
  const unsigned tall = x.m == 16 ? 2 : 1;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group = lane / 4, member = lane % 4;
    for (unsigned r = 0; r < aCount; ++r)
      for (unsigned j = 0; j < p; ++j)
        put(ra, (r * 32 + lane) * wide + j * slot + shift, x.a.bits,
            x.a.encode(a.at(group + 8 * (r % tall), member * p + j + 4 * p * (r / tall))));
    for (unsigned r = 0; r < bCount; ++r)
      for (unsigned j = 0; j < p; ++j)
        put(rb, (r * 32 + lane) * wide + j * slot + shift, x.b.bits,
            x.b.encode(b.at(member * p + j + 4 * p * r, group)));
    for (unsigned i = 0; i < cCount * cPer; ++i)
      put(rc, (i / cPer * 32 + lane) * wide + i % cPer * x.c.bits, x.c.bits,
          x.c.encode(c.at(group + 8 * (i / 2), 2 * member + i % 2)));
  }
  const std::string reg = wide == 64 ? "fd" : "r", bitsName = wide == 64 ? "b64" : "b32";
  const std::string size = std::to_string(bytes);
  std::string text = kLoadAbcd + "mul.wide.u32 %rd0, %lane, " + size + ";\n";
  const auto each = [&](const std::string& base, unsigned first, unsigned count, bool isStore) {
    text += "add.u64 %rd1, " + base + ", %rd0;\n";
    for (unsigned r = 0; r < count; ++r) {
      const std::string at = "[%rd1+" + std::to_string(r * 32 * bytes) + "]",
                        name = "%" + reg + std::to_string(first + r);
      text += isStore ? "st.global." + bitsName + " " + at + ", " + name + ";\n"
                      : "ld.global." + bitsName + " " + name + ", " + at + ";\n";
    }
  };
  each("%a", 0, aCount, false), each("%b", 8, bCount, false), each("%c", 12, cCount, false);
  const std::string types = x.c.type + "." + x.a.type + "." + x.b.type + "." + x.c.type;
  const std::string opcode = "mma.sync.aligned.m" + std::to_string(x.m) + "n8k" + std::to_string(x.k) +
                             ".row.col." + x.middle + types + suffix;
  text += tail.empty() ? "" : "mov.b32 %r40, 0x7f7f7f80;\nmov.b32 %r41, 0x7f7f7f81;\nmov.b16 %h0, 0;\n";
  text += opcode + " " + list(reg, 16, cCount) + ", " + list(reg, 0, aCount) + ", " + list(reg, 8, bCount) + ", " +
          list(reg, 12, cCount) + tail + ";\n";
  each("%d", 16, cCount, true);
  ExecTest t(kernel(kAbcd, text, tail.empty() && x.slot == 0 ? "sm_90a" : "sm_120a"));
  t.buffer("a", ra), t.buffer("b", rb), t.buffer("c", rc);
  t.zeros<uint8_t>("d", rc.size());
  t.run({"a", "b", "c", "d"}, {.grid = {1}, .block = {32}});
  const auto d = t.values<uint8_t>("d");
  CAPTURE(opcode);
  bool same = true;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < cCount * cPer; ++i) {
      const unsigned row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
      const uint64_t raw = get(d, (i / cPer * 32 + lane) * wide + i % cPer * x.c.bits, x.c.bits);
      const int product = productAt(a, b, c, row, column) - c.at(row, column);
      same = same && decode(x.c, raw) == product * factor + c.at(row, column);
    }
  CHECK(same);
}

}  // namespace

TEST_CASE("mma in every type") {
  const Number e2m3{"e2m3", 6, true, false, 2, 3}, e3m2{"e3m2", 6, true, false, 3, 2},
      e2m1{"e2m1", 4, true, false, 2, 1};
  const MmaCase cases[] = {
      {16, 16, "", kF16, kF16, kF32},
      {16, 8, "", kF16, kF16, kF32},
      {16, 16, "", kF16, kF16, kF16},
      {16, 16, "", kBf16, kBf16, kF32},
      {16, 8, "", kBf16, kBf16, kF32},
      {16, 8, "", kTf32, kTf32, kF32},
      {16, 4, "", kTf32, kTf32, kF32},
      {8, 4, "", kF64, kF64, kF64},
      {16, 4, "", kF64, kF64, kF64},
      {16, 16, "", kF64, kF64, kF64},
      {8, 16, "", kS8, kU8, kS32},
      {16, 32, "", kS8, kS8, kS32},
      {16, 16, "", kU8, kS8, kS32},
      {8, 32, "", kS4, kS4, kS32},
      {16, 64, "", kU4, kS4, kS32},
      {16, 32, "", kE4m3, kE5m2, kF32},
      {16, 32, "", kE5m2, kE5m2, kF16},
      {16, 16, "", kE4m3, kE4m3, kF32},
      {16, 32, "kind::f8f6f4.", e2m3, e2m3, kF32, 8},
      {16, 32, "kind::f8f6f4.", e3m2, e3m2, kF16, 8},
      {16, 32, "kind::f8f6f4.", e2m1, e2m1, kF32, 8},
  };
  for (const MmaCase& x : cases) checkMma(x);
  // Scales 2^1 and 2^2 in byte 0; 2^0 in the others. Selectors in registers and as constants.
  checkMma({16, 32, "kind::mxf8f6f4.block_scale.", kE4m3, kE4m3, kF32, 8}, ", %r40, {%h0, %h0}, %r41, {0, 0}",
           ".ue8m0", 8);
  checkMma({16, 32, "kind::mxf8f6f4.block_scale.scale_vec::1X.", kE4m3, kE5m2, kF32, 8},
           ", %r40, {1, 1}, %r41, {2, 3}", ".ue8m0", 1);
  checkMma({16, 64, "kind::mxf4.block_scale.scale_vec::2X.", e2m1, e2m1, kF32, 4}, ", %r40, {2, 0}, %r41, {2, 0}",
           ".ue8m0", 1);
}

TEST_CASE("mma of bits, and satfinite") {
  ExecTest t(kernel(kAbcd, kLoadAbcd +
                               "mul.wide.u32 %rd0, %lane, 4;\nadd.u64 %rd1, %a, %rd0;\nadd.u64 %rd2, %d, %rd0;\n"
                               "ld.global.b32 %r0, [%rd1];\nmov.b32 %r1, %r0;\nmov.b32 %r2, 5;\n"
                               "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r4, %r5}, {%r0}, {%r1}, "
                               "{%r2, %r2};\n"
                               "mov.b32 %r6, 0x7f7f7f7f;\nmov.b32 %r7, 0x7fffffff;\n"
                               "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%r8, _}, {%r6}, {%r6}, "
                               "{%r7, %r7};\n"
                               "st.global.b32 [%rd2], %r4;\nst.global.b32 [%rd2+128], %r5;\n"
                               "st.global.b32 [%rd2+256], %r8;\n"));
  std::vector<uint32_t> a;
  for (unsigned i = 0; i < 32; ++i) a.push_back(0x9e3779b9u * (i + 1));
  t.buffer("a", a), t.zeros<int>("b", 1), t.zeros<int>("c", 1), t.zeros<int32_t>("d", 96);
  t.run({"a", "b", "c", "d"}, {.grid = {1}, .block = {32}});
  const auto d = t.values<int32_t>("d");
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned row = lane / 4, column = lane % 4 * 2 + i;
      int32_t sum = 5;
      for (unsigned k = 0; k < 4; ++k) sum += std::popcount(a[row * 4 + k] & a[column * 4 + k]);
      CHECK(d[32 * i + lane] == sum);
    }
    CHECK(d[64 + lane] == INT32_MAX);
  }
}

TEST_CASE("all lanes of a warp must execute a matrix instruction") {
  const std::string product =
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r4, %r5, %r6, %r7}, {%r0, %r1}, {%r2}, "
      "{%r4, %r5, %r6, %r7};\n";
  const std::string nothing = ".param .u64 unused";
  std::string message;
  ExecTest guarded(kernel(nothing, "setp.lt.u32 %p0, %lane, 16;\n@%p0 " + product));
  guarded.zeros<int>("x", 1);
  CHECK(faultOf(guarded, {"x"}, 32, &message) == FaultKind::Deadlock);
  ExecTest exited(kernel(nothing, "setp.gt.u32 %p0, %lane, 29;\n@%p0 exit;\n" + product));
  exited.zeros<int>("x", 1);
  CHECK(faultOf(exited, {"x"}, 32, &message) == FaultKind::Deadlock);
  CHECK(message.find("lanes 30-31 have exited") != std::string::npos);
  ExecTest small(kernel(nothing, product));
  small.zeros<int>("x", 1);
  CHECK(faultOf(small, {"x"}, 40, &message) == FaultKind::Deadlock);
  CHECK(message.find("no lanes 8-31") != std::string::npos);
  // A guard that is false everywhere skips it; a branch around it that meets before does no harm.
  ExecTest fine(kernel(nothing, "setp.gt.u32 %p0, %lane, 99;\n@%p0 " + product +
                                    "setp.lt.u32 %p1, %lane, 7;\n@%p1 bra L;\nadd.u32 %r0, %r0, 1;\nL:\n" +
                                    product));
  fine.zeros<int>("x", 1);
  fine.run({"x"}, {.grid = {1}, .block = {32}});
}

TEST_CASE("sparse matrices and unknown forms are refused by name") {
  const auto refusal = [](const std::string& instruction) {
    ExecTest t(kernel(".param .u64 unused", instruction));
    t.zeros<int>("x", 1);
    std::string message;
    CHECK(faultOf(t, {"x"}, 128, &message) == FaultKind::Unsupported);
    return message;
  };
  CHECK(refusal("mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r0, %r1, %r2, %r3}, {%r9, %r7}, {%r1, %r4}, "
                "{%r6, %r8, %r5, %r3}, %r9, 0x1;")
            .find("mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32: sparse") == 0);
  CHECK(refusal("wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.u8.s8 {%r0, %r1, %r2, %r3}, %rd0, %rd1, %r5, 0, %p0;")
            .find("sparse") != std::string::npos);
  CHECK(refusal("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 "
                "{%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3}, %r0, {0, 2}, %r0, "
                "{0, 0};")
            .find("{0, 2} of A") != std::string::npos);
}

// ---- moves ----

TEST_CASE("ldmatrix feeds mma, and stmatrix stores what ldmatrix loads") {
  // A is 16 x 16 by rows and B 16 x 8 by rows, both f16 in shared memory, as in a usual product of matrices.
  ExecTest t(kernel(
      kAbcd,
      kLoadAbcd +
          ".shared .align 16 .b8 sa[512];\n.shared .align 16 .b8 sb[256];\n.shared .align 16 .b8 so[512];\n"
          "shl.b32 %r50, %lane, 4;\ncvt.u64.u32 %rd0, %r50;\nadd.u64 %rd1, %a, %rd0;\nadd.u64 %rd2, %b, %rd0;\n"
          "mov.u32 %r51, sa;\nadd.u32 %r52, %r51, %r50;\nmov.u32 %r53, sb;\nadd.u32 %r54, %r53, %r50;\n"
          "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%rd1];\nst.shared.v4.b32 [%r52], {%r0, %r1, %r2, %r3};\n"
          "setp.lt.u32 %p0, %lane, 16;\n@%p0 ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%rd2];\n"
          "@%p0 st.shared.v4.b32 [%r54], {%r0, %r1, %r2, %r3};\nbar.sync 0;\n"
          // Row lane % 16, half lane / 16.
          "and.b32 %r60, %lane, 15;\nshl.b32 %r60, %r60, 5;\nshr.u32 %r61, %lane, 4;\nshl.b32 %r61, %r61, 4;\n"
          "add.u32 %r60, %r60, %r61;\nadd.u32 %r62, %r51, %r60;\n"
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r62];\n"
          "cvt.u64.u32 %rd3, %r54;\ncvta.shared.u64 %rd3, %rd3;\n"
          "ldmatrix.sync.aligned.m8n8.x2.trans.b16 {%r14, %r15}, [%rd3];\n"
          "mov.b32 %r20, 0;\n"
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r24, %r25, %r26, %r27}, {%r10, %r11, %r12, %r13}, "
          "{%r14, %r15}, {%r20, %r20, %r20, %r20};\n"
          "shl.b32 %r63, %lane, 4;\ncvt.u64.u32 %rd4, %r63;\nadd.u64 %rd5, %d, %rd4;\n"
          "st.global.v4.b32 [%rd5], {%r24, %r25, %r26, %r27};\n"
          "mov.u32 %r64, so;\nadd.u32 %r65, %r64, %r60;\n"
          "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r65], {%r10, %r11, %r12, %r13};\nbar.sync 0;\n"
          "add.u32 %r66, %r64, %r50;\nld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%r66];\nadd.u64 %rd6, %c, %rd0;\n"
          "st.global.v4.b32 [%rd6], {%r0, %r1, %r2, %r3};\n"));
  const Matrix a(16, 16, kF16, 7), b(16, 8, kF16, 8), zero(16, 8, kF32, 9);
  t.buffer("a", stored(a, kF16, true, 16)), t.buffer("b", stored(b, kF16, true, 8));
  t.zeros<uint8_t>("c", 512), t.zeros<float>("d", 128);
  t.run({"a", "b", "c", "d"}, {.grid = {1}, .block = {32}});
  CHECK(t.values<uint8_t>("c") == stored(a, kF16, true, 16));
  const auto d = t.values<float>("d");
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
      CHECK(d[lane * 4 + i] == static_cast<float>(productAt(a, b, zero, row, column) - zero.at(row, column)));
    }
}

TEST_CASE("movmatrix transposes") {
  std::vector<uint32_t> in(32);
  for (unsigned i = 0; i < 32; ++i) in[i] = (2 * i + 1) << 16 | 2 * i;  // element e of the matrix is e
  const auto out =
      perLane<uint32_t, uint32_t>("b32", {{"b32", in}}, "movmatrix.sync.aligned.m8n8.trans.b16 %out, %a;");
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned row = lane / 4, column = lane % 4 * 2;
    CHECK(out[lane] == (((column + 1) * 8 + row) << 16 | (column * 8 + row)));
  }
}

TEST_CASE("narrow and transposed moves") {
  // m8n16 with elements of 6 bits: each becomes a byte. m16n16 of bytes, transposed.
  ExecTest t(kernel(".param .u64 pd",
                    "ld.param.u64 %d, [pd];\n.shared .align 16 .b8 s[512];\nmov.u32 %r50, s;\n"
                    "shl.b32 %r51, %lane, 4;\nadd.u32 %r52, %r50, %r51;\nmul.lo.u32 %r0, %lane, 0x01010101;\n"
                    "st.shared.v4.b32 [%r52], {%r0, %r0, %r0, %r0};\n"
                    "st.shared.v4.b32 [%r52+0], {%r0, 0x41, 0, 0};\nbar.sync 0;\n"
                    "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r1}, [%r52];\n"
                    "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r2, %r3}, [%r52];\n"
                    "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r52], {%r2};\nbar.sync 0;\n"
                    "ld.shared.b32 %r4, [%r52];\n"
                    "shl.b32 %r63, %lane, 4;\ncvt.u64.u32 %rd4, %r63;\nadd.u64 %rd5, %d, %rd4;\n"
                    "st.global.v4.b32 [%rd5], {%r1, %r2, %r3, %r4};\n",
                    "sm_100a"));
  t.zeros<uint32_t>("d", 128);
  t.run({"d"}, {.grid = {1}, .block = {32}});
  const auto d = t.values<uint32_t>("d");
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group = lane / 4, member = lane % 4;
    // Row r in memory: four bytes r, then 0x41, then zeros.
    const auto byteAt = [](unsigned row, unsigned i) { return i < 4 ? row : i == 4 ? 0x41u : 0u; };
    uint32_t narrow = 0, low = 0;
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned bit = 6 * (4 * member + j);
      const unsigned two = byteAt(group, bit / 8) | byteAt(group, bit / 8 + 1) << 8;
      narrow |= (two >> bit % 8 & 63) << 8 * j;
      low |= byteAt(4 * member + j, group) << 8 * j;
    }
    CHECK(d[4 * lane] == narrow);
    CHECK(d[4 * lane + 1] == low);
    CHECK(d[4 * lane + 2] == 0);
  }
}

TEST_CASE("rows of ldmatrix must be aligned and in shared memory") {
  const auto make = [](const std::string& address) {
    ExecTest t(kernel(".param .u64 pa",
                      "ld.param.u64 %a, [pa];\n.shared .align 16 .b8 s[512];\n"
                      "shl.b32 %r1, %lane, 4;\nadd.u32 %r2, %r1, 8;\n"
                      "ldmatrix.sync.aligned.m8n8.x4" +
                          address + ";\n"));
    t.zeros<uint32_t>("a", 128);
    return t;
  };
  ExecTest fine = make(".shared.b16 {%r4, %r5, %r6, %r7}, [%r1]");
  fine.run({"a"}, {.grid = {1}, .block = {32}});
  ExecTest odd = make(".shared.b16 {%r4, %r5, %r6, %r7}, [%r2]");
  CHECK(faultOf(odd, {"a"}, 32) == FaultKind::Misaligned);
  ExecTest beyond = make(".shared.b16 {%r4, %r5, %r6, %r7}, [%r1+16]");
  CHECK(faultOf(beyond, {"a"}, 32) == FaultKind::OutOfBounds);
  ExecTest global = make(".b16 {%r4, %r5, %r6, %r7}, [%a]");
  CHECK(faultOf(global, {"a"}, 32) == FaultKind::OutOfBounds);
}

// ---- wgmma ----

namespace {

// D (64 x 8, f32) = A * B + D with A (64 x 16) and B (16 x 8) of f16 in shared memory without swizzling: cores of 8
// rows of 16 bytes, those of the second half of k 1024 (A) and 128 (B) bytes on, next 8 rows 128 bytes on. `before`
// stands between the product and the wait; D goes to memory by rows.
std::string wgmmaKernel(const std::string& a, const std::string& before, const std::string& wait) {
  return kernel(
      kAbcd,
      kLoadAbcd +
          ".shared .align 128 .b8 sa[2048];\n.shared .align 128 .b8 sb[256];\n.reg .b64 %da, %db;\n"
          // 128 threads copy 16 bytes each; row t / 2, half t % 2.
          "shl.b32 %r50, %lane, 4;\ncvt.u64.u32 %rd0, %r50;\nadd.u64 %rd1, %a, %rd0;\n"
          "ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%rd1];\n"
          "shr.u32 %r51, %lane, 1;\nshl.b32 %r52, %r51, 4;\nand.b32 %r53, %lane, 1;\nshl.b32 %r54, %r53, 10;\n"
          "add.u32 %r55, %r52, %r54;\nmov.u32 %r56, sa;\nadd.u32 %r55, %r55, %r56;\n"
          "st.shared.v4.b32 [%r55], {%r0, %r1, %r2, %r3};\n"
          // B comes by columns: 8 columns of 2 halves.
          "setp.lt.u32 %p0, %lane, 16;\nadd.u64 %rd2, %b, %rd0;\nmov.u32 %r57, sb;\nshl.b32 %r58, %r53, 7;\n"
          "add.u32 %r58, %r58, %r52;\nadd.u32 %r58, %r58, %r57;\n"
          "@%p0 ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%rd2];\n"
          "@%p0 st.shared.v4.b32 [%r58], {%r0, %r1, %r2, %r3};\n"
          "fence.proxy.async;\nbar.sync 0;\n"
          // Descriptors: start, leading and stride byte offsets in units of 16.
          "shr.u32 %r60, %r56, 4;\ncvt.u64.u32 %da, %r60;\nor.b64 %da, %da, 0x0000000800400000;\n"
          "shr.u32 %r61, %r57, 4;\ncvt.u64.u32 %db, %r61;\nor.b64 %db, %db, 0x0000000800080000;\n"
          // A in registers: row lane / 4, columns 2 * (lane % 4), as for mma.
          "and.b32 %r62, %lane, 31;\nshr.u32 %r63, %lane, 5;\nshl.b32 %r64, %r63, 8;\nshl.b32 %r65, %r62, 2;\n"
          "add.u32 %r66, %r64, %r65;\nadd.u32 %r66, %r66, %r56;\n"
          "ld.shared.b32 %r20, [%r66];\nld.shared.b32 %r21, [%r66+128];\nld.shared.b32 %r22, [%r66+1024];\n"
          "ld.shared.b32 %r23, [%r66+1152];\n"
          "mov.f32 %f0, 0f3F800000;\nmov.f32 %f1, %f0;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\n"
          "setp.eq.u32 %p1, 0, 0;\n"
          "wgmma.fence.sync.aligned;\n"
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, " +
          a + ";\nwgmma.commit_group.sync.aligned;\n" + before + wait +
          // c0 at row lane / 4 + 16 * warp, column 2 * (lane % 4).
          "shr.u32 %r70, %r62, 2;\nshl.b32 %r71, %r63, 4;\nadd.u32 %r70, %r70, %r71;\nshl.b32 %r70, %r70, 5;\n"
          "and.b32 %r72, %r62, 3;\nshl.b32 %r72, %r72, 3;\nadd.u32 %r70, %r70, %r72;\ncvt.u64.u32 %rd5, %r70;\n"
          "add.u64 %rd6, %d, %rd5;\nst.global.v2.f32 [%rd6], {%f0, %f1};\nst.global.v2.f32 [%rd6+256], {%f2, "
          "%f3};\n");
}

const std::string kWait = "wgmma.wait_group.sync.aligned 0;\n";

struct WgmmaTest {
  Matrix a{64, 16, kF16, 10}, b{16, 8, kF16, 11};
  ExecTest t;

  explicit WgmmaTest(const std::string& text) : t(text) {
    t.buffer("a", stored(a, kF16, true, 16)), t.buffer("b", stored(b, kF16, false, 16));
    t.zeros<uint32_t>("c", 1), t.zeros<float>("d", 512);
  }
  std::vector<float> run() {
    t.run({"a", "b", "c", "d"}, {.grid = {1}, .block = {128}});
    return t.values<float>("d");
  }
  // addend + factor * A * B
  std::vector<float> expected(int addend, int factor) const {
    std::vector<float> d(512);
    for (unsigned i = 0; i < 512; ++i) {
      int sum = 0;
      for (unsigned k = 0; k < 16; ++k) sum += a.at(i / 8, k) * b.at(k, i % 8);
      d[i] = static_cast<float>(addend + factor * sum);
    }
    return d;
  }
};

}  // namespace

TEST_CASE("wgmma multiplies from shared memory and from registers") {
  WgmmaTest shared(wgmmaKernel("%da, %db, %p1, 1, 1, 0, 0", "", kWait));
  CHECK(shared.run() == shared.expected(1, 1));
  WgmmaTest negated(wgmmaKernel("%da, %db, %p1, -1, 1, 0, 0", "", kWait));
  CHECK(negated.run() == negated.expected(1, -1));
  WgmmaTest fresh(wgmmaKernel("%da, %db, 0, 1, 1, 0, 0", "", kWait));
  CHECK(fresh.run() == fresh.expected(0, 1));
  WgmmaTest registers(wgmmaKernel("{%r20, %r21, %r22, %r23}, %db, %p1, 1, -1, 0", "", kWait));
  CHECK(registers.run() == registers.expected(1, -1));
}

TEST_CASE("results of wgmma appear at the wait, group by group") {
  const std::string again =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %da, %db, %p1, 1, 1, 0, 0;\n"
      "wgmma.commit_group.sync.aligned;\n";
  WgmmaTest none(wgmmaKernel("%da, %db, %p1, 1, 1, 0, 0", "", ""));
  CHECK(none.run() == none.expected(1, 0));
  WgmmaTest twice(wgmmaKernel("%da, %db, %p1, 1, 1, 0, 0", again, kWait));
  CHECK(twice.run() == twice.expected(1, 2));
  WgmmaTest one(wgmmaKernel("%da, %db, %p1, 1, 1, 0, 0", again, "wgmma.wait_group.sync.aligned 1;\n"));
  CHECK(one.run() == one.expected(1, 1));
}

TEST_CASE("mistakes around wgmma are errors") {
  const auto fault = [](const std::string& text, uint32_t threads = 128) {
    WgmmaTest t(text);
    return faultOf(t.t, {"a", "b", "c", "d"}, threads);
  };
  CHECK(fault(wgmmaKernel("%da, %db, %p1, 1, 1, 0, 0", "st.shared.b32 [%r57], 0x12345678;\n", kWait)) ==
        FaultKind::Race);
  // Written after the wait: fine.
  WgmmaTest after(
      wgmmaKernel("%da, %db, %p1, 1, 1, 0, 0", "", kWait + "bar.sync 0;\nst.shared.b32 [%r57], 0x12345678;\n"));
  CHECK(after.run() == after.expected(1, 1));
  CHECK(fault(wgmmaKernel("%rd39, %db, %p1, 1, 1, 0, 0", "", kWait)
                  .replace(wgmmaKernel("%rd39, %db, %p1, 1, 1, 0, 0", "", kWait).find("wgmma.fence"), 0,
                           "mov.b64 %rd39, 0x0400000000000000;\n")) == FaultKind::Unsupported);
  CHECK(fault(wgmmaKernel("%da, %rd39, %p1, 1, 1, 0, 0", "", kWait)
                  .replace(wgmmaKernel("%da, %rd39, %p1, 1, 1, 0, 0", "", kWait).find("wgmma.fence"), 0,
                           "mov.b64 %rd39, 0x0000000800083ff0;\n")) == FaultKind::OutOfBounds);
  // Half a warpgroup; `bar.sync 0` before it counts the threads that there are.
  CHECK(fault(wgmmaKernel("%da, %db, %p1, 1, 1, 0, 0", "", kWait), 64) == FaultKind::Deadlock);
}
