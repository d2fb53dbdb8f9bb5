// Instructions to be put in and to be replaced, noted first and made at once, so that the analyses that a plan is
// made from hold until it is complete. Registers that the new instructions need are numbered temporaries until
// apply().
#pragma once

#include <array>
#include <span>
#include <vector>

#include "ir/module.h"

namespace ptxopt {

class Edits {
 public:
  static constexpr std::size_t kMostOperands = 4;
  using Operands = std::array<Operand, kMostOperands>;

  bool empty() const { return edits_.empty(); }
  std::size_t size() const { return edits_.size(); }

  // A register that is made later: the operand that writes it, which temporaries are read by with asUse().
  Operand temporary(ScalarType type) {
    types_.push_back(type);
    return registerOperand(RegId(kTemporary | static_cast<uint32_t>(types_.size() - 1)), Role::Def);
  }
  static Operand asUse(Operand o) {
    if (o.isRegister()) o.role = Role::Use;
    o.join = Join::Comma;
    return o;
  }
  // `{lower, upper}` as a source: before the lower half.
  static Operand pair() { return pairOperand(Join::Comma); }
  static Operand asFirst(Operand o) {
    o.role = Role::Use;
    o.join = Join::None;
    return o;
  }
  static Operand number(int64_t value) {
    Operand o;
    o.kind = OperandKind::Integer;
    o.join = Join::Comma;
    o.payload = static_cast<uint32_t>(value);
    return o;
  }

  // A new instruction before `at`, after those noted for it before. The first operand is the result.
  void insert(InstrId at, SynthOpcode opcode, std::initializer_list<Operand> operands) {
    note(at, opcode, operands, true);
  }
  // `at` computes its result in another way; its guard stays.
  void replace(InstrId at, SynthOpcode opcode, std::initializer_list<Operand> sources) {
    note(at, opcode, sources, false);
  }
  void apply(const Module& module, Function& f);

 private:
  static constexpr uint32_t kTemporary = 1u << 31;

  struct Edit {
    InstrId at;
    SynthOpcode opcode;
    bool isNew;
    uint8_t count;
    Operands operands;
  };

  void note(InstrId at, SynthOpcode opcode, std::initializer_list<Operand> operands, bool isNew);

  std::vector<Edit> edits_;
  std::vector<ScalarType> types_;  // of the temporaries
};

}  // namespace ptxopt
