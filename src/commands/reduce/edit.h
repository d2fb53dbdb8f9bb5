// One candidate in the making: a module parsed from the base text, and the edits that a reduction makes in it.
//
// A reduction edits either the representation (erase, setOperands, ...), or the text, by cuts of the source; not
// both at once. Edits need only print right: the candidate's text is parsed again before anyone sees it, and that
// is where roles, implicit operands and names are worked out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"

namespace ptxopt::reduce {

// Which of a reduction's opportunities are to be taken in this candidate. A reduction asks once for each, in an
// order that depends on the base text alone, never on the results.
class Choices {
 public:
  // Counts only: no opportunity is taken.
  Choices() = default;
  explicit Choices(const std::vector<bool>& taken) : taken_(&taken) {}
  bool take() {
    const std::size_t i = asked_++;
    return taken_ != nullptr && i < taken_->size() && (*taken_)[i];
  }
  std::size_t asked() const { return asked_; }

 private:
  const std::vector<bool>* taken_ = nullptr;
  std::size_t asked_ = 0;
};

class Edit {
 public:
  explicit Edit(Module& m) : module(m) {}

  Module& module;

  // ---- the representation ----
  // Calls `visit(function, id)` for every statement; visit may erase it.
  void forEachStatement(const std::function<void(Function&, InstrId)>& visit);
  // The same for real instructions.
  void forEachInstruction(const std::function<void(Function&, InstrId)>& visit);
  void setOperands(Function& f, InstrId id, const std::vector<Operand>& operands);
  void dropGuard(Function& f, InstrId id);
  void setOpcode(Function& f, InstrId id, std::string_view text);
  Operand constant64(Function& f, OperandKind kind, uint64_t value);

  // ---- the text ----
  void cut(SourceRange range) { replace(range, {}); }
  void replace(SourceRange range, std::string text) { cuts_.push_back({range, std::move(text)}); }
  bool hasCuts() const { return !cuts_.empty(); }
  // The source with all cuts made; of two that overlap the later one in the text is left out.
  std::string cutText() const;

 private:
  struct Cut {
    SourceRange range;
    std::string text;
  };
  std::vector<Cut> cuts_;
};

// The first index after the entry at `at` with all that is inside it; a register's selector counts as inside.
std::size_t afterEntry(std::span<const Operand> operands, std::size_t at);
// Index of the first operand that is not the guard.
inline std::size_t firstAfterGuard(const Instruction& i) { return i.is(Instruction::Guarded) ? 1 : 0; }

}  // namespace ptxopt::reduce
