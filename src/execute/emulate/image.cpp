#include "emulate/image.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace ptxopt::emulate {

Image::Image(exec::GlobalMemory& memory, const Textures& textures) {
  for (auto& [base, a] : memory.all())
    if (!a.readOnly) parts_.push_back({a.name, a.data, {a.data, a.data + a.size}});
  std::set<const std::byte*> arrays;  // several surfaces may be of one
  for (const auto& [handle, t] : textures) {
    if (t->kind != exec::TextureBinding::Kind::Surface || !arrays.insert(t->data).second) continue;
    const uint64_t bytes = t->slicePitch * std::max(t->depth, t->layers);
    parts_.push_back({"the array of a surface", t->data, {t->data, t->data + bytes}});
  }
}

void Image::restore() const {
  for (const Part& p : parts_) std::memcpy(p.data, p.bytes.data(), p.bytes.size());
}

std::optional<Image::Difference> Image::difference() const {
  Difference d;
  for (const Part& p : parts_) {
    if (std::memcmp(p.data, p.bytes.data(), p.bytes.size()) == 0) continue;
    for (std::size_t i = 0; i < p.bytes.size(); ++i) {
      if (p.data[i] == p.bytes[i]) continue;
      if (d.bytes++ == 0)
        d.name = p.name, d.size = p.bytes.size(), d.first = i, d.was = p.bytes[i], d.is = p.data[i];
    }
  }
  if (d.bytes == 0) return std::nullopt;
  return d;
}

}  // namespace ptxopt::emulate
