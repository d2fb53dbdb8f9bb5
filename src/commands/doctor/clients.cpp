// Each row of clients.def has a function here that looks for the client in PATH or in Python's packages, and reads its
// variables for the ptxas that it would call. The hook of the Python package counts for a client that PTXOPT_HOOKS
// names.
#include "doctor/clients.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "ptxas/find.h"
#include "ptxas/find_python.h"
#include "support/environment.h"

namespace ptxopt::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDropIn = "ptxopt-ptxas";

// The folder of packages that has this one, and its version: of NAME-1.2.3.dist-info.
struct Package {
  std::string folder, version;
};
Package findPackage(const std::string& name) {
  constexpr std::string_view kEnd = ".dist-info";
  const std::string begin = name + '-';
  for (const std::string& folder : ptxas::pythonPackageFolders()) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      const std::string entry = it->path().filename().string();
      if (entry.starts_with(begin) && entry.ends_with(kEnd))
        return {folder, entry.substr(begin.size(), entry.size() - begin.size() - kEnd.size())};
    }
  }
  return {};
}

// The hook of the Python package: Python starts with it where $PTXOPT_HOOKS has its name and a folder of packages its file.
struct Hook {
  bool isThere = false, isNamed = false;
};
Hook findHook(std::string_view client) {
  constexpr const char *kVariable = "PTXOPT_HOOKS", *kFile = "ptxopt_hooks.pth";
  Hook hook;
  for (const std::string& folder : ptxas::pythonPackageFolders(ptxas::PackageFolders::WithoutPythonPath))
    hook.isThere = hook.isThere || ::access(fmt::format("{}/{}", folder, kFile).c_str(), R_OK) == 0;
  for (const std::string& name : partsOf(environmentValue(kVariable), ','))
    hook.isNamed = hook.isNamed || name == client || name == "all";
  return hook;
}

// What the variables of the client say is known: the hook makes up for what they do not.
void considerHook(ClientInfo& client) {
  const Hook hook = findHook(client.name);
  if (hook.isThere) client.toSet = fmt::format("export PTXOPT_HOOKS={}", client.name);
  if (hook.isNamed && hook.isThere) client.callsUs = CallsUs::Yes;
  if (hook.isNamed && !hook.isThere)
    client.problems.push_back(fmt::format(
        "PTXOPT_HOOKS names {}, whose Python has no hooks: it needs the Python package of ptxopt", client.title));
}

// The first file of that name in PATH that is a program, of ours or of others.
std::string findInPath(const char* name, bool isOurs) {
  for (const std::string& file : filesInPath(name))
    if (::access(file.c_str(), X_OK) == 0 && !fs::is_directory(file) && ptxas::isThisProgram(file) == isOurs)
      return file;
  return {};
}

std::string findProgram(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (std::string file = findInPath(name, false); !file.empty()) return file;
  return {};
}

// A program of ours: next to this one, but that the Python package has some in PATH alone.
std::string ourProgram(const std::string& self, const char* name) {
  std::string next = fs::path(self).replace_filename(name).string();
  if (::access(next.c_str(), X_OK) == 0) return next;
  const std::string inPath = findInPath(name, true);
  return inPath.empty() ? next : inPath;
}

void findTritonClient(const std::string& self, ClientInfo& client) {
  constexpr const char *kPlain = "TRITON_PTXAS_PATH", *kSecond = "TRITON_PTXAS_BLACKWELL_PATH";
  const Package package = findPackage("triton");
  const std::string bin = package.folder + "/triton/backends/nvidia/bin/";
  if (!package.folder.empty()) client.found = package.folder + "/triton";
  client.version = package.version;
  const bool hasSecond = client.found.empty() || ::access((bin + "ptxas-blackwell").c_str(), X_OK) == 0;
  client.toSet = fmt::format("export {}={}", kPlain, ourProgram(self, kDropIn));
  if (hasSecond) client.toSet += fmt::format(" {}={}", kSecond, ourProgram(self, "ptxopt-ptxas-blackwell"));
  const std::string plain = environmentValue(kPlain), second = environmentValue(kSecond);
  const bool isPlainOurs = !plain.empty() && ptxas::isThisProgram(plain);
  const bool isSecondOurs = !second.empty() && ptxas::isThisProgram(second);
  client.callsUs = isPlainOurs && (isSecondOurs || !hasSecond) ? CallsUs::Yes : CallsUs::No;
  for (const auto& [variable, value] : {std::pair(kPlain, plain), std::pair(kSecond, second)})
    if (!value.empty() && ::access(value.c_str(), X_OK) != 0)
      client.problems.push_back(fmt::format("{} is '{}': no program; Triton calls its own", variable, value));
  considerHook(client);
  if (hasSecond && isPlainOurs != isSecondOurs && client.callsUs != CallsUs::Yes)
    client.problems.push_back(fmt::format("{} is not ptxopt: Triton calls another ptxas for {} architectures",
                                          isPlainOurs ? kSecond : kPlain, isPlainOurs ? "newer" : "older"));
  if (isPlainOurs && plain == second)
    client.problems.push_back(fmt::format(
        "{} and {} are the same path: the version of the older ptxas is answered to both", kPlain, kSecond));
}

// The value of the last --NAME=VALUE of XLA_FLAGS.
std::string flagOfXla(std::string_view name) {
  const std::string flags = environmentValue("XLA_FLAGS"), begin = fmt::format("--{}=", name);
  const std::size_t at = flags.rfind(begin);
  if (at == std::string::npos) return {};
  const std::size_t value = at + begin.size();
  return flags.substr(value, flags.find_first_of(" \t\n", value) - value);
}

// The folder whose bin/ptxas JAX has XLA call: that of CUDA_ROOT, otherwise that of a package, otherwise that of
// XLA_FLAGS.
std::string cudaFolderOfJax(const std::string& packages) {
  if (std::string root = environmentValue("CUDA_ROOT"); !root.empty()) return root;
  for (const char* folder : {"/nvidia/cu13", "/nvidia/cuda_nvcc"})
    if (!packages.empty() && ::access((packages + folder + "/bin/ptxas").c_str(), X_OK) == 0)
      return packages + folder;
  return flagOfXla("xla_gpu_cuda_data_dir");
}

void findJaxClient(const std::string& self, ClientInfo& client) {
  const Package package = findPackage("jax");
  if (!package.folder.empty()) client.found = package.folder + "/jax";
  client.version = package.version;
  client.toSet = fmt::format(
      "mkdir -p FOLDER/bin; ln -s {} FOLDER/bin/ptxas; ln -s TOOLKIT/nvvm FOLDER/nvvm; export CUDA_ROOT=FOLDER "
      "XLA_FLAGS=\"--xla_gpu_enable_libnvptxcompiler=false --xla_gpu_enable_libnvjitlink=false\"",
      ourProgram(self, kDropIn));
  const std::string folder = cudaFolderOfJax(package.folder), said = flagOfXla("xla_gpu_cuda_data_dir");
  const bool isOurs = !folder.empty() && ptxas::isThisProgram(folder + "/bin/ptxas");
  client.callsUs = isOurs ? CallsUs::Yes : CallsUs::No;
  if (!isOurs && !said.empty() && ptxas::isThisProgram(said + "/bin/ptxas"))
    client.problems.push_back(fmt::format(
        "XLA_FLAGS has --xla_gpu_cuda_data_dir={}, which JAX replaces by {}: set CUDA_ROOT instead", said, folder));
  for (const char* flag : {"xla_gpu_enable_libnvptxcompiler", "xla_gpu_enable_libnvjitlink"})
    if (isOurs && flagOfXla(flag) != "false" && flagOfXla(flag) != "0") {
      client.callsUs = CallsUs::No;
      client.problems.push_back(fmt::format("XLA_FLAGS has no --{}=false: XLA compiles by a library", flag));
    }
  if (client.problems.empty()) considerHook(client);
}

// A client of a package, which is there under the first of these names; `toSet` is the one step that works.
void findPackaged(ClientInfo& client, std::initializer_list<const char*> packages, std::string toSet) {
  for (const char* name : packages)
    if (const Package package = findPackage(name); !package.folder.empty() && client.found.empty()) {
      client.found = package.folder;
      client.version = package.version;
    }
  client.toSet = std::move(toSet);
}

// One that has no more than a hook of the Python package.
void findHooked(ClientInfo& client, std::initializer_list<const char*> packages) {
  findPackaged(client, packages,
               fmt::format("python -m ptxopt {} SCRIPT, with the Python package of ptxopt", client.name));
  client.callsUs = CallsUs::No;
  considerHook(client);
}

void findNumbaClient(const std::string&, ClientInfo& client) { findHooked(client, {"numba_cuda"}); }
void findWarpClient(const std::string&, ClientInfo& client) { findHooked(client, {"warp_lang"}); }
void findCupyClient(const std::string&, ClientInfo& client) {
  findHooked(client, {"cupy", "cupy_cuda13x", "cupy_cuda12x", "cupy_cuda11x"});
}
void findTorchClient(const std::string&, ClientInfo& client) { findHooked(client, {"torch"}); }
void findTilelangClient(const std::string&, ClientInfo& client) { findHooked(client, {"tilelang"}); }
void findCutedslClient(const std::string&, ClientInfo& client) { findHooked(client, {"nvidia_cutlass_dsl"}); }

void findMojoClient(const std::string& self, ClientInfo& client) {
  findPackaged(
      client, {"mojo"},
      fmt::format("mojo build --emit asm --target-accelerator sm_90a FILE.mojo; {} KERNEL.ptx -o OUT.ptx", self));
}
void findTaichiClient(const std::string& self, ClientInfo& client) {
  findPackaged(client, {"taichi"}, self + " jit python SCRIPT");
}
void findSlangClient(const std::string& self, ClientInfo& client) {
  // The file ends with a zero byte, which ptxas does not take.
  findPackaged(client, {"slangtorch", "slangpy"},
               fmt::format("slangc FILE.slang -target ptx -entry NAME -stage compute | tr -d '\\0' > KERNEL.ptx; "
                           "{} KERNEL.ptx -o OUT.ptx",
                           self));
  if (client.found.empty()) client.found = findProgram({"slangc"});
}

void findClangClient(const std::string& self, ClientInfo& client) {
  client.found = findProgram({"clang++", "clang++-19", "clang"});
  client.toSet = "clang++ --ptxas-path=" + ourProgram(self, kDropIn);
}

void findNvccClient(const std::string& self, ClientInfo& client) {
  client.found = findProgram({"nvcc"});
  client.toSet = self + " nvcc ..., instead of nvcc ...";
}

void findCmakeClient(const std::string& self, ClientInfo& client) {
  constexpr const char* kLauncher = "CMAKE_CUDA_COMPILER_LAUNCHER";
  client.found = findProgram({"cmake"});
  client.toSet = fmt::format("cmake -D{}=\"{};nvcc\"", kLauncher, self);
  const std::string launcher = environmentValue(kLauncher), program = launcher.substr(0, launcher.find(';'));
  if (!launcher.empty() && (program == "ptxopt" || ptxas::isThisProgram(program))) client.callsUs = CallsUs::Yes;
}

struct Row {
  const char *name, *title;
  void (*find)(const std::string& self, ClientInfo& client);
};
constexpr Row kRows[] = {
#define PTXOPT_CLIENT(id, name, title) {name, title, find##id##Client},
#include "doctor/clients.def"
#undef PTXOPT_CLIENT
};

}  // namespace

std::vector<std::string> clientNames() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

std::vector<ClientInfo> findClients(const std::string& self) {
  std::vector<ClientInfo> clients;
  for (const Row& row : kRows) {
    ClientInfo& client = clients.emplace_back();
    client.name = row.name;
    client.title = row.title;
    row.find(self, client);
  }
  return clients;
}

}  // namespace ptxopt::doctor
