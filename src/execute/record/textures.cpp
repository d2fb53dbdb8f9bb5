// Texels that lie in device memory are recorded by their address, and those of arrays as memory at made-up addresses,
// apart from each other. Sizes that are read back are checked for overflow before they are used.
#include "record/textures.h"

#include <fmt/format.h>

#include <algorithm>

#include "exec/align.h"
#include "exec/texture.h"

namespace ptxopt::record {
namespace {

using exec::TextureBinding;

constexpr uint64_t kApart = 64u << 10;  // arrays: what lies beyond one is in none

uint64_t bytesOf(const TextureBinding& t) { return t.slicePitch * std::max(t.depth, t.layers); }

// Where bytes of the host lie on the device; 0: nowhere.
uint64_t addressOf(exec::GlobalMemory& memory, const std::byte* data) {
  for (const auto& [base, a] : memory.all())
    if (data >= a.data && data < a.data + a.size) return base + static_cast<uint64_t>(data - a.data);
  return 0;
}

uint64_t arrayOf(Arrays& arrays, const TextureBinding& t) {
  const auto* const data = reinterpret_cast<const char*>(t.data);
  uint64_t next = kFirstArray;
  for (auto& [address, bytes] : arrays) {
    if (bytes.data() == data) {
      if (bytes.size() < bytesOf(t)) bytes = {data, bytesOf(t)};
      return address;
    }
    next = exec::roundUp(address + bytes.size() + kApart, kApart);
  }
  arrays[next] = {data, bytesOf(t)};
  return next;
}

template <typename E>
E enumOf(unsigned number, E last) {
  if (number > static_cast<unsigned>(last)) throw RecordError("a texture makes no sense");
  return static_cast<E>(number);
}

}  // namespace

std::vector<RecordedTexture> recordedTextures(exec::Machine& machine, Arrays& arrays) {
  std::vector<RecordedTexture> result;
  for (const auto& [handle, t] : machine.textures) {
    RecordedTexture r;
    r.handle = handle;
    r.kind = static_cast<unsigned>(t->kind);
    r.size = {t->width, t->height, t->depth, t->layers};
    r.channels = t->channels;
    r.format = static_cast<unsigned>(t->format);
    r.pitch = {t->rowPitch, t->slicePitch};
    r.isLinear = t->isLinearMemory;
    for (std::size_t i = 0; i < t->address.size(); ++i) r.addressModes[i] = static_cast<unsigned>(t->address[i]);
    r.filter = static_cast<unsigned>(t->filter);
    r.isNormalized = t->normalized;
    r.border = t->border;
    if (t->data != nullptr) {
      r.texels = addressOf(machine.memory(), t->data);
      if (r.texels == 0) r.texels = arrayOf(arrays, *t);
    }
    result.push_back(r);
  }
  return result;
}

namespace {

// Whether the sum is a number of 64 bits.
bool addProduct(uint64_t& sum, uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(sum, product, &sum);
}

}  // namespace

void bindTextures(const RecordedLaunch& launch, const std::vector<exec::Allocation*>& places,
                  exec::Machine& machine) {
  for (const RecordedTexture& r : launch.textures) {
    auto t = std::make_shared<TextureBinding>();
    t->kind = enumOf(r.kind, TextureBinding::Kind::Sampler);
    t->width = r.size[0], t->height = r.size[1], t->depth = r.size[2], t->layers = r.size[3];
    if (r.channels != 1 && r.channels != 2 && r.channels != 4)
      throw RecordError(fmt::format("a texture of {} channels", r.channels));
    t->channels = r.channels;
    t->format = enumOf(r.format, exec::TexelFormat::Unorm16);
    t->rowPitch = r.pitch[0], t->slicePitch = r.pitch[1];
    t->isLinearMemory = r.isLinear;
    for (std::size_t i = 0; i < t->address.size(); ++i)
      t->address[i] = enumOf(r.addressModes[i], exec::AddressMode::Border);
    t->filter = enumOf(r.filter, exec::FilterMode::Linear);
    t->normalized = r.isNormalized;
    t->border = r.border;
    if (r.texels != 0) {
      // The last slice and row may be shorter in memory that the program has laid out.
      const uint64_t slices = std::max(t->depth, t->layers);
      uint64_t needed = uint64_t{t->width} * t->texelBytes();
      const bool isPossible = t->height != 0 && slices != 0 && addProduct(needed, slices - 1, t->slicePitch) &&
                              addProduct(needed, uint64_t{t->height} - 1, t->rowPitch);
      const auto found = std::find_if(places.begin(), places.end(), [&](const exec::Allocation* a) {
        return isPossible && a->contains(r.texels, needed);
      });
      if (found == places.end())
        throw RecordError(fmt::format("the texels of a texture, at {:#x}, lie in no memory", r.texels));
      t->data = (*found)->data + (r.texels - (*found)->base);
    }
    machine.textures[r.handle] = std::move(t);
  }
}

}  // namespace ptxopt::record
