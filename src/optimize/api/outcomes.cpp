// One pass over each function's operands finds what it mentions, calls elsewhere, or takes the address of. Places in
// the output come from the printer, and changes from the reports of all steps but clean-ups.
#include "api/outcomes.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/dataflow/direct_calls.h"
#include "facts/facts.h"
#include "ir/initializers.h"

namespace ptxopt {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// These are the only ones that ptxas 12 and 13 let a whole program call without a body.
constexpr std::array<std::string_view, 4> kOfPtxas{"__assertfail", "free", "malloc", "vprintf"};

class Mentions {
 public:
  Mentions(const Module& module, const std::vector<FunctionOutcome>& all,
           const std::unordered_map<uint32_t, uint32_t>& byName)
      : module_(module),
        all_(all),
        ofSymbol_(module.symbols.size(), kNone),
        seenBy_(all.size(), kNone),
        isAliased_(module.names.size()) {
    for (std::size_t s = 0; s < module.symbols.size(); ++s) {
      if (module.symbols[s].kind == SymbolKind::Alias) isAliased_[module.symbols[s].name.value] = true;
      const auto it = byName.find(module.symbols[s].name.value);
      if (it != byName.end()) ofSymbol_[s] = it->second;
    }
  }

  bool takesAddress(const Function& f) const {
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      const auto operands = f.operandsOf(i);
      const bool isCall = i.isInstruction() && module_.form(i).is(effect::Call);
      const std::size_t callee = isCall ? DirectCall(module_, f, i).calleeOperand : operands.size();
      for (std::size_t at = 0; at < operands.size(); ++at)
        if (at != callee && operands[at].kind == OperandKind::Symbol &&
            module_.symbols[operands[at].payload].kind != SymbolKind::Variable)
          return true;
    }
    return false;
  }

  // Functions without a body, in the order of their names.
  std::vector<std::string> elsewhere(const Function& f) const {
    std::vector<std::string> names;
    for (const InstrId id : f)
      for (const Operand& o : f.operandsOf(f[id])) {
        if (o.kind != OperandKind::Symbol || ofSymbol_[o.payload] != kNone) continue;
        const Symbol& symbol = module_.symbols[o.payload];
        if (symbol.kind != SymbolKind::Function) continue;
        if (const std::string_view name = module_.text(symbol.name);
            std::ranges::find(kOfPtxas, name) == kOfPtxas.end())
          names.emplace_back(name);
      }
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    return names;
  }

  std::vector<uint32_t> of(uint32_t self, const Function& f) {
    std::vector<uint32_t> found;
    bool callsAny = false;
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      bool names = false;
      for (const Operand& o : f.operandsOf(i)) {
        if (o.kind != OperandKind::Symbol) continue;
        const Symbol& symbol = module_.symbols[o.payload];
        callsAny |= isAliased_[symbol.name.value];  // of a function that may be known later only
        names |= symbol.kind == SymbolKind::Function;
        if (const uint32_t to = ofSymbol_[o.payload]; to != kNone) add(self, to, found);
      }
      callsAny |= i.isInstruction() && module_.form(i).is(effect::Call) && !names;
    }
    if (callsAny)
      for (uint32_t to = 0; to < all_.size(); ++to)
        if (!all_[to].isKernel) add(self, to, found);
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  void add(uint32_t self, uint32_t to, std::vector<uint32_t>& found) {
    if (to == self || seenBy_[to] == self) return;
    seenBy_[to] = self;
    found.push_back(to);
  }

  const Module& module_;
  const std::vector<FunctionOutcome>& all_;
  std::vector<uint32_t> ofSymbol_;  // outcome, or kNone
  std::vector<uint32_t> seenBy_;    // the last function that mentions it
  std::vector<bool> isAliased_;     // by the name: has an alias or is one
};

}  // namespace

namespace {

// The product of exact sizes; 0 where there is none, or a size lies in a range that is not that of all launches.
uint64_t productOf(const std::array<NumberFact, 3>& sizes, const std::array<NumberFact, 3>& ofAll) {
  uint64_t product = 1;
  bool isKnown = false;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const auto exact = sizes[d].exact();
    if (!exact && !(sizes[d] == ofAll[d])) return 0;
    isKnown = isKnown || exact;
    product *= static_cast<uint64_t>(exact.value_or(1));
  }
  return isKnown ? product : 0;
}

}  // namespace

std::vector<FunctionOutcome> outcomesOf(const Module& module) {
  std::vector<FunctionOutcome> all;
  std::unordered_map<uint32_t, uint32_t> byName;
  for (const Function& f : module.functions) {
    if (!f.hasBody) continue;
    byName.emplace(f.name.value, static_cast<uint32_t>(all.size()));
    all.push_back({.name = std::string(module.text(f.name)),
                   .isKernel = f.isEntry,
                   .changed = f.changed,
                   .mentions = {},
                   .takesAddress = false,
                   .elsewhere = {},
                   .begin = f.source.begin,
                   .body = f.body.begin,
                   .end = f.body.end});
    if (module.facts.empty() || !f.isEntry) continue;
    const KernelFacts &facts = module.facts[f.index], ofAll = facts::factsOfAll(module, f);
    all.back().threads = static_cast<uint32_t>(productOf(facts.block, ofAll.block));
    all.back().blocks = productOf(facts.grid, ofAll.grid);
  }
  Mentions mentions(module, all, byName);
  const bool areInVariables = !functionsInInitializers(module).empty();
  uint32_t n = 0;
  for (const Function& f : module.functions)
    if (f.hasBody) {
      all[n].takesAddress = areInVariables || mentions.takesAddress(f);
      all[n].mentions = mentions.of(n, f);
      all[n].elsewhere = mentions.elsewhere(f);
      ++n;
    }
  return all;
}

std::vector<FunctionOutcome> outcomesOf(const Module& module, const std::vector<text::FunctionPlace>& places) {
  std::vector<FunctionOutcome> all = outcomesOf(module);
  std::size_t n = 0;
  for (const Function& f : module.functions) {
    if (!f.hasBody) continue;
    FunctionOutcome& outcome = all[n++];
    outcome.changed = false;
    outcome.begin = places[f.index].begin;
    outcome.body = places[f.index].body;
    outcome.end = places[f.index].end;
  }
  return all;
}

std::vector<std::string> innermostLoopsOf(const Module& module, const Function& f, const Cfg& cfg,
                                          const Loops& loops) {
  std::vector<BlockId> headers;
  for (uint32_t l = 0; l < loops.size(); ++l)
    if (loops.isInnermost(LoopId(l))) headers.push_back(loops[LoopId(l)].header);
  std::ranges::sort(headers);  // blocks are numbered in the order of the text
  std::vector<std::string> labels;
  for (const BlockId header : headers) {
    const Instruction& first = f[cfg[header].first];
    const bool hasName = first.kind == InstrKind::Label && f.labels[first.payload].name.valid();
    labels.emplace_back(hasName ? module.text(f.labels[first.payload].name) : std::string_view());
  }
  return labels;
}

void noteChanges(const Module& module, std::span<const Step> steps, const std::vector<FunctionReport>& reports,
                 std::vector<FunctionOutcome>& outcomes) {
  if (outcomes.empty()) return;
  std::unordered_map<std::string_view, const Step*> stepOf;
  for (const Step& step : steps)
    if (step.kind != StepKind::Cleanup) stepOf.emplace(step.name, &step);
  std::size_t n = 0;
  for (const Function& f : module.functions) {
    if (!f.hasBody) continue;
    FunctionOutcome& outcome = outcomes[n++];
    outcome.changed = f.changed;
    if (!f.changed) continue;
    for (const PassReport& report : reports[f.index].passes) {
      const auto step = report.changed ? stepOf.find(report.pass) : stepOf.end();
      if (step == stepOf.end()) continue;
      const std::string_view pass = step->second->pass->name;
      if (std::ranges::find(outcome.passes, pass) == outcome.passes.end()) outcome.passes.emplace_back(pass);
    }
  }
}

}  // namespace ptxopt
