// Which function of one side is which of the other.
//
// Files belong together by name; where one side has a PTX file and the other a cubin, by name without extension;
// two single files always. Among the files that are left over, two belong together when they have the same kernels
// and no third one has. Within files that belong together, functions are matched by name; then by demangled name,
// since compilers put a digest of the folder into names of anonymous namespaces; then by demangled name without
// parameters, if that is the only one of its kind on both sides. Kernels that are left over match when no other
// file of either side has one of that name: they moved. Before all that come the pairs that the user gives, and after it
// kernels of similar names (pairing.h), within files that belong together and then among all. All this for each architecture on its own, except that two
// single files for one architecture each are compared whatever these are.
// Cost: n log n in files and functions, but for files with the same kernels, which are looked up by their list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diff/measurements.h"
#include "diff/pairing.h"

namespace ptxopt::diff {

enum class PairedBy : uint8_t { Name, Given, Similarity };
std::string_view name(PairedBy by);  // "name", "given", "similarity"

struct Match {
  // If it has no counterpart, the other two are null.
  const Unit* beforeUnit = nullptr;
  const ptxas::FunctionMeasures* before = nullptr;
  const Unit* afterUnit = nullptr;
  const ptxas::FunctionMeasures* after = nullptr;
  PairedBy by = PairedBy::Name;
};

struct Matching {
  std::vector<Match> matches;      // in order of files, architectures, names, of the side after if it has it
  std::vector<std::string> notes;  // files that were matched under different names
  std::vector<std::string> idle;   // pairs that were given and that no two kernels fit
};

// Units with errors match by file like others; of the functions of their counterparts there is nothing to say then.
Matching match(const Side& before, const Side& after, const MatchOptions& options = {});

// The name without parameters and what stands before it: "f<int>" of "void f<int>(int*)".
std::string withoutParameters(const std::string& demangledName);

}  // namespace ptxopt::diff
