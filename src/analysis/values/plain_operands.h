// The operands of an instruction as the text counts them: without the guard and what is implicit, commas inside
// groups not counted. Of what has more than eight, the first eight. Cost: linear in the entries.
#pragma once

#include <array>
#include <span>

#include "ir/instruction.h"

namespace ptxopt {

class PlainOperands {
 public:
  explicit PlainOperands(std::span<const Operand> operands) {
    bool afterCast = false;  // what is cast stands without a comma
    for (std::size_t at = 0; at < operands.size(); at += 1 + operands[at].inside()) {
      const Operand& o = operands[at];
      if (o.is(Operand::Guard)) continue;
      if (o.is(Operand::Implicit)) break;
      const bool begins = (o.join == Join::None && !afterCast) || o.join == Join::Comma || size_ == 0;
      afterCast = o.kind == OperandKind::Cast;
      if (begins && size_ == kMost) break;
      if (begins) runs_[size_++] = operands.subspan(at, 0);
      const std::size_t begin = static_cast<std::size_t>(runs_[size_ - 1].data() - operands.data());
      runs_[size_ - 1] = operands.subspan(begin, at + 1 + o.inside() - begin);
    }
  }

  std::size_t size() const { return size_; }
  // All entries of one: `p|q` are two, an expression and `[a+4]` several.
  std::span<const Operand> operator[](std::size_t index) const { return runs_[index]; }
  // The entry of an operand that consists of one, no group; nullptr for all others.
  const Operand* single(std::size_t index) const {
    return index < size_ && runs_[index].size() == 1 && !runs_[index][0].isGroup() ? runs_[index].data() : nullptr;
  }

 private:
  static constexpr std::size_t kMost = 8;
  std::array<std::span<const Operand>, kMost> runs_;
  std::size_t size_ = 0;
};

}  // namespace ptxopt
