// Lines of ptxas that only -v prints are recognized by how they begin. A line that may be of either kind makes the
// whole output unusable, and ptxas then runs again.
#include "wrapper/made_output.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "ptxas/plain_cubin.h"
#include "support/digits.h"
#include "wrapper/ptxas_command.h"

namespace ptxopt::wrapper {
namespace {

// For what stands after `ptxas info    : `.
bool isOfVerbose(std::string_view said) {
  for (const std::string_view begin :
       {"Compiling entry function '", "Function properties for ", "Used ", "Compile time = "})
    if (said.starts_with(begin)) return true;
  return isDigits(said.substr(0, said.find(' '))) && said.find(" bytes gmem") != std::string_view::npos;
}

}  // namespace

std::optional<std::string> withoutVerbose(std::string_view text) {
  constexpr std::string_view kInfo = " info    : ", kProperties = "    ";
  std::string out;
  bool isAfterProperties = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.size() - 1, text.find('\n')) + 1);
    text.remove_prefix(line.size());
    const std::size_t info = line.find(kInfo);
    const bool isInfo = line.starts_with("ptxas") && info != std::string_view::npos && line.find(' ') == info;
    if (isInfo) {
      const std::string_view said = line.substr(info + kInfo.size());
      if (!isOfVerbose(said)) return std::nullopt;
      isAfterProperties = said.starts_with("Function properties for ");
      continue;
    }
    const bool isProperties = isAfterProperties && line.starts_with(kProperties);
    isAfterProperties = false;
    if (!isProperties) out += line;
  }
  return out;
}

std::optional<ptxas::PtxasOutput> asCalled(const ptxas::PtxasOutput& made, bool isVerbose) {
  if (!made.out.empty() && !made.err.empty()) return std::nullopt;
  if (isVerbose) return made;
  const auto out = withoutVerbose(made.out), err = withoutVerbose(made.err);
  if (!out || !err) return std::nullopt;
  std::optional<std::string> cubin = ptxas::cubinWithoutVerbose(made.cubin);
  if (!cubin) return std::nullopt;
  return ptxas::PtxasOutput{*std::move(cubin), *out, *err, made.input};
}

std::string placeOfCubin(const std::vector<std::string>& outputs) {
  namespace fs = std::filesystem;
  if (outputs.size() > 1) return {};
  const fs::path path = outputs.empty() ? kUsualCubin : outputs.front();
  std::error_code error;
  if (path.empty() || path == "-") return {};
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return {};
  const bool hasFolder = !path.has_parent_path() || fs::is_directory(path.parent_path(), error);
  return hasFolder ? path.string() : std::string();
}

}  // namespace ptxopt::wrapper
