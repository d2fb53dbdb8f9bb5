// rotate-addresses: a loop computes the addresses of its next round before it waits for what this round loads.
//
// What:       Where an address is computed from a counter (IMAD.WIDE), a round begins with that product, and the loads wait for it; what
//             is loaded then is waited for; then the next round begins. ptxas moves nothing across the branch. Computed after the loads, for
//             the next round, the address costs the same instructions, and their latency lies in the wait for memory. A first address is
//             computed before the loop, and one too many after the last round, which nothing reads.
// Algorithm:  in a loop whose work is one block: the plain computations of what counters and invariants decide; the addresses of loads among
//             them that nothing reads after the first read of something loaded; they, what they are made of, and the steps of
//             the counters move there.
// Targets:    from sm_100 to sm_110, and counters that lsr made: it chooses the forms of least instructions, and there the longer way to
//             the load is seen where data lies in DRAM. The copies before the loop are not free. By the knob
//             rotate-addresses-everywhere all targets and all counters.
// Invariants: a register that moves is written once in the loop, by what moves; it is live neither where the block begins nor where it ends,
//             so that the first one is computed before the loop, and no other successor of the block there reads it, or begins a
//             loop that is changed, too. What is computed may wrap, but has no effects.
// Cost:       linear in the innermost loops.
// Declines:   too-large; by loop: irreducible, several-blocks, no-preheader, scope, register-pressure; by address: read-late, counter-read (something between
//             reads the counter as it was), too-long.
#include <algorithm>
#include <optional>

#include "passes/loops/address_opcodes.h"
#include "passes/util/function_pass.h"
#include "passes/util/insertion_places.h"
#include "passes/util/loop_register_budget.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/register_scopes.h"
#include "target/target.h"

namespace ptxopt {
namespace {

constexpr uint32_t kNever = UINT32_MAX;
constexpr std::size_t kMostMoved = 16;  // for one address

class AddressRotation : FunctionPass {
 public:
  AddressRotation(Function& f, PassContext& context)
      : FunctionPass(f, context),
        loops_(context.analyses.loops()),
        isEverywhere_(context.knobs[Knob::RotateAddressesEverywhere] != 0),
        budget_(f, context),
        reaches_(context.module, f),
        writes_(f.registers.size()),
        registers_(f.registers.size()),
        places_(f.instructions.size(), kNever),
        isRotated_(cfg_.size()) {}

  bool run() {
    for (uint32_t l = 0; l < loops_.size(); ++l)
      if (loops_.isInnermost(LoopId(l))) look(LoopId(l));
    missed_.tell(context_, "loop");
    addresses_.tell(context_, "address");
    for (const Plan& plan : plans_) apply(plan);
    return !plans_.empty();
  }

 private:
  // Of a register in the loop that is looked at.
  struct State {
    InstrId step;           // of a counter
    InstrId made;           // by what may move
    uint32_t lastRead = 0;  // the place after it
    bool isLoaded = false;
    bool isReadLate = false;  // of a counter: from the wait to its step
  };
  struct Plan {
    InstrId before;              // in the block
    InstrId entry;               // before the loop
    std::vector<InstrId> steps;  // of counters; those that stand later move, too
    std::vector<InstrId> moved;  // in their order
  };

  void look(LoopId l) {
    if (loops_[l].irreducible) return missed_.add("irreducible");
    const BlockId b = loops_[l].header;
    for (const BlockId other : loops_.blocks(l))
      if (other != b && !onlyBranches(other)) return missed_.add("several-blocks");
    body_.clear();
    for (const InstrId id : slots_.instructions(b))
      if (f_[id].isInstruction()) body_.push_back(id);
    findRegisters();
    const uint32_t wait = findWait();
    if (wait == kNever) return clear();
    Plan plan;
    plan.before = placeBefore(module_, f_, body_[wait]);
    std::vector<bool> isMoved(body_.size());
    int units = 0;
    for (uint32_t k = 0; k < wait; ++k)
      for (const RegId r : addressesOfLoad(body_[k])) units += choose(r, b, wait, isMoved);
    if (units == 0) return clear();
    for (uint32_t k = 0; k < body_.size(); ++k)
      if (isMoved[k]) plan.moved.push_back(body_[k]);
    if (const std::string_view why = finish(plan, l, wait, units); !why.empty())
      missed_.add(why);
    else {
      context_.count("loops");
      context_.count("instructions", plan.moved.size());
      isRotated_[b.value] = true;
      plans_.push_back(std::move(plan));
    }
    clear();
  }

  bool onlyBranches(BlockId b) const {
    return std::ranges::all_of(slots_.instructions(b), [&](InstrId id) {
      return !f_[id].isInstruction() || module_.form(f_[id]).is(effect::Branch);
    });
  }

  void findRegisters() {
    for (uint32_t k = 0; k < body_.size(); ++k) {
      places_[body_[k].value] = k;
      for (const Operand& o : f_.operandsOf(f_[body_[k]])) {
        if (!o.isRegister()) continue;
        seen_.push_back(o.reg());
        if (o.writes()) ++writes_[o.payload];
        if (o.reads()) registers_[o.payload].lastRead = k + 1;
      }
    }
    for (const InstrId id : body_)
      if (isStep(id)) registers_[f_.operandsOf(f_[id])[0].payload].step = id;
    for (const InstrId id : body_)
      if (mayMove(id)) registers_[f_.operandsOf(f_[id])[0].payload].made = id;
  }

  void clear() {
    for (const RegId r : seen_) {
      writes_[r.value] = 0;
      registers_[r.value] = {};
    }
    for (const InstrId id : body_) places_[id.value] = kNever;
    seen_.clear();
  }

  bool isLoad(InstrId id) const { return module_.form(f_[id]).op == Op::Ld; }

  // `add c, c, number`, the only one that writes the counter.
  bool isStep(InstrId id) const {
    const OpcodeForm& form = module_.form(f_[id]);
    const auto operands = f_.operandsOf(f_[id]);
    if (f_[id].is(Instruction::Guarded) || operands.size() != 3 || !isPlainSum(form)) return false;
    return operands[0].isRegister() && operands[1].isRegister() && operands[0].payload == operands[1].payload &&
           operands[1].flags == 0 && operands[2].kind == OperandKind::Integer && writes_[operands[0].payload] == 1;
  }
  static bool isPlainSum(const OpcodeForm& form) {
    return form.isExactly(Op::Add, ScalarType::s32) || form.isExactly(Op::Add, ScalarType::u32) || isAddition(form);
  }

  // A computation of one register from numbers, what does not change in the loop, counters before their steps, and such registers.
  bool mayMove(InstrId id) const {
    const OpcodeForm& form = module_.form(f_[id]);
    const bool isPlain = isPlainSum(form) || isExactlyWide(form, Op::Mul) || isExactlyWide(form, Op::Mad) ||
                         isShift(form) || isMove64(form) || isExtension(form);
    const auto operands = f_.operandsOf(f_[id]);
    if (!isPlain || f_[id].is(Instruction::Guarded) || operands.empty() || !operands[0].isRegister()) return false;
    if (writes_[operands[0].payload] != 1 || registers_[operands[0].payload].step.valid()) return false;
    return std::ranges::all_of(operands.subspan(1), [&](const Operand& o) {
      if (o.kind == OperandKind::Integer) return true;
      if (!o.isRegister() || o.flags != 0 || !o.reads() || o.writes()) return false;
      const State& s = registers_[o.payload];
      if (writes_[o.payload] == 0) return true;
      if (s.step.valid()) return places_[s.step.value] > places_[id.value];
      return s.made.valid() && places_[s.made.value] < places_[id.value];
    });
  }

  // The first that reads something loaded. Counters that something reads from there to their steps are marked.
  uint32_t findWait() {
    uint32_t wait = kNever;
    for (uint32_t k = 0; k < body_.size(); ++k) {
      const auto operands = f_.operandsOf(f_[body_[k]]);
      const auto read = [](const Operand& o) { return o.isRegister() && o.reads(); };
      const auto isWaited = [&](const Operand& o) { return read(o) && registers_[o.payload].isLoaded; };
      if (wait == kNever && std::ranges::any_of(operands, isWaited)) wait = k;
      // Also of the first one: what it reads beside what was loaded.
      for (const Operand& o : operands) {
        if (wait == kNever || !read(o)) continue;
        State& s = registers_[o.payload];
        if (s.step.valid() && places_[s.step.value] > k) s.isReadLate = true;
      }
      if (wait != kNever || !isLoad(body_[k])) continue;
      for (const Operand& o : operands)
        if (o.isRegister() && o.writes()) registers_[o.payload].isLoaded = true;
    }
    return wait;
  }

  std::vector<RegId> addressesOfLoad(InstrId id) const {
    std::vector<RegId> found;
    if (!isLoad(id)) return found;
    const auto operands = f_.operandsOf(f_[id]);
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (operands[k].kind == OperandKind::Memory)
        for (const Operand& o : operands.subspan(k + 1, operands[k].inside()))
          if (o.isRegister()) found.push_back(o.reg());
    return found;
  }

  // Marks what makes the address, if all of it may move; units of registers that are then live around the loop.
  int choose(RegId address, BlockId b, uint32_t wait, std::vector<bool>& isMoved) {
    const InstrId made = registers_[address.value].made;
    if (!made.valid() || isMoved[places_[made.value]]) return 0;
    std::vector<InstrId> chain{made};
    bool varies = false, isOurs = false;
    for (std::size_t k = 0; k < chain.size(); ++k) {
      if (chain.size() > kMostMoved) return addresses_.add("too-long"), 0;
      const auto operands = f_.operandsOf(f_[chain[k]]);
      const RegId to = operands[0].reg();
      if (registers_[to.value].lastRead > wait || isLiveAround(to, b)) return addresses_.add("read-late"), 0;
      for (const Operand& o : operands.subspan(1)) {
        if (!o.isRegister() || writes_[o.payload] == 0) continue;
        const State& s = registers_[o.payload];
        if (s.step.valid()) {
          varies = true;
          isOurs |= isEverywhere_ || f_.registers[o.payload].purpose == Purpose::Counter;
          if (s.isReadLate) return addresses_.add("counter-read"), 0;
        } else if (isMoved[places_[s.made.value]]) {
          varies = isOurs = true;
        } else if (std::ranges::find(chain, s.made) == chain.end()) {
          chain.push_back(s.made);
        }
      }
    }
    if (!varies || !isOurs) return 0;
    for (const InstrId id : chain) isMoved[places_[id.value]] = true;
    return static_cast<int>(info(f_.registers[address.value].type).bits + 31) / 32;
  }

  // By a branch that reads a register.
  bool endsIndirectly(BlockId b) const {
    const Instruction& last = f_[cfg_[b].last];
    return last.isInstruction() && module_.form(last).is(effect::IndirectBranch);
  }

  // Intervals are asked for only where something may move.
  bool isLiveAt(RegId r, SlotIndex at) const { return context_.analyses.liveIntervals()[r].isLiveAt(at); }
  bool isLiveAround(RegId r, BlockId b) const {
    return isLiveAt(r, slots_.start(b)) || isLiveAt(r, slots_.end(b).previous());
  }

  // The rest of the plan; why not, if not.
  std::string_view finish(Plan& plan, LoopId l, uint32_t wait, int units) {
    const BlockId entry = loops_.entry(cfg_, l);
    if (!entry.valid() || loops_.of(entry) != loops_[l].parent || endsIndirectly(entry)) return "no-preheader";
    plan.entry = placeAtEnd(module_, f_, cfg_[entry]);
    if (!plan.entry.valid()) return "no-preheader";
    for (const InstrId id : plan.moved)
      for (const Operand& o : f_.operandsOf(f_[id])) {
        if (!o.isRegister()) continue;
        if (!reaches_(o.reg(), plan.entry) || !reaches_(o.reg(), plan.before)) return "scope";
        if (o.reads() && registers_[o.payload].step.valid()) plan.steps.push_back(registers_[o.payload].step);
        // A branch before the loop may lead to where the register is read as it was, or to another loop that changed.
        if (o.writes())
          for (const BlockId s : cfg_.successors(entry))
            if (s != loops_[l].header && (isRotated_[s.value] || isLiveAt(o.reg(), slots_.start(s))))
              return "no-preheader";
      }
    std::ranges::sort(plan.steps, {}, [&](InstrId id) { return places_[id.value]; });
    plan.steps.erase(std::unique(plan.steps.begin(), plan.steps.end()), plan.steps.end());
    std::erase_if(plan.steps, [&](InstrId id) { return places_[id.value] < wait; });
    return budget_.has(l, units) ? std::string_view() : "register-pressure";
  }

  void apply(const Plan& plan) {
    for (const InstrId id : plan.moved) {
      const auto operands = f_.operandsOf(f_[id]);
      f_.insert(plan.entry, OpcodeId(f_[id].payload), std::vector<Operand>(operands.begin(), operands.end()));
    }
    for (const InstrId id : plan.steps) f_.moveBefore(id, plan.before);
    for (const InstrId id : plan.moved) f_.moveBefore(id, plan.before);
  }

  const Loops& loops_;
  const bool isEverywhere_;
  LoopRegisterBudget budget_;
  RegisterReach reaches_;
  std::vector<uint32_t> writes_;  // by RegId: in the loop that is looked at
  std::vector<State> registers_;  // by RegId
  std::vector<uint32_t> places_;  // by InstrId: in body_
  std::vector<bool> isRotated_;   // by BlockId: headers of the loops of plans_
  std::vector<RegId> seen_;
  std::vector<InstrId> body_;
  MissedRemarks missed_, addresses_;
  std::vector<Plan> plans_;
};

}  // namespace

bool rotateAddresses(Function& f, PassContext& context) {
  if (context.knobs[Knob::RotateAddressesEverywhere] == 0) {
    if (!context.target().has(target::Capability::SlowAddressSums)) return false;
    if (std::ranges::none_of(f.registers, [](const Register& r) { return r.purpose == Purpose::Counter; }))
      return false;
  }
  if (!context.hasUsableGraph() || context.analyses.loops().size() == 0) return false;
  if (!context.hasUsableIntervals()) return false;
  return AddressRotation(f, context).run();
}

}  // namespace ptxopt
