// uniformize-broadcasts: what one lane computes and sends to the others is computed by all of them.
//
// What:       gcc makes of the sequential parts of an OpenACC or OpenMP region
//                 @p bra L;  ...loads, arithmetic...  L: bar.warp.sync -1;  shfl.sync.idx of each result
//             with p true in all lanes but the first. Where the results are made of what is known at the launch
//             (launch_values.h), every lane computes the same. The branch goes, and shuffles of a value that all
//             lanes have become copies; a 64-bit value that was sent in halves is copied as a whole. Shuffles of
//             such values go elsewhere, too.
// Algorithm:  lane_sections.h finds the sections that branches jump over, and which of them all lanes could run;
//             broadcast_values.h keeps those whose branches may go, and says which values all lanes have then. This
//             file rewrites: shuffles to copies, packs of two halves to copies, and branches away, or to a vote.
// Cost:       nothing without a shuffle; linear in operands where launch_registers.h shows that none sends such a value; else
//             live intervals, and linear in operands for each sweep and iteration.
// Declines:   too-large; of sections those of lane_sections.h and broadcast_values.h; of shuffles that send a lane's
//             value to all: varies.
#include <algorithm>

#include "analysis/addresses/address_spaces.h"
#include "analysis/values/launch_registers.h"
#include "analysis/values/plain_operands.h"
#include "ir/opcode_predicates.h"
#include "ir/spaced_opcodes.h"
#include "passes/manager/pass.h"
#include "passes/memory/broadcast_values.h"
#include "passes/memory/lane_sections.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {
namespace {

// Address spaces matter for loads that name none, and only in kernels: elsewhere nothing is as launched.
const AddressSpaces* makeSpaces(const Function& f, PassContext& context) {
  const Module& module = context.module;
  const auto isGenericLoad = [&](InstrId id) {
    return f[id].isInstruction() && module.form(f[id]).op == Op::Ld && isGenericAccess(module.form(f[id]));
  };
  if (!f.isEntry || module.addressSize != 64) return nullptr;
  for (const InstrId id : f)
    if (isGenericLoad(id))
      return &context.analyses.addressSpaces(context.moduleAnalyses.get<ModuleAddressFacts>(),
                                             context.knobs[Knob::AssumeParamGlobal] != 0);
  return nullptr;
}

// Whether a shuffle sends the value of one lane to all.
bool isBroadcast(const Module& module, const Function& f, InstrId id) {
  const PlainOperands operands(f.operandsOf(f[id]));
  return module.form(f[id]).lanes == LaneSelection::Index && operands.single(2) != nullptr &&
         immediate(f, *operands.single(2)).has_value();
}

bool hasShuffle(const Module& module, const Function& f) {
  for (const InstrId id : f)
    if (f[id].isInstruction() && isSyncShuffle(module.form(f[id]))) return true;
  return false;
}

// A shuffle, or a pack of two halves, which may have been sent.
bool isShuffleOrPack(const OpcodeForm& form, std::span<const Operand> operands) {
  return isSyncShuffle(form) || (form.isExactly(Op::Mov, ScalarType::b64) && operands.size() > 1 &&
                                 operands[1].kind == OperandKind::Vector);
}

// For a function in which no shuffle sends a value that all lanes have.
void countBroadcasts(const Function& f, PassContext& context) {
  const Cfg& cfg = context.analyses.cfg();
  MissedRemarks missed;
  for (const InstrId id : f)
    if (f[id].isInstruction() && isSyncShuffle(context.module.form(f[id])) && cfg[cfg.blockOf(id)].reachable &&
        isBroadcast(context.module, f, id))
      missed.add("varies");
  missed.tell(context, "place");
}

class UniformizeBroadcasts {
 public:
  UniformizeBroadcasts(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        module_(context.module),
        memory_(context.module, f, context.analyses.cfg(), makeSpaces(f, context)),
        values_(f, context, memory_, LaneSections(f, context, memory_).find(missed_), missed_) {}

  bool run() {
    findCopies();
    missed_.tell(context_, "place");
    const bool hasCopied = copyWholes();
    copyShuffled();
    const auto& sections = values_.sections();
    for (const LaneSection& s : sections) removeBranch(s);
    if (!sections.empty()) context_.count("sections", sections.size());
    if (!shuffles_.empty()) context_.count("shuffles", shuffles_.size());
    return hasCopied || !sections.empty() || !shuffles_.empty();
  }

 private:
  struct Whole {
    InstrId pack;
    RegId from;
  };

  const OpcodeForm& form(InstrId id) const { return module_.form(f_[id]); }

  void findCopies() {
    const Cfg& cfg = context_.analyses.cfg();
    for (uint32_t b = 0; b < cfg.size(); ++b) {
      if (!cfg[BlockId(b)].reachable) continue;
      for (const InstrId id : context_.analyses.slotIndexes().instructions(BlockId(b))) {
        if (isSyncShuffle(form(id))) {
          if (values_.isOneForAll(id))
            shuffles_.push_back(id);
          else if (isBroadcast(module_, f_, id))
            missed_.add("varies");
        }
        if (const RegId from = values_.wholeOf(id); from.valid()) wholes_.push_back({id, from});
      }
    }
  }

  bool copyWholes() {
    if (wholes_.empty()) return false;
    const RegisterScopes scopes(module_, f_);
    bool changed = false;
    for (const Whole& w : wholes_) {
      const RegId to = f_.operandsOf(f_[w.pack])[0].reg();
      if (to == w.from) {
        f_.erase(w.pack);
        changed = true;
        continue;
      }
      // The name may mean another register there.
      if (scopes.areMany()) continue;
      const Operand operands[] = {defOperand(to), useOperand(w.from)};
      f_.setOperands(w.pack, operands);
      changed = true;
    }
    return changed;
  }

  void copyShuffled() {
    for (const InstrId id : shuffles_) {
      const auto all = f_.operandsOf(f_[id]);
      const Operand operands[] = {all[0], all[1]};
      f_[id].payload = module_.synthOpcode(SynthOpcode::MovB32).value;
      f_.setOperands(id, operands);
    }
  }

  void removeBranch(const LaneSection& s) {
    if (s.votes)
      vote(s.branch);
    else
      f_.erase(s.branch);
  }

  // The branch is taken where all lanes take it.
  void vote(InstrId branch) {
    const Operand guard = f_.operandsOf(f_[branch])[0];
    const RegId together = f_.makeRegister(ScalarType::pred);
    const SynthOpcode opcode = guard.is(Operand::Not) ? SynthOpcode::VoteSyncAnyPred : SynthOpcode::VoteSyncAllPred;
    const Operand operands[] = {defOperand(together), useOperand(guard.reg()), integerOperand(-1)};
    f_.insert(branch, module_.synthOpcode(opcode), operands);
    f_.operandsOf(f_[branch])[0].payload = together.value;
    f_.touch(branch);
    context_.count("votes");
  }

  Function& f_;
  PassContext& context_;
  const Module& module_;
  MissedRemarks missed_;  // before `values_`, which adds to it
  const LaunchMemory memory_;
  const BroadcastValues values_;
  std::vector<InstrId> shuffles_;
  std::vector<Whole> wholes_;
};

}  // namespace

bool uniformizeBroadcasts(Function& f, PassContext& context) {
  const Module& module = context.module;
  if (std::ranges::none_of(module.opcodes, isSyncShuffle)) return false;
  if (!hasShuffle(module, f) || !context.hasUsableIntervals()) return false;
  if (mayWriteLaunchValue(module, f, context.analyses.cfg(), isShuffleOrPack))
    return UniformizeBroadcasts(f, context).run();
  countBroadcasts(f, context);
  return false;
}

}  // namespace ptxopt
