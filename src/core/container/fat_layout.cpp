// What lies where in a fat binary. It needs nothing that unpacks: the library to preload (src/execute/jit) has it.
#include "container/fat_layout.h"

namespace ptxopt::container {
namespace {

constexpr uint16_t kKindPtx = 1, kKindElf = 2;

FatEntry::Kind kindOf(uint16_t kind) {
  using enum FatEntry::Kind;
  return kind == kKindPtx ? Ptx : kind == kKindElf ? MachineCode : Other;
}

}  // namespace

bool FatEntry::isPacked() const { return (flags & (kIsLz4 | kIsZstd)) != 0; }

OrBroken<uint64_t> fatSize(std::string_view beginning) {
  if (beginning.size() < sizeof(ContainerHeader)) return broken("it is cut short");
  const auto h = read<ContainerHeader>(beginning);
  if (h.magic != kFatMagic) return broken("it does not begin as one");
  if (h.headerBytes < sizeof h) return broken("its header is too short");
  if (h.bytes > UINT64_MAX - h.headerBytes) return broken("its size makes no sense");
  return h.headerBytes + h.bytes;
}

OrBroken<std::vector<FatEntry>> fatEntries(std::string_view bytes) {
  const auto size = fatSize(bytes);
  if (const auto* wrong = std::get_if<Broken>(&size)) return *wrong;
  if (std::get<uint64_t>(size) > bytes.size())
    return broken("it has " + std::to_string(bytes.size()) + " bytes, and says that it has " +
                  std::to_string(std::get<uint64_t>(size)));
  bytes = bytes.substr(0, std::get<uint64_t>(size));
  std::vector<FatEntry> entries;
  for (uint64_t at = read<ContainerHeader>(bytes).headerBytes; at < bytes.size();) {
    const std::string_view rest = bytes.substr(at);
    if (rest.size() < sizeof(EntryHeader)) return broken("an entry is cut short", at);
    const auto h = read<EntryHeader>(rest);
    if (h.headerBytes < sizeof h || h.headerBytes > rest.size() || h.bytes > rest.size() - h.headerBytes)
      return broken("an entry is longer than the whole", at);
    const uint64_t stored = h.packedBytes != 0 ? h.packedBytes : h.bytes;
    if (stored > h.bytes) return broken("an entry is longer than its place", at);
    entries.push_back({kindOf(h.kind), h.architecture, rest.substr(0, h.headerBytes + h.bytes),
                       rest.substr(h.headerBytes, stored), h.flags, h.unpackedBytes});
    at += h.headerBytes + h.bytes;
  }
  return entries;
}

}  // namespace ptxopt::container
