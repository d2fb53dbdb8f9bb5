// ldmatrix, stmatrix, movmatrix: maps of bytes to registers, and that they make the fragments of mma; wmma
// fragments.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <set>

#include "exec/matrix/moves.h"
#include "exec/matrix/wmma.h"
#include "exec_matrix_reference.h"

using namespace ptxopt::exec::matrix;
using namespace ptxopt::testing;

namespace {

std::vector<SharedRow> randomRows(unsigned count, std::mt19937_64& random) {
  std::vector<SharedRow> rows(count);
  for (SharedRow& row : rows) {
    for (uint8_t& byte : row) byte = static_cast<uint8_t>(random());
  }
  return rows;
}

std::vector<Lanes> load(std::string_view text, const std::vector<SharedRow>& rows) {
  const auto move = ldmatrixShape(split(text));
  REQUIRE(move);
  REQUIRE(move->rows() == rows.size());
  std::vector<Lanes> registers(move->registers());
  loadMatrices(*move, rows, registers);
  return registers;
}

unsigned half(const SharedRow& row, unsigned element) { return row[2 * element] + 256u * row[2 * element + 1]; }

// Element `index` of `bits` bits, by counting bits.
unsigned packedElement(const SharedRow& row, unsigned index, unsigned bits) {
  unsigned value = 0;
  for (unsigned i = 0; i < bits; ++i) {
    const unsigned bit = index * bits + i;
    value |= (row[bit / 8] >> (bit % 8) & 1u) << i;
  }
  return value;
}

}  // namespace

TEST_CASE("exec matrix: ldmatrix of 16-bit elements") {
  std::mt19937_64 random(7);
  for (const unsigned count : {1u, 2u, 4u}) {
    const auto rows = randomRows(8 * count, random);
    const std::string x = "x" + std::to_string(count);
    const auto plain = load("sync.aligned.m8n8." + x + ".shared.b16", rows);
    const auto turned = load("sync.aligned." + x + ".trans.m8n8.shared::cta.b16", rows);
    bool isRight = true;
    for (unsigned t = 0; t < count; ++t) {
      for (unsigned lane = 0; lane < 32; ++lane) {
        const SharedRow& row = rows[8 * t + lane / 4];
        isRight &= plain[t][lane] == (half(row, lane % 4 * 2) | half(row, lane % 4 * 2 + 1) << 16);
        isRight &= turned[t][lane] == (half(rows[8 * t + lane % 4 * 2], lane / 4) |
                                       half(rows[8 * t + lane % 4 * 2 + 1], lane / 4) << 16);
      }
      Lanes moved;
      transposeMatrix(plain[t], moved);
      CHECK(moved == turned[t]);
      transposeMatrix(moved, moved);  // in place, and twice is nothing
      CHECK(moved == plain[t]);
    }
    CHECK(isRight);
    // stmatrix undoes ldmatrix, both ways.
    for (const bool trans : {false, true}) {
      const auto store = stmatrixShape(split("sync.aligned.m8n8." + x + (trans ? ".trans" : "") + ".shared.b16"));
      REQUIRE(store);
      std::vector<SharedRow> back(rows.size());
      storeMatrices(*store, trans ? turned : plain, back);
      CHECK(back == rows);
    }
  }
}

TEST_CASE("exec matrix: ldmatrix makes fragments of mma") {
  std::mt19937_64 random(8);
  const auto matrixOf = [](const std::vector<SharedRow>& rows, unsigned row, unsigned column, unsigned tiles) {
    // Tiles of 8 x 8: `tiles` of them below each other, then the next 8 columns.
    return half(rows[(row / 8 + column / 8 * tiles) * 8 + row % 8], column % 8);
  };
  // A of m16n8k16 from a row-major matrix.
  const auto rows = randomRows(32, random);
  const auto fragment = load("sync.aligned.m8n8.x4.shared.b16", rows);
  const ReferenceMatrix a{16, 16, 1, 8, {16, 16}, isa::a(16, 16, 16)};
  std::vector<uint64_t> expected(256);
  for (unsigned r = 0; r < 16; ++r) {
    for (unsigned c = 0; c < 16; ++c) expected[r * 16 + c] = matrixOf(rows, r, c, 2);
  }
  CHECK(toMatrix(a, fragment) == expected);
  // B from a matrix stored by columns of B without .trans, and by rows of B (k) with .trans.
  const auto half16 = randomRows(16, random);
  const ReferenceMatrix b{16, 8, 1, 4, {16, 16}, isa::b(16, 16)};
  const auto byColumns = toMatrix(b, load("sync.aligned.m8n8.x2.shared.b16", half16));
  const auto byRows = toMatrix(b, load("sync.aligned.m8n8.x2.trans.shared.b16", half16));
  bool isRight = true;
  for (unsigned k = 0; k < 16; ++k) {
    for (unsigned n = 0; n < 8; ++n) {
      isRight &= byColumns[k * 8 + n] == half(half16[k / 8 * 8 + n], k % 8);
      isRight &= byRows[k * 8 + n] == half(half16[k], n);
    }
  }
  CHECK(isRight);
  // Eight-bit A of m16n8k32: the same instruction on pairs of bytes.
  const ReferenceMatrix bytes{16, 32, 1, 16, {8, 8}, isa::a(16, 32, 8)};
  const auto wide = toMatrix(bytes, fragment);
  for (unsigned r = 0; r < 16; ++r) {
    for (unsigned c = 0; c < 32; ++c) isRight &= wide[r * 32 + c] == rows[(r / 8 + c / 16 * 2) * 8 + r % 8][c % 16];
  }
  CHECK(isRight);
  // Eight-bit B of m16n8k32, 32 x 16, from rows of k: the transposing 16x16 load gives two B fragments of 8
  // columns.
  const auto quads = load("sync.aligned.m16n16.x2.trans.shared.b8", rows);
  const ReferenceMatrix b8{32, 8, 1, 8, {8, 8}, isa::b(32, 8)};
  for (unsigned h = 0; h < 2; ++h) {
    const auto columns = toMatrix(b8, {quads[h], quads[2 + h]});
    for (unsigned k = 0; k < 32; ++k) {
      for (unsigned n = 0; n < 8; ++n) isRight &= columns[k * 8 + n] == rows[k][n + 8 * h];
    }
  }
  CHECK(isRight);
  // stmatrix of 16 x 8 bytes takes the accumulator layout, a byte an element, and stores columns as rows.
  const auto store = stmatrixShape(split("sync.aligned.m16n8.x1.trans.shared.b8"));
  REQUIRE(store);
  const ReferenceMatrix c8{16, 8, 1, 4, {8, 8}, isa::c16};
  std::vector<uint64_t> values(128);
  for (uint64_t& value : values) value = random() & 0xff;
  std::vector<SharedRow> stored(8);
  storeMatrices(*store, toRegisters(c8, values, 0), stored);
  for (unsigned r = 0; r < 16; ++r) {
    for (unsigned c = 0; c < 8; ++c) isRight &= stored[c][r] == values[r * 8 + c];
  }
  CHECK(isRight);
}

TEST_CASE("exec matrix: ldmatrix unpacks 6 and 4 bits") {
  std::mt19937_64 random(9);
  for (const auto& [format, bits] : {std::pair{"b6x16_p32", 6u}, {"b4x16_p64", 4u}}) {
    const std::string tail = std::string(".shared.b8x16.") + format;
    const auto rows = randomRows(32, random);
    const auto wide = load("sync.aligned.m8n16.x4" + tail, rows);
    const auto square = load("sync.aligned.m16n16.x2.trans" + tail, rows);
    bool isRight = true;
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned group = lane / 4, member = lane % 4;
      for (unsigned t = 0; t < 4; ++t) {
        for (unsigned j = 0; j < 4; ++j) {
          isRight &= (wide[t][lane] >> (8 * j) & 0xff) == packedElement(rows[8 * t + group], 4 * member + j, bits);
          isRight &= (square[t][lane] >> (8 * j) & 0xff) ==
                     packedElement(rows[16 * (t / 2) + 4 * member + j], group + 8 * (t % 2), bits);
        }
      }
    }
    CHECK(isRight);
  }
}

TEST_CASE("exec matrix: moves that there are not") {
  for (const char* text :
       {"sync.aligned.m8n8.x3.shared.b16", "sync.aligned.m8n8.shared.b16", "sync.aligned.m8n8.x1.shared.b8",
        "sync.aligned.m16n16.x4.trans.shared.b8", "sync.aligned.m16n16.x1.shared.b8",
        "sync.aligned.m8n16.x1.trans.shared.b8x16.b6x16_p32", "sync.aligned.m8n16.x1.shared.b8",
        "sync.aligned.m8n8.x1.shared.global.b16", "sync.aligned.m8n8.x1.x2.shared.b16",
        "sync.aligned.m8n16.x1.shared.b8x16", "sync.aligned.m16n8.x1.trans.shared.b8"}) {
    CAPTURE(text);
    CHECK_FALSE(ldmatrixShape(split(text)));
  }
  for (const char* text : {"sync.aligned.m16n8.x1.shared.b8", "sync.aligned.m16n16.x1.trans.shared.b8",
                           "sync.aligned.m8n8.x1.shared.b8"}) {
    CAPTURE(text);
    CHECK_FALSE(stmatrixShape(split(text)));
  }
}

namespace {

struct WmmaForm {
  unsigned m, n, k;
  const char* type;
  const char* result;
  unsigned aRegisters, bRegisters, dRegisters;  // as the ISA's table has them
};

constexpr WmmaForm kWmmaForms[] = {
    {16, 16, 16, "f16", "f32", 8, 8, 8},  {8, 32, 16, "f16", "f32", 8, 8, 8},  {32, 8, 16, "f16", "f32", 8, 8, 8},
    {16, 16, 16, "f16", "f16", 8, 8, 4},  {8, 32, 16, "f16", "f16", 8, 8, 4},  {32, 8, 16, "f16", "f16", 8, 8, 4},
    {16, 16, 16, "bf16", "f32", 4, 4, 8}, {8, 32, 16, "bf16", "f32", 2, 8, 8}, {32, 8, 16, "bf16", "f32", 8, 2, 8},
    {16, 16, 16, "s8", "s32", 2, 2, 8},   {8, 32, 16, "u8", "s32", 1, 4, 8},   {32, 8, 16, "s8", "s32", 4, 1, 8},
    {16, 16, 8, "tf32", "f32", 4, 4, 8},  {8, 8, 4, "f64", "f64", 1, 1, 2},    {8, 8, 32, "s4", "s32", 1, 1, 2},
    {8, 8, 32, "u4", "s32", 1, 1, 2},     {8, 8, 128, "b1", "s32", 1, 1, 2},
};

unsigned widthOf(std::string_view type) {
  if (type == "f64") return 64;
  if (type == "f32" || type == "s32" || type == "tf32") return 32;
  if (type == "s8" || type == "u8") return 8;
  if (type == "s4" || type == "u4") return 4;
  return type == "b1" ? 1 : 16;
}

// A small integer as an element of the type.
uint64_t encode(std::string_view type, int value) {
  if (type == "f64") return std::bit_cast<uint64_t>(static_cast<double>(value));
  const auto single = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (type == "f32" || type == "tf32") return single;
  if (type == "bf16") return single >> 16;
  if (type == "f16") {
    if (value == 0) return 0;
    const int e = std::ilogb(std::abs(value));
    return static_cast<uint64_t>((value < 0 ? 0x8000 : 0) | ((e + 14) * 1024 + std::abs(value) * (1024 >> e)));
  }
  return static_cast<uint64_t>(static_cast<int64_t>(value)) & ((uint64_t{1} << widthOf(type)) - 1);
}

// Memory as elements at bit offsets; what is not written stays at -1.
using Memory = std::vector<int64_t>;

std::vector<Lanes> wmmaLoad(const std::string& text, const Memory& memory, uint64_t stride) {
  const auto move = wmmaMove(split(text));
  REQUIRE(move);
  REQUIRE_FALSE(move->isStore);
  const FragmentShape& f = move->fragment;
  std::vector<Lanes> registers(f.registers());
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < f.elementsPerLane; ++i) {
      uint64_t& value = registers[i / f.perRegister()][lane];
      const uint64_t element = move->bitOffset(lane, i, stride) / bits(f.element);
      value = f.insert(value, i, static_cast<uint64_t>(memory.at(element)));
    }
  }
  return registers;
}

}  // namespace

TEST_CASE("exec matrix: wmma loads, multiplies and stores") {
  std::mt19937_64 random(10);
  for (const WmmaForm& f : kWmmaForms) {
    const std::string shape = "m" + std::to_string(f.m) + "n" + std::to_string(f.n) + "k" + std::to_string(f.k);
    const std::string type = f.type, result = f.result;
    const unsigned width = widthOf(type);
    for (unsigned variant = 0; variant < 16; ++variant) {
      const bool aByRows = (variant & 1) == 0, bByRows = (variant & 2) == 0;
      const bool cByRows = (variant & 4) == 0, dByRows = (variant & 8) == 0;
      const auto layout = [](bool byRows) { return std::string(byRows ? "row." : "col."); };
      const std::string load = "sync.aligned.";
      const std::string aText = "load.a." + load + layout(aByRows) + shape + ".global." + type;
      const std::string bText = "load.b." + load + layout(bByRows) + shape + ".shared." + type;
      const std::string cText = "load.c." + load + layout(cByRows) + shape + "." + result;
      const std::string dText = "store.d." + load + layout(dByRows) + shape + ".shared::cta." + result;
      const bool isB1 = type == "b1";
      const std::string types = type == "f16" ? result + ".f16" : result + "." + type + "." + type + "." + result;
      const std::string mma = std::string(isB1 ? "mma.xor.popc." : "mma.") + load + layout(aByRows) +
                              layout(bByRows) + shape + "." + (type == "f16" ? result + "." + result : types);
      CAPTURE(mma);
      if (width < 8 && (!aByRows || bByRows)) {
        CHECK_FALSE(wmmaShape(split(mma)));
        CHECK((!wmmaMove(split(aText)) || !wmmaMove(split(bText))));
        continue;
      }
      const auto product = wmmaShape(split(mma));
      REQUIRE(product);
      REQUIRE(product->a.registers() == f.aRegisters);
      REQUIRE(product->b.registers() == f.bRegisters);
      REQUIRE(product->d.registers() == f.dRegisters);
      const bool isUnsigned = type == "u8" || type == "u4" || isB1;
      const auto fill = [&](unsigned rows, unsigned columns, bool byRows, unsigned extra, std::string_view as,
                            bool noSign, std::vector<int>& values) {
        const unsigned stride = (byRows ? columns : rows) + extra;
        Memory memory(std::size_t{stride} * (byRows ? rows : columns), -1);
        for (unsigned r = 0; r < rows; ++r) {
          for (unsigned c = 0; c < columns; ++c) {
            const int value = isB1 && as == type ? static_cast<int>(random() & 1)
                                                 : static_cast<int>(random() % 8) - (noSign ? 0 : 4);
            values.push_back(value);
            memory[byRows ? r * stride + c : c * stride + r] = static_cast<int64_t>(encode(as, value));
          }
        }
        return memory;
      };
      std::vector<int> av, bv, cv;
      const Memory a = fill(f.m, f.k, aByRows, 0, type, isUnsigned, av);
      const Memory b = fill(f.k, f.n, bByRows, 24, type, isUnsigned, bv);
      const Memory c = fill(f.m, f.n, cByRows, 8, result, false, cv);
      std::vector<Lanes> d(f.dRegisters);
      const auto aMove = wmmaMove(split(aText));
      REQUIRE(aMove);
      multiply(*product, wmmaLoad(aText, a, aMove->defaultStride()), wmmaLoad(bText, b, (bByRows ? f.n : f.k) + 24),
               wmmaLoad(cText, c, (cByRows ? f.n : f.m) + 8), d);
      const auto store = wmmaMove(split(dText));
      REQUIRE(store);
      REQUIRE(store->isStore);
      const uint64_t stride = store->defaultStride() + 4;
      std::vector<int> timesWritten(f.m * f.n);
      bool isRight = true;
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < store->fragment.elementsPerLane; ++i) {
          const uint64_t at = store->bitOffset(lane, i, stride) / widthOf(result);
          const auto row = static_cast<unsigned>(dByRows ? at / stride : at % stride);
          const auto column = static_cast<unsigned>(dByRows ? at % stride : at / stride);
          if (row >= f.m || column >= f.n) {
            isRight = false;
            continue;
          }
          ++timesWritten[row * f.n + column];
          int sum = cv[row * f.n + column];
          for (unsigned k = 0; k < f.k; ++k) {
            const int x = av[row * f.k + k], y = bv[k * f.n + column];
            sum += isB1 ? x ^ y : x * y;
          }
          isRight &= store->fragment.extract(d[i / store->fragment.perRegister()][lane], i) == encode(result, sum);
        }
      }
      CHECK(isRight);
      CHECK(timesWritten == std::vector<int>(f.m * f.n, 1));
    }
  }
}

TEST_CASE("exec matrix: wmma forms that there are not") {
  for (const char* text :
       {"mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32", "mma.sync.aligned.row.col.m16n16k16.bf16.bf16",
        "mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32", "mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite",
        "mma.sync.aligned.row.col.m16n16k8.f32.f32", "mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
        "mma.sync.aligned.row.col.m8n8k4.f32.tf32.tf32.f32", "mma.sync.aligned.row.m16n16k16.f32.f32"}) {
    CAPTURE(text);
    CHECK_FALSE(wmmaShape(split(text)));
  }
  for (const char* text :
       {"store.a.sync.aligned.row.m16n16k16.f16", "load.d.sync.aligned.row.m16n16k16.f16",
        "load.a.sync.aligned.m16n16k16.f16", "load.a.sync.aligned.row.m16n16k16.f32",
        "load.a.sync.aligned.row.m16n16k16.local.f16", "load.c.sync.aligned.row.m16n16k16.bf16", "load.a"}) {
    CAPTURE(text);
    CHECK_FALSE(wmmaMove(split(text)));
  }
}
