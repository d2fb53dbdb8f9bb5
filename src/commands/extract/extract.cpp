// The optimizer at level 0 gives the extents and calls of a text's functions, by which each kernel is cut out with what
// it reaches. Characters that are unsafe in names of files become underscores, and a long name ends in a hash of the
// whole.
#include "extract/extract.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>

#include "cut/cut.h"
#include "ptxas/cubin.h"
#include "ptxopt/ptxopt.h"
#include "support/demangle.h"

namespace ptxopt::extract {
namespace {

constexpr std::size_t kLongestName = 120;  // of a kernel in the name of a file

std::vector<FunctionOutcome> functionsOf(std::string_view text, std::string& error) {
  Options options;
  options.level = 0;
  options.outcomes = true;
  Result result = optimize(text, options);
  if (result.status != Status::Ok) error = result.error;
  return std::move(result.outcomes);
}

bool isIn(const std::vector<std::string>& all, const std::string& word) {
  return std::ranges::find(all, word) != all.end();
}

// As a part of the name of a file.
std::string safe(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if ((c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '.' && c != '_' && c != '-' &&
        c != '+' && c != '$')
      c = '_';
  if (out.size() > kLongestName)
    out = out.substr(0, kLongestName) + fmt::format("-{:016x}", XXH3_64bits(name.data(), name.size()));
  return out.starts_with('.') ? "_" + out.substr(1) : out;
}

}  // namespace

Contents readModule(const container::Module& module) {
  Contents contents;
  contents.architecture = fmt::format("sm_{}", module.entry.architecture);
  auto read = container::contentsOf(module);
  if (const auto* wrong = std::get_if<container::Broken>(&read)) {
    contents.error = wrong->message;
    return contents;
  }
  contents.text = std::get<std::string>(std::move(read));
  if (module.entry.isPtx()) {
    Options options;
    options.level = 0;
    options.outcomes = true;
    Result result = optimize(contents.text, options);
    if (result.status != Status::Ok) contents.error = result.error;
    if (!result.architecture.empty()) contents.architecture = result.architecture;
    for (const FunctionOutcome& f : result.outcomes)
      if (f.isKernel) contents.kernels.push_back(f.name);
    return contents;
  }
  auto names = ptxas::readCubinNames(contents.text);
  if (const auto* wrong = std::get_if<ptxas::CubinError>(&names)) {
    contents.error = wrong->message;
  } else {
    contents.architecture = std::get<0>(names).architecture;
    contents.kernels = std::move(std::get<0>(names).kernels);
  }
  return contents;
}

std::string fileNameOf(const container::Module& module, const std::string& architecture, std::string_view file,
                       std::vector<std::string>& taken) {
  const std::string name =
      safe(module.member.empty() ? std::filesystem::path(file).filename().string() : module.member);
  const std::string_view suffix = module.entry.isPtx() ? "ptx" : "cubin";
  std::string made = fmt::format("{}.{}.{}.{}", name, module.number, architecture, suffix);
  for (unsigned n = 2; isIn(taken, made); ++n)
    made = fmt::format("{}.{}-{}.{}.{}", name, module.number, n, architecture, suffix);
  taken.push_back(made);
  return made;
}

bool isCalled(const std::string& kernel, const std::string& name) {
  const auto names = calledNames(kernel);
  return std::ranges::find(names, name) != names.end() ||
         (names[1].starts_with("void ") && std::string_view(names[1]).substr(5) == name);
}

std::vector<Piece> split(const container::Module& module, const Contents& contents,
                         const std::vector<std::string>& kernels) {
  std::vector<Piece> pieces;
  if (!module.entry.isPtx()) {
    const bool hasOthers = contents.kernels.size() != 1;
    pieces.push_back({"", "", contents.text, hasOthers ? "machine code is not cut" : ""});
    return pieces;
  }
  std::string error;
  const auto functions = functionsOf(contents.text, error);
  const cut::CallGraph calls(functions);
  const std::string whole = error.empty() ? cut::whyWhole(contents.text, functions) : error;
  for (const std::string& kernel : kernels) {
    Piece piece{kernel, "." + safe(kernel), contents.text, whole};
    if (const uint32_t place = calls.indexOf(kernel); whole.empty() && place != cut::CallGraph::kNone)
      piece.text = cut::alone(contents.text, functions, calls, place);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace ptxopt::extract
