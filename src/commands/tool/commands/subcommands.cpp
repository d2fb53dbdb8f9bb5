#include "tool/commands/subcommands.h"

#include <fmt/format.h>

#include "tool/manual/help.h"

namespace ptxopt::tool {
namespace {

// In the order of --help.
constexpr Subcommand kSubcommands[] = {
    {"run", "run kernels of a PTX file in the interpreter", runCommand},
    {"verify", "run the kernels of two PTX files on the same inputs, and compare the results", verifyCommand},
    {"emulate", "run a CUDA program without a GPU, with its kernels as they are or optimized", emulateCommand},
    {"record", "inspect, cut and compare recorded launches", recordCommand},
    {"profile", "show a profile of launches, or merge those of several runs", profileCommand},
    {"replay", "run recorded launches again, in the interpreter or on a GPU", replayCommand},
    {"reduce", "shrink a PTX file while a command confirms that it still shows the problem", reduceCommand},
    {"check", "report errors in PTX files, and the version and target that they need", checkCommand},
    {"link", "link several PTX files of relocatable code into one", linkCommand},
    {"tune", "try variants of the passes on each kernel, and keep the best by what ptxas makes of it", tuneCommand},
    {"time", "estimate the time of loops and kernels, and name what limits it", timeCommand},
    {"report", "write a page for the browser that shows the register pressure of kernels", reportCommand},
    {"diff", "compare what ptxas makes of two sets of kernels, for CI", diffCommand},
    {"baseline", "save what ptxas makes of kernels to a file, to compare with later", baselineCommand},
    {"extract", "write the PTX and the machine code in programs and libraries to files, and put them back",
     extractCommand},
    {"jit", "run a program with its PTX optimized before the CUDA driver compiles it", jitCommand, true},
    {"as", "act as ptxas, and optimize the PTX first; so does ptxopt under the names ptxas and ptxopt-ptxas",
     asCommand, true},
    {"nvcc", "act as nvcc, and optimize the PTX before ptxas", nvccCommand, true},
    {"doctor", "report which ptxas and nvcc there are, which clients would call ptxopt, and what to set",
     doctorCommand, true},
};

}  // namespace

std::span<const Subcommand> subcommands() { return kSubcommands; }

const Subcommand* findSubcommand(std::string_view name) {
  for (const Subcommand& command : kSubcommands)
    if (command.name == name) return &command;
  return nullptr;
}

std::string subcommandHelp() {
  std::string out = "Commands (ptxopt COMMAND --help lists the options of one):\n";
  for (const Subcommand& command : kSubcommands)
    out += fmt::format("  {:<8}  {}\n", command.name, filled(command.summary, 80, 12, 12));
  return out;
}

}  // namespace ptxopt::tool
