// All that a launch may change, as bytes: to run it twice from the same beginning, and to compare what came out.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "exec/memory.h"
#include "exec/texture.h"

namespace ptxopt::emulate {

using Textures = std::map<uint64_t, std::shared_ptr<exec::TextureBinding>>;  // by handle

class Image {
 public:
  // A copy of all allocations that kernels may write, and of the arrays of surfaces. They stay while the image is used.
  Image(exec::GlobalMemory& memory, const Textures& textures);
  // Makes memory what it was.
  void restore() const;

  struct Difference {
    std::string_view name;  // of what differs
    uint64_t size = 0;
    uint64_t first = 0;  // offset of the first byte that differs
    std::byte was{}, is{};
    uint64_t bytes = 0;  // how many differ, of all memory
  };
  // How memory now differs from this image; none where it does not.
  std::optional<Difference> difference() const;

 private:
  struct Part {
    std::string_view name;
    std::byte* data;
    std::vector<std::byte> bytes;
  };
  std::vector<Part> parts_;
};

}  // namespace ptxopt::emulate
