// Registers are sorted by file and by the length of their ranges and solved 64 at a time. Those that want more visits
// than their share are postponed and solved together later; a budget of block visits ends the search.
#include "analysis/dataflow/sparse_liveness.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

namespace ptxopt {
namespace {

class PlainSolver {
 public:
  PlainSolver(const Function& f, const Cfg& cfg, const RegisterNumbers& numbers)
      : f_(f),
        cfg_(cfg),
        numbers_(numbers),
        order_(cfg.size()),
        words_(cfg.size()),
        dirty_(cfg.size()),
        touched_(cfg.size()) {
    for (uint32_t k = 0; k < cfg.size(); ++k) order_[cfg.postOrder()[k].value] = k;
  }

  std::optional<std::vector<LiveRuns::Run>> run(std::size_t mostBytes) {
    findEvents();
    for (const RegisterFile file : kRegisterFiles) {
      std::vector<uint32_t> all = byLength(file);
      for (std::size_t visits = kFirstVisits; !all.empty(); visits *= kMoreVisits) {
        postponed_.clear();
        for (std::size_t k = 0; k < all.size(); k += kLanes) {
          begin(std::span(all).subspan(k, std::min(kLanes, all.size() - k)));
          const uint64_t unfinished = solve(visits > kMoreVisits * cfg_.size() ? SIZE_MAX / 2 : visits);
          appendRuns(~unfinished);
          if (LiveRuns::bytesOf(runs_.size()) > mostBytes || visited_ > kMostVisits) return std::nullopt;
        }
        all.swap(postponed_);
        std::sort(all.begin(), all.end());
      }
    }
    return std::move(runs_);
  }
  std::size_t sweeps() const { return sweeps_; }

 private:
  // What a block does to a register, seen from its start: reads it before it writes it, writes it in full.
  struct Event {
    uint32_t block : 31;
    uint32_t isWrite : 1;
  };
  static constexpr std::size_t kLanes = 64;
  static constexpr std::size_t kFirstVisits = 512, kMoreVisits = 8;
  // Blocks altogether: under half a second. A kernel of a million instructions takes a fifth of it.
  static constexpr std::size_t kMostVisits = std::size_t{1} << 24;
  // That many registers at the start of a block.
  struct Words {
    uint64_t live = 0;
    uint64_t closed = 0;  // nothing to be done when one is found live at the block's end
    uint64_t news = 0;    // live, and the predecessors do not know yet
  };

  template <typename Visit>
  void forEachEvent(Visit visit) const {
    constexpr uint32_t kNone = UINT32_MAX;
    // By number: the last block so far that read it first, and that wrote it.
    std::vector<uint32_t> read(numbers_.firstLocal(), kNone), written(numbers_.firstLocal(), kNone);
    const auto once = [&](std::vector<uint32_t>& last, RegId reg, uint32_t block, bool isWrite) {
      if (!numbers_.isGlobal(reg)) return;
      const uint32_t n = numbers_[reg];
      if (!isWrite && written[n] == block) return;
      if (last[n] != block) visit(n, block, isWrite);
      last[n] = block;
    };
    for (uint32_t b = 0; b < cfg_.size(); ++b) {
      for (const RegId reg : numbers_.exposedReads(BlockId(b))) once(read, reg, b, false);
      for (const RegId reg : numbers_.definitions(BlockId(b))) once(written, reg, b, true);
      if (cfg_[BlockId(b)].returns)
        for (const RegId reg : f_.returnRegisters) once(read, reg, b, false);
    }
  }

  void findEvents() {
    eventStart_.assign(std::size_t{numbers_.firstLocal()} + 1, 0);
    forEachEvent([&](uint32_t number, uint32_t, bool) { ++eventStart_[number + 1]; });
    for (std::size_t n = 1; n < eventStart_.size(); ++n) eventStart_[n] += eventStart_[n - 1];
    events_.resize(eventStart_.back());
    std::vector<uint32_t> next(eventStart_.begin(), eventStart_.end() - 1);
    forEachEvent([&](uint32_t number, uint32_t block, bool isWrite) {
      events_[next[number]++] = {block & INT32_MAX, isWrite};
    });
  }

  // The numbers of a file, by the order of magnitude of how many blocks lie between the first and the last event,
  // then ascending. Those solved together are then mostly live in as many blocks; long ranges side by side overlap,
  // short ones begin near each other.
  std::vector<uint32_t> byLength(RegisterFile file) const {
    const auto count = static_cast<uint32_t>(numbers_[file].registers.size());
    const uint32_t first = numbers_[file].first;
    const auto magnitude = [&](uint32_t number) {
      const uint32_t begin = eventStart_[number], end = eventStart_[number + 1];
      return begin == end ? 0 : std::bit_width(uint32_t{events_[end - 1].block} - events_[begin].block);
    };
    std::array<uint32_t, 34> start{};
    for (uint32_t k = 0; k < count; ++k) ++start[static_cast<std::size_t>(magnitude(first + k)) + 1];
    for (std::size_t m = 1; m < start.size(); ++m) start[m] += start[m - 1];
    std::vector<uint32_t> result(count);
    for (uint32_t k = 0; k < count; ++k)
      result[start[static_cast<std::size_t>(magnitude(first + k))]++] = first + k;
    return result;
  }

  // From the first to the last of a set.
  struct Extent {
    uint32_t first = UINT32_MAX, last = 0;
    bool empty() const { return first == UINT32_MAX; }
    void add(uint32_t at) {
      first = std::min(first, at);
      last = std::max(last, at);
    }
  };

  void begin(std::span<const uint32_t> numbers) {
    solved_ = numbers;
    for (std::size_t lane = 0; lane < numbers.size(); ++lane) {
      const uint64_t bit = uint64_t{1} << lane;
      for (uint32_t k = eventStart_[numbers[lane]]; k < eventStart_[numbers[lane] + 1]; ++k) {
        const uint32_t b = events_[k].block;
        words_[b].closed |= bit;
        touched_.set(b);
        blocks_.add(b);
        if (events_[k].isWrite) continue;
        becomeLive(b, bit);
        dirtyPlaces_.add(order_[b]);
      }
    }
  }

  void becomeLive(uint32_t b, uint64_t lanes) {
    Words& words = words_[b];
    words.live |= lanes;
    words.closed |= lanes;
    words.news |= lanes;
    dirty_.set(order_[b]);
    touched_.set(b);
    blocks_.add(b);
  }

  // Sweeps until there is no news. After `most` visits each register gets a quarter of that for itself; those that
  // want more are postponed. Returns their lanes.
  uint64_t solve(std::size_t most) {
    std::size_t visits = 0;
    uint64_t tooLong = 0;
    visitsOf_.fill(0);
    while (!dirtyPlaces_.empty()) {
      ++sweeps_;
      Extent now = dirtyPlaces_;
      dirtyPlaces_ = {};
      for (std::size_t at = now.first;; at = dirty_.findNext(at)) {
        dirty_.reset(at);
        const BlockId b = cfg_.postOrder()[at];
        if (++visits > most)
          for (uint64_t rest = words_[b.value].news & ~tooLong; rest != 0; rest &= rest - 1)
            if (++visitsOf_[static_cast<std::size_t>(std::countr_zero(rest))] > most / 4)
              tooLong |= rest & (~rest + 1);
        const uint64_t news = words_[b.value].news & ~tooLong;
        words_[b.value].news = 0;
        for (const BlockId p : cfg_.predecessors(b)) {
          const uint64_t lanes = news & ~words_[p.value].closed;
          if (lanes == 0) continue;
          becomeLive(p.value, lanes);
          (order_[p.value] > at ? now : dirtyPlaces_).add(order_[p.value]);
        }
        if (at == now.last) break;
      }
    }
    visited_ += visits;
    for (uint64_t rest = tooLong; rest != 0; rest &= rest - 1)
      postponed_.push_back(solved_[static_cast<std::size_t>(std::countr_zero(rest))]);
    return tooLong;
  }

  // Those of the lanes that are wanted, in the order of the text; leaves the words as they were at first.
  void appendRuns(uint64_t wanted) {
    std::size_t previous = SIZE_MAX - 1;
    uint64_t open = 0;  // the registers that are live at the start of block `previous`
    const auto close = [&](uint64_t lanes) {
      for (; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
        runs_.push_back({solved_[lane], since_[lane], static_cast<uint32_t>(previous)});
      }
    };
    if (blocks_.empty()) return;
    for (std::size_t b = blocks_.first;; b = touched_.findNext(b)) {
      if (b != previous + 1) {
        close(open);
        open = 0;
      }
      const uint64_t live = words_[b].live & wanted;
      close(open & ~live);
      for (uint64_t lanes = live & ~open; lanes != 0; lanes &= lanes - 1)
        since_[static_cast<std::size_t>(std::countr_zero(lanes))] = static_cast<uint32_t>(b);
      open = live;
      previous = b;
      words_[b] = {};
      touched_.reset(b);
      if (b == blocks_.last) break;
    }
    close(open);
    blocks_ = {};
  }

  const Function& f_;
  const Cfg& cfg_;
  const RegisterNumbers& numbers_;
  std::vector<uint32_t> order_;       // by block: its place in the post-order
  std::vector<uint32_t> eventStart_;  // by number; and the end of the last
  std::vector<Event> events_;
  std::vector<Words> words_;          // by block
  BitVector dirty_;                   // by place in the post-order: blocks with news
  BitVector touched_;                 // by block
  Extent dirtyPlaces_, blocks_;       // of these
  std::span<const uint32_t> solved_;  // by lane
  std::size_t visited_ = 0;           // blocks, so far
  std::size_t sweeps_ = 0;
  std::vector<uint32_t> postponed_;
  std::array<std::size_t, kLanes> visitsOf_{};  // by lane
  std::array<uint32_t, kLanes> since_{};        // by lane, making runs: the first block
  std::vector<LiveRuns::Run> runs_;
};

}  // namespace

std::optional<std::vector<LiveRuns::Run>> findLiveRuns(const Function& function, const Cfg& cfg,
                                                       const RegisterNumbers& numbers, std::size_t mostBytes,
                                                       std::size_t& sweeps) {
  PlainSolver solver(function, cfg, numbers);
  auto runs = solver.run(mostBytes);
  sweeps = solver.sweeps();
  return runs;
}

}  // namespace ptxopt
