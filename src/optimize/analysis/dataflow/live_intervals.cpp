// Registers that are written once and read in one block get their range from one walk; all others have their
// occurrences listed and go to LiveRangeCalc. An update keeps the ranges of registers whose mentions have not changed.
#include "analysis/dataflow/live_intervals.h"

#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <utility>

#include "analysis/dataflow/live_range_calc.h"

namespace ptxopt {

namespace {

// Few ranges need more than they have room for. What suits the function costs less than what is too large for a small one.
constexpr std::size_t kBytesOfRange = 16;

}  // namespace

LiveIntervals::LiveIntervals(const Function& function, const Cfg& cfg, const SlotIndexes& slots,
                             const DominatorTree* dominators, const Liveness* liveness)
    : f_(function),
      cfg_(cfg),
      ownDominators_(dominators != nullptr
                         ? nullptr
                         : std::make_unique<DominatorTree>(cfg, DominatorTree::Direction::Dominators)),
      dominators_(dominators != nullptr ? *dominators : *ownDominators_),
      memory_(std::make_unique<std::pmr::monotonic_buffer_resource>(function.registers.size() * kBytesOfRange)) {
  ranges_.reserve(function.registers.size());
  for (std::size_t r = 0; r < function.registers.size(); ++r) ranges_.emplace_back(memory_.get());
  mentions_ = registerMentions(function, cfg, slots, nullptr);
  compute(slots, std::vector<uint8_t>(ranges_.size(), 1), mentions_, liveness);
}

LiveIntervals::LiveIntervals(const Function& function, const Cfg& cfg, const SlotIndexes& slots,
                             const DominatorTree& dominators, std::span<const RegId> only)
    : f_(function),
      cfg_(cfg),
      dominators_(dominators),
      memory_(std::make_unique<std::pmr::monotonic_buffer_resource>()) {
  ranges_.reserve(function.registers.size());
  for (std::size_t r = 0; r < function.registers.size(); ++r) ranges_.emplace_back(memory_.get());
  if (only.empty()) return;
  std::vector<uint8_t> isWanted(ranges_.size());
  for (const RegId r : only) isWanted[r.value] = 1;
  compute(slots, isWanted, registerMentions(f_, cfg_, slots, &isWanted));
}

LiveIntervals::LiveIntervals(const Function& function, const Cfg& cfg, const SlotIndexes& slots,
                             const DominatorTree& dominators, LiveIntervals&& before)
    : f_(function),
      cfg_(cfg),
      dominators_(dominators),
      memory_(std::move(before.memory_)),
      ranges_(std::move(before.ranges_)) {
  ranges_.reserve(function.registers.size());
  while (ranges_.size() < function.registers.size()) ranges_.emplace_back(memory_.get());
  MentionChanges changes(function, cfg, slots, before.mentions_);
  const RegisterMentions wanted = changes.changed();
  mentions_ = std::move(changes.mentions);
  compute(slots, changes.isChanged, wanted);
}

namespace {

// Makes the ranges of registers that are written once and read in the same block only, as most are, and lists all
// mentions of the others. Nothing is spent on registers that are not wanted.
class Sightings {
 public:
  // `mentions`: of the wanted ones, whose ranges are made anew.
  Sightings(const std::vector<uint8_t>& isWanted, const Cfg& cfg, const SlotIndexes& slots,
            std::span<const RegisterMention> mentions, std::vector<LiveRange>& ranges)
      : seen_(std::make_unique_for_overwrite<Seen[]>(isWanted.size())) {
    for (uint32_t r = 0; r < isWanted.size(); ++r) {
      if (isWanted[r] == 0) continue;
      ranges[r].clear();
      seen_[r].state = State::Unseen;
      seen_[r].mentions = 0;
    }
    auto m = mentions.begin();
    for (uint32_t b = 0; b < cfg.size() && m != mentions.end(); ++b)
      for (const SlotIndex end = slots.end(BlockId(b)); m != mentions.end() && m->at() < end; ++m)
        note(ranges[m->reg()], b, *m);
    list(mentions);
  }

  // Those that have no range yet, each once.
  const std::vector<uint32_t>& listed() const { return listed_; }
  // For a listed one, in the order of the text.
  std::span<const SlotOccurrence> occurrences(uint32_t r) const {
    return {all_.data() + (seen_[r].end - seen_[r].mentions), all_.data() + seen_[r].end};
  }

 private:
  enum class State : uint8_t { Unseen, Local, Listed };
  // Without a constructor, as there are many.
  struct Seen {
    State state;
    uint32_t mentions;
    uint32_t block;  // of a local one
    uint32_t end;    // of a listed one's row in all_
  };

  void note(LiveRange& range, uint32_t block, const RegisterMention& m) {
    Seen& s = seen_[m.reg()];
    ++s.mentions;
    if (s.state == State::Listed) return;
    if (s.state == State::Unseen && m.role() == Role::Def) {
      s.state = State::Local;
      s.block = block;
      range.begin(m.at());
    } else if (s.state == State::Local && m.role() == Role::Use && block == s.block &&
               m.at().reg() != range.start() && m.at().slot() == SlotIndex::Block) {
      range.extendTo(m.at().reg());
    } else {
      // Also what a function returns: it is read at the end, which is not an instruction.
      s.state = State::Listed;
      range.clear();
      listed_.push_back(m.reg());
    }
  }

  // As compressed rows; an instruction that names a register several times is one occurrence.
  void list(std::span<const RegisterMention> mentions) {
    if (listed_.empty()) return;
    uint32_t start = 0;
    for (const uint32_t r : listed_) {
      seen_[r].end = start;
      start += std::exchange(seen_[r].mentions, 0);
    }
    all_.resize(start);
    for (const RegisterMention& m : mentions) {
      Seen& s = seen_[m.reg()];
      if (s.state != State::Listed) continue;
      if (s.mentions == 0 || all_[s.end - 1].at != m.at()) {
        all_[s.end++] = {m.at()};
        ++s.mentions;
      }
      SlotOccurrence& o = all_[s.end - 1];
      o.reads |= m.role() == Role::Use || m.role() == Role::Mod;
      o.writes |= m.role() == Role::Def || m.role() == Role::Mod;
      o.isPartial |= m.role() == Role::Mod;
    }
  }

  std::unique_ptr<Seen[]> seen_;  // by register
  std::vector<uint32_t> listed_;
  std::vector<SlotOccurrence> all_;
};

// The reachable blocks where each register is live at the start, ascending, as compressed rows.
class LiveInBlocks {
 public:
  LiveInBlocks(const Function& f, const Cfg& cfg, const Liveness& liveness) : start_(f.registers.size() + 1) {
    const auto forEach = [&](auto visit) {
      for (uint32_t b = static_cast<uint32_t>(cfg.size()); b-- > 0;)
        if (cfg[BlockId(b)].reachable) liveness.forEachLiveIn(BlockId(b), [&](RegId r) { visit(r.value, b); });
    };
    forEach([&](uint32_t r, uint32_t) { ++start_[r]; });
    std::inclusive_scan(start_.begin(), start_.end(), start_.begin());
    blocks_.resize(start_.back());
    // From the ends of rows to their starts: the last block comes first.
    forEach([&](uint32_t r, uint32_t b) { blocks_[--start_[r]] = b; });
  }
  std::span<const uint32_t> operator[](RegId r) const {
    return {blocks_.data() + start_[r.value], blocks_.data() + start_[r.value + 1]};
  }

 private:
  std::vector<uint32_t> start_, blocks_;
};

}  // namespace

void LiveIntervals::compute(const SlotIndexes& slots, const std::vector<uint8_t>& isWanted,
                            std::span<const RegisterMention> mentions, const Liveness* liveness) {
  const Sightings sightings(isWanted, cfg_, slots, mentions, ranges_);
  LiveRangeCalc calc(cfg_, dominators_, slots);
  std::optional<LiveInBlocks> liveIn;
  if (liveness != nullptr) liveIn.emplace(f_, cfg_, *liveness);
  for (const uint32_t r : sightings.listed()) {
    if (liveIn)
      calc.calculate(sightings.occurrences(r), (*liveIn)[RegId(r)], ranges_[r]);
    else
      calc.calculate(sightings.occurrences(r), ranges_[r]);
  }
}

std::string LiveIntervals::verify() const {
  for (std::size_t r = 0; r < ranges_.size(); ++r)
    if (const std::string error = ranges_[r].verify(); !error.empty())
      return fmt::format("register {}: {}", r, error);
  return {};
}

}  // namespace ptxopt
