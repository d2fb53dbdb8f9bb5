// Reading a command line by CLI11, and what --help, --version and mistakes print: the same for all subcommands.
#pragma once

#include <CLI/CLI.hpp>

namespace ptxopt::tool {

// False when the program is to end with `exitCode`. Mistakes begin with the app's name.
bool parseArguments(CLI::App& app, int argc, char** argv, int& exitCode);

}  // namespace ptxopt::tool
