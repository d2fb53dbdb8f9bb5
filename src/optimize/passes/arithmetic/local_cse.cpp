// local-cse: what was read from shared or constant memory, or written to shared memory, is not read again.
//
// What:       A load of what a load before it read, or a store before it wrote, becomes a copy. ptxas does that by
//             itself up to the next store to shared memory, whatever its address, and the next slow operation that
//             it makes a call of (div.rn, sqrt.rn, 64-bit division); before sm_90 also up to a shfl, vote, match or
//             redux whose mask is in a register.
// Algorithm:  a walk over extended basic blocks (each block but the first has one predecessor, the one before it on
//             the way), with the values that are available (cse/available_values.h); what ends them
//             cse/memory_model.h says, and which addresses are the same or apart cse/shared_address.h (scalar
//             evolution). The edits are made at the end.
// Invariants: the value is taken where it was loaded or stored: from its register if that still holds it, otherwise
//             from a copy of it. Types match: a lane that fills its register is bits, whatever type names them; of a
//             narrower load type and register must be those of the other one. Loads under a guard become copies
//             under that guard, and are not a source, since they may leave what was there. The pragma
//             `used_bytes_mask` marks lanes as unused; such a lane becomes used, and the pragma goes, only for a
//             later load in the same block, which would have read the lane anyway. A copy is made before the
//             register can be written again, so neither register reuse nor swapped vectors matter.
// Registers:  of scalars of 16 to 64 bits, of any class, copied as bits. A store makes its value available only if the
//             value is a whole register of the store's width. Otherwise (a constant, `%r1 + 4`, `%v.x`, a wider
//             register) the store only ends what was known of the bytes.
// Cost:       linear in operands, plus accesses times the entries that are kept.
// Declines:   too-large; for loads: register-class (lanes of other types, `.v2` registers), repeated-register (one
//             register in two lanes), register-pressure (the value would live longer than what costs no resident
//             block).
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "ir/pragmas.h"
#include "passes/arithmetic/cse/available_values.h"
#include "passes/util/function_pass.h"
#include "passes/util/insert_copy.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/range_register_budget.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {
namespace {

using cse::AvailableValues;
using cse::HeldLane;
using cse::MemoryAddress;
using cse::MemoryEffect;
using cse::MemoryOperation;
using cse::TrackedSpace;

constexpr std::size_t kMostLanes = 8;

class LocalCse : IntervalPass {
 public:
  LocalCse(Function& f, PassContext& context)
      : IntervalPass(f, context),
        model_(context.module),
        addresses_(f, context),
        budget_(f, context, RangeRegisterBudget::Estimate::FatPoint) {}

  bool run() {
    std::vector<bool> isRoot(cfg_.size());
    for (const BlockId b : cfg_.roots()) isRoot[b.value] = true;
    const auto continues = [&](BlockId b) { return !isRoot[b.value] && cfg_.predecessors(b).size() == 1; };
    struct Stop {
      BlockId block;
      AvailableValues available;
    };
    std::vector<Stop> work;
    for (uint32_t b = 0; b < cfg_.size(); ++b) {
      if (!cfg_[BlockId(b)].reachable || continues(BlockId(b))) continue;
      work.push_back({BlockId(b), {}});
      while (!work.empty()) {
        Stop now = std::move(work.back());
        work.pop_back();
        for (const InstrId id : slots_.instructions(now.block)) look(id, now.available);
        for (const BlockId next : cfg_.successors(now.block))
          if (continues(next)) work.push_back({next, now.available});
      }
    }
    missed_.tell(context_, "load");
    apply();
    return !replacements_.empty();
  }

 private:
  // One register of the data of an access.
  struct Lane {
    const Operand* operand;
    bool isRegister;  // and no `_` or number
  };
  struct Lanes {
    std::array<Lane, kMostLanes> all{};
    std::size_t count = 0;
    uint32_t address = 0;  // operand `[..]`
    InstrId pragma;        // that says which bytes are used
    std::string_view problem;
  };
  // What a lane of a replaced load is copied from.
  struct Source {
    RegId to;
    HeldLane held;
    bool needsCopy = false;  // `held.reg` does not hold it there any more, or may not be named there
  };
  struct Replacement {
    InstrId load;
    std::vector<Source> sources;
  };

  // ---- the walk ----

  void look(InstrId id, AvailableValues& available) {
    const MemoryOperation& o = model_.of(f_[id]);
    if (o.effect == MemoryEffect::None) return;
    if (o.effect == MemoryEffect::Wall) return available.wall();
    const bool isStore = o.effect == MemoryEffect::Store;
    const Lanes lanes = lanesOf(id, o);
    const auto address = lanes.address < f_[id].operandCount ? addresses_.of(id, lanes.address) : std::nullopt;
    if (isStore) {
      if (!address) return available.wall();
      available.store(addresses_, *address, o.bytes());
    }
    if (!address) return;
    if (!lanes.problem.empty()) {
      if (!isStore && isKnown(*address, o, available)) missed_.add(lanes.problem);
      return;
    }
    if (!isStore && replace(id, o, lanes, *address, available)) context_.count("loads-replaced");
    // After a guard it is not sure what the register holds, nor what was stored.
    if (f_[id].is(Instruction::Guarded)) return;
    const uint64_t used = lanes.pragma.valid() ? usedBytes(module_, f_[lanes.pragma]) : ~uint64_t{0};
    for (std::size_t k = 0; k < lanes.count; ++k) {
      if (!lanes.all[k].isRegister) continue;
      const RegId reg = lanes.all[k].operand->reg();
      if (isStore && !fills(o.type, reg)) continue;
      const uint64_t bytes = maskTo(~uint64_t{0}, o.laneBytes()) << (k * o.laneBytes());
      const InstrId pragma = (used & bytes) == bytes ? InstrId() : lanes.pragma;
      const ValueId v = isStore ? intervals_[reg].valueIn(slots_[id]) : intervals_[reg].valueOut(slots_[id]);
      if (v.valid()) available.add({laneAt(*address, o, k), o.space, o.type, id, reg, v, pragma});
    }
  }

  static MemoryAddress laneAt(MemoryAddress at, const MemoryOperation& o, std::size_t lane) {
    at.offset += lane * o.laneBytes();
    return at;
  }

  bool isKnown(const MemoryAddress& at, const MemoryOperation& o, const AvailableValues& available) const {
    return available.find(o.space, at, [&](const HeldLane& h) { return info(h.type).bits == info(o.type).bits; }) !=
           nullptr;
  }

  bool fills(ScalarType type, RegId reg) const {
    return info(f_.registers[reg.value].type).bits == info(type).bits;
  }

  // The data operands, and why they cannot be followed.
  Lanes lanesOf(InstrId id, const MemoryOperation& o) const {
    const auto operands = f_.operandsOf(f_[id]);
    Lanes lanes;
    uint32_t at = f_[id].is(Instruction::Guarded) ? 1 : 0;
    while (lanes.address + at < operands.size() && operands[at + lanes.address].kind != OperandKind::Memory)
      ++lanes.address;
    lanes.address += at;
    if (o.effect == MemoryEffect::Store && lanes.address < operands.size())
      at = lanes.address + 1 + operands[lanes.address].inside();
    const bool isVector = at < operands.size() && operands[at].kind == OperandKind::Vector;
    const auto data = at >= operands.size() ? operands.last(0)
                      : isVector            ? operands.subspan(at + 1, operands[at].inside())
                                            : operands.subspan(at, 1);
    if (data.size() != o.lanes || o.lanes > kMostLanes) {
      lanes.problem = "register-class";
      return lanes;
    }
    lanes.pragma = usedBytesMaskOf(module_, f_, id);
    for (const Operand& d : data) {
      const bool isRegister = d.isRegister() && d.flags == 0;
      if (isRegister && !isPlain(d.reg())) lanes.problem = "register-class";
      if (isRegister && o.effect == MemoryEffect::Load)
        for (std::size_t k = 0; k < lanes.count; ++k)
          if (lanes.all[k].isRegister && lanes.all[k].operand->reg() == d.reg())
            lanes.problem = "repeated-register";
      lanes.all[lanes.count++] = {&d, isRegister};
    }
    return lanes;
  }

  bool isPlain(RegId r) const {
    const Register& reg = f_.registers[r.value];
    const RegisterClass c = reg.registerClass();
    return reg.lanes == 1 && (c == RegisterClass::B16 || c == RegisterClass::B32 || c == RegisterClass::B64 ||
                              c == RegisterClass::F32 || c == RegisterClass::F64);
  }

  // ---- one load ----

  bool replace(InstrId id, const MemoryOperation& o, const Lanes& lanes, const MemoryAddress& address,
               const AvailableValues& available) {
    Replacement r{id, {}};
    for (std::size_t k = 0; k < lanes.count; ++k) {
      if (!lanes.all[k].isRegister) continue;
      const RegId to = lanes.all[k].operand->reg();
      const MemoryAddress at = laneAt(address, o, k);
      const auto fits = [&](const HeldLane& h) {
        if (h.pragma.valid() && cfg_.blockOf(h.from) != cfg_.blockOf(id)) return false;
        if (fills(o.type, to)) return fills(h.type, h.reg) && fills(o.type, h.reg);
        return h.type == o.type &&
               info(f_.registers[h.reg.value].type).bits == info(f_.registers[to.value].type).bits;
      };
      const HeldLane* held = available.find(o.space, at, [&](const HeldLane& h) { return fits(h) && isAt(h, id); });
      if (held == nullptr) held = available.find(o.space, at, fits);
      if (held == nullptr) return false;
      r.sources.push_back({to, *held, !isAt(*held, id)});
    }
    if (r.sources.empty()) return false;
    // One copy after the other: none may write what another one reads.
    if (r.sources.size() > 1)
      for (Source& s : r.sources)
        s.needsCopy |= std::ranges::any_of(r.sources, [&](const Source& x) { return x.to == s.held.reg; });
    const auto isCopied = [&](const Source& s) { return s.needsCopy && context_.isDeclined(s.held.from); };
    if (context_.isDeclined(id) || std::ranges::any_of(r.sources, isCopied)) {
      missed_.add(kAsked);
      return false;
    }
    for (const Source& s : r.sources) {
      if (isAt(s.held, id)) continue;
      if (mayExtend(s.held, id)) continue;
      missed_.add("register-pressure");
      return false;
    }
    for (const Source& s : r.sources)
      if (s.held.pragma.valid()) pragmas_.push_back(s.held.pragma);
    if (lanes.pragma.valid()) pragmas_.push_back(lanes.pragma);
    replacements_.push_back(std::move(r));
    return true;
  }

  // Whether the register holds the value before the instruction, and may be named there.
  bool isAt(const HeldLane& h, InstrId id) {
    return intervals_[h.reg].valueIn(slots_[id]) == h.value && reaches_(h.reg, id);
  }

  bool mayExtend(const HeldLane& h, InstrId id) {
    const SlotIndex to = slots_[id];
    SlotIndex from = slots_[h.from];
    if (const Segment* const s = intervals_[h.reg].find(from.dead()); s != nullptr && s->value == h.value)
      from = std::min(s->end, to);
    return budget_.grant(info(f_.registers[h.reg.value].type).bits == 64 ? 2 : 1, from, to);
  }

  // ---- the edits ----

  void apply() {
    std::map<std::pair<uint32_t, uint32_t>, RegId> copies;  // by instruction and register
    for (const Replacement& r : replacements_)
      for (const Source& s : r.sources) {
        if (!s.needsCopy) continue;
        RegId& copy = copies[{s.held.from.value, s.held.reg.value}];
        if (copy.valid()) continue;
        copy = f_.makeRegister(f_.registers[s.held.reg.value].type);
        insertCopy(module_, f_, copy, s.held.reg, f_[s.held.from].next);
      }
    for (const Replacement& r : replacements_) {
      const auto operands = f_.operandsOf(f_[r.load]);
      const std::optional<Operand> guard =
          f_[r.load].is(Instruction::Guarded) ? std::optional(operands[0]) : std::nullopt;
      for (const Source& s : r.sources) {
        const RegId from = s.needsCopy ? copies[{s.held.from.value, s.held.reg.value}] : s.held.reg;
        if (from == s.to) continue;
        insertCopy(module_, f_, s.to, from, r.load, guard);
      }
      f_.erase(r.load);
    }
    for (const InstrId pragma : pragmas_)
      if (!f_[pragma].is(Instruction::Erased)) f_.erase(pragma);
  }

  cse::MemoryModel model_;
  cse::MemoryAddresses addresses_;
  RangeRegisterBudget budget_;
  MissedRemarks missed_;
  RegisterReach reaches_{module_, f_};
  std::vector<Replacement> replacements_;
  std::vector<InstrId> pragmas_;  // that no longer hold, or have no load any more
};

// Two loads of shared or constant memory, or a store and a load.
bool hasCandidates(const Module& module, const Function& f) {
  std::size_t loads = 0, stores = 0;
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    const OpcodeForm& form = module.form(f[id]);
    const bool isLoad = form.op == Op::Ld;
    const bool isOfInterest =
        isOwnShared(form.space) || form.space == StateSpace::SharedCluster || form.space == StateSpace::Const;
    if ((!isLoad && form.op != Op::St) || !isOfInterest) continue;
    ++(isLoad ? loads : stores);
    if (loads > 1 || (loads == 1 && stores != 0)) return true;
  }
  return false;
}

}  // namespace

bool localCse(Function& f, PassContext& context) {
  if (!hasCandidates(context.module, f) || !context.hasUsableIntervals()) return false;
  return LocalCse(f, context).run();
}

}  // namespace ptxopt
