// Whether the kernels of what was made take blocks as large as before.
//
// A kernel that says nothing of its blocks may be launched with as many threads as its registers allow: a change that takes more of them
// could make a launch fail that worked. Kernels that take the largest block there is are not asked about further.
#pragma once

#include <string>
#include <vector>

namespace ptxopt::jit {

// The most threads of a block of each kernel, in a module or a library. 0: the driver does not say.
std::vector<int> threadsOf(void* module, bool isLibrary, const std::vector<std::string>& kernels);
// Some of them may take fewer than another version.
bool mayTakeFewer(const std::vector<int>& threads);
bool takeFewer(const std::vector<int>& threads, const std::vector<int>& before);

void unload(void* module, bool isLibrary);

}  // namespace ptxopt::jit
