#include "emulate/fat_binary.h"

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "emulate/error.h"
#include "link/link.h"

namespace ptxopt::emulate {
namespace {

constexpr uint32_t kContainerMagic = 0xBA55ED50;
constexpr uint32_t kWrapperMagic = 0x466243B1;
constexpr uint64_t kIsLz4 = 0x2000, kIsZstd = 0x8000;
constexpr uint64_t kMostUnpacked = uint64_t{1} << 32;
constexpr uint16_t kKindPtx = 1, kKindElf = 2;

struct ContainerHeader {
  uint32_t magic;
  uint16_t version, headerBytes;
  uint64_t bytes;  // of the entries
};

struct EntryHeader {
  uint16_t kind, version;
  uint32_t headerBytes;
  uint64_t bytes;  // to the next entry
  uint32_t packedBytes, unknown;
  uint16_t minor, major;
  uint32_t architecture, nameOffset, nameBytes;
  uint64_t flags, zero, unpackedBytes;
};
static_assert(sizeof(ContainerHeader) == 16 && sizeof(EntryHeader) == 64);

constexpr uint32_t kLinkedVersion = 2;
struct WrapperHeader {
  uint32_t magic, version;
  const void* container;
  const void* const* linked;  // of kLinkedVersion: wrapped containers, and nullptr after them
};

[[noreturn]] void unreadable(const std::string& why) {
  throw Failure{Code::InvalidKernelImage, "the fat binary: " + why};
}

ContainerHeader containerHeader(const void* data) {
  ContainerHeader h;
  std::memcpy(&h, data, sizeof h);
  if (h.magic != kContainerMagic) unreadable("it does not begin as one");
  if (h.headerBytes < sizeof h) unreadable("its header is too short");
  return h;
}

}  // namespace

uint64_t fatSize(const void* data) {
  const ContainerHeader h = containerHeader(data);
  return h.headerBytes + h.bytes;
}

std::vector<FatEntry> fatEntries(const void* data) {
  const ContainerHeader container = containerHeader(data);
  std::string_view rest(static_cast<const char*>(data) + container.headerBytes, container.bytes);
  std::vector<FatEntry> entries;
  while (!rest.empty()) {
    EntryHeader h;
    if (rest.size() < sizeof h) unreadable("an entry is cut short");
    std::memcpy(&h, rest.data(), sizeof h);
    if (h.headerBytes < sizeof h || h.headerBytes > rest.size() || h.bytes > rest.size() - h.headerBytes)
      unreadable("an entry is longer than the whole");
    if (h.kind == kKindPtx || h.kind == kKindElf) {
      const uint64_t stored = h.packedBytes != 0 ? h.packedBytes : h.bytes;
      if (stored > h.bytes) unreadable("an entry is longer than its place");
      entries.push_back(
          {h.kind == kKindPtx, h.architecture, rest.substr(h.headerBytes, stored), h.flags, h.unpackedBytes});
    }
    rest.remove_prefix(h.headerBytes + h.bytes);
  }
  return entries;
}

std::string unpacked(const FatEntry& entry) {
  std::string text;
  if ((entry.flags & (kIsLz4 | kIsZstd)) == 0) {
    text = entry.stored;
  } else {
    if (entry.unpackedSize == 0 || entry.unpackedSize > kMostUnpacked)
      unreadable("the size of an entry makes no sense");
    text.resize(entry.unpackedSize);
    if ((entry.flags & kIsZstd) != 0) {
      const std::size_t n = ZSTD_decompress(text.data(), text.size(), entry.stored.data(), entry.stored.size());
      if (ZSTD_isError(n) != 0) unreadable(fmt::format("an entry cannot be unpacked: {}", ZSTD_getErrorName(n)));
      text.resize(n);
    } else {
      const int n = LZ4_decompress_safe(entry.stored.data(), text.data(), static_cast<int>(entry.stored.size()),
                                        static_cast<int>(text.size()));
      if (n < 0) unreadable("an entry cannot be unpacked");
      text.resize(static_cast<std::size_t>(n));
    }
  }
  if (entry.isPtx)
    while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

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

}  // namespace ptxopt::emulate
