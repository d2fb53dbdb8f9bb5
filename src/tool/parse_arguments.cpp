#include "tool/parse_arguments.h"

#include <fmt/format.h>

#include "ptxopt/ptxopt.h"

namespace ptxopt::tool {

bool parseArguments(CLI::App& app, int argc, char** argv, int& exitCode) {
  exitCode = 0;
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
  } catch (const CLI::CallForVersion& e) {
    fmt::print("{}\n", e.what());
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "{0}: {1}\n{0} --help lists the options.\n", app.get_name(), e.what());
    exitCode = static_cast<int>(Status::Usage);
  }
  return false;
}

}  // namespace ptxopt::tool
