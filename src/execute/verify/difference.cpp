// Pages of memory that both runs touched are compared element by element; a page that only the second touched is a
// difference of its own. With `anyNan` two NaNs are equal whatever their bits.
#include "verify/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "exec/texture.h"

namespace ptxopt::verify {
namespace {

bool isNanOf(ScalarType type, const std::byte* at) {
  switch (type) {
    case ScalarType::f32: {
      float v;
      std::memcpy(&v, at, sizeof v);
      return std::isnan(v);
    }
    case ScalarType::f64: {
      double v;
      std::memcpy(&v, at, sizeof v);
      return std::isnan(v);
    }
    case ScalarType::f16:
    case ScalarType::bf16: {
      uint16_t v;
      std::memcpy(&v, at, sizeof v);
      return type == ScalarType::f16 ? (v & 0x7fff) > 0x7c00 : (v & 0x7fff) > 0x7f80;
    }
    default: return false;
  }
}

std::string show(ScalarType type, const std::byte* at) {
  uint64_t bits = 0;
  const unsigned bytes = std::clamp(info(type).bits / 8, 1u, 8u);
  std::memcpy(&bits, at, bytes);
  std::string text = fmt::format("0x{:0{}x}", bits, bytes * 2);
  if (type == ScalarType::f32) text += fmt::format(" ({})", std::bit_cast<float>(static_cast<uint32_t>(bits)));
  if (type == ScalarType::f64) text += fmt::format(" ({})", std::bit_cast<double>(bits));
  return text;
}

std::optional<Difference> regionDifference(const TrialMemory::Region& a, const TrialMemory::Region& b,
                                           const TrialMemory& memory, const KernelUse& use, bool anyNan) {
  const Field& field = use.fields[a.field];
  const ScalarType element = field.element == ScalarType::None ? ScalarType::b32 : field.element;
  const unsigned size = std::clamp(info(element).bits / 8, 1u, 8u);
  for (const auto& [offset, page] : b.pages) {
    const auto known = a.pages.find(offset);
    if (known == a.pages.end()) {
      Difference d;
      d.where = fmt::format("the second file {} {}{:+}..., where the first never comes near",
                            page.isWritten ? "writes" : "reads", field.parameter, offset);
      d.field = a.field;
      d.offset = offset;
      d.reach = true;
      return d;
    }
  }
  for (const auto& [offset, page] : a.pages) {
    const auto other = b.pages.find(offset);
    if (other == b.pages.end() && !page.isWritten) continue;
    const std::byte* const pa = page.data;
    // A page that the second never touched was never filled there.
    std::vector<std::byte> untouched;
    if (other == b.pages.end()) {
      untouched.resize(TrialMemory::kPage);
      memory.fillPage(a.field, offset, untouched.data());
    }
    const std::byte* const pb = other != b.pages.end() ? other->second.data : untouched.data();
    if (std::memcmp(pa, pb, TrialMemory::kPage) == 0) continue;
    for (unsigned at = 0; at < TrialMemory::kPage; at += size) {
      if (std::memcmp(pa + at, pb + at, size) == 0) continue;
      if (anyNan && isNanOf(element, pa + at) && isNanOf(element, pb + at)) continue;
      Difference d;
      d.where = fmt::format("{}{:+}", field.parameter, offset + at);
      d.field = a.field;
      d.offset = offset + at;
      d.bytes = size;
      d.values = fmt::format("{} and {}", show(element, pa + at), show(element, pb + at));
      return d;
    }
  }
  return std::nullopt;
}

// Surfaces are written, too.
std::optional<Difference> imageDifference(const TrialMemory& a, const TrialMemory& b, const KernelUse& use) {
  for (std::size_t k = 0; k < a.images().size(); ++k) {
    const auto &x = a.images()[k], &y = b.images()[k];
    if (x == nullptr || y == nullptr || x->kind != exec::TextureBinding::Kind::Surface) continue;
    const uint64_t bytes = x->slicePitch * x->depth * x->layers;
    const std::byte* const begin = x->data;
    const std::byte* const end = begin + bytes;
    const auto [first, other] = std::mismatch(begin, end, static_cast<const std::byte*>(y->data));
    if (first == end) continue;
    Difference d;
    const Image& image = use.images[k];
    d.where =
        fmt::format("the surface '{}', byte {}",
                    image.variable.empty() ? use.fields[image.field].parameter : image.variable, first - x->data);
    d.values = fmt::format("0x{:02x} and 0x{:02x}", static_cast<unsigned>(*first), static_cast<unsigned>(*other));
    return d;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Difference> findDifference(const Side& first, const Side& second, const KernelUse& use, bool anyNan) {
  const Run &a = first.run, &b = second.run;
  for (std::size_t r = 0; r < a.memory->regions().size(); ++r)
    if (auto d = regionDifference(*a.memory->regions()[r], *b.memory->regions()[r], *a.memory, use, anyNan))
      return d;
  if (auto d = imageDifference(*a.memory, *b.memory, use)) return d;
  const auto ga = first.machine.globals();
  for (const auto& [name, variable] : ga) {
    const exec::Allocation* other = nullptr;
    for (const auto& [otherName, o] : second.machine.globals())
      if (otherName == name) other = o;
    if (other == nullptr || other->size != variable->size) continue;
    // Addresses in variables may differ between the two: they are compared only where the layouts agree.
    if (other->base != variable->base) continue;
    if (std::memcmp(variable->data, other->data, variable->size) == 0) continue;
    for (uint64_t i = 0; i < variable->size; ++i)
      if (variable->data[i] != other->data[i]) {
        Difference d;
        d.where = fmt::format("the variable '{}', byte {}", name, i);
        d.values = fmt::format("0x{:02x} and 0x{:02x}", static_cast<unsigned>(variable->data[i]),
                               static_cast<unsigned>(other->data[i]));
        return d;
      }
  }
  if (a.printed != b.printed) {
    Difference d;
    d.where = "what they print";
    d.values = fmt::format("'{}' and '{}'", a.printed.substr(0, 200), b.printed.substr(0, 200));
    return d;
  }
  return std::nullopt;
}

}  // namespace ptxopt::verify
