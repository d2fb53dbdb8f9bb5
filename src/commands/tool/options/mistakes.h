// What is said of a command line that CLI11 does not take.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace ptxopt::tool {

// What is wrong, with what may have been meant where an option or a command is not known.
std::string messageOf(const CLI::App& app, const CLI::ParseError& error);
// The variable whose value a message about an option is really about. Empty: the option was given.
std::string variableMeant(std::string_view message);

}  // namespace ptxopt::tool
