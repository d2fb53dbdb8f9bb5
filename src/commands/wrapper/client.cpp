// The parent's program, mapped files and command line are read from /proc; nvcc and cmake are looked for among its
// ancestors, up to the eighth. The command line of nvcc names the sources, whose names are in those of its PTX files.
// Triton's two variables show which ptxas is meant where the called path equals one of them.
#include "wrapper/client.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "ptxas/find_python.h"
#include "wrapper/nvcc_plan.h"

namespace ptxopt::wrapper {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlain = "ptxas";
constexpr int kMostAncestors = 8;

// The variables by which Triton finds another ptxas, and the name of that which it replaces.
struct TritonVariable {
  const char *name, *ptxas;
};
constexpr TritonVariable kTriton[] = {{"TRITON_PTXAS_PATH", kPlain},
                                      {"TRITON_PTXAS_BLACKWELL_PATH", "ptxas-blackwell"}};

std::string programOf(pid_t pid) {
  std::error_code error;
  return fs::read_symlink(fmt::format("/proc/{}/exe", pid), error).filename().string();
}

pid_t parentOf(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t end = text.rfind(')');  // a name may hold anything
  if (end == std::string::npos) return 0;
  std::istringstream rest(text.substr(end + 1));
  char state = 0;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

// The folders before these parts of paths of mapped files; empty where there is none.
struct Mapped {
  std::string triton, jax;
};
Mapped mappedBy(pid_t pid) {
  Mapped mapped;
  std::ifstream in(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(in, line);) {
    const auto take = [&](std::string& to, std::string_view part) {
      if (!to.empty()) return;
      const std::size_t at = line.find(part), begin = line.find('/');
      if (at != std::string::npos && begin < at) to = line.substr(begin, at - begin);
    };
    take(mapped.triton, "/triton/_C/libtriton");
    take(mapped.jax, "/jax_plugins/xla_cuda");
  }
  return mapped;
}

// Whether the user made Triton call this path, and which ptxas that replaces. Where both variables name it, the
// path's own name decides.
std::string ptxasOfTriton(const std::string& calledAs) {
  std::string meant;
  for (const TritonVariable& variable : kTriton) {
    const char* const value = std::getenv(variable.name);
    if (value == nullptr || calledAs != value) continue;
    if (!meant.empty()) return kPlain;
    meant = variable.ptxas;
  }
  return meant;
}

void addOwn(const std::string& packages, std::string_view part, Client& to) {
  for (ptxas::PtxasCandidate& candidate : ptxas::ptxasOfPackages(packages))
    if (candidate.path.find(part) != std::string::npos) to.own.push_back(std::move(candidate));
}

void becomeTriton(const std::string& packages, const std::string& meant, Client& client) {
  constexpr std::string_view kFolder = "/triton/backends/nvidia/bin/";
  client.name = "triton";
  client.isKeyedByVersion = true;
  if (client.ptxas == kPlain && !meant.empty()) client.ptxas = meant;
  if (!packages.empty())
    addOwn(packages, kFolder, client);
  else
    for (const std::string& folder : ptxas::pythonPackageFolders()) addOwn(folder, kFolder, client);
  std::ranges::stable_partition(
      client.own, [&](const ptxas::PtxasCandidate& c) { return fs::path(c.path).filename() == client.ptxas; });
  for (ptxas::PtxasCandidate& candidate : client.own) candidate.origin = "Triton's own";
}

std::vector<std::string> commandLineOf(pid_t pid) {
  std::vector<std::string> words;
  std::ifstream in(fmt::format("/proc/{}/cmdline", pid));
  for (std::string word; std::getline(in, word, '\0');) words.push_back(std::move(word));
  return words;
}

// As far as they are named on the command line, and not in a file of options.
std::vector<std::string> sourcesOfNvcc(pid_t pid) {
  constexpr std::string_view kEndings[] = {".cu", ".c", ".cc", ".cpp", ".cxx", ".C"};
  std::vector<std::string> sources = commandLineOf(pid);
  std::erase_if(sources, [&](const std::string& word) {
    return word.starts_with('-') || std::ranges::find(kEndings, fs::path(word).extension()) == std::end(kEndings);
  });
  std::ranges::sort(sources);
  sources.erase(std::ranges::unique(sources).begin(), sources.end());
  return sources;
}

void becomeClang(pid_t pid, Client& client) {
  constexpr std::string_view kOption = "--cuda-path=";
  client.name = "clang";
  for (const std::string& word : commandLineOf(pid))
    if (word.starts_with(kOption))
      client.own = {{fmt::format("{}/bin/{}", word.substr(kOption.size()), kPlain), "clang's --cuda-path"}};
}

}  // namespace

std::string ptxasMeantBy(const std::string& calledAs) {
  constexpr std::string_view kOurs = "ptxopt-";
  std::string name = calledAs.substr(calledAs.rfind('/') + 1);
  if (name.starts_with(kOurs)) name.erase(0, kOurs.size());
  return name == kPlain || name.starts_with("ptxas-") ? name : std::string();
}

Client callingClient(const std::string& calledAs) {
  Client client;
  if (std::string name = ptxasMeantBy(calledAs); !name.empty()) client.ptxas = std::move(name);
  const std::string meant = ptxasOfTriton(calledAs);
  const pid_t parent = ::getppid();
  const std::string program = programOf(parent);
  if (!meant.empty() || program.starts_with("python")) {
    const Mapped mapped = mappedBy(parent);
    if (!meant.empty() || (!mapped.triton.empty() && mapped.jax.empty())) {
      becomeTriton(mapped.triton, meant, client);
    } else if (!mapped.jax.empty()) {
      client.name = "jax";
      addOwn(mapped.jax, "/nvidia/", client);
      for (ptxas::PtxasCandidate& candidate : client.own) candidate.origin = "JAX's own";
    }
  } else if (program.starts_with("clang")) {
    becomeClang(parent, client);
  }
  pid_t pid = parent;
  for (int i = 0; client.name.empty() && pid > 1 && i < kMostAncestors; ++i, pid = parentOf(pid))
    if (const std::string name = programOf(pid); name == "nvcc" || name == "cmake") {
      client.name = name;
      if (name == "nvcc") client.sources = sourcesOfNvcc(pid);
    }
  return client;
}

std::string sourceOf(const Client& client, const std::string& ptx) {
  const std::string name = fs::path(ptx).filename().string();
  const std::size_t dash = name.find('-'), end = name.find('_', dash);  // of the number
  if (!name.starts_with(kNvccTemporary) || dash == std::string::npos || end == std::string::npos) return {};
  const std::string_view rest = std::string_view(name).substr(end + 1);  // "k.ptx", "k.compute_80.ptx"
  std::string found;
  for (const std::string& source : client.sources) {
    const std::string stem = fs::path(source).stem().string();
    if (!rest.starts_with(stem)) continue;
    const std::string_view ending = rest.substr(stem.size());
    if (ending != ".ptx" && !ending.starts_with(".compute_") && !ending.starts_with(".sm_")) continue;
    if (!found.empty()) return {};
    found = source;
  }
  return found;
}

}  // namespace ptxopt::wrapper
