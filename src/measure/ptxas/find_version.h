// The ptxas of a release, by its number.
//
// Looked for are those of /usr/local/cuda-VERSION, and all that are found without a word of the user (find.h), those of Python
// environments included. Each is asked for its version.
#pragma once

#include <string>
#include <string_view>

namespace ptxopt::ptxas {

// Whether the word is a number such as 12.9 or 12.9.86, rather than a program.
bool isPtxasVersion(std::string_view word);
// The first ptxas of that release; empty, with the reason in `error`, where there is none.
std::string ptxasOfVersion(const std::string& version, std::string& error);

}  // namespace ptxopt::ptxas
