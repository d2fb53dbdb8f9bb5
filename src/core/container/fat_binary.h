// Fat binaries: the containers in which nvcc puts PTX and machine code for several architectures into a program.
//
// A container is a header and entries one after the other, each with a header of its own, which says what it is, for which
// architecture, and how it is compressed: not, LZ4 (blocks), or zstd (frames). nvcc adds zeros to PTX that it compresses.
// The layout is that of the public tools that read them; nothing is documented by NVIDIA.
// Nothing is believed: each length is checked against the bytes that there are. Cost: linear in the entries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ptxopt::container {

// Why bytes are not what they begin as.
struct Broken {
  std::string message;
  uint64_t at = 0;  // of the bytes: where
};
template <class T>
using OrBroken = std::variant<T, Broken>;

struct FatEntry {
  enum class Kind : uint8_t { Ptx, MachineCode, Other };
  Kind kind = Kind::Other;
  unsigned architecture = 0;  // 80
  std::string_view whole;     // its header, and all up to the next entry
  std::string_view stored;    // as it lies in the container
  uint64_t flags = 0;
  uint64_t unpackedSize = 0;

  bool isPtx() const { return kind == Kind::Ptx; }
  bool isPacked() const;
};

inline constexpr uint32_t kFatMagic = 0xBA55ED50;

// How many bytes the container takes that begins with these, at least 16.
OrBroken<uint64_t> fatSize(std::string_view beginning);
// The entries of the container that `bytes` are, in order, with those that are neither PTX nor machine code.
OrBroken<std::vector<FatEntry>> fatEntries(std::string_view bytes);
// The text or code of an entry.
OrBroken<std::string> contentsOf(const FatEntry& entry);

// The entry with other contents, which are compressed if the old ones were, or if `pack`: as they were, or by LZ4, also where
// there is no zstd to load. Header and all.
std::string repacked(const FatEntry& entry, std::string_view contents, bool pack);
// The container with some entries replaced: `entries` has the bytes of each.
std::string fatOf(std::string_view container, const std::vector<std::string>& entries);

}  // namespace ptxopt::container
