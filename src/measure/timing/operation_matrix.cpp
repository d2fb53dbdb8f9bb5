// Each opcode of tensor cores has a function that reads shape, type and sparsity from its bits. A sparse product counts
// as a dense one of half its depth, and a warpgroup's by its number of columns.
#include "timing/operation_parts.h"

namespace ptxopt::timing {
namespace {

using sass::Opcode;
using sass::Word;

// The step of a product of 8x8x4; everything else is 0x23c.
constexpr uint32_t kHalf884 = 0x236;
constexpr uint32_t kTf32 = 2;

// HMMA: bits 75 and 78 are the shape, 76 a sum of single precision, 82 and 83 the type, 73 a sparse operand. A sparse
// product takes as long as a dense one of half its depth.
Kind halfKind(Word word, const sass::Instruction& i, const target::Target& target) {
  if ((i.encoding & kEncodingWithoutUniform) == kHalf884) return Kind::MatrixHalf884;
  const uint32_t shape = word.bits(75, 1) | word.bits(78, 1) << 1;
  const bool isSparse = target.has(target::Capability::SparseMatrices) && word.bits(73, 1) != 0;
  if (word.bits(82, 2) == kTf32) {
    // Dense: 0 is 16x8x8, 2 is 16x8x4. Sparse: 0 is 16x8x8, 1 is 16x8x16.
    const bool isDeep = isSparse ? shape == 1 : shape == 0;
    return isDeep ? Kind::MatrixTf1688 : Kind::MatrixTf1684;
  }
  // Dense: 0 is 16x8x8, 1 is 16x8x16. Sparse: 1 is 16x8x16, 3 is 16x8x32.
  const bool isDeep = isSparse ? shape == 3 : shape == 1;
  const bool sumsSingle = word.bits(76, 1) != 0;
  if (sumsSingle) return isDeep ? Kind::MatrixHalf16816 : Kind::MatrixHalf1688;
  return isDeep ? Kind::MatrixHalf16816Sum16 : Kind::MatrixHalf1688Sum16;
}

// IMMA: bits 75, 85 and 86 are the shape, 83 and 84 operands of 4 bits, 72 a sparse operand.
Kind integerKind(Word word) {
  const uint32_t shape = word.bits(75, 1) | word.bits(85, 2) << 1;
  const bool isNibble = word.bits(83, 2) != 0;
  const bool isSparse = word.bits(72, 1) != 0;
  // Dense: 8x8x16, -, 8x8x32, -, 16x8x16, 16x8x32, 16x8x64. Sparse: 5 is 16x8x32, 6 is 16x8x64, 7 is 16x8x128.
  if (isSparse) {
    if (isNibble) return shape == 6 ? Kind::MatrixNibble16832 : Kind::MatrixNibble16864;
    return shape == 5 ? Kind::MatrixByte16816 : Kind::MatrixByte16832;
  }
  if (isNibble)
    return shape == 2 ? Kind::MatrixNibble8832 : shape == 6 ? Kind::MatrixNibble16864 : Kind::MatrixNibble16832;
  return shape == 0 ? Kind::MatrixByte8816 : shape == 4 ? Kind::MatrixByte16816 : Kind::MatrixByte16832;
}

// BMMA: bits 75 and 76.
Kind bitKind(Word word) {
  switch (word.bits(75, 2)) {
    case 0: return Kind::MatrixBit88128;
    case 1: return Kind::MatrixBit168128;
    default: return Kind::MatrixBit168256;
  }
}

// QMMA: bits 75 and 76 are the shape, 77 a sum of single precision, bit 10 of the encoding scales. A sparse product has
// twice the depth.
Kind quarterKind(Word word) {
  constexpr uint32_t kScaled = 0x400;               // of the encoding
  const bool isScaled = (word.low & kScaled) != 0;  // always deep, with sums of single precision
  const bool isDeep = isScaled || word.bits(75, 2) != 0;
  const bool sumsSingle = isScaled || word.bits(77, 1) != 0;
  if (sumsSingle) return isDeep ? Kind::MatrixQuarter16832 : Kind::MatrixQuarter16816;
  return isDeep ? Kind::MatrixQuarter16832Sum16 : Kind::MatrixQuarter16816Sum16;
}

// DMMA: bits 76 and 77.
Kind doubleKind(Word word) {
  constexpr Kind kKinds[] = {Kind::MatrixFp64x884, Kind::MatrixFp64x1684, Kind::MatrixFp64x1688,
                             Kind::MatrixFp64x16816};
  return kKinds[word.bits(76, 2)];
}

// The columns of a product of a warpgroup by 8, from bits 53 to 59: every multiple of 8 up to 256 of floating-point
// numbers; of integers, in three depths, and of bits 8, 16, 24, 32, 48, 64 and so on.
uint16_t columnsOf(Word word, Opcode opcode) {
  const uint32_t size = word.bits(53, 7);
  if (opcode == Opcode::HGMMA || opcode == Opcode::QGMMA) return static_cast<uint16_t>(size % 32 + 1);
  const uint32_t index = opcode == Opcode::IGMMA ? size / 3 : size;
  return static_cast<uint16_t>(index < 4 ? index + 1 : 2 * (index - 1));
}

}  // namespace

void setMatrix(Operation& operation, Word word, const sass::Instruction& i, const target::Target& target) {
  switch (i.opcode) {
    case Opcode::HMMA: operation.kind = halfKind(word, i, target); break;
    case Opcode::IMMA: operation.kind = integerKind(word); break;
    case Opcode::BMMA: operation.kind = bitKind(word); break;
    case Opcode::QMMA: operation.kind = quarterKind(word); break;
    case Opcode::DMMA: operation.kind = doubleKind(word); break;
    case Opcode::HGMMA:
    case Opcode::IGMMA:
    case Opcode::BGMMA:
    case Opcode::QGMMA: operation.repeats = columnsOf(word, i.opcode); break;
    default: break;
  }
}

}  // namespace ptxopt::timing
