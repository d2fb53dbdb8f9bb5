#include "tool/commands/subcommands.h"

#include <fmt/format.h>

#include "tool/manual/help.h"

namespace ptxopt::tool {
namespace {

// In the order of --help.
constexpr Subcommand kSubcommands[] = {
    {"run", "run kernels of a PTX file in the interpreter", runCommand},
    {"verify", "run the kernels of two PTX files on the same data and compare", verifyCommand},
    {"emulate", "run a CUDA program without a GPU, also with its kernels optimized", emulateCommand},
    {"record", "look at recorded launches, cut and compare them", recordCommand},
    {"profile", "show what launches were seen to have, and add up several runs", profileCommand},
    {"replay", "run recorded launches again, in the interpreter or on a GPU", replayCommand},
    {"reduce", "shrink a PTX file as long as a command says that it still shows what it is to show", reduceCommand},
    {"check", "say what is wrong with PTX files, and which version and target they need", checkCommand},
    {"link", "make one PTX file of several that are relocatable code", linkCommand},
    {"tune", "try variants of the passes on each kernel and keep what ptxas makes most of", tuneCommand},
    {"time", "estimate the time of loops and kernels, and say what limits it", timeCommand},
    {"report", "show the register pressure of kernels in a page for the browser", reportCommand},
    {"diff", "compare what ptxas makes of two sets of kernels, for CI", diffCommand},
    {"baseline", "write what ptxas makes of kernels into a file, to compare with later", baselineCommand},
    {"extract", "write the PTX and the machine code of programs and libraries as files, and put them back",
     extractCommand},
    {"jit", "run a program with its PTX optimized before the CUDA driver compiles it", jitCommand, true},
    {"as", "be ptxas, with the PTX optimized in between; so is ptxopt under the names ptxas and ptxopt-ptxas",
     asCommand, true},
    {"nvcc", "be nvcc, with the PTX optimized before ptxas", nvccCommand, true},
    {"doctor", "say which ptxas and nvcc there are, which clients would call ptxopt, and what to set",
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
  std::string out = "Commands; ptxopt COMMAND --help says more:\n";
  for (const Subcommand& command : kSubcommands)
    out += fmt::format("  {:<8}  {}\n", command.name, filled(command.summary, 80, 12, 12));
  return out;
}

}  // namespace ptxopt::tool
