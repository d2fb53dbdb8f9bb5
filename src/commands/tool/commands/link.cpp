// ptxopt link: several PTX files as one, for programs that are compiled as relocatable code.
#include "link/link.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/options/parse_arguments.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {

int linkCommand(int argc, char** argv) {
  CLI::App app(
      "ptxopt link INPUT... -o OUTPUT\n"
      "Links several PTX files of relocatable code (nvcc -rdc=true -ptx) into one: calls and variables of\n"
      "one meet their definitions in another, so that passes see the whole program. What no file defines stays "
      ".extern.\n"
      "Exit codes: 0 ok, 2 usage, I/O, 3 an input is not PTX, or they do not fit together, 4 internal error.",
      "ptxopt link");
  std::vector<std::string> inputs;
  std::string output;
  app.add_option("INPUT", inputs, "PTX files; - is standard input")->required();
  app.add_option("-o,--output", output, "where the result goes; - is standard output")
      ->type_name("FILE")
      ->required();
  int exitCode = 0;
  if (!parseArguments(app, argc, argv, exitCode)) return exitCode;

  std::string error;
  if (std::ranges::count(inputs, "-") > 1) return fail(Status::Usage, "standard input is given twice");
  std::vector<FileText> texts(inputs.size());
  std::vector<link::Input> units;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (error = whyOneFile({{"input", inputs[i]}}, {{"output", output}}); !error.empty())
      return fail(Status::Usage, error);
    if (!readFile(inputs[i], texts[i], error)) return fail(Status::Usage, error);
    units.push_back({texts[i], inputs[i] == "-" ? "<stdin>" : inputs[i]});
  }
  const auto linked = link::link(units);
  if (const auto* wrong = std::get_if<link::LinkError>(&linked)) {
    printError(wrong->message);
    return static_cast<int>(Status::InvalidInput);
  }
  if (!writeFiles({{output, std::get<0>(linked)}}, error)) return fail(Status::Usage, error);
  return 0;
}

}  // namespace ptxopt::tool
