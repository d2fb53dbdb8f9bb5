// What --version says. The one file that a new git revision compiles again.
#pragma once

#include <string>

namespace ptxopt::tool {

// "ptxopt 0.1.0 (git 1a2b3c4, PTX ISA 9.5)"; without the revision where there is none.
std::string versionText();
// Its day, "2026-01-31", or "".
std::string revisionDate();

}  // namespace ptxopt::tool
