// wgmma: descriptors against layouts written the other way around, and products through registers and shared memory.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "exec/matrix/wgmma.h"
#include "exec_matrix_reference.h"

using namespace ptxopt::exec::matrix;
using namespace ptxopt::testing;

namespace {

uint64_t makeDescriptor(uint32_t start, uint32_t leading, uint32_t stride, unsigned swizzle,
                        unsigned baseOffset = 0) {
  return uint64_t{start} >> 4 | uint64_t{leading} >> 4 << 16 | uint64_t{stride} >> 4 << 32 |
         uint64_t{baseOffset} << 49 | uint64_t{swizzle} << 62;
}

// A matrix put into shared memory as a program does it: tiles ("atoms") of 8 lines, swizzled by line number, side
// by side. Lines run along the contiguous dimension. `order` says how far apart tiles are.
struct Placement {
  unsigned swizzleField;  // of the descriptor
  unsigned lineBytes;     // 16, 32, 64, 128
  Major major;
};

constexpr Placement kPlacements[] = {
    {0, 16, Major::K},  {3, 32, Major::K},  {2, 64, Major::K},  {1, 128, Major::K},
    {0, 16, Major::Mn}, {3, 32, Major::Mn}, {2, 64, Major::Mn}, {1, 128, Major::Mn},
};

// Byte of element (line, along) inside a tile, from the pictures of the swizzle modes: the chunk of 16 bytes number
// c of line l is stored at c ^ (l / (128 / lineBytes)), as lines of 32 and 64 bytes fill 128 bytes by four and two.
unsigned inTile(unsigned lineBytes, unsigned line, unsigned alongByte) {
  const unsigned chunk = alongByte / 16;
  const unsigned phase = line / (128 / lineBytes);
  return line * lineBytes + (chunk ^ phase) % (lineBytes / 16) * 16 + alongByte % 16;
}

struct Type {
  const char* name;
  unsigned bits, k;
};

struct Stored {
  std::map<uint32_t, uint8_t> memory;
  uint64_t descriptor;
};

// `value(mn, k)` gives raw elements; mn up to `lines`. Tiles lie `gap` bytes further apart than they must.
template <typename F>
Stored store(const Placement& p, const Type& type, unsigned lines, uint32_t start, unsigned gap, F&& value) {
  Stored s;
  const unsigned perUnit = 128 / type.bits;
  const unsigned tileBytes = 8 * p.lineBytes + gap;
  const unsigned alongSize = p.major == Major::K ? type.k : lines;  // elements along a line
  const unsigned acrossSize = p.major == Major::K ? lines : type.k;
  const unsigned perLine = p.lineBytes / 16 * perUnit;
  const unsigned tilesAlong = (alongSize + perLine - 1) / perLine;
  const uint32_t alongStep = tileBytes, acrossStep = tileBytes * tilesAlong;
  for (unsigned across = 0; across < acrossSize; ++across) {
    for (unsigned along = 0; along < alongSize; ++along) {
      const unsigned bit = along % perLine * type.bits;
      const uint32_t address =
          start + along / perLine * alongStep + across / 8 * acrossStep + inTile(p.lineBytes, across % 8, bit / 8);
      const uint64_t raw = p.major == Major::K ? value(across, along) : value(along, across);
      for (unsigned byte = 0; byte < (type.bits + 7) / 8; ++byte) {
        s.memory[address + byte] = static_cast<uint8_t>(s.memory[address + byte] | raw >> (8 * byte) << bit % 8);
      }
    }
  }
  // Which of the two steps is leading and which stride: without swizzling and MN-major they are the other way
  // iteration.
  const bool isSwapped = p.major == Major::Mn && p.swizzleField == 0;
  s.descriptor = isSwapped ? makeDescriptor(start, acrossStep, alongStep, p.swizzleField)
                           : makeDescriptor(start, alongStep, acrossStep, p.swizzleField);
  return s;
}

auto reader(const Stored& s) {
  return [&s](uint32_t address, unsigned bytes) {
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= uint32_t{s.memory.at(address + i)} << (8 * i);
    return value;
  };
}

struct Form {
  const char* text;
  Type a, b;
  unsigned n;
  const char* result;
};

uint64_t encode(const Type& type, int value) {
  const std::string_view name = type.name;
  if (name[0] == 's' || name[0] == 'u' || name == "b1") {
    return static_cast<uint64_t>(static_cast<int64_t>(value)) & ((uint64_t{1} << type.bits) - 1);
  }
  const auto single = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (name == "f32" || name == "tf32") return single;
  if (name == "bf16") return single >> 16;
  const unsigned exponentBits = name == "e4m3" ? 4 : 5, mantissaBits = type.bits - 1 - exponentBits;
  if (value == 0) return 0;
  const int e = std::ilogb(std::abs(value));
  const auto mantissa = static_cast<unsigned>((std::abs(value) << mantissaBits >> e)) & ((1u << mantissaBits) - 1);
  const auto exponent = static_cast<unsigned>(e + (1 << (exponentBits - 1)) - 1);
  return uint64_t{value < 0} << (type.bits - 1) | exponent << mantissaBits | mantissa;
}

constexpr Form kForms[] = {
    {"mma_async.sync.aligned.m64n8k16.f32.f16.f16", {"f16", 16, 16}, {"f16", 16, 16}, 8, "f32"},
    {"mma_async.sync.aligned.m64n72k16.f16.f16.f16", {"f16", 16, 16}, {"f16", 16, 16}, 72, "f16"},
    {"mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", {"bf16", 16, 16}, {"bf16", 16, 16}, 128, "f32"},
    {"mma_async.sync.aligned.m64n40k8.f32.tf32.tf32", {"tf32", 32, 8}, {"tf32", 32, 8}, 40, "f32"},
    {"mma_async.sync.aligned.m64n16k32.f16.e4m3.e5m2", {"e4m3", 8, 32}, {"e5m2", 8, 32}, 16, "f16"},
    {"mma_async.sync.aligned.m64n24k32.s32.s8.u8", {"s8", 8, 32}, {"u8", 8, 32}, 24, "s32"},
    {"mma_async.sync.aligned.m64n16k256.s32.b1.b1.and.popc", {"b1", 1, 256}, {"b1", 1, 256}, 16, "s32"},
};

int randomElement(const Type& type, std::mt19937_64& random) {
  const std::string_view name = type.name;
  if (name == "b1") return static_cast<int>(random() & 1);
  return static_cast<int>(random() % 5) - (name[0] == 'u' ? 0 : 2);
}

}  // namespace

TEST_CASE("exec matrix: wgmma products") {
  std::mt19937_64 random(11);
  for (const Form& f : kForms) {
    CAPTURE(f.text);
    const auto shape = wgmmaShape(split(f.text));
    REQUIRE(shape);
    const unsigned k = f.a.k;
    const Type result{f.result, f.result == std::string("f16") ? 16u : 32u, 0};
    REQUIRE(shape->d.registers() == f.n * result.bits / 64);
    CHECK(shape->hasMajorness() == (f.a.bits == 16));
    for (const Placement& placement : kPlacements) {
      if (placement.major == Major::Mn && !shape->hasMajorness()) continue;
      CAPTURE(placement.lineBytes);
      for (const bool aInRegisters : {false, true}) {
        std::vector<int> a(64 * k), b(k * f.n), c(64 * f.n);
        for (int& x : a) x = randomElement(f.a, random);
        for (int& x : b) x = randomElement(f.b, random);
        for (int& x : c) x = static_cast<int>(random() % 64);
        const Stored bStored = store(placement, f.b, f.n, 0x2000, 0,
                                     [&](unsigned n, unsigned i) { return encode(f.b, b[i * f.n + n]); });
        const Stored aStored = store(placement, f.a, 64, 0x8000, 1024,
                                     [&](unsigned m, unsigned i) { return encode(f.a, a[m * k + i]); });
        const auto bDescriptor = decodeDescriptor(bStored.descriptor),
                   aDescriptor = decodeDescriptor(aStored.descriptor);
        REQUIRE((aDescriptor && bDescriptor));
        std::vector<uint64_t> left;
        if (aInRegisters) {
          // As mma m16, a warp for every 16 rows.
          const ReferenceMatrix part{16, k, 1, 16 * k / 32, {f.a.bits, f.a.bits}, isa::a(16, k, f.a.bits)};
          std::vector<Lanes> registers;
          for (unsigned warp = 0; warp < 4; ++warp) {
            std::vector<uint64_t> own;
            for (unsigned i = 0; i < 16 * k; ++i) own.push_back(encode(f.a, a[warp * 16 * k + i]));
            for (const Lanes& lanes : toRegisters(part, own, 0x12345678)) registers.push_back(lanes);
          }
          left.resize(4 * shape->a.size());
          const std::size_t rows = left.size() / 4, count = registers.size() / 4;
          for (std::size_t warp = 0; warp < 4; ++warp)
            shape->a.gather(std::span(registers).subspan(warp * count, count),
                            std::span(left).subspan(warp * rows, rows));
        } else {
          left = loadShared(*shape, Matrix::A, *aDescriptor, placement.major, 0, 64, reader(aStored));
        }
        const auto right = loadShared(*shape, Matrix::B, *bDescriptor, placement.major, 0, f.n, reader(bStored));
        // d[i]: row 16 * warp + lane / 4 + 8 * (i / 2 % 2), column i / 4 * 8 + lane % 4 * 2 + i % 2.
        const ReferenceMatrix own{16, f.n, 1, f.n / 2, {result.bits, result.bits}, [](unsigned lane, unsigned i) {
                                    return Cell{lane / 4 + 8 * (i / 2 % 2), i / 4 * 8 + lane % 4 * 2 + i % 2};
                                  }};
        for (unsigned mode = 0; mode < (shape->hasScale() ? 4u : 2u); ++mode) {
          WgmmaScales scales;
          scales.accumulate = mode != 1;
          scales.negateA = mode == 2;
          scales.negateB = mode == 3;
          std::vector<Lanes> d;
          for (unsigned warp = 0; warp < 4; ++warp) {
            std::vector<uint64_t> part;
            for (unsigned i = 0; i < 16 * f.n; ++i) part.push_back(encode(result, c[warp * 16 * f.n + i]));
            for (const Lanes& lanes : toRegisters(own, part, 0)) d.push_back(lanes);
          }
          for (std::size_t warp = 0; warp < 4; ++warp)
            multiplyWarp(*shape, scales, std::span(left).subspan(warp * left.size() / 4, left.size() / 4), right,
                         std::span(d).subspan(warp * d.size() / 4, d.size() / 4));
          bool isRight = true;
          for (unsigned warp = 0; warp < 4; ++warp) {
            const std::size_t count = own.registers();
            const auto part = toMatrix(own, {d.begin() + static_cast<long>(warp * count),
                                             d.begin() + static_cast<long>((warp + 1) * count)});
            for (unsigned i = 0; i < 16 * f.n; ++i) {
              const unsigned row = warp * 16 + i / f.n, column = i % f.n;
              int sum = 0;
              for (unsigned j = 0; j < k; ++j) sum += a[row * k + j] * b[j * f.n + column];
              if (mode >= 2) sum = -sum;
              if (scales.accumulate) sum += c[row * f.n + column];
              isRight &= part[i] == encode(result, sum);
            }
          }
          CHECK(isRight);
        }
      }
    }
  }
}

TEST_CASE("exec matrix: wgmma descriptors in a larger swizzled tile") {
  // A 64 x 64 tile of f16, K-major, in lines of 128 bytes: the next 16 columns are the start address plus 32.
  for (unsigned step = 0; step < 4; ++step) {
    const auto d = decodeDescriptor(makeDescriptor(0x4000 + 32 * step, 16, 1024, 1));
    REQUIRE(d);
    bool isRight = true;
    for (unsigned row = 0; row < 64; ++row) {
      for (unsigned k = 0; k < 16; ++k) {
        const unsigned alongByte = (step * 16 + k) * 2;
        isRight &= d->addressOf(Major::K, 16, row, k) == 0x4000 + row / 8 * 1024 + inTile(128, row % 8, alongByte);
      }
    }
    CHECK(isRight);
  }
  // A pattern that begins off its boundary: the base offset counts lines of 128 bytes from the boundary.
  for (const auto& [field, line] : {std::pair{1u, 128u}, {2u, 64u}, {3u, 32u}}) {
    for (unsigned base = 0; base < 8; ++base) {
      const uint32_t start = 0x4000 + 128 * base;
      const auto d = decodeDescriptor(makeDescriptor(start, 16, 1024, field, base));
      REQUIRE(d);
      bool isRight = true;
      for (unsigned row = 0; row < 8; ++row) {
        for (unsigned k = 0; k < 16; ++k) {
          isRight &= d->addressOf(Major::K, 16, row, k) == start + inTile(line, row, 2 * k);
        }
      }
      CHECK(isRight);
    }
  }
}

TEST_CASE("exec matrix: wgmma that there is not") {
  CHECK_FALSE(decodeDescriptor(uint64_t{1} << 14));
  CHECK_FALSE(decodeDescriptor(uint64_t{1} << 46));
  CHECK_FALSE(decodeDescriptor(uint64_t{1} << 61));
  CHECK(decodeDescriptor(uint64_t{7} << 49));
  for (const char* text :
       {"mma_async.sync.aligned.m64n40k32.s32.s8.s8", "mma_async.sync.aligned.m64n264k16.f32.f16.f16",
        "mma_async.sync.aligned.m64n12k16.f32.f16.f16", "mma_async.sync.aligned.m64n8k16.f16.bf16.bf16",
        "mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc", "mma_async.sync.aligned.m64n8k8.f32.f16.f16",
        "mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16", "mma_async.sync.aligned.m64n8k32.s32.s8.s8.s32",
        "mma_async.sync.aligned.m64n8k16.f32.f16.f16.satfinite"}) {
    CAPTURE(text);
    CHECK_FALSE(wgmmaShape(split(text)));
  }
  CHECK(wgmmaShape(split("mma_async.sync.aligned.m64n8k32.s32.s8.s8.satfinite")));
}
