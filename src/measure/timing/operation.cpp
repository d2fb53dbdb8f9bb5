// A table gives the kind of each opcode, and single bits refine it; memory and matrices are added by their own files.
// The step of a counter is read from additions of an immediate to the same register.
#include "timing/operation.h"

#include <algorithm>
#include <array>
#include <bit>

#include "timing/operation_parts.h"

namespace ptxopt::timing {
namespace {

using sass::Opcode;
using sass::Pipe;
using sass::Word;

constexpr std::size_t kOpcodes = 1  // Opcode::Unknown
#define SASS_OPCODE(name, mnemonic, pipe, flow) +1
#include "sass/opcodes.def"
    ;
constexpr uint32_t kExponential = 2;         // of MUFU
constexpr uint32_t kBlock = 0, kSystem = 3;  // of MEMBAR; 2 is the device
constexpr unsigned kThreads = 32;
constexpr double kPortion = 128;  // bytes

constexpr Kind kindOf(Pipe pipe) {
  switch (pipe) {
    case Pipe::Alu: return Kind::AluOther;
    case Pipe::Fma: return Kind::Fp32;
    case Pipe::Half: return Kind::Half;
    case Pipe::Double: return Kind::Fp64;
    case Pipe::Memory: return Kind::MemoryOther;
    case Pipe::Uniform: return Kind::Uniform;
    case Pipe::Branch: return Kind::Branch;
    case Pipe::FrontEnd: return Kind::Nothing;
    case Pipe::Unknown: break;
  }
  return Kind::Unknown;
}

constexpr auto kKindOfOpcode = [] {
  std::array<Kind, kOpcodes> kinds{};
  kinds[0] = Kind::Unknown;
#define SASS_OPCODE(name, mnemonic, pipe, flow) kinds[static_cast<std::size_t>(Opcode::name)] = kindOf(Pipe::pipe);
#include "sass/opcodes.def"
#define TIMING_OPCODE(opcode, kind) kinds[static_cast<std::size_t>(Opcode::opcode)] = Kind::kind;
#include "timing/opcodes.def"
  return kinds;
}();

// Conversions have encodings of their own for 64-bit numbers: bits 2 and 4 say which.
bool converts64(const sass::Instruction& i) { return (i.encoding & 0x14) == 0x10; }

// IMAD: 0x24 the low half, 0x25 all 64 bits, 0x27 the high half.
bool multipliesWide(const sass::Instruction& i) { return (i.encoding & 3) != 0; }

Kind formOf(Kind kind, Word word, const sass::Instruction& i) {
  switch (i.opcode) {
    case Opcode::IMAD: return multipliesWide(i) ? Kind::IntegerMultiplyWide : kind;
    case Opcode::IADD: return word.bits(73, 1) != 0 ? Kind::IntegerAdd64 : kind;
    case Opcode::HFMA2: return (i.encoding & 4) != 0 ? Kind::HalfTensor : kind;
    case Opcode::MUFU: return word.bits(74, 4) == kExponential ? Kind::SpecialExponential : kind;
    case Opcode::MEMBAR: {
      const uint32_t scope = word.bits(76, 2);
      return scope == kBlock ? Kind::FenceBlock : scope == kSystem ? Kind::FenceSystem : kind;
    }
    case Opcode::F2F:
    case Opcode::F2I:
    case Opcode::I2F:
    case Opcode::FRND: return converts64(i) ? Kind::Convert64 : kind;
    default: return kind;
  }
}

// Bits 72 to 75, as NVIDIA's disassembler prints them: the negation of the first source; halves of VIADD; .X, the upper half
// of a sum; the negation of the third source.
int32_t stepOf(Word word, const sass::Instruction& i, const target::Target& target) {
  constexpr uint32_t kForm = 0xe00, kImmediate = 0x800;
  if ((i.encoding & kForm) != kImmediate || !i.guard.isAlways() || word.bits(16, 8) != word.bits(24, 8)) return 0;
  const uint32_t third = word.bits(64, 8);
  bool isSum = word.bits(72, 1) == 0 && word.bits(74, 1) == 0;
  switch (i.opcode) {
    case Opcode::IADD: break;
    case Opcode::VIADD:
    case Opcode::UVIADD: isSum = isSum && word.bits(73, 1) == 0; break;
    case Opcode::IADD3: isSum = isSum && third == 255; break;
    case Opcode::UIADD3:
      isSum = isSum && third == (target.has(target::Capability::ManyUniformRegisters) ? 255 : 63);
      break;
    default: return 0;
  }
  return isSum ? std::bit_cast<int32_t>(word.bits(32, 32)) : 0;
}

}  // namespace

Operation operationOf(Word word, const sass::Instruction& i, const target::Target& target) {
  Operation operation{.kind = kKindOfOpcode[static_cast<std::size_t>(i.opcode)]};
  operation.kind = formOf(operation.kind, word, i);
  setMemory(operation, word, i, target);
  setMatrix(operation, word, i, target);
  operation.step = stepOf(word, i, target);
  return operation;
}

double portionsOf(const Operation& operation) {
  if (operation.bytes == 0) return 1;
  if (operation.isUniform && operation.space == Space::Constant) return 1;
  return std::max(1.0, operation.bytes * kThreads / kPortion);
}

uint32_t stallOf(const sass::Control& control) {
  constexpr uint32_t kDrains = 46;
  if (control.stall == 0) return control.yields ? kDrains : 1;
  return control.stall;
}

std::optional<CountedWait> countedWaitOf(Word word, const sass::Instruction& i) {
  if (i.opcode != Opcode::DEPBAR) return std::nullopt;
  const auto empty = static_cast<uint8_t>(word.bits(32, 6));
  if (word.bits(47, 1) != 0)
    return CountedWait{static_cast<uint8_t>(word.bits(44, 3)), static_cast<uint8_t>(word.bits(38, 6)), empty};
  if (empty == 0) return std::nullopt;
  return CountedWait{static_cast<uint8_t>(std::countr_zero(empty)), 0, empty};
}

}  // namespace ptxopt::timing
