#include "analysis/dataflow/live_runs.h"

#include <algorithm>

namespace ptxopt {

bool LiveRuns::make(std::size_t blocks, const std::vector<Run>& runs, std::size_t mostBytes) {
  *this = LiveRuns();
  const std::size_t shelves = (blocks + kShelf - 1) / kShelf;
  // On which shelves a run lies: those of the blocks after its first, up to its last.
  const auto firstShelf = [](const Run& r) { return r.first / kShelf + 1; };
  const auto endShelf = [](const Run& r) { return r.last / kShelf + 1; };
  std::size_t onShelves = 0;
  for (const Run& r : runs) onShelves += endShelf(r) - firstShelf(r);
  if (bytesOf(runs.size()) + bytesOf(onShelves) > mostBytes || onShelves > UINT32_MAX || runs.size() > UINT32_MAX)
    return false;

  start_.assign(blocks + 1, 0);
  for (const Run& r : runs) ++start_[r.first + 1];
  for (std::size_t b = 0; b < blocks; ++b) start_[b + 1] += start_[b];
  runs_.resize(runs.size());
  // Filling moves each start to its end, which is the next one's start.
  for (const Run& r : runs) runs_[start_[r.first]++] = {r.last, r.number};
  for (std::size_t b = blocks; b > 0; --b) start_[b] = start_[b - 1];
  start_[0] = 0;
  for (std::size_t b = 0; b < blocks; ++b)
    std::sort(runs_.begin() + start_[b], runs_.begin() + start_[b + 1],
              [](const Rest& x, const Rest& y) { return x.number < y.number; });

  // A run that covers a shelf begins on the one above or lies on it too.
  shelfStart_.reserve(shelves + 1);
  shelfStart_.push_back(0);
  onShelves_.reserve(onShelves);
  for (std::size_t s = 0; s < shelves; ++s) {
    const std::size_t block = s * kShelf;
    if (s != 0) {
      for (uint32_t k = shelfStart_[s - 1]; k < shelfStart_[s]; ++k)
        if (onShelves_[k].last >= block) onShelves_.push_back(onShelves_[k]);
      for (uint32_t k = start_[block - kShelf]; k < start_[block]; ++k)
        if (runs_[k].last >= block) onShelves_.push_back(runs_[k]);
    }
    shelfStart_.push_back(static_cast<uint32_t>(onShelves_.size()));
  }
  return true;
}

}  // namespace ptxopt
