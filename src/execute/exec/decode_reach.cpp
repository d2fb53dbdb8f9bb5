// What a kernel can reach: itself, the functions that are named in what it reaches, and all where a call is by address.
#include <algorithm>

#include "exec/decoder.h"

namespace ptxopt::exec {

void Decoder::addRoutine(const Function& f) {
  if (!f.hasBody || program_.routineOf_.contains(&f)) return;
  auto r = std::make_unique<Routine>();
  r->function = &f;
  r->index = f.index;
  program_.routineOf_.emplace(&f, r.get());
  program_.routines_.push_back(std::move(r));
}

void Decoder::findRoutines() {
  const auto isCallee = [](const Function& f, const Instruction& i, const Operand& o) {
    const auto runs = Binder::split(callEntries(f, i));
    return std::any_of(runs.begin(), runs.end(), [&](const auto& run) { return &run.front() == &o; });
  };
  addRoutine(program_.kernel_);
  bool indirect = false;
  for (std::size_t next = 0; next < program_.routines_.size(); ++next) {
    const Function& f = *program_.routines_[next]->function;
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      if (!i.isInstruction()) continue;
      const bool isCall = module_.form(i).is(effect::Call);
      for (const Operand& o : f.operandsOf(i)) {
        if (o.kind == OperandKind::Symbol && module_.symbols[o.payload].kind == SymbolKind::Function)
          addRoutine(program_.calledFunction(module_.symbols[o.payload]));
        if (o.kind == OperandKind::Register && isCall && !indirect && isCallee(f, i, o)) {
          // The address may come from anywhere, a table in memory included.
          indirect = true;
          for (const Function& g : module_.functions)
            if (!g.isEntry) addRoutine(g);
        }
      }
    }
  }
}

std::span<const Operand> Decoder::callEntries(const Function& f, const Instruction& i) {
  auto entries = f.operandsOf(i);
  if (i.is(Instruction::Guarded)) entries = entries.subspan(1);
  while (!entries.empty() && entries.back().is(Operand::Implicit)) entries = entries.first(entries.size() - 1);
  return entries;
}

}  // namespace ptxopt::exec
