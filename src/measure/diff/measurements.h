// One side of a comparison: figures by file, architecture and function.
#pragma once

#include <string>
#include <vector>

#include "ptxas/measures.h"

namespace ptxopt::diff {

// One file for one architecture. Where there are no figures, `error` says why; its architecture may be empty then.
struct Unit {
  std::string file;  // relative to the folder that was given, with '/'; of a single file its name
  ptxas::Measures measures;
  std::string error;
  std::string cubin;  // what the figures are of, where it was to be kept
};

struct Side {
  std::string name;                       // as it was given
  std::string ptxas;                      // versions that made the figures; empty where they are not known
  std::vector<std::string> ptxasOptions;  // besides those that do not change code
  bool isOneFile = false;                 // and not a baseline
  std::vector<Unit> units;                // by file, then architecture
  std::vector<std::string> notes;         // what a user should know of how the figures came about

  void sortUnits();
};

}  // namespace ptxopt::diff
