// drop-broadcasts: what one lane computes and sends to the others is computed by all of them.
//
// What:       gcc makes of the sequential parts of an OpenACC or OpenMP region
//                 @p bra L;  ...loads, arithmetic...  L: bar.warp.sync -1;  shfl.sync.idx of each result
//             with p true in all lanes but the first. Where the results are made of what is known at the launch
//             (launch_values.h), every lane computes the same: the branch goes, and shuffles of a value that
//             all lanes have become copies, 64-bit values that were taken apart for it as a whole. Shuffles of
//             such values go elsewhere, too.
// Algorithm:  sections: the single blocks that a branch jumps over, before a block with shuffles. All at
//             first; launch_values.h is asked what holds if the branches were not there; those that do not
//             stand the answer are taken out, and again until nothing changes.
// Sections:   a section only computes and loads. What it writes was not written before in lanes that jumped, so
//             that what they hold then is theirs to choose. Where it loads, it loads memory as launched (proven to
//             be global, or constant, or a parameter), all lanes read one value at addresses that a lane reads
//             anyway, and before anything may be written they meet at a barrier, so that lanes that are late do not
//             read what others write then:
//               of the block: a thread of the block surely runs the section, if those with an index of 0 do and
//                             no thread passes it by in another way. The branch goes.
//               of the warp:  a warp in which no lane runs the section must not begin to, for others do not
//                             wait for it: the branch stays, and is taken where all lanes would take it
//                             (vote.sync). All lanes are there, for there is no branch before but over such
//                             blocks.
// Of several: after a section whose branch goes every thread has what it writes. After one with a vote only the
//             warps have it that ran it; the others hold what nobody wrote. So the addresses of a section must be
//             one value with the branches of those sections gone alone that whoever loads has run: sections whose
//             branch goes, and, if this one votes, others that vote on the same value of the same predicate.
//             Values that are merely shuffled or computed may come from any section: where it was skipped they
//             were undefined in all lanes of the warp before, and are so now.
// Shuffles:   a shuffle that is not guarded gives a lane what some lane of its warp holds: the lane's own value
//             where the other one is outside its segment (`c`), and nothing that is defined where the other one
//             has exited, does not take part or is not in the mask; a lane that is not in the mask itself may not
//             run it. If all lanes hold one value, that value is right in each case, and the lane's own register
//             has it. With a predicate (`d|p`) a shuffle stays: that tells whether the other lane is in the
//             segment. No memory is ordered by shuffles, so that none is needed for it, and lanes need not run
//             together after one.
// Cost:       nothing without a shuffle; else live intervals, and linear in operands for each sweep and round.
// Declines:   too-large; of sections: side-effects (not only arithmetic and weak loads), may-have-changed (what
//             is loaded), unknown-space (of a load that names none), address-varies, first-thread-unknown,
//             not-always-run, no-barrier, keeps-old-value; of shuffles that send a lane's value to all: varies.
#include <algorithm>

#include "analysis/addresses/address_spaces.h"
#include "analysis/machine/kernel_needs.h"
#include "analysis/values/launch_values.h"
#include "analysis/values/plain_operands.h"
#include "analysis/values/sent_halves.h"
#include "ir/opcode_predicates.h"
#include "ir/spaced_opcodes.h"
#include "ir/stored_numbers.h"
#include "passes/util/function_pass.h"
#include "passes/util/split_places.h"

namespace ptxopt {
namespace {

constexpr unsigned kMostRounds = 8, kLanes = 32;
constexpr std::size_t kMostInstructions = 64;  // of a section, and between the halves of a value

// Of the older ones ptxas says that they are deprecated: that is its user's to hear.
bool isShuffle(const OpcodeForm& form) { return form.op == Op::Shfl && form.has(ModifierFlag::Sync); }

constexpr uint32_t bit(ModifierFlag f) { return 1u << static_cast<unsigned>(f); }

// `bar.warp.sync`
bool isWarpBarrier(const OpcodeForm& form) {
  return form.op == Op::Bar && form.hasOnly(field::Flag) &&
         form.flags == (bit(ModifierFlag::Warp) | bit(ModifierFlag::Sync));
}
// `bar.sync`, `barrier.cta.sync.aligned`
bool isBlockBarrier(const OpcodeForm& form) {
  return (form.op == Op::Bar || form.op == Op::Barrier) && form.hasOnly(field::Scope | field::Flag) &&
         (form.scope == MemoryScope::None || form.scope == MemoryScope::Cta) &&
         (form.flags & ~bit(ModifierFlag::Aligned)) == bit(ModifierFlag::Sync);
}

bool isInteger32(ScalarType t) { return isIntegerOrBits(t) && info(t).bits == 32; }

class DropBroadcasts : FunctionPass {
 public:
  DropBroadcasts(Function& f, PassContext& context)
      : FunctionPass(f, context),
        stored_(findStoredNumbers(context.module, f)),
        spaces_(makeSpaces()),
        memory_(context.module, f, cfg_, spaces_ ? &*spaces_ : nullptr) {}

  bool run() {
    for (uint32_t b = 0; b < cfg_.size(); ++b)
      if (auto s = sectionBehind(BlockId(b))) triangles_.push_back(*s);
    for (Section s : triangles_)
      if (hasShuffles(s.join)) {
        const std::string_view why = whyNot(s);
        if (why.empty())
          sections_.push_back(s);
        else
          declines_.add(why);
      }
    settle();
    note();
    declines_.tell(context_, "place");
    apply();
    return !sections_.empty() || !shuffles_.empty();
  }

 private:
  enum class Barrier : uint8_t { None, Warp, Block };
  // `body` is what the branch at the end of `head` jumps over.
  struct Section {
    BlockId head, body, join;
    InstrId branch;
    bool votes = false;  // the branch stays, for warps without a lane that runs the section
    // What the branch asks: a value of a register, and which one of it runs the body.
    std::pair<RegId, ValueId> guard;
    bool runsIf = false;
  };
  struct Whole {
    InstrId pack;
    RegId from;
  };

  // What loads without a space read matters only in kernels: elsewhere nothing is as launched.
  std::optional<AddressSpaces> makeSpaces() const {
    const auto isGenericLoad = [&](InstrId id) {
      return f_[id].isInstruction() && form(id).op == Op::Ld && isGenericAccess(form(id));
    };
    if (!f_.isEntry || module_.addressSize != 64) return {};
    for (const InstrId id : f_)
      if (isGenericLoad(id))
        return std::optional<AddressSpaces>(std::in_place, module_, f_, cfg_, slots_, intervals_,
                                            &context_.moduleAnalyses.get<ModuleAddressFacts>(),
                                            context_.knobs[Knob::AssumeParamGlobal] != 0);
    return {};
  }

  const OpcodeForm& form(InstrId id) const { return module_.form(f_[id]); }

  // ---- sections ----

  std::optional<Section> sectionBehind(BlockId head) const {
    const Block& block = cfg_[head];
    if (!block.reachable || cfg_.successors(head).size() != 2 || slots_.instructions(head).empty()) return {};
    const InstrId branch = slots_.instructions(head).back();
    const auto operands = f_.operandsOf(f_[branch]);
    if (form(branch).op != Op::Bra || !f_[branch].is(Instruction::Guarded)) return {};
    const auto target = std::ranges::find(operands, OperandKind::Label, &Operand::kind);
    if (target == operands.end()) return {};
    const BlockId join = cfg_.blockOf(f_.labels[target->payload].place), body(head.value + 1);
    if (body.value >= cfg_.size() || body == join || join == head) return {};
    const bool isTriangle = cfg_.predecessors(body).size() == 1 && cfg_.predecessors(body)[0] == head &&
                            cfg_.successors(body).size() == 1 && cfg_.successors(body)[0] == join &&
                            !cfg_[body].leaves;
    if (!isTriangle) return {};
    const RegId guard = operands[0].reg();
    return Section{.head = head,
                   .body = body,
                   .join = join,
                   .branch = branch,
                   .guard = {guard, intervals_[guard].valueIn(slots_[branch])},
                   .runsIf = operands[0].is(Operand::Not)};
  }

  bool hasShuffles(BlockId b) const {
    return std::ranges::any_of(slots_.instructions(b), [&](InstrId id) { return isShuffle(form(id)); });
  }

  std::string_view whyNot(Section& s) const {
    const auto& body = slots_.instructions(s.body);
    if (body.size() > kMostInstructions) return "side-effects";
    bool loads = false, needsBarrier = false;
    for (const InstrId id : body) {
      if (form(id).op == Op::Bra) continue;
      if (f_[id].is(Instruction::Guarded) || !form(id).knowsOperands()) return "side-effects";
      if (form(id).op != Op::Ld) {
        if (!LaunchValues::isComputation(form(id))) return "side-effects";
        continue;
      }
      if (isParameterLoad(form(id)) && f_.isEntry) continue;
      loads = true;
      if (form(id).space == StateSpace::Const || memory_.isConstant(id)) continue;
      needsBarrier = true;
      if (!memory_.isAsLaunchedIfGlobal(id)) return "may-have-changed";
      if (!memory_.isAsLaunched(id)) return "unknown-space";
    }
    for (const InstrId id : body)
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && o.writes() && keepsOld(o.reg(), s)) return "keeps-old-value";
    if (!loads) return {};
    if (!isAlwaysRun(s.head)) return "not-always-run";
    if (needsBarrier) {
      const Barrier barrier = barrierIn(s.join);
      if (barrier == Barrier::None) return "no-barrier";
      s.votes = barrier == Barrier::Warp && !isOneWarp();
      // No lane waits for the vote in vain.
      if (s.votes && (cfg_.predecessors(s.join).size() != 2 || context_.analyses.loops().of(s.head).valid()))
        return "not-always-run";
    }
    return s.votes || isOfFirstThread(s.branch) ? "" : "first-thread-unknown";
  }

  bool isOneWarp() const {
    const auto threads = kernelNeeds(module_, f_, &context_.moduleAnalyses.get<ModuleCalledNeeds>()).threads;
    return threads && *threads <= kLanes;
  }

  // Whether a lane that jumps has a value that is defined, and may be read.
  bool keepsOld(RegId r, const Section& s) const {
    if (!intervals_[r].valueAt(slots_.start(s.join)).valid()) return false;
    const ValueId old = intervals_[r].valueAt(slots_.end(s.head).previous());
    return !old.valid() || intervals_[r][old].kind != ValueKind::Entry || f_.registers[r.value].isParameter;
  }

  // Of which threads all meet in the block before anything may be written.
  Barrier barrierIn(BlockId b) const {
    for (const InstrId id : slots_.instructions(b)) {
      const GlobalEffect effect = memory_.effectOf(id);
      if (effect == GlobalEffect::None) continue;
      const PlainOperands operands(f_.operandsOf(f_[id]));
      if (effect == GlobalEffect::Changes || f_[id].is(Instruction::Guarded) || operands.size() != 1 ||
          operands.single(0) == nullptr)
        return Barrier::None;
      if (isWarpBarrier(form(id))) {
        const auto mask = immediate(f_, *operands.single(0));
        return mask && static_cast<uint32_t>(*mask) == UINT32_MAX ? Barrier::Warp : Barrier::None;
      }
      return isBlockBarrier(form(id)) ? Barrier::Block : Barrier::None;
    }
    return Barrier::None;
  }

  // The one instruction that makes what `id` reads in `r`, without a guard.
  InstrId definition(RegId r, InstrId id) const {
    const ValueId v = intervals_[r].valueIn(slots_[id]);
    if (!v.valid() || intervals_[r][v].kind != ValueKind::Instruction || intervals_[r][v].isPartial) return {};
    const InstrId made = slots_.instructionAt(intervals_[r][v].def);
    return made.valid() && !f_[made].is(Instruction::Guarded) ? made : InstrId();
  }

  // Whether the branch is not taken by threads with an index of 0 in one dimension, of which each block has some.
  bool isOfFirstThread(InstrId branch) const {
    const Operand& guard = f_.operandsOf(f_[branch])[0];
    const InstrId test = definition(guard.reg(), branch);
    if (!test.valid()) return false;
    const ComparisonOperator wanted = guard.is(Operand::Not) ? ComparisonOperator::Eq : ComparisonOperator::Ne;
    const ScalarType type = form(test).type;
    if (!form(test).isExactly(Op::Setp, wanted, type) || !isInteger32(type)) return false;
    const PlainOperands operands(f_.operandsOf(f_[test]));
    if (operands.size() != 3 || operands.single(0) == nullptr || operands.single(1) == nullptr ||
        operands.single(2) == nullptr || !operands.single(1)->isRegister() || operands.single(1)->flags != 0 ||
        immediate(f_, *operands.single(2)) != std::optional<uint64_t>(0))
      return false;
    const InstrId source = definition(operands.single(1)->reg(), test);
    if (!source.valid() || form(source).op != Op::Mov || !isInteger32(form(source).type)) return false;
    const PlainOperands moved(f_.operandsOf(f_[source]));
    if (moved.size() != 2 || moved.single(1) == nullptr || moved.single(1)->kind != OperandKind::SpecialRegister)
      return false;
    const std::string_view name = module_.text(NameId(moved.single(1)->payload));
    return name == "%tid.x" || name == "%tid.y" || name == "%tid.z";
  }

  // Whether each thread comes to the block that any other of its block comes to: there is no branch before it but
  // over triangles.
  bool isAlwaysRun(BlockId b) const {
    const DominatorTree& dominators = context_.analyses.dominators();
    if (cfg_.roots().size() != 1 || mayStop(b)) return false;
    while (b != cfg_.roots()[0]) {
      const BlockId above = dominators.parent(b);
      if (!above.valid() || mayStop(above)) return false;
      const bool follows = cfg_.successors(above).size() == 1;
      const bool joins = std::ranges::any_of(
          triangles_, [&](const Section& s) { return s.head == above && s.join == b && !mayStop(s.body); });
      if (!follows && !joins) return false;
      b = above;
    }
    return true;
  }

  // Whether a thread that comes to the block may not get to its end.
  bool mayStop(BlockId b) const {
    constexpr uint32_t kStops =
        effect::Call | effect::Exit | effect::Return | effect::NoReturn | effect::IndirectBranch | effect::Unknown;
    return cfg_[b].leaves || std::ranges::any_of(slots_.instructions(b), [&](InstrId id) {
             return form(id).row == nullptr || form(id).is(kStops);
           });
  }

  // ---- what holds without their branches ----

  void settle() {
    for (unsigned round = 0; round < kMostRounds; ++round) {
      edges_.clear();
      for (const Section& s : sections_) edges_.push_back({s.head, s.join});
      values_.emplace(module_, f_, cfg_, slots_, intervals_, memory_, edges_);
      const std::size_t before = sections_.size();
      const std::vector<Section> all = sections_;
      std::erase_if(sections_, [&](const Section& s) {
        const bool varies = loadsVary(s, all);
        if (varies) declines_.add("address-varies");
        return varies || !isSent(s);
      });
      if (sections_.size() == before) return;
    }
    sections_.clear();
    edges_.clear();
    values_.emplace(module_, f_, cfg_, slots_, intervals_, memory_, edges_);
  }

  // Whether all threads that run `runner` without its branch have run the body of `s`, if they came by: the branch
  // of `s` goes, or all warps that skip it skip `runner`, too.
  static bool haveRun(const Section& s, const Section& runner) {
    return !s.votes || (runner.votes && s.guard == runner.guard && s.runsIf == runner.runsIf);
  }

  // Whether the threads that load in the section may not have one address for all. Warps that skipped another
  // section hold nothing that is defined where it writes.
  bool loadsVary(const Section& s, std::span<const Section> all) const {
    if (std::ranges::all_of(all, [&](const Section& other) { return haveRun(other, s); }))
      return loadsVary(s, *values_);
    std::vector<LaunchValues::Edge> edges;
    for (const Section& other : all)
      if (haveRun(other, s)) edges.push_back({other.head, other.join});
    return loadsVary(s, LaunchValues(module_, f_, cfg_, slots_, intervals_, memory_, edges));
  }

  bool loadsVary(const Section& s, const LaunchValues& values) const {
    return std::ranges::any_of(slots_.instructions(s.body), [&](InstrId id) {
      if (form(id).op != Op::Ld) return false;
      return std::ranges::any_of(f_.operandsOf(f_[id]), [&](const Operand& o) {
        return o.isRegister() && o.reads() && !values.read(o.reg(), id).isOne();
      });
    });
  }

  // Whether a shuffle goes that sends what the section makes.
  bool isSent(const Section& s) const {
    for (const InstrId id : slots_.instructions(s.join)) {
      if (!isShuffle(form(id)) || !isOfOne(id)) continue;
      const Operand& result = f_.operandsOf(f_[id])[0];
      if (slots_.blockAt(values_->placeOf(values_->written(result.reg(), id))) == s.body) return true;
    }
    return false;
  }

  // What a narrow store makes of a float register is another thing after a mov of bits.
  bool isConverted(RegId r) const { return stored_.isStoredNarrowly[r.value] && stored_.mayBeNumber[r.value]; }

  // Whether the shuffle's result, all that it writes, is one value for all lanes.
  bool isOfOne(InstrId id) const {
    const PlainOperands operands(f_.operandsOf(f_[id]));
    const Operand* const result = operands.single(0);
    return result != nullptr && result->isRegister() && operands.single(1) != nullptr &&
           !isConverted(result->reg()) && values_->written(result->reg(), id).isOne();
  }

  // ---- edits ----

  void note() {
    for (uint32_t b = 0; b < cfg_.size(); ++b) {
      if (!cfg_[BlockId(b)].reachable) continue;
      for (const InstrId id : slots_.instructions(BlockId(b))) {
        if (isShuffle(form(id))) {
          if (isOfOne(id))
            shuffles_.push_back(id);
          else if (isBroadcast(id))
            declines_.add("varies");
        }
        noteWhole(id);
      }
    }
  }

  bool isBroadcast(InstrId id) const {
    const PlainOperands operands(f_.operandsOf(f_[id]));
    return form(id).lanes == LaneSelection::Index && operands.single(2) != nullptr &&
           immediate(f_, *operands.single(2)).has_value();
  }

  // `mov.b64 r, {low, high}` of what `mov.b64 {low, high}, s` took apart in the block, s not being written between.
  // If r is one value for all lanes, so are the halves on their way, and their shuffles go.
  void noteWhole(InstrId id) {
    const SentHalves halves = sentHalves(module_, f_, cfg_, slots_, intervals_, id);
    if (!halves.unpack.valid()) return;
    const RegId to = f_.operandsOf(f_[id])[0].reg(), from = halves.whole->reg();
    if (values_->written(to, id).isOne() && !isWrittenBetween(from, halves.unpack, id))
      wholes_.push_back({id, from});
  }

  // Of one block.
  bool isWrittenBetween(RegId r, InstrId from, InstrId to) const {
    for (std::size_t n = 0; from != to; from = f_[from].next)
      if (n++ == kMostInstructions || std::ranges::any_of(f_.operandsOf(f_[from]), [&](const Operand& o) {
            return o.isRegister() && o.writes() && o.reg() == r;
          }))
        return true;
    return false;
  }

  void apply() {
    const Zones zones(module_, f_);
    for (const Whole& w : wholes_) {
      const RegId to = f_.operandsOf(f_[w.pack])[0].reg();
      if (to == w.from) {
        f_.erase(w.pack);
        continue;
      }
      // The name may mean another register there.
      if (zones.areMany()) continue;
      const Operand operands[] = {registerOperand(to, Role::Def), registerOperand(w.from, Role::Use, Join::Comma)};
      f_.setOperands(w.pack, operands);
      f_.touch(w.pack);
    }
    for (const InstrId id : shuffles_) {
      const auto all = f_.operandsOf(f_[id]);
      const Operand operands[] = {all[0], all[1]};
      f_[id].payload = module_.madeOpcode(MadeOpcode::MovB32).value;
      f_.setOperands(id, operands);
      f_.touch(id);
    }
    for (const Section& s : sections_) {
      if (s.votes)
        vote(s.branch);
      else
        f_.erase(s.branch);
    }
    if (!sections_.empty()) context_.count("sections", sections_.size());
    if (!shuffles_.empty()) context_.count("shuffles", shuffles_.size());
  }

  // The branch is taken where all lanes take it.
  void vote(InstrId branch) {
    const Operand guard = f_.operandsOf(f_[branch])[0];
    const RegId together = f_.makeRegister(ScalarType::pred);
    const MadeOpcode opcode = guard.is(Operand::Not) ? MadeOpcode::VoteSyncAnyPred : MadeOpcode::VoteSyncAllPred;
    const Operand operands[] = {registerOperand(together, Role::Def),
                                registerOperand(guard.reg(), Role::Use, Join::Comma), integerOperand(-1)};
    f_.insert(branch, module_.madeOpcode(opcode), operands);
    f_.operandsOf(f_[branch])[0].payload = together.value;
    f_.touch(branch);
    context_.count("votes");
  }

  const StoredNumbers stored_;
  const std::optional<AddressSpaces> spaces_;
  const LaunchMemory memory_;
  std::vector<Section> triangles_, sections_;
  std::vector<LaunchValues::Edge> edges_;
  std::optional<LaunchValues> values_;
  std::vector<InstrId> shuffles_;
  std::vector<Whole> wholes_;
  Declines declines_;
};

}  // namespace

bool dropBroadcasts(Function& f, PassContext& context) {
  if (std::ranges::none_of(context.module.opcodes, isShuffle)) return false;
  for (const InstrId id : f)
    if (f[id].isInstruction() && isShuffle(context.module.form(f[id])))
      return context.hasUsableIntervals() && DropBroadcasts(f, context).run();
  return false;
}

}  // namespace ptxopt
