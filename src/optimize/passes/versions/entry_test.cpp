// Numbers are compared by exclusive or with what is expected, and all differences are combined by or into one register,
// so that one comparison with zero decides. Multiples give their low bits in the same way; conditions are joined to the
// result last.
#include "passes/versions/entry_test.h"

#include <algorithm>
#include <map>
#include <vector>

namespace ptxopt {
namespace {

class TestWriter {
 public:
  TestWriter(const Module& module, Function& f, InstrId where) : module_(module), f_(f), where_(where) {}

  RegId write(const EntryTest& test) {
    for (std::size_t i = 0; i < test.block.size(); ++i)
      if (const auto exact = test.block[i].exact()) addDifference(readSize(i), static_cast<uint64_t>(*exact));
    for (const ParameterPart& part : test.parts) add(part);
    for (const auto& [mask, bits] : masked_)
      merge(compute(SynthOpcode::AndB32, bits, integerOperand(static_cast<int32_t>(mask))));
    RegId holds;
    if (differs_.valid()) holds = isZero(differs_);
    for (const EntryCondition& condition : test.conditions) {
      const RegId also = condition.emit(module_, f_, where_);
      holds = holds.valid() ? both(holds, also) : also;
    }
    return holds;
  }

  // The difference of the first number that is exact.
  RegId writeZero(const EntryTest& test) {
    for (std::size_t i = 0; i < test.block.size(); ++i)
      if (const auto exact = test.block[i].exact()) return difference(readSize(i), *exact);
    for (const ParameterPart& part : test.parts)
      if (const auto exact = part.number.exact()) {
        const uint32_t bytes = std::min<uint32_t>(part.bytes, 4);
        const uint64_t mask = (uint64_t{1} << bytes * 8) - 1;
        return difference(load(part, 0, bytes), static_cast<int64_t>(static_cast<uint64_t>(*exact) & mask));
      }
    return {};
  }

 private:
  // `add`, as ptxas makes one instruction of it and what is added to it.
  RegId difference(RegId bits, int64_t value) {
    return compute(SynthOpcode::AddS32, bits, integerOperand(static_cast<int32_t>(-static_cast<uint32_t>(value))));
  }

  RegId compute(SynthOpcode opcode, RegId a, Operand b) {
    const RegId to = f_.makeRegister(ScalarType::b32);
    f_.insert(where_, module_.synthOpcode(opcode), std::vector<Operand>{defOperand(to), useOperand(a), b});
    return to;
  }

  RegId readSize(std::size_t component) {
    const RegId to = f_.makeRegister(ScalarType::b32);
    const Operand size{
        .kind = OperandKind::SpecialRegister, .join = Join::Comma, .payload = module_.synth.ntid[component].value};
    f_.insert(where_, module_.synthOpcode(SynthOpcode::MovU32), std::vector<Operand>{defOperand(to), size});
    return to;
  }

  // At most 4 bytes, extended by zeros.
  RegId load(const ParameterPart& part, uint32_t offset, uint32_t bytes) {
    const RegId to = f_.makeRegister(ScalarType::b32);
    std::vector<Operand> operands{defOperand(to)};
    operands.push_back({.kind = OperandKind::Memory, .join = Join::Comma, .payload = 2});
    operands.push_back({.kind = OperandKind::Variable, .payload = f_.parameters[part.parameter].value});
    operands.push_back(integerOperand(static_cast<int32_t>(part.offset + offset), Join::Plus));
    if (part.offset + offset == 0) {
      operands.pop_back();
      operands[1].payload = 1;
    }
    f_.insert(where_, module_.synth.entry.loads[bytes == 1 ? 0 : bytes == 2 ? 1 : 2], operands);
    return to;
  }

  void add(const ParameterPart& part) {
    const auto exact = part.number.exact();
    if (!exact) {
      RegId& bits = masked_[part.number.multiple - 1];
      const RegId low = load(part, 0, std::min<uint32_t>(part.bytes, 4));
      bits = bits.valid() ? compute(SynthOpcode::OrB32, bits, useOperand(low)) : low;
      return;
    }
    const auto value = static_cast<uint64_t>(*exact);
    for (uint32_t at = 0; at < part.bytes; at += 4) {
      const uint32_t bytes = std::min<uint32_t>(part.bytes - at, 4);
      addDifference(load(part, at, bytes), value >> at * 8 & ((uint64_t{1} << bytes * 8) - 1));
    }
  }

  void addDifference(RegId bits, uint64_t value) {
    merge(value == 0 ? bits : compute(SynthOpcode::XorB32, bits, integerOperand(static_cast<int32_t>(value))));
  }
  void merge(RegId bits) {
    differs_ = differs_.valid() ? compute(SynthOpcode::OrB32, differs_, useOperand(bits)) : bits;
  }

  RegId isZero(RegId bits) {
    const RegId to = f_.makeRegister(ScalarType::pred);
    f_.insert(where_, module_.synthOpcode(SynthOpcode::SetpEqS32),
              std::vector<Operand>{defOperand(to), useOperand(bits), integerOperand(0)});
    return to;
  }
  RegId both(RegId a, RegId b) {
    const RegId to = f_.makeRegister(ScalarType::pred);
    f_.insert(where_, module_.synth.entry.both, std::vector<Operand>{defOperand(to), useOperand(a), useOperand(b)});
    return to;
  }

  const Module& module_;
  Function& f_;
  const InstrId where_;
  RegId differs_;                     // some bit of it is 1 where some number differs
  std::map<uint64_t, RegId> masked_;  // by mask: bits that are to be 0
};

}  // namespace

RegId emitEntryTest(const Module& module, Function& f, InstrId where, const EntryTest& test) {
  return TestWriter(module, f, where).write(test);
}

bool hasExactNumber(const EntryTest& test) {
  const auto isExact = [](const NumberFact& number) { return number.exact().has_value(); };
  return std::ranges::any_of(test.block, isExact) ||
         std::ranges::any_of(test.parts, isExact, &ParameterPart::number);
}

RegId emitZero(const Module& module, Function& f, InstrId where, const EntryTest& test) {
  return TestWriter(module, f, where).writeZero(test);
}

}  // namespace ptxopt
