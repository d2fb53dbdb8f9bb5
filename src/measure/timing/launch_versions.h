// A kernel of two bodies; a test at its entry chooses one for all threads of the launch (pass version-kernels).
//
// What:  the code that control comes to without a branch ends in one whose two ways never meet again, but where threads
//        end; each way writes memory. Blocks of both, and of the way to them, are distinguished.
// Cost:  linear, once; nothing is found in most kernels after their first branch.
// Does not tell such a kernel from one that its author wrote so: that is for who knows what was compared.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "timing/regions.h"

namespace ptxopt::timing {

struct LaunchVersions {
  uint32_t branch = 0;                        // the block that ends with it
  std::array<uint32_t, 2> first{};            // of each body, a block
  std::array<std::vector<bool>, 2> isInBody;  // by block

  // For regionsOf(): all launches take one body.
  CountOf only(std::size_t body) const;
};

std::optional<LaunchVersions> launchVersionsOf(const TimedCode& code, uint32_t from = 0);

// The bodies of such a kernel; one or more tests choose among them.
struct LaunchBodies {
  std::vector<LaunchVersions> tests;        // each on the way from the one before
  std::vector<uint32_t> first;              // of each body, a block
  std::vector<std::vector<bool>> isInBody;  // by body and block
  std::vector<uint32_t> of;                 // of each: what `bodyOf` says
  // For regionsOf(): so much of the launches' time is of each body.
  CountOf weighed(const std::vector<double>& shares) const;
};

// Where each of these `bodies`, two or more, has machine code of its own. `bodyOf`: the body that an instruction is of; none: not known.
std::optional<LaunchBodies> launchBodiesOf(const TimedCode& code, std::size_t bodies,
                                           const std::function<std::optional<uint32_t>(uint32_t)>& bodyOf);

}  // namespace ptxopt::timing
