#include "emulate/loaded_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>

#include "emulate/fat_binary.h"
#include "emulate/optimize_by_tool.h"
#include "link/link.h"
#include "text/parse.h"

namespace ptxopt::emulate {
namespace {

void parseInto(LoadedVersion& version) {
  auto parsed = parse(version.text, version.fileName);
  if (const auto* wrong = std::get_if<ParseError>(&parsed))
    throw Failure{Code::InvalidPtx, render(*wrong, version.fileName)};
  version.module = std::move(std::get<0>(parsed));
}

bool writeText(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  return static_cast<bool>(out.flush());
}

unsigned newestIn(const void* container) {
  unsigned newest = 0;
  for (const FatEntry& e : fatEntries(container))
    if (e.isPtx) newest = std::max(newest, e.architecture);
  return newest;
}

// The newest PTX that the architecture takes.
std::optional<FatEntry> newestFor(const std::vector<FatEntry>& entries, unsigned architecture) {
  std::optional<FatEntry> best;
  for (const FatEntry& e : entries)
    if (e.isPtx && e.architecture <= architecture && (!best || e.architecture > best->architecture)) best = e;
  return best;
}

std::string listOf(const void* container) {
  std::string list;
  for (const FatEntry& e : fatEntries(container))
    list +=
        fmt::format("{}{} for sm_{}", list.empty() ? "" : ", ", e.isPtx ? "PTX" : "machine code", e.architecture);
  return list;
}

}  // namespace

std::string linkedText(std::span<const std::string> texts) {
  std::vector<link::Input> inputs;
  for (const std::string& text : texts) inputs.push_back({text, fmt::format("file {}", inputs.size() + 1)});
  auto linked = link::link(inputs);
  if (const auto* wrong = std::get_if<link::LinkError>(&linked)) throw Failure{Code::InvalidPtx, wrong->message};
  return std::move(std::get<0>(linked));
}

unsigned newestPtx(const void* container, std::span<const void* const> linked) {
  unsigned newest = newestIn(container);
  for (const void* const c : linked) newest = std::max(newest, newestIn(c));
  return newest;
}

std::string ptxOf(const void* container, std::span<const void* const> linked, unsigned architecture) {
  if (const auto own = newestFor(fatEntries(container), architecture)) return unpacked(*own);
  std::vector<std::string> texts;
  for (const void* const c : linked)
    if (const auto entry = newestFor(fatEntries(c), architecture)) texts.push_back(unpacked(*entry));
  if (!texts.empty()) return linkedText(texts);
  std::string others = listOf(container);
  for (const void* const c : linked) others += (others.empty() ? "" : ", ") + listOf(c);
  throw Failure{Code::NoKernelImageForDevice,
                fmt::format("there is no PTX that sm_{} takes; the program has {}. nvcc adds PTX with -gencode "
                            "arch=compute_XX,code=compute_XX",
                            architecture, others.empty() ? "nothing" : others)};
}

std::unique_ptr<LoadedModule> loadModule(std::string text, unsigned number, Memory& memory,
                                         const Settings& settings) {
  auto loaded = std::make_unique<LoadedModule>();
  loaded->number = number;
  const auto nameOf = [&](const char* suffix) {
    const std::string name = fmt::format("module-{}{}.ptx", number, suffix);
    return settings.keep.empty() ? name : settings.keep + '/' + name;
  };
  LoadedVersion& plain = loaded->plain;
  plain.text = std::move(text);
  plain.fileName = nameOf("");
  if (!settings.keep.empty()) writeText(plain.fileName, plain.text);
  parseInto(plain);
  plain.machine = std::make_unique<exec::Machine>(*plain.module, memory.shared());
  if (!settings.optimizes) return loaded;
  std::string error;
  auto optimized = std::make_unique<LoadedVersion>();
  optimized->text = optimizedByTool(settings.tool, settings.optimize, plain.text, error);
  optimized->fileName = nameOf(".optimized");
  if (!error.empty()) {
    loaded->couldNotOptimize = true;
    std::fputs(fmt::format("ptxopt emulate: {} is not optimized: {}\n", plain.fileName, error).c_str(), stderr);
    return loaded;
  }
  if (!settings.keep.empty()) writeText(optimized->fileName, optimized->text);
  if (optimized->text == plain.text) return loaded;
  parseInto(*optimized);
  optimized->machine = std::make_unique<exec::Machine>(
      *optimized->module, memory.shared(),
      [&](std::string_view name, uint64_t bytes) { return plain.machine->placeOf(name, bytes); });
  loaded->optimized = std::move(optimized);
  return loaded;
}

std::string describe(const exec::ExecError& error, const LoadedVersion& version) {
  const Module& module = *version.module;
  const std::string message = fmt::format("{}: {}", exec::name(error.kind), error.message);
  std::string out = error.source != 0
                        ? render({error.source, locate(module.source, error.source), message}, module.fileName)
                        : fmt::format("{}: error: {}\n", module.fileName, message);
  if (!error.function.valid()) return out;
  return out +
         fmt::format("  in {}{}{}\n", module.text(error.function), error.thread.empty() ? "" : ", ", error.thread);
}

}  // namespace ptxopt::emulate
