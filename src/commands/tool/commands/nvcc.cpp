// `ptxopt nvcc ARGUMENTS...`: nvcc, with PTX optimized before ptxas. Also as a compiler launcher, which is called
// with the program to launch first.
#include "wrapper/nvcc.h"
#include "support/environment.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "ptxas/find.h"
#include "support/log.h"
#include "tool/commands/subcommands.h"
#include "tool/manual/describe.h"
#include "tool/manual/help.h"
#include "tool/options/cache_key.h"
#include "tool/options/parse_arguments.h"
#include "tool/options/wrapper_options.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

constexpr const char* kPrintKey = "--print-cache-key";

// The drop-in that stands beside `self` starts faster; where it is not, `self` is one too.
std::string dropInBeside(const std::string& self) {
  std::error_code error;
  const std::filesystem::path drop = std::filesystem::path(self).replace_filename("ptxopt-ptxas");
  return std::filesystem::exists(drop, error) ? drop.string() : self;
}

}  // namespace

int nvccCommand(int argc, char** argv) {
  CLI::App app(
      "ptxopt nvcc ARGUMENTS...\n"
      "ptxopt nvcc NVCC ARGUMENTS...\n"
      "Is nvcc, with the PTX optimized between cicc and ptxas (ptxopt as). NVCC is the program to call, as of a\n"
      "compiler launcher; else it is that of $PTXOPT_NVCC, of $CUDA_HOME or $CUDA_PATH, of the PATH, or of\n"
      "/usr/local/cuda. Output, messages and exit code are those of nvcc; options of ptxopt\n"
      "go into $PTXOPT_OPTIONS. With -keep the optimized PTX stays too, "
      "as\n"
      "NAME.ptxopt.ptx. Not optimized: debug code (-G), -dlto, PTX that is asked for or embedded.\n"
      "\n"
      "Exit codes: 0 ok, 2 there is no nvcc, or it calls ptxopt nvcc. Others are those of nvcc.",
      "ptxopt nvcc");
  app.set_help_flag();  // that is an argument of theirs
  app.footer(kWrapperOptionsHelp);
  bool described = false;  // it is read below: the other words are nvcc's
  app.add_flag(
      kPrintKey, described,
      "alone: print what ccache and sccache have to know besides nvcc's arguments, for CCACHE_NAMESPACE and "
      "SCCACHE_C_CUSTOM_CACHE_BUSTER");
  if (DescribeInstead::takes(app)) return 0;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments == std::vector<std::string>{kPrintKey}) {
    printResult(compilerCacheKey() + '\n');
    return 0;
  }
  if (arguments == std::vector<std::string>{"--help"} || arguments == std::vector<std::string>{"-h"}) {
    printResult(helpText(describe(app), false) + "\nThe rest is nvcc's own help.\n");
    std::fflush(stdout);
  }
  std::string nvcc;
  if (!arguments.empty() && wrapper::isNvcc(arguments.front())) {
    nvcc = arguments.front();
    arguments.erase(arguments.begin());
  } else {
    std::vector<std::string> passedOver;
    nvcc = wrapper::findNvcc(passedOver);
    for (const std::string& why : passedOver) log::warn(log::kTool, fmt::format("{}; passed over", why));
    if (const std::string named = environmentValue("PTXOPT_NVCC"); !named.empty())
      if (const std::string why = ptxas::whyNoProgram("PTXOPT_NVCC", named); !why.empty())
        return fail(Status::Usage, why);
  }
  if (nvcc.empty()) return fail(Status::Usage, "there is no nvcc: set PTXOPT_NVCC, CUDA_HOME or PATH");
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) return fail(Status::Usage, "/proc/self/exe: " + error.message());
  return fail(Status::Usage, nvcc + ": " + wrapper::runNvcc(nvcc, arguments, dropInBeside(self)));
}

}  // namespace ptxopt::tool
