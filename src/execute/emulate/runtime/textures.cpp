// Texture and surface objects, by handles that kernels are given.
#include "emulate/runtime/arrays.h"
#include "emulate/runtime/exported.h"

using namespace ptxopt::emulate;
namespace exec = ptxopt::exec;

namespace {

constexpr int kArray = 0, kLinear = 2, kPitched = 3;  // of a resource

struct Object {
  ResourceDescription resource;
  TextureDescription texture;
};
std::map<uint64_t, Object>& objects() {
  static auto* const all = new std::map<uint64_t, Object>;
  return *all;
}

exec::AddressMode addressMode(int mode) {
  constexpr exec::AddressMode kModes[] = {exec::AddressMode::Wrap, exec::AddressMode::Clamp,
                                          exec::AddressMode::Mirror, exec::AddressMode::Border};
  need(mode >= 0 && mode < 4, Code::InvalidValue, "no such address mode");
  return kModes[mode];
}

void bindArray(exec::TextureBinding& b, Array& a, bool normalized) {
  b.width = static_cast<unsigned>(a.width());
  b.height = static_cast<unsigned>(a.height());
  (a.isLayered() || a.isCube() ? b.layers : b.depth) = static_cast<unsigned>(a.depth());
  b.channels = channelsOf(a.format);
  b.format = texelFormat(a.format, normalized);
  b.data = a.bytes.data();
  b.rowPitch = a.rowBytes();
  b.slicePitch = a.sliceBytes();
}

void bindMemory(exec::TextureBinding& b, const ChannelFormat& format, bool normalized, const void* address,
                size_t width, size_t height, size_t pitch, size_t bytes) {
  b.width = static_cast<unsigned>(width);
  b.height = static_cast<unsigned>(height);
  b.channels = channelsOf(format);
  b.format = texelFormat(format, normalized);
  b.data = State::get().memory.bytes(reinterpret_cast<uint64_t>(address), bytes);
  b.rowPitch = pitch;
  b.slicePitch = pitch * height;
}

uint64_t add(std::shared_ptr<exec::TextureBinding> binding, const Object& object) {
  static uint64_t last = 0;
  State::get().launcher.textures()[++last] = std::move(binding);
  objects()[last] = object;
  return last;
}

void remove(uint64_t handle, Code code) {
  need(State::get().launcher.textures().erase(handle) != 0, code, "no such object");
  objects().erase(handle);
}

}  // namespace

CUDA_API(cudaCreateTextureObject)
int cudaCreateTextureObject(unsigned long long* handle, const ResourceDescription* resource,
                            const TextureDescription* texture, const void* view) {
  return answer(__func__, [&] {
    need(view == nullptr, Code::NotSupported, "views of textures");
    const ResourceDescription& r = out(resource);
    const TextureDescription& t = out(texture);
    const bool normalized = t.read != 0;
    auto b = std::make_shared<exec::TextureBinding>();
    if (r.type == kArray) {
      bindArray(*b, arrayAt(r.of.array), normalized);
    } else if (r.type == kLinear) {
      const size_t texel = static_cast<size_t>(r.of.linear.format.bits[0]) / 8 * channelsOf(r.of.linear.format);
      need(texel != 0, Code::InvalidChannelDescriptor, "texels without channels");
      bindMemory(*b, r.of.linear.format, normalized, r.of.linear.address, r.of.linear.bytes / texel, 1,
                 r.of.linear.bytes, r.of.linear.bytes);
      b->isLinearMemory = true;
    } else {
      need(r.type == kPitched, Code::NotSupported, "textures of mipmapped arrays");
      const auto& p = r.of.pitched;
      bindMemory(
          *b, p.format, normalized, p.address, p.width, p.height, p.pitch,
          p.pitch * (p.height - 1) + p.width * static_cast<size_t>(p.format.bits[0]) / 8 * channelsOf(p.format));
    }
    need(t.srgb == 0, Code::NotSupported, "sRGB textures");
    for (std::size_t i = 0; i < 3; ++i) b->address[i] = addressMode(t.address[i]);
    b->filter = t.filter != 0 ? exec::FilterMode::Linear : exec::FilterMode::Nearest;
    b->normalized = t.normalized != 0;
    for (std::size_t i = 0; i < 4; ++i) b->border[i] = t.border[i];
    out(handle) = add(std::move(b), {r, t});
  });
}
CUDA_API(cudaDestroyTextureObject) int cudaDestroyTextureObject(unsigned long long handle) {
  return answer(__func__, [&] { remove(handle, Code::InvalidTexture); });
}
CUDA_API(cudaGetTextureObjectResourceDesc)
int cudaGetTextureObjectResourceDesc(ResourceDescription* resource, unsigned long long handle) {
  return answer(__func__, [&] {
    need(objects().contains(handle), Code::InvalidTexture, "no such object");
    out(resource) = objects()[handle].resource;
  });
}
CUDA_API(cudaGetTextureObjectTextureDesc)
int cudaGetTextureObjectTextureDesc(TextureDescription* texture, unsigned long long handle) {
  return answer(__func__, [&] {
    need(objects().contains(handle), Code::InvalidTexture, "no such object");
    out(texture) = objects()[handle].texture;
  });
}

CUDA_API(cudaCreateSurfaceObject)
int cudaCreateSurfaceObject(unsigned long long* handle, const ResourceDescription* resource) {
  return answer(__func__, [&] {
    const ResourceDescription& r = out(resource);
    need(r.type == kArray, Code::InvalidValue, "a surface is of an array");
    auto b = std::make_shared<exec::TextureBinding>();
    b->kind = exec::TextureBinding::Kind::Surface;
    bindArray(*b, arrayAt(r.of.array), false);
    out(handle) = add(std::move(b), {r, {}});
  });
}
CUDA_API(cudaDestroySurfaceObject) int cudaDestroySurfaceObject(unsigned long long handle) {
  return answer(__func__, [&] { remove(handle, Code::InvalidSurface); });
}
