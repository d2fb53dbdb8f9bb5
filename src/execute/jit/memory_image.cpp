// Memory is read back in chunks of 4 MiB and compared in blocks of 4 KiB; blocks that changed are kept. Restoring
// writes runs of neighbouring blocks at once.
#include "jit/memory_image.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "jit/driver.h"

namespace ptxopt::jit {
namespace {

constexpr std::size_t kBlock = 4096, kChunk = std::size_t{4} << 20;

bool readDevice(void* to, uint64_t from, std::size_t bytes) {
  static auto* const call = driver<int(void*, uint64_t, size_t)>("cuMemcpyDtoH_v2");
  return bytes == 0 || (call != nullptr && call(to, from, bytes) == 0);
}

bool writeDevice(uint64_t to, const void* from, std::size_t bytes) {
  static auto* const call = driver<int(uint64_t, const void*, size_t)>("cuMemcpyHtoD_v2");
  return bytes == 0 || (call != nullptr && call(to, from, bytes) == 0);
}

std::string hexOf(std::string_view bytes) {
  std::string out;
  for (const char c : bytes.substr(0, 4)) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += digits;
  }
  return out;
}

}  // namespace

bool MemoryImage::read(std::vector<Range> ranges) {
  ranges_ = std::move(ranges);
  std::ranges::sort(ranges_, {}, &Range::address);
  for (Range& r : ranges_) {
    r.bytes.resize(r.size);
    if (!readDevice(r.bytes.data(), r.address, r.size)) return false;
  }
  return true;
}

bool MemoryImage::changes(MemoryBlocks& changed) const {
  changed.clear();
  std::string now(kChunk, '\0');
  for (const Range& r : ranges_)
    for (std::size_t chunk = 0; chunk < r.size; chunk += kChunk) {
      const std::size_t bytes = std::min<std::size_t>(kChunk, r.size - chunk);
      if (!readDevice(now.data(), r.address + chunk, bytes)) return false;
      for (std::size_t at = 0; at < bytes; at += kBlock) {
        const std::size_t size = std::min(kBlock, bytes - at);
        if (std::memcmp(now.data() + at, r.bytes.data() + chunk + at, size) != 0)
          changed[r.address + chunk + at] = now.substr(at, size);
      }
    }
  return true;
}

const MemoryImage::Range& MemoryImage::rangeOf(uint64_t block) const {
  return *std::prev(std::ranges::upper_bound(ranges_, block, {}, &Range::address));
}

std::string MemoryImage::bytesBefore(uint64_t block) const {
  const Range& r = rangeOf(block);
  return r.bytes.substr(block - r.address, kBlock);
}

bool MemoryImage::restore(const MemoryBlocks& changed) const {
  // Blocks that follow each other, at once.
  for (auto at = changed.begin(); at != changed.end();) {
    const uint64_t begin = at->first;
    const Range& r = rangeOf(begin);
    uint64_t end = begin;
    for (; at != changed.end() && at->first == end && end < r.address + r.size; ++at) end += at->second.size();
    if (!writeDevice(begin, r.bytes.data() + (begin - r.address), end - begin)) return false;
  }
  return true;
}

std::string MemoryImage::firstDifference(const MemoryBlocks& expected, const MemoryBlocks& found) const {
  MemoryBlocks all = expected;
  all.insert(found.begin(), found.end());
  for (const auto& [block, any] : all) {
    const std::string before = bytesBefore(block).substr(0, any.size());
    const std::string& wanted = expected.contains(block) ? expected.at(block) : before;
    const std::string& got = found.contains(block) ? found.at(block) : before;
    const auto place = static_cast<std::size_t>(std::ranges::mismatch(wanted, got).in1 - wanted.begin());
    if (place == wanted.size()) continue;
    const Range& r = rangeOf(block);
    const std::size_t offset = block - r.address + place, word = place / 4 * 4;
    return r.name + " of " + std::to_string(r.size) + " bytes, byte " + std::to_string(offset) + ": " +
           hexOf(std::string_view(got).substr(word)) + " instead of " +
           hexOf(std::string_view(wanted).substr(word));
  }
  return {};
}

}  // namespace ptxopt::jit
