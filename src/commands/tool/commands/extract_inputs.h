// The built files that ptxopt extract takes of a folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "container/built_file.h"
#include "support/file_bytes.h"

namespace ptxopt::tool {

// A built file, and the folder of its modules below the output; empty: the output itself.
struct ExtractInput {
  std::string file, folder;
  std::shared_ptr<const FileBytes> bytes;
  std::vector<container::Module> modules;
};

struct ExtractInputs {
  std::vector<ExtractInput> inputs;
  std::vector<std::string> broken;  // "'FILE': WHY"
};

// All built files and cubins with device code below a folder, as diff takes them, by name, but for those below `output`: what was
// extracted there before. False, with the reason in `error`, where a part of the folder cannot be read.
bool collectBuiltFiles(const std::string& folder, const std::string& output, ExtractInputs& found,
                       std::string& error);

}  // namespace ptxopt::tool
