// Needs of called functions are found once for each component of the call graph, from callees to callers, with lists of
// variables that are shared where they are equal. Without these tables one kernel's functions are followed instead.
#include "analysis/machine/kernel_needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "ir/definitions.h"
#include "support/graph.h"

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

using Variables = std::vector<SharedVariable>;

template <typename T>
void keepOne(std::vector<T>& of) {
  std::ranges::sort(of);
  of.erase(std::ranges::unique(of).begin(), of.end());
}

// What one function mentions, as it is now.
struct Mentions {
  Variables shared;                 // in order
  std::vector<uint32_t> functions;  // the latest of the name, in Module::functions
  uint32_t barriers = 0;
  bool dynamicShared = false, callsUnseen = false;

  Mentions(const Module& module, const Function& f) : module_(module) {
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      const bool isCall = i.isInstruction() && module.form(i).is(effect::Call | effect::Unknown);
      bool namesFunction = false;
      for (const Operand& o : f.operandsOf(i))
        if (o.kind == OperandKind::Variable)
          addVariable(f.variables[o.payload], (uint64_t{f.index} + 1) << 32 | o.payload);
        else if (o.kind == OperandKind::Symbol)
          namesFunction |= addSymbol(module.symbols[o.payload]);
      callsUnseen |= isCall && !namesFunction;
      if (i.isInstruction()) barriers = std::max(barriers, barriersOf(module, f, i));
    }
    keepOne(shared);
    keepOne(functions);
  }

 private:
  void addVariable(const Variable& v, uint64_t key) {
    const DeclarationForm& form = module_.declarationForms[v.form];
    if (form.space != DeclaredSpace::Shared) return;
    if (form.isExtern) {
      dynamicShared = true;
      return;
    }
    const uint64_t element = std::max<uint64_t>(info(form.type).bits / 8, 1) * form.lanes;
    const uint64_t count = v.declarator.isRange ? v.declarator.count : 1;
    shared.push_back({key, element * v.declarator.elements * count, std::max<uint64_t>(form.alignment, element)});
  }

  bool addSymbol(const Symbol& s) {
    if (s.kind == SymbolKind::Variable) addVariable(module_.variables[s.index], s.index);
    if (s.kind == SymbolKind::Function) functions.push_back(s.index);
    return s.kind == SymbolKind::Function;
  }

  const Module& module_;
};

uint64_t bytesOf(const Variables& shared) {
  uint64_t bytes = 0;
  for (const SharedVariable& v : shared) bytes = (bytes + v.alignment - 1) / v.alignment * v.alignment + v.bytes;
  return bytes;
}

std::optional<uint32_t> threadsOf(const Module& module, const Function& f) {
  for (const std::string_view wanted : {".reqntid", ".maxntid"})
    for (const FunctionDirective& d : f.directives) {
      if (module.text(d.name) != wanted || d.valueCount == 0) continue;
      uint64_t product = 1;
      for (uint32_t i = 0; i < d.valueCount; ++i) product *= d.values[i];
      if (product != 0) return static_cast<uint32_t>(std::min<uint64_t>(product, UINT32_MAX));
    }
  return {};
}

template <typename From>
void addFlags(auto& to, const From& from) {
  to.barriers = std::max(to.barriers, from.barriers);
  to.dynamicShared |= from.dynamicShared;
  to.callsUnseen |= from.callsUnseen;
}

// The union of lists that are shared where one of them is the whole.
class Union {
 public:
  using List = std::shared_ptr<const Variables>;

  explicit Union(List all) : all_(std::move(all)) {}

  void add(const Variables& more) {
    if (more.empty()) return;
    if (!list_) return void(list_ = std::make_shared<Variables>(more));
    Variables both;
    std::ranges::set_union(*list_, more, std::back_inserter(both));
    list_ = both.size() > ModuleCalledNeeds::kMostVariables ? all_ : std::make_shared<Variables>(std::move(both));
  }
  void add(const List& more) {
    if (!more || more == list_ || list_ == all_) return;
    if (!list_ || more == all_)
      list_ = more;
    else
      add(*more);
  }
  List list() const { return list_; }

 private:
  const List all_;
  List list_;
};

// By components of the graph of calls: the functions of one have the same needs.
class Called {
 public:
  explicit Called(const Module& module) : module_(module), definitions_(module) {
    needs_.functions.resize(module.functions.size());
    Variables all;
    mentions_.reserve(module.functions.size());
    for (const Function& f : module.functions) {
      const Mentions& more = mentions_.emplace_back(module, f);
      all.insert(all.end(), more.shared.begin(), more.shared.end());
    }
    keepOne(all);
    all_ = std::make_shared<Variables>(std::move(all));
  }

  ModuleCalledNeeds run() {
    for (const Function& f : module_.functions) {
      // A name stands for its definition, which may come before it.
      const Function* const definition = definitions_.of(f);
      mentions_[f.index].callsUnseen |= definition == nullptr;
      if (definition != nullptr && definition != &f) mentions_[f.index].functions.push_back(definition->index);
    }
    std::vector<uint32_t> all(mentions_.size());
    std::iota(all.begin(), all.end(), 0u);
    Components components(all.size(),
                          [&](uint32_t f) -> const std::vector<uint32_t>& { return mentions_[f].functions; });
    components.find(
        all, [](uint32_t) { return true; }, [&](std::span<const uint32_t> functions, bool) { add(functions); });
    return std::move(needs_);
  }

 private:
  void add(std::span<const uint32_t> component) {
    CalledNeeds all;
    Union shared(all_);
    for (const uint32_t f : component) {
      addFlags(all, mentions_[f]);
      shared.add(mentions_[f].shared);
      for (const uint32_t to : mentions_[f].functions) {  // nothing is known yet of those of the component
        addFlags(all, needs_.functions[to]);
        shared.add(needs_.functions[to].shared);
      }
    }
    all.shared = shared.list();
    for (const uint32_t f : component) needs_.functions[f] = all;
  }

  const Module& module_;
  const Definitions definitions_;
  std::vector<Mentions> mentions_;
  Union::List all_;
  ModuleCalledNeeds needs_;
};

// What is known of the functions.
void addKnown(const ModuleCalledNeeds& called, const std::vector<uint32_t>& functions, KernelNeeds& needs,
              Variables& shared) {
  if (called.functions.empty()) return;
  for (const uint32_t f : functions) {
    const CalledNeeds& more = called.functions[f];
    addFlags(needs, more);
    if (more.shared) shared.insert(shared.end(), more.shared->begin(), more.shared->end());
  }
}

// What the functions, and all that they reach, are now.
void addReached(const Module& module, const std::vector<uint32_t>& functions, KernelNeeds& needs,
                Variables& shared) {
  if (functions.empty()) return;
  const Definitions definitions(module);
  const auto defined = [&](const std::vector<uint32_t>& named) {
    std::vector<uint32_t> found;
    for (const uint32_t f : named)
      if (const Function* const definition = definitions.of(module.functions[f]))
        found.push_back(definition->index);
      else
        needs.callsUnseen = true;
    return found;
  };
  reachedFrom(defined(functions), module.functions.size(), [&](uint32_t f) {
    const Mentions more(module, module.functions[f]);
    addFlags(needs, more);
    shared.insert(shared.end(), more.shared.begin(), more.shared.end());
    return defined(more.functions);
  });
}

std::string limits(const target::Occupancy& o) {
  std::string text;
  for (std::size_t r = 0; r < target::kResources; ++r)
    if (o.isLimitedBy(static_cast<target::Resource>(r)))
      text += fmt::format("{}{}", text.empty() ? "" : ", ", name(static_cast<target::Resource>(r)));
  return text;
}

}  // namespace

ModuleCalledNeeds makeCalledNeeds(const Module& module) {
  if (std::ranges::none_of(module.opcodes, [](const OpcodeForm& o) { return o.is(effect::Call); })) return {};
  return Called(module).run();
}

KernelNeeds kernelNeeds(const Module& module, const Function& kernel, const ModuleCalledNeeds* called) {
  KernelNeeds needs;
  Mentions own(module, kernel);
  addFlags(needs, own);
  if (called != nullptr)
    addKnown(*called, own.functions, needs, own.shared);
  else
    addReached(module, own.functions, needs, own.shared);
  keepOne(own.shared);
  needs.sharedBytes = bytesOf(own.shared);
  needs.threads = threadsOf(module, kernel);
  return needs;
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
