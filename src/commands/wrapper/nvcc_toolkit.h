// A toolkit beside the real one in which ptxas is us.
//
// nvcc takes the folder that it was called in for its toolkit's bin folder: there it reads nvcc.profile, which sets
// PATH and the rest, and beside that folder it looks for `targets`. So a folder with a link to nvcc, its profile
// with the real folder in the places of its own, a last line that puts a link named ptxas first on the PATH, and
// links to all else of the toolkit makes nvcc run as ever, but for ptxas.
#pragma once

#include <string>

namespace ptxopt::wrapper {

// Makes it in `folder`, which is there. `bin`: the real bin folder. `dropIn`: the drop-in ptxas, which may be this
// program. Returns the nvcc to call; empty, with the reason in `error`, where that cannot be done.
std::string makeToolkit(const std::string& folder, const std::string& bin, const std::string& dropIn,
                        std::string& error);

}  // namespace ptxopt::wrapper
