#include "tool/commands/as_ptxas.h"

#include <string>

#include "ptxopt/ptxopt.h"
#include "tool/options/environment.h"
#include "tool/options/wrapper_options.h"
#include "tool/terminal/messages.h"
#include "wrapper/drop_in.h"
#include "wrapper/real_ptxas.h"

namespace ptxopt::tool {

int runAsPtxas(int argc, char** argv) {
  ShimOptions options;
  if (isCalledByOurselves()) {
    options.leavesAlone = true;
  } else {
    options = readShimOptions();
    options.warnings = environmentWarnings();
  }
  const std::string ptxas = takeRealPtxas(options.ptxas, options.warnings);
  if (ptxas.empty()) {
    for (const std::string& warning : options.warnings) print(stderr, "ptxopt: warning: " + warning + "\n");
    return fail(Status::Usage, "there is no ptxas: set PTXOPT_PTXAS, CUDA_HOME or PATH");
  }
  const std::string error = runDropIn(ptxas, {argv + 1, argv + argc}, options);
  return fail(Status::Usage, ptxas + ": " + error);
}

}  // namespace ptxopt::tool
