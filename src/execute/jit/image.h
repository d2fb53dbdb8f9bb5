// What a program hands to the driver: whether there is PTX in it that the driver would compile.
//
// PTX is compiled. From a fat binary the driver takes machine code that a device can run before PTX, so one with such
// code is left as it is, unless $CUDA_FORCE_PTX_JIT makes the driver take PTX; so is one with entries that are neither,
// and relocatable code, which is linked from several. A program's words on sizes are believed, as the driver believes
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::jit {

struct Image {
  enum class Kind { Other, Ptx, FatBinary } kind = Kind::Other;
  std::string_view bytes;  // the text, or the container
  bool isWrapped = false;  // what the program gave leads to the container
  std::string why;         // of Other: what it is
};

// `devices`: the architectures that may run it. Without any, nothing is known of a fat binary.
Image imageAt(const void* image, const std::vector<unsigned>& devices);
// The same of bytes whose number is known.
Image imageOf(std::string_view bytes, const std::vector<unsigned>& devices);

// What leads to a container: as __cudaRegisterFatBinary gets it.
struct Wrapper {
  unsigned magic, version;
  const void* container;
  const void* linked;
};
Wrapper wrapperOf(const void* container);

}  // namespace ptxopt::jit
