#include "wrapper/nvcc_toolkit.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "wrapper/io.h"

namespace ptxopt::wrapper {

namespace fs = std::filesystem;

std::string makeToolkit(const std::string& folder, const std::string& bin, const std::string& dropIn,
                        std::string& error) {
  constexpr const char* kProfile = "nvcc.profile";
  constexpr std::string_view kHere = "$(_HERE_)";
  std::error_code code;
  const fs::path real = fs::canonical(bin, code), ours = fs::path(folder) / "bin";
  std::optional<std::string> profile = readBytes((real / kProfile).string());
  if (!profile) {
    error = fmt::format("there is no {}", (real / kProfile).string());
    return {};
  }
  for (std::size_t at = 0; (at = profile->find(kHere, at)) != std::string::npos; at += bin.size())
    profile->replace(at, kHere.size(), bin);
  *profile += fmt::format("\nPATH += {}:\n", ours.string());  // nvcc puts it in front

  const auto link = [&](const fs::path& to, const fs::path& at) {
    if (!code) fs::create_symlink(to, at, code);
  };
  const auto linkAll = [&](const fs::path& from, const fs::path& to, const std::vector<std::string>& without) {
    for (const fs::directory_entry& entry : fs::directory_iterator(from, code))
      if (const fs::path name = entry.path().filename();
          std::find(without.begin(), without.end(), name.string()) == without.end())
        link(entry.path(), to / name);
  };
  fs::create_directory(ours, code);
  linkAll(real.parent_path(), folder, {real.filename().string()});
  linkAll(real, ours, {kProfile, "ptxas"});
  link(dropIn, ours / "ptxas");
  if (!code && writeBytes(ours / kProfile, *profile)) return (ours / "nvcc").string();
  error = code ? code.message() : fmt::format("cannot write to '{}'", ours.string());
  return {};
}

}  // namespace ptxopt::wrapper
