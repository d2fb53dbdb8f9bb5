// The walk goes back from each load, through its iteration and the one before, for an access to the same address.
// Groups that may write in between are noted as pairs that a check must find apart.
#include "passes/loops/versioning/redundant_accesses.h"

#include <algorithm>

namespace ptxopt {
namespace {

// Whether accesses of `a` and, `distance` after it, of `b` bytes have no byte in common.
bool areApart(uint64_t distance, unsigned a, unsigned b) { return distance >= a && ~distance + 1 >= b; }

}  // namespace

RedundantAccesses::RedundantAccesses(const Function& f, PassContext& context, const LoopAccesses& accesses,
                                     const LoadOrder& order)
    : f_(f), context_(context), e_(context.analyses.scalarEvolution().expressions()), all_(accesses) {
  const auto all = all_.all();
  for (std::size_t g = 0; g < all_.groups(); ++g) {
    const auto range = all_.range(g);
    hasRange_.push_back(range && !range->checks.isNever());
  }
  for (const LoopAccess& access : all) values_.push_back(valueOf(access, order));
  isSourced_.resize(all.size());
  isTaken_.resize(all.size());
  if (std::ranges::none_of(all, &LoopAccess::isStore)) return;
  for (std::size_t a = 0; a < all.size(); ++a)
    if (!all[a].isStore && values_[a].valid()) findLoad(a);
  for (std::size_t a = 0; a < all.size(); ++a)
    if (all[a].isStore && values_[a].valid() && !isTaken_[a]) findStores(a);
  // Loads of what goes to a register have to go, too.
  for (std::size_t k = 0; k < found_.size(); ++k) {
    const LoopAccess& load = all[found_[k].load];
    const bool isOfStores = std::ranges::any_of(stores_, [&](const InvariantStores& s) {
      const LoopAccess& store = all[s.stores.front()];
      return store.group == load.group && store.offset == load.offset;
    });
    if (!isOfStores && !found_[k].isIterationBefore && foundPairs_[k].empty()) continue;
    loads_.push_back(found_[k]);
    pairs_.insert(foundPairs_[k].begin(), foundPairs_[k].end());
  }
}

RegId RedundantAccesses::valueOf(const LoopAccess& access, const LoadOrder& order) const {
  const OpcodeForm& form = context_.module.form(f_[access.id]);
  if (!access.isKnown() || access.isGuarded || form.vector != 1) return {};
  if (access.isStore ? order.barrier(access.id) != LoadBarrier::Store : !order.isMovable(access.id)) return {};
  const auto operands = f_.operandsOf(f_[access.id]);
  const std::size_t inside = operands[access.memory].inside();
  // The value, and the address: nothing else, such as a cache policy.
  if (operands.size() != inside + 2 || access.memory != (access.isStore ? 0 : 1)) return {};
  const Operand& value = access.isStore ? operands[inside + 1] : operands[0];
  if (!value.isRegister() || value.flags != 0) return {};
  const Register& r = f_.registers[value.payload];
  const RegisterClass c = r.registerClass();
  const bool isPlain = c == RegisterClass::B16 || c == RegisterClass::B32 || c == RegisterClass::B64 ||
                       c == RegisterClass::F32 || c == RegisterClass::F64;
  const bool isWhole = info(r.type).bits == access.bytes * 8;
  return isPlain && r.lanes == 1 && (isWhole || !access.isStore) ? value.reg() : RegId();
}

bool RedundantAccesses::fills(std::size_t access) const {
  return info(f_.registers[values_[access].value].type).bits == all_.all()[access].bytes * 8;
}

bool RedundantAccesses::fits(std::size_t source, std::size_t load) const {
  if (!values_[source].valid()) return false;
  if (fills(load)) return fills(source);
  const auto typeOf = [&](std::size_t a) { return context_.module.form(f_[all_.all()[a].id]).type; };
  const auto bitsOf = [&](std::size_t a) { return info(f_.registers[values_[a].value].type).bits; };
  return typeOf(source) == typeOf(load) && bitsOf(source) == bitsOf(load);
}

// Not of two that begin at the same pointer, which a check would never find apart.
bool RedundantAccesses::mayBeApart(std::size_t a, std::size_t b) const {
  if (a == b || !hasRange_[a] || !hasRange_[b]) return false;
  const AccessGroup &x = all_.group(a), &y = all_.group(b);
  const ExprId difference = e_.withoutConstant(e_.subtract(x.start, y.start));
  if (e_.isConstant(difference)) return false;
  for (const ExprId step : {x.step, y.step})
    if (difference == step || difference == e_.negate(step)) return false;
  if (e_[difference].kind != ExprKind::Sum) return true;
  return std::ranges::any_of(e_.terms(difference),
                             [](const ExprTerm& t) { return t.factor == 1 || t.factor == ~uint64_t{0}; });
}

bool RedundantAccesses::need(std::size_t a, std::size_t b, Pairs& pairs) const {
  if (!mayBeApart(a, b)) return false;
  pairs.insert({std::min(a, b), std::max(a, b)});
  return true;
}

void RedundantAccesses::findLoad(std::size_t load) {
  Pairs pairs;
  const auto end = [&](std::size_t other, bool isIterationBefore) {
    const Step step = pass(other, load, isIterationBefore, pairs);
    if (step == Step::Found) {
      found_.push_back({load, other, isIterationBefore});
      foundPairs_.push_back(pairs);
      isSourced_[load] = true;
    }
    return step != Step::Goes;
  };
  for (std::size_t other = load; other-- > 0;)
    if (end(other, false)) return;
  for (std::size_t other = all_.all().size(); other-- > load;)
    if (end(other, true)) return;
}

// Goes back over an access from a load for which nothing was found yet.
RedundantAccesses::Step RedundantAccesses::pass(std::size_t other, std::size_t load, bool isIterationBefore,
                                                Pairs& pairs) const {
  const LoopAccess &o = all_.all()[other], &l = all_.all()[load];
  const Step otherwise = o.isStore ? Step::Fails : Step::Goes;
  if (!o.isKnown()) return otherwise;
  if (const auto distance = all_.distance(l, o, isIterationBefore)) {
    if (*distance == 0 && o.bytes == l.bytes && !o.isGuarded && fits(other, load)) return Step::Found;
    return areApart(*distance, l.bytes, o.bytes) ? Step::Goes : otherwise;
  }
  if (!o.isStore) return Step::Goes;
  return need(o.group, l.group, pairs) ? Step::Goes : Step::Fails;
}

void RedundantAccesses::findStores(std::size_t store) {
  const auto all = all_.all();
  if (!e_.isConstant(all[store].step, 0)) return;
  InvariantStores cell;
  for (std::size_t a = store; a < all.size(); ++a) {
    if (!all[a].isStore || !all[a].isKnown() || all[a].group != all[store].group ||
        all[a].offset != all[store].offset)
      continue;
    cell.stores.push_back(a);
    isTaken_[a] = true;
  }
  Pairs pairs;
  if (!canGo(cell.stores, pairs)) return;
  pairs_.insert(pairs.begin(), pairs.end());
  stores_.push_back(std::move(cell));
}

bool RedundantAccesses::canGo(const std::vector<std::size_t>& stores, Pairs& pairs) const {
  const auto all = all_.all();
  const LoopAccess& cell = all[stores.front()];
  for (std::size_t a = 0; a < all.size(); ++a) {
    if (!all[a].isKnown()) return false;
    if (all[a].group != cell.group) {
      if (!need(all[a].group, cell.group, pairs)) return false;
    } else if (all[a].offset == cell.offset && all[a].bytes == cell.bytes) {
      if (all[a].isStore ? !values_[a].valid() : !isSourced_[a]) return false;
    } else if (!areApart(static_cast<uint64_t>(all[a].offset - cell.offset), cell.bytes, all[a].bytes)) {
      return false;
    }
  }
  return true;
}

}  // namespace ptxopt
