#include "tool/options/line_assembly.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "diff/measure.h"
#include "ptxas/timed_cubin.h"
#include "tool/options/environment.h"
#include "tool/options/number_checks.h"

namespace ptxopt::tool {

CLI::Option* LineAssembly::addTo(CLI::App& app) {
  CLI::Option* const ptxas =
      app.add_option("--ptxas", program, "the ptxas to use [$PTXOPT_PTXAS, $PTXAS, or the first one found]")
          ->type_name("PROGRAM");
  app.add_option("--ptxas-option", arguments, "one more argument of ptxas")
      ->type_name("OPTION")
      ->allow_extra_args(false);
  app.add_option("--ptxas-timeout", timeout, "give up on ptxas after SECONDS")
      ->type_name("SECONDS")
      ->check(positiveNumber())
      ->capture_default_str();
  return ptxas;
}

std::string LineAssembly::find(std::string_view text, const std::string& architecture) const {
  return findPtxasAloud(program, {ptxas::versionNeededBy(text), architecture});
}

ptxas::Assembly LineAssembly::assemble(std::string_view text, const std::string& architecture,
                                       const std::string& ptxas) const {
  ptxas::PtxasSettings settings;
  settings.program = ptxas;
  settings.arguments = arguments;
  const std::vector<std::string> target = diff::targetWords(text);
  std::ranges::copy(ptxas::argumentsForLines(std::ranges::find(target, "debug") != target.end()),
                    std::back_inserter(settings.arguments));
  settings.timeoutSeconds = timeout;
  settings.keepsOutput = true;
  ptxas::Assembly assembly = ptxopt::ptxas::assemble(text, architecture, settings);
  if (assembly && !assembly.output) {
    settings.arguments.emplace_back("-c");
    assembly = ptxopt::ptxas::assemble(text, architecture, settings);
  }
  return assembly;
}

}  // namespace ptxopt::tool
