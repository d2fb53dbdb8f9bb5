// The list is checked first, since all else walks it; then each instruction's operands, groups, ids and braces; then
// labels. The first fault found is reported.
#include "ir/verify.h"

#include <fmt/format.h>

#include <vector>

namespace ptxopt {
namespace {

class Verifier {
 public:
  Verifier(const Module& module, const Function& function) : module_(module), f_(function) {}

  std::string run() {
    if (f_.registers.empty()) return "no carry register";
    checkList();
    if (error_.empty())  // else the list cannot be walked
      for (const InstrId id : f_)
        if (error_.empty()) checkInstruction(id);
    if (error_.empty()) checkLabels();
    return error_.empty() ? error_ : fmt::format("{}: {}", module_.text(f_.name), error_);
  }

 private:
  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }
  void failAt(InstrId id, std::string_view message) { fail(fmt::format("instruction {}: {}", id.value, message)); }

  void checkList() {
    InstrId previous;
    std::size_t count = 0;
    for (InstrId id = f_.first; id.valid(); id = f_[id].next) {
      if (id.value >= f_.instructions.size()) return failAt(id, "no such instruction");
      if (f_[id].previous != previous) return failAt(id, "the list does not lead back");
      if (f_[id].is(Instruction::Erased)) return failAt(id, "erased, but in the list");
      if (++count > f_.instructions.size()) return fail("the list is a cycle");
      previous = id;
    }
    if (f_.last != previous) return fail("the list ends elsewhere than at its last instruction");
    std::size_t kept = 0;
    for (const Instruction& i : f_.instructions) kept += !i.is(Instruction::Erased);
    if (kept != count) fail("an instruction is neither in the list nor erased");
  }

  void checkInstruction(InstrId id) {
    const Instruction& i = f_[id];
    if (std::size_t{i.firstOperand} + i.operandCount > f_.operands.size())
      return failAt(id, "operands out of range");
    if (i.sourceBegin > i.sourceEnd || i.sourceEnd > module_.source.size())
      return failAt(id, "source out of range");
    if (i.kind == InstrKind::ScopeOpen) ++depth_;
    if (i.kind == InstrKind::ScopeClose && --depth_ < 0) return failAt(id, "unbalanced scope");
    if (i.kind == InstrKind::Label && (i.payload >= f_.labels.size() || f_.labels[i.payload].place != id))
      return failAt(id, "a label that is not placed here");
    if (i.kind == InstrKind::Instruction && i.payload >= module_.opcodes.size())
      return failAt(id, "no such opcode");

    const auto operands = f_.operandsOf(i);
    const bool guarded = i.is(Instruction::Guarded);
    if (guarded && (operands.empty() || !operands[0].isRegister() || !operands[0].is(Operand::Guard)))
      return failAt(id, "no guard where there should be one");
    if (guarded &&
        (operands[0].payload >= f_.registers.size() || f_.registers[operands[0].payload].type != ScalarType::pred))
      return failAt(id, "a guard that is not a predicate");
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const Operand& o = operands[k];
      if (k + o.inside() >= operands.size() && o.isGroup() && o.inside() > operands.size() - k - 1)
        return failAt(id, "a group larger than its instruction");
      if (std::string_view problem = checkOperand(i, o, guarded); !problem.empty()) return failAt(id, problem);
    }
  }

  std::string_view checkOperand(const Instruction& i, const Operand& o, bool guarded) {
    const auto within = [&](std::size_t size) { return o.payload < size ? "" : "an operand's id is out of range"; };
    switch (o.kind) {
      case OperandKind::Register:
        if (o.payload >= f_.registers.size()) return "no such register";
        if (o.role == Role::None && i.isInstruction()) return "a register without a role";
        if (o.role == Role::Def && guarded) return "a definition under a guard that is not mod";
        return "";
      case OperandKind::WideInteger:
      case OperandKind::Float64:
      case OperandKind::Decimal: return within(f_.constants.size());
      case OperandKind::Label:
        if (o.payload < f_.labels.size()) used_.push_back(LabelId(o.payload));
        return within(f_.labels.size());
      case OperandKind::Variable: return within(f_.variables.size());
      case OperandKind::Symbol: return within(module_.symbols.size());
      case OperandKind::SpecialRegister:
      case OperandKind::Builtin:
      case OperandKind::Selector:
      case OperandKind::Cast: return within(module_.names.size());
      default: return "";
    }
  }

  void checkLabels() {
    if (depth_ != 0) fail("unbalanced scopes");
    for (const LabelId label : used_) {
      const InstrId place = f_.labels[label.value].place;
      if (!place.valid() || f_[place].is(Instruction::Erased))
        fail(fmt::format("label '{}' is used but not placed", f_.labels[label.value].name.valid()
                                                                  ? module_.text(f_.labels[label.value].name)
                                                                  : std::string_view("(made)")));
    }
  }

  const Module& module_;
  const Function& f_;
  std::string error_;
  int depth_ = 0;
  std::vector<LabelId> used_;
};

}  // namespace

std::string verify(const Module& module, const Function& function) {
  return function.hasBody ? Verifier(module, function).run() : std::string();
}

std::string verify(const Module& module) {
  for (const Function& f : module.functions)
    if (std::string error = verify(module, f); !error.empty()) return error;
  return {};
}

}  // namespace ptxopt
