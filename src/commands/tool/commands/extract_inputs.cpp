#include "tool/commands/extract_inputs.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <variant>

#include "diff/collect.h"

namespace ptxopt::tool {
namespace {

namespace fs = std::filesystem;

bool isBelow(const fs::path& file, const std::string& folder) {
  std::error_code code;
  if (folder.empty() || !fs::is_directory(folder, code)) return false;
  const fs::path relative = fs::weakly_canonical(file, code).lexically_relative(fs::weakly_canonical(folder, code));
  return !code && !relative.empty() && *relative.begin() != "..";
}

}  // namespace

bool collectBuiltFiles(const std::string& folder, const std::string& output, ExtractInputs& found,
                       std::string& error) {
  diff::Collected collected;
  if (!diff::collect(folder, collected, error)) return false;
  auto& [inputs, broken] = found;
  const auto add = [&](diff::Source& source) -> std::string {
    if (!source.error.empty()) return std::move(source.error);
    if (source.module) {
      if (inputs.empty() || inputs.back().file != source.path)
        inputs.push_back(
            {source.path, fs::path(source.path).lexically_relative(folder).generic_string(), source.built, {}});
      inputs.back().modules.push_back(*std::move(source.module));
      return {};
    }
    if (fs::path(source.path).extension() != ".cubin") return {};  // PTX is a file already
    std::string why;
    const auto bytes = FileBytes::map(source.path, why);
    if (bytes == nullptr) return why;
    auto read = container::modulesOf(bytes->view());
    if (auto* wrong = std::get_if<container::Broken>(&read)) return std::move(wrong->message);
    inputs.push_back({source.path, source.file, bytes, std::get<std::vector<container::Module>>(std::move(read))});
    return {};
  };
  for (diff::Source& source : collected.sources)
    if (!isBelow(source.path, output))
      if (const std::string why = add(source); !why.empty())
        broken.push_back(fmt::format("'{}': {}", source.path, why));
  return true;
}

}  // namespace ptxopt::tool
