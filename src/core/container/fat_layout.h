// The headers of fat binaries, for fat_binary.h alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "container/fat_binary.h"

namespace ptxopt::container {

inline constexpr uint64_t kIsLz4 = 0x2000, kIsZstd = 0x8000;

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

inline Broken broken(std::string_view what, uint64_t at = 0) {
  return {"the fat binary: " + std::string(what), at};
}

template <class Header>
Header read(std::string_view bytes) {
  Header h;
  std::memcpy(&h, &bytes.front(), sizeof h);
  return h;
}

}  // namespace ptxopt::container
