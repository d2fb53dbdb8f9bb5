// Functions wait in a worklist and are analysed again when a parameter or result that they read rises. What other
// modules may call, or what is mentioned as a value, is Unknown from the start.
#include "analysis/addresses/address_facts.h"

#include <algorithm>
#include <memory>

#include "analysis/addresses/address_spaces.h"
#include "analysis/dataflow/direct_calls.h"
#include "ir/initializers.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostInstructions = 1000000;
constexpr unsigned kMostIterations = 50;

class FactFinder {
 public:
  FactFinder(const Module& module, bool paramsAreGlobal)
      : module_(module),
        paramsAreGlobal_(paramsAreGlobal),
        isMentioned_(module.functions.size()),
        isCalled_(module.functions.size()),
        isLatest_(module.functions.size()),
        isAliased_(module.names.size()) {
    for (const Symbol& s : module.symbols) {
      if (s.kind == SymbolKind::Alias) isAliased_[s.name.value] = true;
      if (s.kind == SymbolKind::Function) isLatest_[s.index] = true;
    }
  }

  ModuleAddressFacts run() {
    facts_.functions.resize(module_.functions.size());
    scanBodies();
    for (const uint32_t f : functionsInInitializers(module_)) isMentioned_[f] = true;
    facts_.pointsToConstants =
        std::ranges::any_of(module_.opcodes,
                            [](const OpcodeForm& o) {
                              return o.op == Op::Cvta && o.space == StateSpace::Const && !o.has(ModifierFlag::To);
                            }) ||
        initializersPointToConstants(module_);
    for (std::size_t k = 0; k < module_.functions.size(); ++k) begin(k);
    solve();
    return std::move(facts_);
  }

 private:
  // All analyses of one function that AddressSpaces needs; they stay as long as the function does.
  struct Body {
    const Function& f;
    Cfg cfg;
    DominatorTree dominators;
    SlotIndexes slots;
    LiveIntervals intervals;
    Body(const Module& module, const Function& function)
        : f(function),
          cfg(module, f),
          dominators(cfg, DominatorTree::Direction::Dominators),
          slots(f, cfg),
          intervals(f, cfg, slots, &dominators) {}
  };

  // Whether an operand names a function. Most kernels name none.
  bool namesFunction(const Function& f) const {
    return std::ranges::any_of(f.operands, [&](const Operand& o) {
      return o.kind == OperandKind::Symbol && module_.symbols[o.payload].kind == SymbolKind::Function;
    });
  }

  void scanBodies() {
    for (std::size_t k = 0; k < module_.functions.size(); ++k) {
      const Function& f = module_.functions[k];
      if (!namesFunction(f)) continue;
      for (const InstrId id : f) {
        const Instruction& i = f[id];
        const auto operands = f.operandsOf(i);
        const bool isCall = i.isInstruction() && module_.form(i).is(effect::Call);
        const DirectCall call = isCall ? DirectCall(module_, f, i) : DirectCall(module_, f, Instruction());
        if (isCall && call.callee != nullptr) isCalled_[call.index] = true;
        for (std::size_t at = 0; at < operands.size(); ++at) {
          const Operand& o = operands[at];
          if (o.kind != OperandKind::Symbol || module_.symbols[o.payload].kind != SymbolKind::Function) continue;
          if (!isCall || call.callee == nullptr || at != call.calleeOperand)
            isMentioned_[module_.symbols[o.payload].index] = true;
        }
      }
    }
  }

  // Whether other modules may call it or put another one in its place.
  bool isSeenOutside(const Function& f) const {
    const std::string_view header = module_.text(f.header);
    const std::string_view before = header.substr(0, header.find(".func"));
    return before.find(".visible") != before.npos || before.find(".common") != before.npos || mayBeReplaced(f);
  }
  bool mayBeReplaced(const Function& f) const {
    const std::string_view header = module_.text(f.header);
    const std::string_view before = header.substr(0, header.find(".func"));
    return before.find(".weak") != before.npos || before.find(".extern") != before.npos || isAliased_[f.name.value];
  }

  const DeclarationForm& formOf(const Function& f, VariableId v) const {
    return module_.declarationForms[f.variables[v.value].form];
  }

  AddressState kernelParameter(const Function& f, std::size_t function, VariableId v) const {
    // `.param .u64 .ptr .global .align 8`
    const DeclaredSpace pointee = formOf(f, v).pointee;
    if (pointee == DeclaredSpace::Global) return {AddressKind::Global, true};
    if (pointee != DeclaredSpace::None) return kUnknownAddress;
    if (!paramsAreGlobal_ || isMentioned_[function] || isAliased_[f.name.value])
      return {AddressKind::LaunchedParameter};
    return kAssumedGlobal;
  }

  void begin(std::size_t k) {
    const Function& f = module_.functions[k];
    AddressFacts& facts = facts_.functions[k];
    facts.parameters.assign(f.parameters.size(), kUnknownAddress);
    facts.returns.assign(f.returns.size(), kUnknownAddress);
    if (f.isEntry) {
      for (std::size_t p = 0; p < f.parameters.size(); ++p)
        facts.parameters[p] = kernelParameter(f, k, f.parameters[p]);
      return;
    }
    if (!f.hasBody) return;
    const auto mayHold = [&](VariableId v) { return info(formOf(f, v).type).bits == 64; };
    // Calls are noted with the latest declaration, which may be a prototype.
    if (!isLatest_[k]) return;
    const bool isOpen = isSeenOutside(f) || isMentioned_[k];
    for (std::size_t p = 0; p < f.parameters.size(); ++p) {
      if (!mayHold(f.parameters[p])) continue;
      facts.parameters[p].kind = isOpen ? AddressKind::FunctionParameter : AddressKind::None;
      tracks_ |= !isOpen && isCalled_[k];
    }
    for (std::size_t r = 0; r < f.returns.size(); ++r) {
      if (!mayHold(f.returns[r]) || mayBeReplaced(f)) continue;
      facts.returns[r].kind = AddressKind::None;
      tracks_ |= isCalled_[k];
    }
  }

  // Whether the function passes on, or gets back, what others wait for.
  bool matters(const Function& f) const {
    if (!f.hasBody) return false;
    if (std::ranges::any_of(facts_.functions[f.index].returns,
                            [](AddressState s) { return s.kind == AddressKind::None; }))
      return true;
    for (const InstrId id : f) {
      if (!f[id].isInstruction() || !module_.form(f[id]).is(effect::Call)) continue;
      const DirectCall call(module_, f, f[id]);
      if (call.callee != nullptr && !facts_.functions[call.index].parameters.empty()) return true;
    }
    return false;
  }

  void solve() {
    if (!tracks_) return giveUpWhere([](AddressState s) { return s.kind == AddressKind::None; });
    std::vector<std::unique_ptr<Body>> bodies;
    std::size_t instructions = 0;
    for (const Function& f : module_.functions) {
      if (!matters(f)) continue;
      instructions += f.instructions.size();
      if (instructions > kMostInstructions) return giveUpWhere([](AddressState) { return true; });
      bodies.push_back(std::make_unique<Body>(module_, f));
      if (!bodies.back()->cfg.complete()) return giveUpWhere([](AddressState) { return true; });
    }
    for (unsigned n = 0; n < kMostIterations; ++n) {
      bool changed = false;
      for (const auto& body : bodies) changed |= look(*body);
      if (!changed) return;
    }
    giveUpWhere([](AddressState) { return true; });
  }

  void giveUpWhere(auto&& applies) {
    for (const Function& f : module_.functions) {
      if (f.isEntry) continue;
      for (AddressState& s : facts_.functions[f.index].parameters)
        if (applies(s)) s = kUnknownAddress;
      for (AddressState& s : facts_.functions[f.index].returns)
        if (applies(s)) s = kUnknownAddress;
    }
  }

  static bool raise(AddressState& state, AddressState by) {
    const AddressState now = join(state, by);
    if (now == state) return false;
    state = now;
    return true;
  }

  bool look(const Body& body) {
    const Function& f = body.f;
    const AddressSpaces spaces(module_, f, body.cfg, body.slots, body.intervals, &facts_);
    bool changed = false;
    if (!f.isEntry)
      for (std::size_t r = 0; r < f.returns.size(); ++r)
        changed |= raise(facts_.functions[f.index].returns[r], spaces.stored(f.returns[r]));
    for (const InstrId id : f) {
      if (!f[id].isInstruction() || !module_.form(f[id]).is(effect::Call) || !body.slots[id].valid() ||
          !body.cfg[body.cfg.blockOf(id)].reachable)
        continue;
      const DirectCall call(module_, f, f[id]);
      if (call.callee == nullptr || call.callee->isEntry) continue;
      std::vector<AddressState>& parameters = facts_.functions[call.index].parameters;
      for (std::size_t p = 0; p < parameters.size(); ++p) {
        AddressState passed = kUnknownAddress;
        if (parameters.size() == call.arguments.size())
          passed = call.arguments[p].kind == OperandKind::Variable
                       ? spaces.stored(VariableId(call.arguments[p].payload))
                       : spaces.source(call.arguments[p], id);
        changed |= raise(parameters[p], passed);
      }
    }
    return changed;
  }

  const Module& module_;
  ModuleAddressFacts facts_;
  const bool paramsAreGlobal_;
  bool tracks_ = false;
  std::vector<bool> isMentioned_, isCalled_, isLatest_;  // by function
  std::vector<bool> isAliased_;                          // by the name: has an alias or is one
};

}  // namespace

ModuleAddressFacts makeAddressFacts(const Module& module, bool paramsAreGlobal) {
  return FactFinder(module, paramsAreGlobal).run();
}

}  // namespace ptxopt
