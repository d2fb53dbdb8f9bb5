// What `ptxopt time` and `ptxopt report` share: the code that ptxas makes of a text, with the lines that it was made of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptxas/assemble.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ptxopt::tool {

struct LineAssembly {
  std::string program;  // of --ptxas; empty: the usual one
  std::vector<std::string> arguments;
  double timeout = 600;

  // Adds --ptxas, which is returned, --ptxas-option and --ptxas-timeout.
  CLI::Option* addTo(CLI::App& app);
  // The program to ask about a text; empty: there is none, which was said.
  std::string find(std::string_view text, const std::string& architecture) const;
  // With its output, unless ptxas says too much to be read. What calls functions of other files is assembled as
  // relocatable code, which alone has an output.
  ptxas::Assembly assemble(std::string_view text, const std::string& architecture, const std::string& ptxas) const;
};

}  // namespace ptxopt::tool
