#include <fmt/format.h>

#include <filesystem>

#include "ptxas/cache.h"
#include "support/atomic_file.h"
#include "wrapper/wrapper_input.h"

namespace ptxopt::wrapper {
namespace {

namespace fs = std::filesystem;

// In a folder: of the input's name, without what nvcc puts before it, the architecture and a digest of the text, so
// that inputs of one name from several places stay apart.
fs::path pathOfReport(const WrapperInput& input, const std::string& architecture, const std::string& report) {
  std::error_code ignored;
  if (!report.ends_with('/') && !fs::is_directory(report, ignored)) return report;
  constexpr std::string_view kOfNvcc = "tmpxft_";
  std::string stem = fs::path(input.source.empty() ? input.name() : input.path).stem().string();
  if (stem.starts_with(kOfNvcc))
    if (const std::size_t at = stem.find('_', stem.find('-')); at != std::string::npos) stem.erase(0, at + 1);
  constexpr std::size_t kDigits = 8;
  return fs::path(report) / fmt::format("{}{}{}.{}.json", stem, architecture.empty() ? "" : ".", architecture,
                                        ptxas::Cache::key(input.text).substr(0, kDigits));
}

}  // namespace

std::vector<std::string> writeSideFiles(const std::vector<WrapperInput>& inputs, const PtxasCommand& command,
                                        const WrapperOptions& options) {
  std::vector<std::string> failed;
  const auto write = [&](const fs::path& path, std::string_view text) {
    std::error_code ignored;
    if (path.has_parent_path()) fs::create_directories(path.parent_path(), ignored);
    if (command.usesFile(path) || !writeWhole(path, text)) failed.push_back(path.string());
  };
  for (const WrapperInput& input : inputs) {
    if (options.keepsPtx && !input.isString() && input.copy.empty())
      write(fs::path(input.path).replace_extension(".ptxopt.ptx"), input.result.text);
    if (!options.report.empty() && !input.result.reportJson.empty())
      write(pathOfReport(input, command.architecture, options.report), input.result.reportJson);
  }
  return failed;
}

}  // namespace ptxopt::wrapper
