// What a kernel can reach: itself, the functions that are named in what it reaches, and all where a call is by address.
#include <algorithm>

#include "exec/decoder.h"
#include "support/graph.h"

namespace ptxopt::exec {

// The functions with a body that a function leads to; where it calls one by address, all of the module, unless
// `hasAllCallees` says that they have been named.
std::vector<uint32_t> Decoder::calleesOf(const Function& f, bool& hasAllCallees) const {
  std::vector<uint32_t> callees;
  const auto add = [&](const Function& g) {
    if (g.hasBody) callees.push_back(g.index);
  };
  const auto isCallee = [&](const Instruction& i, const Operand& o) {
    const auto runs = Binder::split(callEntries(f, i));
    return std::any_of(runs.begin(), runs.end(), [&](const auto& run) { return &run.front() == &o; });
  };
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    if (!i.isInstruction()) continue;
    const bool isCall = module_.form(i).is(effect::Call);
    for (const Operand& o : f.operandsOf(i)) {
      if (o.kind == OperandKind::Symbol && module_.symbols[o.payload].kind == SymbolKind::Function)
        add(program_.calledFunction(module_.symbols[o.payload]));
      if (o.kind == OperandKind::Register && isCall && !hasAllCallees && isCallee(i, o)) {
        // The address may come from anywhere, a table in memory included.
        hasAllCallees = true;
        for (const Function& g : module_.functions)
          if (!g.isEntry) add(g);
      }
    }
  }
  return callees;
}

void Decoder::findRoutines() {
  if (!program_.kernel_.hasBody) return;
  bool hasAllCallees = false;
  const auto callees = [&](uint32_t f) { return calleesOf(module_.functions[f], hasAllCallees); };
  for (const uint32_t index : reachedFrom({program_.kernel_.index}, module_.functions.size(), callees)) {
    auto r = std::make_unique<Routine>();
    r->function = &module_.functions[index];
    r->index = index;
    program_.routineOf_.emplace(r->function, r.get());
    program_.routines_.push_back(std::move(r));
  }
}

std::span<const Operand> Decoder::callEntries(const Function& f, const Instruction& i) {
  auto entries = f.operandsOf(i);
  if (i.is(Instruction::Guarded)) entries = entries.subspan(1);
  while (!entries.empty() && entries.back().is(Operand::Implicit)) entries = entries.first(entries.size() - 1);
  return entries;
}

}  // namespace ptxopt::exec
