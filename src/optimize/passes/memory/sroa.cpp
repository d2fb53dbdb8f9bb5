// sroa: parts of local variables that are only loaded and stored become registers.
//
// What:       For each local variable (a depot of a compiler, an array) with no address that gets out of
//             sight, the accesses at constant offsets are sorted into slots that do not overlap
//             (local_slots.h). A slot becomes registers; loads and stores of it become moves, packs,
//             unpacks, and insertions and extractions of narrow fields (slot_code.h). PTX's registers
//             are written many times, so joins need nothing. ptxas does as much only for plain 32-bit slots:
//             not for generic addresses, not where 64 bits are read back as halves, not for bytes. A variable
//             that nothing accesses any longer goes, with what computed its addresses and its declaration. For a
//             variable that is accessed with an index the bytes stay that the index may reach
//             (indexed_reach.h). What keeps addresses in it goes first; then the pass looks again at
//             what these addresses lead to.
// Algorithm:  local_addresses.h.
// Invariants: guards stay on what writes; a value that was never stored was unspecified and is so now. What is
//             read of a slot is what was stored last, on every way.
// Gate:       slots of at most sroa-words 32-bit registers in all, those with the most accesses first
//             (each loop counts eight times): a large array of constant indexes stays in memory.
// Cost:       nothing without a local variable; else live intervals and linear in operands for each sweep.
// Declines:   by variable: the reasons of local_addresses.h (escapes, dynamic-index, compared, atomic, volatile,
//             ...), unaligned; by slot: register-pressure; by function: too-large, address-size (32-bit).
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/machine/kernel_needs.h"
#include "passes/memory/indexed_reach.h"
#include "passes/memory/slot_code.h"
#include "support/union_find.h"

namespace ptxopt {
namespace {

constexpr unsigned kMostRuns = 4;             // a pointer to a pointer takes one more
constexpr unsigned kMostReachIterations = 6;  // of finding out where indexed accesses go

class LocalPromotion {
 public:
  LocalPromotion(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        addresses_(context.module, f, context.analyses.cfg(), context.analyses.slotIndexes(),
                   context.analyses.liveIntervals()),
        reach_(addresses_, context, f.variables.size()),
        slots_(f.variables.size()) {}

  bool run() {
    for (const VariableId v : addresses_.variables()) {
      std::string_view whyNot = addresses_.whyPinned(v);
      if (whyNot.empty()) slots_[v.value] = makeSlots(v, whyNot);
      if (!whyNot.empty()) decline(v, whyNot);
    }
    Function result;
    bool changed = settle(result, false);
    if (changed && losesBlocks(result)) changed = settle(result, true);
    tell();
    if (changed) f_ = std::move(result);
    return changed;
  }

  // Whether a variable stays for what was done with its address.
  bool leftAny() const {
    return std::ranges::any_of(addresses_.variables(), [&](VariableId v) {
      return !addresses_.whyPinned(v).empty() || addresses_.isKeptInMemory(v);
    });
  }

 private:
  // The slots that one access reaches stand or fall together.
  struct Group {
    std::vector<LocalSlot*> slots;
    uint64_t weight = 0;
    uint32_t units = 0;
    bool isReached = false;  // by an indexed access
  };

  // Promotes in a copy of the function until accesses with an index reach no more than was assumed.
  bool settle(Function& result, bool keepsBlocks) {
    result = f_;
    bool changed = promote(result, keepsBlocks);
    for (unsigned iteration = 0; reach_.widen(result); ++iteration) {
      if (iteration == kMostReachIterations) reach_.takeAll();
      result = f_;
      changed = promote(result, keepsBlocks);
    }
    return changed;
  }

  // Makes slots that no indexed access reaches registers in `result`, which is as the function is. To keep the resident blocks
  // takes the estimates of registers of several functions; where they are kept anyway, that is known at the end.
  bool promote(Function& result, bool keepsBlocks) {
    makeGroups();
    std::size_t groups = groupsWithin(static_cast<uint32_t>(context_.knobs[Knob::SroaWords]));
    choose(groups);
    bool changed = apply(result);
    if (keepsBlocks && changed && losesBlocks(result)) {
      // The most groups with which no resident block is lost. More registers for more groups.
      std::size_t few = 0;
      while (few + 1 < groups) {
        const std::size_t middle = (few + groups) / 2;
        choose(middle);
        result = f_;
        apply(result);
        (losesBlocks(result) ? groups : few) = middle;
      }
      choose(few);
      result = f_;
      changed = apply(result);
    }
    return changed;
  }

  // Makes the chosen slots of `to`, which is as the function was, registers.
  bool apply(Function& to) {
    SlotCode code(to, context_.module);
    uint64_t made = 0;
    for (std::vector<LocalSlot>& all : slots_)
      for (LocalSlot& s : all) {
        s.registers.clear();
        if (!s.isChosen) continue;
        code.makeRegisters(s);
        ++made;
      }
    for (const LocalAccess& a : addresses_.accesses())
      if (isChosen(a)) code.replace(a, slots_[a.variable.value]);
    return dropEmpty(to) || made != 0;
  }

  void tell() {
    uint64_t loads = 0, stores = 0, slots = 0, left = 0;
    for (const VariableId v : addresses_.variables()) {
      for (const LocalSlot& s : slots_[v.value])
        if (s.isChosen || !reach_.touches(v, s.begin, s.end)) ++(s.isChosen ? slots : left);
      if (reach_.touchesAny(v)) decline(v, "dynamic-index");
    }
    for (const LocalAccess& a : addresses_.accesses())
      if (isChosen(a)) ++(a.isStore ? stores : loads);
    if (slots != 0) context_.count("slots", slots);
    if (loads != 0) context_.count("loads", loads);
    if (stores != 0) context_.count("stores", stores);
    if (dropped_ != 0) context_.count("variables", dropped_);
    if (left != 0) context_.decline("register-pressure", fmt::format("{} slot{}", left, left == 1 ? "" : "s"));
  }

  // Whether fewer blocks of a kernel are resident than of the function as it was, by the estimate of registers.
  bool losesBlocks(const Function& result) {
    const target::Limits* const machine = context_.target().limits();
    if (!f_.isEntry || machine == nullptr) return false;
    const uint32_t after = blocksOf(result, *machine);
    if (after >= before_.value_or(mostBlocks(result, *machine))) return false;
    if (!before_) before_ = blocksOf(f_, *machine);
    return after < *before_;
  }

  uint32_t blocksOf(const Function& f, const target::Limits& machine) const {
    // Without what is dead by now: addresses that were kept in slots.
    Function clean = f;
    {
      Analyses analyses(context_.module, clean, livenessLimits(context_.knobs));
      PassReport unused;
      PassContext context{context_.module,         context_.knobs, analyses,
                          context_.moduleAnalyses, unused,         context_.architecture};
      dce(clean, context);
    }
    Analyses analyses(context_.module, clean, livenessLimits(context_.knobs));
    return occupancy(machine, needsOf(clean).block(analyses.plainRegisters())).blocks;
  }

  // However few registers it takes.
  uint32_t mostBlocks(const Function& f, const target::Limits& machine) const {
    return occupancy(machine, needsOf(f).block(1)).blocks;
  }
  KernelNeeds needsOf(const Function& f) const {
    return kernelNeeds(context_.module, f, &context_.moduleAnalyses.get<ModuleCalledNeeds>());
  }

  void decline(VariableId v, std::string_view why) {
    const Variable& variable = f_.variables[v.value];
    context_.decline(why, variable.name.valid() ? std::string(context_.module.text(variable.name)) : std::string());
  }

  uint64_t weightAt(InstrId id) {
    return context_.analyses.loops().assumedCount(context_.analyses.cfg().blockOf(id));
  }

  std::vector<LocalSlot> makeSlots(VariableId v, std::string_view& whyNot) {
    std::vector<LocalSlots::Element> elements;
    for (const LocalAccess& a : addresses_.accesses())
      if (a.variable == v)
        for (int64_t k = 0; k < a.elements; ++k)
          elements.push_back({a.offset + k * a.bytes, a.bytes, weightAt(a.at)});
    return LocalSlots::make(std::move(elements), whyNot);
  }

  // All elements of an access are chosen together.
  bool isChosen(const LocalAccess& a) const {
    if (!addresses_.whyPinned(a.variable).empty() || slots_[a.variable.value].empty()) return false;
    return LocalSlots::find(slots_[a.variable.value], a.offset)->isChosen;
  }

  // The groups, those with the most accesses for their registers first.
  void makeGroups() {
    groups_.clear();
    for (const VariableId v : addresses_.variables()) {
      std::vector<LocalSlot>& slots = slots_[v.value];
      UnionFind together(slots.size());
      const auto indexAt = [&](int64_t offset) {
        return static_cast<uint32_t>(LocalSlots::find(slots, offset) - slots.data());
      };
      for (const LocalAccess& a : addresses_.accesses())
        if (a.variable == v && !slots.empty())
          for (int64_t k = 1; k < a.elements; ++k)
            together.unite(indexAt(a.offset), indexAt(a.offset + k * a.bytes));
      std::vector<std::size_t> groupOf(slots.size());
      for (uint32_t k = 0; k < slots.size(); ++k) {
        const uint32_t first = together.find(k);
        if (first == k) {
          groupOf[k] = groups_.size();
          groups_.emplace_back();
        }
        Group& group = groups_[groupOf[first]];
        group.slots.push_back(&slots[k]);
        group.isReached |= reach_.touches(v, slots[k].begin, slots[k].end);
        group.weight += slots[k].weight;
        group.units += slots[k].units();
      }
    }
    for (const VariableId v : addresses_.variables())
      for (LocalSlot& s : slots_[v.value]) s.isChosen = false;
    std::erase_if(groups_, [&](const Group& g) { return g.isReached; });
    std::ranges::stable_sort(
        groups_, [](const Group& a, const Group& b) { return a.weight * b.units > b.weight * a.units; });
  }
  std::size_t groupsWithin(uint32_t words) const {
    std::size_t n = 0;
    for (; n < groups_.size() && groups_[n].units <= words; ++n) words -= groups_[n].units;
    return n;
  }
  void choose(std::size_t groups) {
    for (std::size_t k = 0; k < groups_.size(); ++k)
      for (LocalSlot* s : groups_[k].slots) s->isChosen = k < groups;
  }

  // Variables that nothing accesses: what computes their addresses feeds nothing else.
  bool dropEmpty(Function& to) {
    bool any = false;
    dropped_ = 0;
    for (const VariableId v : addresses_.variables()) {
      if (!addresses_.whyPinned(v).empty() || addresses_.isKeptInMemory(v)) continue;
      const bool isUsed =
          std::ranges::any_of(addresses_.accesses(),
                              [&](const LocalAccess& a) { return a.variable == v && !isChosen(a); }) ||
          std::ranges::any_of(addresses_.indexed(), [&](const IndexedAccess& a) { return a.variable == v; });
      if (isUsed) continue;
      for (const InstrId id : addresses_.computations(v)) to.erase(id);
      any |= !addresses_.computations(v).empty();
      any |= dropDeclaration(to, v);
    }
    return any;
  }

  bool dropDeclaration(Function& to, VariableId v) {
    for (const InstrId id : to)
      for (const Operand& o : to.operandsOf(to[id]))
        if (o.kind == OperandKind::Variable && o.payload == v.value) return false;
    if (!to.variables[v.value].name.valid()) {
      to.variables[v.value].declarator.elements = 0;
      ++dropped_;
      return true;
    }
    for (const InstrId id : to) {
      if (to[id].kind != InstrKind::Declaration) continue;
      const Declaration& d = to.declarations[to[id].payload];
      // Names may be declared again in other scopes.
      if (d.declaratorCount != 1 || d.form != to.variables[v.value].form ||
          to.declarators[d.firstDeclarator].name != to.variables[v.value].name || isNamedTwice(v))
        continue;
      to.erase(id);
      ++dropped_;
      return true;
    }
    return false;
  }
  bool isNamedTwice(VariableId v) const {
    return std::ranges::count(f_.variables, f_.variables[v.value].name, &Variable::name) > 1;
  }

  Function& f_;
  PassContext& context_;
  const LocalAddresses addresses_;
  IndexedReach reach_;
  std::vector<std::vector<LocalSlot>> slots_;  // by VariableId
  std::vector<Group> groups_;
  std::optional<uint32_t> before_;  // resident blocks of the function as it was
  uint64_t dropped_ = 0;            // declarations
};

bool hasLocals(const Module& module, const Function& f) {
  return std::ranges::any_of(f.variables, [&](const Variable& v) {
    return !v.isParameter && module.declarationForms[v.form].space == DeclaredSpace::Local;
  });
}

}  // namespace

bool sroa(Function& f, PassContext& context) {
  if (!hasLocals(context.module, f)) return false;
  if (context.module.addressSize != 64) {
    context.decline("address-size", "addresses have 32 bits");
    return false;
  }
  if (!context.hasUsableIntervals()) return false;
  // An address that was kept in a local variable, such as one that is passed, is seen once that is in registers.
  bool changed = false;
  for (unsigned run = 0; run < kMostRuns; ++run) {
    context.report.declines.clear();  // those of the last run hold
    LocalPromotion promotion(f, context);
    if (!promotion.run()) break;
    changed = true;
    if (!promotion.leftAny()) break;
    context.analyses.invalidate();
  }
  return changed;
}

}  // namespace ptxopt
