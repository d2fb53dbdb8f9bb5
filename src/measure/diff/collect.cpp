// The kind of a path is decided by its first bytes, or in folders by its suffix; files are read later, when they are
// measured. A folder with a file that cannot be read is an error as a whole.
#include "diff/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "diff/baseline.h"
#include "diff/built.h"
#include "support/files_below.h"

namespace ptxopt::diff {
namespace {

namespace fs = std::filesystem;

bool isSource(const fs::path& path) {
  return path.extension() == ".ptx" || path.extension() == ".cubin" ||
         isBuiltFile(path, beginningOf(path, kBeginning));
}

// Not with a part of it: what is missing would be taken for gone.
bool collectFolder(const fs::path& folder, std::vector<Source>& sources, std::string& error) {
  const FilesBelow below = filesBelow(folder, isSource);
  std::vector<std::string> problems = below.problems;
  for (const fs::path& file : below.files) {
    const std::string name = file.lexically_relative(folder).generic_string();
    if (!isBuiltFile(file, beginningOf(file, kBeginning))) {
      sources.push_back({name, file.string(), {}, {}, {}, {}});
    } else if (const auto bytes = FileBytes::map(file, error)) {
      addModules(name, file.string(), bytes, false, sources);
    } else {
      problems.push_back(error);
    }
  }
  error = fmt::format("{}", fmt::join(problems, "; "));
  return error.empty();
}

bool looksLikeJson(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos && text[at] == '{';
}

}  // namespace

bool readBytes(const std::string& path, std::string& bytes, std::string& error) {
  const auto fail = [&] {
    error = fmt::format("cannot read '{}': {}", path, std::strerror(errno));
    return false;
  };
  const bool isStandardInput = path == "-";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      isStandardInput ? stdin : std::fopen(path.c_str(), "rbe"),
      isStandardInput ? [](std::FILE*) { return 0; } : [](std::FILE* f) { return std::fclose(f); });
  if (file == nullptr) return fail();
  bytes.clear();
  constexpr std::size_t kSize = 64 * 1024;
  const auto buffer = std::make_unique_for_overwrite<char[]>(kSize);  // not on the stack, which may be small
  while (const std::size_t n = std::fread(buffer.get(), 1, kSize, file.get())) bytes.append(buffer.get(), n);
  return std::ferror(file.get()) == 0 || fail();
}

bool collect(const std::string& path, Collected& collected, std::string& error) {
  collected = {};
  collected.side.name = path == "-" ? "<stdin>" : path;
  std::error_code ignored;
  if (path != "-" && fs::is_directory(path, ignored)) {
    if (!collectFolder(path, collected.sources, error)) return false;
    std::stable_sort(collected.sources.begin(), collected.sources.end(),
                     [](const Source& a, const Source& b) { return a.file < b.file; });
    return true;
  }
  const std::string file = path == "-" ? "<stdin>" : fs::path(path).filename().generic_string();
  std::string text;
  std::shared_ptr<const FileBytes> built;
  if (path != "-" && isBuiltFile(path, beginningOf(path, kBeginning))) {
    built = FileBytes::map(path, error);
    if (built == nullptr) return false;
  } else {
    if (!readBytes(path, text, error)) return false;
    if (isBuiltFile(file, text)) built = FileBytes::hold(text);
  }
  if (built != nullptr) {
    addModules(file, path, built, true, collected.sources);
    if (collected.sources.empty()) {
      error = fmt::format("there is no device code in '{}'", collected.side.name);
      return false;
    }
    collected.side.isOneFile =
        std::ranges::all_of(collected.sources, [&](const Source& s) { return s.file == file; });
    return true;
  }
  if (looksLikeJson(text)) {
    collected.isBaseline = true;
    if (readBaseline(text, collected.side, error)) return true;
    error = fmt::format("'{}' is not a baseline: {}", collected.side.name, error);
    return false;
  }
  collected.side.isOneFile = true;
  collected.sources.push_back({file, path, std::move(text), {}, {}, {}});
  return true;
}

bool collectMore(const std::string& path, Collected& collected, std::string& error) {
  Collected more;
  if (!collect(path, more, error)) return false;
  if (more.isBaseline) {
    error = fmt::format("'{}' is a baseline already", path);
    return false;
  }
  collected.side.name += (collected.side.name.empty() ? "" : ", ") + more.side.name;
  for (Source& source : more.sources) collected.sources.push_back(std::move(source));
  std::stable_sort(collected.sources.begin(), collected.sources.end(),
                   [](const Source& a, const Source& b) { return a.file < b.file; });
  const auto twice =
      std::adjacent_find(collected.sources.begin(), collected.sources.end(), [](const Source& a, const Source& b) {
        return a.file == b.file && (a.built == nullptr || a.built != b.built);
      });
  if (twice == collected.sources.end()) return true;
  error = fmt::format("two files are called '{}': '{}' and '{}'; give the folder that holds both", twice->file,
                      twice->path, (twice + 1)->path);
  return false;
}

}  // namespace ptxopt::diff
