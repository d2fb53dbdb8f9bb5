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

// Most registers have one value and one segment. What suits the function costs less than what is too large for a small one.
constexpr std::size_t kBytesOfRange = 32;

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

// What mentions say of each wanted register. Most registers are written once and read in the same block only: their
// ranges follow from that. All occurrences of the others are listed. Nothing is spent on registers that are not wanted.
class Sightings {
 public:
  // Without a constructor, as there are many.
  struct Seen {
    enum class State : uint8_t { Unseen, Local, Listed };
    uint32_t def, last;  // places; of a local one: where it is written, and read for the last time
    uint32_t block;      // the first that mentions it
    uint32_t mentions;
    State state;
  };

  // `mentions`: of the wanted ones.
  Sightings(const std::vector<uint8_t>& isWanted, const Cfg& cfg, const SlotIndexes& slots,
            std::span<const RegisterMention> mentions)
      : seen_(std::make_unique_for_overwrite<Seen[]>(isWanted.size())),
        end_(std::make_unique_for_overwrite<uint32_t[]>(isWanted.size())) {
    for (uint32_t r = 0; r < isWanted.size(); ++r) {
      if (isWanted[r] == 0) continue;
      wanted_.push_back(r);
      seen_[r].state = Seen::State::Unseen;
      seen_[r].mentions = 0;
    }
    auto m = mentions.begin();
    for (uint32_t b = 0; b < cfg.size() && m != mentions.end(); ++b)
      for (const SlotIndex end = slots.end(BlockId(b)); m != mentions.end() && m->at() < end; ++m)
        note(seen_[m->reg()], b, *m);
    list(mentions);
  }

  // Those that are wanted, ascending.
  const std::vector<uint32_t>& wanted() const { return wanted_; }
  const Seen& operator[](uint32_t r) const { return seen_[r]; }
  // For a listed one, in the order of the text.
  std::span<const SlotOccurrence> occurrences(uint32_t r) const {
    return {all_.data() + (end_[r] - seen_[r].mentions), all_.data() + end_[r]};
  }

 private:
  void note(Seen& s, uint32_t block, const RegisterMention& m) {
    if (s.state == Seen::State::Unseen) {
      s.block = block;
      s.def = s.last = m.place;
      s.state = m.role() == Role::Def ? Seen::State::Local : Seen::State::Listed;
    } else if (s.state == Seen::State::Local) {
      // What a function returns is read at its end, which is not an instruction.
      if (m.role() != Role::Use || m.place == s.def || block != s.block || m.at().slot() != SlotIndex::Block)
        s.state = Seen::State::Listed;
      s.last = m.place;
    }
    ++s.mentions;
  }

  // As compressed rows; an instruction that names a register several times is one occurrence.
  void list(std::span<const RegisterMention> mentions) {
    uint32_t start = 0;
    for (const uint32_t r : wanted_) {
      end_[r] = start;
      if (seen_[r].state == Seen::State::Listed) start += std::exchange(seen_[r].mentions, 0);
    }
    if (start == 0) return;
    all_.resize(start);
    for (const RegisterMention& m : mentions) {
      Seen& s = seen_[m.reg()];
      if (s.state != Seen::State::Listed) continue;
      uint32_t& end = end_[m.reg()];
      if (s.mentions == 0 || all_[end - 1].at != m.at()) {
        all_[end++] = {m.at()};
        ++s.mentions;
      }
      SlotOccurrence& o = all_[end - 1];
      o.reads |= m.role() == Role::Use || m.role() == Role::Mod;
      o.writes |= m.role() == Role::Def || m.role() == Role::Mod;
      o.isPartial |= m.role() == Role::Mod;
    }
  }

  std::vector<uint32_t> wanted_;
  std::unique_ptr<Seen[]> seen_;  // by register
  std::vector<SlotOccurrence> all_;
  std::unique_ptr<uint32_t[]> end_;  // by register: the end of its row in all_
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
  using State = Sightings::Seen::State;
  const Sightings sightings(isWanted, cfg_, slots, mentions);
  LiveRangeCalc calc(cfg_, dominators_, slots);
  std::optional<LiveInBlocks> liveIn;
  if (liveness != nullptr) liveIn.emplace(f_, cfg_, *liveness);
  for (const uint32_t r : sightings.wanted()) {
    const Sightings::Seen& seen = sightings[r];
    LiveRange& range = ranges_[r];
    range.clear();
    if (seen.state == State::Local) {
      const SlotIndex def = SlotIndex(seen.def).reg();
      range.reserve(1, 1);
      range.append({def, seen.mentions == 1 ? def.dead() : SlotIndex(seen.last).reg(),
                    range.addValue({def, ValueKind::Instruction, false})});
    } else if (seen.state == State::Listed) {
      const std::span<const SlotOccurrence> occurrences = sightings.occurrences(r);
      if (liveIn)
        calc.calculate(occurrences, (*liveIn)[RegId(r)], range);
      else
        calc.calculate(occurrences, range);
    }
  }
}

std::string LiveIntervals::verify() const {
  for (std::size_t r = 0; r < ranges_.size(); ++r)
    if (const std::string error = ranges_[r].verify(); !error.empty())
      return fmt::format("register {}: {}", r, error);
  return {};
}

}  // namespace ptxopt
