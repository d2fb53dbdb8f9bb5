#include "tool/subcommands.h"

#include <fmt/format.h>

namespace ptxopt::tool {
namespace {

// In the order of --help.
constexpr Subcommand kSubcommands[] = {
    {"run", "run kernels of a PTX file in the interpreter", runCommand},
    {"verify", "run the kernels of two PTX files on the same data and compare", verifyCommand},
    {"reduce", "shrink a PTX file as long as a command says that it still shows what it is to show", reduceCommand},
    {"report", "show the register pressure of kernels in a page for the browser", reportCommand},
    {"as", "be ptxas, with the PTX optimized in between; so is ptxopt under the names ptxas and ptxopt-ptxas",
     asCommand},
    {"nvcc", "be nvcc, with the PTX optimized before ptxas", nvccCommand},
};

}  // namespace

std::span<const Subcommand> subcommands() { return kSubcommands; }

const Subcommand* findSubcommand(std::string_view name) {
  for (const Subcommand& command : kSubcommands)
    if (command.name == name) return &command;
  return nullptr;
}

std::string subcommandHelp() {
  std::string out = "Or: ptxopt COMMAND ..., where ptxopt COMMAND --help says more:\n";
  for (const Subcommand& command : kSubcommands) out += fmt::format("  {:<8}  {}\n", command.name, command.summary);
  return out;
}

}  // namespace ptxopt::tool
