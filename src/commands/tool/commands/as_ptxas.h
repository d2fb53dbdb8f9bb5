// The drop-in ptxas without the option parser's help: what both programs, ptxopt and ptxopt-ptxas, run.
#pragma once

namespace ptxopt::tool {

// Does not return unless the real ptxas cannot be called: then the exit code, with a message.
int runAsPtxas(int argc, char** argv);

}  // namespace ptxopt::tool
