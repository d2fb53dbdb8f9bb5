// Built files as sources: their modules, and which of these are measured.
//
// Functions of all modules of a file, or of a member of an archive, are those of one unit for each architecture. What a
// program runs counts: PTX is not assembled for an architecture that its fat binary has machine code for, and of
// relocatable device code that was linked the result is measured, not the parts.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
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

// One unit for each file and architecture. Of equal functions, such as a template's in several modules, one is left. Where
// a module could not be measured, nothing is said of the others.
void mergeUnits(std::vector<Unit>& units);

}  // namespace ptxopt::diff
