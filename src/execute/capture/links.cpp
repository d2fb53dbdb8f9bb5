#include "capture/links.h"

#include <fmt/format.h>

#include <cstring>

#include "emulate/error.h"
#include "emulate/fat_binary.h"

namespace ptxopt::capture {
namespace {

enum class Input : int { Cubin = 0, Ptx = 1, FatBinary = 2, Object = 3, Library = 4, Nvvm = 5 };

const char* nameOf(int type) {
  switch (static_cast<Input>(type)) {
    case Input::Cubin: return "machine code";
    case Input::Object: return "an object file";
    case Input::Library: return "a library";
    case Input::Nvvm: return "code for NVVM";
    default: return "something unknown";
  }
}

}  // namespace

void Links::add(const void* state, int type, std::string_view bytes, unsigned architecture) {
  LinkInputs& inputs = states_[state];
  if (static_cast<Input>(type) == Input::Ptx) {
    while (!bytes.empty() && bytes.back() == '\0') bytes.remove_suffix(1);
    inputs.texts.emplace_back(bytes);
  } else if (static_cast<Input>(type) == Input::FatBinary) {
    try {
      const std::string copy(bytes);
      inputs.texts.push_back(emulate::ptxOf(copy.data(), {}, architecture));
    } catch (const emulate::Failure& f) {
      inputs.refusal = f.why;
    }
  } else {
    inputs.refusal = fmt::format("it was linked from {}, too", nameOf(type));
  }
}

void Links::complete(const void* state, const void* image, std::size_t size) {
  const auto found = states_.find(state);
  if (found == states_.end() || image == nullptr) return;
  images_[std::string(static_cast<const char*>(image), size)] = found->second;
}

const LinkInputs* Links::find(const void* image) const {
  // How long the image is is not said: of equal headers it is as long as the known one.
  constexpr std::size_t kHeader = 64;
  for (const auto& [bytes, inputs] : images_)
    if (bytes.size() >= kHeader && std::memcmp(image, bytes.data(), kHeader) == 0 &&
        std::memcmp(image, bytes.data(), bytes.size()) == 0)
      return &inputs;
  return nullptr;
}

}  // namespace ptxopt::capture
