#include "analysis/machine/kernel_needs.h"

#include <fmt/format.h>

#include <algorithm>

namespace ptxopt {
namespace {

constexpr uint32_t kMostBarriers = 16;

// One more than the highest barrier that an instruction names: `bar.sync 0` and the like, `barrier.cta...`; not
// barrier.cluster, which is another barrier.
uint32_t barriersOf(const Module& module, const Function& f, const Instruction& i) {
  const OpcodeForm& form = module.form(i);
  const bool reduces = form.op == Op::BarRed || form.op == Op::BarrierRed;
  if ((form.op != Op::Bar && form.op != Op::Barrier && !reduces) || form.has(ModifierFlag::Warp)) return 0;
  // The barrier is the first operand after the guard; for .red it stands after the result.
  const std::size_t skip = (i.is(Instruction::Guarded) ? 1u : 0u) + (reduces ? 1u : 0u);
  const auto operands = f.operandsOf(i);
  if (skip >= operands.size()) return 0;
  const Operand& o = operands[skip];
  return o.kind == OperandKind::Integer && o.payload < kMostBarriers ? o.payload + 1 : kMostBarriers;
}

// What one function mentions, as it is now.
CalledNeeds mentionsOf(const Module& module, const Function& f) {
  CalledNeeds needs;
  std::vector<bool> seenVariables(f.variables.size()), seenSymbols(module.symbols.size());
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    for (const Operand& o : f.operandsOf(i)) {
      if (o.kind == OperandKind::Variable && !seenVariables[o.payload]) {
        seenVariables[o.payload] = true;
        const Variable& v = f.variables[o.payload];
        if (module.declarationForms[v.form].space == DeclaredSpace::Shared) needs.shared.push_back(v);
      } else if (o.kind == OperandKind::Symbol && !seenSymbols[o.payload]) {
        seenSymbols[o.payload] = true;
        needs.symbols.push_back(o.payload);
      }
    }
    if (i.isInstruction()) needs.barriers = std::max(needs.barriers, barriersOf(module, f, i));
  }
  return needs;
}

class Collector {
 public:
  Collector(const Module& module, const ModuleCalledNeeds* called)
      : module_(module), called_(called), seenSymbols_(module.symbols.size()) {}

  KernelNeeds run(const Function& kernel) {
    seen_.push_back(&kernel);
    add(mentionsOf(module_, kernel));
    while (!work_.empty()) {
      const Function& f = *work_.back();
      work_.pop_back();
      if (called_ != nullptr && !called_->functions.empty())
        add(called_->functions[f.index]);
      else
        add(mentionsOf(module_, f));
    }
    needs_.threads = threads(kernel);
    return needs_;
  }

 private:
  std::optional<uint32_t> threads(const Function& f) const {
    for (const std::string_view wanted : {".reqntid", ".maxntid"})
      for (const FunctionDirective& d : f.directives) {
        if (module_.text(d.name) != wanted || d.valueCount == 0) continue;
        uint64_t product = 1;
        for (uint32_t i = 0; i < d.valueCount; ++i) product *= d.values[i];
        if (product != 0) return static_cast<uint32_t>(std::min<uint64_t>(product, UINT32_MAX));
      }
    return {};
  }

  void add(const CalledNeeds& mentioned) {
    for (const Variable& v : mentioned.shared) addVariable(v);
    for (const uint32_t symbol : mentioned.symbols)
      if (!seenSymbols_[symbol]) {
        seenSymbols_[symbol] = true;
        addSymbol(module_.symbols[symbol]);
      }
    needs_.barriers = std::max(needs_.barriers, mentioned.barriers);
  }

  void addVariable(const Variable& v) {
    const DeclarationForm& form = module_.declarationForms[v.form];
    if (form.space != DeclaredSpace::Shared) return;
    if (form.isExtern) {
      needs_.dynamicShared = true;
      return;
    }
    const uint64_t element = std::max<uint64_t>(info(form.type).bits / 8, 1) * form.lanes;
    const uint64_t alignment = std::max<uint64_t>(form.alignment, element);
    const uint64_t count = v.declarator.isRange ? v.declarator.count : 1;
    needs_.sharedBytes = (needs_.sharedBytes + alignment - 1) / alignment * alignment;
    needs_.sharedBytes += element * v.declarator.elements * count;
  }

  void addSymbol(const Symbol& s) {
    if (s.kind == SymbolKind::Variable) {
      addVariable(module_.variables[s.index]);
    } else if (s.kind == SymbolKind::Function) {
      const Function* f = &module_.functions[s.index];
      if (std::ranges::find(seen_, f) != seen_.end()) return;
      seen_.push_back(f);
      work_.push_back(f);
    }
  }

  const Module& module_;
  const ModuleCalledNeeds* const called_;
  KernelNeeds needs_;
  std::vector<bool> seenSymbols_;
  std::vector<const Function*> work_, seen_;
};

std::string limits(const target::Occupancy& o) {
  std::string text;
  for (std::size_t r = 0; r < target::kResources; ++r)
    if (o.isLimitedBy(static_cast<target::Resource>(r)))
      text += fmt::format("{}{}", text.empty() ? "" : ", ", name(static_cast<target::Resource>(r)));
  return text;
}

}  // namespace

ModuleCalledNeeds makeCalledNeeds(const Module& module) {
  ModuleCalledNeeds needs;
  if (std::ranges::none_of(module.opcodes, [](const OpcodeForm& o) { return o.is(effect::Call); })) return needs;
  needs.functions.resize(module.functions.size());
  for (const Function& f : module.functions)
    if (f.hasBody) needs.functions[f.index] = mentionsOf(module, f);
  return needs;
}

KernelNeeds kernelNeeds(const Module& module, const Function& kernel, const ModuleCalledNeeds* called) {
  return Collector(module, called).run(kernel);
}

std::string dumpOccupancy(const Module& module, const Function& kernel, const target::Limits& a,
                          uint32_t registers) {
  const KernelNeeds needs = kernelNeeds(module, kernel);
  std::string text = fmt::format(
      "occupancy of {} (estimate) on sm_{}: {} registers a thread, {} bytes of shared memory{}, {} {}\n",
      module.text(kernel.name), a.number, registers, needs.sharedBytes,
      needs.dynamicShared ? " and what the launch adds" : "", needs.barriers,
      needs.barriers == 1 ? "barrier" : "barriers");
  std::vector<uint32_t> sizes{32, 64, 128, 256, 512, 1024};
  if (needs.threads) sizes = {*needs.threads};
  for (const uint32_t threads : sizes) {
    const target::BlockNeeds block{registers, threads, needs.sharedBytes, needs.barriers};
    const target::Occupancy o = occupancy(a, block);
    text += fmt::format("  {} threads a block (estimate): {} blocks, {} of {} warps, held back by {}", threads,
                        o.blocks, o.warps, o.mostWarps, limits(o));
    if (const auto up = nextStepUp(a, block)) text += fmt::format("; more with {} registers", *up);
    if (const auto cliff = nextCliff(a, block)) text += fmt::format("; fewer from {} registers", *cliff);
    text += '\n';
  }
  return text;
}

}  // namespace ptxopt
