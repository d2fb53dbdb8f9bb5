// The operands of an instruction as the text counts them: without the guard and what is implicit, commas inside
// groups not counted. If there are more than eight, the first eight. Cost: linear in the entries.
#pragma once

#include <array>
#include <span>

#include "ir/instruction.h"

namespace ptxopt {

class PlainOperands {
 public:
  explicit PlainOperands(std::span<const Operand> operands) : operands_(operands) {
    bool afterCast = false;  // what is cast stands without a comma
    const auto count = static_cast<uint32_t>(operands.size());
    for (uint32_t at = 0; at < count;) {
      const Operand& o = operands[at];
      const uint32_t begin = at;
      at += 1 + o.inside();
      if (o.is(Operand::Guard)) continue;
      if (o.is(Operand::Implicit)) break;
      const bool begins = size_ == 0 || beginsOperand(o, afterCast);
      afterCast = o.kind == OperandKind::Cast;
      if (begins && size_ == kMost) break;
      if (begins) runs_[size_++].begin = begin;
      runs_[size_ - 1].end = at;
    }
  }

  // Whether all entries are in the text and are operands of their own, and no more than eight.
  static bool areSingle(std::span<const Operand> operands) {
    if (operands.size() > kMost) return false;
    bool afterCast = false;
    for (const Operand& o : operands) {
      if (o.inside() != 0 || o.is(Operand::Guard) || o.is(Operand::Implicit)) return false;
      if (&o != operands.data() && !beginsOperand(o, afterCast)) return false;
      afterCast = o.kind == OperandKind::Cast;
    }
    return true;
  }

  std::size_t size() const { return size_; }
  // All entries of one: `p|q` are two, an expression and `[a+4]` several.
  std::span<const Operand> operator[](std::size_t index) const {
    return operands_.subspan(runs_[index].begin, runs_[index].end - runs_[index].begin);
  }
  // The entry of an operand that consists of one, no group; nullptr for all others.
  const Operand* single(std::size_t index) const {
    if (index >= size_ || runs_[index].end - runs_[index].begin != 1) return nullptr;
    const Operand* const o = &operands_[runs_[index].begin];
    return o->isGroup() ? nullptr : o;
  }

 private:
  static constexpr std::size_t kMost = 8;
  // Whether an entry that is not the first begins an operand.
  static bool beginsOperand(const Operand& o, bool afterCast) {
    return (o.join == Join::None && !afterCast) || o.join == Join::Comma;
  }
  struct Run {
    uint32_t begin = 0, end = 0;
  };
  std::span<const Operand> operands_;
  std::array<Run, kMost> runs_;
  std::size_t size_ = 0;
};

}  // namespace ptxopt
