// The first bytes say what an image is; a fat binary is then decided entry by entry. Text is PTX if it has the
// directive .version and no zero byte.
#include "jit/image.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "container/fat_binary.h"

namespace ptxopt::jit {
namespace {

constexpr unsigned kWrapperMagic = 0x466243B1, kWrapperVersion = 1;
constexpr std::size_t kMagicBytes = 4, kFatHeaderBytes = 16;
constexpr std::string_view kElf =
    "\x7f"
    "ELF";

unsigned magicOf(const void* image) {
  unsigned magic;
  std::memcpy(&magic, image, sizeof magic);
  return magic;
}

Image other(std::string why) {
  Image image;
  image.why = std::move(why);
  return image;
}

// Machine code runs on devices of its major version, from its minor version on.
bool runs(unsigned code, unsigned device) { return code / 10 == device / 10 && code <= device; }

// The driver then takes PTX before machine code.
bool isPtxForced() {
  const char* const value = std::getenv("CUDA_FORCE_PTX_JIT");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

Image fatBinary(std::string_view bytes, bool isWrapped, const std::vector<unsigned>& devices) {
  using Kind = container::FatEntry::Kind;
  if (devices.empty()) return other("a fat binary, and the device is not known");
  const auto entries = container::fatEntries(bytes);
  if (const auto* wrong = std::get_if<container::Broken>(&entries)) return other(wrong->message);
  bool hasPtx = false;
  for (const container::FatEntry& e : std::get<0>(entries)) {
    const auto isFor = [&](unsigned device) { return runs(e.architecture, device); };
    if (e.kind == Kind::Other) return other("a fat binary with what is neither PTX nor machine code");
    if (e.kind == Kind::MachineCode && !isPtxForced() && std::ranges::any_of(devices, isFor))
      return other("a fat binary with machine code for the device");
    hasPtx = hasPtx || e.isPtx();
  }
  if (!hasPtx) return other("a fat binary without PTX");
  return {Image::Kind::FatBinary, bytes, isWrapped, {}};
}

Image text(std::string_view bytes) {
  // What is not text has a zero among its first bytes; the directive is in every PTX.
  if (bytes.find(".version") == std::string_view::npos) return other("not PTX");
  return {Image::Kind::Ptx, bytes, false, {}};
}

}  // namespace

Image imageAt(const void* image, const std::vector<unsigned>& devices) {
  if (image == nullptr) return other("nothing");
  const auto* const bytes = static_cast<const char*>(image);
  const bool isShort = strnlen(bytes, kMagicBytes) < kMagicBytes;
  if (isShort) return other("not PTX");
  if (std::memcmp(bytes, kElf.data(), kElf.size()) == 0) return other("machine code");
  bool isWrapped = false;
  const void* container = image;
  if (magicOf(image) == kWrapperMagic) {
    Wrapper wrapper;
    std::memcpy(&wrapper, image, sizeof wrapper);
    if (wrapper.version != kWrapperVersion) return other("relocatable code");
    if (wrapper.container == nullptr) return other("nothing");
    container = wrapper.container;
    isWrapped = true;
  }
  if (magicOf(container) == container::kFatMagic) {
    const auto size = container::fatSize({static_cast<const char*>(container), kFatHeaderBytes});
    if (const auto* wrong = std::get_if<container::Broken>(&size)) return other(wrong->message);
    return fatBinary({static_cast<const char*>(container), std::get<0>(size)}, isWrapped, devices);
  }
  return isWrapped ? other("not a fat binary") : text(bytes);
}

Image imageOf(std::string_view bytes, const std::vector<unsigned>& devices) {
  if (bytes.size() < kFatHeaderBytes) return other("not PTX");
  if (bytes.starts_with(kElf)) return other("machine code");
  if (magicOf(bytes.data()) == container::kFatMagic) return fatBinary(bytes, false, devices);
  while (!bytes.empty() && bytes.back() == '\0') bytes.remove_suffix(1);
  if (bytes.find('\0') != std::string_view::npos) return other("not PTX");
  return text(bytes);
}

Wrapper wrapperOf(const void* container) { return {kWrapperMagic, kWrapperVersion, container, nullptr}; }

}  // namespace ptxopt::jit
