// widen-accesses: neighbouring loads, and neighbouring stores, become one of a vector.
//
// What:       loads of one block that name the same register and offsets that follow each other, of one opcode and
//             under one guard, become `ld.v2` or `ld.v4` where the first of them stands; such stores become `st.v2` or
//             `st.v4` where the last one stands. At most 16 bytes.
// Alignment:  that the address is a multiple of the vector's size is proved by the lowest bits of what it is made of
//             (low_bits.h): from facts on parameters, `.ptr .align`, aligned variables.
// Algorithm:  in each block, between walls (load_order.h), the accesses of each kind by their offsets, four before two.
//             Loads first; stores when what is known of the function has been made anew.
// Invariants: a load crosses nothing that may write what it reads, that reads or writes its result, or that writes what
//             it reads; a store nothing that may read or write what it writes, or that writes what it reads. A block
//             runs as a whole, so nothing is accessed that was not. The vector is weak as its parts were: PTX takes it
//             for as many accesses in any order. Results are distinct registers. All of a vector are declared for one
//             type: ptxas takes a mixture of some, and none of several widths.
// Where:      from sm_120 on, where narrow accesses take the load/store unit longer; the model of time finds no gain
//             elsewhere (docs/results/headroom.md). The knob widen-accesses-everywhere asks for it on all targets.
// Cost:       linear in operands, and for each access at most kLongestVector instructions; low_bits.h where there are
//             neighbours.
// Declines:   alignment (not proved); between (something stands in the way); same-register (a result is not a register
//             of its own); address-size (32 bits). Accesses that are ordered, volatile, or described by a pragma are
//             walls or not looked at.
#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/values/low_bits.h"
#include "passes/memory/load_order.h"
#include "passes/util/function_pass.h"
#include "passes/util/missed_remarks.h"
#include "target/target.h"

namespace ptxopt {
namespace {

constexpr std::size_t kLongestVector = 256;  // between the first and the last of a vector

class WidenAccesses : IntervalPass {
 public:
  WidenAccesses(Function& f, PassContext& context, Op op)
      : IntervalPass(f, context),
        order_(f, context),
        bits_(module_, f, cfg_, slots_, intervals_),
        isLoad_(op == Op::Ld),
        op_(op) {}

  // How many accesses were put together.
  std::size_t run() {
    for (uint32_t b = 0; b < cfg_.size(); ++b)
      if (cfg_[BlockId(b)].reachable && !context_.isDeclined(BlockId(b))) block(BlockId(b));
    for (const std::vector<InstrId>& vector : vectors_) widen(vector);
    missed_.tell(context_, isLoad_ ? "load" : "store");
    std::size_t accesses = 0;
    for (const std::vector<InstrId>& vector : vectors_) accesses += vector.size();
    return accesses;
  }

 private:
  struct Access {
    std::size_t at = 0;  // in the run
    int64_t offset = 0;
    bool isTaken = false;
  };
  struct Item {
    InstrId id;
    LoadBarrier barrier;
  };
  // What accesses of one vector have in common: opcode, the type that registers of values are declared for, kind and payload
  // of the base, guard.
  using Key = std::tuple<uint32_t, ScalarType, OperandKind, uint32_t, uint32_t, uint8_t>;

  void block(BlockId b) {
    const Block& block = cfg_[b];
    for (InstrId id = block.first; id.valid(); id = id == block.last ? InstrId() : f_[id].next) {
      const LoadBarrier barrier = order_.barrier(id);
      if (barrier == LoadBarrier::Wall)
        finishRun();
      else
        run_.push_back({id, barrier});
    }
    finishRun();
  }

  void finishRun() {
    std::map<Key, std::vector<Access>> kinds;
    for (std::size_t at = 0; at < run_.size(); ++at)
      if (const auto found = accessAt(at)) kinds[found->first].push_back(found->second);
    for (auto& [key, accesses] : kinds) {
      if (accesses.size() < 2) continue;
      for (const unsigned lanes : {4u, 2u}) find(accesses, lanes);
    }
    run_.clear();
  }

  std::optional<std::pair<Key, Access>> accessAt(std::size_t at) const {
    const InstrId id = run_[at].id;
    if (!f_[id].isInstruction() || module_.form(f_[id]).op != op_) return {};
    if (!module_.vectorOpcode(f_[id].opcode(), 2).valid() || (isLoad_ && !order_.isMovable(id))) return {};
    const auto operands = f_.operandsOf(f_[id]);
    const bool isGuarded = f_[id].is(Instruction::Guarded);
    const std::size_t memory = isGuarded + std::size_t{isLoad_};
    if (operands.size() < memory + 2 + !isLoad_ || operands[memory].kind != OperandKind::Memory) return {};
    const std::size_t inside = operands[memory].inside();
    const Operand& base = operands[memory + 1];
    // The value, and the address: nothing else, such as `.unified` or a cache policy.
    const std::size_t value = isLoad_ ? memory - 1 : memory + 1 + inside;
    if (operands.size() != memory + 1 + inside + !isLoad_ || !isScalarRegister(operands[value])) return {};
    if (inside > 2 || (base.isRegister() && base.flags != 0)) return {};
    int64_t offset = 0;
    if (inside == 2) {
      const Operand& by = operands[memory + 2];
      const auto bits = immediate(f_, by);
      if (!bits || (by.join != Join::Plus && by.join != Join::Minus)) return {};
      offset = by.join == Join::Minus ? -static_cast<int64_t>(*bits) : static_cast<int64_t>(*bits);
      if (offset != static_cast<int32_t>(offset)) return {};
    }
    const uint32_t guard = isGuarded ? operands[0].payload : UINT32_MAX;
    const uint8_t negated = isGuarded ? operands[0].flags : 0;
    const ScalarType type = f_.registers[operands[value].payload].type;
    return std::pair{Key{f_[id].payload, type, base.kind, base.payload, guard, negated}, Access{at, offset}};
  }

  bool isScalarRegister(const Operand& o) const {
    return o.isRegister() && o.flags == 0 && f_.registers[o.payload].lanes == 1;
  }

  // ---- one vector ----

  void find(std::vector<Access>& accesses, unsigned lanes) {
    for (std::size_t k = 0; k < accesses.size(); ++k) {
      if (accesses[k].isTaken) continue;
      const InstrId first = run_[accesses[k].at].id;
      if (!module_.vectorOpcode(f_[first].opcode(), lanes).valid()) return;
      const auto size = static_cast<int64_t>(info(module_.form(f_[first]).type).bits / 8);
      std::vector<Access*> together{&accesses[k]};
      for (unsigned lane = 1; lane < lanes; ++lane) {
        Access* const next = nearest(accesses, accesses[k], accesses[k].offset + lane * size);
        if (next == nullptr) break;
        together.push_back(next);
      }
      if (together.size() != lanes) continue;
      if (const std::string_view why = whyNot(together, lanes * static_cast<unsigned>(size)); !why.empty()) {
        if (lanes == 2) missed_.add(why);
        continue;
      }
      std::vector<InstrId>& vector = vectors_.emplace_back();
      for (Access* const a : together) {
        a->isTaken = true;
        vector.push_back(run_[a->at].id);
      }
    }
  }

  // The nearest one of those at an offset.
  static Access* nearest(std::vector<Access>& accesses, const Access& to, int64_t offset) {
    Access* best = nullptr;
    const auto distance = [&](const Access& a) { return a.at > to.at ? a.at - to.at : to.at - a.at; };
    for (Access& a : accesses)
      if (!a.isTaken && a.offset == offset && distance(a) < kLongestVector &&
          (best == nullptr || distance(a) < distance(*best)))
        best = &a;
    return best;
  }

  std::string_view whyNot(const std::vector<Access*>& together, unsigned bytes) {
    if (!bits_.address(run_[together.front()->at].id).isMultipleOf(bytes)) return "alignment";
    std::size_t first = SIZE_MAX, last = 0;
    for (std::size_t a = 0; a < together.size(); ++a) {
      first = std::min(first, together[a]->at);
      last = std::max(last, together[a]->at);
      for (std::size_t b = 0; isLoad_ && b < a; ++b)
        if (valueOf(together[a]->at) == valueOf(together[b]->at)) return "same-register";
    }
    for (const Access* const a : together)
      for (std::size_t at = isLoad_ ? first : a->at + 1; at < (isLoad_ ? a->at : last + 1); ++at)
        if (at != a->at && !mayCross(a->at, at)) return "between";
    return {};
  }

  uint32_t valueOf(std::size_t at) const {
    const auto operands = f_.operandsOf(f_[run_[at].id]);
    return isLoad_ ? operands[f_[run_[at].id].is(Instruction::Guarded)].payload : operands.back().payload;
  }

  // Whether an access may change places with what stands between it and the place of the vector.
  bool mayCross(std::size_t moved, std::size_t other) {
    const InstrId id = run_[moved].id, by = run_[other].id;
    if (!f_[by].isInstruction()) return f_[by].kind == InstrKind::Loc;  // names mean the same
    for (const Operand& o : f_.operandsOf(f_[id]))
      for (const Operand& p : f_.operandsOf(f_[by]))
        if (o.isRegister() && p.isRegister() && o.payload == p.payload && (o.writes() || p.writes())) return false;
    if (isLoad_) return run_[other].barrier != LoadBarrier::Store || !order_.mayWrite(by, id);
    if (run_[other].barrier == LoadBarrier::Store) return !order_.mayWrite(id, by);
    return !module_.form(f_[by]).is(effect::Read) || (order_.isMovable(by) && !order_.mayWrite(id, by));
  }

  // ---- the edit ----

  void widen(const std::vector<InstrId>& lanes) {
    const InstrId lowest = lanes.front();
    InstrId place = lowest;
    for (const InstrId id : lanes)
      if (isLoad_ ? slots_[id] < slots_[place] : slots_[place] < slots_[id]) place = id;
    const auto operands = f_.operandsOf(f_[lowest]);
    const bool isGuarded = f_[lowest].is(Instruction::Guarded);
    const std::size_t memory = isGuarded + std::size_t{isLoad_};
    const auto address = operands.subspan(memory, 1 + operands[memory].inside());
    std::vector<Operand> made;
    if (isGuarded) made.push_back(operands[0]);
    const auto addGroup = [&](Join join) {
      Operand group;
      group.kind = OperandKind::Vector;
      group.join = join;
      group.payload = static_cast<uint32_t>(lanes.size());
      made.push_back(group);
      for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        const auto own = f_.operandsOf(f_[lanes[lane]]);
        Operand value = isLoad_ ? own[isGuarded] : own.back();
        value.join = lane == 0 ? Join::None : Join::Comma;
        made.push_back(value);
      }
    };
    if (isLoad_) addGroup(operands[isGuarded].join);
    made.insert(made.end(), address.begin(), address.end());
    if (!isLoad_) addGroup(operands.back().join);
    const OpcodeId opcode = module_.vectorOpcode(f_[lowest].opcode(), static_cast<unsigned>(lanes.size()));
    f_.insert(place, opcode, made);
    for (const InstrId id : lanes) f_.erase(id);
  }

  LoadOrder order_;
  const LowBits bits_;
  const bool isLoad_;
  const Op op_;
  std::vector<Item> run_;
  std::vector<std::vector<InstrId>> vectors_;  // by lane
  MissedRemarks missed_;
};

// Two accesses that may become one, with no label between.
bool hasCandidates(const Module& module, const Function& f, Op op) {
  std::size_t found = 0;
  for (const InstrId id : f) {
    if (f[id].kind == InstrKind::Label) found = 0;
    if (!f[id].isInstruction() || module.form(f[id]).op != op) continue;
    if (module.vectorOpcode(f[id].opcode(), 2).valid() && ++found == 2) return true;
  }
  return false;
}

bool pays(const PassContext& context) {
  return context.knobs[Knob::WidenAccessesEverywhere] != 0 ||
         context.target().has(target::Capability::SlowNarrowAccesses);
}

}  // namespace

bool widenAccesses(Function& f, PassContext& context) {
  if (context.module.synth.vectors.empty() || !pays(context)) return false;
  bool changed = false;
  for (const Op op : {Op::Ld, Op::St}) {
    if (!hasCandidates(context.module, f, op)) continue;
    if (context.module.addressSize != 64) {
      context.decline("address-size", "addresses have 32 bits");
      return changed;
    }
    if (!context.hasUsableIntervals()) return changed;
    const std::size_t accesses = WidenAccesses(f, context, op).run();
    context.count(op == Op::Ld ? "loads" : "stores", accesses);
    if (accesses != 0) context.analyses.invalidate();
    changed |= accesses != 0;
  }
  return changed;
}

}  // namespace ptxopt
