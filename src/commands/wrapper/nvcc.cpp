// The order of steps: nvcc's plan is read, the toolkit with the drop-in is made in a temporary folder, the plan there
// is compared with the first, and nvcc is run. Each step that fails leaves plain nvcc, with the reason.
#include "wrapper/nvcc.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "ptxas/find.h"
#include "support/environment.h"
#include "support/log.h"
#include "support/process.h"
#include "support/temporary_folder.h"
#include "wrapper/called_programs.h"
#include "wrapper/child.h"
#include "wrapper/io.h"
#include "wrapper/nvcc_plan.h"
#include "wrapper/nvcc_toolkit.h"

namespace ptxopt::wrapper {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOutputCap = std::size_t{64} << 20;
constexpr const char* kOptionsVariable = "PTXOPT_OPTIONS";
constexpr CalledPrograms kCalledNvcc("PTXOPT_NVCC_CALLED");

bool isUsable(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0 && !ptxas::isThisProgram(path) &&
         !kCalledNvcc.has(path);
}

std::vector<std::string> call(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> out{program};
  out.insert(out.end(), arguments.begin(), arguments.end());
  return out;
}

std::optional<NvccPlan> planOf(const std::string& nvcc, std::vector<std::string> arguments) {
  arguments.emplace_back("--dryrun");
  ProcessOptions options;
  options.outputCap = kOutputCap;
  const ProcessResult run = runProcess(call(nvcc, arguments), options);
  if (!run.succeeded()) return std::nullopt;
  return readNvccPlan(run.err + run.out);
}

void addOption(const std::string& option) {
  const std::string before = environmentValue(kOptionsVariable);
  ::setenv(kOptionsVariable, (before.empty() ? option : before + ' ' + option).c_str(), 1);
}

// Runs it in the toolkit. Nothing, with the reason, where it would not do the same there.
std::optional<Child> runInToolkit(const NvccPlan& plan, const std::vector<std::string>& arguments,
                                  const std::string& dropIn, std::string& why) {
  const auto here = plan.variables.find("_HERE_");
  if (here == plan.variables.end()) {
    why = "the plan of nvcc does not name its folder";
    return std::nullopt;
  }
  const std::string bin = fs::absolute(here->second).string();
  const TemporaryFolder folder;
  why = folder.error();
  if (!folder.isValid()) return std::nullopt;
  const std::string nvcc = makeToolkit(folder.path(), bin, dropIn, why);
  if (nvcc.empty()) return std::nullopt;
  const std::vector<std::string> folders{"_HERE_", "_THERE_", "CUDA_ROOT", "PATH"};  // CUDA_ROOT: since 13.5
  const std::optional<NvccPlan> ours = planOf(nvcc, arguments);
  const std::string ourBin = fs::path(nvcc).parent_path().string();
  if (!ours || ours->comparable(folders, ourBin, bin) != plan.comparable(folders, bin, bin)) {
    why = "the plan of nvcc is another one in a toolkit of ours";
    return std::nullopt;
  }
  // Which ptxas is the user's to say, and otherwise nvcc's own. What is wrong is said once, not by each ptxas.
  for (const char* variable : {"PTXOPT_PTXAS", "PTXAS"}) {
    const std::string value = environmentValue(variable);
    if (value.empty() || value == "none") continue;
    const std::string wrong = ptxas::whyNoProgram(variable, value);
    if (wrong.empty()) continue;
    log::warn(log::kNvcc, fmt::format("{}; passed over", wrong));
    ::unsetenv(variable);
  }
  if (environmentValue("PTXOPT_PTXAS").empty() && environmentValue("PTXAS").empty())
    ::setenv("PTXOPT_PTXAS", (bin + "/ptxas").c_str(), 1);
  if (plan.keepsPtx()) addOption("--keep-ptx");
  return runChild(call(nvcc, arguments));
}

}  // namespace

bool isNvcc(const std::string& argument) {
  return !argument.starts_with('-') && fs::path(argument).filename().string().starts_with("nvcc") &&
         !fs::path(argument).has_extension();
}

std::string findNvcc(std::vector<std::string>& passedOver) {
  if (std::string named = environmentValue("PTXOPT_NVCC"); !named.empty()) return named;
  // Before the variables: it is the nvcc that would run without us.
  for (const std::string& file : filesInPath("nvcc"))
    if (isUsable(file)) return file;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string home = environmentValue(variable);
    if (home.empty()) continue;
    if (const std::string file = home + "/bin/nvcc"; isUsable(file)) return file;
    if (std::string why = ptxas::whyNoToolkit(variable, home, "nvcc"); !why.empty())
      passedOver.push_back(std::move(why));
  }
  if (const std::string file = "/usr/local/cuda/bin/nvcc"; isUsable(file)) return file;
  return {};
}

std::string runNvcc(const std::string& program, const std::vector<std::string>& arguments,
                    const std::string& dropIn) {
  // A relative folder would be another one in the plan.
  const std::string nvcc = program.find('/') == std::string::npos ? program : fs::absolute(program).string();
  const std::vector<std::string> found =
      nvcc.find('/') == std::string::npos ? filesInPath(nvcc) : std::vector<std::string>{nvcc};
  if (!found.empty()) {
    if (kCalledNvcc.has(found.front())) return "it calls `ptxopt nvcc`, which was to call it";
    kCalledNvcc.note(found.front());
  }
  const std::vector<std::string> plain = call(nvcc, arguments);
  const std::optional<NvccPlan> plan = planOf(nvcc, arguments);
  if (!plan) return become(plain);
  if (plan->optimizesWhenLinking())
    log::remark(log::kNvcc, "-dlto: the linker makes the code, and not from PTX; not optimized");
  if (!plan->runsPtxas()) {
    if (const std::string ptx = plan->ptxAskedFor(); !ptx.empty())
      log::remark(log::kNvcc,
                  fmt::format("-ptx: '{0}' is nvcc's PTX, not optimized; ptxopt {0} -o OUT.ptx does that", ptx));
    return become(plain);
  }
  std::string why;
  const std::optional<Child> child = runInToolkit(*plan, arguments, dropIn, why);
  if (!child) {
    log::warn(log::kNvcc, fmt::format("{}; the PTX is left as it is", why));
    return become(plain);
  }
  if (!child->error.empty()) return child->error;
  endLike(*child);
}

}  // namespace ptxopt::wrapper
