// A table of 2^13 entries maps the encoding, 12 bits and bit 91, to the opcode; variants are then found by masks on the
// whole word. Fields are taken from fixed bits.
#include "sass/decode.h"

#include <cstring>
#include <initializer_list>
#include <map>
#include <mutex>

namespace ptxopt::sass {
namespace {

constexpr std::size_t kEncodings = 1 << 13;
constexpr unsigned kOffsetScale = 4;  // offsets count in 4 bytes

// Forms of the opcodes of control, by bits 9 to 11 of the opcode.
constexpr uint32_t kFormRegister = 1, kFormUniformPredicate = 2, kFormImmediate = 4;

std::vector<Opcode> makeOpcodes(uint32_t architecture) {
  std::vector<Opcode> opcodes(kEncodings, Opcode::Unknown);
  [[maybe_unused]] const auto add = [&](Opcode opcode, uint32_t first, uint32_t last,
                                        std::initializer_list<uint16_t> encodings) {
    if (first <= architecture && architecture <= last)
      for (const uint16_t encoding : encodings) opcodes[encoding] = opcode;
  };
#define SASS_ENCODINGS(opcode, first, last, ...) add(Opcode::opcode, first, last, {__VA_ARGS__});
#include "sass/encodings.def"
  return opcodes;
}

// Made once: kernels are many, and small.
const std::vector<Opcode>& opcodesOf(uint32_t architecture) {
  static std::mutex mutex;
  static std::map<uint32_t, std::vector<Opcode>> all;
  const std::lock_guard lock(mutex);
  const auto [at, isNew] = all.try_emplace(architecture);
  if (isNew) at->second = makeOpcodes(architecture);
  return at->second;
}

int64_t signExtend(uint64_t value, unsigned bits) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

Predicate predicateAt(Word word, unsigned first) {
  return {static_cast<uint8_t>(word.bits(first, 3)), word.bits(first + 3, 1) != 0};
}

Control controlOf(Word word) {
  Control control;
  control.stall = static_cast<uint8_t>(word.bits(105, 4));
  control.yields = word.bits(109, 1) == 0;
  control.writeScoreboard = static_cast<uint8_t>(word.bits(110, 3));
  control.readScoreboard = static_cast<uint8_t>(word.bits(113, 3));
  control.waits = static_cast<uint8_t>(word.bits(116, 6));
  control.reuse = static_cast<uint8_t>(word.bits(122, 4));
  return control;
}

// Branches have a second predicate beside the guard, and conditions of their own: on a uniform predicate, on whether
// the warp has diverged (.DIV) or converged (.CONV).
bool isConditional(Word word, const Instruction& i) {
  if (i.flow() != Flow::Branch && i.flow() != Flow::IndirectBranch && i.flow() != Flow::Exit &&
      i.flow() != Flow::Return)
    return false;
  if (!i.guard.isAlways() || !predicateAt(word, 87).isAlways()) return true;
  if (i.flow() != Flow::Branch) return false;
  const bool onUniformPredicate = (word.bits(9, 3) & ~uint32_t{kFormRegister}) == kFormUniformPredicate;
  if (onUniformPredicate) return !predicateAt(word, 24).isAlways();
  return word.bits(32, 2) >= 2;
}

}  // namespace

Decoder::Decoder(const target::Target& target)
    : splitsOffsets_(target.has(target::Capability::SplitBranchOffsets)), opcodes_(&opcodesOf(target.encodings())) {
  const auto add = [&](Opcode opcode, Opcode of, uint32_t first, uint32_t last,
                       std::initializer_list<unsigned> bits, uint32_t value) {
    if (target.encodings() < first || last < target.encodings()) return;
    Variant variant{opcode, of, {}, {}};
    for (std::size_t left = bits.size(); const unsigned bit : bits) {
      const uint64_t one = uint64_t{1} << bit % 64;
      (bit < 64 ? variant.mask.low : variant.mask.high) |= one;
      if ((value >> --left & 1) != 0) (bit < 64 ? variant.value.low : variant.value.high) |= one;
    }
    variants_.push_back(variant);
  };
#define SASS_VARIANT(opcode, of, first, last, bits, value) \
  add(Opcode::opcode, Opcode::of, first, last, bits, value);
#include "sass/variants.def"
}

Opcode Decoder::opcodeOf(Word word, uint16_t encoding) const {
  const Opcode opcode = (*opcodes_)[encoding];
  for (const Variant& v : variants_)
    if (v.of == opcode && (word.low & v.mask.low) == v.value.low && (word.high & v.mask.high) == v.value.high)
      return v.opcode;
  return opcode;
}

// The signed immediate of branches and calls, in bytes.
int64_t Decoder::immediate(Word word) const {
  const uint64_t upper = uint64_t{word.bits(34, 30)} | uint64_t{word.bits(64, 18)} << 30;
  if (!splitsOffsets_) return signExtend(upper, 48) * kOffsetScale;
  return signExtend(upper << 8 | word.bits(16, 8), 56) * kOffsetScale;
}

std::optional<int64_t> Decoder::targetOf(Word word, Opcode opcode, int64_t at) const {
  const uint32_t form = word.bits(9, 3);
  const int64_t next = at + kInstructionBytes;
  switch (opcode) {
    case Opcode::BRA: return next + immediate(word);
    case Opcode::CALL: {
      const bool isRelative = (word.bits(0, 9) & 1) == 0;  // 0x944; 0x943 is absolute
      if (form != kFormImmediate || word.bits(91, 1) != 0) return std::nullopt;
      return isRelative ? next + immediate(word) : immediate(word);
    }
    case Opcode::JMP:
      if ((form & kFormRegister) != 0) return std::nullopt;  // in a constant
      return immediate(word);
    case Opcode::BSSY: return next + signExtend(word.bits(34, 30), 30) * kOffsetScale;
    case Opcode::WARPSYNC: {
      constexpr uint32_t kCollective = 2;
      if (!splitsOffsets_ || word.bits(85, 2) != kCollective) return std::nullopt;  // of sm_90 and newer
      return next + immediate(word);
    }
    default: return std::nullopt;
  }
}

Instruction Decoder::decode(Word word, int64_t at) const {
  Instruction i;
  i.encoding = static_cast<uint16_t>(word.bits(0, 12) | word.bits(91, 1) << 12);
  i.opcode = opcodeOf(word, i.encoding);
  i.guard = predicateAt(word, 12);
  i.control = controlOf(word);
  i.isConditional = isConditional(word, i);
  i.target = targetOf(word, i.opcode, at);
  return i;
}

std::vector<Instruction> Decoder::decode(std::string_view text) const {
  std::vector<Instruction> instructions;
  instructions.reserve(text.size() / kInstructionBytes);
  for (std::size_t at = 0; at + kInstructionBytes <= text.size(); at += kInstructionBytes) {
    Word word;
    std::memcpy(&word.low, text.data() + at, 8);
    std::memcpy(&word.high, text.data() + at + 8, 8);
    instructions.push_back(decode(word, static_cast<int64_t>(at)));
  }
  return instructions;
}

std::size_t countWithoutPadding(const std::vector<Instruction>& instructions) {
  std::size_t count = instructions.size();
  while (count != 0 && instructions[count - 1].opcode == Opcode::NOP) --count;
  if (count != 0 && instructions[count - 1].opcode == Opcode::BRA &&
      instructions[count - 1].target == static_cast<int64_t>((count - 1) * kInstructionBytes))
    --count;
  return count;
}

}  // namespace ptxopt::sass
