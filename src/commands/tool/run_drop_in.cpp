#include "tool/commands/as_ptxas.h"
#include "tool/run_tool.h"

namespace ptxopt::tool {

int runDropIn(int argc, char** argv) { return runGuarded(runAsPtxas, argc, argv); }

}  // namespace ptxopt::tool
