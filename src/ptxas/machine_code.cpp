#include "ptxas/machine_code.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace ptxopt {
namespace {

constexpr std::size_t kBytes = 16;
constexpr uint64_t kOpcode = 0xfff, kBranch = 0x947, kNop = 0x918;

struct Word {
  uint64_t low, high;
  bool is(uint64_t opcode) const { return (low & kOpcode) == opcode; }
};

struct Stretch {
  uint32_t first, last;
};

// The number of the instruction that the branch at `at` goes to; -1 for none.
int64_t targetOf(const Word& w, int64_t at, bool wide) {
  uint64_t bits = (w.low >> 34 | w.high << 30) & ((uint64_t{1} << 48) - 1);
  auto offset = static_cast<int64_t>(bits << 16) >> 16;
  if (wide) offset = static_cast<int64_t>(static_cast<uint64_t>(offset) << 8 | (w.low >> 16 & 0xff));
  return offset % 4 == 0 ? at + 1 + offset / 4 : -1;
}

}  // namespace

MachineCodeCounts countMachineCode(std::string_view text) {
  std::vector<Word> words(text.size() / kBytes);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::memcpy(&words[i].low, text.data() + i * kBytes, 8);
    std::memcpy(&words[i].high, text.data() + i * kBytes + 8, 8);
  }
  while (!words.empty() && words.back().is(kNop)) words.pop_back();
  bool wide = false;
  if (!words.empty() && words.back().is(kBranch)) {
    wide = (words.back().low >> 16 & 0xff) == 0xfc;
    words.pop_back();
  }
  MachineCodeCounts counts;
  counts.instructions = static_cast<uint32_t>(words.size());

  std::vector<Stretch> loops;  // in the order of their ends
  for (uint32_t i = 0; i < words.size(); ++i) {
    if (!words[i].is(kBranch)) continue;
    const int64_t to = targetOf(words[i], i, wide);
    if (to >= 0 && to <= i) loops.push_back({static_cast<uint32_t>(to), i});
  }
  // Ends differ: a loop holds another if one that ended before it, or a later start among them, starts within.
  int64_t latestStart = -1;
  for (const Stretch& loop : loops) {
    if (latestStart < loop.first) {
      counts.inner += loop.last - loop.first + 1;
      ++counts.innerLoops;
    }
    latestStart = std::max<int64_t>(latestStart, loop.first);
  }
  return counts;
}

}  // namespace ptxopt
