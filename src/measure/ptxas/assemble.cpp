// The key of the cache is everything that the figures depend on, our own tables included. A run writes the text, starts
// ptxas with -v, reads the cubin, and adds spills and notes from the messages; paths are taken out of these.
#include "ptxas/assemble.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "ptxas/cubin.h"
#include "ptxas/large_pages.h"
#include "ptxas/measures_json.h"
#include "ptxas/verbose.h"
#include "support/log.h"
#include "support/process.h"
#include "support/temporary_folder.h"
#include "target/occupancy.h"
#include "timing/kernel_time.h"

namespace ptxopt::ptxas {
namespace {

constexpr std::size_t kOutputCap = std::size_t{64} << 20;  // the messages of some 100,000 kernels
constexpr int kCacheFormat = 8;

// The lines with an error in them, or the first line; at most about 1000 characters.
std::string complaint(std::string_view text) {
  std::string out;
  std::string_view first;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (first.empty()) first = line;
    if (line.find("error") == std::string_view::npos && line.find("fatal") == std::string_view::npos) continue;
    if (!out.empty()) out += '\n';
    out += line;
    if (out.size() > 1000) break;
  }
  return out.empty() ? std::string(first) : out;
}

// A folder's name is another one each time: messages are to be the same for the same text.
void eraseAll(std::string& text, const std::string& what) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.erase(at, what.size());
}

std::string keyOf(std::string_view text, std::string_view architecture, const PtxasSettings& settings) {
  std::string all = callOf(architecture, settings);
  if (all.empty()) return {};
  all += text;
  return Cache::key(all);
}

bool writeText(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  return !out.fail();
}

// Why as much as a small cubin cannot be written there. Empty: it can.
std::string whyNoRoom(const TemporaryFolder& folder) {
  constexpr std::size_t kSmall = std::size_t{64} << 10;
  const std::string path = folder.file("room");
  errno = 0;
  const bool isWritten = writeText(path, std::string(kSmall, '\0'));
  const int cause = errno;
  ::unlink(path.c_str());
  if (isWritten) return {};
  return fmt::format("cannot write to the folder '{}': {}",
                     std::filesystem::path(folder.path()).parent_path().string(), std::strerror(cause));
}

// Empty where it cannot be read.
std::string readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  std::string bytes(in ? static_cast<std::size_t>(in.tellg()) : 0, '\0');
  in.seekg(0);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) bytes.clear();
  return bytes;
}

Assembly failed(Assembly::Status status, std::string error) {
  Assembly result;
  result.status = status;
  result.error = std::move(error);
  return result;
}

// What the messages say and the cubin does not. Functions that ptxas put into the sections of their callers have
// stack and spills only.
void addCounts(Measures& measures, std::string_view messages) {
  auto counts = readPtxasVerbose(messages);
  const auto add = [](FunctionMeasures& f, const PtxasCounts& c) {
    f.spillStores = c.spillStores;
    f.spillLoads = c.spillLoads;
    f.stack = std::max(f.stack, c.stack);
  };
  for (FunctionMeasures& f : measures.functions) {
    const auto it = counts.find(f.name);
    if (it == counts.end()) continue;
    add(f, it->second);
    counts.erase(it);
  }
  for (const auto& [name, c] : counts) {
    FunctionMeasures& f = measures.functions.emplace_back();
    f.name = name;
    add(f, c);
  }
  std::sort(measures.functions.begin(), measures.functions.end(),
            [](const FunctionMeasures& a, const FunctionMeasures& b) { return a.name < b.name; });
}

Assembly run(const TemporaryFolder& folder, std::string_view text, std::string_view architecture,
             const PtxasSettings& settings, bool relocatable) {
  using End = ProcessResult::End;
  using Status = Assembly::Status;
  const std::string cubin = folder.file("out.cubin");
  std::vector<std::string> arguments{settings.program};
  arguments.insert(arguments.end(), settings.arguments.begin(), settings.arguments.end());
  arguments.insert(arguments.end(), {"-v", fmt::format("-arch={}", architecture)});
  if (relocatable) arguments.emplace_back("-c");
  arguments.insert(arguments.end(), {folder.file(kInputName), "-o", cubin});
  ProcessOptions options;
  options.timeoutSeconds = settings.timeoutSeconds;
  options.outputCap = kOutputCap;
  if (std::string pages = largePagesForPtxas(); !pages.empty()) options.environment.push_back(std::move(pages));
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = runProcess(arguments, options);
  if (settings.times != nullptr) {
    ++settings.times->runs;
    settings.times->wallSeconds += result.seconds;
    settings.times->cpuSeconds += result.cpuSeconds;
  }
  log::debug(log::kPtxas, [&] {
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    return fmt::format("{}: {:.1f} ms, {}", fmt::join(arguments, " "), time.count(), result.describe());
  });
  if (!result.succeeded()) {
    std::string error = settings.program + ": " + result.describe();
    std::string why = complaint(result.err.empty() ? result.out : result.err);
    eraseAll(why, folder.path() + "/");
    if (!why.empty()) error += ": " + why;
    const bool refused = result.end == End::Exited && result.code != 127 && result.code != 126;
    return failed(refused                         ? Status::Refused
                  : result.end == End::NotStarted ? Status::NoProgram
                                                  : Status::Failed,
                  std::move(error));
  }
  std::string bytes = readFile(cubin);
  auto read = readCubin(bytes, settings.launches);
  if (const auto* wrong = std::get_if<CubinError>(&read))
    return failed(Status::Failed, fmt::format("{}: no cubin that can be read: {}", settings.program,
                                              bytes.empty() ? "there is none" : wrong->message));
  Assembly assembly;
  assembly.status = Status::Ok;
  assembly.cpuSeconds = result.cpuSeconds;
  assembly.measures = std::get<Measures>(std::move(read));
  assembly.measures.architecture = architecture;
  const std::string messages = result.err + result.out;
  addCounts(assembly.measures, messages);
  addNotes(messages, text, bytes, assembly.measures);
  if (settings.keepsOutput && !relocatable && !result.truncated)
    assembly.output = {std::move(bytes), result.out, result.err, folder.file(kInputName)};
  return assembly;
}

}  // namespace

std::string architectureToAssemble(std::string_view target) {
  // Not only those whose occupancy is known: ptxas says what it does not know.
  const std::size_t at = target.find('_');
  const std::string_view variant = at == std::string_view::npos ? std::string_view() : target.substr(at + 1);
  uint32_t number = 0;
  std::from_chars(variant.data(), variant.data() + variant.size(), number);
  const target::Target known(number);
  return known.has(target::Capability::Assembled) ? fmt::format("sm_{}", variant)
                                                  : fmt::format("sm_{}", known.encodings());
}

std::string callOf(std::string_view architecture, const PtxasSettings& settings) {
  struct stat status {};
  if (::stat(settings.program.c_str(), &status) != 0) return {};
  std::string all = fmt::format("{}\n{}\n{} {} {}.{}\n{}\n", kCacheFormat, settings.program, status.st_ino,
                                status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec, architecture);
  // Resident warps and modelled cycles rest on tables of ours.
  if (const target::Limits* a = target::Target(architecture).limits())
    all += fmt::format("{} {} {} {} {} {} {} {}\n", a->mostWarps, a->mostBlocks, a->sharedBytes,
                       a->reservedSharedBytes, a->sharedUnit, a->barriers, a->barriersLimit,
                       timing::digestOf(target::Target(a->number).machine()));
  for (const std::string& argument : settings.arguments) all += argument + '\n';
  for (const auto& [kernel, launch] : settings.launches)
    all += fmt::format("{} {} {}\n", kernel, launch.threads, launch.blocks);
  all += '\n';
  return all;
}

Assembly assemble(std::string_view text, std::string_view architecture, const PtxasSettings& settings) {
  using Status = Assembly::Status;
  if (settings.program.empty()) return failed(Status::NoProgram, "there is no ptxas");
  const std::string key = settings.cache == nullptr ? std::string() : keyOf(text, architecture, settings);
  if (!key.empty())
    if (const auto kept = settings.cache->find(key))
      if (std::optional<Measures> measures = measuresOfEntry(*kept)) {  // a broken entry is written anew
        Assembly assembly;
        assembly.measures = *std::move(measures);
        assembly.status = Status::Ok;
        assembly.fromCache = true;
        return assembly;
      }
  const TemporaryFolder folder;
  if (!folder.isValid()) return failed(Status::NoFolder, folder.error());
  if (!writeText(folder.file(kInputName), text))
    return failed(Status::NoFolder,
                  fmt::format("cannot write to the folder '{}': {}", folder.path(), std::strerror(errno)));
  Assembly assembly = run(folder, text, architecture, settings, false);
  if (assembly.status == Status::Refused && assembly.error.find("Unresolved extern") != std::string::npos)
    assembly = run(folder, text, architecture, settings, true);
  // ptxas says little where it cannot write.
  if (!assembly && assembly.status != Status::NoProgram)
    if (std::string why = whyNoRoom(folder); !why.empty()) return failed(Status::NoFolder, std::move(why));
  if (assembly && !key.empty()) settings.cache->put(key, dumpJson(toJson(assembly.measures)));
  return assembly;
}

std::string versionOfPtxas(const std::string& program) {
  ProcessOptions options;
  options.timeoutSeconds = 60;
  const ProcessResult version = runProcess({program, "--version"}, options);
  const std::size_t at = version.out.rfind(", V");
  if (!version.succeeded() || at == std::string::npos) return {};
  return version.out.substr(at + 2, version.out.find_first_of("\r\n", at) - at - 2);
}

}  // namespace ptxopt::ptxas
