// Sizes that an entry claims are bounded before memory is allocated. Packing uses LZ4's best level or zstd's, whose
// compressor is loaded at run time, and leaves an entry plain where neither works or helps.
#include "container/fat_binary.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <lz4.h>
#include <lz4hc.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "container/fat_layout.h"

namespace ptxopt::container {
namespace {

constexpr uint64_t kMostUnpacked = uint64_t{1} << 32;
constexpr uint64_t kMostTimes = 1 << 16;  // that an entry grows by: zstd's best is less than that
constexpr std::size_t kAlignment = 8;

OrBroken<std::string> unpackedBytes(const FatEntry& entry) {
  std::string text;
  if (!entry.isPacked()) {
    text = entry.stored;
    return text;
  }
  if (entry.unpackedSize == 0 || entry.unpackedSize > kMostUnpacked ||
      entry.unpackedSize / kMostTimes > entry.stored.size())
    return broken("the size of an entry makes no sense");
  text.resize(entry.unpackedSize);
  if ((entry.flags & kIsZstd) != 0) {
    const std::size_t n = ZSTD_decompress(text.data(), text.size(), entry.stored.data(), entry.stored.size());
    if (ZSTD_isError(n) != 0) return broken(fmt::format("an entry cannot be unpacked: {}", ZSTD_getErrorName(n)));
    text.resize(n);
  } else {
    const int n = LZ4_decompress_safe(entry.stored.data(), text.data(), static_cast<int>(entry.stored.size()),
                                      static_cast<int>(text.size()));
    if (n < 0) return broken("an entry cannot be unpacked");
    text.resize(static_cast<std::size_t>(n));
  }
  return text;
}

// Empty where it does not fit or fails.
std::string packedByLz4(const std::string& body) {
  const int size = static_cast<int>(body.size());
  std::string packed(static_cast<std::size_t>(LZ4_compressBound(size)), '\0');
  const int n =
      LZ4_compress_HC(body.data(), packed.data(), size, static_cast<int>(packed.size()), LZ4HC_CLEVEL_MAX);
  packed.resize(static_cast<std::size_t>(std::max(n, 0)));
  return packed;
}

// The half of zstd that compresses is loaded when it is wanted: its archive is not for shared libraries, and seldom is
// anything put back. Empty also where there is no such library.
std::string packedByZstd(const std::string& body) {
  void* const library = ::dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {};
  const auto compress = reinterpret_cast<decltype(&ZSTD_compress)>(::dlsym(library, "ZSTD_compress"));
  const auto bound = reinterpret_cast<decltype(&ZSTD_compressBound)>(::dlsym(library, "ZSTD_compressBound"));
  const auto best = reinterpret_cast<decltype(&ZSTD_maxCLevel)>(::dlsym(library, "ZSTD_maxCLevel"));
  std::string packed;
  if (compress != nullptr && bound != nullptr && best != nullptr) {
    packed.resize(bound(body.size()));
    const std::size_t n = compress(packed.data(), packed.size(), body.data(), body.size(), best());
    packed.resize(ZSTD_isError(n) != 0 ? 0 : n);
  }
  ::dlclose(library);
  return packed;
}

}  // namespace

OrBroken<std::string> contentsOf(const FatEntry& entry) {
  auto result = unpackedBytes(entry);
  if (auto* text = std::get_if<std::string>(&result); text != nullptr && entry.isPtx())
    while (!text->empty() && text->back() == '\0') text->pop_back();
  return result;
}

std::string repacked(const FatEntry& entry, std::string_view contents, bool pack) {
  auto h = read<EntryHeader>(entry.whole);
  std::string head(entry.whole.substr(0, h.headerBytes)), body(contents);
  if (entry.isPtx()) body += '\0';
  const bool wasZstd = (entry.flags & kIsZstd) != 0;
  h.packedBytes = 0;
  h.unpackedBytes = 0;
  h.flags &= ~(kIsLz4 | kIsZstd);
  if ((pack || entry.isPacked()) && body.size() <= LZ4_MAX_INPUT_SIZE) {
    std::string packed = wasZstd ? packedByZstd(body) : std::string();
    const uint64_t flag = packed.empty() ? kIsLz4 : kIsZstd;
    if (packed.empty()) packed = packedByLz4(body);
    if (!packed.empty()) {
      h.packedBytes = static_cast<uint32_t>(packed.size());
      h.unpackedBytes = body.size();
      h.flags |= flag;
      body = std::move(packed);
    }
  }
  body.resize((body.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
  h.bytes = body.size();
  std::memcpy(head.data(), &h, sizeof h);
  return head + body;
}

std::string fatOf(std::string_view container, const std::vector<std::string>& entries) {
  auto h = read<ContainerHeader>(container);
  std::string out(container.substr(0, h.headerBytes));
  for (const std::string& entry : entries) out += entry;
  h.bytes = out.size() - h.headerBytes;
  std::memcpy(out.data(), &h, sizeof h);
  return out;
}

}  // namespace ptxopt::container
