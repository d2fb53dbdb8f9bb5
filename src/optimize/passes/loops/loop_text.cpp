// A loop can be copied if its blocks lie from header to latch without a gap and its instructions are few enough. The
// copy makes new labels first, then the instructions, each offered to a hook that may replace it.
#include "passes/loops/loop_text.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "passes/loops/loop_entry.h"

namespace ptxopt {

std::string_view LoopText::whyNot(LoopId l) {
  if (loops_[l].irreducible) return "irreducible";
  const std::vector<BlockId> latches = loops_.latches(cfg_, l);
  if (latches.size() != 1 || loops_.of(latches[0]) != l) return "latches";
  const BlockId header = loops_[l].header;
  if (latches[0].value < header.value || latches[0].value - header.value + 1 != loops_.blocks(l).size())
    return "layout";
  for (uint32_t b = header.value; b <= latches[0].value; ++b) {
    if (!loops_.contains(l, BlockId(b))) return "layout";
    if (std::ranges::find(cfg_.roots(), BlockId(b)) != cfg_.roots().end()) return "layout";
  }
  if (!f_[cfg_[latches[0]].last].next.valid()) return "layout";
  if (!isFallenInto(module_, f_, cfg_, loops_, l)) return "no-preheader";
  std::size_t instructions = 0;
  for (uint32_t b = header.value; b <= latches[0].value; ++b)
    if (const std::string_view why = whyNotBlock(cfg_[BlockId(b)], cfg_[header].first, instructions); !why.empty())
      return why;
  return {};
}

std::string_view LoopText::whyNotBlock(const Block& block, InstrId place, std::size_t& instructions) {
  for (InstrId id = block.first;; id = f_[id].next) {
    const Instruction& i = f_[id];
    if (i.isInstruction()) {
      if (++instructions > kMostInstructions) return "size";
      const OpcodeForm& form = module_.form(i);
      constexpr uint32_t kNotCopied = effect::Call | effect::Convergent | effect::IndirectBranch | effect::Unknown;
      if (!form.knowsOperands() || form.is(kNotCopied)) return "effects";
      for (const Operand& o : f_.operandsOf(i)) {
        if (o.kind == OperandKind::Label && form.effects != effect::Branch) return "effects";
        if (o.isRegister() && !reaches_(o.reg(), place)) return "scope";
      }
    } else if (i.kind != InstrKind::Label && i.kind != InstrKind::Loc && i.kind != InstrKind::Pragma) {
      return "scope";
    }
    if (id == block.last) return {};
  }
}

void LoopText::copy(LoopId l, InstrId place, LabelId done, const std::function<bool(InstrId)>& replace) {
  const InstrId first = cfg_[loops_[l].header].first, last = cfg_[latch(l)].last;
  std::unordered_map<uint32_t, LabelId> labels;
  for (InstrId id = first;; id = f_[id].next) {
    if (f_[id].kind == InstrKind::Label)
      labels.emplace(f_[id].payload, f_.makeLabelLike(f_, LabelId(f_[id].payload)));
    if (id == last) break;
  }
  for (InstrId id = first;; id = f_[id].next) {
    const Instruction i = f_[id];
    if (i.kind == InstrKind::Label) {
      f_.insertLabel(place, labels.at(i.payload));
    } else if (i.kind == InstrKind::Pragma) {
      f_.insertPragma(place, NameId(i.payload));
    } else if (i.isInstruction() && !replace(id)) {
      const auto own = f_.operandsOf(i);
      std::vector<Operand> operands(own.begin(), own.end());
      for (Operand& o : operands)
        if (o.kind == OperandKind::Label)
          if (const auto inside = labels.find(o.payload); inside != labels.end()) o.payload = inside->second.value;
      f_.insert(place, i.opcode(), operands);
    }
    if (id == last) break;
  }
  if (!f_[last].is(Instruction::Guarded)) return;  // control goes back to the header, and falls nowhere
  const Operand target{.kind = OperandKind::Label, .payload = done.value};
  f_.insert(place, module_.synthOpcode(SynthOpcode::Bra), std::vector<Operand>{target});
}

}  // namespace ptxopt
