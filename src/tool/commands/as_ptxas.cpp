#include "tool/commands/as_ptxas.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ptxas/cache.h"
#include "ptxopt/ptxopt.h"
#include "tool/options/config.h"
#include "tool/options/environment.h"
#include "tool/options/wrapper_options.h"
#include "tool/revision.h"
#include "tool/terminal/messages.h"
#include "wrapper/client.h"
#include "wrapper/drop_in.h"
#include "wrapper/real_ptxas.h"

namespace ptxopt::tool {
namespace {

constexpr std::string_view kReal = "--real";

// Takes `--real PATH` from the front. False where the path is missing.
bool takeReal(std::vector<std::string>& arguments, std::string& real) {
  if (arguments.empty() || !arguments.front().starts_with(kReal)) return true;
  const std::string first = arguments.front();
  if (first == kReal) {
    if (arguments.size() < 2) return false;
    real = arguments[1];
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  } else if (first.starts_with("--real=")) {
    real = first.substr(kReal.size() + 1);
    arguments.erase(arguments.begin());
  }
  return true;
}

std::string valueOf(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// Another ptxopt, and other options, make other code.
std::string versionLine() {
  const std::string options = valueOf("PTXOPT_OPTIONS") + '\n' + valueOf("PTXOPT_GUARD");
  return fmt::format("{}, options {}", versionText(), Cache::key(options).substr(0, 8));
}

WrapperOptions readOptions(const Client& client) {
  const Config& config = userConfig();
  WrapperOptions options;
  if (isCalledByOurselves()) {
    options.leavesAlone = true;
    return options;
  }
  options = readWrapperOptions();
  if (!config.mistakes.empty() && options.mistake.empty()) options.mistake = config.mistakes.front();
  options.warnings = environmentWarnings();
  options.client = client;
  options.log = valueOf("PTXOPT_LOG");
  if (client.isKeyedByVersion) options.versionLine = versionLine();
  return options;
}

}  // namespace

int runAsPtxas(int argc, char** argv) {
  const std::string calledAs = argv[0];
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string real;
  if (!takeReal(arguments, real)) return fail(Status::Usage, "--real without the path of a ptxas");
  const Client client = isCalledByOurselves() ? Client() : callingClient(calledAs);
  const WrapperOptions options = readOptions(client);
  const bool isFirst = !real.empty();
  const PtxasCandidates candidates =
      realPtxas(isFirst ? real : options.ptxas, isFirst ? "--real" : "PTXOPT_OPTIONS", calledAs, client);
  if (candidates.all.empty()) {
    for (const std::string& warning : options.warnings) print(stderr, "ptxopt: warning: " + warning + "\n");
    for (const std::string& wrong : candidates.wrong)
      print(stderr, "ptxopt: warning: " + insteadOf(wrong, {}) + "\n");
    return fail(Status::Usage, "there is no ptxas: set PTXOPT_PTXAS, CUDA_HOME or PATH");
  }
  return fail(Status::Usage, runDropIn(candidates, arguments, options));
}

}  // namespace ptxopt::tool
