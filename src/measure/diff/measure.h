// From files to figures: cubins are read, PTX goes through ptxas.
//
// PTX is assembled for the architectures that are asked for. If none are, for those of its counterpart: of the
// baseline's or the cubins' entries for a file of that name or, when there is none, of all their entries; else for
// the one that it names as its .target. A .target that an architecture cannot run is passed over with a note. A
// .target with `debug` is assembled with -g -O0, as ptxas takes it no other way.
//
// Which of several ptxas: one that takes all texts for all their architectures, so that figures can be compared; where
// there is none, one for each text and architecture (choose.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diff/collect.h"
#include "ptxas/assemble.h"
#include "ptxas/find.h"

namespace ptxopt::diff {

struct MeasureOptions {
  ptxas::PtxasSettings ptxas;              // its program is chosen among the candidates, if there are any
  ptxas::PtxasCandidates candidates;       // best first
  std::string against;                     // the ptxas of the second side; empty: that of the first
  std::vector<std::string> architectures;  // "sm_80"; empty: as said above. Others are dropped on all sides.
  bool measuresTime = false;               // FunctionMeasures::compileTime is wanted (compile_time.h)
  bool keepsCode = false;                  // Unit::cubin is wanted: nothing comes from the cache then
  unsigned jobs = 1;                       // runs of ptxas at a time
};

// One side, or two that are to be compared. What cannot be measured has an error. The result does not depend on the
// number of jobs.
void measure(std::span<Collected> sides, const MeasureOptions& options);

// Whether some file is neither a cubin nor part of a baseline. Reads the beginnings of files.
bool needsPtxas(std::span<const Collected> sides, const MeasureOptions& options);

// "sm_90a" and the options after it, of the first .target of a PTX text; empty when there is none.
std::vector<std::string> targetWords(std::string_view text);
// The name without .ptx or .cubin, and without the architecture that nvcc -keep puts before that.
std::string_view stemOf(std::string_view file);

}  // namespace ptxopt::diff
