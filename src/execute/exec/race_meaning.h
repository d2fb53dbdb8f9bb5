// What an op means for the order of memory accesses, as --check-races counts it: see checks_races.cpp.
#pragma once

#include "exec/program.h"

namespace ptxopt::exec {

struct RaceMeaning {
  bool atomic = false;  // its reads and writes are, not only what are atomic accesses anyway
  bool acquires = false, releases = false;
  bool fence = false, exits = false, joinsLanes = false;
  bool arrives = false, waits = false;  // at a barrier of the block
  bool clusterArrives = false, clusterWaits = false;
};

RaceMeaning raceMeaningOf(const Module& module, const Routine& routine, const Op& op);

}  // namespace ptxopt::exec
