// licm-slow-ops: divisions and roots that a loop does not change are computed before it.
//
// What:       div, rem, rcp, sqrt and rsqrt of the kinds that ptxas makes a call of: rounded as IEEE asks, of f64,
//             of 16-bit and of 64-bit integers. Operations that become a few instructions ptxas moves out of
//             loops by itself. It never moves these, because they contain branches by the time it looks at loops.
// Algorithm:  each such instruction, in the order of the text: the outermost loop before which it may stand,
//             going outwards. Its sources have to have values from before the loop, or such that a few instructions
//             without effects make of those, which are repeated before the loop. There the result gets a
//             register of its own; in the loop a copy of that takes the instruction's place. Equal ones share.
// Invariants: nothing in PTX traps or sets flags, so that the results are the same whatever the loop does. An
//             instruction leaves a loop only if its block, or the loop around it that it left before, runs in every
//             iteration: it is executed more often than before only where a loop runs no iteration at all. Before a
//             loop is where only ways into it lead.
// Cost:       linear, plus the sources of such instructions times the loops around them.
// Declines:   too-large; for instructions in loops: guarded, operands (other than registers and numbers), varies,
//             not-every-iteration (a way through the loop avoids it), few-iterations (the user says so), no-preheader,
//             scope (a name means something else before the loop), register-pressure.
#include <algorithm>
#include <map>

#include "passes/addressing/address_opcodes.h"
#include "passes/loops/loop_entry.h"
#include "passes/util/function_pass.h"
#include "passes/util/insert_copy.h"
#include "passes/util/insertion_places.h"
#include "passes/util/loop_register_budget.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {
namespace {

constexpr unsigned kMostSourceDepth = 6;      // of instructions that sources are made of
constexpr std::size_t kMostRepeated = 12;     // instructions before a loop, for one that is slow
constexpr uint32_t kLeastSaidIterations = 2;  // where their number is said
constexpr int kSpareRoom = 3;                 // registers: what the estimate is wrong by more often than not

class LicmSlowOps : IntervalPass {
 public:
  LicmSlowOps(Function& f, PassContext& context)
      : IntervalPass(f, context),
        loops_(context.analyses.loops()),
        dominators_(context.analyses.dominators()),
        budget_(f, context),
        granted_(loops_.size()) {}

  bool run() {
    for (uint32_t b = 0; b < cfg_.size(); ++b) {
      if (!loops_.of(BlockId(b)).valid()) continue;
      for (const InstrId id : slots_.instructions(BlockId(b)))
        if (becomesCall(module_.form(f_[id]))) look(id, BlockId(b));
    }
    missed_.tell(context_, "instruction");
    apply();
    return !moves_.empty();
  }

 private:
  struct Move {
    InstrId slow;
    LoopId loop;
  };

  // ---- which, and how far ----

  void look(InstrId id, BlockId block) {
    if (context_.isDeclined(block)) return missed_.add(kAsked);
    if (f_[id].is(Instruction::Guarded)) return missed_.add("guarded");
    if (!isCopyable(f_[id])) return missed_.add("operands");
    LoopId best;
    std::string_view why = "varies";
    BlockId site = block;
    for (LoopId l = loops_.of(block); l.valid(); l = loops_[l].parent) {
      const std::string_view whyNot = whyNotOutOf(id, l, site);
      if (!whyNot.empty()) {
        why = whyNot;
        break;
      }
      best = l;
      site = loops_[l].header;
    }
    if (!best.valid()) return missed_.add(why);
    const int units = info(f_.registers[f_.operandsOf(f_[id])[0].payload].type).bits == 64 ? 2 : 1;
    if (!budget_.has(best, granted_[best.value] + units + kSpareRoom)) return missed_.add("register-pressure");
    granted_[best.value] += units;
    moves_.push_back({id, best});
  }

  std::string_view whyNotOutOf(InstrId id, LoopId l, BlockId site) {
    if (loops_[l].irreducible) return "no-preheader";
    if (isSaidToIterateLess(module_, f_, cfg_, loops_[l].header, kLeastSaidIterations)) return "few-iterations";
    for (const BlockId latch : loops_.latches(cfg_, l))
      if (!dominators_.dominates(site, latch)) return "not-every-iteration";
    InstrId place;
    if (!placeInFrontOf(l, place)) return "no-preheader";
    std::size_t repeated = 0;
    const std::string_view why = whyNotSources(id, l, place, 0, repeated);
    if (!why.empty()) return why;
    return repeated > kMostRepeated ? "varies" : "";
  }

  // Where all that comes from outside into the loop passes, and nothing else.
  bool placeInFrontOf(LoopId l, InstrId& place) const {
    const BlockId entry = loops_.entry(cfg_, l), header = loops_[l].header;
    if (!entry.valid()) return false;
    const auto& roots = cfg_.roots();
    if (std::ranges::find(roots, header) != roots.end()) return false;
    if (loops_.preheader(cfg_, l) == entry) {
      place = placeAtEnd(module_, f_, cfg_[entry]);
      return true;
    }
    return placeBetween(module_, f_, cfg_, entry, header, place);
  }

  // ---- sources ----

  // One whole register is made of registers, numbers and constants of the launch.
  bool isCopyable(const Instruction& i) const {
    const auto operands = f_.operandsOf(i);
    if (i.is(Instruction::Guarded) || operands.empty() || !operands[0].isRegister() ||
        operands[0].role != Role::Def || operands[0].flags != 0)
      return false;
    const Register& to = f_.registers[operands[0].payload];
    if (to.lanes != 1 || to.registerClass() == RegisterClass::B128 || to.registerClass() == RegisterClass::Carry)
      return false;
    return std::ranges::all_of(operands.subspan(1), [&](const Operand& o) {
      if (o.is(Operand::Implicit) || o.writes()) return false;
      switch (o.kind) {
        case OperandKind::Register: return f_.registers[o.payload].lanes == 1;
        case OperandKind::SpecialRegister: return !o.is(Operand::VolatileRead) && !f_.hidesSpecialRegisters;
        case OperandKind::Integer:
        case OperandKind::WideInteger:
        case OperandKind::Float32:
        case OperandKind::Float64:
        case OperandKind::Decimal:
        case OperandKind::Builtin:
        case OperandKind::Vector:
        case OperandKind::Memory: return true;
        case OperandKind::Symbol: return !f_.hidesNames;
        // Others have names of an inner scope, or change, as the parameters of calls do.
        case OperandKind::Variable: return f_.variables[o.payload].isParameter && !f_.hidesNames;
        default: return false;
      }
    });
  }

  // Whether what is loaded lies in one parameter, as aligned as it is to be: if not, it may be that it is never read.
  bool isWithinParameter(const Instruction& load, const OpcodeForm& form) const {
    const auto operands = f_.operandsOf(load).subspan(1);
    if (operands.empty() || operands[0].kind != OperandKind::Memory) return false;
    const auto place = operands.subspan(1, operands[0].inside());
    if (place.empty() || place.size() > 2 || place[0].kind != OperandKind::Variable) return false;
    const Variable& v = f_.variables[place[0].payload];
    const DeclarationForm& declared = module_.declarationForms[v.form];
    const uint64_t element = info(declared.type).bits / 8, size = info(form.type).bits / 8;
    const uint64_t bytes = v.declarator.elements * declared.lanes * element;
    const auto offset = place.size() == 1             ? std::optional<uint64_t>(0)
                        : place[1].join == Join::Plus ? immediate(f_, place[1])
                                                      : std::nullopt;
    return offset && size != 0 && std::max<uint64_t>(declared.alignment, element) % size == 0 &&
           *offset % size == 0 && *offset < bytes && size <= bytes - *offset;
  }

  // Computes something of its sources alone; a parameter of a kernel at a fixed place is one, too. Where a register
  // says the place, a loop that runs no iteration may be what keeps it within the parameters.
  bool isRepeatable(InstrId id) const {
    const OpcodeForm& form = module_.form(f_[id]);
    if (form.row == nullptr || !isCopyable(f_[id])) return false;
    if (form.effects == effect::Pure || becomesCall(form)) return true;
    return form.effects == effect::Read && f_.isEntry && form.vector == 1 && isParameterLoad(form) &&
           isWithinParameter(f_[id], form);
  }

  bool isBefore(RegId r, ValueId v, LoopId l) const {
    return v.valid() && intervals_[r].valueAt(slots_.last(loops_.entry(cfg_, l))) == v &&
           !loops_.contains(l, slots_.blockAt(intervals_[r][v].def));
  }

  // Where a source is made in the loop: the instruction. None if that cannot be repeated.
  InstrId maker(RegId r, ValueId v) const {
    const LiveValue& value = intervals_[r][v];
    if (value.kind != ValueKind::Instruction || value.isPartial) return {};
    const InstrId id = slots_.instructionAt(value.def);
    return isRepeatable(id) ? id : InstrId();
  }

  std::string_view whyNotSources(InstrId id, LoopId l, InstrId place, unsigned depth, std::size_t& repeated) {
    if (++repeated > kMostRepeated || depth > kMostSourceDepth) return "varies";
    for (const Operand& o : f_.operandsOf(f_[id]).subspan(1)) {
      if (!o.isRegister()) continue;
      const ValueId v = intervals_[o.reg()].valueIn(slots_[id]);
      if (!v.valid()) return "varies";
      if (isBefore(o.reg(), v, l)) {
        if (!reaches_(o.reg(), place)) return "scope";
        continue;
      }
      const InstrId from = maker(o.reg(), v);
      if (!from.valid() || !loops_.contains(l, cfg_.blockOf(from))) return "varies";
      const std::string_view why = whyNotSources(from, l, place, depth + 1, repeated);
      if (!why.empty()) return why;
    }
    return {};
  }

  // ---- the edits ----

  void apply() {
    // One place for a loop, so that what comes later stands after what it uses.
    std::map<uint32_t, InstrId> places;
    for (const Move& m : moves_) {
      const auto [at, isNew] = places.try_emplace(m.loop.value);
      if (isNew) placeInFrontOf(m.loop, at->second);
      sources_.push_back(repeat(m.slow, m.loop, at->second));
    }
    for (std::size_t k = 0; k < moves_.size(); ++k) {
      const InstrId slow = moves_[k].slow;
      insertCopy(module_, f_, f_.operandsOf(f_[slow])[0].reg(), sources_[k], placeBefore(module_, f_, slow));
      f_.erase(slow);
      context_.count("hoisted");
    }
  }

  // Puts the instruction, and what makes its sources, before the loop. The register of its result.
  RegId repeat(InstrId id, LoopId l, InstrId place) {
    const auto old = f_.operandsOf(f_[id]);
    std::vector<Operand> operands(old.begin(), old.end());
    // One operation may leave its result in registers of several types: cvt and ld do.
    const ScalarType type = f_.registers[operands[0].payload].type;
    std::vector<uint64_t> key{l.value, f_[id].payload, static_cast<uint64_t>(type)};
    for (Operand& o : std::span(operands).subspan(1)) {
      uint32_t value = UINT32_MAX;
      if (o.isRegister()) {
        const ValueId v = intervals_[o.reg()].valueIn(slots_[id]);
        if (isBefore(o.reg(), v, l))
          value = v.value;
        else
          o.payload = repeat(maker(o.reg(), v), l, place).value;
      }
      const bool isWide =
          o.kind == OperandKind::WideInteger || o.kind == OperandKind::Float64 || o.kind == OperandKind::Decimal;
      key.push_back(uint64_t{static_cast<uint8_t>(o.kind)} << 40 | uint64_t{static_cast<uint8_t>(o.join)} << 48 |
                    uint64_t{o.flags} << 32 | value);
      key.push_back(isWide ? f_.constants[o.payload] : o.payload);
    }
    RegId& made = made_[key];
    if (made.valid()) return made;
    made = f_.makeRegister(type);
    operands[0].payload = made.value;
    f_.insert(place, f_[id].opcode(), operands);
    return made;
  }

  const Loops& loops_;
  const DominatorTree& dominators_;
  LoopRegisterBudget budget_;
  MissedRemarks missed_;
  RegisterReach reaches_{module_, f_};
  std::vector<int> granted_;                     // units, by LoopId
  std::vector<Move> moves_;                      // in the order of the text
  std::vector<RegId> sources_;                   // by move
  std::map<std::vector<uint64_t>, RegId> made_;  // by loop, opcode, type of the result, and operands
};

bool hasSlowOperations(const Module& module, const Function& f) {
  for (const InstrId id : f)
    if (f[id].isInstruction() && becomesCall(module.form(f[id]))) return true;
  return false;
}

}  // namespace

bool licmSlowOps(Function& f, PassContext& context) {
  if (!hasSlowOperations(context.module, f) || !context.hasUsableIntervals()) return false;
  if (context.analyses.loops().size() == 0) return false;
  return LicmSlowOps(f, context).run();
}

}  // namespace ptxopt
