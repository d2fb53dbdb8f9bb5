// All candidates are assumed at first. The values of the launch are computed without the branches of their sections,
// and candidates that do not hold then go, until none goes.
#include "passes/memory/broadcast_values.h"

#include <algorithm>

#include "analysis/values/plain_operands.h"
#include "analysis/values/sent_halves.h"
#include "ir/opcode_predicates.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostBetween = 64;  // instructions between the halves of a value

// Whether all threads that run `runner` without its branch have run the body of `s`, if they came by: the branch
// of `s` goes, or all warps that skip it skip `runner`, too.
bool haveRun(const LaneSection& s, const LaneSection& runner) {
  return !s.votes || (runner.votes && s.guard == runner.guard && s.runsIf == runner.runsIf);
}

}  // namespace

BroadcastValues::BroadcastValues(const Function& f, PassContext& context, const LaunchMemory& memory,
                                 std::vector<LaneSection> candidates, MissedRemarks& missed)
    : f_(f),
      module_(context.module),
      cfg_(context.analyses.cfg()),
      slots_(context.analyses.slotIndexes()),
      intervals_(context.analyses.liveIntervals()),
      memory_(memory),
      sections_(std::move(candidates)) {
  eliminate(missed);
}

// ---- the sections ----

void BroadcastValues::eliminate(MissedRemarks& missed) {
  for (unsigned iteration = 0; iteration < kMostIterations; ++iteration) {
    evaluate();
    const std::size_t before = sections_.size();
    const std::vector<LaneSection> all = sections_;
    std::erase_if(sections_, [&](const LaneSection& s) {
      const bool varies = loadsVary(s, all);
      if (varies) missed.add("address-varies");
      return varies || !isSent(s);
    });
    if (sections_.size() == before) return;
  }
  sections_.clear();
  evaluate();
}

// What all lanes have without the branches of the sections.
void BroadcastValues::evaluate() {
  edges_.clear();
  for (const LaneSection& s : sections_) edges_.push_back({s.head, s.join});
  values_.emplace(module_, f_, cfg_, slots_, intervals_, memory_, edges_);
}

// Whether the threads that load in the section may not have one address for all. Warps that skipped another
// section hold nothing that is defined where it writes.
bool BroadcastValues::loadsVary(const LaneSection& s, std::span<const LaneSection> all) const {
  if (std::ranges::all_of(all, [&](const LaneSection& other) { return haveRun(other, s); }))
    return loadsVary(s, *values_);
  std::vector<LaunchValues::Edge> edges;
  for (const LaneSection& other : all)
    if (haveRun(other, s)) edges.push_back({other.head, other.join});
  return loadsVary(s, LaunchValues(module_, f_, cfg_, slots_, intervals_, memory_, edges));
}

bool BroadcastValues::loadsVary(const LaneSection& s, const LaunchValues& values) const {
  return std::ranges::any_of(slots_.instructions(s.body), [&](InstrId id) {
    if (form(id).op != Op::Ld) return false;
    return std::ranges::any_of(f_.operandsOf(f_[id]), [&](const Operand& o) {
      return o.isRegister() && o.reads() && !values.read(o.reg(), id).isOne();
    });
  });
}

// Whether a shuffle goes that sends what the section makes.
bool BroadcastValues::isSent(const LaneSection& s) const {
  for (const InstrId id : slots_.instructions(s.join)) {
    if (!isSyncShuffle(form(id)) || !isOneForAll(id)) continue;
    const Operand& result = f_.operandsOf(f_[id])[0];
    if (slots_.blockAt(values_->placeOf(values_->written(result.reg(), id))) == s.body) return true;
  }
  return false;
}

// ---- what may be replaced ----

bool BroadcastValues::isOneForAll(InstrId shuffle) const {
  const PlainOperands operands(f_.operandsOf(f_[shuffle]));
  const Operand* const result = operands.single(0);
  return result != nullptr && result->isRegister() && operands.single(1) != nullptr &&
         values_->written(result->reg(), shuffle).isOne();
}

RegId BroadcastValues::wholeOf(InstrId pack) const {
  const SentHalves halves = sentHalves(module_, f_, cfg_, slots_, intervals_, pack);
  if (!halves.unpack.valid()) return {};
  const RegId to = f_.operandsOf(f_[pack])[0].reg(), from = halves.whole->reg();
  const bool isWhole = values_->written(to, pack).isOne() && !isWrittenBetween(from, halves.unpack, pack);
  return isWhole ? from : RegId();
}

// For one block.
bool BroadcastValues::isWrittenBetween(RegId r, InstrId from, InstrId to) const {
  for (std::size_t n = 0; from != to; from = f_[from].next)
    if (n++ == kMostBetween || std::ranges::any_of(f_.operandsOf(f_[from]), [&](const Operand& o) {
          return o.isRegister() && o.writes() && o.reg() == r;
        }))
      return true;
  return false;
}

}  // namespace ptxopt
