// Folders of packages are collected in order, each once; each row of python_ptxas.def is then looked for in each
// folder.
#include "ptxas/find_python.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "support/environment.h"

namespace ptxopt::ptxas {
namespace {

namespace fs = std::filesystem;

struct Row {
  const char *path, *package;
};
constexpr Row kRows[] = {
#define PTXOPT_PYTHON_PTXAS(path, package) {path, package},
#include "ptxas/python_ptxas.def"
#undef PTXOPT_PYTHON_PTXAS
};

void addFolder(const fs::path& folder, std::vector<std::string>& to) {
  std::error_code error;
  if (fs::is_directory(folder, error) && std::ranges::find(to, folder.string()) == to.end())
    to.push_back(folder.string());
}

void addEnvironment(const fs::path& prefix, std::vector<std::string>& to) {
  std::error_code error;
  std::vector<fs::path> pythons;
  for (fs::directory_iterator it(prefix / "lib", error), end; !error && it != end; it.increment(error))
    if (it->path().filename().string().starts_with("python3")) pythons.push_back(it->path());
  std::ranges::sort(pythons);
  for (const fs::path& python : pythons)
    for (const char* packages : {"site-packages", "dist-packages"}) addFolder(python / packages, to);
}

}  // namespace

std::vector<std::string> pythonPackageFolders(PackageFolders which) {
  std::vector<std::string> folders;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string prefix = environmentValue(variable); !prefix.empty()) addEnvironment(prefix, folders);
  const auto forEach = [](const char* variable, const auto& visit) {
    for (const std::string& folder : partsOf(environmentValue(variable), ':'))
      if (!folder.empty()) visit(fs::path(folder));
  };
  const auto addAll = [&](const char* list) {
    forEach(list, [&](const fs::path& folder) { addFolder(folder, folders); });
  };
  addAll("PTXOPT_PYTHON_PACKAGES");
  if (which == PackageFolders::All) addAll("PYTHONPATH");
  forEach("PATH", [&](const fs::path& folder) {
    if (::access((folder / "python3").c_str(), X_OK) != 0) return;
    addEnvironment(folder.parent_path(), folders);
    // Debian installs what it does not package below local.
    addEnvironment(folder.parent_path() / "local", folders);
  });
  return folders;
}

std::vector<PtxasCandidate> ptxasOfPackages(const std::string& folder) {
  std::vector<PtxasCandidate> found;
  for (const Row& row : kRows)
    if (std::string path = fmt::format("{}/{}", folder, row.path); ::access(path.c_str(), X_OK) == 0)
      found.push_back({std::move(path), fmt::format("the Python package {}", row.package)});
  return found;
}

std::vector<PtxasCandidate> ptxasOfPython() {
  std::vector<PtxasCandidate> found;
  for (const std::string& folder : pythonPackageFolders())
    for (PtxasCandidate& candidate : ptxasOfPackages(folder)) found.push_back(std::move(candidate));
  return found;
}

}  // namespace ptxopt::ptxas
