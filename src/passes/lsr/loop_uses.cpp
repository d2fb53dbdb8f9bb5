#include "passes/lsr/loop_uses.h"

#include <algorithm>
#include <unordered_map>

namespace ptxopt {

std::string_view name(MemorySpace space) {
  switch (space) {
    case MemorySpace::Generic: return "generic";
    case MemorySpace::Global: return "global";
    case MemorySpace::Shared: return "shared";
    case MemorySpace::Local: return "local";
    case MemorySpace::Constant: return "const";
    case MemorySpace::Other: break;
  }
  return "other";
}

MemorySpace memorySpace(std::string_view opcode) {
  constexpr std::pair<std::string_view, MemorySpace> kSpaces[] = {
      {".global", MemorySpace::Global},  {".shared", MemorySpace::Shared}, {".local", MemorySpace::Local},
      {".const", MemorySpace::Constant}, {".param", MemorySpace::Other},
  };
  for (const auto& [word, space] : kSpaces) {
    const std::size_t at = opcode.find(word);
    if (at == std::string_view::npos) continue;
    const std::size_t end = at + word.size();
    if (end == opcode.size() || opcode[end] == '.' || opcode[end] == ':') return space;
  }
  return MemorySpace::Generic;
}

std::vector<AddressOperand> addressOperands(const Module& module, const Function& f, const Instruction& i) {
  std::vector<AddressOperand> found;
  if (!i.isInstruction()) return found;
  const OpcodeForm& form = module.form(i);
  constexpr std::string_view kPlain[] = {"ld", "ldu", "st", "atom", "red", "prefetch"};
  if (form.row == nullptr || form.is(effect::Unknown | effect::Async)) return found;
  const std::string_view base = form.row->base();
  if (std::ranges::find(kPlain, base) == std::end(kPlain)) return found;
  const auto operands = f.operandsOf(i);
  for (uint32_t k = 0; k < operands.size(); ++k) {
    if (operands[k].kind != OperandKind::Memory) continue;
    const uint32_t inside = operands[k].inside();
    if (inside < 1 || inside > 2 || !operands[k + 1].isRegister() || operands[k + 1].flags != 0) continue;
    AddressOperand a;
    a.reg = i.firstOperand + k + 1;
    if (inside == 2) {
      const Operand& o = operands[k + 2];
      const auto bits = immediate(f, o);
      if (!bits || (o.join != Join::Plus && o.join != Join::Minus)) continue;
      a.immediate = a.reg + 1;
      a.bytes = static_cast<int64_t>(o.join == Join::Minus ? ~*bits + 1 : *bits);
    }
    found.push_back(a);
  }
  return found;
}

std::vector<std::vector<InductionVariable>> findPhis(const Cfg& cfg, const SlotIndexes& slots,
                                                     const LiveIntervals& intervals) {
  std::vector<std::vector<InductionVariable>> phis(cfg.size());
  for (uint32_t r = 0; r < intervals.size(); ++r) {
    const auto& values = intervals[RegId(r)].values();
    for (uint32_t v = 0; v < values.size(); ++v)
      if (values[v].kind == ValueKind::Phi)
        phis[slots.blockAt(values[v].def).value].push_back({RegId(r), ValueId(v), ExprId()});
  }
  return phis;
}

LoopUses collectUses(const Function& f, PassContext& context, LoopId loop,
                     std::span<const InductionVariable> phis) {
  LoopUses all;
  ScalarEvolution& evolution = context.analyses.scalarEvolution();
  ScevExpressions& e = evolution.expressions();
  const Cfg& cfg = context.analyses.cfg();
  const Loops& loops = context.analyses.loops();
  for (const InductionVariable& phi : phis)
    if (const ExprId expr = evolution.of(phi.reg, phi.phi); expr.valid() && e.isRecurrence(expr, loop))
      all.ivs.push_back({phi.reg, phi.phi, expr});

  std::unordered_map<uint64_t, std::vector<uint32_t>> byStart;
  for (const BlockId b : loops.blocks(loop)) {
    if (loops.of(b) != loop || !cfg[b].reachable) continue;
    for (const InstrId id : context.analyses.slotIndexes().instructions(b)) {
      const Instruction& i = f[id];
      for (const AddressOperand& a : addressOperands(context.module, f, i)) {
        const ExprId address = evolution.read(f.operands[a.reg].reg(), id);
        if (!address.valid() || e.isInvariant(address, loop)) continue;
        if (!e.isRecurrence(address, loop)) {
          ++all.otherAddresses;
          continue;
        }
        const MemorySpace space = memorySpace(context.module.text(context.module.form(i).text));
        const uint8_t width = e[address].width;
        const ExprId base = e.withoutConstant(address);
        const ExprId start = e[base].start(), step = e[base].step();
        const int64_t offset = signedAt(e.constantPart(address), width) + a.bytes;
        const uint64_t key = uint64_t{start.value} << 32 | step.value;
        std::vector<uint32_t>& known = byStart[key];
        const auto group = std::ranges::find_if(
            known, [&](uint32_t g) { return all.groups[g].space == space && all.groups[g].width == width; });
        uint32_t g = 0;
        if (group == known.end()) {
          g = static_cast<uint32_t>(all.groups.size());
          known.push_back(g);
          all.groups.push_back({space, width, start, step, {}, offset, offset});
        } else {
          g = *group;
        }
        UseGroup& to = all.groups[g];
        to.uses.push_back({id, a.reg, address, a.bytes});
        to.least = std::min(to.least, offset);
        to.most = std::max(to.most, offset);
      }
    }
  }
  return all;
}

}  // namespace ptxopt
