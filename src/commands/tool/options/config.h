// The user's configuration file, for clients that take the path of a ptxas and nothing else.
//
// A JSON object of settings (config.def), each for an environment variable: where that is not set, it is
// set now. So whatever reads variables reads the file too, and the environment always counts before the file. The file
// is the one of $PTXOPT_CONFIG (empty: none), otherwise ptxopt/config.json in $XDG_CONFIG_HOME or ~/.config. One that
// is not there is no mistake unless $PTXOPT_CONFIG names it. With a mistake in it the file says nothing at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::tool {

struct Config {
  std::string path;                   // of the file; empty: there is none
  std::vector<std::string> mistakes;  // "FILE:3:7: error: what is wrong"
};

// Reads the file and sets the variables, the first time that it is called.
const Config& userConfig();

// The settings of a text as variables and values, in the order of the table; `mistakes` where there are some.
std::vector<std::pair<std::string, std::string>> readConfig(const std::string& text, const std::string& path,
                                                            std::vector<std::string>& mistakes);

}  // namespace ptxopt::tool
