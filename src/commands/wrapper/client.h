// Who called the drop-in ptxas, and which ptxas it would have called without us.
//
// Found by the process that called us: the libraries that it has mapped name the installation of Triton or JAX that
// runs in it, whatever its Python environment; clang's command line names its toolkit. Triton says by a variable which
// of its ptxas we stand for. What /proc does not tell is not known, which only costs the preference for the client's
// own.
#pragma once

#include <string>
#include <vector>

#include "ptxas/find.h"

namespace ptxopt::wrapper {

struct Client {
  std::string name;                        // "triton", "jax", "clang", "nvcc", "cmake"; empty: not known
  std::string ptxas = "ptxas";             // the name of the one that it wants: "ptxas-blackwell"
  std::vector<ptxas::PtxasCandidate> own;  // that it brings, the one of that name first
  // Its cache has the output of --version in its key: what else is to be distinguished there can be said in that.
  bool isKeyedByVersion = false;
  std::vector<std::string> sources;  // of nvcc: the files that its command line names
};

// The source that nvcc made this PTX file of, which lies among its temporary ones: `k.cu` of
// `/tmp/tmpxft_00005bb3_00000000-6_k.ptx`. Empty: not known, or two sources have that name.
std::string sourceOf(const Client& client, const std::string& ptx);

// `calledAs`: our argv[0].
Client callingClient(const std::string& calledAs);

// The ptxas meant by the path by which the drop-in is called: "ptxas-blackwell" for "/usr/bin/ptxopt-ptxas-blackwell".
// Empty: of another program.
std::string ptxasMeantBy(const std::string& calledAs);

}  // namespace ptxopt::wrapper
