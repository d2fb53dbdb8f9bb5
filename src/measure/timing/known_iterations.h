// How often loops iterate, from the loops of the PTX that they were made of, and their constant trip counts or what a
// profile of launches has of them.
//
// A loop of machine code is made of the innermost loop of the PTX around the branch that leads back to its header, by
// the lines of its instructions. Where ptxas unrolled it, several instructions come from one of the PTX (copies.h). If
// several loops were made of one, those with fewer copies iterate for what is left. Where the trip count is not known,
// that is half of what may be left: a loop of four copies next to one of sixteen iterates one and a half times. What launches were seen to make may be fewer than the most copies: the loop is then not entered where copies
// are elsewhere, and left early otherwise.
// Declines: branches back that are of different loops or of none; a loop in which a loop was made of the same one;
// nothing that shows the copies, unless each line has one instruction.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "timing/regions.h"

namespace ptxopt::timing {

// One body of a kernel with several: tests at its entry choose one for all threads of the launch.
struct PtxBody {
  std::string kernel;
  uint32_t firstLine = 0, lastLine = 0;
  double share = 0;     // of the time of the kernel's launches
  bool isSeen = false;  // a profile says so; otherwise it is assumed
};

// The loops of all functions of a PTX text: ptxas puts code of one into another.
struct PtxLoops {
  static constexpr uint32_t kNone = UINT32_MAX;  // no loop, or not known which
  static constexpr double kNever = -1;
  std::vector<double>
      iterations;  // whenever control enters the loop; 0: not known; kNever: no launch was seen to enter it
  std::map<uint32_t, uint32_t> loopOfLine;  // the innermost one
  std::vector<bool> isSeen =
      {};  // by loop: the iterations are what launches were seen to make, in the mean; may be shorter
  std::vector<PtxBody> bodies = {};  // of kernels that have several; that for all other launches comes last
  std::map<uint32_t, uint32_t> bodyOfLine = {};  // of these kernels
  std::map<std::string, uint32_t, std::less<>> threads =
      {};  // by kernel: of a block, in the launches that took most time

  uint32_t loopOf(uint32_t line) const {
    const auto found = loopOfLine.find(line);
    return found == loopOfLine.end() ? kNone : found->second;
  }
  std::optional<uint32_t> bodyOf(uint32_t line) const {
    const auto found = bodyOfLine.find(line);
    return found == bodyOfLine.end() || found->second == kNone ? std::nullopt : std::optional(found->second);
  }
};

// For regionsOf(): the known ones, those of loops for what is left, and `assumed` of other loops.
IterationsOf knownOrAssumedIterations(const TimedCode& code, const PtxLoops& loops,
                                      const std::function<uint32_t(uint64_t)>& lineAt, double assumed);

}  // namespace ptxopt::timing
