// Each loop of machine code is tied to one of the PTX by the lines around its branches back, with the number of copies
// in it. Counts are then shared out from the loop with most copies to the one with fewest.
#include "timing/known_iterations.h"

#include <algorithm>
#include <cmath>

#include "timing/copies.h"

namespace ptxopt::timing {
namespace {

constexpr uint32_t kNoLoop = PtxLoops::kNone;
static_assert(kNoLoop == Region::kNone);

class KnownIterations {
 public:
  KnownIterations(const TimedCode& code, const PtxLoops& ptx, const std::function<uint32_t(uint64_t)>& lineAt)
      : code_(code), ptx_(ptx), loopOf_(code.flow.blocks().size(), kNoLoop) {
    const auto& loops = code.flow.loops();
    for (uint32_t l = 0; l < loops.size(); ++l)  // inner ones come later
      for (const uint32_t b : loops[l].blocks) loopOf_[b] = l;
    for (uint32_t i = 0; i < code.instructions.size(); ++i)
      lines_.push_back(lineAt(uint64_t{i} * sass::kInstructionBytes));
  }

  // Whenever control enters the loop.
  std::vector<std::optional<Iterations>> find() const {
    const auto& loops = code_.flow.loops();
    std::vector<uint32_t> madeOf(loops.size()), copies(loops.size());
    for (uint32_t l = 0; l < loops.size(); ++l) {
      madeOf[l] = ptxLoopOf(l);
      if (loops[l].parent != kNoLoop && madeOf[loops[l].parent] == madeOf[l]) madeOf[l] = kNoLoop;
      copies[l] = madeOf[l] == kNoLoop ? 0 : copiesIn(l, madeOf[l]);
    }
    std::vector<std::optional<Iterations>> iterations(loops.size());
    for (uint32_t l = 0; l < loops.size(); ++l) {
      if (madeOf[l] != kNoLoop && ptx_.iterations[madeOf[l]] == PtxLoops::kNever)
        iterations[l] = {0, IterationsFrom::Profiled};
      if (copies[l] == 0 || iterations[l]) continue;
      uint32_t most = 0, more = 0;  // copies: the most, and the next more than here
      bool allKnown = true, hasRest = false;
      for (uint32_t other = 0; other < loops.size(); ++other) {
        if (madeOf[other] != madeOf[l]) continue;
        most = std::max(most, copies[other]);
        if (copies[other] > copies[l] && (more == 0 || copies[other] < more)) more = copies[other];
        allKnown &= copies[other] != 0;
        hasRest |= copies[other] < copies[l];
      }
      if (!allKnown) continue;
      const double all = ptx_.iterations[madeOf[l]];
      if (all <= 0) {
        if (more != 0) iterations[l] = {(static_cast<double>(more) / copies[l] - 1) / 2, IterationsFrom::Assumed};
      } else if (all >= most || isSeen(madeOf[l])) {
        // What launches were seen to make may be too few for the loop with most copies: the rest is elsewhere, or
        // leaves it after some copies.
        const bool isWhole = all >= most || copies[l] != most || hasRest || isElsewhere(madeOf, madeOf[l]);
        iterations[l] = {!isWhole            ? all / most
                         : copies[l] == most ? std::floor(all / most)
                                             : std::fmod(all, most) / copies[l],
                         isSeen(madeOf[l]) ? IterationsFrom::Profiled : IterationsFrom::Known};
      }
    }
    return iterations;
  }

 private:
  // By the branches back to its header.
  uint32_t ptxLoopOf(uint32_t l) const {
    const sass::Loop& loop = code_.flow.loops()[l];
    uint32_t found = kNoLoop;
    for (const uint32_t b : loop.blocks) {
      const sass::Block& block = code_.flow.blocks()[b];
      if (!std::ranges::binary_search(block.successors, loop.header)) continue;
      const uint32_t here = ptx_.loopOf(lines_[block.end - 1]);
      if (here == kNoLoop || (found != kNoLoop && here != found)) return kNoLoop;
      found = here;
    }
    return found == kNoLoop || loop.isIrreducible ? kNoLoop : found;
  }

  bool isSeen(uint32_t ptxLoop) const { return ptxLoop < ptx_.isSeen.size() && ptx_.isSeen[ptxLoop]; }

  // Whether copies of the loop of the PTX are in none of the loops that are made of it.
  bool isElsewhere(const std::vector<uint32_t>& madeOf, uint32_t ptxLoop) const {
    Copies copies;
    for (uint32_t b = 0; b < code_.flow.blocks().size(); ++b) {
      uint32_t l = loopOf_[b];
      while (l != kNoLoop && madeOf[l] != ptxLoop) l = code_.flow.loops()[l].parent;
      if (l != kNoLoop) continue;
      const sass::Block& block = code_.flow.blocks()[b];
      for (uint32_t i = block.first; i < block.end; ++i)
        if (ptx_.loopOf(lines_[i]) == ptxLoop) copies.add(lines_[i], code_.operations[i]);
    }
    return copies.count() != 0;
  }

  // How many copies of a loop of the PTX are in a loop; 0: not known.
  uint32_t copiesIn(uint32_t l, uint32_t ptxLoop) const {
    Copies copies;
    for (const uint32_t b : code_.flow.loops()[l].blocks) {
      if (loopOf_[b] != l) continue;
      const sass::Block& block = code_.flow.blocks()[b];
      for (uint32_t i = block.first; i < block.end; ++i)
        if (ptx_.loopOf(lines_[i]) == ptxLoop) copies.add(lines_[i], code_.operations[i]);
    }
    return copies.count();
  }

  const TimedCode& code_;
  const PtxLoops& ptx_;
  std::vector<uint32_t> loopOf_;  // of blocks
  std::vector<uint32_t> lines_;   // of instructions
};

}  // namespace

IterationsOf knownOrAssumedIterations(const TimedCode& code, const PtxLoops& loops,
                                      const std::function<uint32_t(uint64_t)>& lineAt, double assumed) {
  return
      [found = KnownIterations(code, loops, lineAt).find(), assumed](uint32_t loop, double entries) -> Iterations {
        if (found[loop]) return {entries * found[loop]->all, found[loop]->from};
        return {entries * assumed, IterationsFrom::Assumed};
      };
}

}  // namespace ptxopt::timing
