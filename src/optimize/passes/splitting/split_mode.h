// A mode of splitting: what carries a value while its register is dead.
//
// A plan has modes of its own, because they count what they have given away, and asks them in order. A register is
// split by the first mode that has no reason against it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "passes/splitting/register_split.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {

// What a plan has picked so far, by RegId.
struct PickedRegisters {
  std::vector<bool> isSplit;
  std::vector<bool> isOperand;  // of a definition that is recomputed: it must not be split itself
};

class SplitMode {
 public:
  enum class Kind : uint8_t { Copy, Remat, Shared };

  explicit SplitMode(Kind kind) : kind_(kind) {}
  SplitMode(const SplitMode&) = delete;
  virtual ~SplitMode() = default;
  Kind kind() const { return kind_; }

  // ---- planning ----

  // Why the register cannot be split in this mode; empty when it can.
  virtual std::string_view whyNot(const RegisterSplit& s, const HighPoints& high) const = 0;
  // Whether the split still fits with those that were picked. Counts why not, if that is worth telling.
  virtual bool mayPick(const RegisterSplit&, const PickedRegisters&, MissedRemarks&) const { return true; }
  virtual void pick(RegisterSplit&, PickedRegisters&) {}

  // ---- rewriting, in this order ----

  virtual void begin(Function&) {}
  virtual void beginSplit(Function&, RegisterSplit&) {}
  // Whether the value is taken over after each definition.
  virtual bool takesOver() const { return true; }
  // The places that follow are in another block.
  virtual void beginBlock() {}
  virtual void takeOver(Function&, const RegisterSplit&, InstrId /*place*/) {}
  virtual void writeAgain(Function& f, const RegisterSplit& s, InstrId place) = 0;
  virtual void end(Function&) {}

 private:
  Kind kind_;
};

}  // namespace ptxopt
