// promote-local: parts of local variables that are only loaded and stored become registers.
//
// What:       Of each local variable (a depot of a compiler, an array) none of whose addresses gets out of sight,
// the
//             accesses at constant offsets are sorted into slots that do not overlap (promote/local_slots.h). A
//             slot becomes registers; loads and stores of it become moves, packs, unpacks, and insertions and
//             extractions of narrow fields (promote/slot_code.h). PTX's registers are written many times, so joins
//             need nothing. ptxas does as much only for plain 32-bit slots: not for generic addresses, not where 64
//             bits are read back as halves, not for bytes. A variable that nothing accesses any longer goes, with
//             what computed its addresses and its declaration.
// Algorithm:  local_addresses.h.
// Invariants: guards stay on what writes; a value that was never stored was unspecified and is so now. What is read
// of a
//             slot is what was stored last, on every way.
// Gate:       slots of at most promote-local-words 32-bit registers in all, those with the most accesses first
// (each
//             loop counts eight times): a large array of constant indexes stays in memory.
// Cost:       nothing without a local variable; else live intervals and linear in operands for each sweep.
// Declines, by variable: the reasons of local_addresses.h (escapes, dynamic-index, compared, atomic, volatile,
// ...),
//             unaligned; by slot: register-pressure; by function: too-large, address-size (32-bit).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "passes/promote/slot_code.h"

namespace ptxopt {
namespace {

constexpr uint32_t kRoundsLog = 3, kMostDepth = 5;  // a loop goes round eight times

class LocalPromotion {
 public:
  LocalPromotion(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        addresses_(context.module, f, context.analyses.cfg(), context.analyses.slotIndexes(),
                   context.analyses.liveIntervals()),
        code_(f, context.module),
        slots_(f.variables.size()) {}

  bool run() {
    for (const VariableId v : addresses_.variables()) {
      std::string_view whyNot = addresses_.whyPinned(v);
      if (whyNot.empty()) slots_[v.value] = makeSlots(v, whyNot);
      if (!whyNot.empty()) decline(v, whyNot);
    }
    choose();
    uint64_t loads = 0, stores = 0, slots = 0;
    for (std::vector<LocalSlot>& all : slots_)
      for (LocalSlot& s : all)
        if (s.isChosen) {
          code_.makeRegisters(s);
          ++slots;
        }
    for (const LocalAccess& a : addresses_.accesses()) {
      if (!isChosen(a)) continue;
      ++(a.isStore ? stores : loads);
      code_.replace(a, slots_[a.variable.value]);
    }
    if (slots != 0) context_.count("slots", slots);
    if (loads != 0) context_.count("loads", loads);
    if (stores != 0) context_.count("stores", stores);
    const bool dropped = dropEmpty();
    return slots != 0 || dropped;
  }

 private:
  void decline(VariableId v, std::string_view why) {
    const Variable& variable = f_.variables[v.value];
    context_.decline(why, variable.name.valid() ? std::string(context_.module.text(variable.name)) : std::string());
  }

  uint64_t weightAt(InstrId id) {
    const Loops& loops = context_.analyses.loops();
    const LoopId loop = loops.of(context_.analyses.cfg().blockOf(id));
    return uint64_t{1} << (kRoundsLog * (loop.valid() ? std::min(loops[loop].depth, kMostDepth) : 0));
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

  // The slots that one access reaches stand or fall together: group by group, the heaviest first.
  void choose() {
    struct Group {
      std::vector<LocalSlot*> slots;
      uint64_t weight = 0;
      uint32_t units = 0;
    };
    std::vector<Group> groups;
    for (const VariableId v : addresses_.variables()) {
      std::vector<LocalSlot>& slots = slots_[v.value];
      std::vector<std::size_t> leader(slots.size());
      std::iota(leader.begin(), leader.end(), std::size_t{0});
      const auto find = [&](std::size_t k) {
        while (leader[k] != k) k = leader[k] = leader[leader[k]];
        return k;
      };
      const auto indexAt = [&](int64_t offset) {
        return static_cast<std::size_t>(LocalSlots::find(slots, offset) - slots.data());
      };
      for (const LocalAccess& a : addresses_.accesses())
        if (a.variable == v && !slots.empty())
          for (int64_t k = 1; k < a.elements; ++k) {
            const std::size_t x = find(indexAt(a.offset)), y = find(indexAt(a.offset + k * a.bytes));
            leader[std::max(x, y)] = std::min(x, y);
          }
      std::vector<std::size_t> groupOf(slots.size(), groups.size() + slots.size());
      for (std::size_t k = 0; k < slots.size(); ++k) {
        std::size_t& group = groupOf[find(k)];
        if (find(k) == k) {
          group = groups.size();
          groups.emplace_back();
        }
        groups[group].slots.push_back(&slots[k]);
        groups[group].weight += slots[k].weight;
        groups[group].units += slots[k].units();
      }
    }
    std::ranges::stable_sort(
        groups, [](const Group& a, const Group& b) { return a.weight * b.units > b.weight * a.units; });
    auto room = static_cast<uint32_t>(context_.knobs["promote-local-words"]);
    uint64_t left = 0;
    for (const Group& g : groups) {
      if (g.units > room) {
        left += g.slots.size();
        continue;
      }
      room -= g.units;
      for (LocalSlot* s : g.slots) s->isChosen = true;
    }
    if (left != 0) context_.decline("register-pressure", fmt::format("{} slot{}", left, left == 1 ? "" : "s"));
  }

  // Variables that nothing accesses: what computes their addresses feeds nothing else.
  bool dropEmpty() {
    bool any = false;
    for (const VariableId v : addresses_.variables()) {
      if (!addresses_.whyPinned(v).empty()) continue;
      const bool isUsed = std::ranges::any_of(
          addresses_.accesses(), [&](const LocalAccess& a) { return a.variable == v && !isChosen(a); });
      if (isUsed) continue;
      for (const InstrId id : addresses_.computations(v)) f_.erase(id);
      any |= !addresses_.computations(v).empty();
      any |= dropDeclaration(v);
    }
    return any;
  }

  bool dropDeclaration(VariableId v) {
    for (const InstrId id : f_)
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.kind == OperandKind::Variable && o.payload == v.value) return false;
    for (const InstrId id : f_) {
      if (f_[id].kind != InstrKind::Declaration) continue;
      const Declaration& d = f_.declarations[f_[id].payload];
      // Names may be declared again in other scopes.
      if (d.declaratorCount != 1 || d.form != f_.variables[v.value].form ||
          f_.declarators[d.firstDeclarator].name != f_.variables[v.value].name || isNamedTwice(v))
        continue;
      f_.erase(id);
      context_.count("variables");
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
  SlotCode code_;
  std::vector<std::vector<LocalSlot>> slots_;  // by VariableId
};

bool hasLocals(const Module& module, const Function& f) {
  return std::ranges::any_of(f.variables, [&](const Variable& v) {
    return !v.isParameter && module.text(module.declarationForms[v.form].space) == "local";
  });
}

}  // namespace

bool promoteLocal(Function& f, PassContext& context) {
  if (!hasLocals(context.module, f)) return false;
  if (context.module.addressSize != 64) {
    context.decline("address-size", "addresses have 32 bits");
    return false;
  }
  if (!context.analyses.cfg().complete()) {
    context.decline("too-large", "the control-flow graph has too many edges");
    return false;
  }
  if (!context.analyses.mayHaveLiveIntervals()) {
    context.decline("too-large", "live ranges need more than liveness may take");
    return false;
  }
  return LocalPromotion(f, context).run();
}

}  // namespace ptxopt
