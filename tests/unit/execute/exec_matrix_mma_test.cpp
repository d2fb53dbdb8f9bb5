// mma.sync: which forms there are, their layouts, and products against plain triple loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "exec/matrix/mma.h"
#include "exec_matrix_reference.h"

using namespace ptxopt::exec::matrix;
using namespace ptxopt::testing;
using ptxopt::exec::Rounding;

namespace {

std::optional<MmaShape> parse(std::string_view text) { return mmaShape(split(text)); }

Packing packed(unsigned bits) { return {bits, bits, bits == 64 ? 64u : 32u}; }

std::string formText(unsigned m, unsigned k, std::string_view rest) {
  return "sync.aligned.m" + std::to_string(m) + "n8k" + std::to_string(k) + ".row.col." + std::string(rest);
}

void checkLayout(const ReferenceMatrix& reference, const Operand& operand) {
  const FragmentShape& f = operand.fragment();
  REQUIRE(f.elementsPerLane == reference.perLane);
  REQUIRE(operand.registers() == reference.registers());
  std::set<std::tuple<unsigned, unsigned, unsigned>> seen;
  bool isSame = true;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < reference.perLane; ++i) {
      const Coordinate at = f.elementOf(lane, i);
      const Cell expected = reference.formula(lane, i);
      isSame &= at.row == expected.row && at.column == expected.column && at.block == expected.block;
      seen.insert({at.block, at.row, at.column});
      isSame &= at.row < reference.rows && at.column < reference.columns && at.block < reference.blocks;
    }
  }
  CHECK(isSame);
  CHECK(seen.size() == reference.size());  // a bijection: as many different elements as the matrix has
}

std::vector<uint64_t> run(const MmaShape& shape, const ReferenceForm& form, const std::vector<uint64_t>& a,
                          const std::vector<uint64_t>& b, const std::vector<uint64_t>& c) {
  std::vector<Lanes> d(form.d.registers());
  for (Lanes& lanes : d) lanes.fill(0xdeadbeefdeadbeef);
  multiply(shape, toRegisters(form.a, a, 0xa5a5a5a5), toRegisters(form.b, b, 0x5a5a5a5a),
           toRegisters(form.d, c, 0xffffffff), d);
  if (form.d.packing.width == 32) {
    for (const Lanes& lanes : d) {
      CHECK(std::all_of(lanes.begin(), lanes.end(), [](uint64_t x) { return x >> 32 == 0; }));
    }
  }
  return toMatrix(form.d, d);
}

std::vector<uint64_t> noise(std::mt19937_64& random, std::size_t count, unsigned bits) {
  std::vector<uint64_t> values(count);
  for (uint64_t& v : values) v = bits == 64 ? random() : random() & ((uint64_t{1} << bits) - 1);
  return values;
}

int64_t integer(uint64_t raw, unsigned bits, bool isSigned) {
  const auto value = static_cast<int64_t>(raw);
  return isSigned && (raw >> (bits - 1) & 1) != 0 ? value - (int64_t{1} << bits) : value;
}

struct IntegerForm {
  unsigned m, k, bits;
};

constexpr IntegerForm kIntegerForms[] = {{8, 16, 8}, {16, 16, 8}, {16, 32, 8},
                                         {8, 32, 4}, {16, 32, 4}, {16, 64, 4}};

}  // namespace

TEST_CASE("exec matrix: integer mma") {
  std::mt19937_64 random(1);
  for (const auto& [m, k, bits] : kIntegerForms) {
    for (const unsigned variant : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u}) {
      const bool aSigned = (variant & 1) != 0, bSigned = (variant & 2) != 0, saturates = (variant & 4) != 0;
      const std::string width = std::to_string(bits);
      const std::string types = std::string(saturates ? "satfinite." : "") + "s32." + (aSigned ? "s" : "u") +
                                width + (bSigned ? ".s" : ".u") + width + ".s32";
      const ReferenceForm form = referenceForm(formText(m, k, types), m, k, packed(bits), packed(bits), 32);
      CAPTURE(form.text);
      const auto shape = parse(form.text);
      REQUIRE(shape);
      checkLayout(form.a, shape->a);
      checkLayout(form.b, shape->b);
      checkLayout(form.d, shape->c);
      checkLayout(form.d, shape->d);
      const auto a = noise(random, form.a.size(), bits), b = noise(random, form.b.size(), bits);
      auto c = noise(random, form.d.size(), 32);
      // Some near the ends, so that wrapping and clamping happen.
      for (std::size_t i = 0; i < c.size(); i += 2) c[i] = i % 4 == 0 ? 0x7ffffff0 : 0x80000010;
      const auto d = run(*shape, form, a, b, c);
      bool isRight = true;
      for (unsigned row = 0; row < m; ++row) {
        for (unsigned column = 0; column < 8; ++column) {
          int64_t sum = static_cast<int32_t>(c[row * 8 + column]);
          for (unsigned i = 0; i < k; ++i) {
            sum += integer(a[row * k + i], bits, aSigned) * integer(b[i * 8 + column], bits, bSigned);
          }
          if (saturates) sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
          isRight &= d[row * 8 + column] == static_cast<uint32_t>(sum);
        }
      }
      CHECK(isRight);
    }
  }
}

TEST_CASE("exec matrix: one-bit mma") {
  std::mt19937_64 random(2);
  for (const auto& [m, k] : {std::pair{8u, 128u}, {16u, 128u}, {16u, 256u}}) {
    for (const bool isXor : {true, false}) {
      const std::string types = std::string("s32.b1.b1.s32.") + (isXor ? "xor" : "and") + ".popc";
      const ReferenceForm form = referenceForm(formText(m, k, types), m, k, packed(1), packed(1), 32);
      CAPTURE(form.text);
      const auto shape = parse(form.text);
      REQUIRE(shape);
      checkLayout(form.a, shape->a);
      checkLayout(form.b, shape->b);
      checkLayout(form.d, shape->d);
      const auto a = noise(random, form.a.size(), 1), b = noise(random, form.b.size(), 1);
      auto c = noise(random, form.d.size(), 32);
      c[0] = 0xffffffff;  // counts on from -1
      c[1] = 0x7fffffff;  // wraps
      const auto d = run(*shape, form, a, b, c);
      bool isRight = true;
      for (unsigned row = 0; row < m; ++row) {
        for (unsigned column = 0; column < 8; ++column) {
          uint64_t sum = c[row * 8 + column];
          for (unsigned i = 0; i < k; ++i) {
            const uint64_t x = a[row * k + i], y = b[i * 8 + column];
            sum += isXor ? x ^ y : x & y;
          }
          isRight &= d[row * 8 + column] == static_cast<uint32_t>(sum);
        }
      }
      CHECK(isRight);
    }
  }
}

TEST_CASE("exec matrix: f64 mma is a chain of fma") {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (const auto& [m, k] : {std::pair{8u, 4u}, {16u, 4u}, {16u, 8u}, {16u, 16u}}) {
    const ReferenceForm form = referenceForm(formText(m, k, "f64.f64.f64.f64"), m, k, packed(64), packed(64), 64);
    CAPTURE(form.text);
    const auto shape = parse(form.text);
    REQUIRE(shape);
    checkLayout(form.a, shape->a);
    checkLayout(form.b, shape->b);
    checkLayout(form.d, shape->d);
    std::vector<uint64_t> a(form.a.size()), b(form.b.size()), c(form.d.size());
    for (auto* matrix : {&a, &b, &c}) {
      for (uint64_t& raw : *matrix) raw = std::bit_cast<uint64_t>(uniform(random));
    }
    const auto d = run(*shape, form, a, b, c);
    bool isRight = true;
    for (unsigned row = 0; row < m; ++row) {
      for (unsigned column = 0; column < 8; ++column) {
        auto sum = std::bit_cast<double>(c[row * 8 + column]);
        for (unsigned i = 0; i < k; ++i) {
          sum = std::fma(std::bit_cast<double>(a[row * k + i]), std::bit_cast<double>(b[i * 8 + column]), sum);
        }
        isRight &= d[row * 8 + column] == std::bit_cast<uint64_t>(sum);
      }
    }
    CHECK(isRight);
    // Directed roundings: between them lies the nearest; up and down differ where a step was inexact.
    const auto directed = [&](std::string_view mode) {
      const auto other = parse(formText(m, k, std::string(mode) + ".f64.f64.f64.f64"));
      REQUIRE(other);
      return run(*other, form, a, b, c);
    };
    const auto up = directed("rp"), down = directed("rm"), nearest = directed("rn");
    CHECK(nearest == d);
    unsigned different = 0;
    bool isOrdered = true;
    for (std::size_t i = 0; i < d.size(); ++i) {
      isOrdered &= std::bit_cast<double>(down[i]) <= std::bit_cast<double>(d[i]);
      isOrdered &= std::bit_cast<double>(d[i]) <= std::bit_cast<double>(up[i]);
      different += up[i] != down[i];
    }
    CHECK(isOrdered);
    CHECK(different > d.size() / 2);
    CHECK(parse(formText(m, k, "rz.f64.f64.f64.f64")));
  }
}

TEST_CASE("exec matrix: m8n8k4 with f16 is four products") {
  std::mt19937_64 random(4);
  // Small integers: exact in f16 and in any order.
  const auto half = [](int value) {
    if (value == 0) return uint64_t{0};
    const int e = std::ilogb(std::abs(value));
    return static_cast<uint64_t>((value < 0 ? 0x8000 : 0) | ((e + 14) * 1024 + std::abs(value) * (1024 >> e)));
  };
  for (const bool aByRows : {true, false}) {
    for (const bool bByRows : {true, false}) {
      for (const auto& [d16, c16] : {std::pair{true, true}, {false, true}, {false, false}}) {
        const std::string text = std::string("sync.aligned.m8n8k4.") + (aByRows ? "row." : "col.") +
                                 (bByRows ? "row." : "col.") + (d16 ? "f16" : "f32") + ".f16.f16." +
                                 (c16 ? "f16" : "f32");
        CAPTURE(text);
        const auto shape = parse(text);
        REQUIRE(shape);
        const ReferenceMatrix a{8, 4, 4, 4, packed(16), isa::quadA(aByRows)};
        const ReferenceMatrix b{4, 8, 4, 4, packed(16), isa::quadB(bByRows)};
        const ReferenceMatrix f16{8, 8, 4, 8, packed(16), isa::quadF16};
        const ReferenceMatrix f32{8, 8, 4, 8, packed(32), isa::quadF32};
        const ReferenceMatrix &c = c16 ? f16 : f32, &d = d16 ? f16 : f32;
        checkLayout(a, shape->a);
        checkLayout(b, shape->b);
        checkLayout(c, shape->c);
        checkLayout(d, shape->d);
        std::vector<int> av(a.size()), bv(b.size()), cv(c.size());
        for (auto* values : {&av, &bv, &cv}) {
          for (int& value : *values) value = static_cast<int>(random() % 15) - 7;
        }
        const auto raws = [&](const std::vector<int>& values, bool is16) {
          std::vector<uint64_t> raw(values.size());
          for (std::size_t i = 0; i < raw.size(); ++i) {
            raw[i] = is16 ? half(values[i]) : std::bit_cast<uint32_t>(static_cast<float>(values[i]));
          }
          return raw;
        };
        std::vector<Lanes> out(d.registers());
        multiply(*shape, toRegisters(a, raws(av, true), 0), toRegisters(b, raws(bv, true), 0),
                 toRegisters(c, raws(cv, c16), 0), out);
        const auto result = toMatrix(d, out);
        std::vector<int> expected(d.size());
        for (unsigned block = 0; block < 4; ++block) {
          for (unsigned row = 0; row < 8; ++row) {
            for (unsigned column = 0; column < 8; ++column) {
              int sum = cv[block * 64 + row * 8 + column];
              for (unsigned i = 0; i < 4; ++i)
                sum += av[block * 32 + row * 4 + i] * bv[block * 32 + i * 8 + column];
              expected[block * 64 + row * 8 + column] = sum;
            }
          }
        }
        CHECK(result == raws(expected, d16));
      }
    }
  }
  CHECK_FALSE(parse("sync.aligned.m8n8k4.row.col.f16.f16.f16.f32"));
  CHECK_FALSE(parse("sync.aligned.m8n8k4.row.col.f32.bf16.bf16.f32"));
}

TEST_CASE("exec matrix: mma forms that there are not") {
  for (const char* text : {
           "sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
           "sync.aligned.m16n8k16.row.col.f32.f16.f16.f16",
           "sync.aligned.m16n8k16.row.col.f16.f16.f16.f32",
           "sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
           "sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
           "sync.aligned.m16n8k4.row.col.f32.bf16.bf16.f32",
           "sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16",
           "sync.aligned.m16n8k32.row.col.s32.s8.s4.s32",
           "sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
           "sync.aligned.m16n8k16.row.col.rn.f32.f16.f16.f32",
           "sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
           "sync.aligned.m8n8k128.row.col.s32.b1.b1.s32",
           "sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.popc",
           "sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor",
           "sync.aligned.m8n8k256.row.col.s32.b1.b1.s32.xor.popc",
           "sync.aligned.m16n8k32.row.col.f32.e4m3.e2m1.f32",
           "sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32",
           "sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0",
           "sync.aligned.m16n8k32.row.col.kind::f8f6f4.s32.s8.s8.s32",
           "sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
           "sync.aligned.m16n16k16.row.col.f32.f16.f16.f32",
           "sync.aligned.m16n8k16.row.col.f32.f16.f16",
           "sync.aligned.m16n8k16.col.f32.f16.f16.f32",
           "sync.aligned.row.col.f32.f16.f16.f32",
           "",
           "sync.aligned.m16n8k16.m16n8k16.row.col.f32.f16.f16.f32",
           "sync.aligned.m8n8k4.row.col.satfinite.f64.f64.f64.f64",
       }) {
    CAPTURE(text);
    CHECK_FALSE(parse(text));
  }
}
