// The newest PTX that the architecture takes is chosen from a container, or from each of the containers that it was
// linked from, whose texts are then linked here.
#include "emulate/fat_binary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "emulate/error.h"
#include "link/link.h"

namespace ptxopt::emulate {
namespace {

constexpr uint32_t kWrapperMagic = 0x466243B1;
constexpr uint32_t kLinkedVersion = 2;
struct WrapperHeader {
  uint32_t magic, version;
  const void* container;
  const void* const* linked;  // of kLinkedVersion: wrapped containers, and nullptr after them
};

template <class T>
T readable(container::OrBroken<T> result) {
  if (const auto* wrong = std::get_if<container::Broken>(&result))
    throw Failure{Code::InvalidKernelImage, wrong->message};
  return std::get<T>(std::move(result));
}

constexpr std::size_t kHeaderBytes = 16;  // of a container; it says how long the rest is

}  // namespace

uint64_t fatSize(const void* data) {
  return readable(container::fatSize({static_cast<const char*>(data), kHeaderBytes}));
}

std::vector<FatEntry> fatEntries(const void* data) {
  return readable(container::fatEntries({static_cast<const char*>(data), fatSize(data)}));
}

std::string unpacked(const FatEntry& entry) { return readable(container::contentsOf(entry)); }

const void* containerOf(const void* wrapper) {
  WrapperHeader h;
  std::memcpy(&h, wrapper, sizeof h);
  return h.magic == kWrapperMagic ? h.container : nullptr;
}

std::vector<const void*> linkedContainersOf(const void* wrapper) {
  WrapperHeader h;
  std::memcpy(&h, wrapper, sizeof h);
  std::vector<const void*> containers;
  if (h.magic != kWrapperMagic || h.version != kLinkedVersion || h.linked == nullptr) return containers;
  for (const void* const* p = h.linked; *p != nullptr; ++p) containers.push_back(*p);
  return containers;
}

namespace {

unsigned newestIn(const void* container) {
  unsigned newest = 0;
  for (const FatEntry& e : fatEntries(container))
    if (e.isPtx()) newest = std::max(newest, e.architecture);
  return newest;
}

// The newest PTX that the architecture takes.
std::optional<FatEntry> newestFor(const std::vector<FatEntry>& entries, unsigned architecture) {
  std::optional<FatEntry> best;
  for (const FatEntry& e : entries)
    if (e.isPtx() && e.architecture <= architecture && (!best || e.architecture > best->architecture)) best = e;
  return best;
}

std::string listOf(const void* container) {
  std::string list;
  for (const FatEntry& e : fatEntries(container))
    if (e.kind != FatEntry::Kind::Other)
      list += fmt::format("{}{} for sm_{}", list.empty() ? "" : ", ", e.isPtx() ? "PTX" : "machine code",
                          e.architecture);
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

}  // namespace ptxopt::emulate
