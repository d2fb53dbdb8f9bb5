// Block-scaled mma: which lane's byte scales which block, against plain triple loops over exact values.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "exec/matrix/mma_scaled.h"
#include "exec_matrix_reference.h"

using namespace ptxopt::exec::matrix;
using namespace ptxopt::testing;

namespace {

struct ScaledForm {
  const char* text;
  unsigned k, blocks;
  Packing a, b;
  bool isUe4m3;
};

constexpr Packing kByte{8, 8}, kPair{4, 8, 32, 2}, kNibble{4, 4};

constexpr ScaledForm kForms[] = {
    {"sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e5m2.e2m1.f32.ue8m0", 32, 1, kByte, kPair,
     false},
    {"sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e2m1.e5m2.f32.ue8m0", 32, 1, kPair,
     kByte, false},
    {"sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", 64, 2, kNibble, kNibble,
     false},
    {"sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", 64, 2,
     kNibble, kNibble, false},
    {"sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3", 64, 4,
     kNibble, kNibble, true},
};

// All values of e2m1; of e5m2 the powers of two from 1 to 8.
double valueOf(const Packing& p, unsigned choice) {
  constexpr double kE2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return p.bits == 4 ? (choice & 8 ? -1 : 1) * kE2m1[choice & 7]
                     : std::ldexp(choice & 8 ? -1.0 : 1.0, static_cast<int>(choice & 3));
}
uint64_t rawOf(const Packing& p, unsigned choice) {
  return p.bits == 4 ? choice & 15 : uint64_t{(choice & 8) != 0} << 7 | uint64_t{15 + (choice & 3)} << 2;
}

// Scales are 2^0 to 2^3, or 1 to 1.875 for ue4m3, whose sign bit does not count.
double scaleOf(bool isUe4m3, unsigned choice) {
  return isUe4m3 ? 1 + (choice & 7) / 8.0 : std::ldexp(1.0, static_cast<int>(choice & 3));
}
uint64_t scaleByte(bool isUe4m3, unsigned choice) {
  return isUe4m3 ? 7u << 3 | (choice & 7) | (choice & 8) << 4 : 127 + (choice & 3);
}

}  // namespace

TEST_CASE("exec matrix: block-scaled mma") {
  std::mt19937_64 random(12);
  for (const ScaledForm& f : kForms) {
    CAPTURE(f.text);
    const auto shape = scaledMmaShape(split(f.text));
    REQUIRE(shape);
    REQUIRE(shape->blocks == f.blocks);
    CHECK_FALSE(mmaShape(split(f.text)));
    const ReferenceForm form = referenceForm(f.text, 16, f.k, f.a, f.b, 32);
    for (unsigned byteId = 0; byteId < 4; byteId += f.blocks) {
      for (unsigned threadId = 0; threadId < 4; ++threadId) {
        const unsigned aThread = threadId % 2;
        std::vector<unsigned> a(16 * f.k), b(f.k * 8), scaleA(16 * f.blocks), scaleB(8 * f.blocks);
        for (auto* choices : {&a, &b, &scaleA, &scaleB}) {
          for (unsigned& choice : *choices) choice = static_cast<unsigned>(random() & 15);
        }
        // Lanes and bytes that no scale comes from hold NaN (ue8m0 and ue4m3: 0xff).
        ScaleOperand forA{{}, byteId, aThread}, forB{{}, byteId, threadId};
        forA.data.fill(0xffffffff), forB.data.fill(0xffffffff);
        const auto put = [&](ScaleOperand& s, unsigned lane, unsigned block, unsigned choice) {
          const unsigned shift = 8 * (byteId + block);
          s.data[lane] = (s.data[lane] & ~(uint64_t{0xff} << shift)) | scaleByte(f.isUe4m3, choice) << shift;
        };
        for (unsigned block = 0; block < f.blocks; ++block) {
          for (unsigned lane = 0; lane < 32; ++lane) {
            // Of each four lanes two give the scales of rows lane / 4 and lane / 4 + 8, one that of a column.
            if (lane % 4 / 2 == aThread)
              put(forA, lane, block, scaleA[(lane / 4 + 8 * (lane % 2)) * f.blocks + block]);
            if (lane % 4 == threadId) put(forB, lane, block, scaleB[lane / 4 * f.blocks + block]);
          }
        }
        CHECK(areSelectors(*shape, Matrix::A, forA));
        CHECK(areSelectors(*shape, Matrix::B, forB));
        std::vector<uint64_t> aRaw, bRaw, cRaw(128);
        for (const unsigned choice : a) aRaw.push_back(rawOf(f.a, choice));
        for (const unsigned choice : b) bRaw.push_back(rawOf(f.b, choice));
        for (unsigned i = 0; i < 128; ++i) cRaw[i] = std::bit_cast<uint32_t>(static_cast<float>(i) - 60.0f);
        std::vector<Lanes> d(4);
        multiplyScaled(*shape, toRegisters(form.a, aRaw, 0xffffffff), forA, toRegisters(form.b, bRaw, 0xffffffff),
                       forB, toRegisters(form.d, cRaw, 0), d);
        const auto result = toMatrix(form.d, d);
        bool isRight = true;
        for (unsigned i = 0; i < 128; ++i) {
          // Exact in double; small enough for f32 to need its rounding only now and then.
          double sum = static_cast<double>(i) - 60.0;
          for (unsigned k = 0; k < f.k; ++k) {
            const unsigned block = k / (f.k / f.blocks);
            sum += valueOf(f.a, a[i / 8 * f.k + k]) * scaleOf(f.isUe4m3, scaleA[i / 8 * f.blocks + block]) *
                   valueOf(f.b, b[k * 8 + i % 8]) * scaleOf(f.isUe4m3, scaleB[i % 8 * f.blocks + block]);
          }
          isRight &= result[i] == std::bit_cast<uint32_t>(static_cast<float>(sum));
        }
        CHECK(isRight);
        // A NaN among the scales in use is one in its row only.
        forA.data[4 * 3 + 2 * aThread] = ~uint64_t{0};
        multiplyScaled(*shape, toRegisters(form.a, aRaw, 0), forA, toRegisters(form.b, bRaw, 0), forB,
                       toRegisters(form.d, cRaw, 0), d);
        const auto withNaN = toMatrix(form.d, d);
        for (unsigned i = 0; i < 128; ++i) isRight &= withNaN[i] == (i / 8 == 3 ? 0x7fffffff : result[i]);
        CHECK(isRight);
      }
    }
    CHECK_FALSE(areSelectors(*shape, Matrix::A, {{}, 0, 2}));
    CHECK_FALSE(areSelectors(*shape, Matrix::B, {{}, 0, 4}));
    CHECK(areSelectors(*shape, Matrix::B, {{}, 1, 0}) == (f.blocks == 1));
  }
}

TEST_CASE("exec matrix: block-scaled forms that there are not") {
  for (const char* text : {
           "sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
           "sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0",
           "sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3",
           "sync.aligned.m16n8k32.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
           "sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e4m3.e2m1.f32.ue8m0",
           "sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::2X.f32.e4m3.e4m3.f32.ue8m0",
           "sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0",
           "sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32",
           "sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0",
       }) {
    CAPTURE(text);
    CHECK_FALSE(scaledMmaShape(split(text)));
  }
}
