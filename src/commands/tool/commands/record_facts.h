// What held in recorded launches, as facts (docs/facts.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/module.h"
#include "record/archive.h"

namespace ptxopt::tool {

// A module's text, parsed. Throws record::RecordError.
struct RecordedText {
  std::unique_ptr<std::string> text;  // stays where it is
  std::unique_ptr<Module> module;
};
RecordedText recordedText(const record::Archive& archive, uint64_t module);

// The text of a file of facts on the kernels of the launches that are `wanted`: sizes of blocks and grids, and parameters that
// are integers and no addresses of recorded memory; of those that are addresses how they are aligned. Throws
// record::RecordError.
std::string factsOfLaunches(const record::Archive& archive, const std::vector<bool>& wanted);

}  // namespace ptxopt::tool
