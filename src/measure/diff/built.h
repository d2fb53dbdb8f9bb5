// Built files as sources: their modules, and which of these are measured.
//
// Functions of all modules of a file, or of a member of an archive, are those of one unit for each architecture. What a
// program runs counts: PTX is not assembled for an architecture that its fat binary has machine code for, and of
// relocatable device code that was linked the result is measured, not the parts. Nor is PTX for another architecture, which is there for
// GPUs to come, where both sides have machine code of it for one: a large library has hours of it (BesideCode).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "diff/collect.h"

namespace ptxopt::diff {

// Whether the file has modules rather than being one, as a cubin is.
bool isBuiltFile(const std::string& path, std::string_view beginning);
inline constexpr std::size_t kBeginning = 20;  // bytes of it

// Adds the modules, or one source that says what is wrong with the file. `ownName`: members of an archive are called as
// they are, without the name of the archive.
void addModules(const std::string& file, const std::string& path, const std::shared_ptr<const FileBytes>& bytes,
                bool ownName, std::vector<Source>& sources);

// Only PTX, or only machine code. What could not be read stays. Whether anything does.
bool keepOnly(std::vector<Source>& sources, bool ptx);

class Superseded {
 public:
  explicit Superseded(std::span<const Source> sources);
  // Whether other machine code is what runs on the architecture instead of this.
  bool contains(const Source& source, std::string_view architecture) const;
  bool contains(const Source& source) const;  // on the architecture that it is for

 private:
  bool has(const Source& source, unsigned architecture) const;
  std::set<std::tuple<std::string, unsigned, unsigned>> code_;  // path, fat binary, architecture
  std::set<std::pair<std::string, unsigned>> linked_;
};

// PTX of fat binaries whose machine code can be compared, on an architecture that the other side has machine code or figures for, too.
// Where the other side is a baseline with figures for what the PTX is for, it is not among them.
class BesideCode {
 public:
  // `other` is null where there is one side only.
  BesideCode(const Collected& own, const Collected* other);
  bool contains(const Source& source) const;
  // Takes them out of the sources; note() reports those for an architecture without machine code.
  void remove(std::vector<Source>& sources);
  // "the PTX of 3 modules ...", also where it is another one than on the other side; empty where none was taken out.
  static std::string note(const BesideCode& before, const BesideCode& after);

 private:
  // Machine code of its fat binary for the very architecture: Superseded, but that it could run on others.
  bool hasOwnCode(const Source& source) const;
  std::map<std::pair<std::string, unsigned>, std::set<unsigned>> code_;  // path, fat binary: architectures
  bool hasOther_ = false;
  std::set<unsigned> others_, baseline_;  // architectures
  std::vector<Source> removed_;
};

// One unit for each file and architecture. One of several equal functions, such as a template's in several modules, is
// left. Where a module could not be measured, nothing is said of the others.
void mergeUnits(std::vector<Unit>& units);

}  // namespace ptxopt::diff
