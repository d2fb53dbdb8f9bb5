// `ptxopt nvcc ARGUMENTS...`: nvcc, with PTX optimized before ptxas. Also as a compiler launcher, which is called
// with the program to launch first.
#include "shim/nvcc.h"

#include <filesystem>
#include <string>
#include <vector>

#include "tool/messages.h"
#include "tool/subcommands.h"

namespace ptxopt::tool {

int nvccCommand(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string nvcc;
  if (!arguments.empty() && isNvcc(arguments.front())) {
    nvcc = arguments.front();
    arguments.erase(arguments.begin());
  } else {
    nvcc = findNvcc();
  }
  if (nvcc.empty()) return fail(Status::Usage, "there is no nvcc: set PTXOPT_NVCC, CUDA_HOME or PATH");
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) return fail(Status::Usage, "/proc/self/exe: " + error.message());
  return fail(Status::Usage, nvcc + ": " + runNvcc(nvcc, arguments, self));
}

}  // namespace ptxopt::tool
