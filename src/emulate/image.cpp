#include "emulate/image.h"

#include <algorithm>
#include <cstring>

namespace ptxopt::emulate {

Image::Image(exec::GlobalMemory& memory) {
  for (auto& [base, a] : memory.all())
    if (!a.readOnly) parts_.push_back({&a, {a.data, a.data + a.size}});
}

void Image::restore() const {
  for (const Part& p : parts_) std::memcpy(p.allocation->data, p.bytes.data(), p.bytes.size());
}

std::optional<Image::Difference> Image::difference() const {
  Difference d;
  for (const Part& p : parts_) {
    const std::byte* const now = p.allocation->data;
    if (std::memcmp(now, p.bytes.data(), p.bytes.size()) == 0) continue;
    for (std::size_t i = 0; i < p.bytes.size(); ++i) {
      if (now[i] == p.bytes[i]) continue;
      if (d.allocation == nullptr) d.allocation = p.allocation, d.first = i;
      ++d.bytes;
    }
  }
  if (d.allocation == nullptr) return std::nullopt;
  return d;
}

const std::byte* Image::at(const exec::Allocation& allocation, uint64_t offset) const {
  for (const Part& p : parts_)
    if (p.allocation == &allocation) return p.bytes.data() + offset;
  return nullptr;
}

}  // namespace ptxopt::emulate
