// The kind of an instruction gives its space and whether it reads or writes; its size comes from bits 73 to 75 and
// their like, by opcode and target. Which bits mean what was found by comparing with NVIDIA's disassembler.
#include "timing/operation_parts.h"

namespace ptxopt::timing {
namespace {

using sass::Opcode;
using sass::Word;

constexpr uint32_t kNoRegister = 0xff;  // RZ

// Bits 73 to 75 of loads and stores: U8, S8, U16, S16, 32, 64, 128, and of sm_75 U.128 bits.
uint16_t sizeOf(uint32_t field) {
  constexpr uint16_t kSizes[] = {1, 1, 2, 2, 4, 8, 16, 16};
  return kSizes[field];
}

// Loads and stores of 32 bytes have encodings of their own.
constexpr uint32_t kLoad256 = 0x97e, kStore256 = 0x97f;

// LDGSTS: 4, 8 or 16 bytes; 73 and 74 until sm_90, then 74 and 75.
uint16_t copySizeOf(Word word, const target::Target& target) {
  const uint32_t field = word.bits(target.has(target::Capability::ShiftedCopySize) ? 74 : 73, 2);
  return field < 3 ? static_cast<uint16_t>(4 << field) : 0;
}

// Atomics, by bits 73 to 75, on integers and, until sm_89, all others: U32, S32, U64, then by operation: F32 or S64;
// F16x2 or 128 bits; S64; F64. Bits 87 to 90 have the operation: 0 an addition, 8 an exchange. A comparison and exchange
// has no operation, and is of 32, 64 or 128 bits.
uint16_t atomicSizeOf(Word word, bool reduces, bool compares) {
  const uint32_t operation = compares ? 1 : word.bits(87, reduces ? 3 : 4);
  switch (word.bits(73, 3)) {
    case 0:
    case 1: return 4;
    case 3: return operation == 0 ? 4 : 8;
    case 4: return operation == 0 ? 4 : 16;
    default: return 8;
  }
}

// On floating-point numbers from sm_90 on: encodings of their own. Bit 76 distinguishes vectors of half precision from
// others.
uint16_t floatAtomicSizeOf(Word word, bool hasVectors) {
  constexpr uint16_t kScalar[] = {4, 4, 8, 16, 4, 8, 16, 8};
  constexpr uint16_t kHalf[] = {4, 8, 16, 4, 8, 16, 4, 8};
  constexpr uint16_t kGeneric[] = {4, 4, 4, 4, 4, 8, 16, 8};
  const uint32_t field = word.bits(73, 3);
  if (!hasVectors) return kGeneric[field];
  return word.bits(76, 1) != 0 ? kScalar[field] : kHalf[field];
}

bool isFloatAtomic(const sass::Instruction& i) {
  const uint32_t encoding = i.encoding & kEncodingWithoutUniform;
  return encoding == 0x3a2 || encoding == 0x9a2 || encoding == 0x3a3 || encoding == 0x9a3 || encoding == 0x9a6;
}

bool isCompareExchange(const sass::Instruction& i) {
  const uint32_t encoding = i.encoding & kEncodingWithoutUniform;
  return encoding == 0x38b || encoding == 0x3a9 || encoding == 0x38d || encoding == 0x58d;
}

uint16_t bytesOf(Word word, const sass::Instruction& i, const target::Target& target) {
  switch (i.opcode) {
    case Opcode::LDG:
    case Opcode::STG: {
      const uint32_t encoding = i.encoding & kEncodingWithoutUniform;
      if (encoding == kLoad256 || encoding == kStore256) return 32;
      return sizeOf(word.bits(73, 3));
    }
    case Opcode::LD:
    case Opcode::ST:
    case Opcode::LDS:
    case Opcode::STS:
    case Opcode::STAS:
    case Opcode::LDL:
    case Opcode::STL:
    case Opcode::LDC:
    case Opcode::LDCU:
    case Opcode::ULDC: return sizeOf(word.bits(73, 3));
    case Opcode::LDGSTS: return copySizeOf(word, target);
    case Opcode::LDSM:
    case Opcode::STSM: return static_cast<uint16_t>(4 << word.bits(72, 2));
    case Opcode::ATOM:
    case Opcode::ATOMG:
    case Opcode::ATOMS:
      if (isFloatAtomic(i)) return floatAtomicSizeOf(word, i.opcode == Opcode::ATOMG);
      return atomicSizeOf(word, false, isCompareExchange(i));
    case Opcode::RED:
    case Opcode::REDG:
    case Opcode::REDAS:
      if (isFloatAtomic(i)) return floatAtomicSizeOf(word, true);
      return atomicSizeOf(word, true, false);
    default: return 0;
  }
}

// LDC has its offset in another register field than loads of other spaces, but no register there either if it is uniform.
bool hasUniformAddress(Word word, const sass::Instruction& i) {
  if (sass::pipeOf(i.opcode) == sass::Pipe::Uniform) return true;
  return word.bits(24, 8) == kNoRegister;
}

void set(Operation& operation, Space space, bool reads, bool writes) {
  operation.space = space;
  operation.reads = reads;
  operation.writes = writes;
}

}  // namespace

void setMemory(Operation& operation, Word word, const sass::Instruction& i, const target::Target& target) {
  switch (operation.kind) {
    case Kind::GlobalLoad: set(operation, Space::Global, true, false); break;
    case Kind::GlobalStore: set(operation, Space::Global, false, true); break;
    case Kind::GlobalAtomic: set(operation, Space::Global, true, true); break;
    case Kind::GlobalReduction: set(operation, Space::Global, false, true); break;
    case Kind::AsyncCopy: set(operation, Space::Global, true, true); break;
    case Kind::AsyncCommit: return set(operation, Space::Global, true, false);
    case Kind::SharedLoad:
    case Kind::MatrixLoad: set(operation, Space::Shared, true, false); break;
    case Kind::SharedStore:
    case Kind::MatrixStore: set(operation, Space::Shared, false, true); break;
    case Kind::SharedAtomic: set(operation, Space::Shared, true, true); break;
    case Kind::LocalLoad:
      set(operation, Space::Local, true, false);
      return void(operation.bytes = bytesOf(word, i, target));
    case Kind::LocalStore:
      set(operation, Space::Local, false, true);
      return void(operation.bytes = bytesOf(word, i, target));
    case Kind::ConstantLoad:
    case Kind::UniformConstant: set(operation, Space::Constant, true, false); break;
    case Kind::Texture: set(operation, Space::Texture, true, false); return;
    case Kind::Surface:
      set(operation, Space::Texture, i.opcode != Opcode::SUST && i.opcode != Opcode::SURED,
          i.opcode != Opcode::SULD && i.opcode != Opcode::SUQUERY);
      return;
    default: return;
  }
  operation.bytes = bytesOf(word, i, target);
  operation.isUniform = operation.kind != Kind::MatrixLoad && operation.kind != Kind::MatrixStore &&
                        operation.kind != Kind::AsyncCopy && hasUniformAddress(word, i);
  constexpr uint16_t kWide = 16;
  if (operation.kind == Kind::GlobalLoad && operation.bytes >= kWide) operation.kind = Kind::GlobalLoadWide;
}

}  // namespace ptxopt::timing
