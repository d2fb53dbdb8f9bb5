// Changed operands are appended as a new run and the instruction is pointed at it. Cuts are sorted by where they begin,
// and one that lies in an earlier cut is skipped.
#include "reduce/edit.h"

#include <algorithm>

namespace ptxopt::reduce {

void Edit::forEachStatement(const std::function<void(Function&, InstrId)>& visit) {
  for (Function& f : module.functions)
    if (f.hasBody)
      for (const InstrId id : f) visit(f, id);
}

void Edit::forEachInstruction(const std::function<void(Function&, InstrId)>& visit) {
  forEachStatement([&](Function& f, InstrId id) {
    if (f[id].isInstruction()) visit(f, id);
  });
}

void Edit::setOperands(Function& f, InstrId id, const std::vector<Operand>& operands) {
  Instruction& i = f[id];
  i.firstOperand = static_cast<uint32_t>(f.operands.size());
  i.operandCount = static_cast<uint32_t>(operands.size());
  f.operands.insert(f.operands.end(), operands.begin(), operands.end());
  f.touch(id);
}

void Edit::dropGuard(Function& f, InstrId id) {
  Instruction& i = f[id];
  if (!i.is(Instruction::Guarded)) return;
  ++i.firstOperand;
  --i.operandCount;
  i.flags = static_cast<uint8_t>(i.flags & ~Instruction::Guarded);
  f.touch(id);
}

void Edit::setOpcode(Function& f, InstrId id, std::string_view text) {
  f[id].payload = module.addOpcode(module.names.internCopy(text)).value;
  f.touch(id);
}

Operand Edit::constant64(Function& f, OperandKind kind, uint64_t value) {
  f.constants.push_back(value);
  return {.kind = kind, .payload = static_cast<uint32_t>(f.constants.size() - 1)};
}

std::string Edit::cutText() const {
  std::vector<const Cut*> sorted;
  for (const Cut& cut : cuts_) sorted.push_back(&cut);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Cut* a, const Cut* b) { return a->range.begin < b->range.begin; });
  std::string out;
  uint32_t at = 0;
  for (const Cut* cut : sorted) {
    if (cut->range.begin < at) continue;
    out += module.source.substr(at, cut->range.begin - at);
    out += cut->text;
    at = cut->range.end;
  }
  out += module.source.substr(at);
  return out;
}

std::size_t afterEntry(std::span<const Operand> operands, std::size_t at) {
  at += 1 + operands[at].inside();
  while (at < operands.size() && operands[at].kind == OperandKind::Selector) ++at;
  return at;
}

}  // namespace ptxopt::reduce
