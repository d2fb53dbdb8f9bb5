#include "capture/launch.h"

#include <cstring>

#include "exec/kernel_parameters.h"

namespace ptxopt::capture {

const Function* kernelNamed(const Module& module, const std::string& name) {
  for (const Function& f : module.functions)
    if (f.isEntry && f.hasBody && module.text(f.name) == name) return &f;
  return nullptr;
}

std::vector<std::byte> packed(const Module& module, const Function& kernel, const Launch& l, std::string& error) {
  std::vector<std::byte> bytes;
  if (l.extra != nullptr) {
    const void* from = nullptr;
    size_t size = 0;
    constexpr uintptr_t kEnd = 0, kPointer = 1, kSize = 2;
    for (void** extra = l.extra; reinterpret_cast<uintptr_t>(*extra) != kEnd; extra += 2) {
      if (reinterpret_cast<uintptr_t>(extra[0]) == kPointer) from = extra[1];
      if (reinterpret_cast<uintptr_t>(extra[0]) == kSize) size = *static_cast<const size_t*>(extra[1]);
    }
    bytes.resize(size);
    if (from != nullptr && size != 0) std::memcpy(bytes.data(), from, size);
  }
  const std::vector<exec::KernelParameter> parameters = exec::kernelParameters(module, kernel);
  const std::size_t all =
      parameters.empty() ? 0 : std::size_t{parameters.back().place.offset} + parameters.back().place.bytes;
  if (l.extra != nullptr) {
    if (bytes.size() < all) error = "fewer bytes than the parameters have";
    bytes.resize(all);
    return bytes;
  }
  bytes.resize(all);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const exec::Placement& place = parameters[i].place;
    if (l.parameters == nullptr || l.parameters[i] == nullptr) {
      error = "an argument is missing";
      return bytes;
    }
    std::memcpy(bytes.data() + place.offset, l.parameters[i], place.bytes);
  }
  return bytes;
}

}  // namespace ptxopt::capture
