// Kernels with several bodies; tests at the entry choose one for all threads of the launch (pass version-kernels):
// where they are in the PTX, and which launches of a profile run each.
//
// What:     the first block ends in a `bra.uni` under a predicate, both ways write memory, and no block of the one is
//           reached from the other, but where threads end. The test is executed with what the profile has of a class of
//           launches: bits of parameters, sizes of the block. A test that this does not decide counts as passed: such a
//           test is made where the profile does not speak against it (alias-test).
// Cost:     linear in the kernel, for each body; the tests once for each class.
#pragma once

#include <optional>
#include <vector>

#include "analysis/dataflow/cfg.h"
#include "ir/module.h"

namespace ptxopt::iterations {

struct EntryBodies {
  const Module* module = nullptr;
  const Function* f = nullptr;
  std::vector<InstrId> tests;  // in order: branches to a body where it holds
  std::vector<std::vector<BlockId>>
      blocks;  // of the body of each test, then of the one for all other launches; empty: there is one body
};

EntryBodies entryBodiesOf(const Module& module, const Function& f, const Cfg& cfg);

// By body: the share of the time of the kernel's launches; those that the profile has in no class are the last one's. Empty: there are no
// launches.
std::vector<double> sharesOf(const EntryBodies& bodies, const LaunchProfile& profile);

}  // namespace ptxopt::iterations
