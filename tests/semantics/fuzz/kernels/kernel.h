// A whole file.
#pragma once

#include <string>

#include "options.h"

namespace kernels {

// The text of a PTX file with the entry `kernel`. The same options give the same text.
std::string generate(const Options& options);

}  // namespace kernels
