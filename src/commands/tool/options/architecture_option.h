// --arch, which six commands have: an architecture as PTX spells it, sm_90a. Another word is an error, and so is none.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ptxopt::tool {

CLI::Option* addArchitecture(CLI::App& app, std::string& to, const std::string& what);
// Several, joined by commas, in one option or more.
CLI::Option* addArchitectures(CLI::App& app, std::vector<std::string>& to, const std::string& what);

}  // namespace ptxopt::tool
