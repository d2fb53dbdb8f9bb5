#include "shim/nvcc_toolkit.h"

#include <fmt/format.h>

#include <filesystem>

#include "shim/io.h"

namespace ptxopt {

namespace fs = std::filesystem;

std::string makeToolkit(const std::string& folder, const std::string& bin, const std::string& self,
                        std::string& error) {
  constexpr const char* kProfile = "nvcc.profile";
  constexpr std::string_view kHere = "$(_HERE_)";
  const fs::path real = bin, ours = fs::path(folder) / "bin";
  std::optional<std::string> profile = readBytes((real / kProfile).string());
  if (!profile) {
    error = fmt::format("there is no {}", (real / kProfile).string());
    return {};
  }
  for (std::size_t at = 0; (at = profile->find(kHere, at)) != std::string::npos; at += bin.size())
    profile->replace(at, kHere.size(), bin);
  *profile += fmt::format("\nPATH += {}:\n", ours.string());  // nvcc puts it in front

  std::error_code code;
  const auto link = [&](const fs::path& to, const fs::path& at) {
    if (!code) fs::create_symlink(to, at, code);
  };
  fs::create_directory(ours, code);
  for (const fs::directory_entry& entry : fs::directory_iterator(real / "..", code))
    if (entry.path().filename() != fs::path(bin).filename())
      link(entry.path(), fs::path(folder) / entry.path().filename());
  link(real / "nvcc", ours / "nvcc");
  link(self, ours / "ptxas");
  if (!code && writeBytes(ours / kProfile, *profile)) return (ours / "nvcc").string();
  error = code ? code.message() : fmt::format("cannot write to '{}'", ours.string());
  return {};
}

}  // namespace ptxopt
