// What the linker of the driver was given (cuLink*), so that the machine code that it made is known by the PTX it was made of.
//
// An image is known by its bytes: programs load a copy as well as the linker's own.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::capture {

struct LinkInputs {
  std::vector<std::string> texts;
  std::string refusal;  // why PTX does not say all
};

// Not safe to call from several threads at a time.
class Links {
 public:
  // `type` is a CUjitInputType.
  void add(const void* state, int type, std::string_view bytes, unsigned architecture);
  void complete(const void* state, const void* image, std::size_t size);
  void remove(const void* state) { states_.erase(state); }
  // nullptr: the image came from elsewhere.
  const LinkInputs* find(const void* image) const;

 private:
  std::map<const void*, LinkInputs> states_;
  std::map<std::string, LinkInputs> images_;  // by their bytes
};

}  // namespace ptxopt::capture
