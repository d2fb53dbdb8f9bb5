// sink-parameters: loads of parameters go to the entry of the loop that needs them.
//
// What:       where a branch leads straight into a loop, the loads of parameters that only the loop and what follows it
//             read move between the branch and the loop. From sm_90 on the accesses of a loop name a descriptor of
//             global memory in uniform registers. ptxas loads it where control enters the loop. Where the branch
//             diverges and no instruction precedes the loop, ptxas loads the descriptor to other registers, and moves
//             it to uniform ones in each round, once or twice for each access (costs.def). One load in front of the
//             loop avoids that.
// Algorithm:  from the header of each loop up, over blocks without instructions that ptxas makes code of, to the
//             branch. The loads before that branch whose readers are all dominated by the header, the copies of
//             what they load included, move to between the branch and the loop.
// Invariants: a parameter of a kernel is the same wherever it is loaded. The register has this definition alone, and
//             nothing that the header does not dominate reads it. No load moves into another loop.
// Cost:       linear in the loops with such an entry times the loads of parameters, up to a limit, and in the readers of
//             these.
// Declines, by loop: no-entry (several ways lead in, or the branch does not fall through), filled (an instruction is
//             there), uniform (all threads of a block take one way), no-access, no-parameter (none that may move),
//             too-many (loads for all these loops).
#include <algorithm>
#include <optional>

#include "analysis/values/uniform_registers.h"
#include "ir/opcode_predicates.h"
#include "passes/loops/address_opcodes.h"
#include "passes/util/function_pass.h"
#include "passes/util/insertion_places.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {
namespace {

constexpr unsigned kMostBlocks = 4;          // without instructions, before a loop
constexpr std::size_t kMostWork = 1u << 20;  // loads looked at for a loop, of all loops

class ParameterSinking : FunctionPass {
 public:
  ParameterSinking(Function& f, PassContext& context)
      : FunctionPass(f, context), loops_(context.analyses.loops()), dominators_(context.analyses.dominators()) {}

  bool run() {
    for (uint32_t l = 0; l < loops_.size(); ++l) look(LoopId(l));
    missed_.tell(context_, "loop");
    return moved_ != 0;
  }

 private:
  // Where a loop is entered: the branch, and the place before the loop.
  struct Entry {
    BlockId branch;
    InstrId place;
    std::string_view why;  // why there is none
  };

  void look(LoopId l) {
    if (loops_[l].irreducible) return missed_.add("no-entry");
    const Entry entry = findEntry(l);
    if (!entry.why.empty()) return missed_.add(entry.why);
    if (!accessesGlobal(l)) return missed_.add("no-access");
    if ((work_ += loads().size()) > kMostWork) return missed_.add("too-many");
    std::vector<InstrId> all;
    for (const InstrId id : loads())
      if (mayMove(id, l, entry)) addWithCopies(id, l, all);
    if (all.empty()) return missed_.add("no-parameter");
    for (const InstrId id : all) f_.moveBefore(id, entry.place);
    std::ranges::sort(all);
    std::erase_if(*loads_, [&](InstrId id) { return std::ranges::binary_search(all, id); });
    moved_ += all.size();
    context_.count("entries");
    context_.count("moved", all.size());
  }

  Entry findEntry(LoopId l) {
    Entry e;
    BlockId to = loops_[l].header, from = loops_.entry(cfg_, l);
    for (unsigned k = 0; k < kMostBlocks && from.valid(); ++k) {
      const auto successors = cfg_.successors(from);
      const Instruction& last = f_[cfg_[from].last];
      const bool branches = last.isInstruction() && last.is(Instruction::Guarded);
      if (branches) {
        if (!e.place.valid() && !placeBetween(module_, f_, cfg_, from, to, e.place)) break;
        e.branch = from;
        if (isUniform(f_.operandsOf(last)[0].reg())) e.why = "uniform";
        return e;
      }
      if (successors.size() != 1) break;
      if (!e.place.valid()) e.place = placeAtEnd(module_, f_, cfg_[from]);
      if (!isEmpty(from)) {
        e.why = "filled";
        return e;
      }
      const auto before = cfg_.predecessors(from);
      to = from;
      from = before.size() == 1 ? before[0] : BlockId();
    }
    e.why = "no-entry";
    return e;
  }

  // Whether the predicate compares what is the same for all threads of a block.
  bool isUniform(RegId predicate) {
    const auto all = occurrences().of(predicate);
    const auto at = std::ranges::find_if(all, &Occurrence::writes);
    return at != all.end() && isOnlyDefinition(at->instruction) &&
           std::ranges::all_of(f_.operandsOf(f_[at->instruction]).subspan(1), [&](const Operand& o) {
             return o.isRegister() ? uniform().test(o.reg().value) : immediate(f_, o).has_value();
           });
  }

  // Whether ptxas makes no instruction of the block but the branch at its end.
  bool isEmpty(BlockId b) {
    return std::ranges::all_of(slots_.instructions(b),
                               [&](InstrId id) { return module_.form(f_[id]).is(effect::kControl) || isCopy(id); });
  }

  // A copy of a register or a constant to a register that nothing else writes.
  bool isCopy(InstrId id) {
    const auto operands = f_.operandsOf(f_[id]);
    return isFreeCopy(module_.form(f_[id])) && isOnlyDefinition(id) && operands.size() == 2 &&
           (immediate(f_, operands[1]) || (operands[1].isRegister() && operands[1].flags == 0));
  }

  bool isOnlyDefinition(InstrId id) {
    if (f_[id].is(Instruction::Guarded)) return false;
    const auto operands = f_.operandsOf(f_[id]);
    return !operands.empty() && operands[0].isRegister() && operands[0].role == Role::Def &&
           operands[0].flags == 0 &&
           std::ranges::count_if(occurrences().of(operands[0].reg()), &Occurrence::writes) == 1;
  }

  // Of the address of a load: what a call returns has the space of parameters, too, but changes, and has its own scope.
  // A parameter whose name a scope declares anew may be another variable at the loop.
  bool isFixed(const Operand& o) const {
    return o.kind == OperandKind::Variable ? f_.variables[o.payload].isParameter && !f_.hidesNames
                                           : !o.isRegister();
  }

  bool isMovableLoad(InstrId id) {
    if (!f_[id].isInstruction() || !slots_[id].valid() || placeBefore(module_, f_, id) != id) return false;
    const OpcodeForm& form = module_.form(f_[id]);
    return form.effects == effect::Read && form.vector == 1 && isParameterLoad(form) && isOnlyDefinition(id) &&
           std::ranges::all_of(f_.operandsOf(f_[id]).subspan(1), [&](const Operand& o) { return isFixed(o); });
  }

  bool accessesGlobal(LoopId l) const {
    return std::ranges::any_of(loops_.blocks(l), [&](BlockId b) {
      return std::ranges::any_of(slots_.instructions(b), [&](InstrId id) {
        const OpcodeForm& form = module_.form(f_[id]);
        return form.is(effect::Read | effect::Write) && isGlobalOrGeneric(form.space) && form.op != Op::Call;
      });
    });
  }

  // Whether the instruction stands before the branch in the same loop, and only what the header dominates reads what
  // it defines, copies of it included.
  bool mayMove(InstrId id, LoopId l, const Entry& entry) {
    const BlockId home = cfg_.blockOf(id);
    const RegId reg = f_.operandsOf(f_[id])[0].reg();
    if (!dominators_.dominates(home, entry.branch) || loops_.of(home) != loops_.of(entry.branch) ||
        !scopes().reaches(occurrences(), reg, entry.place))
      return false;
    bool isRead = false;
    for (const Occurrence& o : occurrences().of(reg)) {
      if (!o.reads) continue;
      isRead = true;
      if (!slots_[o.instruction].valid()) return false;
      const bool isAfter = dominators_.dominates(loops_[l].header, cfg_.blockOf(o.instruction));
      if (!isAfter && !(isCopy(o.instruction) && mayMoveCopy(o.instruction, l, entry))) return false;
    }
    return isRead;
  }

  // Of a copy that the header does not dominate. Copies of copies stay.
  bool mayMoveCopy(InstrId id, LoopId l, const Entry& entry) {
    const RegId reg = f_.operandsOf(f_[id])[0].reg();
    return scopes().reaches(occurrences(), reg, entry.place) &&
           std::ranges::all_of(occurrences().of(reg), [&](const Occurrence& o) {
             return !o.reads || (slots_[o.instruction].valid() &&
                                 dominators_.dominates(loops_[l].header, cfg_.blockOf(o.instruction)));
           });
  }

  void addWithCopies(InstrId id, LoopId l, std::vector<InstrId>& all) {
    all.push_back(id);
    for (const Occurrence& o : occurrences().of(f_.operandsOf(f_[id])[0].reg()))
      if (o.reads && !dominators_.dominates(loops_[l].header, cfg_.blockOf(o.instruction)))
        all.push_back(o.instruction);
  }

  // Few functions have a loop for which these are asked.
  const Occurrences& occurrences() {
    if (!occurrences_) occurrences_.emplace(f_);
    return *occurrences_;
  }
  const RegisterScopes& scopes() {
    if (!scopes_) scopes_.emplace(module_, f_);
    return *scopes_;
  }
  const BitVector& uniform() {
    if (!uniform_) uniform_.emplace(findUniform(module_, f_, cfg_, dominators_));
    return *uniform_;
  }
  // Of parameters, that no loop took yet.
  const std::vector<InstrId>& loads() {
    if (!loads_) {
      loads_.emplace();
      for (const InstrId id : f_)
        if (isMovableLoad(id)) loads_->push_back(id);
    }
    return *loads_;
  }

  const Loops& loops_;
  const DominatorTree& dominators_;
  std::optional<Occurrences> occurrences_;
  std::optional<RegisterScopes> scopes_;
  std::optional<BitVector> uniform_;
  std::optional<std::vector<InstrId>> loads_;
  MissedRemarks missed_;
  std::size_t moved_ = 0, work_ = 0;
};

}  // namespace

bool sinkParameters(Function& f, PassContext& context) {
  if (!f.isEntry || context.costs().emptyEntry <= 0) return false;
  if (!context.hasUsableGraph()) return false;
  if (context.analyses.loops().size() == 0) return false;
  return ParameterSinking(f, context).run();
}

}  // namespace ptxopt
