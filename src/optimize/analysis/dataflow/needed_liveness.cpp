// Needed liveness is found from plain liveness by marking. Instructions that must stay mark what they read; a mark is
// carried backward, through the blocks where the register is live, to its writers, which then mark in turn. Bits are
// kept for runs of blocks only.
#include <algorithm>

#include "analysis/dataflow/liveness.h"
#include "analysis/dataflow/sparse_liveness.h"

namespace ptxopt {
namespace {

class NeededSolver {
 public:
  using Run = LiveRuns::Run;

  NeededSolver(const Module& module, const Function& f, const Cfg& cfg, const RegisterNumbers& numbers)
      : module_(module), f_(f), cfg_(cfg), numbers_(numbers) {}

  std::optional<std::vector<Run>> run(const std::vector<Run>& plain, std::size_t mostBytes) {
    if (!makeRanges(plain, mostBytes)) return std::nullopt;
    makePlaces();
    makeWrites();
    markWriters();
    mark();
    return result(mostBytes);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // Registers and blocks: each costs a step. Deep nests of loops have more, and are better walked.
  static constexpr std::size_t kMostPairs = std::size_t{1} << 26;

  // A run of `Plain`, and where its bits begin.
  struct Range {
    uint32_t first, last, bit;
  };
  // A register found live at the start of a block, whose predecessors are not searched yet.
  struct Found {
    uint32_t number;  // of the register
    uint32_t block;
    uint32_t range;  // the one that has the block
  };

  // By number, in the order of the text: so do the runs of one register come.
  bool makeRanges(const std::vector<Run>& plain, std::size_t mostBytes) {
    rangeStart_.assign(std::size_t{numbers_.firstLocal()} + 1, 0);
    for (const Run& r : plain) ++rangeStart_[r.number + 1];
    for (std::size_t n = 1; n < rangeStart_.size(); ++n) rangeStart_[n] += rangeStart_[n - 1];
    ranges_.resize(plain.size());
    std::vector<uint32_t> next(rangeStart_.begin(), rangeStart_.end() - 1);
    for (const Run& r : plain) ranges_[next[r.number]++] = {r.first, r.last, 0};
    std::size_t bits = 0;
    for (Range& r : ranges_) {
      r.bit = static_cast<uint32_t>(bits);
      bits += r.last - r.first + 1;
      if (bits > kMostPairs || bits / 8 > mostBytes) return false;
    }
    seen_ = isWritten_ = BitVector(bits);
    return true;
  }

  // Places: the positions of instructions in the text.
  void makePlaces() {
    placeOf_.resize(f_.instructions.size());
    start_.reserve(cfg_.size() + 1);
    for (uint32_t b = 0; b < cfg_.size(); ++b) {
      start_.push_back(static_cast<uint32_t>(instructions_.size()));
      const Block& block = cfg_[BlockId(b)];
      for (InstrId id = block.first; id.valid(); id = id == block.last ? InstrId() : f_[id].next) {
        placeOf_[id.value] = static_cast<uint32_t>(instructions_.size());
        instructions_.push_back(id);
      }
    }
    start_.push_back(static_cast<uint32_t>(instructions_.size()));
    needed_ = BitVector(instructions_.size());
  }

  template <typename Visit>
  void forEachWrite(Visit visit) const {
    for (const InstrId id : instructions_)
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && o.writes()) visit(o.reg(), placeOf_[id.value]);
  }

  void makeWrites() {
    writeStart_.assign(f_.registers.size() + 1, 0);
    forEachWrite([&](RegId reg, uint32_t) { ++writeStart_[reg.value + 1]; });
    for (std::size_t r = 1; r < writeStart_.size(); ++r) writeStart_[r] += writeStart_[r - 1];
    writes_.resize(writeStart_.back());
    // Filling moves each start to its end, which is the next one's start.
    forEachWrite([&](RegId reg, uint32_t place) { writes_[writeStart_[reg.value]++] = place; });
    for (std::size_t r = f_.registers.size(); r > 0; --r) writeStart_[r] = writeStart_[r - 1];
    writeStart_[0] = 0;
  }

  void markWriters() {
    for (uint32_t number = 0; number < numbers_.firstLocal(); ++number) {
      if (rangeStart_[number] == rangeStart_[number + 1]) continue;
      const RegId reg = numbers_.registerOf(number);
      uint32_t k = rangeStart_[number];
      for (uint32_t w = writeStart_[reg.value]; w < writeStart_[reg.value + 1]; ++w) {
        const uint32_t block = cfg_.blockOf(instructions_[writes_[w]]).value;
        while (k < rangeStart_[number + 1] && ranges_[k].last < block) ++k;
        if (k == rangeStart_[number + 1]) break;
        if (ranges_[k].first <= block) isWritten_.set(ranges_[k].bit + (block - ranges_[k].first));
      }
    }
  }

  void mark() {
    for (uint32_t b = 0; b < cfg_.size(); ++b) {
      if (cfg_[BlockId(b)].returns)
        for (const RegId reg : f_.returnRegisters) read(reg, start_[b + 1], b);
      for (uint32_t place = start_[b]; place < start_[b + 1]; ++place)
        if (!isRemovable(module_, f_, f_[instructions_[place]])) need(place);
    }
    while (!todo_.empty() || !found_.empty()) {
      // A register all the way before the next one: its tables are near.
      if (!found_.empty()) {
        const Found found = found_.back();
        found_.pop_back();
        for (const BlockId p : cfg_.predecessors(BlockId(found.block))) pass(found, p.value);
        continue;
      }
      const uint32_t place = todo_.back();
      todo_.pop_back();
      const InstrId id = instructions_[place];
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && o.reads()) read(o.reg(), place, cfg_.blockOf(id).value);
    }
  }

  void need(uint32_t place) {
    if (needed_.test(place)) return;
    needed_.set(place);
    todo_.push_back(place);
  }

  // The register is live before `place` in `block`, which may be the block's end.
  void read(RegId reg, uint32_t place, uint32_t block) {
    const auto first = writes_.begin() + writeStart_[reg.value];
    const auto above = std::lower_bound(first, writes_.begin() + writeStart_[reg.value + 1], place);
    if (above != first && *(above - 1) >= start_[block])
      need(*(above - 1));
    else
      enter(numbers_[reg], block, rangeOf(numbers_[reg], block));
  }

  // The register is live at the end of `block`.
  void pass(const Found& found, uint32_t block) {
    uint32_t range = found.range;
    if (ranges_[range].first > block || ranges_[range].last < block) {
      range = rangeOf(found.number, block);
      if (range == kNone) {
        read(numbers_.registerOf(found.number), start_[block + 1], block);
        return;
      }
    }
    if (isWritten_.test(ranges_[range].bit + (block - ranges_[range].first)))
      read(numbers_.registerOf(found.number), start_[block + 1], block);
    else
      enter(found.number, block, range);
  }

  void enter(uint32_t number, uint32_t block, uint32_t range) {
    const std::size_t bit = ranges_[range].bit + (block - ranges_[range].first);
    if (seen_.test(bit)) return;
    seen_.set(bit);
    found_.push_back({number, block, range});
  }

  // The range that has the block, or kNone.
  uint32_t rangeOf(uint32_t number, uint32_t block) const {
    const auto end = ranges_.begin() + rangeStart_[number + 1];
    const auto it = std::partition_point(ranges_.begin() + rangeStart_[number], end,
                                         [&](const Range& r) { return r.last < block; });
    return it == end || it->first > block ? kNone : static_cast<uint32_t>(it - ranges_.begin());
  }

  // What of the ranges has been seen.
  std::optional<std::vector<Run>> result(std::size_t mostBytes) const {
    std::vector<Run> runs;
    std::size_t at = seen_.findFirst();
    for (uint32_t number = 0; number < numbers_.firstLocal(); ++number) {
      for (uint32_t k = rangeStart_[number]; k < rangeStart_[number + 1]; ++k) {
        const Range& r = ranges_[k];
        const std::size_t end = std::size_t{r.bit} + (r.last - r.first) + 1;
        while (at < end) {
          const std::size_t until = seen_.findClearIn(at, end);
          runs.push_back({number, static_cast<uint32_t>(r.first + (at - r.bit)),
                          static_cast<uint32_t>(r.first + (until - 1 - r.bit))});
          at = seen_.findFrom(until);
        }
      }
      if (LiveRuns::bytesOf(runs.size()) > mostBytes) return std::nullopt;
    }
    return runs;
  }

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  const RegisterNumbers& numbers_;
  std::vector<uint32_t> rangeStart_;  // by number; and the end of the last
  std::vector<Range> ranges_;
  BitVector isWritten_;                // for each block of each range: the block writes the register
  BitVector seen_;                     // for each block of each range
  std::vector<uint32_t> placeOf_;      // by InstrId
  std::vector<InstrId> instructions_;  // by place
  std::vector<uint32_t> start_;        // by block: its first place; and the end of the last
  std::vector<uint32_t> writeStart_;   // by RegId; and the end of the last
  std::vector<uint32_t> writes_;       // places, ascending for each register
  BitVector needed_;                   // by place
  std::vector<uint32_t> todo_;         // needed, whose reads are not followed yet
  std::vector<Found> found_;
};

}  // namespace

std::optional<std::vector<LiveRuns::Run>> findNeededRuns(const Module& module, const Function& function,
                                                         const Cfg& cfg, const RegisterNumbers& numbers,
                                                         const std::vector<LiveRuns::Run>& plain,
                                                         std::size_t mostBytes) {
  return NeededSolver(module, function, cfg, numbers).run(plain, mostBytes);
}

}  // namespace ptxopt
