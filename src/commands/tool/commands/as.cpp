// `ptxopt as ARGUMENTS...`, and the same under the name ptxas: the drop-in ptxas.
#include "tool/commands/as_ptxas.h"
#include "tool/commands/subcommands.h"
#include "tool/options/parse_arguments.h"
#include "tool/options/wrapper_options.h"

#include <CLI/CLI.hpp>

namespace ptxopt::tool {

int asCommand(int argc, char** argv) {
  CLI::App app(
      "ptxopt as [--real PATH] ARGUMENTS...\n"
      "Is ptxas: takes its arguments, optimizes each PTX input for the architecture asked for, and calls the real\n"
      "ptxas with it. Output, messages and exit code are those of ptxas; so are --help and --version. Where\n"
      "something goes wrong the PTX is left as it is, with a warning. ptxopt under the name ptxas does the same, "
      "and\n"
      "so does the program ptxopt-ptxas, which starts faster.\n"
      "\n"
      "The real one is that of --real PATH, which has to come first, of $PTXOPT_PTXAS or $PTXAS; else the first "
      "that "
      "takes\n"
      "the input, of the client's own, and those of $CUDA_HOME, $CUDA_PATH, the PATH, /usr/local/cuda and Python "
      "packages.\n"
      "Debug code (-g), -O0 and code for tools are not optimized.\n"
      "\n"
      "Exit codes: 0 ok, 2 there is no ptxas. Others are those of ptxas.",
      "ptxopt as");
  app.set_help_flag();  // that is an argument of theirs
  app.footer(kWrapperOptionsHelp);
  if (DescribeInstead::takes(app)) return 0;
  return runAsPtxas(argc, argv);
}

}  // namespace ptxopt::tool
